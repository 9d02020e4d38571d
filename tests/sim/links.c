/* SPDX-License-Identifier: BSD-3-Clause */
/* Links between processes: dials, messages in order within one direction of a link, random delays,
 * and the ways in which a link ends. A link has the same number at both sides; side 0 dialled. */
#include "config.h"

#include "say.h"
#include "sim-private.h"
#include "story.h"

#define LARGE_TAKES 20 /* A large message arrives up to this many delays later. */
#define DIAL_TIMEOUT_US (3 * SIM_SECOND)
/* With `swings` a link is this many times slower in one of eight periods. */
#define SWING_FACTOR 40
#define SWING_SPELL_US 50000

static Link *
link_at (Sim *sim, guint64 number)
{
  g_assert (number >= 1 && number <= sim->links->len);
  return &g_array_index (sim->links, Link, number - 1);
}

static guint
side_of (const Link *link, const Process *process)
{
  return link->node[0] == process->number ? 0 : 1;
}

/* The arrival time of a message that is sent now. */
static guint64
arrival (Sim *sim, const Process *from, const Process *to)
{
  guint64 base = sim->plan->delay_us;
  guint64 start = MAX (MAX (sim->now_us, from->clogged_us), from->busy_us);
  guint n_sites = MAX (sim->plan->n_sites, 2);

  start += from->number % n_sites != to->number % n_sites ? sim->plan->wan_us : 0;
  if (!sim->plan->one_way)
    start = MAX (start, to->clogged_us);
  start = MAX (start, sim->apart_us[from->number][to->number]);

  if (sim->plan->even_delays)
    return start + base;
  if (sim->plan->swings
      && rng_mix (sim->plan->seed + (sim->now_us / SWING_SPELL_US) * 64 + from->number * 8
                  + to->number)
                 % 8
             == 0)
    base *= SWING_FACTOR;
  guint64 delay = base / 2 + rng_below (&sim->links_rng, base + 1);
  if (rng_chance (&sim->links_rng, 5))
    delay *= 4;
  return start + delay;
}

static void
fail_dial (Sim *sim, Process *process, guint64 dial, guint64 at_us, gboolean dead)
{
  Happen *happen = sim_expect (sim, at_us, HAPPEN_DIAL_FAILED, process->number);

  happen->number = dial;
  happen->flag = dead;
}

guint
links_site (const Sim *sim, const Process *process)
{
  return sim->plan->n_sites > 0 ? process->number % sim->plan->n_sites : 0;
}

Way
links_way (const Sim *sim, const Process *from, const Process *to)
{
  guint a = links_site (sim, from), b = links_site (sim, to);

  return sim->now_us < sim->wall_us[a][b] ? sim->wall[a][b] : sim->plan->ways[a][b];
}

/* Both sides learn of the connection, each when the packets of the other side arrive. */
static void
connect (Sim *sim, Process *process, guint64 dial, Process *to)
{
  Link link = { .node = { process->number, to->number } };
  guint64 there_us = arrival (sim, process, to), back_us = arrival (sim, to, process);

  back_us = MAX (back_us, there_us) + sim->plan->delay_us;
  if (back_us > sim->now_us + DIAL_TIMEOUT_US)
    {
      fail_dial (sim, process, dial, sim->now_us + DIAL_TIMEOUT_US, FALSE);
      return;
    }
  link.last_us[0] = link.urgent_us[0] = back_us;
  link.last_us[1] = link.urgent_us[1] = there_us;
  g_array_append_val (sim->links, link);
  guint64 number = sim->links->len;
  g_array_append_val (process->links, number);
  g_array_append_val (to->links, number);
  sim_expect (sim, there_us, HAPPEN_LINK_UP, to->number)->link = sim->links->len;
  Happen *happen = sim_expect (sim, back_us, HAPPEN_LINK_UP, process->number);
  happen->link = sim->links->len;
  happen->number = dial;
}

