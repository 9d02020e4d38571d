/* SPDX-License-Identifier: BSD-3-Clause */
/* What main's thread asks of the driver (node/driver-main.c): its roots and its end count only
 * while it is master, without a break since main began. A thread of the test is the driving thread;
 * it plays the Node, the engine and the folder. */
#include "node/driver-private.h"

#include "engine/best.h"

#include "folder/folder.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static Driver driver;
static GString *called; /* under the driver's mutex */
static GThread *thread;
static gboolean is_over;            /* the thread is to end */
static void (*on_event) (Driver *); /* what happens when the Node hears an event; under the mutex */
static const char *unwritten;       /* (nullable) the file that cannot be written */
static gboolean is_better;

static void G_GNUC_PRINTF (1, 2) note (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_mutex_lock (&driver.mutex);
  g_string_append_vprintf (called, format, list);
  g_string_append_c (called, '\n');
  g_mutex_unlock (&driver.mutex);
  va_end (list);
}

/* ---- the driver and its parts ---- */

void
driver_post (Driver *its, GSourceFunc function, gpointer data)
{
  g_main_context_invoke_full (its->context, G_PRIORITY_DEFAULT, function, data, NULL);
}

void
driver_step (Driver *its, const NodeEvent *event)
{
  const char *bytes = event->bytes != NULL ? g_bytes_get_data (event->bytes, NULL) : "-";

  switch (event->kind)
    {
    case NODE_EVENT_CONSTANT:
      note ("constant %s %s", event->text != NULL ? event->text : "all", bytes);
      break;
    case NODE_EVENT_ROOT:
      note ("root %s, job %u, digest %u", event->job->path, event->job->job,
            event->job->digest.bytes[0]);
      break;
    case NODE_EVENT_FINISH:
      note ("finish %u %s", (guint)event->number, bytes);
      break;
    case NODE_EVENT_IMPROVED:
      note ("improved %u %s", (guint)event->number, bytes);
      break;
    case NODE_EVENT_SUSPEND:
      note ("suspend %u", (guint)event->number);
      break;
    case NODE_EVENT_LEAVE:
      note ("leave");
      break;
    default:
      note ("another event");
    }
  g_mutex_lock (&its->mutex);
  if (on_event != NULL && event->kind != NODE_EVENT_CONSTANT)
    on_event (its);
  g_cond_broadcast (&its->cond);
  g_mutex_unlock (&its->mutex);
}

void
driver_say (Driver *unused G_GNUC_UNUSED, const char *format G_GNUC_UNUSED, ...)
{
  note ("say");
}

Digest
engine_digest (Engine *engine G_GNUC_UNUSED, guint32 job, GBytes *args G_GNUC_UNUSED)
{
  return (Digest){ { (guint8)(40 + job) } };
}

gboolean
engine_improve (Engine *engine G_GNUC_UNUSED, guint best G_GNUC_UNUSED, GBytes *value G_GNUC_UNUSED)
{
  return is_better;
}

guint
best_count (void)
{
  return 2;
}

SatinBest_ *
best_get (guint i)
{
  static SatinBest_ bests[] = { { .name = "width" }, { .name = "length" } };

  return &bests[i];
}

gboolean
folder_write_first (const char *path, const char *file, GBytes *bytes, GError **error)
{
  gsize size;
  const char *text = g_bytes_get_data (bytes, &size);

  if (g_strcmp0 (file, unwritten) == 0)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "the disk is full");
      return FALSE;
    }
  note ("%s/%s: %.*s", path, file,
        (int)strcspn (text, "\n") < (int)size ? (int)strcspn (text, "\n") : (int)size, text);
  return TRUE;
}

GQuark
folder_error_quark (void)
{
  return g_quark_from_static_string ("folder");
}

void
keeper_constant (Driver *unused G_GNUC_UNUSED, const char *name, GBytes *bytes)
{
  note ("keep %s %s", name, (const char *)g_bytes_get_data (bytes, NULL));
}

