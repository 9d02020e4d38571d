/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what a run costs, and when a death is noticed and repaired. Changes nothing. */
#include "config.h"

#include "sim-private.h"

#include "say.h"

G_STATIC_ASSERT (MESSAGE_KINDS <= SIM_SAID_MAX);

void
figures_begin (Sim *sim)
{
  SimFigures *figures = &sim->outcome->figures;

  if (figures->begun_us > 0)
    return; /* Main was started again, after the node of the first one died. */
  figures->begun_us = MAX (sim->now_us, 1);
  sim->counting = TRUE;
}

static void
count_links (Sim *sim)
{
  SimFigures *figures = &sim->outcome->figures;

  for (guint i = 0; i < sim->n_processes; i++)
    {
      const Process *process = sim->processes[i];
      guint n = 0;
      for (guint k = 0; process->alive && k < process->links->len; k++)
        {
          guint64 number = g_array_index (process->links, guint64, k);
          const Link *link = &g_array_index (sim->links, Link, number - 1);
          n += link->open[0] && link->open[1];
        }
      figures->links += n;
      figures->links_most = MAX (figures->links_most, n);
    }
}

void
figures_answer (Sim *sim)
{
  if (!sim->counting)
    return;
  sim->counting = FALSE;
  sim->outcome->figures.answered_us = sim->now_us;
  count_links (sim);
}

void
figures_sent (Sim *sim, GBytes *bytes)
{
  SimFigures *figures = &sim->outcome->figures;

  if (figures->begun_us > 0 && !sim->counting)
    return; /* After the answer nothing is counted. */
  SimSaid *said = sim->counting ? &figures->run : &figures->before;
  said->said[say_kind (bytes)]++; /* 0: no message. */
  said->bytes += g_bytes_get_size (bytes);
}

void
figures_struck (Sim *sim)
{
  if (sim->plan->look_us == 0 || sim->outcome->figures.struck_us > 0)
    return;
  sim->outcome->figures.struck_us = sim->now_us;
  sim_expect (sim, sim->now_us + sim->plan->look_us, HAPPEN_LOOK, 0);
}

void
figures_look (Sim *sim)
{
  SimFigures *figures = &sim->outcome->figures;
  guint n_alive = 0, n_aware = 0, n_noticed = 0;
  guint64 n_repairs = 0;

  for (guint i = 0; i < sim->n_processes; i++)
    {
      NodeStats stats;
      if (!sim->processes[i]->alive)
        continue;
      node_stats (sim->processes[i]->node, &stats);
      n_alive++;
      n_noticed += stats.crashes > 0;
      n_aware += stats.crashes >= sim->n_victims;
      n_repairs += stats.jobs_lost + stats.orphans_adopted;
    }
  if (n_noticed > 0 && figures->noticed_us == 0)
    figures->noticed_us = sim->now_us;
  if (n_aware == n_alive && figures->noticed_by_all_us == 0)
    figures->noticed_by_all_us = sim->now_us;
  if (n_repairs > sim->n_repairs)
    figures->repaired_us = sim->now_us;
  sim->n_repairs = n_repairs;
  if (sim->counting)
    sim_expect (sim, sim->now_us + sim->plan->look_us, HAPPEN_LOOK, 0);
}
