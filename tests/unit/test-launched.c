/* SPDX-License-Identifier: BSD-3-Clause */
/* What `satin run` and `satin resume` ask of the launcher: an option changes what it names and
 * nothing else, and a resumed run begins as the checkpoint says; and which checkpoints are left
 * alone. This file has a launcher of its own, which starts nothing. */
#include "captured.h"
#include "checkpoint.h"

#include "command/command.h"

#include "coordinator/mark.h"

#include "folder/folder-run.h"
#include "folder/folder.h"

#include "launch/launch.h"
#include "launch/spread.h"

#include "link/wire-find.h"

#include <unistd.h>

#define OPTIONS \
  "[launch]\nnodes=3\nworkers=5\ninterval=7\nkeep=2\nheartbeat=1\nsilence=9\ntcp=true\nsteal=rs\n" \
  "stack=1048576\nshared-memory=4194304\n"
#define CODE 42

static char *here; /* the folder of this test */
/* Of the last call: the file `run`, and the wish as text; NULL: there was no call. */
static char *asked, *wished;

/* The launcher. */
int
launch_run (FolderRun *run, const LaunchWish *wish)
{
  g_autofree char *file = folder_run_data (run, NULL);

  g_free (asked);
  g_free (wished);
  asked = g_strdup_printf ("%ssign=%d\n", file, run->token != NULL && run->rows_token != NULL);
  wished = g_strdup_printf ("stats=%s live=%d any_name=%d sites=%u text=%s copy=%d send=%d",
                            wish->stats, wish->live, wish->any_name,
                            wish->sites != NULL ? wish->sites->len : 0, wish->sites_text,
                            wish->copy != NULL, wish->send_program);
  return CODE;
}

static const char *user; /* (nullable) the run that uses the checkpoints */

/* In place of the search at the addresses that a checkpoint names. */
gboolean
wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name, char **host)
{
  g_assert_cmpstr (addresses[0], ==, "unix:/a");
  g_assert_cmpstr (id, ==, "run-1");
  g_assert_cmpuint (limit_us, ==, WIRE_FIND_US);
  *name = g_strdup (user);
  *host = g_strdup (user != NULL ? "h" : NULL);
  return user != NULL;
}

/* The program's first argument in checkpoints to come; NULL: it has none. */
static const char *argument = "8";

/* A checkpoint that this user started. */
static void
write_checkpoint (Place *place, const char *options, const char *name, gboolean is_marked)
{
  Identity identity = identity_make ("run-1", "app", argument);
  char **texts[] = { &identity.program, &identity.folder, &identity.options, &identity.name };
  const char *values[] = { "/bin/true", here, options, name };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_free (*texts[i]);
      *texts[i] = g_strdup (values[i]);
    }
  g_autofree char *token = mark_token (identity.program, identity.folder, identity.argv);
  identity.mark = is_marked ? mark_make (token, &identity.identity) : NULL;
  Scribe *scribe = place_scribe (place, G_USEC_PER_SEC, &identity, NULL);
  g_assert_nonnull (scribe);
  scribe_joined (scribe, &(NodeId){ 1, 1, 1 }, "h", "", "unix:/a");
  save_one (scribe, row_make ("/0", 92, 1500000, 0.25));
  finish_all (place, scribe);
  identity_clear (&identity);
}

/* The lines of `text` that `other` has not, in order. (transfer full) */
static char *
lines_only_in (const char *text, const char *other)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1), others = g_strsplit (other, "\n", -1);
  GString *only = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *)others, lines[i]))
      g_string_append_printf (only, "%s\n", lines[i]);
  return g_string_free (only, FALSE);
}

/* The exit code of `verb`; its words have HERE for the test's folder. */
static int
code_of (const char *verb, const char *words, const char *behind)
{
  g_autofree char *line
      = g_strdup_printf ("%s%s%s%s", verb, *words != '\0' ? " " : "", words, behind);
  g_auto (GStrv) parts = g_strsplit (line, "HERE", -1);
  g_autofree char *whole = g_strjoinv (here, parts);
  g_auto (GStrv) argv = g_strsplit (whole, " ", -1);
  int argc = (int)g_strv_length (argv);

  return strcmp (verb, "run") == 0 ? command_run (argc, argv) : command_resume (argc, argv);
}

