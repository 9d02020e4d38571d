/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of processes that leave (README lists the numbers). Checks change nothing. */
#include "config.h"

#include "sim-private.h"

#include "say.h"

static gboolean
are_linked (const Sim *sim, guint a, guint b)
{
  for (guint i = 0; i < sim->links->len; i++)
    {
      const Link *link = &g_array_index (sim->links, Link, i);
      if (link->open[0] && link->open[1]
          && ((link->node[0] == a && link->node[1] == b)
              || (link->node[0] == b && link->node[1] == a)))
        return TRUE;
    }
  return FALSE;
}

/* TRUE: the leaver may have been the only way between two other processes. Two processes that have
 * just joined may have no link to each other yet, and what the leaver hands over reaches only one
 * of the two at first. */
static gboolean
parts_the_rest (const Sim *sim, const Process *leaver)
{
  for (guint i = 0; i < sim->n_processes; i++)
    for (guint k = 0; k < sim->n_processes; k++)
      {
        const Process *from = sim->processes[i], *to = sim->processes[k];
        if (i != k && from != leaver && to != leaver && from->member && to->member && from->alive
            && to->alive
            && (links_way (sim, from, to) != WAY_OPEN
                || !are_linked (sim, from->number, to->number)))
          return TRUE;
      }
  return FALSE;
}

static void
note_handed (gpointer data, guint32 job)
{
  ((Sim *)data)->handed[job] = TRUE;
}

/* TRUE: a process is joining. It may join through the leaver, or the leaver itself may be the one
 * that joins. A process that was taken in but does not know it yet counts as a member that sends
 * nothing. */
static gboolean
somebody_joins (const Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    if (sim->processes[i]->alive && !sim->processes[i]->member)
      return TRUE;
  return FALSE;
}

void
check_left (Sim *sim, Process *process, const NodeEffect *effect)
{
  gboolean whole = !effect->failed && effect->count == 0;

  sim->outcome->left += whole;
  sim->left_early = sim->left_early || somebody_joins (sim);
  sim->left_some = sim->left_some || !whole || parts_the_rest (sim, process);
  model_each_result (process->model, note_handed, sim);
  for (guint32 i = 0; i < sim->plan->tree->n; i++)
    if (sim->finished_by[i] & (1u << process->number))
      sim->handed[i] = TRUE;
}

/* ---- no process relies on a leaver ---- */

/* The id under which `process` knows `other`; none if the roster does not contain it. */
static NodeId
name_of (const Process *process, const Process *other)
{
  g_autoptr (GArray) members = node_members (process->node);

  for (guint i = 0; i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      if (member->pid == SIM_PID + other->number)
        return member->id;
    }
  return NODE_ID_NONE;
}

/* `process` has taken in the LEAVING of `leaver`: it sends HEARD in the same step. */
static void
note_leaver (Process *process, const Process *leaver)
{
  NodeId name = name_of (process, leaver), own = node_self (leaver->node);

  if (leaver->alive && node_id_equal (&name, &own))
    process->leavers[leaver->number] = name;
}

/* TRUE: these bytes were sent before. Frames of an earlier connection are sent again over the next
 * one. */
static gboolean
was_sent (Process *process, const Process *to, GBytes *bytes)
{
  SimSession *session = &process->sessions[to->number];
  NodeId self = node_self (process->node), other = node_self (to->node);
  SessionStream stream;
  guint64 number = say_number (bytes, &stream);

  if (number == 0)
    return FALSE;
  if (!node_id_equal (&session->self, &self) || !node_id_equal (&session->other, &other))
    *session = (SimSession){ .self = self, .other = other };
  gboolean before = number <= session->sent[stream];
  session->sent[stream] = MAX (session->sent[stream], number);
  return before;
}

/* TRUE: the message gives its receiver work, or asks for some. */
static gboolean
is_given (GBytes *bytes, guint32 kind)
{
  gboolean may_give = kind == MESSAGE_JOBS || kind == MESSAGE_COPY;
  g_autoptr (GBytes) content = may_give ? say_content (bytes) : NULL;
  g_auto (Message) m = { 0 };

  return kind == MESSAGE_STEAL
         || (content != NULL
             && (!message_decode (content, &m, NULL)
                 || (kind == MESSAGE_JOBS ? m.loans->len > 0 : m.count == BUDDY_HAND)));
}

void
check_given (Sim *sim, Process *process, const Process *to, GBytes *bytes)
{
  const NodeId *leaver = &process->leavers[to->number];
  guint32 kind = say_kind (bytes);

  if (kind == MESSAGE_NO_KIND || was_sent (process, to, bytes))
    return;
  if (kind == MESSAGE_HEARD)
    note_leaver (process, to);
  if (node_id_is_none (leaver) || !is_given (bytes, kind))
    return;
  NodeId name = name_of (process, to);
  if (node_id_equal (&name, leaver))
    sim_fail (sim, "I23: p%u says '%s' to p%u, which has told it that it leaves", process->number,
              message_kind_name (kind), to->number);
}

void
check_lent (Sim *sim, const Process *process, const NodeId *thief)
{
  for (guint i = 0; i < sim->n_processes && !sim->plan->unwatched; i++)
    if (node_id_equal (&process->leavers[i], thief) && !node_id_is_none (thief))
      sim_fail (sim, "I23: p%u takes jobs for p%u, which has told it that it leaves",
                process->number, i);
}
