/* SPDX-License-Identifier: BSD-3-Clause */
/* What `satin view` sends to browsers and when (command/command-view.c): it asks the run at each
 * tick, reads the checkpoint while a browser looks, and finds out how the run ended. */
#include "view-rig.h"

/* What tasks have to say. */
static void
pump (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    continue;
}

/* A second passes, and the run replies at once. */
static void
tick (guint n)
{
  while (n-- > 0)
    {
      now_us += G_USEC_PER_SEC;
      (void)on_tick (view);
      pump ();
      GAsyncReadyCallback ready = g_steal_pointer (&on_status);
      if (ready != NULL)
        ready (NULL, NULL, status_data);
      pump ();
    }
}

static void
run_view (void (*its) (void))
{
  char *argv[] = { (char *)"tour", NULL };

  called = g_string_new (NULL);
  scenario = its;
  on_status = NULL;
  state = VIEW_STATE_STARTING;
  now_us = 1000 * G_USEC_PER_SEC;
  n_nodes = n_streams = n_reads = 0;
  tick_is_known = has_checkpoint = is_new = lives = TRUE;
  reply = "good";
  ends = ended = -1;
  g_assert_cmpint (command_view (1, argv), ==, COMMAND_DONE);
  g_string_free (called, TRUE);
}

/* Browsers get a tick after each reply. A change goes to them as a whole, but not within three
 * ticks of the last whole. */
static void
ticks_are_sent (void)
{
  noted ("ask /run for status\n");
  tick (0);
  GAsyncReadyCallback ready = g_steal_pointer (&on_status);
  (void)on_tick (view); /* it has not replied yet: it is not asked again */
  noted ("");
  ready (NULL, NULL, status_data);
  noted ("publish data: TICK\n");
  tick (1);
  noted ("ask /run for status\npublish data: TICK\n");
  tick_is_known = FALSE;
  tick (1);
  noted ("ask /run for status\npublish data: WHOLE\n");
  tick_is_known = FALSE;
  tick (1);
  noted ("ask /run for status\n");
  tick (1);
  noted ("ask /run for status\n");
  tick (1);
  noted ("ask /run for status\npublish data: WHOLE\n");
  tick (1);
  noted ("ask /run for status\npublish data: TICK\n");
  n_nodes = 2 * VIEW_MODEL_NODES_A_SECOND;
  tick (6);
  noted ("ask /run for status\npublish data: TICK\nask /run for status\npublish data: TICK\n");
}

/* The end is told once; then streams only show that they are open. */
static void
an_end_is_told (void)
{
  tick (1);
  g_string_truncate (called, 0);
  reply = NULL;
  ends = COMMAND_SUSPENDED;
  tick (1);
  noted ("ask /run for status\nend suspended; `satin resume` continues it, -1\n");
  tick (1);
  noted ("publish data: LEDGER 1\n");
  tick (14);
  noted ("");
  tick (1);
  noted ("publish :\n");
  tick (15);
  noted ("publish :\n");
}

static void
each_end_has_its_words (void)
{
  static const struct
  {
    int code;
    const char *told;
  } cases[] = { { COMMAND_DONE, "end finished, 1\n" },
                { COMMAND_CANCELLED, "end cancelled, -1\n" },
                { COMMAND_JOB, "end ended: a job failed, -1\n" },
                { 9, "end ended with exit code 9, -1\n" } };

  tick (1);
  reply = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      state = VIEW_STATE_RUNNING;
      (i % 2 == 0) ? (ends = cases[i].code) : (ended = cases[i].code);
      g_string_truncate (called, 0);
      tick (1);
      g_assert_nonnull (strstr (called->str, cases[i].told));
      ends = ended = -1;
    }
  g_string_truncate (called, 0);
}