void
keeper_close (Driver *unused G_GNUC_UNUSED)
{
  note ("close the scribe");
}

void
report_stats (Driver *unused G_GNUC_UNUSED, gboolean last)
{
  note ("figures%s", last ? ", the last" : "");
}

void
report_timeline (Driver *unused G_GNUC_UNUSED, gboolean last G_GNUC_UNUSED)
{
}

gboolean
driver_serves_final_result (Driver *its)
{
  return its->terms-- > 1; /* so often */
}

void
mesh_close (Driver *unused G_GNUC_UNUSED)
{
  note ("close the links");
}

void
drive_quit (Drive *unused G_GNUC_UNUSED)
{
  note ("quit");
  is_over = TRUE;
}

void
run_replay_watch_signals (RunReplay *replay G_GNUC_UNUSED, GMainContext *context G_GNUC_UNUSED)
{
}

/* ---- tests ---- */

static gpointer
drive (gpointer data)
{
  while (!is_over)
    g_main_context_iteration (driver.context, TRUE);
  return data;
}

static void
set_up (void)
{
  called = g_string_new (NULL);
  driver = (Driver){ .context = g_main_context_new (),
                     .config = { .folder = "/run" },
                     .part = PART_MEMBER,
                     .constants = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify)g_bytes_unref),
                     .master = TRUE,
                     .masterships = 3,
                     .terms = 1 };
  g_mutex_init (&driver.mutex);
  g_cond_init (&driver.cond);
  is_over = FALSE;
  is_better = TRUE;
  on_event = NULL;
  unwritten = NULL;
  driver.thread = thread = g_thread_new ("driver", drive, NULL);
}

static void
tear_down (void)
{
  driver_stop (&driver);
  g_hash_table_unref (driver.constants);
  g_clear_pointer (&driver.result, g_bytes_unref);
  g_free (driver.unkept);
  g_main_context_unref (driver.context);
  g_mutex_clear (&driver.mutex);
  g_cond_clear (&driver.cond);
  g_string_free (called, TRUE);
}

static gboolean
on_turn (gpointer data)
{
  g_mutex_lock (&driver.mutex);
  *(gboolean *)data = TRUE;
  g_cond_broadcast (&driver.cond);
  g_mutex_unlock (&driver.mutex);
  return G_SOURCE_REMOVE;
}

/* Waits until all that was posted is done, and compares what was called since. */
static void
noted (const char *wanted)
{
  gboolean is_done = FALSE;

  driver_post (&driver, on_turn, &is_done);
  g_mutex_lock (&driver.mutex);
  while (!is_done)
    g_cond_wait (&driver.cond, &driver.mutex);
  g_assert_cmpstr (called->str, ==, wanted);
  g_string_truncate (called, 0);
  g_mutex_unlock (&driver.mutex);
}

static void
gives_result (Driver *its)
{
  its->result = g_bytes_new ("81", 3);
}

static void
deposes (Driver *its)
{
  its->master = FALSE;
}

/* Another node was master meanwhile. */
static void
gives_result_of_another_time (Driver *its)
{
  its->masterships++;
  its->result = g_bytes_new ("82", 3);
}

static void
stops (Driver *its)
{
  its->part = PART_STOPPED;
  its->end_code = 7;
}

static void
finishes (Driver *its)
{
  its->part = PART_FINISHED;
  its->end_code = 4;
}

static void
main_begins (void)
{
  int code = -1;

  g_assert_cmpint (driver_wait_master (&driver, &code), ==, DRIVER_MASTER);
}

static DriverNews
ask (guint32 root, void (*then) (Driver *), GBytes **value, int *code)
{
  g_autoptr (GBytes) args = g_bytes_new ("9", 2);

  on_event = then;
  return driver_root (&driver, root, 5, args, value, code);
}