/* The same; the launcher is asked. */
static void
call (const char *verb, const char *words, const char *behind)
{
  int code = code_of (verb, words, behind);

  if (code != CODE)
    g_error ("'%s %s%s' returns %d", verb, words, behind, code);
}

typedef struct
{
  const char *words, *lines, *wish; /* wish (nullable): a part of it */
} Case;

/* Each case changes these lines of what is asked without options, and no other. */
static void
changes (const char *verb, const char *behind, const Case *cases, gsize n)
{
  call (verb, "", behind);
  g_autofree char *plain = g_strdup (asked), *plain_wish = g_strdup (wished);

  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *nodes = g_strdup_printf ("workers=%d\n", spread_workers (2));
      g_auto (GStrv) parts = g_strsplit (cases[i].lines, "HERE", -1);
      g_autofree char *placed = g_strjoinv (here, parts);
      g_auto (GStrv) more = g_strsplit (placed, "workers=SHARED\n", -1);
      g_autofree char *all = g_strjoinv (nodes, more);
      g_autofree char *wanted = lines_only_in (all, plain); /* some hosts have one core */

      call (verb, cases[i].words, behind);
      g_autofree char *changed = lines_only_in (asked, plain);
      if (strcmp (changed, wanted) != 0)
        g_error ("'%s' changes:\n%sinstead of\n%s", cases[i].words, changed, wanted);
      if (cases[i].wish != NULL)
        g_assert_nonnull (strstr (wished, cases[i].wish));
      else
        g_assert_cmpstr (wished, ==, plain_wish);
    }
}

static const Case both[] = {
  { "-n 2", "nodes=2\nworkers=SHARED\n", NULL },
  { "-w 4", "workers=4\n", NULL },
  { "-n 2 -w 4", "nodes=2\nworkers=4\n", NULL },
  { "-n 2 --verify 0.5", "verify=0.5\nnodes=2\nworkers=SHARED\n", NULL },
  { "--interval 3", "interval=3\n", NULL },
  { "--interval 3,1", "interval=3\nkeep=1\n", NULL },
  { "--heartbeat 2 --silence 30", "heartbeat=2\nsilence=30\n", NULL },
  { "--steal mw", "steal=mw\n", NULL },
  { "--closed", "closed=true\n", NULL },
  { "--mended", "mended=true\n", NULL },
  { "--trust", "trust=true\n", NULL },
  { "--trace HERE/trace", "trace=HERE/trace\n", NULL },
  { "--stack 2M", "stack=2097152\n", NULL },
  { "--shared-memory 8M", "shared-memory=8388608\n", NULL },
  { "--stats HERE/stats", "", "stats=/" },
  { "--live", "", " live=1 " },
};