/* A run whose processes are gone may still show how it ended. */
static void
gone_processes_are_waited_for (void)
{
  tick (1);
  g_string_truncate (called, 0);
  reply = NULL;
  tick (1);
  noted ("ask /run for status\nsilence\npublish data: TICK\n");
  lives = FALSE;
  tick (2);
  g_assert_null (strstr (called->str, "end"));
  g_assert_null (strstr (called->str, "silence"));
  reply = "good";
  tick (1);
  reply = NULL;
  tick (2);
  g_assert_null (strstr (called->str, "end"));
  g_string_truncate (called, 0);
  tick (1);
  g_assert_nonnull (strstr (called->str, "end not running: its processes are gone, -1\n"));
  g_string_truncate (called, 0);
}

/* The checkpoint is read while a browser looks, at most every three seconds, and once at the end.
 */
static void
the_checkpoint_is_read (void)
{
  tick (9);
  g_assert_cmpuint (n_reads, ==, 0);
  n_streams = 1;
  g_string_truncate (called, 0);
  tick (1);
  g_assert_cmpuint (n_reads, ==, 1);
  noted ("ask /run for status\npublish data: LEDGER 1\npublish data: TICK\n");
  tick (3);
  g_assert_cmpuint (n_reads, ==, 2);
  is_new = FALSE;
  g_string_truncate (called, 0);
  tick (6);
  g_assert_cmpuint (n_reads, ==, 4);
  g_assert_null (strstr (called->str, "LEDGER"));
  tick_is_known = FALSE;
  g_string_truncate (called, 0);
  tick (1);
  noted ("ask /run for status\npublish data: WHOLE | data: LEDGER 2\n");
  n_streams = 0;
  reply = NULL;
  ends = 0;
  tick (1);
  g_assert_cmpuint (n_reads, ==, 4);
  is_new = TRUE;
  tick (9);
  g_assert_cmpuint (n_reads, ==, 5);
  g_assert_nonnull (strstr (called->str, "publish data: LEDGER 5\n"));
  g_string_truncate (called, 0);
}

static void
asked (const char *path, const char *query, const char *wanted)
{
  ViewCall call = { VIEW_HTTP_OK };
  const ViewHttpRequest request = { .path = (char *)path, .query = (char *)query };

  server->get (&call, &request, view);
  pump ();
  noted (wanted);
}

static void
requests_are_answered (void)
{
  g_autofree char *nothing = g_strdup_printf ("%d application/json: {}\n", VIEW_HTTP_NOT_FOUND);
  g_autofree char *wrong = g_strdup_printf ("%d text/plain: \n", VIEW_HTTP_NOT_FOUND);

  g_string_truncate (called, 0);
  asked ("/", NULL, "200 text/html; charset=utf-8: page of tour\n");
  asked ("/page.css", NULL, "200 text/css; charset=utf-8: page.css\n");
  asked ("/page.js", NULL, "200 text/javascript; charset=utf-8: page.js\n");
  asked ("/events", NULL, "stream\n");
  asked ("/metrics", NULL, "metrics of /run\n");
  asked ("/other", NULL, wrong);
  asked ("/boxes", "path=/2", nothing); /* the checkpoint was not read yet */
  asked ("/boxes", NULL, nothing);
  n_streams = 1;
  tick (1);
  g_string_truncate (called, 0);
  asked ("/boxes", NULL, "200 application/json: boxes / 1\n");
  asked ("/boxes", "path=/", "200 application/json: boxes / 1\n");
  asked ("/boxes", "path=/2&w=0.25", "200 application/json: boxes /2 0.25\n");
  asked ("/boxes", "path=/2&w=7", "200 application/json: boxes /2 1\n");
  asked ("/boxes", "path=/2&w=-7", "200 application/json: boxes /2 0\n");
  asked ("/boxes", "path=/2", "200 application/json: boxes /2 0\n");
  asked ("/boxes", "path=/9", nothing);
}

static void
test (gconstpointer data)
{
  run_view (*(void (*const *) (void))data);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*scenario) (void);
  } tests[] = {
    { "/view/ticks", ticks_are_sent },
    { "/view/end", an_end_is_told },
    { "/view/words", each_end_has_its_words },
    { "/view/gone", gone_processes_are_waited_for },
    { "/view/checkpoint", the_checkpoint_is_read },
    { "/view/requests", requests_are_answered },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_data_func (tests[i].name, &tests[i].scenario, test);
  return g_test_run ();
}
