/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of `run` in a run's folder, the options that belong to a checkpoint, and the records
 * of runs that have ended. */
#include "folder/folder-ended.h"
#include "folder/folder-run.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* (nullable) No file of this name gets a second name, as where the disk is full. */
static const char *unlinkable;

int
link (const char *from, const char *to)
{
  g_autofree char *name = g_path_get_basename (from);

  if (g_strcmp0 (name, unlinkable) != 0)
    return (int)syscall (SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = ENOSPC;
  return -1;
}

/* No field has its default value, and no two have the same value. */
static FolderRun
a_full_run (void)
{
  const char *argv[] = { "", "-x", "two words;", "caf\xe9", "a\\b\n", NULL };

  return (FolderRun){ .id = g_strdup ("0123456789abcdef0123456789abcdef"),
                      .name = g_strdup ("full"),
                      .program = g_strdup ("/opt/bin/fib"),
                      .argv = g_strdupv ((char **)argv),
                      .folder = g_strdup ("/tmp/\xff x"),
                      .checkpoint = g_strdup ("/tmp/f.satin"),
                      .trace = g_strdup ("/tmp/trace\t.json"),
                      .interval_s = 2.5,
                      .keep_s = 0.25,
                      .heartbeat_s = 0.1,
                      .silence_s = 0.3,
                      .workers = 3,
                      .stack = G_GUINT64_CONSTANT (5) << 32,
                      .shared_memory = G_GUINT64_CONSTANT (7) << 32,
                      .nodes = 4,
                      .tcp = TRUE,
                      .listen = g_strdup ("192.0.2.1"),
                      .protect = PLAN_BUDDY,
                      .verify = 0.125,
                      .resume = TRUE,
                      .mended = TRUE,
                      .trust = TRUE,
                      .token = g_strdup ("a token"),
                      .rows_token = g_strdup ("of rows"),
                      .build = g_strdup ("a build"),
                      .steal = 2,
                      .closed = TRUE,
                      .invited = TRUE,
                      .launcher_pid = 123456,
                      .host = g_strdup ("fs0.example"),
                      .started_us = G_GINT64_CONSTANT (1700000000000001),
                      .site = g_strdup ("delft"),
                      .port_first = 7000,
                      .port_last = 7010,
                      .sockets = g_strdup ("/tmp/sockets") };
}

static char *
make_folder (void)
{
  return g_dir_make_tmp ("satin-run-XXXXXX", NULL);
}

static void
remove_folder (const char *folder)
{
  g_autofree char *run = g_build_filename (folder, FOLDER_RUN_FILE, NULL);

  g_unlink (run);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
every_field_comes_back (void)
{
  g_auto (FolderRun) run = a_full_run (), back = { 0 };
  g_autofree char *folder = make_folder ();
  g_autoptr (GError) error = NULL;

  g_assert_true (folder_run_write (&run, folder, &error));
  g_assert_true (folder_read (folder, &back, &error));
  g_assert_no_error (error);
  const char *const texts[][2] = {
    { run.id, back.id },           { run.name, back.name },   { run.program, back.program },
    { run.folder, back.folder },   { run.trace, back.trace }, { run.checkpoint, back.checkpoint },
    { run.listen, back.listen },   { run.token, back.token }, { run.rows_token, back.rows_token },
    { run.build, back.build },     { run.host, back.host },   { run.site, back.site },
    { run.sockets, back.sockets },
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_cmpstr (texts[i][0], ==, texts[i][1]);
  g_assert_cmpstrv (run.argv, back.argv);
  const double numbers[][2] = {
    { run.interval_s, back.interval_s },
    { run.keep_s, back.keep_s },
    { run.heartbeat_s, back.heartbeat_s },
    { run.silence_s, back.silence_s },
    { run.verify, back.verify },
    { (double)run.workers, (double)back.workers },
    { (double)run.stack, (double)back.stack },
    { (double)run.shared_memory, (double)back.shared_memory },
    { run.nodes, back.nodes },
    { run.tcp, back.tcp },
    { run.protect, back.protect },
    { run.resume, back.resume },
    { run.mended, back.mended },
    { run.trust, back.trust },
    { run.steal, back.steal },
    { run.closed, back.closed },
    { run.invited, back.invited },
    { (double)run.launcher_pid, (double)back.launcher_pid },
    { (double)run.started_us, (double)back.started_us },
    { run.port_first, back.port_first },
    { run.port_last, back.port_last },
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i][0] != numbers[i][1])
      g_error ("number %u is %g, not %g", i, numbers[i][1], numbers[i][0]);
  remove_folder (folder);
}

/* The number of workers: without it, one; 0 is kept and means the cores of each host. */
static void
workers_of_each_host (void)
{
  static const int workers[] = { 0, 1, 7, FOLDER_WORKERS_MAX };
  g_autofree char *folder = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    {
      g_auto (FolderRun) run = a_full_run (), back = { 0 };
      run.workers = workers[i];
      g_assert_true (folder_run_write (&run, folder, NULL));
      g_assert_true (folder_read (folder, &back, NULL));
      g_assert_cmpint (back.workers, ==, workers[i]);
    }
  remove_folder (folder);
}

/* The options that a checkpoint stores for a resumed run; invalid ones are ignored. */
static void
options_come_back (void)
{
  g_auto (FolderRun) run = a_full_run (), back = { .workers = 1 };
  g_autofree char *text = folder_options_write (&run);

  for (int nonsense = FALSE; nonsense <= TRUE; nonsense++)
    {
      folder_options_read (nonsense ? "[launch]\nnodes=-1\nworkers=x\ninterval=nan\nkeep=-1\n"
                                      "heartbeat=1\nsilence=2\nsteal=x\ntcp=true\n"
                                      "stack=21474836480\nshared-memory=30064771072\n"
                                    : text,
                           &back);
      g_assert_cmpint (back.nodes, ==, 4);
      g_assert_cmpint (back.workers, ==, 3);
      g_assert_cmpfloat (back.interval_s, ==, 2.5);
      g_assert_cmpfloat (back.keep_s, ==, 0.25);
      g_assert_cmpfloat (back.heartbeat_s, ==, 0.1);
      g_assert_cmpfloat (back.silence_s, ==, 0.3);
      g_assert_cmpint (back.steal, ==, 2);
      g_assert_cmpuint (back.stack, ==, run.stack);
      g_assert_cmpuint (back.shared_memory, ==, run.shared_memory);
      g_assert_true (back.tcp);
    }
  folder_options_read ("[launch]\nnodes=1024\n", &back);
  g_assert_cmpint (back.nodes, ==, FOLDER_NODES_MAX);
  folder_options_read ("[launch]\nnodes=4\n", &back);
  folder_options_read ("[launch]\nnodes=1025\nworkers=1025\ninterval=1e99\nkeep=1e99\n", &back);
  g_assert_cmpint (back.nodes, ==, 4);
  g_assert_cmpint (back.workers, ==, FOLDER_WORKERS_MAX); /* another host may have more cores */
  g_assert_cmpfloat (back.interval_s, ==, 2.5);
  g_assert_cmpfloat (back.keep_s, ==, 0.25);
}

#define AUTO FOLDER_INTERVAL_AUTO_S

static void
intervals (void)
{
  static const struct
  {
    const char *text;
    double interval_s, keep_s; /* 0: it is refused */
  } cases[] = { { "auto", AUTO, 0 },   { "3", 3, 0 },        { "10,0.5", 10, 0.5 },
                { "0.05", 0.05, 0 },   { "1,1", 1, 1 },      { "604800,604800", 604800, 604800 },
                { "1,5", 0, 0 },       { "1,", 0, 0 },       { ",1", 0, 0 },
                { "1,0", 0, 0 },       { "1,0.04", 0, 0 },   { "auto,1", 0, 0 },
                { "1,0.5,0.1", 0, 0 }, { "1;0.5", 0, 0 },    { "", 0, 0 },
                { "1,nan", 0, 0 },     { "604801,1", 0, 0 }, { "1,0.5x", 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      double interval_s = -7, keep_s = -7;
      gboolean good = folder_interval_read (cases[i].text, &interval_s, &keep_s);
      g_assert_cmpint (good, ==, cases[i].interval_s != 0);
      g_assert_cmpfloat_with_epsilon (interval_s, good ? cases[i].interval_s : -7, 1e-9);
      g_assert_cmpfloat_with_epsilon (keep_s, good ? cases[i].keep_s : -7, 1e-9);
      if (good)
        g_assert_cmpuint (folder_interval_us (interval_s), ==,
                          interval_s > 0 ? (guint64)(interval_s * 1e6) : 2000000);
    }
}

/* Socket paths fit for any process ids; a folder that cannot be used leaves no other one. */
static void
sockets_have_room (void)
{
  for (gsize length = 60; length <= FOLDER_SOCKET_MAX; length++)
    {
      g_autofree char *name = g_strnfill (length - 1, 'x'), *path = g_strconcat ("/", name, NULL);
      g_auto (FolderRun) run = { 0 };
      g_autoptr (GError) error = NULL;
      g_assert_true (folder_run_place_sockets (&run, path, &error));
      g_autofree char *socket = folder_socket (&run, G_MAXINT32);
      g_assert_cmpuint (strlen (socket), <=, FOLDER_SOCKET_MAX);
      if (g_str_equal (run.sockets, path))
        continue;
      g_assert_cmpuint (length + strlen (socket) - strlen (run.sockets), >, FOLDER_SOCKET_MAX);
      g_assert_true (folder_run_sockets_are_ours (run.sockets));
      g_assert_cmpint (g_rmdir (run.sockets), ==, 0);
    }
}

/* A file that has lost one of these is no run's. */
static void
a_run_has_these_fields (void)
{
  static const char *const fields[]
      = { "id=", "name=", "program=", "argc=", "argv4=", "folder=", "sockets=" };
  g_auto (FolderRun) run = a_full_run ();
  g_autofree char *folder = make_folder (), *whole = folder_run_data (&run, NULL);
  g_autofree char *path = g_build_filename (folder, FOLDER_RUN_FILE, NULL);
  g_auto (GStrv) lines = g_strsplit (whole, "\n", -1);

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_auto (FolderRun) back = { 0 };
      g_autoptr (GString) text = g_string_new (NULL);
      for (guint k = 0; lines[k] != NULL; k++)
        if (!g_str_has_prefix (lines[k], fields[i]))
          g_string_append_printf (text, "%s\n", lines[k]);
      g_assert_cmpuint (text->len, <, strlen (whole));
      g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
      if (strcmp (fields[i], "argc=") == 0)
        continue; /* no arguments */
      if (folder_read (folder, &back, NULL))
        g_error ("a run without '%s' is read", fields[i]);
    }
  remove_folder (folder);
}

static guint
letters_of (const char *text)
{
  g_autoptr (GHashTable) pairs = g_hash_table_new (NULL, NULL);

  for (; text[0] != '\0'; text += 2)
    g_hash_table_add (pairs, GUINT_TO_POINTER ((guint8)text[0] << 8 | (guint8)text[1]));
  return g_hash_table_size (pairs);
}

/* Each launch draws an id and a credential; nobody can guess them. Its launcher counts as alive. */
static void
each_launch_is_another (void)
{
  g_autofree char *id = NULL, *credential = NULL;

  for (int i = 0; i < 2; i++)
    {
      g_auto (FolderRun) run = a_full_run ();
      run.launcher_pid = getpid ();
      g_autofree char *path = folder_create (&run, NULL);
      g_assert_nonnull (path);
      g_autofree char *drawn = folder_credential (path, NULL);
      g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_PROCESS);
      g_assert_cmpint (folder_size (path, file), >, 0);
      g_assert_true (folder_is_live (path));
      g_assert_cmpuint (letters_of (run.id), >, 8); /* of 16 bytes */
      g_assert_cmpuint (letters_of (drawn), >, 16); /* of 32 */
      g_assert_cmpstr (run.id, !=, "0123456789abcdef0123456789abcdef");
      g_assert_cmpstr (run.id, !=, id);
      g_assert_cmpstr (drawn, !=, credential);
      g_free (id);
      g_free (credential);
      id = g_strdup (run.id);
      credential = g_steal_pointer (&drawn);
      g_assert_true (folder_remove (path, NULL));
    }
}

/* Two processes of a run do not write one file. */
static void
a_spare_is_of_its_process (void)
{
  g_autofree char *spare = folder_spare ("/runs/tour");
  g_autofree char *wanted = g_strdup_printf ("/tour.%d.sqlite", (int)getpid ());

  g_assert_true (g_str_has_suffix (spare, wanted));
}

/* Only a folder that Satin made for sockets is removed with a run: the file that names it may come
 * from anybody. */
static void
only_own_sockets_are_removed (void)
{
  static const char *const names[] = { "satin-x", "other", "link", "satin-relative" };
  g_autofree char *folder = make_folder (), *before = g_get_current_dir ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *sockets = g_build_filename (folder, i == 2 ? "satin-link" : names[i], NULL);
      g_autofree char *path = g_build_filename (folder, "run", NULL);
      g_autofree char *real = g_build_filename (folder, "real", NULL);
      g_autofree char *file = g_build_filename (i == 2 ? real : sockets, "file", NULL);
      g_auto (FolderRun) run = a_full_run ();

      g_free (run.sockets);
      run.sockets = g_strdup (i == 3 ? names[i] : sockets);
      g_assert_cmpint (chdir (i == 3 ? folder : before), ==, 0);
      g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
      if (i == 2)
        g_assert_cmpint (g_mkdir (real, 0700) | symlink ("real", sockets), ==, 0);
      else
        g_assert_cmpint (g_mkdir (sockets, 0700), ==, 0);
      g_assert_true (g_file_set_contents (file, "x", 1, NULL));
      g_assert_true (folder_run_write (&run, path, NULL));
      g_assert_true (folder_remove (path, NULL));
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      g_assert_cmpint (g_file_test (file, G_FILE_TEST_EXISTS), ==, i > 0);
      g_unlink (file);
      g_unlink (sockets);
      g_rmdir (sockets);
      g_rmdir (real);
    }
  g_assert_cmpint (chdir (before), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* A program alone prints its answer itself. Other runs that succeeded have an answer in the
 * folder. */
static void
an_answer_may_be_missing (void)
{
  g_auto (FolderRun) run = a_full_run ();
  g_autofree char *folder = make_folder ();

  for (run.nodes = 0; run.nodes <= 1; run.nodes++)
    {
      g_assert_true (folder_run_write (&run, folder, NULL));
      g_assert_cmpint (folder_lacks_answer (folder, 0), ==, run.nodes > 0);
      g_assert_false (folder_lacks_answer (folder, 75));
    }
  g_assert_true (folder_claim (folder, FOLDER_FILE_ANSWER));
  g_assert_false (folder_lacks_answer (folder, 0));
  g_assert_true (folder_remove (folder, NULL));
}

static void
nodes_come_by_their_numbers (void)
{
  static const gint64 numbers[] = { 30, 4, 200, 1, 77, 2147483647, 9, 12 };
  g_autofree char *folder = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *file = folder_node_file (numbers[i], "x");
      g_assert_true (folder_claim (folder, file));
      g_assert_false (folder_claim (folder, file)); /* the first caller has it */
    }
  g_autoptr (GArray) pids = folder_pids (folder, "x");
  g_assert_cmpuint (pids->len, ==, G_N_ELEMENTS (numbers));
  for (guint i = 1; i < pids->len; i++)
    g_assert_cmpint (g_array_index (pids, gint64, i - 1), <, g_array_index (pids, gint64, i));
  g_assert_true (folder_remove (folder, NULL));
}

/* A node has few addresses; a file with more is not read to its end. */
static void
addresses_are_few (void)
{
  g_autofree char *folder = make_folder (), *file = folder_node_file (7, FOLDER_NODE_ADDRESS);
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autoptr (GString) text = g_string_new ("\n");

  for (guint i = 0; i < 20; i++)
    g_string_append_printf (text, "unix:/%u\n", i);
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  g_auto (GStrv) all = folder_addresses (folder, 7);
  g_assert_cmpuint (g_strv_length (all), ==, 15); /* of 16 lines */
  g_assert_cmpstr (all[0], ==, "unix:/0");
  g_assert_cmpstr (all[14], ==, "unix:/14");
  g_assert_null (folder_addresses (folder, 8));
  g_assert_true (folder_remove (folder, NULL));
}

/* (transfer full): the folder of a run with this name that has ended. */
static char *
ended_run (const char *name)
{
  g_auto (FolderRun) run = a_full_run ();

  g_free (run.name);
  run.name = g_strdup (name);
  char *path = folder_create (&run, NULL);
  g_assert_nonnull (path);
  g_assert_true (folder_end (path, 3, "why", NULL));
  return path;
}

/* Half a record is none. */
static void
records_are_whole (void)
{
  static const char *const files[]
      = { FOLDER_RUN_FILE, FOLDER_FILE_ERROR, FOLDER_FILE_END, "a file that is not kept" };
  g_autofree char *path = ended_run ("half");

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      unlinkable = files[i];
      folder_ended_record (path);
      g_autofree char *record = folder_ended_find ("half");
      g_assert_cmpint (record != NULL, ==, i == G_N_ELEMENTS (files) - 1);
    }
  unlinkable = NULL;
  folder_ended_forget ("half");
  g_assert_true (folder_remove (path, NULL));
}