/* The recorded options count as long as the command line has no others. */
static void
a_resume_goes_on_as_it_began (void)
{
  static const Case more[] = {
    { "--name other", "name=other\n", " any_name=0 " },
    { "--protect buddy -n 2", "protect=buddy\nnodes=2\nworkers=SHARED\n", NULL },
    { "--listen 127.0.0.1", "listen=127.0.0.1\n", NULL },
    { "--checkpoint HERE/moved", "checkpoint=HERE/moved\n", NULL },
    { "--sites HERE/sites", "listen=127.0.0.1\nnodes=2\nworkers=SHARED\n",
      " sites=1 text=[site a]\n" },
    { "--sites HERE/sites --copy", "listen=127.0.0.1\nnodes=2\nworkers=SHARED\n", " send=1" },
  };
  g_autoptr (Place) place = place_new ();
  g_autofree char *moved = g_build_filename (here, "moved", NULL);
  g_autofree char *before = g_get_current_dir ();

  write_checkpoint (place, OPTIONS, "recorded", TRUE);
  g_autoptr (GBytes) bytes = contents (place->target);
  g_autofree char *behind = g_strconcat (" ", place->target, NULL);
  g_autofree char *settings
      = g_strdup_printf ("name=recorded\nprogram=/bin/true\nargc=2\nargv0=8\nargv1=two words\n"
                         "folder=%s\ncheckpoint=%s\nresume=true\n" OPTIONS "sign=1\n",
                         here, place->target);
  g_assert_cmpint (chdir ("/"), ==, 0);
  call ("resume", "", behind);
  g_autofree char *lacks = lines_only_in (settings, asked);
  g_assert_cmpstr (lacks, ==, "");
  g_assert_cmpstr (wished, ==, "stats=(null) live=0 any_name=1 sites=0 text=(null) copy=0 send=0");
  changes ("resume", behind, both, G_N_ELEMENTS (both));
  changes ("resume", behind, more, G_N_ELEMENTS (more));
  g_autofree char *link = g_build_filename (here, "link", NULL);
  g_assert_cmpint (symlink (place->target, link), ==, 0);
  call ("resume", "--checkpoint HERE/link", behind); /* the same file: nothing is copied */
  g_assert_cmpint (g_unlink (link), ==, 0);
  call ("resume", "--interval 3", behind); /* the copies have the default again */
  g_assert_null (strstr (asked, "\nkeep="));
  g_assert_cmpint (chdir (before), ==, 0);
  g_autoptr (GBytes) after = contents (place->target), copy = contents (moved);
  g_assert_true (g_bytes_equal (bytes, after));
  g_assert_true (g_bytes_equal (bytes, copy));
  g_assert_cmpint (g_unlink (moved), ==, 0);
}

/* What the checkpoint has not recorded is as for a new run. Only a mark lets it name a program. */
static void
a_resume_needs_little (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *behind = g_strconcat (" ", place->target, " -- /bin/false 9", NULL);
  g_autofree char *workers = g_strdup_printf ("\nworkers=%d\n", spread_workers (1));
  g_autofree char *folder = g_get_current_dir ();
  g_autofree char *own = g_strdup_printf ("\nfolder=%s\n", folder);

  write_checkpoint (place, "", "no name", FALSE);
  call ("resume", "", behind);
  g_assert_nonnull (strstr (asked, "\nprogram=/bin/false\nargc=1\nargv0=9\n"));
  g_assert_nonnull (strstr (asked, own));
  g_assert_nonnull (strstr (asked, "\nnodes=1\n"));
  g_assert_nonnull (strstr (asked, workers));
  g_assert_nonnull (strstr (asked, "\ntcp=false\n"));
  g_assert_null (strstr (asked, "\ninterval="));
  g_assert_null (strstr (asked, "\nname="));
  call ("resume", "--tcp", behind);
  g_assert_nonnull (strstr (asked, "\ntcp=true\n"));
  g_clear_pointer (&asked, g_free);
  char *argv[] = { (char *)"resume", place->target, NULL };
  g_assert_cmpint (command_resume (2, argv), ==, COMMAND_UNUSABLE);
  g_assert_null (asked);
  g_autofree char *alone = g_strconcat (" ", place->target, " -- /bin/false", NULL);
  g_assert_cmpint (code_of ("resume", "", alone), ==, COMMAND_UNUSABLE); /* it has arguments */
  g_autoptr (Place) other = place_new ();
  argument = NULL;
  write_checkpoint (other, "", "no name", FALSE);
  argument = "8";
  g_autofree char *none = g_strconcat (" ", other->target, " -- /bin/false", NULL);
  call ("resume", "", none);
  g_assert_nonnull (strstr (asked, "\nprogram=/bin/false\nargc=0\n"));
}

/* The recorded words are the program's own. Those that look like options of Satin come behind a
 * `--` again, so that the program gets them. */
