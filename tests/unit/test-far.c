/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's end of a node on another host. The node is this program, started again by the
 * `command` of a site. It waits for "go", writes what a file contains, and notes all that it
 * receives until the required number of lines has come. */
#include "folder/folder-run.h"
#include "folder/relay.h"
#include "launch/far.h"
#include "launch/spread.h"

#include "captured.h"

#include "host/whole.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *own_program;
static gint64 skipped_us;
static guint n_synced;

int
fsync (int fd G_GNUC_UNUSED)
{
  n_synced++;
  return 0;
}

gint64
g_get_monotonic_time (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64)now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + skipped_us;
}

static gboolean
hear_byte (GString *heard)
{
  char byte;

  if (whole_read_some (STDIN_FILENO, &byte, 1) != 1)
    return FALSE;
  g_string_append_c (heard, byte);
  return TRUE;
}

/* Reads a line, and the bytes of the file that it names. RELAY_WRONG: nothing follows. */
static RelayKind
hear_one (GString *heard)
{
  g_autofree char *line = NULL, *name = NULL;
  gsize start = heard->len, size = 0;

  while (heard->len == start || heard->str[heard->len - 1] != '\n')
    if (!hear_byte (heard))
      return RELAY_WRONG;
  line = g_strndup (heard->str + start, heard->len - start - 1);
  RelayKind kind = relay_parse (line, &name, &size);
  while (kind == RELAY_FILE && size-- > 0)
    if (!hear_byte (heard))
      return RELAY_WRONG;
  return kind;
}

/* Plays the node: `file` has what it sends; file.more, if it is there, what it sends when it is to
 * quit. file.heard gets what it receives. */
static int
be_a_node (const char *file, guint answers)
{
  g_autoptr (GString) heard = g_string_new (NULL);
  g_autofree char *note = g_strconcat (file, ".heard", NULL), *words = NULL;
  g_autofree char *more = g_strconcat (file, ".more", NULL), *rest = NULL;
  gsize size;

  for (RelayKind kind = RELAY_FILE; kind == RELAY_FILE;)
    kind = hear_one (heard);
  if (g_file_get_contents (file, &words, &size, NULL))
    (void)whole_write (STDOUT_FILENO, words, size);
  if (g_file_get_contents (more, &rest, &size, NULL) && hear_one (heard) == RELAY_QUIT)
    (void)whole_write (STDOUT_FILENO, rest, size);
  while (answers-- > 0 && hear_one (heard) != RELAY_WRONG)
    ;
  (void)g_file_set_contents (note, heard->str, (gssize)heard->len, NULL);
  return 0;
}

typedef struct
{
  char *state; /* contains the folder of the run, and `words` for the node */
  char *path, *words;
  FolderRun run;
  Site site;
  Far *far;
  int status;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  char *command[] = { (char *)"sh", (char *)"-c", NULL };
  g_autoptr (GBytes) secret = g_bytes_new_static ("secret\n", 7);

  *f = (Fixture){ .state = g_dir_make_tmp ("satin-far-XXXXXX", NULL) };
  f->path = g_build_filename (f->state, "run", NULL);
  f->words = g_build_filename (f->state, "words", NULL);
  g_assert_cmpint (g_mkdir (f->path, 0700), ==, 0);
  f->run = (FolderRun){ .id = g_strdup ("id"),
                        .name = g_strdup ("r"),
                        .program = g_strdup (own_program),
                        .folder = g_strdup ("/"),
                        .sockets = g_strdup (f->path),
                        .trace = g_strdup ("/trace"),
                        .listen = g_strdup ("192.0.2.1"),
                        .workers = 9,
                        .nodes = 7,
                        .launcher_pid = 12,
                        .port_first = 1,
                        .port_last = 2 };
  f->site = (Site){ .name = (char *)"there",
                    .launcher = SITE_COMMAND,
                    .command = g_strdupv (command),
                    .workers = 3,
                    .port_first = 7000,
                    .port_last = 7010 };
  g_assert_true (folder_write (f->path, FOLDER_FILE_CREDENTIAL, secret, NULL));
  g_assert_true (folder_write (f->path, FOLDER_KEY_FILE, secret, NULL));
}

