/* SPDX-License-Identifier: BSD-3-Clause */
/* See tasks.h. The other end of the folder is batch.c. Tests: sites.sh, slurm.sh. */
#include "tasks.h"
#include "batch.h"
#include "command.h"
#include "sites.h"

#include "net/folder.h"
#include "net/step.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_US (200 * 1000)
/* The first task has this long to begin, and then this long to make the run: a resume fetches what
 * stands at the URI. */
#define FIRST_LIMIT_US (60 * G_USEC_PER_SEC)
#define MAKE_LIMIT_US (600 * G_USEC_PER_SEC)

/* The text of a file of sites. (transfer full) */
static char *
list_sites (int workers)
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

/* Of the first task: it stands while that one lives. */
static gboolean
first_is_there (void)
{
  g_autofree char *path = tasks_place (0);

  return access (path, F_OK) == 0;
}

/* Until this task has work: 1. 0: it needs none, since the first one is gone without it; what was
 * there may have been an earlier one of this step, so that is only so after a while. -1: error, and
 * a sentence. */
static int
wait_for_work (const char *place)
{
  gint64 since_us = g_get_monotonic_time ();
  gboolean was_there = FALSE, is_there = FALSE;

  /* What is done was of an earlier run of this step. */
  while (!has (place, BATCH_LINE) || has (place, "done"))
    {
      gint64 now_us = g_get_monotonic_time ();
      gboolean before = is_there;

      is_there = first_is_there ();
      was_there = was_there || is_there;
      if (is_there != before)
        since_us = now_us;
      if (now_us - since_us > (is_there ? MAKE_LIMIT_US : FIRST_LIMIT_US))
        {
          if (was_there && !is_there)
            return 0;
          return command_say ("the first task of this step has made no run"), -1;
        }
      g_usleep (LOOK_US);
    }
  return 1;
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

/* `line`: the shell command that this task expects to be, NULL: any. An exit code. */
static int
serve (const char *line)
{
  g_autofree char *place = tasks_place (step_number ("SLURM_PROCID"));
  g_autofree char *script = g_build_filename (place, BATCH_SCRIPT, NULL);
  g_autofree char *words = g_build_filename (place, BATCH_LINE, NULL);
  g_autofree char *said = NULL;
  int status, found = wait_for_work (place);

  if (found <= 0)
    return found == 0 ? COMMAND_DONE : COMMAND_ERROR;
  if (line != NULL && (!g_file_get_contents (words, &said, NULL, NULL) || strcmp (said, line) != 0))
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

int
tasks_begin (int workers, const char *program, char **argv, char **sites)
{
  g_autofree char *text = list_sites (workers), *folder = g_get_current_dir (), *line = NULL;
  g_autofree char *place = tasks_place (0), *above = g_path_get_dirname (place);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = NULL;
  gboolean is_first = step_number ("SLURM_PROCID") == 0;

  *sites = NULL;
  if (is_first
      && (g_mkdir_with_parents (above, 0700) != 0 || !g_file_set_contents (place, "", 0, &error)))
    return command_say ("cannot write in '%s'", above), COMMAND_ERROR;
  int fd = g_file_open_tmp ("satin-sites-XXXXXX", sites, &error);
  if (fd < 0 || !g_file_set_contents (*sites, text, -1, &error)
      || (list = sites_read (*sites, NULL, &error)) == NULL)
    return command_say ("%s", error->message), COMMAND_ERROR;
  close (fd);
  if (is_first)
    return -1;
  (void)g_unlink (*sites);
  g_clear_pointer (sites, g_free);
  line = program == NULL ? NULL : site_line (list->pdata[1], program, argv, folder, 0);
  return serve (line);
}

void
tasks_end (const char *sites)
{
  g_autofree char *place = sites != NULL ? tasks_place (0) : NULL;

  if (sites == NULL)
    return;
  (void)g_unlink (sites);
  (void)g_unlink (place);
}
