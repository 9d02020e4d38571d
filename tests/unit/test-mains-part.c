/* SPDX-License-Identifier: BSD-3-Clause */
/* What main gets for what it asks and says (node/satin-root.c, run-answer.c, run-words.c, run.c):
 * its roots, in this order, also when another node was master meanwhile; what it printed is the
 * run's answer. The test plays the driver. */
#include "called.h"
#include "captured.h"

#include "engine/registry.h"
#include "node/run-private.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

SATIN_JOB (square, int64_t, (int32_t, n))
{
  return (int64_t)n * n;
}

SATIN_JOB (cube, int64_t, (int32_t, n))
{
  return (int64_t)n * n * n;
}

SATIN_CONST (int32_t, base);

static const SatinJob *const jobs[] = { &square_job, &cube_job, NULL };
static const SatinApp app = { .layout = SATIN_LAYOUT_, .name = "powers", .jobs = jobs };

/* What the driver answers, one after the other: a result (R9: it is 9), that another node is master
 * (D), that this one is again (M), or that the run has ended (E75) or finished (F0). */
static const char *answers;
static const char *reason;    /* (nullable) */
static int stopping_with;     /* the run has ended with this code; -1: it goes on */
static SatinRun *asking;      /* the run of the test */
static GHashTable *constants; /* name -> text */
static gboolean is_unsound;

/* ---- the driver, played here ---- */

static DriverNews
answer (int *code)
{
  static const char letters[] = "MRDEF"; /* as DriverNews */
  const char *letter = strchr (letters, *answers);

  g_assert_true (letter != NULL && *letter != '\0');
  *code = (int)strtol (answers + 1, (char **)&answers, 10);
  answers += *answers == ' ';
  return (DriverNews)(letter - letters);
}

DriverNews
driver_root (Driver *driver, guint32 root, guint32 job, GBytes *args, GBytes **value, int *code)
{
  gint32 n;

  (void)driver;
  g_assert_cmpuint (g_bytes_get_size (args), ==, sizeof n);
  memcpy (&n, g_bytes_get_data (args, NULL), sizeof n);
  note ("root %u, %s (%d)%s", root, jobs[job]->name, (int)n,
        g_atomic_int_get (&asking->in_root) ? "" : ", unseen");
  g_assert_null (*value);
  DriverNews news = answer (code);
  gint64 result = *code;
  if (news == DRIVER_RESULT)
    *value = g_bytes_new (&result, result < 0 ? 3 : sizeof result);
  return news;
}

DriverNews
driver_wait_master (Driver *driver, int *code)
{
  (void)driver;
  note ("wait");
  return answer (code);
}

gboolean
driver_publish_again (Driver *driver, GHashTable *said)
{
  (void)driver;
  note ("publish %u again", g_hash_table_size (said));
  return TRUE;
}

DriverNews
driver_finish (Driver *driver, int main_code, GBytes *text, GBytes *said, gboolean keep, int *code)
{
  (void)driver;
  note ("finish %d '%.*s' '%.*s'%s", main_code, (int)g_bytes_get_size (text),
        (const char *)g_bytes_get_data (text, NULL),
        said != NULL ? (int)g_bytes_get_size (said) : 1,
        said != NULL ? (const char *)g_bytes_get_data (said, NULL) : "-", keep ? " keep" : "");
  return answer (code);
}

char *
driver_reason (Driver *driver)
{
  (void)driver;
  return g_strdup (reason);
}

void
driver_suspend (Driver *driver, guint64 within_us)
{
  (void)driver;
  note ("suspend within %u", (guint)within_us);
}

void
driver_end_if_deaf (Driver *driver)
{
  (void)driver;
}

gboolean
driver_is_stopping (Driver *driver, int *code)
{
  (void)driver;
  *code = stopping_with;
  return stopping_with >= 0;
}

GBytes *
driver_constant (Driver *driver, const char *name)
{
  const char *text = g_hash_table_lookup (constants, name);

  (void)driver;
  return text != NULL ? g_bytes_new (text, strlen (text)) : NULL;
}

