/* SPDX-License-Identifier: BSD-3-Clause */
/* Which environments make a process a task of a step, and which do not. */
#include "host/step.h"

#include <string.h>

#define MOST 8

typedef struct
{
  const char *what;
  const char *set[MOST]; /* NAME=VALUE, NULL after the last */
  StepLauncher launcher;
  int tasks, task, here;
  const char *id;
} Case;

static const char *const known[] = { "SLURM_STEP_NUM_TASKS",
                                     "SLURM_PROCID",
                                     "SLURM_JOB_ID",
                                     "SLURM_STEP_ID",
                                     "SLURM_KILL_BAD_EXIT",
                                     "OMPI_COMM_WORLD_SIZE",
                                     "OMPI_COMM_WORLD_RANK",
                                     "OMPI_COMM_WORLD_LOCAL_SIZE",
                                     "OMPI_MCA_ess_base_jobid",
                                     "OMPI_MCA_orte_precondition_transports",
                                     "OMPI_MCA_orte_enable_recovery",
                                     "PMIX_NAMESPACE",
                                     "PMI_SIZE",
                                     "PMI_RANK",
                                     "PMI_PORT",
                                     "MPI_LOCALNRANKS" };

static void
set_environment (const char *const *set)
{
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    g_unsetenv (known[i]);
  for (int i = 0; i < MOST && set[i] != NULL; i++)
    {
      g_auto (GStrv) pair = g_strsplit (set[i], "=", 2);
      g_setenv (pair[0], pair[1], TRUE);
    }
}

static const Case cases[] = {
  { "nothing", { NULL }, STEP_NONE, 0, 0, 0, "" },
  { "srun",
    { "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=3", "SLURM_JOB_ID=17", "SLURM_STEP_ID=0" },
    STEP_SLURM,
    4,
    3,
    0,
    "17-0" },
  { "a batch script",
    { "SLURM_PROCID=0", "SLURM_JOB_ID=17", "SLURM_NTASKS=4" },
    STEP_NONE,
    0,
    0,
    0,
    "" },
  { "srun of one task",
    { "SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0", "SLURM_JOB_ID=17", "SLURM_STEP_ID=0" },
    STEP_NONE,
    0,
    0,
    0,
    "" },
  { "a task beyond the last",
    { "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=2", "SLURM_JOB_ID=17", "SLURM_STEP_ID=0" },
    STEP_NONE,
    0,
    0,
    0,
    "" },
  { "Open MPI 4",
    { "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
      "PMIX_NAMESPACE=1985413121", "OMPI_MCA_orte_precondition_transports=49c1-70f5" },
    STEP_OPENMPI,
    8,
    0,
    2,
    "1985413121-49c1-70f5" },
  { "Open MPI 5",
    { "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1", "PMIX_NAMESPACE=prterun-host/x-12@1" },
    STEP_OPENMPI,
    2,
    1,
    0,
    "prterun-host_x-12_1" },
  { "Open MPI without PMIx",
    { "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1", "OMPI_MCA_ess_base_jobid=77" },
    STEP_OPENMPI,
    2,
    1,
    0,
    "77" },
  { "Open MPI without a name",
    { "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1" },
    STEP_NONE,
    0,
    0,
    0,
    "" },
  { "Open MPI whose processes srun has started",
    { "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_JOB_ID=17", "SLURM_STEP_ID=0",
      "OMPI_COMM_WORLD_SIZE=16", "OMPI_COMM_WORLD_RANK=9", "PMIX_NAMESPACE=5" },
    STEP_OPENMPI,
    16,
    9,
    0,
    "5" },
  { "MPICH with a port",
    { "PMI_SIZE=3", "PMI_RANK=2", "PMI_PORT=host:4711", "MPI_LOCALNRANKS=3" },
    STEP_HYDRA,
    3,
    2,
    3,
    "host_4711" },
  { "PMI of srun",
    { "PMI_SIZE=4", "PMI_RANK=3", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=3", "SLURM_JOB_ID=17",
      "SLURM_STEP_ID=2" },
    STEP_SLURM,
    4,
    3,
    0,
    "17-2" },
  { "no numbers",
    { "OMPI_COMM_WORLD_SIZE=many", "OMPI_COMM_WORLD_RANK=0", "PMIX_NAMESPACE=5" },
    STEP_NONE,
    0,
    0,
    0,
    "" }
};

static void
environments (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *c = &cases[i];
      Step step;

      g_test_message ("%s", c->what);
      set_environment (c->set);
      g_assert_cmpint (step_read (&step), ==, c->launcher != STEP_NONE);
      g_assert_cmpint (step_has_tasks (), ==, c->launcher != STEP_NONE);
      g_assert_cmpint (step.launcher, ==, c->launcher);
      g_assert_cmpint (step.tasks, ==, c->tasks);
      g_assert_cmpint (step.task, ==, c->task);
      g_assert_cmpint (step.here, ==, c->here);
      g_assert_cmpstr (step.id, ==, c->id);
    }
}

/* A name that is too long is cut at its end; it stays a file name. */
static void
long_names (void)
{
  g_autofree char *name = g_strnfill (5000, '/');
  Step step;

  set_environment (
      (const char *const[MOST]){ "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1", NULL });
  g_setenv ("PMIX_NAMESPACE", name, TRUE);
  g_assert_true (step_read (&step));
  g_assert_cmpuint (strlen (step.id), ==, STEP_ID_SIZE - 1);
  g_assert_null (strchr (step.id, '/'));
}

static void
advice (void)
{
  Step step = { .launcher = STEP_OPENMPI };

  set_environment ((const char *const[MOST]){ NULL });
  g_assert_nonnull (strstr (step_advice (&step), "--enable-recovery"));
  g_setenv ("OMPI_MCA_orte_enable_recovery", "1", TRUE);
  g_assert_null (step_advice (&step));
  step.launcher = STEP_SLURM;
  g_assert_null (step_advice (&step));
  g_setenv ("SLURM_KILL_BAD_EXIT", "1", TRUE);
  g_assert_nonnull (strstr (step_advice (&step), "--kill-on-bad-exit=0"));
  g_setenv ("SLURM_KILL_BAD_EXIT", "0", TRUE);
  g_assert_null (step_advice (&step));
  g_setenv ("SLURM_KILL_BAD_EXIT", "1", TRUE);
  step.launcher = STEP_HYDRA;
  g_assert_null (step_advice (&step));
}

static void
options_of_a_command_line (void)
{
  static const char words[] = "proxy\0--control-port\0host:42\0--x\0--control-port";
  g_autofree char *found = step_find_option (words, sizeof words, "--control-port");
  g_autofree char *next = step_find_option (words, sizeof words, "host:42");

  g_assert_cmpstr (found, ==, "host:42");
  g_assert_cmpstr (next, ==, "--x");
  g_assert_null (step_find_option (words, sizeof words, "--control"));
  g_assert_null (step_find_option (words + 31, sizeof words - 31, "--control-port")); /* the last */
  g_assert_null (step_find_option (words, 0, "proxy"));
  g_assert_null (step_find_option (words, 3, "proxy"));           /* no end */
  g_assert_null (step_find_option (words, 25, "--control-port")); /* none of its value */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/step/environments", environments);
  g_test_add_func ("/step/long-names", long_names);
  g_test_add_func ("/step/advice", advice);
  g_test_add_func ("/step/options", options_of_a_command_line);
  return g_test_run ();
}
