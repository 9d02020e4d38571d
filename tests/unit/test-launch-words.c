/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher says about nodes: their troubles, as report.c writes and trouble.c reads them,
 * and how they ended. */
#include "captured.h"
#include "folder-put.h"

#include "launch/launch-words.h"

#include "command/command.h"
#include "folder/folder-run.h"
#include "launch/trouble.h"

#include "node/driver-private.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The status of a process as waitpid gives it. */
#define KILLED_BY(number) (number)
#define ENDED_WITH(code) ((code) << 8)

static GString *said; /* the text on stderr since it was last taken */

static void
hear (const char *text)
{
  g_string_append (said, text);
}

static void
assert_said (const char *text)
{
  g_assert_cmpstr (said->str, ==, text);
  g_string_truncate (said, 0);
}

static char *
folder_new (void)
{
  char *path = g_dir_make_tmp ("satin-words-XXXXXX", NULL);

  g_assert_nonnull (path);
  return path;
}

/* ---- errors that nodes report ---- */

/* Each message is shown once, on one line, whatever it contains. */
static void
test_troubles (void)
{
  g_autofree char *path = folder_new ();
  g_autoptr (Trouble) trouble = trouble_new (path);
  Driver driver = { .log = g_fopen ("/dev/null", "w"), .config.folder = path };

  trouble_show (trouble);
  assert_said ("");
  g_assert_false (trouble_has_said (trouble, NULL));
  report_trouble (&driver, "the store is down");
  trouble_show (trouble);
  trouble_show (trouble);
  assert_said ("satin: the store is down\n");
  report_trouble (&driver, "two\nlines");
  report_trouble (&driver, "a\tbell\a!");
  trouble_show (trouble);
  assert_said ("satin: two lines\nsatin: a bell !\n");
  report_trouble (&driver, "the store is down");
  trouble_show (trouble);
  assert_said ("satin: the store is down\n");
  g_assert_true (trouble_has_said (trouble, "two lines"));
  g_assert_true (trouble_has_said (trouble, NULL));
  g_assert_false (trouble_has_said (trouble, "two"));
  g_queue_clear_full (&driver.troubles, g_free);
  fclose (driver.log);
  g_assert_true (folder_remove (path, NULL));
}

/* Of many messages between two looks the last ones are shown. The messages of different nodes count
 * separately. */
static void
test_many_troubles (void)
{
  g_autofree char *path = folder_new (), *first = NULL;
  g_autoptr (Trouble) trouble = trouble_new (path);
  Driver driver = { .log = g_fopen ("/dev/null", "w"), .config.folder = path };

  for (guint i = 1; i <= 100; i++)
    {
      g_autofree char *text = g_strdup_printf ("number %u", i);
      report_trouble (&driver, text);
    }
  g_assert_cmpuint (driver.troubles.length, <, 100);
  first = g_strdup_printf ("satin: number %u\n", 101 - driver.troubles.length);
  trouble_show (trouble);
  g_assert_true (g_str_has_prefix (said->str, first));
  g_assert_true (g_str_has_suffix (said->str, "\nsatin: number 100\n"));
  g_string_truncate (said, 0);
  report_trouble (&driver, "and one more");
  trouble_show (trouble);
  assert_said ("satin: and one more\n");
  put (path, "node-1.trouble", "1\nof another\n");
  put (path, "node-x.trouble", "1\nof nobody\n");
  trouble_show (trouble);
  assert_said ("satin: of another\n");
  g_queue_clear_full (&driver.troubles, g_free);
  fclose (driver.log);
  g_assert_true (folder_remove (path, NULL));
}

/* The file may contain anything. */
static void
test_wrong_troubles (void)
{
  static const char *const texts[]
      = { "", "\n", "0\n", "x\n", "-1\n", "7", "7\n", "0\nnobody counted it\n" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *path = folder_new ();
      g_autoptr (Trouble) trouble = trouble_new (path);
      put (path, "node-1.trouble", texts[i]);
      trouble_show (trouble);
      assert_said ("");
      g_assert_true (folder_remove (path, NULL));
    }
}

/* ---- the ends of nodes and runs ---- */