void
driver_set_constant (Driver *driver, const char *name, GBytes *bytes, gboolean publish)
{
  (void)driver;
  g_assert_true (publish);
  note ("%s: %.*s", name, (int)g_bytes_get_size (bytes),
        (const char *)g_bytes_get_data (bytes, NULL));
}

gboolean
look_at_input (SatinRun *run, const char *path, GBytes *bytes, GError **error)
{
  (void)path, (void)bytes;
  g_assert_true (run == asking);
  return !is_unsound || run_error (error, 3, "unsound");
}

static SatinRun *
open_run (RunOwner owner, gboolean is_node)
{
  SatinRun *run = run_new (owner, SATIN_LAYOUT_, NULL);

  g_assert_nonnull (run);
  run->app = &app;
  run->jobs = g_memdup2 (jobs, sizeof jobs);
  run->node_process = is_node;
  run->folder = is_node ? g_dir_make_tmp ("satin-main-XXXXXX", NULL) : NULL;
  run_set_reason (NULL);
  reason = NULL;
  stopping_with = -1;
  return asking = run;
}

static void
close_run (SatinRun *run)
{
  if (run->folder != NULL)
    (void)folder_remove (run->folder, NULL);
  run_free (run);
}

/* Asks for a root; `wanted`: what that makes the driver do, and the result. */
static void
asks (SatinRun *run, const char *its, gboolean is_cube, int n, const char *wanted)
{
  int64_t result = -1;

  answers = its;
  if (is_cube ? satin_root (run, cube, &result, n) : satin_root (run, square, &result, n))
    note ("= %d", (int)result);
  else
    note ("stopped with %d", satin_stopped (run));
  g_assert_false (g_atomic_int_get (&run->in_root));
  noted (wanted);
}

static void
roots_are_asked_for_in_order (void)
{
  const RunOwner owners[] = { RUN_OF_APP, RUN_OF_NODE, RUN_EMBEDDED };

  for (guint i = 0; i < G_N_ELEMENTS (owners); i++)
    {
      SatinRun *run = open_run (owners[i], FALSE);
      g_assert_false (run->root_done);
      asks (run, "R9", FALSE, 3, "root 0, square (3)\n= 9\n");
      g_assert_true (run->root_done);
      asks (run, "R8", TRUE, 2, "root 1, cube (2)\n= 8\n");
      asks (run, "R1", FALSE, 1, "root 2, square (1)\n= 1\n");
      satin_suspend (run);
      noted ("suspend within 0\n");
      close_run (run);
    }
}

/* A run that has ended gives no more results, and says why. */
static void
a_run_that_has_ended_stays_so (void)
{
  const struct
  {
    int code;
    const char *reason, *wanted;
  } ends[] = { { 75, NULL, "the run was suspended" },
               { 7, NULL, "the run ended elsewhere" },
               { 6, "a job failed", "a job failed" } };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      SatinRun *run = open_run (RUN_EMBEDDED, FALSE);
      g_autofree char *stopped = g_strdup_printf ("stopped with %d\n", ends[i].code);
      g_autofree char *ended = g_strdup_printf ("E%d", ends[i].code);
      g_autofree char *first = g_strconcat ("root 0, square (3)\n", stopped, NULL);

      reason = ends[i].reason;
      asks (run, ended, FALSE, 3, first);
      g_assert_cmpstr (satin_reason (), ==, ends[i].wanted);
      asks (run, NULL, FALSE, 3, stopped);
      close_run (run);
    }
}

