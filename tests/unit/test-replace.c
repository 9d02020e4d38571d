/* SPDX-License-Identifier: BSD-3-Clause */
/* When a node that has ended is replaced (launch/replace.c with again.c). The test is the run that
 * is asked, and holds the clock. */
#include "launch/replace.h"

#include "launch/command-words.h"
#include "launch/figures.h"
#include "launch/launch-folder.h"
#include "launch/live.h"

#include "folder/folder-run.h"
#include "folder/folder.h"

#define SECOND ((gint64)G_USEC_PER_SEC)

static char *run_path;
static gint64 now_us;
static gboolean lives;
static guint n_asked, n_said, n_started, started_at;
static const char *reply; /* NULL: nobody answers */
static GAsyncReadyCallback asked;
static gpointer asked_data;

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

void
live_ask (const char *path, const char *request, GAsyncReadyCallback ready, gpointer data)
{
  g_assert_cmpstr (path, ==, run_path);
  g_assert_cmpstr (request, ==, "status");
  g_assert_null (asked); /* one question at a time */
  n_asked++;
  asked = ready;
  asked_data = data;
}

char *
live_reply (GAsyncResult *result G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return g_strdup (reply);
}

static void
answer (const char *text)
{
  GAsyncReadyCallback ready = g_steal_pointer (&asked);

  g_assert_nonnull (ready);
  reply = text;
  ready (NULL, NULL, asked_data);
}

gboolean
launch_folder_lives (const char *path G_GNUC_UNUSED, const char *suffix G_GNUC_UNUSED)
{
  return lives;
}

GVariant *
figures_read (const char *path G_GNUC_UNUSED, gint64 pid G_GNUC_UNUSED)
{
  return NULL;
}

void
command_say (const char *format G_GNUC_UNUSED, ...)
{
  n_said++;
}

static void
start (guint place, gpointer data)
{
  g_assert_true (data == &now_us);
  n_started++;
  started_at = place;
}

typedef struct
{
  Site again, never;
  GArray *places, *nodes;
  Replace *replace;
} Fixture;

/* Place 0 is at a site that replaces nodes, place 1 at one that does not. */
static void
set_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  f->again = (Site){ .name = (char *)"a", .again = TRUE };
  f->never = (Site){ .name = (char *)"b" };
  f->places = g_array_new (FALSE, TRUE, sizeof (Spot));
  f->nodes = g_array_new (FALSE, TRUE, sizeof (Started));
  g_array_append_val (f->places, ((Spot){ .site = &f->again }));
  g_array_append_val (f->places, ((Spot){ .site = &f->never }));
  run_path = g_dir_make_tmp ("satin-replace-XXXXXX", NULL);
  now_us = 1000 * SECOND;
  lives = TRUE;
  n_asked = n_said = n_started = 0;
  f->replace = replace_new (run_path, f->places, f->nodes, start, &now_us);
  for (guint place = 0; place < 2; place++)
    replace_started (f->replace, place);
}

static void
tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  replace_free (f->replace);
  g_array_unref (f->places);
  g_array_unref (f->nodes);
  (void)folder_remove (run_path, NULL);
  g_free (run_path);
}

static void
test_only_where_the_site_says_so (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_assert_true (replace_wants (f->replace, 0));
  g_assert_false (replace_wants (f->replace, 1));
  replace_plan (f->replace, 1, AGAIN_LOST);
  g_assert_false (replace_waits (f->replace));
  g_assert_cmpuint (n_said, ==, 0);
  g_array_index (f->places, Spot, 0).site = &f->never;
  g_assert_null (replace_new (run_path, f->places, f->nodes, start, NULL));
}

