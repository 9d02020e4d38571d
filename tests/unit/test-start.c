/* SPDX-License-Identifier: BSD-3-Clause */
/* How the launcher starts a process: what the process finds, and what the user is told if it cannot
 * be started. The node is a shell script. */
#include "launch/start.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  char *path, *folder; /* the folder of the run; the folder in which its nodes work */
  FolderRun run;
} Fixture;

static void
set_up (Fixture *f, gconstpointer script)
{
  const char *argv[] = { "one", "two words", "", NULL };

  *f = (Fixture){ .path = g_dir_make_tmp ("satin-start-XXXXXX", NULL) };
  f->folder = g_build_filename (f->path, "batch-1", NULL);
  g_assert_cmpint (g_mkdir (f->folder, 0700), ==, 0);
  f->run.program = g_build_filename (f->path, "program", NULL);
  f->run.folder = g_strdup (f->folder);
  f->run.argv = g_strdupv ((char **)argv);
  g_assert_true (g_file_set_contents (f->run.program, script, -1, NULL));
  g_assert_cmpint (g_chmod (f->run.program, 0700), ==, 0);
}

static void
tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  (void)folder_remove (f->path, NULL);
  folder_run_clear (&f->run);
  g_free (f->path);
  g_free (f->folder);
}

/* (transfer full): the log of a node that was started in this way. */
static char *
log_of (Fixture *f, const StartWish *wish)
{
  g_autoptr (GError) error = NULL;
  int status;
  pid_t pid = start_node (&f->run, f->path, wish, &error);

  g_assert_no_error (error);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  g_autofree char *mark = folder_node_file (pid, FOLDER_NODE_PROCESS);
  g_assert_cmpint (folder_size (f->path, mark), >, 0);
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_LOG);
  g_autoptr (GBytes) bytes = folder_bytes (f->path, file, NULL);
  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

#define SAY \
  "#!/bin/sh\n" \
  "for word in $SATIN_RUN_FOLDER \"w=$SATIN_WORKERS\" \"s=$SATIN_SITE\" \"i=$SATIN_INVITED\"" \
  " \"b=$SATIN_BUILD\" \"f=$SATIN_FOUNDER\" \"g=$G_SLICE\" \"m=$GLIBC_TUNABLES\" \"$@\"; do echo " \
  "\"$word\"; done\n" \
  "pwd\necho to stderr >&2\n"

/* A node's environment has its settings, and none of an earlier node. */
static void
a_node_is_told_what_it_is (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const StartWish plain = { 0 }, full = { TRUE, 5, "delft" };
  static const char *const names[] = { FOLDER_ENV_WORKERS, FOLDER_ENV_SITE,    FOLDER_ENV_INVITED,
                                       FOLDER_ENV_BUILD,   FOLDER_ENV_FOUNDER, FOLDER_ENV };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_setenv (names[i], "of another run", TRUE);
  g_unsetenv (FOLDER_ENV_SLICES);
  g_unsetenv (FOLDER_ENV_MALLOC);
  g_autofree char *first = log_of (f, &plain);
  f->run.invited = TRUE;
  f->run.build = g_strdup ("a build");
  g_setenv (FOLDER_ENV_SLICES, "mine", TRUE);
  g_setenv (FOLDER_ENV_MALLOC, "glibc.malloc.tcache_max=64", TRUE);
  g_autofree char *second = log_of (f, &full);
  g_autofree char *plain_words
      = g_strdup_printf ("%s\nw=\ns=\ni=\nb=\nf=\ng=always-malloc\nm=" FOLDER_MALLOC
                         "\none\ntwo words\n\n%s\nto stderr\n",
                         f->path, f->folder);
  g_autofree char *full_words
      = g_strdup_printf ("%s\nw=5\ns=delft\ni=1\nb=a "
                         "build\nf=1\ng=mine\nm=glibc.malloc.tcache_max=64\none\ntwo words\n\n%s\n"
                         "to stderr\n",
                         f->path, f->folder);
  g_assert_cmpstr (first, ==, plain_words);
  g_assert_cmpstr (second, ==, full_words);
}

/* A node gets no signals for the launcher, has no terminal as input, and has none of the launcher's
 * descriptors open. */
static void
a_node_is_on_its_own (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  int ends[2];
  sigset_t blocked, before;

  g_assert_cmpint (pipe (ends), ==, 0);
  g_assert_cmpint (dup2 (ends[0], 50), ==, 50); /* without FD_CLOEXEC */
  sigemptyset (&blocked);
  sigaddset (&blocked, SIGTERM);
  g_assert_cmpint (sigprocmask (SIG_BLOCK, &blocked, &before), ==, 0);
  signal (SIGPIPE, SIG_IGN);
  g_autofree char *words = log_of (f, &(StartWish){ 0 });
  signal (SIGPIPE, SIG_DFL);
  g_assert_cmpint (sigprocmask (SIG_SETMASK, &before, NULL), ==, 0);
  g_assert_cmpstr (words, ==, "leads\n/dev/null\n0000000000000000\nno pipe ignored\nclosed\n");
  close (ends[0]);
  close (ends[1]);
  close (50);
}

