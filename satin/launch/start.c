/* SPDX-License-Identifier: BSD-3-Clause */
/* See start.h: fork, a new session, log, working directory, exec. Must not know what a node does.
 * Tests: launcher.sh. */
#include "start.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child reports to the launcher when exec, or a step before it, fails. */
typedef struct
{
  int step;
  int number; /* errno */
} Failure;

enum
{
  STEP_LOG,
  STEP_FOLDER,
  STEP_PROGRAM
};

typedef struct
{
  const char *path, *folder, *program;
  char **argv, **environment;
  int in, out; /* standard input and output; -1: /dev/null, and the log */
  int report;  /* write end, closed by exec */
} Child;

static void
fail (const Child *child, int step)
{
  Failure failure = { .step = step, .number = errno };

  if (write (child->report, &failure, sizeof failure) < 0)
    _exit (126);
  _exit (127);
}

static void
open_words (const Child *child)
{
  char name[4096];
  int in = child->in >= 0 ? child->in : open ("/dev/null", O_RDONLY);
  int out;

  if ((size_t)snprintf (name, sizeof name, "%s/node-%ld.log", child->path, (long)getpid ())
      >= sizeof name)
    {
      errno = ENAMETOOLONG;
      fail (child, STEP_LOG);
    }
  out = open (name, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in < 0 || out < 0 || dup2 (in, 0) < 0 || dup2 (child->out >= 0 ? child->out : out, 1) < 0
      || dup2 (out, 2) < 0)
    fail (child, STEP_LOG);
}

static void
become_node (const Child *child)
{
  sigset_t none;

  /* Only the launcher handles Ctrl-C and hang-up of the terminal. */
  setsid ();
  signal (SIGPIPE, SIG_DFL);
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  open_words (child);
#ifdef CLOSE_RANGE_CLOEXEC
  /* A node may outlive its launcher. It must not hold open a pipe at whose end the launcher's
   * parent waits. */
  close_range (3, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
  if (child->folder != NULL && chdir (child->folder) != 0)
    fail (child, STEP_FOLDER);
  execve (child->program, child->argv, child->environment);
  fail (child, STEP_PROGRAM);
}

static void
explain (const Failure *failure, const FolderRun *run, const char *path, GError **error)
{
  if (failure->step == STEP_LOG)
    g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "cannot write a log in '%s': %s", path,
                 g_strerror (failure->number));
  else if (failure->step == STEP_FOLDER)
    g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED,
                 "cannot go to the folder '%s', where the run was started: %s", run->folder,
                 g_strerror (failure->number));
  else
    g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "cannot run '%s': %s", run->program,
                 failure->number == ENOEXEC ? "it is not a program" : g_strerror (failure->number));
}

static char **
make_argv (const FolderRun *run)
{
  guint n = run->argv == NULL ? 0 : g_strv_length (run->argv);
  char **argv = g_new0 (char *, n + 2);

  argv[0] = g_strdup (run->program);
  for (guint i = 0; i < n; i++)
    argv[i + 1] = g_strdup (run->argv[i]);
  return argv;
}

static char **
make_environment (const FolderRun *run, const char *path, const StartWish *wish)
{
  g_autofree char *number = g_strdup_printf ("%d", wish->workers);
  char **environment = g_environ_setenv (g_get_environ (), FOLDER_ENV, path, TRUE);

  environment = wish->workers > 0 ? g_environ_setenv (environment, FOLDER_ENV_WORKERS, number, TRUE)
                                  : g_environ_unsetenv (environment, FOLDER_ENV_WORKERS);
  environment = wish->site != NULL
                    ? g_environ_setenv (environment, FOLDER_ENV_SITE, wish->site, TRUE)
                    : g_environ_unsetenv (environment, FOLDER_ENV_SITE);
  environment = run->invited ? g_environ_setenv (environment, FOLDER_ENV_INVITED, "1", TRUE)
                             : g_environ_unsetenv (environment, FOLDER_ENV_INVITED);
  environment = run->build != NULL
                    ? g_environ_setenv (environment, FOLDER_ENV_BUILD, run->build, TRUE)
                    : g_environ_unsetenv (environment, FOLDER_ENV_BUILD);
  environment = g_environ_setenv (environment, FOLDER_ENV_SLICES, FOLDER_SLICES, FALSE);
  environment = g_environ_setenv (environment, FOLDER_ENV_MALLOC, FOLDER_MALLOC, FALSE);
  if (wish->founder)
    return g_environ_setenv (environment, FOLDER_ENV_FOUNDER, "1", TRUE);
  return g_environ_unsetenv (environment, FOLDER_ENV_FOUNDER);
}

/* Forks and execs. *failed: the child reported *failure, and was reaped. -1: no child was
 * started. */
static pid_t
start (Child *child, Failure *failure, gboolean *failed, GError **error)
{
  int ends[2];
  pid_t pid;

  *failed = FALSE;
  if (pipe2 (ends, O_CLOEXEC) != 0 || (pid = fork ()) < 0)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "cannot start a process: %s",
                   g_strerror (errno));
      return -1;
    }
  child->report = ends[1];
  if (pid == 0)
    become_node (child);
  close (ends[1]);
  *failed = whole_read (ends[0], failure, sizeof *failure) == sizeof *failure;
  close (ends[0]);
  if (*failed)
    waitpid (pid, NULL, 0);
  else
    (void)!folder_enter (child->path, pid, NULL); /* the node does it, too */
  return pid;
}

pid_t
start_node (const FolderRun *run, const char *path, const StartWish *wish, GError **error)
{
  g_auto (GStrv) argv = make_argv (run), environment = make_environment (run, path, wish);
  Child child = { .path = path,
                  .folder = run->folder,
                  .program = run->program,
                  .argv = argv,
                  .environment = environment,
                  .in = -1,
                  .out = -1 };
  Failure failure;
  gboolean failed;
  pid_t pid = start (&child, &failure, &failed, error);

  if (!failed)
    return pid;
  explain (&failure, run, path, error);
  return -1;
}

pid_t
start_far (char **argv, const char *path, int *to, int *from, GError **error)
{
  g_autofree char *program = g_find_program_in_path (argv[0]);
  g_auto (GStrv) environment = g_get_environ ();
  int in[2] = { -1, -1 }, out[2] = { -1, -1 };
  Failure failure;
  gboolean failed = FALSE;
  pid_t pid = -1;

  if (program == NULL)
    g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "there is no program '%s'", argv[0]);
  else if (pipe2 (in, O_CLOEXEC) != 0 || pipe2 (out, O_CLOEXEC) != 0)
    g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "cannot make a pipe: %s",
                 g_strerror (errno));
  else
    {
      Child child = { .path = path,
                      .program = program,
                      .argv = argv,
                      .environment = environment,
                      .in = in[0],
                      .out = out[1] };
      pid = start (&child, &failure, &failed, error);
    }
  if (failed)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "cannot run '%s': %s", program,
                   g_strerror (failure.number));
      pid = -1;
    }
  for (int i = 0; i < 2; i++)
    {
      int *end = i == 0 ? in : out;
      if (end[i] >= 0)
        close (end[i]);
      if (end[1 - i] >= 0 && pid < 0)
        close (end[1 - i]);
    }
  *to = pid < 0 ? -1 : in[1];
  *from = pid < 0 ? -1 : out[0];
  return pid;
}

void
start_kill (pid_t pid)
{
  if (kill (-pid, SIGKILL) != 0)
    kill (pid, SIGKILL);
}