static void
records_come_by_name (void)
{
  static const char *const names[] = { "tour", "atlas", "queens", "b2" };
  static const char *const sorted[] = { "atlas", "b2", "queens", "tour" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = ended_run (names[i]);
      folder_ended_record (path);
      g_assert_true (folder_remove (path, NULL));
    }
  g_autoptr (GPtrArray) found = folder_ended_list ();
  g_assert_cmpuint (found->len, ==, G_N_ELEMENTS (sorted));
  for (guint i = 0; i < found->len; i++)
    {
      g_assert_cmpstr (found->pdata[i], ==, sorted[i]);
      folder_ended_forget (sorted[i]);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *state = make_folder ();

  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/folder-run/fields", a_run_has_these_fields);
  g_test_add_func ("/folder-run/each-launch-is-another", each_launch_is_another);
  g_test_add_func ("/folder-run/a-spare-is-of-its-process", a_spare_is_of_its_process);
  g_test_add_func ("/folder-run/every-field-comes-back", every_field_comes_back);
  g_test_add_func ("/folder-run/workers-of-each-host", workers_of_each_host);
  g_test_add_func ("/folder-run/options-come-back", options_come_back);
  g_test_add_func ("/folder-run/intervals", intervals);
  g_test_add_func ("/folder-run/sockets-have-room", sockets_have_room);
  g_test_add_func ("/folder-run/only-own-sockets-are-removed", only_own_sockets_are_removed);
  g_test_add_func ("/folder-run/an-answer-may-be-missing", an_answer_may_be_missing);
  g_test_add_func ("/folder-run/addresses-are-few", addresses_are_few);
  g_test_add_func ("/folder-run/nodes-come-by-their-numbers", nodes_come_by_their_numbers);
  g_test_add_func ("/folder-run/records-are-whole", records_are_whole);
  g_test_add_func ("/folder-run/records-come-by-name", records_come_by_name);
  int code = g_test_run ();
  g_autofree char *above = g_build_filename (state, "satin", NULL), *runs = folder_root ();
  g_autofree char *ended = g_build_filename (above, "ended", NULL);
  g_rmdir (ended);
  g_rmdir (runs);
  g_rmdir (above);
  g_rmdir (state);
  return code;
}
