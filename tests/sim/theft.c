/* SPDX-License-Identifier: BSD-3-Clause */
/* Crashes at each step of a steal (T0-12, T2-4). Paper 000 claims that its protocol was checked
 * against all scenarios of failing victims and thieves, but does not print them. This program
 * prints them for our protocol. It watches one run under plan buddy and chooses a steal whose thief
 * has a keeper that is not its victim. Then it repeats the run for each step of that steal and each
 * set of one or two processes that crash there. `sim --theft` prints a line for each run; without
 * arguments this is a test of `make check`. */
#include "config.h"

#include "enumerate.h"
#include "say.h"
#include "swarm.h"

#include "messages/message.h"

#include <stdio.h>
#include <string.h>

#define JOBS 63
#define NODES 4
#define NOBODY G_MAXUINT

/* The steps of a steal, with the letters of the figure in paper 000 where it has them. */
typedef enum
{
  STEP_REQUEST, /* B: STEAL arrives at the victim. */
  STEP_JOBS,    /* E: JOBS arrives at the thief. */
  STEP_COPY,    /* F: the thief's row arrives at its keeper … */
  STEP_COPIED,  /* … and the answer at the thief. */
  STEP_RESULT,  /* G: RESULT arrives at the victim. */
  STEP_ACK,     /* The victim's keeper has the row, and ACK arrives at the thief. */
  STEP_AFTER,   /* The next message. */
  STEPS
} Step;

static const char *const step_names[STEPS] = { "before the request arrives (B)",
                                               "before the job arrives (E)",
                                               "before the keeper has the row (F)",
                                               "before the thief hears so",
                                               "before the result arrives (G)",
                                               "before the thief hears that two have it",
                                               "when the steal is over" };

enum
{
  VICTIM,
  THIEF,
  KEEPER, /* The thief's keeper. */
  ROLES
};

static const char *const role_names[ROLES] = { "victim", "thief", "keeper" };

/* The processes that crash: one or two. */
static const guint sets[][2] = { { VICTIM, ROLES }, { THIEF, ROLES },   { KEEPER, ROLES },
                                 { VICTIM, THIEF }, { VICTIM, KEEPER }, { THIEF, KEEPER } };

typedef struct
{
  MessageKind kind;
  guint from, to;
  guint64 number, loan;
  char path[64];
} Seen;

typedef struct
{
  SimWatch watch;
  const Tree *tree;
  GArray *seen; /* Of Seen; NULL: not wanted. */
  guint times[TREE_JOBS_MAX];
} Watch;

typedef struct
{
  guint process[ROLES];
  guint64 at[STEPS]; /* Numbers of messages. */
  guint32 job;
} Theft;

static void
on_message (SimWatch *base, guint64 number, guint from, guint to, GBytes *bytes)
{
  Watch *watch = (Watch *)base;
  g_autoptr (GBytes) content = watch->seen != NULL ? say_content (bytes) : NULL;
  g_auto (Message) m = { 0 };

  if (content == NULL || !message_decode (content, &m, NULL))
    return;
  Seen seen = { m.kind, from, to, number, m.number, "" };
  const char *path = m.path;
  if (m.kind == MESSAGE_JOBS && m.loans->len == 1)
    {
      const Loan *loan = m.loans->pdata[0];
      seen.loan = loan->loan;
      path = loan->path;
    }
  else if (m.kind == MESSAGE_COPY && m.rows->len == 1)
    path = ((const Row *)m.rows->pdata[0])->path;
  g_strlcpy (seen.path, path != NULL ? path : "", sizeof seen.path);
  g_array_append_val (watch->seen, seen);
}

static void
on_started (SimWatch *base, guint process G_GNUC_UNUSED, guint32 job)
{
  ((Watch *)base)->times[job]++;
}