/* Not before its time; then the run is asked, once, and answers before anything starts. */
static void
test_the_run_is_asked_first (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  replace_plan (f->replace, 0, AGAIN_LOST);
  g_assert_true (replace_waits (f->replace));
  g_assert_cmpuint (n_said, ==, 1);
  g_assert_true (replace_look (f->replace));
  g_assert_cmpuint (n_asked, ==, 0);
  now_us += again_pause_us (1);
  for (guint i = 0; i < 3; i++)
    g_assert_true (replace_look (f->replace));
  g_assert_cmpuint (n_asked, ==, 1);
  g_assert_cmpuint (n_started, ==, 0);
  answer ("{\"stopping\": false}");
  g_assert_cmpuint (n_started, ==, 1);
  g_assert_cmpuint (started_at, ==, 0);
  g_assert_true (replace_look (f->replace)); /* the caller has started it */
  g_assert_cmpuint (n_asked, ==, 1);
}

/* A run that stops gets no node, nor one that does not answer; both are asked again later. */
static void
test_a_run_that_stops_gets_none (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const char *const answers[] = { "{\"stopping\": true}", NULL };

  replace_plan (f->replace, 0, AGAIN_LOST);
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    {
      now_us += again_pause_us (1);
      g_assert_true (replace_look (f->replace));
      g_assert_cmpuint (n_asked, ==, i + 1);
      answer (answers[i]);
      g_assert_cmpuint (n_started, ==, 0);
      g_assert_true (replace_waits (f->replace));
      g_assert_true (replace_look (f->replace)); /* not at once */
      g_assert_cmpuint (n_asked, ==, i + 1);
    }
}

static void
test_an_answer_may_come_too_late (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  replace_plan (f->replace, 0, AGAIN_LOST);
  now_us += again_pause_us (1);
  g_assert_true (replace_look (f->replace));
  replace_free (g_steal_pointer (&f->replace));
  answer ("{\"stopping\": false}");
  g_assert_cmpuint (n_started, ==, 0);
}

static void
test_a_run_without_members_is_given_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  lives = FALSE;
  g_assert_true (replace_look (f->replace));
  now_us += AGAIN_DESERTED_US;
  g_assert_true (replace_look (f->replace));
  g_assert_cmpuint (n_said, ==, 0);
  now_us += 1;
  g_assert_false (replace_look (f->replace));
  g_assert_cmpuint (n_said, ==, 1);
}

/* People hear of each lost node, and of the first that could not be started. */
static void
test_failures_are_said_once (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  for (guint i = 0; i < 3; i++)
    {
      replace_plan (f->replace, 0, AGAIN_NEVER);
      replace_started (f->replace, 0);
    }
  g_assert_cmpuint (n_said, ==, 1);
}

/* The address of a node that is gone stays. Its successor has not joined, and so did not last. */
static void
test_a_successor_joins_for_itself (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *file = folder_node_file (5, FOLDER_NODE_ADDRESS);
  g_autoptr (GBytes) address = g_bytes_new_static ("tcp:x\n", 6);

  g_assert_true (folder_write (run_path, file, address, NULL));
  g_array_append_val (f->nodes, ((Started){ .pid = 5, .gone = TRUE }));
  g_array_append_val (f->nodes, ((Started){ .pid = 6 }));
  g_assert_true (replace_look (f->replace));
  now_us += AGAIN_LASTS_US;
  replace_plan (f->replace, 0, AGAIN_LOST);
  now_us += again_pause_us (0);
  g_assert_true (replace_look (f->replace));
  g_assert_cmpuint (n_asked, ==, 0);
  now_us += again_pause_us (1) - again_pause_us (0);
  g_assert_true (replace_look (f->replace));
  g_assert_cmpuint (n_asked, ==, 1);
  answer (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) \
  g_test_add ("/replace/" name, Fixture, NULL, set_up, function, tear_down)
  TEST ("only-where-the-site-says-so", test_only_where_the_site_says_so);
  TEST ("the-run-is-asked-first", test_the_run_is_asked_first);
  TEST ("a-run-that-stops-gets-none", test_a_run_that_stops_gets_none);
  TEST ("an-answer-may-come-too-late", test_an_answer_may_come_too_late);
  TEST ("a-run-without-members-is-given-up", test_a_run_without_members_is_given_up);
  TEST ("a-successor-joins-for-itself", test_a_successor_joins_for_itself);
  TEST ("failures-are-said-once", test_failures_are_said_once);
#undef TEST
  return g_test_run ();
}