/* The last line of a node's log is shown if the node ended by itself, but not if it was killed or
 * left. */
static void
test_gone (void)
{
  static const struct
  {
    int status;
    guint n_live;
    const char *log, *err, *words;
  } cases[] = {
    { KILLED_BY (SIGKILL), 1, "satin: a line\n", "", "satin: node 1 died (signal 9); 1 goes on\n" },
    { KILLED_BY (SIGTERM), 2, "", "a line\n", "satin: node 1 died (signal 15); 2 go on\n" },
    { ENDED_WITH (COMMAND_DONE), 0, "a line\n", "", "satin: node 1 left\n" },
    { ENDED_WITH (3), 0, "", "", "satin: node 1 ended (exit code 3)\n" },
    { ENDED_WITH (COMMAND_SUSPENDED), 1, "", "", "satin: node 1 left; 1 goes on\n" },
    { ENDED_WITH (3), 0, "[0.1] a note\nsatin: a line\n\n[0.2] a note\n", "",
      "satin: node 1 ended (exit code 3): a line\n" },
    { KILLED_BY (SIGSEGV), 1, "one\ntwo\nthree\n/lib/x(+0x1) [0x2]\n", "satin: four\n",
      "satin: node 1 died (signal 11); 1 goes on; its last messages:\n"
      "satin:   two\nsatin:   three\nsatin:   four\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = folder_new ();
      put (path, "node-1.log", cases[i].log);
      put (path, "node-1.err", cases[i].err);
      launch_words_gone (path, 1, cases[i].status, cases[i].n_live);
      assert_said (cases[i].words);
      g_assert_true (folder_remove (path, NULL));
    }
}

/* A log may be large; only its end is read, which may begin in the middle of a line. */
static void
test_gone_with_a_long_log (void)
{
  g_autofree char *path = folder_new (), *line = g_strnfill (20000, 'x');
  g_autofree char *log = g_strdup_printf ("the beginning\n%s\nlast\n", line);

  put (path, "node-1.log", log);
  launch_words_gone (path, 1, ENDED_WITH (3), 0);
  g_assert_true (g_str_has_suffix (said->str, "\nsatin:   last\n"));
  g_assert_null (strstr (said->str, "beginning"));
  g_assert_cmpuint (said->len, <, 10000);
  g_string_truncate (said, 0);
  g_assert_true (folder_remove (path, NULL));
}

/* Nodes that were added by others may live on. */
static void
test_gone_beside_others (void)
{
  g_autofree char *path = folder_new ();
  g_autofree char *own = folder_node_file (getpid (), "address");
  g_autofree char *other = folder_node_file (getppid (), "address");

  put (path, own, "127.0.0.1:1\n");
  put (path, "node-1.address", "127.0.0.1:2\n");
  launch_words_gone (path, 1, ENDED_WITH (COMMAND_DONE), 0);
  assert_said ("satin: node 1 left; 1 goes on\n");
  put (path, other, "127.0.0.1:3\n");
  launch_words_gone (path, 1, ENDED_WITH (COMMAND_DONE), 0);
  assert_said ("satin: node 1 left; 2 go on\n");
  launch_words_gone (path, getppid (), KILLED_BY (SIGKILL), 0);
  g_assert_true (g_str_has_suffix (said->str, " died (signal 9); 2 go on\n"));
  g_string_truncate (said, 0);
  g_assert_true (folder_remove (path, NULL));
}

/* A program that refuses gives its reason, and the launcher exits with its code. Any other program
 * that does not join is no Satin program, whatever its code. */
static void
test_never_joined (void)
{
  static const struct
  {
    int status, code;
    const char *log, *words;
  } cases[] = {
    { ENDED_WITH (COMMAND_UNUSABLE), COMMAND_UNUSABLE, "x\nsatin: too new\n", "satin: too new\n" },
    { ENDED_WITH (COMMAND_UNUSABLE), COMMAND_ERROR, "too new\n",
      "satin: 'p' is not a Satin program, or broke before it could join the run: it ended (exit "
      "code 3); its last message: too new\n" },
    { ENDED_WITH (0), COMMAND_ERROR, "satin: fine\n",
      "satin: 'p' is not a Satin program, or broke before it could join the run: it left; its last "
      "message: satin: fine\n" },
    { KILLED_BY (SIGABRT), COMMAND_ERROR, "",
      "satin: 'p' is not a Satin program, or broke before it could join the run: it died (signal "
      "6)\n" },
    { KILLED_BY (SIGABRT), COMMAND_ERROR, "satin: x\n",
      "satin: 'p' is not a Satin program, or broke before it could join the run: it died (signal "
      "6); its last message: satin: x\n" },
  };
  const FolderRun run = { .program = (char *)"p" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = folder_new ();
      put (path, "node-1.log", cases[i].log);
      g_assert_cmpint (launch_words_never_joined (&run, path, 1, cases[i].status), ==,
                       cases[i].code);
      assert_said (cases[i].words);
      g_assert_true (folder_remove (path, NULL));
    }
}

/* A host with several nodes is reported once. */
static void
test_left_out (void)
{
  g_autofree char *path = folder_new ();

  put (path, "node-1.log", "satin: no such file\n");
  put (path, "node-2.log", "satin: no such file\n");
  put (path, "node-3.log", "[0.1] a note\n");
  launch_words_left_out (path, 1, ENDED_WITH (1), "host 'a'");
  launch_words_left_out (path, 2, ENDED_WITH (1), "host 'a'");
  assert_said ("satin: host 'a' is left out: no such file\n");
  launch_words_left_out (path, 2, ENDED_WITH (1), "host 'b'");
  assert_said ("satin: host 'b' is left out: no such file\n");
  launch_words_left_out (path, 3, ENDED_WITH (COMMAND_DONE), "host 'a'");
  assert_said ("satin: host 'a' is left out: it ended before it was a node\n");
  launch_words_left_out (path, 3, ENDED_WITH (3), "host 'a'");
  assert_said ("satin: host 'a' is left out: ended (exit code 3)\n");
  launch_words_left_out (path, 4, KILLED_BY (SIGKILL), "host 'a'");
  assert_said ("satin: host 'a' is left out: died (signal 9)\n");
  g_assert_true (folder_remove (path, NULL));
}

/* Each failure is reported to the user. */
static void
test_end (void)
{
  g_autofree char *path = folder_new ();

  launch_words_end (path, COMMAND_DONE, NULL, FALSE);
  launch_words_end (path, COMMAND_STORE, NULL, TRUE);
  assert_said ("");
  launch_words_end (path, COMMAND_ERROR, NULL, FALSE);
  assert_said ("satin: the program ended with exit code 1 and said nothing\n");
  launch_words_end (path, COMMAND_STORE, "satin: full", FALSE);
  assert_said ("satin: full\n");
  put (path, "node-1.log", "[0.1] a note\nwhy\n");
  launch_words_end (path, COMMAND_ERROR, NULL, FALSE);
  assert_said ("why\n");
  put (path, "node-2.log", "older\n");
  g_autofree char *older = g_build_filename (path, "node-2.log", NULL);
  const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
  g_assert_cmpint (utimensat (AT_FDCWD, older, long_ago, 0), ==, 0);
  put (path, "answer", "");
  launch_words_end (path, COMMAND_ERROR, NULL, FALSE);
  assert_said ("why\n"); /* from the log that was written to last */
  put (path, "answer", "half of it");
  launch_words_end (path, COMMAND_ERROR, NULL, FALSE);
  assert_said ("");
  folder_disclaim (path, "answer");
  launch_words_end (path, COMMAND_SUSPENDED, NULL, FALSE); /* main prints its progress later */
  launch_words_end (path, COMMAND_CANCELLED, NULL, FALSE);
  assert_said ("");
  g_assert_true (folder_remove (path, NULL));
}

/* The message says how to resume only if there is something to resume. */
static void
test_next (void)
{
  g_autofree char *path = folder_new ();
  g_autofree char *file = g_build_filename (path, "a b", NULL);
  g_autofree char *suspended
      = g_strdup_printf ("satin: suspended: `satin resume '%s'` goes on\n", file);
  g_autofree char *saved
      = g_strdup_printf ("satin: `satin resume '%s'` goes on from what was saved\n", file);
  FolderRun run = { 0 };

  launch_words_next (&run, COMMAND_ERROR);
  assert_said ("");
  launch_words_next (&run, COMMAND_SUSPENDED);
  assert_said ("satin: stopped; without --checkpoint nothing is kept\n");
  run.checkpoint = file;
  launch_words_next (&run, COMMAND_ERROR);
  assert_said ("");
  launch_words_next (&run, COMMAND_SUSPENDED);
  assert_said (suspended);
  put (path, "a b", "x");
  launch_words_next (&run, COMMAND_ERROR);
  assert_said (saved);
  g_unlink (file);
  run.checkpoint = (char *)"sftp://h/x";
  launch_words_next (&run, COMMAND_ERROR);
  assert_said ("satin: `satin resume sftp://h/x` goes on from what was saved\n");
  g_assert_true (folder_remove (path, NULL));
}

/* (transfer full): the text that a call writes to a descriptor of this process. */
static char *
written (int fd, int (*call) (const char *), const char *path, int *code)
{
  Captured captured = captured_begin (fd);

  *code = call (path);
  return captured_end (&captured);
}

static int
answer_of_a_good_run (const char *path)
{
  return launch_words_answer (path, COMMAND_DONE);
}

static int
answer_of_a_bad_run (const char *path)
{
  return launch_words_answer (path, 5);
}

static int
words_of_main (const char *path)
{
  return launch_words_of_main (path);
}

static void
put_run (const char *path, const char *checkpoint)
{
  g_auto (FolderRun) run = { .id = g_strdup ("id"),
                             .name = g_strdup ("r-1"),
                             .program = g_strdup ("/p"),
                             .argv = g_new0 (char *, 1),
                             .folder = g_strdup ("/"),
                             .sockets = g_strdup (path),
                             .checkpoint = g_strdup (checkpoint),
                             .nodes = 1 };

  g_assert_true (folder_run_write (&run, path, NULL));
}

/* Only the answer goes to standard output. A run that succeeded but has no answer here is no
 * success: the user is told where the answer is. */
static void
test_answer (void)
{
  g_autofree char *path = folder_new ();
  int code;

  put (path, "answer", "forty-two\n");
  put (path, "answer.err", "by the way\n");
  g_autofree char *whole = written (STDOUT_FILENO, answer_of_a_good_run, path, &code);
  g_assert_cmpstr (whole, ==, "forty-two\n");
  g_assert_cmpint (code, ==, COMMAND_DONE);
  g_autofree char *bad = written (STDOUT_FILENO, answer_of_a_bad_run, path, &code);
  g_assert_cmpstr (bad, ==, "forty-two\n");
  g_assert_cmpint (code, ==, 5);
  g_autofree char *aside = written (STDERR_FILENO, words_of_main, path, &code);
  g_assert_cmpstr (aside, ==, "by the way\n");
  g_assert_true (code);
  assert_said ("");
  folder_disclaim (path, "answer");
  for (int kept = FALSE; kept <= TRUE; kept++)
    {
      put_run (path, kept ? "/a b" : NULL);
      g_assert_true (folder_claim (path, FOLDER_FILE_SHOWN));
      g_autofree char *none = written (STDOUT_FILENO, answer_of_a_good_run, path, &code);
      g_assert_cmpstr (none, ==, "");
      g_assert_cmpint (code, ==, COMMAND_ERROR);
      assert_said (kept ? "satin: the run is done, but its answer has not come here: `satin resume "
                          "'/a b'` shows it\n"
                        : "satin: the run is done, but its answer has not come here: `satin wait "
                          "r-1` within a minute asks the other hosts again\n");
      g_assert_true (folder_claim (path, FOLDER_FILE_SHOWN)); /* another process may show it */
      folder_disclaim (path, FOLDER_FILE_SHOWN);
    }
  g_autofree char *late = written (STDOUT_FILENO, answer_of_a_bad_run, path, &code);
  g_assert_cmpint (code, ==, 5);
  assert_said ("");
  g_assert_true (folder_remove (path, NULL));
}

/* The message says how to replay the job that ended the run. */
static void
test_replay (void)
{
  g_autofree char *path = folder_new (), *file = g_build_filename (path, "c", NULL);
  g_autofree char *words
      = g_strdup_printf ("satin: `satin replay %s PATH` runs the job at PATH again, alone\n", file);
  FolderRun run = { 0 };

  launch_words_replay (&run);
  assert_said ("");
  run.checkpoint = file;
  launch_words_replay (&run);
  assert_said ("satin: nothing was published before that, so there is nothing to resume or replay: "
               "run the program alone, as in gdb, to see the job\n");
  put (path, "c", "x");
  launch_words_replay (&run);
  assert_said (words);
  g_assert_true (folder_remove (path, NULL));
}

/* A run that was stopped before it began has an end, too; the message says how to start it. */
static void
test_not_begun (void)
{
  static const struct
  {
    const char *checkpoint, *words, *sentence;
    gboolean resume;
  } cases[] = {
    { NULL, "satin: stopped; without --checkpoint nothing is kept\n", NULL, FALSE },
    { "/c", "satin: suspended: it had not begun; the same command begins again\n",
      "it had not begun; the same command begins again", FALSE },
    { "/c", "satin: suspended: `satin resume /c` goes on\n", NULL, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = folder_new (), *sentence = NULL;
      FolderRun run = { .checkpoint = (char *)cases[i].checkpoint, .resume = cases[i].resume };
      int code;

      g_assert_cmpint (launch_words_not_begun (&run, path), ==, COMMAND_SUSPENDED);
      assert_said (cases[i].words);
      g_assert_true (folder_has_ended (path, &code, &sentence));
      g_assert_cmpint (code, ==, COMMAND_SUSPENDED);
      g_assert_cmpstr (sentence, ==, cases[i].sentence);
      g_assert_true (folder_remove (path, NULL));
    }
}

/* --stats writes the figures to its file; the summary is printed for the user. */
static void
test_figures (void)
{
  g_autofree char *path = folder_new (), *stats = g_build_filename (path, "s.json", NULL);
  g_autofree char *json = NULL;
  g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (gint64));
  const FiguresSeen seen = { .wall_s = 2, .own = own };

  launch_words_figures (path, &seen, NULL, FALSE);
  launch_words_figures (path, &seen, stats, FALSE);
  assert_said ("");
  g_assert_true (g_file_get_contents (stats, &json, NULL, NULL));
  g_assert_nonnull (strstr (json, "\"wall_s\": 2"));
  launch_words_figures (path, &seen, NULL, TRUE);
  g_assert_true (g_str_has_prefix (said->str, "satin: "));
  g_string_truncate (said, 0);
  launch_words_figures (path, &seen, "/nonexistent/s", FALSE);
  g_assert_true (g_str_has_prefix (said->str, "satin: cannot write the figures: "));
  g_string_truncate (said, 0);
  g_assert_true (folder_remove (path, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  said = g_string_new (NULL);
  g_set_printerr_handler (hear);
  g_test_add_func ("/launch-words/troubles", test_troubles);
  g_test_add_func ("/launch-words/many-troubles", test_many_troubles);
  g_test_add_func ("/launch-words/wrong-troubles", test_wrong_troubles);
  g_test_add_func ("/launch-words/gone", test_gone);
  g_test_add_func ("/launch-words/gone-with-a-long-log", test_gone_with_a_long_log);
  g_test_add_func ("/launch-words/gone-beside-others", test_gone_beside_others);
  g_test_add_func ("/launch-words/never-joined", test_never_joined);
  g_test_add_func ("/launch-words/left-out", test_left_out);
  g_test_add_func ("/launch-words/end", test_end);
  g_test_add_func ("/launch-words/next", test_next);
  g_test_add_func ("/launch-words/answer", test_answer);
  g_test_add_func ("/launch-words/replay", test_replay);
  g_test_add_func ("/launch-words/not-begun", test_not_begun);
  g_test_add_func ("/launch-words/figures", test_figures);
  return g_test_run ();
}
