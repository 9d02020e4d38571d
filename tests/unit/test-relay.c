/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of another host and its launcher, which talk over two pipes. Each node is a forked process
 * that reports by its exit code; the launcher is the test. */
#include "folder/relay.h"

#include "host/whole.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit codes of the forked nodes. */
enum
{
  SENT,
  CUT,
  SENDING,
  REFUSED,
  WRONG
};

typedef struct
{
  pid_t pid;
  int to, from; /* the node's standard input and output */
} Far;

static void
must (gboolean good)
{
  if (!good)
    _exit (WRONG);
}

static void
must_hold (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *found = NULL;

  must (g_file_get_contents (path, &found, NULL, NULL) && g_str_equal (found, text));
}

/* Writes a file of its own and one of the run, and waits until the launcher has both, or not. */
static void
be_a_node (void)
{
  g_autofree char *folder = relay_begin (NULL);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("forty-two", 9);
  RelayState state;

  if (folder == NULL)
    _exit (REFUSED);
  must_hold (folder, "run", "of the run\n");
  must_hold (folder, "empty", "");
  must (relay_state () == RELAY_SENT);
  must (folder_write (folder, "node-1.stats", bytes, NULL));
  must (folder_write (folder, "answer", bytes, NULL));
  while ((state = relay_state ()) == RELAY_SENDING)
    g_usleep (1000);
  relay_end ();
  must (!g_file_test (folder, G_FILE_TEST_EXISTS));
  _exit (state == RELAY_SENT ? SENT : CUT);
}

static Far
far_begin (void)
{
  int in[2], out[2];
  Far far;

  g_assert_cmpint (pipe (in), ==, 0);
  g_assert_cmpint (pipe (out), ==, 0);
  far.pid = fork ();
  g_assert_cmpint (far.pid, >=, 0);
  if (far.pid == 0)
    {
      dup2 (in[0], STDIN_FILENO);
      dup2 (out[1], STDOUT_FILENO);
      for (int i = 0; i < 2; i++)
        {
          close (in[i]);
          close (out[i]);
        }
      be_a_node ();
    }
  close (in[0]);
  close (out[1]);
  far.to = in[1];
  far.from = out[0];
  return far;
}

static void
say (const Far *far, const char *text)
{
  g_assert_true (whole_write (far->to, text, strlen (text)));
}

static void
hear (const Far *far, const char *wanted)
{
  g_autofree char *text = g_malloc0 (strlen (wanted) + 1);

  for (gsize got = 0; got < strlen (wanted);)
    {
      gssize n = whole_read_some (far->from, text + got, strlen (wanted) - got);
      g_assert_cmpint (n, >, 0);
      got += (gsize)n;
    }
  g_assert_cmpstr (text, ==, wanted);
}

static int
far_end (Far *far)
{
  int status;

  g_assert_cmpint (waitpid (far->pid, &status, 0), ==, far->pid);
  if (far->to >= 0)
    close (far->to);
  close (far->from);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

#define BEGINNING "file run 11\nof the run\nfile empty 0\ngo\n"
#define BOTH "file node-1.stats 9\nforty-twofile answer 9\nforty-two"

/* The launcher keeps the answer, cannot keep it, or goes before or after that. */
static void
the_answer_counts_when_it_is_kept (void)
{
  static const struct
  {
    const char *reply;
    gboolean goes; /* … and closes its end then */
    int code;
  } cases[] = { { "kept answer\n", FALSE, SENT }, { "lost answer\n", FALSE, CUT },
                { "", TRUE, CUT },                { "kept answer\n", TRUE, SENT },
                { "lost answer\n", TRUE, CUT },   { "kept", TRUE, CUT } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Far far = far_begin ();
      say (&far, BEGINNING);
      hear (&far, BOTH);
      say (&far, cases[i].reply);
      if (cases[i].goes)
        {
          close (far.to);
          far.to = -1;
        }
      g_assert_cmpint (far_end (&far), ==, cases[i].code);
    }
}

/* A launcher that says nothing sensible, or not all, gets no node. */
static void
a_wrong_beginning_is_refused (void)
{
  static const char *const cases[]
      = { "", "g", "go now\n", "quit\n", "file run 11\nof the", "file .run 1\nxgo\n",
          "file a/b 1\nxgo\n", "file ../x 1\nxgo\n", "file run -1\ngo\n", "file run\ngo\n",
          "file run 99999999999999999999\ngo\n", "kept answer\ngo\n", "\ngo\n" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Far far = far_begin ();
      say (&far, cases[i]);
      close (far.to);
      far.to = -1;
      g_assert_cmpint (far_end (&far), ==, REFUSED);
    }
}

static void
lines_are_exact (void)
{
  static const struct
  {
    const char *line;
    RelayKind kind;
  } cases[] = { { "go", RELAY_GO },
                { "quit", RELAY_QUIT },
                { "kept a", RELAY_KEPT },
                { "lost a.b", RELAY_LOST },
                { "file a 0", RELAY_FILE },
                { "file node-1.log 9223372036854775807", RELAY_FILE },
                { "file node-1.log 9223372036854775808", RELAY_WRONG },
                { "", RELAY_WRONG },
                { "Go", RELAY_WRONG },
                { "go ", RELAY_WRONG },
                { " go", RELAY_WRONG },
                { "kept", RELAY_WRONG },
                { "kept ", RELAY_WRONG },
                { "kept .", RELAY_WRONG },
                { "kept a b", RELAY_WRONG },
                { "lost ..", RELAY_WRONG },
                { "file", RELAY_WRONG },
                { "file a", RELAY_WRONG },
                { "file  1", RELAY_WRONG },
                { "file a 1 2", RELAY_WRONG },
                { "file a 1x", RELAY_WRONG },
                { "file a -1", RELAY_WRONG },
                { "file a +1", RELAY_WRONG },
                { "file a ", RELAY_WRONG },
                { "file .a 1", RELAY_WRONG },
                { "file / 1", RELAY_WRONG },
                { "file a/ 1", RELAY_WRONG },
                { "file /a 1", RELAY_WRONG } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = NULL;
      gsize size = 7;
      RelayKind kind = relay_parse (cases[i].line, &name, &size);
      if (kind != cases[i].kind)
        g_error ("'%s' is of kind %d", cases[i].line, kind);
      g_assert_true ((name != NULL)
                     == (kind == RELAY_FILE || kind == RELAY_KEPT || kind == RELAY_LOST));
      if (kind != RELAY_FILE)
        continue;
      g_autofree char *header = relay_header (name, size);
      g_assert_cmpstr (g_strchomp (header), ==, cases[i].line);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/relay/lines-are-exact", lines_are_exact);
  g_test_add_func ("/relay/a-wrong-beginning-is-refused", a_wrong_beginning_is_refused);
  g_test_add_func ("/relay/the-answer-counts-when-it-is-kept", the_answer_counts_when_it_is_kept);
  return g_test_run ();
}