static void
make_plan (Plan *plan, Watch *watch, GArray *seen)
{
  swarm_fixed_plan (JOBS, NODES, FALSE, FALSE, 0, plan);
  plan->buddies = SIM_THEFT;
  enumerate_make_lasting (plan);
  *watch = (Watch){ .watch = { on_message, on_started }, .tree = plan->tree, .seen = seen };
  plan->sudden = TRUE; /* A crash also takes what the process sent last. */
  plan->watch = &watch->watch;
}

/* The first message after number `after` that matches `like`; NOBODY, an empty path and loan 0
 * match everything. NULL: none. */
static const Seen *
next_seen (const GArray *seen, guint64 after, const Seen *like)
{
  for (guint i = 0; i < seen->len; i++)
    {
      const Seen *one = &g_array_index (seen, Seen, i);
      if (one->number > after && one->kind == like->kind
          && (like->from == NOBODY || one->from == like->from)
          && (like->to == NOBODY || one->to == like->to)
          && (like->path[0] == '\0' || strcmp (one->path, like->path) == 0)
          && (like->loan == 0 || one->loan == like->loan))
        return one;
    }
  return NULL;
}

/* The last STEAL of this thief before its job arrived. */
static guint64
request_of (const GArray *seen, const Seen *jobs)
{
  guint64 number = 0;

  for (guint i = 0; i < seen->len; i++)
    {
      const Seen *one = &g_array_index (seen, Seen, i);
      if (one->kind == MESSAGE_STEAL && one->from == jobs->to && one->to == jobs->from
          && one->number < jobs->number)
        number = one->number;
    }
  return number;
}

/* FALSE: this is no complete steal between two processes with a third one that keeps the thief's
 * row. */
static gboolean
read_theft (const GArray *seen, const Tree *tree, const Seen *jobs, Theft *theft)
{
  guint victim = jobs->from, thief = jobs->to;
  Seen copy_like = { MESSAGE_COPY, thief, NOBODY, 0, 0, "" };
  g_strlcpy (copy_like.path, jobs->path, sizeof copy_like.path);
  const Seen *copy = next_seen (seen, jobs->number, &copy_like);
  if (jobs->path[0] == '\0' || copy == NULL || copy->to == victim)
    return FALSE;
  const Seen *copied = next_seen (seen, copy->number,
                                  &(Seen){ MESSAGE_COPIED, copy->to, thief, 0, copy->loan, "" });
  const Seen *result
      = next_seen (seen, jobs->number, &(Seen){ MESSAGE_RESULT, thief, victim, 0, jobs->loan, "" });
  const Seen *ack
      = next_seen (seen, jobs->number, &(Seen){ MESSAGE_ACK, victim, thief, 0, jobs->loan, "" });
  guint64 request = request_of (seen, jobs);
  if (copied == NULL || result == NULL || ack == NULL || request == 0
      || result->number < copied->number)
    return FALSE;
  *theft = (Theft){ .process = { victim, thief, copy->to },
                    .at = { request, jobs->number, copy->number, copied->number, result->number,
                            ack->number, ack->number + 1 },
                    .job = (guint32)tree_find (tree, jobs->path) };
  return TRUE;
}

/* FALSE: there is no such steal, or the run failed. */
static gboolean
find_theft (Theft *theft)
{
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (Seen));
  gboolean found = FALSE;
  Outcome outcome;
  Watch watch;
  Plan plan;

  make_plan (&plan, &watch, seen);
  sim_run (&plan, SIM_NOTHING, &outcome);
  for (guint i = 0; i < seen->len && !found && outcome.failure[0] == '\0'; i++)
    if (g_array_index (seen, Seen, i).kind == MESSAGE_JOBS)
      found = read_theft (seen, plan.tree, &g_array_index (seen, Seen, i), theft);
  tree_free ((Tree *)plan.tree);
  return found;
}

typedef struct
{
  guint again; /* Jobs that began once more, each time. */
  gboolean stolen_again;
  guint64 lost_us;
  char failure[400];
} Cost;

