/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of another host and its launcher, which communicate over two pipes. Each node is a forked
 * process that reports by its exit code; the launcher is the test. */
#include "folder/relay.h"

#include "host/whole.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
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

/* The actions of a node in its folder. The node ends when the launcher has everything, or not. */
typedef void (*Deeds) (const char *folder);

static void
write_text (const char *folder, const char *file, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  must (folder_write (folder, file, bytes, NULL));
}

static struct stat streams[2]; /* the pipes of the node that runs here */

static void
be_a_node (Deeds deeds)
{
  must (fstat (STDIN_FILENO, &streams[0]) == 0 && fstat (STDOUT_FILENO, &streams[1]) == 0);
  g_autofree char *folder = relay_begin (NULL);
  RelayState state;

  if (folder == NULL)
    _exit (REFUSED);
  must_hold (folder, "run", "of the run\n");
  must (relay_state () == RELAY_SENT);
  deeds (folder);
  while ((state = relay_state ()) == RELAY_SENDING)
    g_usleep (1000);
  relay_end ();
  must (!g_file_test (folder, G_FILE_TEST_EXISTS));
  _exit (state == RELAY_SENT ? SENT : CUT);
}

/* `input` (nullable): a file as the node's standard input, in place of a pipe. */
static Far
far_begin_with (Deeds deeds, const char *input)
{
  int in[2], out[2];
  Far far;

  g_assert_cmpint (pipe (in), ==, 0);
  g_assert_cmpint (pipe (out), ==, 0);
  far.pid = fork ();
  g_assert_cmpint (far.pid, >=, 0);
  if (far.pid == 0)
    {
      signal (SIGPIPE, SIG_IGN); /* as in node processes */
      dup2 (input != NULL ? open (input, O_RDONLY) : in[0], STDIN_FILENO);
      dup2 (out[1], STDOUT_FILENO);
      for (int i = 0; i < 2; i++)
        {
          close (in[i]);
          close (out[i]);
        }
      be_a_node (deeds);
    }
  close (in[0]);
  close (out[1]);
  far.to = in[1];
  far.from = out[0];
  return far;
}

static Far
far_begin (Deeds deeds)
{
  return far_begin_with (deeds, NULL);
}