static void
the_program_gets_its_words_again (void)
{
  static const struct
  {
    const char *word, *wanted;
  } cases[] = {
    { "--mended", "\nargc=3\nargv0=--\nargv1=--mended\nargv2=two words\n" },
    { "--workers", "\nargc=3\nargv0=--\nargv1=--workers\nargv2=two words\n" },
    { "--", "\nargc=3\nargv0=--\nargv1=--\nargv2=two words\n" },
    { "--other", "\nargc=2\nargv0=--other\nargv1=two words\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autofree char *behind = g_strconcat (" ", place->target, NULL);

      argument = cases[i].word;
      write_checkpoint (place, OPTIONS, "recorded", TRUE);
      argument = "8";
      call ("resume", "", behind);
      if (strstr (asked, cases[i].wanted) == NULL)
        g_error ("'%s' becomes\n%s", cases[i].word, asked);
      g_assert_nonnull (strstr (asked, "\nmended=false\n"));
    }
}

/* A run that uses a checkpoint keeps it: no other one begins with a copy, or sets it aside. */
static void
a_checkpoint_in_use_is_left_alone (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *moved = g_build_filename (here, "moved", NULL);

  write_checkpoint (place, OPTIONS, "recorded", TRUE);
  g_autoptr (GBytes) before = contents (place->target);
  char *resumed[] = { (char *)"resume", place->target, (char *)"--checkpoint", moved, NULL };
  char *anew[] = { (char *)"run", (char *)"--new", (char *)"--checkpoint",
                   place->target, (char *)"--",    (char *)"/bin/true",
                   NULL };
  g_clear_pointer (&asked, g_free);
  user = "other";
  g_assert_cmpint (command_resume (4, resumed), ==, COMMAND_IN_USE);
  g_assert_cmpint (command_run (6, anew), ==, COMMAND_IN_USE);
  user = NULL;
  g_assert_null (asked);
  g_assert_false (g_file_test (moved, G_FILE_TEST_EXISTS));
  g_autoptr (GBytes) after = contents (place->target);
  g_assert_true (g_bytes_equal (before, after));
}

/* (transfer full): what `satin resume`, which starts nothing, prints: messages, then the answer. */
static char *
resumed (const char *option, const char *target, int wanted)
{
  char *argv[] = { (char *)"resume", (char *)target, (char *)option, NULL };
  Captured out = captured_begin (STDOUT_FILENO), err = captured_begin (STDERR_FILENO);
  int code = command_resume (option != NULL ? 3 : 2, argv);
  g_autofree char *messages = captured_end (&err), *text = captured_end (&out);

  g_assert_cmpint (code, ==, wanted);
  g_assert_null (asked);
  return g_strconcat (messages, text, NULL);
}

/* A finished run gives its answer again and starts nothing, unless a program is named: that may be
 * another one. The answer of a stranger is given to those who trust it, with a warning. */
static void
a_finished_run_gives_its_answer (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GBytes) answer = g_bytes_new_static ("42\n", 3);
  g_autofree char *key = g_build_filename (here, "satin", "key", NULL);
  g_autofree char *behind = g_strconcat (" ", place->target, " -- /bin/false 9", NULL);

  write_checkpoint (place, OPTIONS, "recorded", TRUE);
  Scribe *scribe = start (place, HOUR_US, "run-1");
  scribe_answer (scribe, answer, 9);
  finish_all (place, scribe);
  g_clear_pointer (&asked, g_free);
  g_autofree char *own = resumed (NULL, place->target, 9);
  g_assert_cmpstr (own, ==, "42\n");
  call ("resume", "", behind);
  g_assert_nonnull (strstr (asked, "\nprogram=/bin/false\n"));
  g_clear_pointer (&asked, g_free);
  g_assert_cmpint (g_unlink (key), ==, 0); /* now the checkpoint is of another user */
  g_autofree char *refused = resumed (NULL, place->target, COMMAND_UNUSABLE);
  g_assert_null (strstr (refused, "42\n"));
  g_autofree char *trusted = resumed ("--trust", place->target, 9);
  g_assert_true (g_str_has_prefix (trusted, "satin: "));
  g_assert_true (g_str_has_suffix (trusted, "\n42\n"));
}