/* A shell clears its mask of signals, so another program tells which ones it got. */
static void
no_signal_is_blocked (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const char *argv[] = { "^SigBlk:", "/proc/self/status", NULL };
  sigset_t blocked, before;

  g_free (f->run.program);
  f->run.program = g_find_program_in_path ("grep");
  g_strfreev (f->run.argv);
  f->run.argv = g_strdupv ((char **)argv);
  sigfillset (&blocked);
  g_assert_cmpint (sigprocmask (SIG_BLOCK, &blocked, &before), ==, 0);
  g_autofree char *words = log_of (f, &(StartWish){ 0 });
  g_assert_cmpint (sigprocmask (SIG_SETMASK, &before, NULL), ==, 0);
  g_assert_cmpstr (words, ==, "SigBlk:\t0000000000000000\n");
}

static guint
children (void)
{
  return waitpid (-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : 1;
}

static void
refused (Fixture *f, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (start_node (&f->run, f->path, &(StartWish){ 0 }, &error), ==, -1);
  g_assert_nonnull (error);
  if (strstr (error->message, words) == NULL)
    g_error ("it says '%s'", error->message);
  g_assert_cmpuint (children (), ==, 0);
}

/* The user is told what is wrong, and no process is left. */
static void
what_cannot_start_is_explained (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  refused (f, "it is not a program");
  g_assert_cmpint (g_chmod (f->run.program, 0600), ==, 0);
  refused (f, "Permission denied");
  g_assert_cmpint (g_unlink (f->run.program), ==, 0);
  refused (f, "cannot run '");
  g_free (f->run.folder);
  f->run.folder = g_strdup ("/nonexistent");
  refused (f, "cannot go to the folder '/nonexistent', where the run was started: ");
  g_assert_true (folder_remove (f->path, NULL));
  refused (f, "cannot write a log in '");
}

static guint
open_descriptors (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
two_pipes_lead_to_a_far_one (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  char *argv[] = { (char *)"sh", (char *)"-c", (char *)"echo aside >&2; cat; exit 5", NULL };
  char *none[] = { (char *)"satin-no-such-program", NULL };
  char *wrong[] = { f->run.program, NULL };
  g_autoptr (GError) error = NULL, other = NULL;
  int to, from, status;
  char words[8] = { 0 };

  pid_t pid = start_far (argv, f->path, &to, &from, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (to, "words", 5), ==, 5);
  close (to);
  g_assert_cmpint (read (from, words, sizeof words), ==, 5);
  g_assert_cmpstr (words, ==, "words");
  g_assert_cmpint (read (from, words, sizeof words), ==, 0); /* no other process holds it */
  close (from);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (WEXITSTATUS (status), ==, 5);
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_LOG);
  g_assert_cmpint (folder_size (f->path, file), ==, strlen ("aside\n"));

  guint before = open_descriptors ();
  g_assert_cmpint (start_far (none, f->path, &to, &from, &error), ==, -1);
  g_assert_nonnull (strstr (error->message, "there is no program 'satin-no-such-program'"));
  g_assert_true (to == -1 && from == -1);
  g_assert_cmpint (start_far (wrong, f->path, &to, &from, &other), ==, -1);
  g_assert_nonnull (strstr (other->message, "cannot run '"));
  g_assert_true (to == -1 && from == -1);
  g_assert_cmpuint (open_descriptors (), ==, before);
  g_assert_cmpuint (children (), ==, 0);
}

/* A kill also ends the processes that the node has started. */
static void
a_kill_reaches_the_whole_session (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  char *argv[] = { (char *)"sh", (char *)"-c", (char *)"sh -c 'echo x; read y'; read z", NULL };
  int to, from, status;
  char word;

  pid_t pid = start_far (argv, f->path, &to, &from, NULL);
  g_assert_cmpint (read (from, &word, 1), ==, 1);
  start_kill (pid);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  g_assert_cmpint (read (from, &word, 1), ==, 1); /* the end of the line */
  g_assert_cmpint (read (from, &word, 1), ==, 0); /* no process is left that could write */
  close (to);
  close (from);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name, *script;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/start/a-node-is-told-what-it-is", SAY, a_node_is_told_what_it_is },
    { "/start/a-node-is-on-its-own",
      "#!/bin/sh\n"
      "read pid name state parent group session rest </proc/self/stat\n"
      "[ \"$session\" = $$ ] && echo leads\n"
      "readlink /proc/$$/fd/0\n"
      "sed -n 's/^SigBlk:.//p' /proc/self/status\n"
      "ignored=$(sed -n 's/^SigIgn:.//p' /proc/self/status)\n"
      "[ $((0x$ignored & 0x1000)) = 0 ] && echo no pipe ignored\n"
      "[ -e /proc/$$/fd/50 ] || echo closed\n",
      a_node_is_on_its_own },
    { "/start/no-signal-is-blocked", "", no_signal_is_blocked },
    { "/start/what-cannot-start-is-explained", "\x7f\x45junk", what_cannot_start_is_explained },
    { "/start/two-pipes-lead-to-a-far-one", "\x7f\x45junk", two_pipes_lead_to_a_far_one },
    { "/start/a-kill-reaches-the-whole-session", "", a_kill_reaches_the_whole_session },
  };

  alarm (20);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, tests[i].script, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