void
links_dial (Sim *sim, Process *process, guint64 dial, const char *address)
{
  Process *to = g_hash_table_lookup (sim->addresses, address);

  if (to == NULL)
    sim_fail (sim, "p%u dials an address that never was: '%s'", process->number, address);
  else if (to->silent || links_way (sim, process, to) == WAY_DROPS)
    fail_dial (sim, process, dial, sim->now_us + DIAL_TIMEOUT_US, FALSE);
  else if (links_way (sim, process, to) == WAY_REFUSES)
    fail_dial (sim, process, dial, arrival (sim, process, to), TRUE);
  else if (!to->alive || to == process)
    fail_dial (sim, process, dial, arrival (sim, process, to), TRUE);
  else
    connect (sim, process, dial, to);
}

void
links_send (Sim *sim, Process *process, guint64 number, GPtrArray *parts, gboolean urgent)
{
  Link *link = link_at (sim, number);
  guint side = side_of (link, process), other = 1 - side;

  sim->outcome->messages++;
  sim->outcome->sent[process->number]++;
  Process *to = sim->processes[link->node[other]];
  g_autoptr (GBytes) bytes = say_join (parts);
  check_given (sim, process, to, bytes);
  if (sim->plan->cost_us > 0)
    process->busy_us = MAX (process->busy_us, sim->now_us) + sim->plan->cost_us;
  figures_sent (sim, bytes);
  if (!link->open[side] || link->half)
    {
      /* The link has just broken; LINK_DOWN is on its way or was just taken in. */
      story_sent (sim, process, to, parts, 0);
      return;
    }
  guint64 at_us = arrival (sim, process, to);
  if (!urgent && rng_chance (&sim->links_rng, sim->plan->large))
    at_us += rng_below (&sim->links_rng, LARGE_TAKES * sim->plan->delay_us + 1);
  if (urgent)
    {
      if (link->sent_us[other] == sim->now_us && link->begin_us[other] > 0)
        at_us = MIN (at_us, link->begin_us[other] - 1);
      at_us = MAX (link->urgent_us[other] + 1, at_us);
      link->urgent_us[other] = at_us;
    }
  else
    {
      at_us = MAX (link->last_us[other] + 1, at_us);
      if (link->sent_us[other] != sim->now_us || link->begin_us[other] == 0)
        link->begin_us[other] = at_us;
      link->sent_us[other] = sim->now_us;
    }
  link->last_us[other] = MAX (link->last_us[other], at_us);
  Happen *happen = sim_expect (sim, at_us, HAPPEN_MESSAGE, to->number);
  happen->link = number;
  happen->bytes = g_steal_pointer (&bytes);
  story_sent (sim, process, to, parts, happen->order);
}

/* Side `side` will see its end of the link break at this time; what is under way arrives before
 * that. */
static void
expect_down (Sim *sim, guint64 number, guint side, guint64 at_us)
{
  Link *link = link_at (sim, number);

  if (link->half)
    return;
  link->last_us[side] = MAX (link->last_us[side] + 1, at_us);
  sim_expect (sim, link->last_us[side], HAPPEN_LINK_DOWN, link->node[side])->link = number;
}

void
links_close (Sim *sim, Process *process, guint64 number)
{
  Link *link = link_at (sim, number);
  guint side = side_of (link, process);

  if (!link->open[side])
    return;
  link->open[side] = FALSE;
  expect_down (sim, number, 1 - side, arrival (sim, process, sim->processes[link->node[1 - side]]));
}

void
links_lose (Sim *sim, Process *process, FaultKind how)
{
  for (guint i = 0; i < process->links->len; i++)
    {
      guint64 number = g_array_index (process->links, guint64, i);
      Link *link = link_at (sim, number);
      guint side = side_of (link, process), other = 1 - side;
      link->open[side] = FALSE;
      if (how == FAULT_VANISH)
        continue;
      guint64 at_us = arrival (sim, process, sim->processes[link->node[other]]);
      if (how == FAULT_CRASH && sim->plan->sudden)
        link->cut_us[other] = sim->now_us + rng_below (&sim->links_rng, at_us - sim->now_us + 1);
      expect_down (sim, number, other, at_us);
    }
}