/* `satin save --to` names a new file: a checkpoint that stands there is of another run. */
static void
a_run_takes_no_place_of_another (void)
{
  g_autoptr (Place) place = place_new ();
  const char *words[] = { NULL };
  g_auto (FolderRun) run = { .name = g_strdup ("tour"),
                             .program = g_strdup ("/bin/true"),
                             .argv = g_strdupv ((char **)words),
                             .folder = g_strdup ("/"),
                             .launcher_pid = getpid (),
                             .nodes = 1 };
  g_autofree char *path = folder_create (&run, NULL);

  write_checkpoint (place, OPTIONS, "recorded", TRUE);
  g_autoptr (GBytes) before = contents (place->target);
  char *argv[] = { (char *)"save", (char *)"tour", (char *)"--to", place->target, NULL };
  Captured err = captured_begin (STDERR_FILENO);
  int code = command_save (4, argv);
  g_autofree char *messages = captured_end (&err);
  g_assert_cmpint (code, ==, COMMAND_STORE);
  g_assert_true (g_str_has_prefix (messages, "satin: there is a checkpoint at '"));
  g_autoptr (GBytes) after = contents (place->target);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_true (folder_remove (path, NULL));
}

/* Some plans need two nodes. With --sites the file says how many there are. */
static void
sites_may_have_too_few_nodes (void)
{
  static const char *const words[]
      = { "--sites HERE/one --verify 0.5", "--sites HERE/one --protect mirror" };
  g_autoptr (Place) place = place_new ();
  g_autofree char *one = g_build_filename (here, "one", NULL);
  g_autofree char *behind = g_strconcat (" ", place->target, NULL);

  write_checkpoint (place, OPTIONS, "recorded", TRUE);
  g_assert_true (g_file_set_contents (one, "[site a]\nlauncher = local\n", -1, NULL));
  g_clear_pointer (&asked, g_free);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_assert_cmpint (code_of ("run", words[i], " -- /bin/true"), ==, COMMAND_USAGE);
      g_assert_cmpint (code_of ("resume", words[i], behind), ==, COMMAND_USAGE);
    }
  g_assert_null (asked);
  g_assert_cmpint (g_unlink (one), ==, 0);
}