/* All constants are known before the first root. */
static void
a_root_has_a_result (void)
{
  g_autoptr (GBytes) first = NULL, second = NULL;
  int code = -1;

  main_begins ();
  g_assert_cmpint (ask (0, gives_result, &first, &code), ==, DRIVER_RESULT);
  g_assert_cmpstr (g_bytes_get_data (first, NULL), ==, "81");
  g_assert_false (driver.in_root);
  noted ("constant all -\nroot , job 5, digest 45\n");
  g_assert_cmpint (ask (1, gives_result, &second, &code), ==, DRIVER_RESULT);
  noted ("root 1:, job 5, digest 45\n");
}

static void
a_deposed_main_gets_nothing (void)
{
  GBytes *value = NULL;
  int code = -1;

  main_begins ();
  g_assert_cmpint (ask (1, deposes, &value, &code), ==, DRIVER_DEPOSED);
  g_assert_false (driver.in_root);
  noted ("root 1:, job 5, digest 45\n");
  g_assert_cmpint (ask (1, gives_result, &value, &code), ==, DRIVER_DEPOSED);
  noted ("");
  driver.master = TRUE;
  main_begins ();
  g_assert_cmpint (ask (1, gives_result_of_another_time, &value, &code), ==, DRIVER_DEPOSED);
  noted ("root 1:, job 5, digest 45\n");
  main_begins ();
  g_assert_cmpint (ask (1, stops, &value, &code), ==, DRIVER_ENDED);
  g_assert_cmpint (code, ==, 7);
  g_assert_true (driver.in_root); /* satin_root tells main to return */
  g_assert_null (value);
  g_assert_cmpint (driver_wait_master (&driver, &code), ==, DRIVER_ENDED);
  g_assert_true (driver_is_stopping (&driver, &code));
  noted ("root 1:, job 5, digest 45\n");
}

static DriverNews
finish (gboolean keep, gboolean says, void (*then) (Driver *), int *code)
{
  g_autoptr (GBytes) answer = g_bytes_new ("42", 3), said = g_bytes_new ("well", 5);

  on_event = then;
  return driver_finish (&driver, 9, answer, says ? said : NULL, keep, code);
}

/* The code is in the folder before the answer: a reader of the answer knows it. */
static void
an_answer_is_written_first (void)
{
  int code = -1;

  main_begins ();
  g_assert_cmpint (finish (TRUE, TRUE, finishes, &code), ==, DRIVER_FINISHED);
  g_assert_cmpint (code, ==, 4);
  noted ("/run/answer.code: 9\n/run/answer: 42\n/run/answer.err: well\nfinish 9 42\n");
  driver.part = PART_MEMBER;
  g_assert_cmpint (finish (FALSE, FALSE, stops, &code), ==, DRIVER_ENDED);
  noted ("/run/answer.code: 9\n/run/answer: 42\nfinish 9 -\n");
  driver.part = PART_MEMBER;
  unwritten = "answer";
  g_assert_cmpint (finish (TRUE, TRUE, finishes, &code), ==, DRIVER_FINISHED);
  g_assert_cmpstr (driver.unkept, ==, "the answer is lost: the disk is full");
  noted ("/run/answer.code: 9\nsay\nfinish 9 42\n");
  driver.part = PART_MEMBER;
  driver.config.solo = TRUE;
  g_assert_cmpint (finish (TRUE, FALSE, finishes, &code), ==, DRIVER_FINISHED);
  noted ("finish 9 42\n");
  driver.part = PART_MEMBER;
  g_assert_cmpint (finish (TRUE, FALSE, deposes, &code), ==, DRIVER_DEPOSED);
  noted ("finish 9 42\n");
  g_assert_cmpint (finish (TRUE, FALSE, finishes, &code), ==, DRIVER_DEPOSED);
  noted ("");
}