/* A main that may run again ends with the first root without a result. */
static void
a_deposed_main_gets_no_more_results (void)
{
  SatinRun *run = open_run (RUN_OF_APP, FALSE);
  int code;

  run_answer_begin (run);
  asks (run, "D", FALSE, 3, "root 0, square (3)\nstopped with 0\n");
  asks (run, NULL, TRUE, 3, "stopped with 0\n");
  g_assert_false (run_answer_end (run, 0, &code));
  noted ("");
  run_answer_begin (run); /* this node is master again */
  asks (run, "R9", FALSE, 3, "root 0, square (3)\n= 9\n");
  answers = "F0";
  g_assert_true (run_answer_end (run, 0, &code));
  noted ("finish 0 '' '-' keep\n");
  run_answer_begin (run); /* and once more; now main asks for nothing */
  answers = "F0";
  g_assert_true (run_answer_end (run, 0, &code));
  noted ("finish 0 '' '-'\n");
  close_run (run);
}

/* A main that cannot run again asks for all its roots again. */
static void
a_main_of_its_own_waits_until_it_is_master (void)
{
  SatinRun *run = open_run (RUN_OF_NODE, FALSE);
  const char *again = "wait\npublish 0 again\nroot 0, square (3)\nroot 1, cube (2)\n";

  asks (run, "R9", FALSE, 3, "root 0, square (3)\n= 9\n");
  g_autofree char *once = g_strconcat ("root 1, cube (2)\n", again, "= 8\n", NULL);
  asks (run, "D M R9 R8", TRUE, 2, once);
  g_assert_false (run->deposed);
  asks (run, "D M R9 D M R9 R8 R27", TRUE, 3,
        "root 2, cube (3)\n"
        "wait\npublish 0 again\nroot 0, square (3)\nroot 1, cube (2)\n"
        "wait\npublish 0 again\nroot 0, square (3)\nroot 1, cube (2)\nroot 2, cube (3)\n= 27\n");
  asks (run, "D E7", TRUE, 4, "root 3, cube (4)\nwait\nstopped with 7\n");
  asks (run, NULL, TRUE, 4, "stopped with 7\n");
  close_run (run);
}

static void
what_no_main_may_do_ends_an_embedded_run (void)
{
  SatinRun *run = open_run (RUN_EMBEDDED, FALSE);

  asks (run, "R-1", FALSE, 3, "root 0, square (3)\nstopped with 1\n");
  asks (run, NULL, FALSE, 3, "stopped with 1\n");
  close_run (run);
  run = open_run (RUN_EMBEDDED, FALSE);
  run->pid++; /* it was forked */
  asks (run, NULL, FALSE, 3, "stopped with 1\n");
  g_assert_nonnull (strstr (satin_reason (), "forked"));
  close_run (run);
}

typedef struct
{
  const char
      *how; /* alone, saved (with a checkpoint), rootless, node, or own (a main of its own) */
  int main_code;
  const char *answers;
  int code;           /* of the run; -1: another node is master */
  const char *out;    /* what is printed before the end and | then */
  const char *wanted; /* of the driver */
} Ending;

/* main prints "answer" and, to standard error, "said". */
static void
ends_so (const Ending *ending)
{
  gboolean is_own = strcmp (ending->how, "own") == 0;
  gboolean is_node = is_own || strcmp (ending->how, "node") == 0;
  Captured out = captured_begin (STDOUT_FILENO), err = captured_begin (STDERR_FILENO);
  SatinRun *run = open_run (is_own ? RUN_OF_NODE : RUN_OF_APP, is_node);
  struct stat before;
  int code;

  run->config.checkpoint = is_node || strcmp (ending->how, "alone") == 0 ? NULL : "c.db";
  run_answer_begin (run);
  run->root_done = strcmp (ending->how, "rootless") != 0;
  g_assert_cmpint (write (STDOUT_FILENO, "ans", 3), ==, 3);
  fputs ("wer", stdout);
  fputs ("said", stderr);
  fflush (stdout);
  g_assert_cmpint (fstat (out.file, &before), ==, 0);
  answers = ending->answers;
  if (!run_answer_end (run, ending->main_code, &code))
    code = -1;
  g_assert_false (run->in_main);
  close_run (run);
  g_autofree char *said = captured_end (&err), *text = captured_end (&out);
  g_autofree char *printed
      = g_strdup_printf ("%.*s|%s", (int)before.st_size, text, text + before.st_size);
  if (code != ending->code || strcmp (printed, ending->out) != 0)
    g_error ("%s %d, %s: code %d, printed '%s'", ending->how, ending->main_code, ending->answers,
             code, printed);
  g_assert_cmpstr (said, ==, is_node ? "" : "said");
  noted (ending->wanted);
}