/* The options may stand before the program or among its words. */
static void
a_run_is_what_its_options_say (void)
{
  static const Case more[] = {
    { "--name other", "name=other\n", NULL },
    { "--listen 127.0.0.1", "listen=127.0.0.1\ntcp=true\n", NULL },
    { "--tcp", "tcp=true\n", NULL },
    { "--checkpoint HERE/new", "checkpoint=HERE/new\n", NULL },
    { "--checkpoint HERE/new --protect checkpoint", "checkpoint=HERE/new\nprotect=checkpoint\n",
      NULL },
    { "--protect orphan", "protect=orphan\n", NULL },
    { "--sites HERE/sites", "listen=127.0.0.1\nnodes=2\nworkers=SHARED\ntcp=true\n",
      " sites=1 text=[site a]\n" },
  };
  static const Case lifted[] = {
    { "--checkpoint HERE/new", "argc=3\nargv1=--checkpoint\nargv2=HERE/new\ncheckpoint=HERE/new\n",
      NULL },
    { "--protect orphan", "argc=3\nargv1=--protect\nargv2=orphan\nprotect=orphan\n", NULL },
    { "--mended", "argc=2\nargv1=--mended\nmended=true\n", NULL },
    { "--trust", "argc=2\nargv1=--trust\ntrust=true\n", NULL },
    { "--trace HERE/trace", "argc=3\nargv1=--trace\nargv2=HERE/trace\ntrace=HERE/trace\n", NULL },
    { "--stats HERE/stats", "argc=3\nargv1=--stats\nargv2=HERE/stats\n", "stats=/" },
    { "--interval 3,1", "argc=3\nargv1=--interval\nargv2=3,1\ninterval=3\nkeep=1\n", NULL },
  };
  g_autofree char *folder = g_get_current_dir ();
  g_autofree char *settings = g_strdup_printf (
      "program=/bin/true\nargc=1\nargv0=a\nfolder=%s\nresume=false\nclosed=false\nmended=false\n"
      "trust=false\nprotect=auto\nnodes=1\nworkers=%d\nheartbeat=0\nsilence=0\ntcp=false\n"
      "steal=crs\nstack=0\nshared-memory=0\nsign=1\n",
      folder, spread_workers (1));

  call ("run", "", " -- /bin/true a");
  g_autofree char *lacks = lines_only_in (settings, asked);
  g_assert_cmpstr (lacks, ==, "");
  g_assert_null (strstr (asked, "\ninterval="));
  changes ("run", " -- /bin/true a", both, G_N_ELEMENTS (both));
  changes ("run", " -- /bin/true a", more, G_N_ELEMENTS (more));
  for (guint i = 0; i < G_N_ELEMENTS (lifted); i++)
    {
      const Case moved = { "", lifted[i].lines, lifted[i].wish };
      g_autofree char *behind = g_strconcat (" -- /bin/true a ", lifted[i].words, NULL);

      call ("run", "", " -- /bin/true a");
      g_autofree char *plain = g_strdup (asked);
      call ("run", "", behind);
      g_autofree char *changed = lines_only_in (asked, plain);
      g_auto (GStrv) parts = g_strsplit (moved.lines, "HERE", -1);
      g_autofree char *wanted = g_strjoinv (here, parts);
      g_assert_cmpstr (changed, ==, wanted);
      if (moved.wish != NULL)
        g_assert_nonnull (strstr (wished, moved.wish));
    }
  call ("run", "--interval 4 --protect naive", " -- /bin/true --interval 3 --protect orphan");
  g_assert_nonnull (strstr (asked, "\nprotect=naive\n"));
  g_assert_nonnull (strstr (asked, "\ninterval=4\n"));
  call ("run", "--checkpoint HERE/a --trace HERE/t --stats HERE/s",
        " -- /bin/true --checkpoint HERE/b --trace HERE/u --stats HERE/v");
  g_autofree char *first = g_strdup_printf ("\ncheckpoint=%s/a\ntrace=%s/t\n", here, here);
  g_assert_nonnull (strstr (asked, first));
  g_assert_true (g_str_has_prefix (wished, "stats=/"));
  g_assert_nonnull (strstr (wished, "/s live="));
}

int
main (int argc, char **argv)
{
  here = g_dir_make_tmp ("satin-launched-XXXXXX", NULL);
  g_autofree char *sites = g_build_filename (here, "sites", NULL);

  g_assert_true (g_file_set_contents (
      sites, "[site a]\nlauncher = local\nnodes = 2\nworkers = 6\nlisten = 127.0.0.1\n", -1, NULL));
  g_setenv ("XDG_STATE_HOME", here, TRUE);
  g_setenv ("XDG_CONFIG_HOME", here, TRUE);
  mark_prove_files (FALSE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launched/a-resume-goes-on-as-it-began", a_resume_goes_on_as_it_began);
  g_test_add_func ("/launched/a-resume-needs-little", a_resume_needs_little);
  g_test_add_func ("/launched/the-program-gets-its-words-again", the_program_gets_its_words_again);
  g_test_add_func ("/launched/a-checkpoint-in-use-is-left-alone",
                   a_checkpoint_in_use_is_left_alone);
  g_test_add_func ("/launched/a-finished-run-gives-its-answer", a_finished_run_gives_its_answer);
  g_test_add_func ("/launched/a-run-takes-no-place-of-another", a_run_takes_no_place_of_another);
  g_test_add_func ("/launched/sites-may-have-too-few-nodes", sites_may_have_too_few_nodes);
  g_test_add_func ("/launched/a-run-is-what-its-options-say", a_run_is_what_its_options_say);
  int failed = g_test_run ();
  static const char *const files[]
      = { "satin/key", "satin/runs", "satin", "sites", "stats", "trace", "new", "" };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (here, files[i], NULL);
      g_remove (path);
    }
  g_free (here);
  g_free (asked);
  g_free (wished);
  return failed;
}