/* Faults number the living processes, so the second process may have moved up. */
static void
crash_at (const Theft *theft, Step step, const guint set[2], Cost *cost)
{
  Outcome outcome;
  Watch watch;
  Plan plan;

  make_plan (&plan, &watch, NULL);
  guint first = theft->process[set[0]];
  swarm_add_fault (&plan, FAULT_CRASH, first, theft->at[step]);
  if (set[1] != ROLES)
    {
      guint second = theft->process[set[1]];
      swarm_add_fault (&plan, FAULT_CRASH, second - (second > first), theft->at[step]);
    }
  sim_run (&plan, SIM_NOTHING, &outcome);
  *cost = (Cost){ .lost_us = outcome.lost_true_us, .stolen_again = watch.times[theft->job] > 1 };
  memcpy (cost->failure, outcome.failure, sizeof cost->failure);
  for (guint32 i = 0; i < plan.tree->n; i++)
    cost->again += watch.times[i] > 1 ? watch.times[i] - 1 : 0;
  tree_free ((Tree *)plan.tree);
}

static const char *
set_name (const guint set[2])
{
  static char text[64];

  (void)g_snprintf (text, sizeof text, "%s%s%s", role_names[set[0]], set[1] != ROLES ? ", " : "",
                    set[1] != ROLES ? role_names[set[1]] : "");
  return text;
}

/* TRUE: the stolen job itself may run again. It may not once its result is at a living process. */
static gboolean
may_run_again (Step step, const guint set[2])
{
  gboolean dies[ROLES + 1] = { FALSE };

  dies[set[0]] = dies[set[1]] = TRUE;
  if (step <= STEP_COPY) /* Only the thief has it. */
    return dies[THIEF];
  if (step <= STEP_RESULT) /* Thief and keeper have it. */
    return dies[THIEF] && dies[KEEPER];
  return dies[VICTIM] && dies[THIEF] && dies[KEEPER];
}

/* Tries all cases; `prints`: prints each. Returns the number of wrong runs. */
static guint
try_all (gboolean prints, guint *runs)
{
  guint bad = 0;
  Theft theft;

  *runs = 0;
  if (!find_theft (&theft))
    {
      printf ("# the run has no steal whose thief has a keeper of its own\n");
      return 1;
    }
  if (prints)
    printf ("p%u steals from p%u, p%u keeps its rows; %u jobs on %u nodes, plan buddy\n"
            "%-42s %-16s %-12s %-6s %s\n",
            theft.process[THIEF], theft.process[VICTIM], theft.process[KEEPER], JOBS, NODES,
            "crash", "of", "jobs again", "stolen", "lost ms");
  for (Step step = 0; step < STEPS; step++)
    for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
      {
        Cost cost;
        crash_at (&theft, step, sets[i], &cost);
        gboolean wrong
            = cost.failure[0] != '\0' || (cost.stolen_again && !may_run_again (step, sets[i]));
        if (prints || wrong)
          printf ("%s%-42s %-16s %-12u %-6s %.1f%s%s\n", prints ? "" : "# ", step_names[step],
                  set_name (sets[i]), cost.again, cost.stolen_again ? "again" : "kept",
                  (double)cost.lost_us / 1000, wrong ? " WRONG " : "", cost.failure);
        ++*runs;
        bad += wrong;
      }
  return bad;
}

int
main (int argc, char **argv)
{
  gboolean prints = argc > 1 && strcmp (argv[1], "--theft") == 0;
  guint runs;

  if (argc > 1 && !prints)
    {
      fprintf (stderr, "sim-theft takes --theft or nothing, not '%s'\n", argv[1]);
      return 2;
    }
  guint bad = try_all (prints, &runs);
  if (!prints)
    printf ("1..1\n%sok 1 - T0-12: victim, thief, keeper and pairs crash at each step of a steal # "
            "%u runs\n",
            bad > 0 ? "not " : "", runs);
  return bad > 0;
}