static void
tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *heard = g_strconcat (f->words, ".heard", NULL);

  g_clear_pointer (&f->far, far_free);
  g_unlink (f->words);
  g_unlink (heard);
  (void)folder_remove (f->path, NULL);
  g_assert_cmpint (g_rmdir (f->state), ==, 0);
  folder_run_clear (&f->run);
  g_strfreev (f->site.command);
  g_free (f->state);
  g_free (f->path);
  g_free (f->words);
}

static void
begin (Fixture *f, gboolean founder, guint answers, GBytes *copy)
{
  g_autofree char *number = g_strdup_printf ("%u", answers);
  const char *argv[] = { "--node", f->words, number, NULL };
  g_autoptr (GError) error = NULL;

  g_strfreev (f->run.argv);
  f->run.argv = g_strdupv ((char **)argv);
  f->far = far_start (&f->run, f->path, &f->site, "fs0", 1, 2, founder, copy, &error);
  g_assert_no_error (error);
}

/* Waits until the process is gone and all that it sent is read. (transfer full): what it
 * received. */
static char *
end (Fixture *f)
{
  g_autofree char *heard = g_strconcat (f->words, ".heard", NULL);
  char *text = NULL;

  while (waitpid (far_pid (f->far), &f->status, WNOHANG) == 0)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (500);
  far_drain (f->far);
  (void)g_file_get_contents (heard, &text, NULL, NULL);
  return text;
}

/* A founder sends this. (transfer full): what it received after "go". */
static char *
answers_to (Fixture *f, const char *words, gsize size, guint answers)
{
  g_assert_true (g_file_set_contents (f->words, words, (gssize)size, NULL));
  begin (f, TRUE, answers, NULL);
  g_autofree char *heard = end (f);
  const char *go = heard != NULL ? strstr (heard, "go\n") : NULL;
  return go != NULL ? g_strdup (go + 3) : NULL;
}

static void
stands (Fixture *f, const char *name, const char *wanted)
{
  g_autoptr (GBytes) bytes = folder_bytes (f->path, name, NULL);

  if (wanted == NULL)
    g_assert_null (bytes);
  else
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), wanted,
                     strlen (wanted));
}

static void
stands_for_node (Fixture *f, const char *suffix, const char *wanted)
{
  g_autofree char *file = folder_node_file (far_pid (f->far), suffix);

  stands (f, file, wanted);
}

/* Files of the run are acknowledged. Files of the node are not; their names get the process id of
 * the local process. Other names leave no file. */
static void
files_are_taken_by_their_names (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const char *words = "file node-1.stats 3\nabcfile answer 9\nforty-two"
                      "file node-1.address 26\nunix:/x\ntcp:192.0.2.4:5\n\n\n"
                      "file credential 1\nx"
                      "file node-2.process 1\nxfile node-1.unfit 1\nx"
                      "file founder-0 1\nxfile sites 1\nxfile other 1\nx"
                      "file end 2\n0\n";
  g_autofree char *heard = answers_to (f, words, strlen (words), 6);

  g_assert_cmpstr (heard, ==,
                   "kept answer\nkept credential\nkept founder-0\nkept sites\nkept other\n"
                   "kept end\n");
  stands_for_node (f, "stats", "abc");
  stands_for_node (f, "address", "tcp:192.0.2.4:5\n"); /* no other address leads there */
  stands_for_node (f, "unfit", NULL);
  stands (f, "node-1.stats", NULL);
  stands (f, "node-2.process", NULL);
  stands (f, "credential", "secret\n");
  stands (f, "founder-0", NULL);
  stands (f, "sites", NULL);
  stands (f, "other", NULL);
  stands (f, "answer", "forty-two");
  stands (f, "end", "0\n");
  g_assert_false (far_keeps_answer (f->far));
  g_assert_false (far_brings (f->far));
}