/* Both ends see the link break; messages under way are lost from some point on. */
static void
cut (Sim *sim, guint64 number)
{
  Link *link = link_at (sim, number);

  for (guint side = 0; side < 2; side++)
    {
      guint64 at_us = sim->now_us + rng_below (&sim->links_rng, 2 * sim->plan->delay_us + 1);
      link->cut_us[side] = at_us;
      sim_expect (sim, at_us, HAPPEN_LINK_DOWN, link->node[side])->link = number;
    }
}

void
links_half_open (Sim *sim, const Process *process)
{
  for (guint64 number = 1; number <= sim->links->len; number++)
    {
      Link *link = link_at (sim, number);
      if (link->open[0] && link->open[1])
        link->half
            = link->half || link->node[0] == process->number || link->node[1] == process->number;
    }
}

void
links_reset (Sim *sim, Process *process)
{
  guint n_open = 0;

  for (guint64 number = 1; number <= sim->links->len; number++)
    {
      Link *link = link_at (sim, number);
      if (!link->open[0] || !link->open[1]
          || (link->node[0] != process->number && link->node[1] != process->number)
          || rng_below (&sim->links_rng, ++n_open) > 1)
        continue;
      cut (sim, number);
    }
}

void
links_wall (Sim *sim, guint site, guint other, guint64 until_us)
{
  sim->wall_us[site][other] = sim->wall_us[other][site] = until_us;
  sim->wall[site][other] = rng_chance (&sim->links_rng, 50) ? WAY_REFUSES : WAY_DROPS;
  sim->wall[other][site] = rng_chance (&sim->links_rng, 50) ? WAY_REFUSES : WAY_DROPS;
  for (guint64 number = 1; number <= sim->links->len; number++)
    {
      const Link *link = link_at (sim, number);
      guint a = links_site (sim, sim->processes[link->node[0]]);
      guint b = links_site (sim, sim->processes[link->node[1]]);
      if (link->open[0] && link->open[1]
          && ((a == site && b == other) || (a == other && b == site)))
        cut (sim, number);
    }
}

static void
deliver (Sim *sim, Process *process, const Happen *happen)
{
  NodeEvent event = { .link = happen->link, .bytes = happen->bytes };
  Link *link = link_at (sim, happen->link);
  guint side = side_of (link, process);

  if (happen->kind == HAPPEN_MESSAGE)
    {
      if (!link->open[side] || link->half
          || (link->cut_us[side] != 0 && sim->now_us >= link->cut_us[side]))
        {
          story_lost (sim, happen);
          return;
        }
      sim->outcome->deliveries++;
      if (sim->plan->watch != NULL)
        sim->plan->watch->message (sim->plan->watch, sim->outcome->deliveries,
                                   link->node[1 - side], process->number, happen->bytes);
      event.kind = NODE_EVENT_MESSAGE;
    }
  else if (happen->kind == HAPPEN_LINK_UP)
    {
      link->open[side] = TRUE;
      event.kind = NODE_EVENT_LINK_UP;
      event.dial = happen->number;
    }
  else
    {
      if (!link->open[side] || link->half)
        return;
      link->open[side] = FALSE;
      event.kind = NODE_EVENT_LINK_DOWN;
    }
  sim_step (sim, process, &event);
}

void
links_happen (Sim *sim, const Happen *happen)
{
  Process *process = sim->processes[happen->node];

  if (happen->kind != HAPPEN_DIAL_FAILED)
    {
      deliver (sim, process, happen);
      return;
    }
  NodeEvent event = { .kind = NODE_EVENT_DIAL_FAILED,
                      .dial = happen->number,
                      .failure = !happen->flag          ? NODE_DIAL_UNKNOWN
                                 : sim->plan->far_hosts ? NODE_DIAL_REFUSED
                                                        : NODE_DIAL_DEAD };
  sim_step (sim, process, &event);
}
