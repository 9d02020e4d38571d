/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

#ifdef SIM_REAL
#include "real-plan.h"
#define swarm_plan real_plan
#endif

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command line of the running case, for the signal handler that reports a failed assertion. */
static char running[200];

static const char *const fault_names[]
    = { "none",  "crash", "vanish",  "pause", "clog", "apart", "half",   "reset", "join",
        "total", "save",  "suspend", "slow",  "head", "leave", "poison", "wall" };
G_STATIC_ASSERT (G_N_ELEMENTS (fault_names) == FAULT_KINDS);

FaultKind
cases_fault (const char *name)
{
  for (guint kind = 0; kind < FAULT_KINDS; kind++)
    if (g_str_equal (fault_names[kind], name))
      return (FaultKind)kind;
  return FAULT_NONE;
}

void
cases_note (const Plan *plan)
{
  gsize n = (gsize)g_snprintf (running, sizeof running, "--case %u/%u%s", plan->tree->n,
                               plan->n_nodes, plan->checkpoint ? "/checkpoint" : "");
  if (plan->tree->jobs[0].n_phases > 1)
    n += (gsize)g_snprintf (running + n, sizeof running - n, "/phased");
  if (plan->buddies)
    n += (gsize)g_snprintf (running + n, sizeof running - n, "%s",
                            plan->buddies == SIM_MIRROR  ? "/mirror"
                            : plan->buddies == SIM_CUT   ? "/cut"
                            : plan->buddies == SIM_THEFT ? "/theft"
                            : plan->buddies == SIM_RING  ? "/ring"
                                                         : "/buddies");
  if (plan->lasting)
    n += (gsize)g_snprintf (running + n, sizeof running - n, "/lasting");

  if (plan->aborts > 0)
    n += (gsize)g_snprintf (running + n, sizeof running - n, "/aborts%u", plan->aborts);
  for (guint i = 0; i < plan->n_faults && n < sizeof running; i++)
    n += (gsize)g_snprintf (running + n, sizeof running - n, ",%s:%u@%" G_GUINT64_FORMAT,
                            fault_names[plan->faults[i].kind], plan->faults[i].node,
                            plan->faults[i].at_message);
}

static void
add_fault (Plan *plan, const char *text)
{
  g_auto (GStrv) parts = g_strsplit_set (text, ":@", 3);

  if (g_strv_length (parts) == 3 && cases_fault (parts[0]) != FAULT_NONE)
    swarm_add_fault (plan, cases_fault (parts[0]), (guint)strtoul (parts[1], NULL, 10),
                     strtoull (parts[2], NULL, 10));
}

gboolean
cases_read (const char *text, Plan *plan)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", 0);
  unsigned n_jobs = 0, n_nodes = 0;
  const char *aborts;

  if (parts[0] == NULL || sscanf (parts[0], "%u/%u", &n_jobs, &n_nodes) != 2 || n_jobs < 1
      || n_jobs > TREE_JOBS_MAX)
    return FALSE;
  aborts = strstr (parts[0], "/aborts");
  swarm_fixed_plan (
      n_jobs, n_nodes, strstr (parts[0], "checkpoint") != NULL, strstr (parts[0], "phased") != NULL,
      aborts != NULL ? (guint)strtoul (aborts + strlen ("/aborts"), NULL, 10) : 0, plan);
  plan->buddies = strstr (parts[0], "mirror") != NULL    ? SIM_MIRROR
                  : strstr (parts[0], "/cut") != NULL    ? SIM_CUT
                  : strstr (parts[0], "theft") != NULL   ? SIM_THEFT
                  : strstr (parts[0], "ring") != NULL    ? SIM_RING
                  : strstr (parts[0], "buddies") != NULL ? SIM_BUDDIES
                                                         : SIM_NO_BUDDIES;
  if (strstr (parts[0], "lasting") != NULL)
    enumerate_make_lasting (plan);
  for (guint i = 1; parts[i] != NULL && plan->n_faults < SIM_FAULTS_MAX; i++)
    add_fault (plan, parts[i]);
  return TRUE;
}

const char *
cases_running (void)
{
  return running;
}

static void
note_seed (guint64 seed)
{
  g_snprintf (running, sizeof running, "--seed %" G_GUINT64_FORMAT, seed);
}

const char *
cases_plant (void)
{
  static const char prefix[] = "sim-plant-";

  return g_str_has_prefix (program_invocation_short_name, prefix)
             ? program_invocation_short_name + strlen (prefix)
             : NULL;
}

static void
write_words (const char *words)
{
  (void)!write (STDOUT_FILENO, words, strlen (words));
}

void
cases_say_and_die (int number)
{
  const char *plant = cases_plant ();

  write_words (plant != NULL ? "ok 1 - the planted bug " : "not ok - aborted: ");
  if (plant != NULL)
    {
      write_words (plant);
      write_words (" is caught by an assertion: ");
    }
  write_words (running);
  write_words ("\n");
  if (plant != NULL)
    _exit (number == SIGABRT ? 0 : 1);
  signal (number, SIG_DFL);
  raise (number);
}

gboolean
cases_run_seed (guint64 seed, SimMakes makes, Outcome *outcome)
{
  Plan plan;

  note_seed (seed);
  swarm_plan (seed, &plan);
  sim_run (&plan, makes, outcome);
  tree_free ((Tree *)plan.tree);
  return outcome->failure[0] == '\0';
}

void
cases_add (Outcome *sum, const Outcome *outcome)
{
  sum->steps += outcome->steps;
  sum->executed += outcome->executed;
  sum->adopted += outcome->adopted;
  sum->lost += outcome->lost;
  sum->recalled += outcome->recalled;
  sum->refused += outcome->refused;
  sum->forgotten += outcome->forgotten;
  sum->steals_remote += outcome->steals_remote;
  sum->lives += outcome->lives;
  sum->elected += outcome->elected;
  sum->moved += outcome->moved;
  sum->races += outcome->races;
  sum->condemned += outcome->condemned;
  sum->poisoned += outcome->poisoned;
  sum->fetched += outcome->fetched;
  sum->routed += outcome->routed;
  sum->leapfrogs += outcome->leapfrogs;
  sum->wholes += outcome->wholes;
  sum->power_lost += outcome->power_lost;
}

gboolean
cases_run_seeds (guint64 from, guint64 n, Outcome *sum)
{
  for (guint64 seed = from; seed < from + n; seed++)
    {
      Outcome outcome;
      if (!cases_run_seed (seed, SIM_NOTHING, &outcome))
        {
          printf ("# seed %" G_GUINT64_FORMAT ": %s\n", seed, outcome.failure);
          return FALSE;
        }
      cases_add (sum, &outcome);
    }
  return TRUE;
}

gboolean
cases_enumerate (const Enumeration *what, guint every, EnumerateResult *result)
{
  enumerate_all (what, every, cases_note, result);
  if (result->failed)
    printf ("# %s: %s\n", running, result->failure);
  return !result->failed;
}

double
cases_seconds (gint64 start_us)
{
  return (double)(g_get_monotonic_time () - start_us) / 1e6;
}