/* The first file of the run's nodes stays; a founder's file replaces that of an earlier founder. */
static void
the_first_file_stays (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const char *words = "file answer 3\nnew"
                      "file id 3\nnew"
                      "file build 3\nnew";
  g_autoptr (GBytes) old = g_bytes_new_static ("old", 3);

  g_assert_true (folder_write (f->path, "answer", old, NULL));
  g_assert_true (folder_write (f->path, "id", old, NULL));
  g_autofree char *heard = answers_to (f, words, strlen (words), 3);
  g_assert_cmpstr (heard, ==, "kept answer\nkept id\nkept build\n");
  stands (f, "answer", "old");
  stands (f, "id", "new");
  stands (f, "build", "new");
}

/* Output of a shell before the node's own is skipped, however long its lines are; nothing else
 * is. */
static void
greetings_are_passed_over (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *line = g_strnfill (3 * RELAY_LINE_MAX, '*');
  g_autofree char *words = g_strconcat ("Welcome!\n\n", line,
                                        "\nfile answer 1\nafile node-1.stats "
                                        "1\nsnonsense\nfile end 2\n0\n",
                                        NULL);
  g_autofree char *heard = answers_to (f, words, strlen (words), 1);

  g_assert_cmpstr (heard, ==, "kept answer\n");
  stands (f, "answer", "a");
  stands_for_node (f, "stats", "s");
  stands (f, "end", NULL);
}

/* The run's files may have any size; a file of the node that is too large is refused. */
static void
sizes (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GString) words = g_string_new ("file answer 300001\n");
  g_autofree char *answer = g_malloc (300002);

  for (gsize i = 0; i < 300001; i++)
    answer[i] = (char)('a' + i % 23);
  answer[300001] = '\0';
  g_string_append (words, answer);
  g_string_append_printf (words, "file node-1.stats %d\n", RELAY_SMALL_MAX + 1);
  gsize at = words->len;
  g_string_set_size (words, at + RELAY_SMALL_MAX + 1);
  memset (words->str + at, 'x', RELAY_SMALL_MAX + 1);
  g_string_append (words, "file node-1.trouble 1\ntfile end 2\n0\n");
  g_autofree char *heard = answers_to (f, words->str, words->len, 2);
  g_assert_cmpstr (heard, ==, "kept answer\nkept end\n");
  stands (f, "answer", answer);
  stands_for_node (f, "stats", NULL);
  stands_for_node (f, "trouble", "t");
}