#define AGAIN "wait\npublish 0 again\n"
#define NODES "finish 0 'answer' 'said' keep\n"

/* The checkpoint keeps the answer of a main that has done its work. It is shown when it is kept.
 * That of a node is shown by the launcher. */
static void
what_main_prints_is_the_answer (void)
{
  const Ending endings[] = {
    { "alone", 0, "F0", 0, "answer|", "finish 0 '' '-' keep\n" },
    { "saved", 0, "F0", 0, "|answer", "finish 0 'answer' '-' keep\n" },
    { "rootless", 0, "F0", 0, "|answer", "finish 0 'answer' '-'\n" },
    { "saved", 3, "F3", 3, "|answer", "finish 3 'answer' '-'\n" },
    { "saved", 256, "F0", 0, "|answer", "finish 0 'answer' '-' keep\n" },
    { "saved", -1, "F255", 255, "|answer", "finish 255 'answer' '-'\n" },
    { "saved", 0, "E75", 75, "|", "finish 0 'answer' '-' keep\n" },
    { "saved", 0, "D", -1, "|", "finish 0 'answer' '-' keep\n" },
    { "node", 0, "F0", 0, "|", NODES },
    { "node", 4, "F4", 4, "|", "finish 4 'answer' 'said'\n" },
    { "node", 0, "D", -1, "|", NODES },
    { "own", 0, "D M D M F0", 0, "|", NODES AGAIN NODES AGAIN NODES },
    { "own", 0, "D E7", 7, "|", NODES "wait\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    ends_so (&endings[i]);
}

/* The launcher of a run that was stopped shows what main says of how far it came. */
static void
a_stopped_main_has_its_say (void)
{
  for (int again = 0; again < 2; again++)
    {
      SatinRun *run = open_run (RUN_OF_APP, TRUE);
      g_autoptr (GBytes) earlier = g_bytes_new ("earlier", 7);
      Captured err = captured_begin (STDERR_FILENO);
      int code;

      run_answer_begin (run);
      fputs ("so far", stderr);
      stopping_with = 75;
      if (again)
        g_assert_true (g_rmdir (run->folder) != 0 && folder_remove (run->folder, NULL));
      g_assert_true (run_answer_end (run, 0, &code));
      g_assert_cmpint (code, ==, 75);
      noted ("");
      g_autofree char *printed = captured_end (&err);
      g_autoptr (GBytes) said = folder_bytes (run->folder, FOLDER_FILE_ANSWER_ERR, NULL);
      g_assert_cmpstr (printed, ==, again ? "so far" : "");
      g_assert_true (again ? said == NULL : g_bytes_get_size (said) == 6);
      close_run (run);
    }
}

/* An answer that is lost is none: the code says so. */
static void
a_lost_answer_is_no_answer (void)
{
  for (int how = 0; how < 2; how++)
    for (int main_code = 0; main_code <= 3; main_code += 3)
      {
        SatinRun *run = open_run (RUN_OF_APP, FALSE);
        g_autofree char *wanted = g_strdup_printf ("finish %d '' '-'\n", MAX (main_code, 1));
        g_autofree char *finished = g_strdup_printf ("F%d", MAX (main_code, 1));
        Captured err = captured_begin (STDERR_FILENO), out = captured_begin (STDOUT_FILENO);
        struct rlimit before, none;
        int code;

        g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
        none = (struct rlimit){ 3, before.rlim_max };
        run->config.checkpoint = "c.db";
        if (how == 0)
          setrlimit (RLIMIT_NOFILE, &none);
        run_answer_begin (run);
        setrlimit (RLIMIT_NOFILE, &before);
        run->root_done = TRUE;
        if (how == 1)
          close (run->out.file.fd);
        answers = finished;
        g_assert_true (run_answer_end (run, main_code, &code));
        noted (wanted);
        close_run (run);
        g_autofree char *printed = captured_end (&out), *said = captured_end (&err);
        g_assert_nonnull (strstr (said, "the answer is lost"));
        g_assert_cmpint (code, ==, MAX (main_code, 1));
      }
}

/* exit (0) while a thread waits for the answer would tell that there is one. */
static void
an_exit_in_vain_is_seen (void)
{
  SatinRun *run = open_run (RUN_OF_APP, FALSE);
  Captured err = captured_begin (STDERR_FILENO);

  g_assert_false (run_answer_is_in_vain (run, 0));
  run->in_root = TRUE;
  g_assert_true (run_answer_is_in_vain (run, 0));
  g_assert_true (run_answer_is_in_vain (run, 256));
  g_assert_false (run_answer_is_in_vain (run, 1));
  g_free (captured_end (&err));
  close_run (run);
}

static void
reads (SatinRun *run, const char *path, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = satin_input (run, path, &error);

  if (bytes != NULL)
    note ("= %.*s", (int)g_bytes_get_size (bytes), (const char *)g_bytes_get_data (bytes, NULL));
  else
    note ("error");
  g_assert_true ((bytes == NULL) == (error != NULL));
  noted (wanted);
}

/* All nodes get the same bytes, which are read once, before the first root. */
static void
inputs_are_read_once (void)
{
  for (int is_node = 0; is_node < 2; is_node++)
    {
      SatinRun *run = open_run (is_node ? RUN_OF_NODE : RUN_EMBEDDED, is_node);
      g_autofree char *folder = g_dir_make_tmp ("satin-main-XXXXXX", NULL);
      g_autofree char *file = g_build_filename (folder, "in", NULL);
      g_autofree char *pipe = g_build_filename (folder, "pipe", NULL);
      g_autofree char *name = g_strconcat ("input/", file, NULL);
      g_autofree char *read = g_strdup_printf ("%s: text\n= text\n", name);
      static const char *const streams[] = { "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0" };

      g_assert_true (g_file_set_contents (file, "text", -1, NULL));
      g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
      reads (run, file, read);
      g_assert_cmpint (g_hash_table_contains (run->said, name), ==, is_node);
      reads (run, folder, "error\n");
      int input = open (file, O_RDWR), before = dup (STDIN_FILENO); /* a stream from a file */
      g_assert_cmpint (dup2 (input, STDIN_FILENO), ==, STDIN_FILENO);
      for (guint i = 0; is_node && i < G_N_ELEMENTS (streams); i++)
        reads (run, streams[i], "error\n");
      g_assert_cmpint (dup2 (before, STDIN_FILENO), ==, STDIN_FILENO);
      close (before);
      close (input);
      if (is_node)
        reads (run, pipe, "error\n");
      reads (run, "/dev/null", "input//dev/null: \n= \n");
      g_hash_table_insert (constants, (char *)"input/known", (char *)"old");
      asks (run, "R9", FALSE, 3, "root 0, square (3)\n= 9\n");
      reads (run, "known", "input/known: old\n= old\n");
      reads (run, file, "error\n");
      g_hash_table_remove_all (constants);
      close_run (run);
      g_unlink (pipe);
      g_unlink (file);
      g_rmdir (folder);
    }
  SatinRun *run = open_run (RUN_EMBEDDED, FALSE);
  is_unsound = TRUE;
  reads (run, "/dev/null", "error\n");
  is_unsound = FALSE;
  asks (run, NULL, FALSE, 3, "stopped with 3\n");
  close_run (run);
}

static const int32_t usual = 0x41424344, other = 0x41424345;

static void
constants_are_published_before_the_first_root (void)
{
  SatinRun *run = open_run (RUN_EMBEDDED, FALSE);

  satin_publish (run, base, &usual);
  noted ("const/base: DCBA\n");
  g_assert_cmpint (g_hash_table_size (run->said), ==, 0);
  asks (run, "R9", FALSE, 3, "root 0, square (3)\n= 9\n");
  g_hash_table_insert (constants, (char *)"const/base", (char *)"DCBA");
  satin_publish (run, base, &usual); /* it is the same */
  noted ("const/base: DCBA\n");
  satin_publish (run, base, &other);
  asks (run, NULL, FALSE, 3, "stopped with 1\n");
  close_run (run);
  run = open_run (RUN_EMBEDDED, FALSE);
  run->roots = 1;
  g_hash_table_remove_all (constants);
  satin_publish (run, base, &usual); /* nobody has it yet */
  asks (run, NULL, FALSE, 3, "stopped with 1\n");
  close_run (run);
  g_hash_table_insert (constants, (char *)"const/base", (char *)"DCBA");

  run = open_run (RUN_EMBEDDED, FALSE);
  run->config.checkpoint = "c.db";
  run->restore.constants = g_ptr_array_new ();
  satin_publish (run, base, &usual);
  noted ("const/base: DCBA\n");
  satin_publish (run, base, &other); /* the checkpoint has another one */
  asks (run, NULL, FALSE, 3, "stopped with 3\n");
  close_run (run);

  run = open_run (RUN_OF_NODE, TRUE);
  satin_publish (run, base, &usual);
  noted ("const/base: DCBA\n");
  g_assert_true (g_hash_table_contains (run->said, "const/base"));
  asks (run, "D M R9", FALSE, 3,
        "root 0, square (3)\nwait\npublish 1 again\nroot 0, square (3)\n= 9\n");
  close_run (run);
  g_hash_table_remove_all (constants);
}

static void
a_process_has_one_run_at_a_time (void)
{
  SatinRun *run = open_run (RUN_EMBEDDED, FALSE);
  g_autoptr (GError) error = NULL;

  g_assert_true (run_take_place (NULL));
  g_assert_false (run_take_place (&error));
  g_assert_nonnull (strstr (error->message, "is open"));
  satin_publish (run, base, &usual);
  run_give_place (NULL);
  g_assert_true (run_take_place (NULL));
  satin_publish (run, base, &other); /* the next run has constants of its own */
  noted ("const/base: DCBA\nconst/base: ECBA\n");
  run_give_place (run);
  g_assert_true (run_take_place (NULL));
  run->in_use = TRUE;
  run_give_place (run);
  g_clear_error (&error);
  g_assert_false (run_take_place (&error));
  g_assert_nonnull (strstr (error->message, "new process"));
  run->in_use = FALSE;
  close_run (run);
}

int
main (int argc, char **argv)
{
  g_autofree char *late = NULL;

  g_test_init (&argc, &argv, NULL);
  called = g_string_new (NULL);
  constants = g_hash_table_new (g_str_hash, g_str_equal);
  g_free ((gpointer)registry_close (jobs, &late));
  g_test_add_func ("/mains-part/roots", roots_are_asked_for_in_order);
  g_test_add_func ("/mains-part/ended", a_run_that_has_ended_stays_so);
  g_test_add_func ("/mains-part/deposed", a_deposed_main_gets_no_more_results);
  g_test_add_func ("/mains-part/master-again", a_main_of_its_own_waits_until_it_is_master);
  g_test_add_func ("/mains-part/embedded", what_no_main_may_do_ends_an_embedded_run);
  g_test_add_func ("/mains-part/answer", what_main_prints_is_the_answer);
  g_test_add_func ("/mains-part/stopped", a_stopped_main_has_its_say);
  g_test_add_func ("/mains-part/lost", a_lost_answer_is_no_answer);
  g_test_add_func ("/mains-part/in-vain", an_exit_in_vain_is_seen);
  g_test_add_func ("/mains-part/inputs", inputs_are_read_once);
  g_test_add_func ("/mains-part/constants", constants_are_published_before_the_first_root);
  g_test_add_func ("/mains-part/place", a_process_has_one_run_at_a_time);
  return g_test_run ();
}
