/* SPDX-License-Identifier: BSD-3-Clause */
/* See tasks.h. batch.c fills the folder of a task. Tests: test-tasks, sites.sh, slurm.sh,
 * mpi.sh. */
#include "tasks.h"
#include "batch.h"
#include "sites.h"

#include "command-words.h"

#include "folder/folder.h"

#include "host/step.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_US (200 * 1000)
/* How long another task waits for the first task to begin, and then for the run: a resume first
 * downloads the checkpoint from its URI. */
#define FIRST_LIMIT_US (60 * G_USEC_PER_SEC)
#define MAKE_LIMIT_US (600 * G_USEC_PER_SEC)
/* How long another task waits for the end of the run after its own node has ended. */
#define END_LIMIT_US (10 * G_USEC_PER_SEC)
#define FIRST_WORD "run\n"
#define ENDED_WORD "ended\n"

/* The workers of a node when the user does not say. Slurm says it; else this task's share of the
 * cores of this host. 0: the default. */
static int
count_cores (const Step *step)
{
  long online = sysconf (_SC_NPROCESSORS_ONLN);

  if (step->launcher == STEP_SLURM)
    return MAX (step_number ("SLURM_CPUS_PER_TASK"), 0);
  if (step->here < 1 || online < 1)
    return 0;
  return (int)CLAMP (online / step->here, 1, (long)g_get_num_processors ());
}

/* The text of a file of sites. (transfer full) */
static char *
list_sites (const Step *step, int workers)
{
  int cores = workers > 0 ? workers : count_cores (step);
  g_autofree char *each = cores > 0 ? g_strdup_printf ("workers = %d\n", cores) : g_strdup ("");

  return g_strdup_printf ("[site first]\nlauncher = local\n%s[site tasks]\nlauncher = tasks\n"
                          "nodes = %d\n%s",
                          each, step->tasks - 1, each);
}

char *
tasks_place (int number)
{
  g_autofree char *runs = folder_root ();
  g_autofree char *above = g_path_get_dirname (runs);
  g_autofree char *name = NULL;
  Step step;

  (void)step_read (&step);
  name = g_strdup_printf ("tasks-%s-%d", step.id, number);
  return g_build_filename (above, name, NULL);
}

static gboolean
has (const char *place, const char *file)
{
  g_autofree char *path = g_build_filename (place, file, NULL);

  return access (path, F_OK) == 0;
}

/* The first task's file is there from the beginning of the run. Its lines: FIRST_WORD, the number
 * of each task that no longer needs the file, and ENDED_WORD when the run has ended. The process
 * that writes the last of these lines removes the file. */
typedef enum
{
  RUN_ABSENT,
  RUN_GOES_ON,
  RUN_ENDED, /* this task has not written its number */
  RUN_OVER   /* it has: another run of this step may follow */
} FirstRun;

static FirstRun
look_at_first (const Step *step)
{
  g_autofree char *path = tasks_place (0), *text = NULL;
  g_autofree char *line = g_strdup_printf ("\n%d\n", step->task);

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return RUN_ABSENT;
  if (strstr (text, "\n" ENDED_WORD) == NULL)
    return RUN_GOES_ON;
  return strstr (text, line) != NULL ? RUN_OVER : RUN_ENDED;
}

static void
sign_first (const Step *step, const char *line)
{
  g_autofree char *path = tasks_place (0), *text = NULL;
  int lines = 0, fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC);

  if (fd < 0)
    return;
  gboolean is_written = write (fd, line, strlen (line)) > 0;
  close (fd);
  if (!is_written || !g_file_get_contents (path, &text, NULL, NULL))
    return;
  for (const char *end = text; (end = strchr (end, '\n')) != NULL; end++)
    lines++;
  if (lines > step->tasks) /* both words, and the numbers of all tasks but the first */
    (void)g_unlink (path);
}

/* Waits for this task's work. 1: it is there. 0: there is none, since the run has ended, or the
 * first task ended without giving any. (The file seen may be that of an earlier run of this step,
 * so this counts only after FIRST_LIMIT_US.) -1: an error was printed. */
static int
wait_for_work (const Step *step, const char *place)
{
  gint64 since_us = g_get_monotonic_time ();
  gboolean was_there = FALSE, is_there = FALSE;

  /* A folder with `done` is of an earlier run of this step. */
  while (!has (place, BATCH_LINE) || has (place, "done"))
    {
      gint64 now_us = g_get_monotonic_time ();
      gboolean before = is_there;
      FirstRun run = look_at_first (step);

      if (run == RUN_ENDED)
        return 0;
      is_there = run == RUN_GOES_ON;
      was_there = was_there || is_there;
      if (is_there != before)
        since_us = now_us;
      if (now_us - since_us > (is_there ? MAKE_LIMIT_US : FIRST_LIMIT_US))
        {
          if (was_there && !is_there)
            return 0;
          return command_say ("the first task of this step has started no run"), -1;
        }
      g_usleep (LOOK_US);
    }
  return 1;
}

