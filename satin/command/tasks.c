/* SPDX-License-Identifier: BSD-3-Clause */
/* See tasks.h. The other end of the folder is batch.c. */
#include "tasks.h"
#include "batch.h"
#include "command.h"

#include "net/folder.h"
#include "net/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_US (200 * 1000)
/* The first task has this long to make the run. */
#define FIRST_LIMIT_US (60 * G_USEC_PER_SEC)

gboolean
tasks_is_first (void)
{
  return step_number ("SLURM_PROCID") == 0;
}

char *
tasks_sites (int workers)
{
  int cores = workers > 0 ? workers : step_number ("SLURM_CPUS_PER_TASK");
  g_autofree char *each = cores > 0 ? g_strdup_printf ("workers = %d\n", cores) : g_strdup ("");

  return g_strdup_printf ("[site first]\nlauncher = local\n%s[site tasks]\nlauncher = tasks\n"
                          "nodes = %d\n%s",
                          each, step_number ("SLURM_STEP_NUM_TASKS") - 1, each);
}

char *
tasks_place (int number)
{
  g_autofree char *runs = folder_root ();
  g_autofree char *above = g_path_get_dirname (runs);
  g_autofree char *name = g_strdup_printf ("tasks-%s-%s-%d", g_getenv ("SLURM_JOB_ID"),
                                           g_getenv ("SLURM_STEP_ID"), number);

  return g_build_filename (above, name, NULL);
}

static gboolean
has (const char *place, const char *file)
{
  g_autofree char *path = g_build_filename (place, file, NULL);

  return access (path, F_OK) == 0;
}

/* 0: it is not there. */
static gboolean
wait_for (const char *place, const char *file, gint64 limit_us)
{
  gint64 until_us = g_get_monotonic_time () + limit_us;

  /* What is done was of an earlier run of this step. */
  while (!has (place, file) || has (place, "done"))
    {
      if (g_get_monotonic_time () > until_us)
        return FALSE;
      g_usleep (LOOK_US);
    }
  return TRUE;
}

/* Becomes the shell that runs `script`, with the files of `place` for standard streams. */
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

int
tasks_serve (const char *line)
{
  g_autofree char *place = tasks_place (step_number ("SLURM_PROCID"));
  g_autofree char *script = g_build_filename (place, BATCH_SCRIPT, NULL);
  g_autofree char *words = g_build_filename (place, BATCH_LINE, NULL);
  g_autofree char *said = NULL;
  int status;

  if (!wait_for (place, BATCH_LINE, FIRST_LIMIT_US))
    return command_say ("the first task of this step has made no run"), COMMAND_ERROR;
  if (!g_file_get_contents (words, &said, NULL, NULL) || strcmp (said, line) != 0)
    return command_say ("the tasks of one step are one run: start all with the same words, or each"
                        " by a srun of its own"),
           COMMAND_USAGE;
  while (!has (place, BATCH_SCRIPT)) /* the run may end, or its first node refuse, before that */
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
  return WIFEXITED (status) ? WEXITSTATUS (status) : COMMAND_ERROR;
}
