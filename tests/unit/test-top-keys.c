/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin top` in a terminal: what the keys do, how often the nodes are asked, and that the terminal
 * is given back. The test is the terminal, and the node that answers for all. */
#include "fake-node.h"
#include "folder-put.h"

#include "command/command.h"

#include "folder/control.h"
#include "folder/folder-ended.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>

#define NODES 12
#define LINES 18 /* of the screen: not all nodes have room */
#define SECONDS_MAX 30
#define UP "\033[A"
#define DOWN "\033[B"
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

typedef struct
{
  char *path;
  FakeNode node;
  gint asked; /* how often for the status */
  int fd;     /* the terminal */
  pid_t pid;
  gint64 began_us;
  GString *out, *screen; /* all output, and the last whole screen */
} Fixture;

static gboolean
answer (gpointer data, const char *request, GString *reply)
{
  Fixture *f = data;

  if (strcmp (request, "status") != 0)
    {
      g_string_append (reply, "{\"id\":\"1.1\",\"busy\":1,\"executed\":5,\"cpu_s\":1,\"jobs\":[]}");
      return TRUE;
    }
  g_atomic_int_inc (&f->asked);
  g_string_append (reply, "{\"name\":\"tour\",\"term\":1,\"done\":0.25,\"nodes\":[");
  for (guint i = 1; i <= NODES; i++)
    g_string_append_printf (reply,
                            "%s{\"id\":\"1.%u\",\"pid\":%u,\"host\":\"h\",\"site\":\"here\","
                            "\"address\":\"%s\",\"state\":\"up\",\"workers\":1,\"at_risk_s\":0,"
                            "\"roles\":[]}",
                            i > 1 ? "," : "", i, 10 + i, f->node.address);
  g_string_append (reply, "]}");
  return TRUE;
}

static void
set_up (Fixture *f, gconstpointer unused)
{
  const char *argv[] = { NULL };
  const struct winsize size = { .ws_row = LINES, .ws_col = 80 };
  g_auto (FolderRun) run = { .name = g_strdup ("tour"),
                             .program = g_strdup ("/opt/fib"),
                             .argv = g_strdupv ((char **)argv),
                             .folder = g_strdup ("/"),
                             .nodes = 1 };

  (void)unused;
  *f = (Fixture){ .path = folder_create (&run, NULL),
                  .out = g_string_new (NULL),
                  .screen = g_string_new (NULL) };
  g_assert_nonnull (f->path);
  f->node = (FakeNode){ .pid = getpid (), .answer = answer, .data = f };
  f->began_us = g_get_monotonic_time ();
  f->pid = forkpty (&f->fd, NULL, NULL, &size);
  if (f->pid == 0)
    {
      char *words[] = { (char *)"top", (char *)"tour", NULL };
      while (!folder_addresses (f->path, getppid ()))
        g_usleep (1000);
      _exit (command_top (2, words));
    }
  fake_node_begin (&f->node, f->path);
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  (void)unused;
  fake_node_end (&f->node);
  close (f->fd);
  (void)folder_remove (f->path, NULL);
  folder_ended_forget ("tour");
  g_free (f->path);
  g_string_free (f->out, TRUE);
  g_string_free (f->screen, TRUE);
}

/* FALSE: the other side has closed the terminal. */
static gboolean
look (Fixture *f)
{
  struct pollfd fds = { .fd = f->fd, .events = POLLIN };
  char bytes[4096];
  gssize n = poll (&fds, 1, 100) > 0 ? read (f->fd, bytes, sizeof bytes) : 0;

  if (n < 0)
    return FALSE;
  g_string_append_len (f->out, bytes, n);
  char *end = g_strrstr (f->out->str, "\033[J"), *begin = NULL;
  if (end != NULL)
    {
      g_autofree char *before = g_strndup (f->out->str, (gsize)(end - f->out->str));
      begin = g_strrstr (before, "\033[H");
      g_assert_nonnull (begin);
      g_string_assign (f->screen, begin);
    }
  if (g_get_monotonic_time () - f->began_us > SECONDS_MAX * G_USEC_PER_SEC)
    g_error ("the screen stays:\n%s", f->screen->str);
  return TRUE;
}

/* Presses the keys, and waits until the screen has `text` and not `other` (both nullable). */
static void
shows (Fixture *f, const char *keys, const char *text, const char *other)
{
  g_assert_cmpint (write (f->fd, keys, strlen (keys)), ==, (gssize)strlen (keys));
  while ((text != NULL && strstr (f->screen->str, text) == NULL)
         || (other != NULL && strstr (f->screen->str, other) != NULL))
    g_assert_true (look (f));
}

static gboolean
is_raw (const Fixture *f)
{
  struct termios now;

  g_assert_cmpint (tcgetattr (f->fd, &now), ==, 0);
  return (now.c_lflag & (ICANON | ECHO)) == 0;
}

/* The verb ends well, and gives the terminal back as it was. */
static void
ends (Fixture *f)
{
  int status;

  while (waitpid (f->pid, &status, WNOHANG) == 0)
    (void)look (f);
  while (strstr (f->out->str, LEAVE) == NULL)
    g_assert_true (look (f));
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, COMMAND_DONE);
  g_assert_false (is_raw (f));
}

/* Only what a key names changes. The list does not scroll beyond its ends. */
static void
keys_are_obeyed (Fixture *f, gconstpointer unused)
{
  (void)unused;
  shows (f, "", "\n1.1 ", "\n1.12 ");
  g_assert_true (g_str_has_prefix (f->out->str, ENTER));
  g_assert_true (is_raw (f));
  shows (f, "j", "\n1.2 ", "\n1.1 ");
  shows (f, "k", "\n1.1 ", NULL);
  shows (f, DOWN DOWN, "\n1.3 ", "\n1.2 ");
  shows (f, UP, "\n1.2 ", "\n1.1 ");
  shows (f, "AxBs", "s sort (cpu)", NULL); /* letters are no arrows */
  shows (f, "ssss", "s sort (node)", NULL);
  g_assert_nonnull (strstr (f->screen->str, "\n1.2 "));
  g_assert_null (strstr (f->screen->str, "\n1.1 "));
  shows (f, "kk" UP, "\n1.1 ", NULL);
  shows (f, "j", "\n1.2 ", "\n1.1 ");
  shows (f, "jjjjjjjjjjjjjjjjjjjj", "\n1.12 ", NULL);
  shows (f, "k", "\n1.11 ", "\n1.12 ");
  shows (f, "f", "\n12  ", "\n1.11 ");
  shows (f, "f", "\n1.1", "\n12  ");
  shows (f, "Q", NULL, NULL);
  ends (f);
}

/* However often the screen is drawn, the nodes are asked once a second. */
static void
nodes_are_asked_each_second (Fixture *f, gconstpointer unused)
{
  (void)unused;
  while (g_atomic_int_get (&f->asked) < 3)
    {
      g_assert_true (look (f));
      shows (f, "x", NULL, NULL);
    }
  shows (f, "q", NULL, NULL);
  ends (f);
  gint64 seconds = (g_get_monotonic_time () - f->began_us) / G_USEC_PER_SEC;
  g_assert_cmpint (g_atomic_int_get (&f->asked), <=, seconds + 2);
}

static void
a_signal_gives_the_terminal_back (Fixture *f, gconstpointer unused)
{
  (void)unused;
  shows (f, "", "\n1.1 ", NULL);
  g_assert_cmpint (kill (f->pid, SIGTERM), ==, 0);
  ends (f);
  g_assert_null (strstr (f->out->str, "has ended"));
}

static void
it_ends_with_the_run (Fixture *f, gconstpointer unused)
{
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);

  (void)unused;
  shows (f, "", "\n1.1 ", NULL);
  g_assert_true (folder_end (f->path, 0, NULL, NULL));
  folder_disclaim (f->path, file);
  ends (f);
  while (strstr (f->out->str, "satin: run 'tour' has ended") == NULL)
    g_assert_true (look (f));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = { { "/top-keys/obeyed", keys_are_obeyed },
                { "/top-keys/asked-each-second", nodes_are_asked_each_second },
                { "/top-keys/signal", a_signal_gives_the_terminal_back },
                { "/top-keys/end", it_ends_with_the_run } };
  static const char *const folders[] = { "satin/ended", "satin/runs", "satin", "" };
  g_autofree char *state = g_dir_make_tmp ("satin-top-XXXXXX", NULL);

  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_setenv ("TERM", "xterm", TRUE);
  g_setenv ("NO_COLOR", "1", TRUE);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  int failed = g_test_run ();
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = g_build_filename (state, folders[i], NULL);
      (void)rmdir (path);
    }
  return failed;
}