/* A node may end before its launcher. This task must not take the end of its own run for the end of
 * a next run, nor wait for ever for a launcher that was killed. */
static void
wait_for_end (const Step *step)
{
  gint64 until_us = g_get_monotonic_time () + END_LIMIT_US;
  g_autofree char *line = g_strdup_printf ("%d\n", step->task);
  FirstRun run;

  while ((run = look_at_first (step)) == RUN_GOES_ON && g_get_monotonic_time () < until_us)
    g_usleep (LOOK_US);
  if (run == RUN_GOES_ON || run == RUN_ENDED)
    sign_first (step, line);
}

/* Becomes the shell that runs `script`. Its standard streams are files in `place`. */
static void
become (const char *place, const char *script)
{
  static const struct
  {
    const char *name;
    int flags;
  } files[] = { { "to", O_RDONLY },
                { "from", O_WRONLY | O_APPEND },
                { "log", O_WRONLY | O_CREAT | O_APPEND } };

  for (int i = 0; i < (int)G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (place, files[i].name, NULL);
      int fd = open (path, files[i].flags | O_CLOEXEC, 0600);
      if (fd < 0 || dup2 (fd, i) < 0)
        _exit (COMMAND_ERROR);
    }
  execlp ("sh", "sh", script, (char *)NULL);
  _exit (COMMAND_ERROR);
}

/* Waits for work and runs it. `line`: the shell command that the first task must have written;
 * NULL: any. Returns an exit code, which is 0 however the node ends: the first task returns the
 * code of the run, and mpirun ends all tasks if one returns another code. */
static int
serve (const Step *step, const char *line)
{
  g_autofree char *place = tasks_place (step->task);
  g_autofree char *script = g_build_filename (place, BATCH_SCRIPT, NULL);
  g_autofree char *words = g_build_filename (place, BATCH_LINE, NULL);
  g_autofree char *said = NULL;
  int status, found;

  signal (SIGUSR1, SIG_IGN); /* the first task handles the batch system's warning */
  found = wait_for_work (step, place);
  if (found <= 0)
    return found == 0 ? COMMAND_DONE : COMMAND_ERROR;
  if (line != NULL && (!g_file_get_contents (words, &said, NULL, NULL) || strcmp (said, line) != 0))
    return command_say (
               "the tasks of one step are one run: start all with the same command line, or each"
               " by its own srun or mpirun"),
           COMMAND_USAGE;
  while (!has (place, BATCH_SCRIPT)) /* until then the run may end, or its first node may refuse */
    {
      if (!has (place, BATCH_LINE))
        return COMMAND_DONE;
      g_usleep (LOOK_US);
    }
  pid_t pid = fork ();
  if (pid == 0)
    become (place, script);
  if (pid < 0 || waitpid (pid, &status, 0) < 0)
    return command_say ("cannot start a process: %s", g_strerror (errno)), COMMAND_ERROR;
  return COMMAND_DONE;
}

int
tasks_begin (int workers, const char *program, char **argv, char **sites)
{
  g_autofree char *text = NULL, *folder = g_get_current_dir (), *line = NULL;
  g_autofree char *place = tasks_place (0), *above = g_path_get_dirname (place);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = NULL;
  Step step;
  gboolean is_first = step_read (&step) && step.task == 0;

  *sites = NULL;
  text = list_sites (&step, workers);
  if (is_first
      && (g_mkdir_with_parents (above, 0700) != 0
          || !g_file_set_contents (place, FIRST_WORD, -1, &error)))
    return command_say ("cannot write in '%s'", above), COMMAND_ERROR;
  int fd = g_file_open_tmp ("satin-sites-XXXXXX", sites, &error);
  if (fd < 0 || !g_file_set_contents (*sites, text, -1, &error)
      || (list = sites_read (*sites, NULL, &error)) == NULL)
    return command_say ("%s", error->message), COMMAND_ERROR;
  close (fd);
  if (is_first && step_advice (&step) != NULL)
    command_say ("%s", step_advice (&step));
  if (is_first)
    return -1;
  (void)g_unlink (*sites);
  g_clear_pointer (sites, g_free);
  line = program == NULL ? NULL : site_line (list->pdata[1], program, argv, folder, 0);
  int code = serve (&step, line);
  wait_for_end (&step);
  return code;
}

void
tasks_end (const char *sites)
{
  Step step;

  if (sites == NULL)
    return;
  (void)g_unlink (sites);
  if (step_read (&step))
    sign_first (&step, ENDED_WORD);
}
