/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <string.h>
#include <unistd.h>

/* Most ancestors searched: shells and wrappers may stand between a task and the launcher's
 * process. */
#define ANCESTORS_MAX 16

int
step_number (const char *variable)
{
  const char *text = g_getenv (variable);
  guint64 number;

  return text != NULL && g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, &number, NULL)
             ? (int)number
             : -1;
}

char *
step_find_option (const char *words, gsize size, const char *option)
{
  const char *end = words + size, *next;
  gboolean is_next = FALSE;

  for (const char *word = words; word < end; word = next + 1)
    {
      next = memchr (word, '\0', (gsize)(end - word));
      if (next == NULL)
        return NULL;
      if (is_next)
        return g_strdup (word);
      is_next = strcmp (word, option) == 0;
    }
  return NULL;
}

/* (nullable) (transfer full): the command line of process `pid`; *parent (out) is its parent. */
static char *
read_process (int pid, gsize *size, int *parent)
{
  g_autofree char *status_file = g_strdup_printf ("/proc/%d/status", pid);
  g_autofree char *words_file = g_strdup_printf ("/proc/%d/cmdline", pid);
  g_autofree char *status = NULL;
  char *words = NULL;
  const char *line;

  *parent = 0;
  if (g_file_get_contents (status_file, &status, NULL, NULL)
      && (line = strstr (status, "\nPPid:")) != NULL)
    *parent = (int)g_ascii_strtoll (line + strlen ("\nPPid:"), NULL, 10);
  return g_file_get_contents (words_file, &words, size, NULL) ? words : NULL;
}

/* The address of mpirun, from the command line of the proxy that started this process. It is the
 * same on all hosts. (transfer full) (nullable) */
static char *
find_hydra (void)
{
  int pid = getppid (), parent;

  for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = parent)
    {
      gsize size = 0;
      g_autofree char *words = read_process (pid, &size, &parent);
      char *address = words != NULL ? step_find_option (words, size, "--control-port") : NULL;

      if (address != NULL)
        return address;
    }
  return NULL;
}

/* FALSE: a variable is not set, or there is only one task. */
static gboolean
read_numbers (Step *step, const char *tasks, const char *task, const char *here)
{
  step->tasks = step_number (tasks);
  step->task = step_number (task);
  step->here = here != NULL ? MAX (step_number (here), 0) : 0;
  return step->tasks > 1 && step->task >= 0 && step->task < step->tasks;
}

/* FALSE: `name` is NULL or empty. */
static gboolean
set_id (Step *step, StepLauncher launcher, const char *name, const char *more)
{
  if (name == NULL || name[0] == '\0')
    return FALSE;
  step->launcher = launcher;
  (void)g_snprintf (step->id, sizeof step->id, "%s%s%s", name, more != NULL ? "-" : "",
                    more != NULL ? more : "");
  g_strcanon (step->id, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-.", '_');
  return TRUE;
}

static gboolean
read_openmpi (Step *step)
{
  const char *name = g_getenv ("PMIX_NAMESPACE");

  /* A job name of Open MPI 4 has only 16 random bits; this key has 128. */
  return read_numbers (step, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                       "OMPI_COMM_WORLD_LOCAL_SIZE")
         && set_id (step, STEP_OPENMPI, name != NULL ? name : g_getenv ("OMPI_MCA_ess_base_jobid"),
                    g_getenv ("OMPI_MCA_orte_precondition_transports"));
}

static gboolean
read_hydra (Step *step)
{
  g_autofree char *address = NULL;

  if (!read_numbers (step, "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"))
    return FALSE;
  address = g_getenv ("PMI_PORT") != NULL ? g_strdup (g_getenv ("PMI_PORT")) : find_hydra ();
  return set_id (step, STEP_HYDRA, address, NULL);
}

static gboolean
read_slurm (Step *step)
{
  return read_numbers (step, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL)
         && step_number ("SLURM_JOB_ID") >= 0 && step_number ("SLURM_STEP_ID") >= 0
         && set_id (step, STEP_SLURM, g_getenv ("SLURM_JOB_ID"), g_getenv ("SLURM_STEP_ID"));
}

/* Within a Slurm allocation mpirun starts its own processes by srun, and tasks inherit srun's
 * variables. So mpirun is tested first. */
gboolean
step_read (Step *step)
{
  *step = (Step){ 0 };
  if (read_openmpi (step) || read_hydra (step) || read_slurm (step))
    return TRUE;
  *step = (Step){ 0 };
  return FALSE;
}

gboolean
step_has_tasks (void)
{
  Step step;

  return step_read (&step);
}

const char *
step_advice (const Step *step)
{
  if (step->launcher == STEP_OPENMPI && step_number ("OMPI_MCA_orte_enable_recovery") != 1)
    return "mpirun ends all tasks when one dies; `mpirun --enable-recovery` prevents that";
  if (step->launcher == STEP_SLURM && step_number ("SLURM_KILL_BAD_EXIT") == 1)
    return "srun ends all tasks when one dies; `srun --kill-on-bad-exit=0` prevents that";
  return NULL;
}

void
step_become_run (const char *program, char **argv)
{
  g_autofree char *folder = g_path_get_dirname (program);
  g_autofree char *beside = g_build_filename (folder, "satin", NULL);
  g_autofree char *found = g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE)
                               ? g_strdup (beside)
                               : g_find_program_in_path ("satin");
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  if (found == NULL)
    return;
  g_ptr_array_add (words, found);
  g_ptr_array_add (words, (char *)"run");
  g_ptr_array_add (words, (char *)"--");
  g_ptr_array_add (words, (char *)program);
  for (int i = 1; argv[i] != NULL; i++)
    g_ptr_array_add (words, argv[i]);
  g_ptr_array_add (words, NULL);
  execv (found, (char **)words->pdata);
}