/* A file that did not arrive whole is dropped. */
static void
half_a_file_is_none (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const char *words = "file node-1.stats 2\nabfile answer 10\nforty-two";
  g_autofree char *heard = answers_to (f, words, strlen (words), 0);

  g_assert_cmpstr (heard, ==, "");
  g_assert_true (far_brings (f->far));
  g_clear_pointer (&f->far, far_free);
  stands (f, "answer", NULL);
  g_autoptr (GDir) dir = g_dir_open (f->path, 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    g_assert_cmpint (name[0], !=, '.'); /* no draft stays */
}

/* A node keeps its answer until the answer is here. */
static void
what_cannot_be_kept_is_lost (Fixture *f, gconstpointer data)
{
  const char *file = data;
  g_autofree char *words = g_strdup_printf ("file %s 1\nxfile error 1\nx", file);

  g_assert_true (g_file_set_contents (f->words, words, -1, NULL));
  begin (f, TRUE, 2, NULL);
  g_assert_true (folder_remove (f->path, NULL));
  g_autofree char *heard = end (f);
  g_autofree char *lost = g_strdup_printf ("\ngo\nlost %s\nlost error\n", file);
  g_assert_true (g_str_has_suffix (heard, lost));
  g_assert_cmpint (far_keeps_answer (f->far), ==, g_str_equal (file, "answer"));
}

/* The node gets the run's description with its own site, host and share. */
static void
a_node_is_told_its_run (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  for (int own = FALSE; own <= TRUE; own++)
    {
      g_auto (FolderRun) told = { 0 };
      gsize size = 0;
      int head = 0;

      f->site.listen = own ? (char *)"192.0.2.77" : NULL;
      begin (f, TRUE, 0, NULL);
      g_autofree char *heard = end (f);
      g_assert_cmpint (sscanf (heard, "file run %zu\n%n", &size, &head), ==, 1);
      g_assert_true (g_file_set_contents (f->words, heard + head, (gssize)size, NULL));
      g_autofree char *run = g_build_filename (f->path, "run", NULL);
      g_assert_cmpint (g_rename (f->words, run), ==, 0);
      g_assert_true (folder_read (f->path, &told, NULL));
      g_assert_true (told.tcp);
      g_assert_cmpstr (told.listen, ==, own ? "192.0.2.77" : FOLDER_LISTEN_OWN);
      g_assert_cmpint (told.port_first, ==, 7000);
      g_assert_cmpint (told.port_last, ==, 7010);
      g_assert_cmpstr (told.site, ==, "there");
      g_assert_cmpint (told.workers, ==, 3);
      g_assert_cmpint (told.nodes, ==, 2);
      g_assert_cmpint (told.launcher_pid, ==, 0);
      g_assert_null (told.trace);
      g_assert_cmpstrv (told.argv, f->run.argv);
      g_assert_nonnull (strstr (heard, "file credential 7\nsecret\nfile key.pem 7\nsecret\n"));
      g_assert_nonnull (strstr (heard, "file founder 2\n1\n"));
      g_clear_pointer (&f->far, far_free);
    }
}

/* Nodes other than the founder start when they know a member, and learn of each change once. */
static void
a_node_is_told_its_peers (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GBytes) id = g_bytes_new_static ("the id", 6);
  const char *words = "file node-1.address 6\ntcp:x\nfile answer 0\n";
  g_autoptr (GBytes) none = NULL;

  g_assert_true (g_file_set_contents (f->words, words, -1, NULL));
  g_assert_true (folder_write (f->path, FOLDER_FILE_ID, id, NULL));
  begin (f, FALSE, 6, NULL);
  far_tell (f->far, "");
  far_tell (f->far, "tcp:a\n");
  far_tell (f->far, "tcp:a\n");
  while (folder_size (f->path, "answer") < 0)
    g_main_context_iteration (NULL, TRUE);
  g_autofree char *file = folder_node_file (far_pid (f->far), FOLDER_NODE_ADDRESS);
  folder_disclaim (f->path, file);
  far_tell (f->far, "tcp:a\n");
  stands_for_node (f, "address", "tcp:x\n");
  far_tell (f->far, "tcp:b\n");
  g_assert_true (far_quit (f->far));
  g_assert_true (far_quit (f->far)); /* the order is sent once */
  far_tell (f->far, "tcp:c\n");
  g_autofree char *heard = end (f);
  g_assert_null (strstr (heard, "file founder"));
  g_assert_true (g_str_has_suffix (heard, "file peers 6\ntcp:a\nfile id 6\nthe idgo\n"
                                          "kept answer\n"
                                          "file peers 6\ntcp:b\nfile id 6\nthe idquit\n"
                                          "file peers 6\ntcp:c\nfile id 6\nthe id"));
}

/* Two nodes may send the answer at the same time. The first that is here as a whole stays, and what
 * is said to be kept is on the disk. A file of which no more comes is not waited for. */
static void
the_first_whole_file_stays (Fixture *f, gconstpointer data)
{
  const char *file = data;
  g_autofree char *more = g_strconcat (f->words, ".more", NULL);
  g_autofree char *words = g_strdup_printf ("file %s 9\nforty", file);
  g_autoptr (GBytes) theirs = g_bytes_new_static ("theirs", 6);

  g_assert_true (g_file_set_contents (f->words, words, -1, NULL));
  g_assert_true (g_file_set_contents (more, "-two", -1, NULL));
  begin (f, TRUE, 1, NULL);
  while (!far_brings (f->far))
    g_main_context_iteration (NULL, TRUE);
  skipped_us += (RELAY_STALL_S + 1) * G_USEC_PER_SEC;
  g_assert_false (far_brings (f->far));
  g_assert_true (folder_write_first (f->path, file, theirs, NULL));
  n_synced = 0;
  (void)far_quit (f->far);
  g_autofree char *heard = end (f);
  g_autofree char *kept = g_strdup_printf ("go\nquit\nkept %s\n", file);
  g_assert_true (g_str_has_suffix (heard, kept));
  if (strcmp (file, "answer") == 0)
    {
      stands (f, file, "theirs");
      g_assert_cmpuint (n_synced, ==, 2); /* the file and its name */
    }
  else
    stands (f, file, "forty-two"); /* a later founder's */
  g_unlink (more);
}

