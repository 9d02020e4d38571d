/* SPDX-License-Identifier: BSD-3-Clause */
/* The coordinator's thread in virtual time: takes over what is published, saves rows, publishes at
 * intervals. */
#include "config.h"

#include "sim-private.h"

/* The new coordinator takes over what is published; it says so a while later. */
void
scribe_open (Sim *sim, Process *process)
{
  if (process->work == NULL)
    process->work = g_new0 (Store, 1);
  store_init (process->work, sim->plan->tree);
  store_unite (process->work, &sim->published);
  sim_expect (sim, sim->now_us + rng_between (&sim->world_rng, 100, 3000), HAPPEN_OPENED,
              process->number);
  sim_expect (sim, sim->now_us + sim->plan->publish_us, HAPPEN_PUBLISH, process->number);
}

void
scribe_save (Sim *sim, Process *process, GPtrArray *rows)
{
  if (process->work == NULL)
    {
      sim_fail (sim, "p%u saves rows but is not coordinator", process->number);
      return;
    }
  for (guint i = 0; i < rows->len; i++)
    {
      const char *error = store_save (process->work, rows->pdata[i]);
      if (error != NULL)
        sim_fail (sim, "p%u saves %s: '%s'", process->number, error,
                  ((const Row *)rows->pdata[i])->path);
    }
}

static void
publish (Sim *sim, Process *process, gboolean final)
{
  Store before = sim->published;

  if (process->work == NULL)
    return;
  store_unite (process->work, &sim->published);
  sim->published = *process->work;
  sim->published.generation = before.generation + 1;
  check_published (sim, &before);
  NodeEvent event = { .kind = NODE_EVENT_PUBLISHED,
                      .number = sim->published.generation,
                      .saved = process->saves,
                      .final = final };
  sim_step (sim, process, &event);
}

static void
tell_restored (Sim *sim, Process *process, const NodeId *node)
{
  GPtrArray *rows = store_load (process->work, node);
  NodeEvent event = { .kind = NODE_EVENT_RESTORED, .rows = rows };

  if (rows->len > 0)
    sim_step (sim, process, &event);
  g_ptr_array_unref (rows);
}

void
scribe_happen (Sim *sim, Process *process, const Happen *happen)
{
  NodeEvent opened = { .kind = NODE_EVENT_OPENED };

  switch (happen->kind)
    {
    case HAPPEN_OPENED:
      tell_restored (sim, process, NULL);
      if (process->alive)
        sim_step (sim, process, &opened);
      break;
    case HAPPEN_PUBLISH:
      if (!happen->flag)
        sim_expect (sim, sim->now_us + sim->plan->publish_us, HAPPEN_PUBLISH, process->number);
      publish (sim, process, happen->flag);
      break;
    case HAPPEN_SALVAGED:
      if (process->work != NULL)
        tell_restored (sim, process, &happen->id);
      break;
    default:
      break;
    }
}