static void
far_hang_up (Far *far)
{
  close (far->to);
  far->to = -1;
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
  if (far->from >= 0)
    close (far->from);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

#define BEGINNING "file run 11\nof the run\nfile empty 0\ngo\n"
#define ITS_OWN "file node-1.stats 9\nforty-two"
#define BOTH ITS_OWN "file answer 9\nforty-two"

static void
write_its_own (const char *folder)
{
  write_text (folder, "node-1.stats", "forty-two");
}

static void
write_both (const char *folder)
{
  must_hold (folder, "empty", "");
  write_its_own (folder);
  write_text (folder, "answer", "forty-two");
}

/* The launcher keeps the answer, cannot keep it, or disappears before or after that. */
static void
the_answer_counts_when_it_is_kept (void)
{
  static const struct
  {
    const char *reply;
    gboolean goes; /* … and then closes its end */
    int code;
  } cases[] = {
    { "kept answer\n", FALSE, SENT }, { "lost answer\n", FALSE, CUT }, { "", TRUE, CUT },
    { "kept answer\n", TRUE, SENT },  { "lost answer\n", TRUE, CUT },  { "kept", TRUE, CUT }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Far far = far_begin (write_both);
      say (&far, BEGINNING);
      hear (&far, BOTH);
      say (&far, cases[i].reply);
      if (cases[i].goes)
        far_hang_up (&far);
      g_assert_cmpint (far_end (&far), ==, cases[i].code);
    }
}

/* A launcher that sends nonsense, or not everything, gets no node. */
static void
a_wrong_beginning_is_refused (void)
{
  static const char *const cases[] = { "",
                                       "g",
                                       "go now\n",
                                       "quit\n",
                                       "file run 11\nof the",
                                       "file .run 1\nxgo\n",
                                       "file a/b 1\nxgo\n",
                                       "file ../x 1\nxgo\n",
                                       "file run -1\ngo\n",
                                       "file run\ngo\n",
                                       "file run 99999999999999999999\ngo\n",
                                       "kept answer\ngo\n",
                                       "\ngo\n" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Far far = far_begin (write_both);
      say (&far, cases[i]);
      far_hang_up (&far);
      g_assert_cmpint (far_end (&far), ==, REFUSED);
    }
}

static void
write_answer_and_end (const char *folder)
{
  g_autofree char *taken = g_build_filename (folder, "taken", NULL);

  must (g_mkdir (taken, 0700) == 0);
  write_text (folder, "answer", "a");
  write_text (folder, "end", "e");
  while (relay_state () == RELAY_SENDING)
    g_usleep (1000);
  must (g_rmdir (taken) == 0);
}

/* A file that is lost stays lost, whatever is kept afterwards. A file that the node cannot write
 * does not end the exchange. */
static void
each_file_is_answered (void)
{
  static const struct
  {
    const char *reply;
    int code;
  } cases[] = { { "kept answer\nkept end\n", SENT },
                { "kept answer\nlost end\n", CUT },
                { "lost answer\nkept end\n", CUT },
                { "file taken 1\nxkept answer\nfile run 1\nxkept end\n", SENT } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Far far = far_begin (write_answer_and_end);
      say (&far, BEGINNING);
      hear (&far, "file answer 1\nafile end 1\ne");
      say (&far, cases[i].reply);
      g_assert_cmpint (far_end (&far), ==, cases[i].code);
    }
}

/* A file of the node itself needs no acknowledgement: it has arrived when the launcher has read it,
 * and never arrives when the launcher no longer reads. */
static void
its_own_files_need_no_answer (void)
{
  for (int reads = FALSE; reads <= TRUE; reads++)
    {
      Far far = far_begin (write_its_own);
      if (!reads)
        {
          close (far.from);
          far.from = -1;
        }
      say (&far, BEGINNING);
      far_hang_up (&far);
      if (reads)
        hear (&far, ITS_OWN);
      g_assert_cmpint (far_end (&far), ==, reads ? SENT : CUT);
    }
}

static void
write_and_end (const char *folder)
{
  write_its_own (folder);
  relay_end ();
  _exit (SENT);
}

/* The end waits for what was written, however short the node lives afterwards. */
static void
the_end_waits_for_what_was_written (void)
{
  for (int i = 0; i < 20; i++)
    {
      Far far = far_begin (write_and_end);
      say (&far, BEGINNING);
      hear (&far, ITS_OWN);
      g_assert_cmpint (far_end (&far), ==, SENT);
    }
}

/* A batch job reads a file, which contains no acknowledgements. */
static void
a_file_gives_no_answers (void)
{
  g_autofree char *name = NULL;
  int fd = g_file_open_tmp ("satin-relay-XXXXXX", &name, NULL);

  g_assert_true (whole_write (fd, BEGINNING, strlen (BEGINNING)));
  g_close (fd, NULL);
  Far far = far_begin_with (write_both, name);
  hear (&far, BOTH);
  g_assert_cmpint (far_end (&far), ==, SENT);
  g_unlink (name);
}

/* Bytes that differ from their neighbours and from the bytes a round number before them. */
static char *
pattern (gsize size)
{
  char *bytes = g_malloc (size + 1);

  for (gsize i = 0; i < size; i++)
    bytes[i] = (char)(i * 7 + i / 251);
  bytes[size] = '\0';
  return bytes;
}

static const gsize sizes[] = { 1, 4095, 4096, 4097, 10000, 262143, 262144, 262145, 700001 };

static void
send_all_back (const char *folder)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *file = g_strdup_printf ("data-%u", i);
      g_autofree char *wanted = pattern (sizes[i]);
      g_autoptr (GBytes) bytes = folder_bytes (folder, file, NULL);

      must (bytes != NULL && g_bytes_get_size (bytes) == sizes[i]
            && memcmp (g_bytes_get_data (bytes, NULL), wanted, sizes[i]) == 0);
      g_autofree char *back = g_strdup_printf ("node-1.%u", i);
      must (folder_write (folder, back, bytes, NULL));
    }
}

/* Files arrive whole in both directions, whatever pieces they are sent in. */
static void
files_come_whole (void)
{
  Far far = far_begin (send_all_back);

  say (&far, "file run 11\nof the run\n");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *file = g_strdup_printf ("data-%u", i), *bytes = pattern (sizes[i]);
      g_autofree char *header = relay_header (file, sizes[i]);

      say (&far, header);
      g_assert_true (whole_write (far.to, bytes, sizes[i]));
    }
  say (&far, "go\n");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *file = g_strdup_printf ("node-1.%u", i), *wanted = pattern (sizes[i]);
      g_autofree char *header = relay_header (file, sizes[i]), *bytes = g_malloc (sizes[i]);

      hear (&far, header);
      for (gsize got = 0; got < sizes[i];)
        {
          gssize n = whole_read_some (far.from, bytes + got, sizes[i] - got);
          g_assert_cmpint (n, >, 0);
          got += (gsize)n;
        }
      g_assert_cmpmem (bytes, sizes[i], wanted, sizes[i]);
    }
  g_assert_cmpint (far_end (&far), ==, SENT);
}

/* A launcher cannot make a node take more than it has room for. */
static void
a_file_that_is_sent_has_a_limit (void)
{
  g_autofree char *bytes = g_malloc0 (RELAY_SMALL_MAX + 1);

  for (gsize more = 0; more <= 1; more++)
    {
      g_autofree char *header = relay_header ("big", RELAY_SMALL_MAX + more);
      Far far = far_begin (write_its_own);

      say (&far, "file run 11\nof the run\n");
      say (&far, header);
      g_assert_cmpint (whole_write (far.to, bytes, RELAY_SMALL_MAX + more), ==, more == 0);
      (void)whole_write (far.to, "go\n", 3);
      g_assert_cmpint (far_end (&far), ==, more == 0 ? SENT : REFUSED);
    }
}