/* After so many seconds of virtual time, in which all that can be sent is sent. */
static void
expect_after (Fixture *f, gint64 seconds, gboolean others)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  skipped_us += seconds * G_USEC_PER_SEC;
  far_expect (f->far, others);
  g_assert_cmpint (waitpid (far_pid (f->far), &f->status, WNOHANG), ==, 0);
}

/* A node that says nothing for half a minute is reported once. If another place can found the run,
 * the node is told to end, and is killed if it does not. Until then the time counts from the last
 * byte that could be sent to it. */
static void
who_says_nothing (Fixture *f, gconstpointer data)
{
  gboolean alone = strcmp (data, "alone") == 0, stubborn = strcmp (data, "stubborn") == 0;
  gboolean told = strcmp (data, "told") == 0;

  begin (f, FALSE, alone || told, NULL); /* after "go" it hears one order more */
  if (stubborn)
    kill (far_pid (f->far), SIGSTOP);
  Captured captured = captured_begin (STDERR_FILENO);
  expect_after (f, 29, !alone);
  if (told)
    {
      far_tell (f->far, "tcp:a\n");
      expect_after (f, 29, !alone);
    }
  g_autofree char *nothing = captured_end (&captured);
  captured = captured_begin (STDERR_FILENO);
  expect_after (f, 2, !alone);
  far_expect (f->far, !alone);
  if (!stubborn)
    {
      if (alone)
        far_tell (f->far, "tcp:a\n");
      far_quit (f->far);
    }
  else
    {
      skipped_us += 3 * G_USEC_PER_SEC;
      far_expect (f->far, TRUE);
    }
  g_autofree char *text = captured_end (&captured), *heard = end (f);
  g_assert_cmpstr (nothing, ==, "");
  g_assert_cmpstr (text, ==,
                   alone ? "satin: host 'fs0' of site 'there' has said nothing for 30 s: still "
                           "waiting\n"
                         : "satin: host 'fs0' of site 'there' has said nothing for 30 s: another "
                           "node founds the run\n");
  if (stubborn)
    g_assert_true (WIFSIGNALED (f->status) && WTERMSIG (f->status) == SIGKILL);
  else
    g_assert_true (g_str_has_suffix (heard, "quit\n"));
  if (alone)
    g_assert_nonnull (strstr (heard, "go\nquit\n"));
}

/* A node that has sent a file may then be silent for as long as it likes. */
static void
who_has_spoken_may_be_silent (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_assert_true (g_file_set_contents (f->words, "file answer 2\nab", -1, NULL));
  begin (f, TRUE, 2, NULL);
  Captured captured = captured_begin (STDERR_FILENO);
  while (folder_size (f->path, "answer") < 0)
    g_main_context_iteration (NULL, TRUE);
  expect_after (f, 99, TRUE);
  expect_after (f, 99, TRUE);
  g_assert_false (far_brings (f->far));
  far_quit (f->far);
  g_autofree char *text = captured_end (&captured), *heard = end (f);
  g_assert_cmpstr (text, ==, "");
  g_assert_true (g_str_has_suffix (heard, "go\nkept answer\nquit\n"));
}

