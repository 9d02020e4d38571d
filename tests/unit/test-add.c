/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin add`: how many nodes it starts, and with what; which of them it names; when it fails; and
 * which runs it refuses. The nodes are shell scripts, each of which does what a plan says. */
#include "captured.h"
#include "folder-put.h"

#include "command/command.h"

#include "folder/folder-run.h"

#include "host/process.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A node takes the next line of the plan, and writes down what it was started with. A node that has
 * joined stays until the test removes the file `stay`, or has been killed a minute ago. */
#define SCRIPT \
  "#!/bin/sh\n" \
  "here=${0%/*} n=1 file=$SATIN_RUN_FOLDER/node-$$\n" \
  "while ! mkdir \"$here/took-$n\" 2>/dev/null; do [ -e \"$here/plan\" ] || exit; n=$((n + 1)); " \
  "done\n" \
  "echo \"$*, workers $SATIN_WORKERS, site $SATIN_SITE, build $SATIN_BUILD$SATIN_FOUNDER\"" \
  " >>\"$here/started\"\n" \
  "join () { echo \"{\\\"id\\\":\\\"1.$n\\\"}\" >$file.stats; echo unix:/x >$file.address; }\n" \
  "stay () { i=0; while [ -e \"$here/stay\" ] && [ $i -lt 3000 ]; do sleep 0.02; i=$((i + 1)); " \
  "done; }\n" \
  "case $(sed -n ${n}p \"$here/plan\") in\n" \
  "  joins) join; stay ;;\n" \
  "  joins-and-dies) join; : >\"$here/died\"; exit 9 ;;\n" \
  "  joins-later) while [ ! -e \"$here/died\" ] && [ -e \"$here/stay\" ]; do sleep 0.02; done\n" \
  "    sleep 0.2; join; stay ;;\n" \
  "  waits) stay ;;\n" \
  "  is-refused) echo 'satin: no room'; exit 1 ;;\n" \
  "  ends-the-run) echo 3 >\"$SATIN_RUN_FOLDER/end\"; rm \"$SATIN_RUN_FOLDER\"/node-*.address\n" \
  "    echo 'satin: too late'; exit 1 ;;\n" \
  "esac\n"

typedef struct
{
  FolderRun run;
  char *path; /* of the run's folder */
} Fixture;

static char *here; /* the folder of this test */
static gboolean time_flies;

/* In place of GLib's. */
gint64
g_get_monotonic_time (void)
{
  static gint64 more_us;
  struct timespec now;

  (void)clock_gettime (CLOCK_MONOTONIC, &now);
  more_us += time_flies ? G_USEC_PER_SEC : 0;
  return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + more_us;
}

static char *
in_here (const char *name)
{
  return g_build_filename (here, name, NULL);
}

static void
write_here (const char *name, const char *text)
{
  g_autofree char *path = in_here (name);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

/* (transfer full): the lines in order. */
static char *
sorted (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  GString *line = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (*lines[i] != '\0')
      g_ptr_array_add (all, lines[i]);
  g_ptr_array_sort (all, compare_lines);
  for (guint i = 0; i < all->len; i++)
    g_string_append_printf (line, "%s\n", (const char *)all->pdata[i]);
  return g_string_free (line, FALSE);
}

static void
remove_here (const char *name)
{
  g_autofree char *path = in_here (name);

  (void)g_remove (path);
}

/* The run `tour` of one member: this process. */
static void
set_up (Fixture *f, gconstpointer unused)
{
  const char *argv[] = { "8", NULL };
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);

  (void)unused;
  f->run = (FolderRun){ .name = g_strdup ("tour"),
                        .program = in_here ("node"),
                        .argv = g_strdupv ((char **)argv),
                        .folder = g_strdup ("/"),
                        .nodes = 2 };
  f->path = folder_create (&f->run, NULL);
  g_assert_nonnull (f->path);
  put (f->path, file, "unix:/test");
  write_here ("stay", "");
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  g_autoptr (GArray) pids = folder_pids (f->path, FOLDER_NODE_ADDRESS);

  (void)unused;
  remove_here ("stay");
  for (guint i = 0; i < pids->len; i++)
    while (g_array_index (pids, gint64, i) != getpid ()
           && folder_pid_is_live (f->path, g_array_index (pids, gint64, i)))
      g_usleep (1000);
  (void)folder_remove (f->path, NULL);
  folder_run_clear (&f->run);
  g_free (f->path);
}

/* (transfer full): what the verb prints, in order. It runs in a process of its own, which ends when
 * the verb does. PID stands for a node's number. */
static char *
added (const char *words, const char *plan, int wanted)
{
  static const char *const left[] = { "started", "died", "took-1", "took-2", "took-3" };
  g_auto (GStrv) parts = g_strsplit (words, "HERE", -1);
  g_autofree char *line = g_strjoinv (here, parts);
  g_auto (GStrv) argv = g_strsplit (line, " ", -1);
  g_autoptr (GRegex) pid = g_regex_new ("node [0-9]+ ", 0, 0, NULL);
  int status;

  for (guint i = 0; i < G_N_ELEMENTS (left); i++)
    remove_here (left[i]);
  write_here ("plan", plan);
  Captured out = captured_begin (STDOUT_FILENO), err = captured_begin (STDERR_FILENO);
  pid_t child = fork ();
  if (child == 0)
    {
      (void)alarm (60); /* it may wait for ever */
      int code = command_add ((int)g_strv_length (argv), argv);
      fflush (NULL);
      _exit (code);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_autofree char *messages = captured_end (&err), *text = captured_end (&out);
  g_autofree char *all = g_strconcat (text, messages, NULL);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != wanted)
    g_error ("'%s' ends with %d and prints:\n%s", words, status, all);
  g_autofree char *named = g_regex_replace (pid, all, -1, 0, "node PID ", 0, NULL);
  return sorted (named);
}

typedef struct
{
  const char *words, *plan; /* what each node does */
  int code;
  const char *printed; /* (nullable) the lines, in any order */
  const char *started; /* (nullable) the same */
} Case;

static void
check (const Case *cases, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *printed = added (cases[i].words, cases[i].plan, cases[i].code);
      g_autofree char *file = in_here ("started"), *text = NULL;
      g_autofree char *wanted = sorted (cases[i].printed), *all = sorted (cases[i].started);

      (void)g_file_get_contents (file, &text, NULL, NULL);
      g_autofree char *started = sorted (text);
      if (cases[i].printed != NULL && strcmp (printed, wanted) != 0)
        g_error ("'%s' prints:\n%sinstead of:\n%s", cases[i].words, printed, wanted);
      if (strcmp (started, all) != 0)
        g_error ("'%s' starts:\n%sinstead of:\n%s", cases[i].words, started, all);
    }
}

#define JOINED(node) "node 1." node " has joined run 'tour'\n"
#define JOINED_AT(node, site) "node 1." node " has joined run 'tour' at site '" site "'\n"
#define STARTED(workers, site) "8, workers " workers ", site " site ", build \n"

/* One node by default, however many the run was started with. A site's own number of nodes and
 * workers counts unless the command line has others. */
static void
nodes_are_started_as_wished (Fixture *f, gconstpointer unused)
{
  static const Case cases[] = {
    { "add tour", "joins\n", 0, JOINED ("1"), STARTED ("", "") },
    { "add tour -n 2 -w 3", "joins\njoins\n", 0, JOINED ("1") JOINED ("2"),
      STARTED ("3", "") STARTED ("3", "") },
    { "add tour --sites HERE/sites", "joins\njoins\njoins\n", 0, NULL,
      STARTED ("6", "a") STARTED ("6", "a") STARTED ("", "b") },
    { "add tour --sites HERE/sites -w 4", "joins\njoins\njoins\n", 0, NULL,
      STARTED ("6", "a") STARTED ("6", "a") STARTED ("4", "b") },
    { "add tour --sites HERE/sites --site b", "joins\n", 0, JOINED_AT ("1", "b"),
      STARTED ("", "b") },
    { "add tour --sites HERE/sites --site a -n 3", "joins\njoins\njoins\n", 0,
      JOINED_AT ("1", "a") JOINED_AT ("2", "a") JOINED_AT ("3", "a"),
      STARTED ("6", "a") STARTED ("6", "a") STARTED ("6", "a") },
    { "add tour --sites HERE/sites --site a -n 1", "joins\n", 0, JOINED_AT ("1", "a"),
      STARTED ("6", "a") },
    { "add tour --mended", "joins\n", 0, JOINED ("1"), "8, workers , site , build built\n" },
  };

  (void)unused;
  put (f->path, FOLDER_BUILD, "built");
  check (cases, G_N_ELEMENTS (cases));
}

/* It is an error if a node has not joined, unless the run has ended. A node that has joined may
 * die. */
static void
all_nodes_must_join (Fixture *f, gconstpointer unused)
{
  static const Case cases[] = {
    { "add tour", "is-refused\n", 1, "satin: node PID is left out: no room\n", STARTED ("", "") },
    { "add tour -n 2", "is-refused\njoins\n", 1,
      "satin: node PID is left out: no room\n" JOINED ("2"), STARTED ("", "") STARTED ("", "") },
    { "add tour -n 2", "joins-and-dies\njoins-later\n", 0, JOINED ("1") JOINED ("2"),
      STARTED ("", "") STARTED ("", "") },
    { "add tour", "ends-the-run\n", 0, "", STARTED ("", "") },
  };

  (void)f, (void)unused;
  check (cases, G_N_ELEMENTS (cases));
}

/* What is refused starts nothing. */
static void
some_runs_take_no_nodes (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    const char *words, *message;
    int code;
  } words[] = {
    { "add tour -n 2 --sites HERE/sites",
      "-n conflicts with --sites: the file says how many nodes (see `satin add --help`)", 2 },
    { "add tour --site a", "run 'tour' was started without --sites: give --sites FILE too", 1 },
    { "add tour --sites HERE/sites --site c", "run 'tour' has no site 'c', only a, b", 1 },
    { "add tour --sites HERE/far",
      "run 'tour' does not listen to other hosts: start it with --listen or --sites", 1 },
    { "add tour --sites HERE/nothing", NULL, 2 },
    { "add tour --mended", NULL, 1 },
  };
  static const struct
  {
    gboolean closed, alone, elsewhere;
    const char *message;
  } runs[] = {
    { TRUE, FALSE, FALSE,
      "run 'tour' is closed: it was started with --closed, and takes no more nodes" },
    { FALSE, TRUE, FALSE,
      "'tour' is a program alone: start it with `satin run` to add nodes to it" },
    { FALSE, FALSE, TRUE, "run 'tour' was started on host 'other': add nodes there" },
  };
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_PROCESS);
  g_autofree char *mark = process_mark (getpid ());

  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_autofree char *text = added (words[i].words, "joins\n", words[i].code);
      g_autofree char *wanted = g_strdup_printf ("satin: %s\n", words[i].message);
      g_autofree char *started = in_here ("started");

      if (words[i].message != NULL)
        g_assert_cmpstr (text, ==, wanted);
      g_assert_false (g_file_test (started, G_FILE_TEST_EXISTS));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autofree char *wanted = g_strdup_printf ("satin: %s\n", runs[i].message);
      const Case refused = { "add tour", "joins\n", 1, wanted, NULL };
      g_autofree char *lines
          = runs[i].elsewhere ? g_strdup_printf ("00000000%s\nother\n", mark + PROCESS_HOST_LENGTH)
                              : g_strdup_printf ("%s\nhere\n", mark);

      f->run.launcher_pid = getpid ();
      f->run.closed = runs[i].closed;
      f->run.nodes = runs[i].alone ? 0 : 2;
      g_assert_true (folder_run_write (&f->run, f->path, NULL));
      put (f->path, file, lines);
      check (&refused, 1);
    }
}

/* The sites that the run was started with are in its folder. */
static void
a_site_of_the_run_is_known (Fixture *f, gconstpointer unused)
{
  static const Case known
      = { "add tour --site b", "joins\n", 0, JOINED_AT ("1", "b"), STARTED ("", "b") };

  (void)unused;
  put (f->path, FOLDER_SITES, "[site a]\n[site b]\n");
  check (&known, 1);
}

/* A node that neither joins nor ends is not waited for without end, and goes on. */
static void
a_node_has_its_time_to_join (Fixture *f, gconstpointer unused)
{
  g_autofree char *started = in_here ("started");

  (void)f, (void)unused;
  time_flies = TRUE;
  g_autofree char *printed = added ("add tour", "waits\n", 0);
  time_flies = FALSE;
  g_assert_cmpstr (printed, ==, "");
  while (!g_file_test (started, G_FILE_TEST_EXISTS))
    g_usleep (1000);
}

/* Each node has a number of its own, by which its site's command may choose a machine: also the
 * nodes beyond those that the file names. */
static void
each_node_has_a_number (Fixture *f, gconstpointer unused)
{
  static const Case more
      = { "add tour --sites HERE/numbers --site b -n 5", "", 1, NULL, "1\n2\n3\n4\n5\n" };

  (void)unused;
  f->run.tcp = TRUE;
  put (f->path, FOLDER_KEY_FILE, "key");
  g_assert_true (folder_run_write (&f->run, f->path, NULL));
  check (&more, 1);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = { { "/add/nodes-are-started-as-wished", nodes_are_started_as_wished },
                { "/add/all-nodes-must-join", all_nodes_must_join },
                { "/add/some-runs-take-no-nodes", some_runs_take_no_nodes },
                { "/add/a-site-of-the-run-is-known", a_site_of_the_run_is_known },
                { "/add/a-node-has-its-time-to-join", a_node_has_its_time_to_join },
                { "/add/each-node-has-a-number", each_node_has_a_number } };

  here = g_dir_make_tmp ("satin-add-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", here, TRUE);
  write_here ("node", SCRIPT);
  g_autofree char *node = in_here ("node");
  g_assert_cmpint (g_chmod (node, 0700), ==, 0);
  write_here ("sites", "[site a]\nnodes = 2\nworkers = 6\n[site b]\n");
  write_here ("far", "[site a]\nhosts = h\ncommand = sh -c\n");
  g_autofree char *numbers
      = g_strdup_printf ("[site b]\nnodes = 2\ncommand = sh -c 'echo {node} >>%s/started'\n", here);
  write_here ("numbers", numbers);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  int failed = g_test_run ();
  static const char *const files[]
      = { "plan",  "started", "died",    "took-1",     "took-2", "took-3", "node",
          "sites", "far",     "numbers", "satin/runs", "satin",  "" };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    remove_here (files[i]);
  g_free (here);
  return failed;
}