static void
tell_the_folder (const char *folder)
{
  write_text (folder, "node-1.stats", folder);
  for (;;)
    g_usleep (1000); /* until the launcher tells this node to die */
}

static void
a_node_that_is_to_die_leaves_nothing (void)
{
  Far far = far_begin (tell_the_folder);
  char line[RELAY_LINE_MAX] = { 0 };
  g_autofree char *folder = NULL;
  gsize size = 0;

  say (&far, BEGINNING);
  for (guint i = 0; line[i > 0 ? i - 1 : 0] != '\n'; i++)
    g_assert_cmpint (whole_read_some (far.from, line + i, 1), ==, 1);
  g_assert_cmpint (sscanf (line, "file node-1.stats %zu\n", &size), ==, 1);
  folder = g_malloc0 (size + 1);
  for (gsize i = 0; i < size; i++)
    g_assert_cmpint (whole_read_some (far.from, folder + i, 1), ==, 1);
  g_assert_true (g_file_test (folder, G_FILE_TEST_IS_DIR));
  say (&far, "quit\n");
  g_assert_cmpint (far_end (&far), ==, 1);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
}

/* Writes into a file what the node was told about itself and its stores. */
static void
say_who_it_is (const char *folder)
{
  g_auto (FolderRun) run
      = { .sockets = g_strdup ("/the/launcher's"), .listen = g_strdup ("192.0.2.7"), .workers = 5 };

  must (relay_place (&run, folder, NULL));
  must (g_str_equal (run.sockets, folder) && g_str_equal (run.listen, "192.0.2.7"));
  must (run.workers == 5);
  write_text (folder, "node-1.stats", relay_is_founder () ? "founder" : "no");
  write_text (folder, "node-1.log", g_getenv ("AWS_REGION"));
}

static void
a_node_knows_what_it_was_told (void)
{
  g_setenv ("AWS_REGION", "", TRUE);
  Far other = far_begin (say_who_it_is);
  say (&other, BEGINNING);
  hear (&other, "file node-1.stats 2\nnofile node-1.log 0\n");
  g_assert_cmpint (far_end (&other), ==, SENT);
  Far founder = far_begin (say_who_it_is);
  say (&founder, "file founder 0\nfile stores 14\nAWS_REGION=nl\n" BEGINNING);
  hear (&founder, "file node-1.stats 7\nfounderfile node-1.log 2\nnl");
  g_assert_cmpint (far_end (&founder), ==, SENT);
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

/* TRUE: this process has one of the node's pipes. */
static gboolean
has_streams (void)
{
  struct stat status;

  for (int fd = 0; fd < 200; fd++)
    for (int i = 0; i < 2; i++)
      if (fstat (fd, &status) == 0 && status.st_dev == streams[i].st_dev
          && status.st_ino == streams[i].st_ino)
        return TRUE;
  return FALSE;
}

static void
print_and_fork (const char *folder)
{
  int status;
  must (whole_write (STDOUT_FILENO, "# of main\n", 10));
  must (has_streams ());
  pid_t pid = fork ();
  if (pid == 0)
    _exit (has_streams ());
  must (waitpid (pid, &status, 0) == pid && status == 0);
  write_its_own (folder);
}

/* What the program prints is for the log, and a process that a job forks does not hold the pipes:
 * the launcher hears files alone, and then the end. */
static void
only_files_go_to_the_launcher (void)
{
  Far far = far_begin (print_and_fork);
  char more;

  say (&far, BEGINNING);
  hear (&far, ITS_OWN);
  g_assert_cmpint (whole_read_some (far.from, &more, 1), ==, 0);
  g_assert_cmpint (far_end (&far), ==, SENT);
}

int
main (int argc, char **argv)
{
  signal (SIGPIPE, SIG_IGN);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/relay/lines-are-exact", lines_are_exact);
  g_test_add_func ("/relay/a-wrong-beginning-is-refused", a_wrong_beginning_is_refused);
  g_test_add_func ("/relay/the-answer-counts-when-it-is-kept", the_answer_counts_when_it_is_kept);
  g_test_add_func ("/relay/each-file-is-answered", each_file_is_answered);
  g_test_add_func ("/relay/its-own-files-need-no-answer", its_own_files_need_no_answer);
  g_test_add_func ("/relay/the-end-waits-for-what-was-written", the_end_waits_for_what_was_written);
  g_test_add_func ("/relay/a-file-gives-no-answers", a_file_gives_no_answers);
  g_test_add_func ("/relay/files-come-whole", files_come_whole);
  g_test_add_func ("/relay/a-file-that-is-sent-has-a-limit", a_file_that_is_sent_has_a_limit);
  g_test_add_func ("/relay/a-node-that-is-to-die-leaves-nothing",
                   a_node_that_is_to_die_leaves_nothing);
  g_test_add_func ("/relay/a-node-knows-what-it-was-told", a_node_knows_what_it_was_told);
  g_test_add_func ("/relay/only-files-go-to-the-launcher", only_files_go_to_the_launcher);
  return g_test_run ();
}