/* If the other host has no program, it is sent first, and nothing of it stays. */
static void
a_copy_of_the_program_goes_first (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *rest = g_strnfill (300000, '#'); /* more than a pipe takes at once */
  g_autofree char *script = g_strdup_printf (
      "#!/bin/sh\necho \"$0\" >%s.place\n%s \"$@\"\nexit 7\n%s\n", f->words, own_program, rest);
  g_autofree char *note = g_strconcat (f->words, ".place", NULL), *place = NULL;
  g_autoptr (GBytes) copy = g_bytes_new (script, strlen (script));

  begin (f, TRUE, 0, copy);
  g_autofree char *heard = end (f);
  g_assert_true (g_str_has_prefix (heard, "file run "));
  g_assert_true (WIFEXITED (f->status) && WEXITSTATUS (f->status) == 7);
  g_assert_true (g_file_get_contents (note, &place, NULL, NULL));
  g_assert_false (g_file_test (g_strchomp (place), G_FILE_TEST_EXISTS));
  g_unlink (note);
}

/* The state of all nodes of the launcher together. */
static void
nodes_together (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const Spot spot = { &f->site, "fs0", 1, 2, 3 };
  g_autoptr (GArray) nodes = spread_nodes ();
  Started here = { .pid = 4711 }, there;
  const char *words = "file answer 5\nhalf";
  gboolean live, unkept = FALSE;
  const char *argv[] = { "--node", f->words, "0", NULL };

  g_assert_true (g_file_set_contents (f->words, words, -1, NULL));
  f->run.argv = g_strdupv ((char **)argv);
  g_array_append_val (nodes, here);
  g_assert_false (spread_brings (nodes, &live, &unkept));
  g_assert_false (live || unkept);
  g_assert_true (spread_start (&spot, &f->run, f->path, TRUE, NULL, &there, NULL));
  g_array_append_val (nodes, there);
  g_autoptr (GArray) pids = spread_pids (nodes);
  g_assert_cmpint (g_array_index (pids, gint64, 0), ==, 4711);
  g_assert_cmpint (g_array_index (pids, gint64, 1), ==, far_pid (there.far));
  g_assert_cmpstr (there.site, ==, "there");
  g_assert_false (spread_brings (nodes, &live, &unkept));
  g_assert_true (live);
  f->far = there.far;
  g_autofree char *heard = end (f);
  f->far = NULL;
  g_array_index (nodes, Started, 1).gone = TRUE;
  g_assert_true (spread_brings (nodes, &live, &unkept));
  g_assert_false (live || unkept);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    const char *data;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/far/files-are-taken-by-their-names", NULL, files_are_taken_by_their_names },
    { "/far/the-first-file-stays", NULL, the_first_file_stays },
    { "/far/greetings-are-passed-over", NULL, greetings_are_passed_over },
    { "/far/sizes", NULL, sizes },
    { "/far/half-a-file-is-none", NULL, half_a_file_is_none },
    { "/far/an-answer-that-cannot-be-kept", "answer", what_cannot_be_kept_is_lost },
    { "/far/an-end-that-cannot-be-kept", "end", what_cannot_be_kept_is_lost },
    { "/far/a-node-is-told-its-run", NULL, a_node_is_told_its_run },
    { "/far/a-node-is-told-its-peers", NULL, a_node_is_told_its_peers },
    { "/far/the-first-whole-file-stays/answer", "answer", the_first_whole_file_stays },
    { "/far/the-first-whole-file-stays/build", FOLDER_BUILD, the_first_whole_file_stays },
    { "/far/who-says-nothing/alone", "alone", who_says_nothing },
    { "/far/who-says-nothing/others", "others", who_says_nothing },
    { "/far/who-says-nothing/stubborn", "stubborn", who_says_nothing },
    { "/far/who-says-nothing/told", "told", who_says_nothing },
    { "/far/who-has-spoken-may-be-silent", NULL, who_has_spoken_may_be_silent },
    { "/far/a-copy-of-the-program-goes-first", NULL, a_copy_of_the_program_goes_first },
    { "/far/nodes-together", NULL, nodes_together },
  };

  alarm (20); /* ends the test if one end waits for what the other never sends */
  if (argc == 4 && g_str_equal (argv[1], "--node"))
    return be_a_node (argv[2], (guint)atoi (argv[3]));
  own_program = g_file_read_link ("/proc/self/exe", NULL);
  signal (SIGPIPE, SIG_IGN);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, tests[i].data, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