static void
constants_are_published_again (void)
{
  g_autoptr (GBytes) one = g_bytes_new ("one", 4), two = g_bytes_new ("two", 4);
  g_autoptr (GHashTable) said = g_hash_table_new (g_str_hash, g_str_equal);

  g_assert_null (driver_constant (&driver, "const/a"));
  driver_set_constant (&driver, "const/a", one, FALSE);
  noted ("");
  driver_set_constant (&driver, "const/b", two, TRUE);
  noted ("keep const/b two\nconstant const/b two\n");
  g_autoptr (GBytes) found = driver_constant (&driver, "const/a");
  g_assert_true (g_bytes_equal (found, one));
  g_hash_table_insert (said, (gpointer) "const/a", one);
  g_assert_true (driver_publish_again (&driver, said));
  noted ("keep const/a one\nconstant const/a one\n");
  g_hash_table_insert (said, (gpointer) "const/a", two);
  g_assert_false (driver_publish_again (&driver, said));
  noted ("");
}

static void
a_better_value_is_told (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("7", 2);

  driver_set_best (&driver, "length", value);
  noted ("improved 1 7\n");
  driver_set_best (&driver, "depth", value);
  noted ("");
  is_better = FALSE;
  driver_set_best (&driver, "length", value);
  noted ("");
  driver_suspend (&driver, 250);
  noted ("suspend 250\n");
}

static void
wait_until_warned (void)
{
  gboolean is_warned = FALSE;

  while (!is_warned)
    {
      g_usleep (1000);
      g_mutex_lock (&driver.mutex);
      is_warned = called->len > 0;
      g_mutex_unlock (&driver.mutex);
    }
}

/* Of a node process SIGTERM makes one leave; of a program alone it suspends the run. */
static void
signals_are_obeyed (void)
{
  driver_leave_at_signal (&driver);
  g_assert_cmpint (kill (getpid (), SIGTERM), ==, 0);
  wait_until_warned ();
  noted ("leave\n");
  g_assert_true (driver.warned);
}

static void
a_warning_suspends (void)
{
  signal (SIGHUP, SIG_IGN);
  driver_watch_signals (&driver);
  g_assert_cmpint (kill (getpid (), SIGHUP), ==, 0); /* as under nohup */
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (kill (getpid (), i == 0 ? SIGUSR1 : SIGINT), ==, 0);
      if (i == 0)
        wait_until_warned ();
      if (i == 0)
        noted ("suspend 0\n");
    }
  wait_until_warned (); /* the second one ends the process */
}

static void
test_interrupt (void)
{
  if (g_test_subprocess ())
    {
      set_up ();
      a_warning_suspends ();
      _exit (0);
    }
  g_test_trap_subprocess (NULL, 20 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("satin: suspending; interrupt to quit at once\n");
}

/* The links stay open while clients may still fetch the end. */
static void
the_end_is_served (void)
{
  driver.terms = 3;
  driver_stop (&driver);
  g_assert_cmpstr (called->str, ==, "close the scribe\nfigures, the last\nclose the links\nquit\n");
  g_assert_cmpuint (driver.terms, ==, 0);
  g_string_truncate (called, 0);
  is_over = FALSE;
  driver.terms = 1;
  driver.thread = thread = g_thread_new ("driver", drive, NULL);
}

typedef void (*Test) (void);

static void
run_one (gconstpointer data)
{
  set_up ();
  (*(const Test *)data) ();
  tear_down ();
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    Test test;
  } tests[] = {
    { "/driver-main/root", a_root_has_a_result },
    { "/driver-main/deposed", a_deposed_main_gets_nothing },
    { "/driver-main/answer", an_answer_is_written_first },
    { "/driver-main/constants", constants_are_published_again },
    { "/driver-main/best", a_better_value_is_told },
    { "/driver-main/leave", signals_are_obeyed },
    { "/driver-main/served", the_end_is_served },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_data_func (tests[i].name, &tests[i].test, run_one);
  g_test_add_func ("/driver-main/interrupt", test_interrupt);
  return g_test_run ();
}
