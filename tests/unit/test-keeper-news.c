/* SPDX-License-Identifier: BSD-3-Clause */
/* The news of a scribe, and how they reach the Node. */
#include "keeper-rig.h"

static const NodeEvent *
event (guint i)
{
  g_assert_cmpuint (i, <, steps->len);
  return &g_array_index (steps, NodeEvent, i);
}

static void
say (const Scribe *scribe, const ScribeNews *news)
{
  scribe->config.notify (news, scribe->config.data);
  run_posted ();
}

/* The last batch of all rows opens the run. The last batch of rows that were requested by a path
 * ends only that request. */
static void
rows_are_heard (void)
{
  static const struct
  {
    const char *path;
    gboolean final, whole, is_heard, ends, opens;
  } cases[]
      = { { NULL, FALSE, TRUE, TRUE, FALSE, FALSE }, { NULL, TRUE, TRUE, TRUE, FALSE, TRUE },
          { NULL, TRUE, FALSE, FALSE, FALSE, TRUE }, { "0", FALSE, TRUE, TRUE, FALSE, FALSE },
          { "0", TRUE, TRUE, TRUE, TRUE, FALSE },    { "0", TRUE, FALSE, TRUE, TRUE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Driver *driver = begin_driver (TRUE);
      const Scribe *scribe = open_next (driver);
      g_autoptr (GPtrArray) rows = g_ptr_array_new ();
      guint at = 0;

      driver->whole = cases[i].whole;
      say (scribe, &(ScribeNews){ .kind = SCRIBE_RESTORED,
                                  .rows = rows,
                                  .path = cases[i].path,
                                  .final = cases[i].final });
      if (cases[i].is_heard)
        {
          g_assert_cmpint (event (at)->kind, ==, NODE_EVENT_RESTORED);
          g_assert_cmpint (event (at++)->final, ==, cases[i].ends);
        }
      if (cases[i].opens)
        g_assert_cmpint (event (at++)->kind, ==, NODE_EVENT_OPENED);
      g_assert_cmpuint (steps->len, ==, at);
      g_assert_cmpuint (driver->restoring, ==, 0);
      end_driver (driver);
    }
}

/* Rows from an earlier scribe are dropped, and do not count towards the limit of batches that
 * wait. */
static void
rows_of_an_earlier_scribe_are_dropped (void)
{
  Driver *driver = begin_driver (TRUE);
  const Scribe *first = open_next (driver);
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  retire (driver);
  for (int final = FALSE; final <= TRUE; final++)
    say (first, &(ScribeNews){ .kind = SCRIBE_RESTORED, .rows = rows, .final = final });
  (void)open_next (driver);
  for (int final = FALSE; final <= TRUE; final++)
    say (first, &(ScribeNews){ .kind = SCRIBE_RESTORED, .rows = rows, .final = final });
  g_assert_cmpuint (steps->len, ==, 0);
  g_assert_cmpuint (driver->restoring, ==, 0);
  end_driver (driver);
}

/* Only a publication or its failure makes the event PUBLISHED, with all numbers of the news. */
static void
publications_are_told (void)
{
  g_autoptr (GError) error = g_error_new (COORDINATOR_ERROR, COORDINATOR_ERROR_STORE, "disk full");
  const struct
  {
    ScribeNews news;
    gboolean is_told, failed;
    const char *unpublished;
  } cases[] = {
    { { .kind = SCRIBE_PUBLISHED, .generation = 9, .ticket = 5, .commit_us = 7, .rest_us = 6 },
      TRUE,
      FALSE,
      NULL },
    { { .kind = SCRIBE_PUBLISHED, .generation = 9, .final = TRUE }, TRUE, FALSE, NULL },
    { { .kind = SCRIBE_FAILED }, TRUE, TRUE, NULL },
    { { .kind = SCRIBE_TROUBLE, .error = error }, FALSE, FALSE, NULL },
    { { .kind = SCRIBE_TROUBLE, .error = error, .failed = TRUE }, TRUE, TRUE, NULL },
    { { .kind = SCRIBE_TROUBLE, .error = error, .failed = TRUE, .final = TRUE },
      TRUE,
      TRUE,
      "disk full" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Driver *driver = begin_driver (TRUE);
      const ScribeNews *news = &cases[i].news;

      driver->unpublished = g_strdup ("of an earlier attempt");
      say (open_next (driver), news);
      g_assert_cmpuint (steps->len, ==, cases[i].is_told);
      if (cases[i].is_told)
        {
          g_assert_cmpint (event (0)->kind, ==, NODE_EVENT_PUBLISHED);
          g_assert_cmpint (event (0)->failed, ==, cases[i].failed);
          g_assert_cmpint (event (0)->final, ==, news->final);
          g_assert_cmpuint (event (0)->number, ==, news->generation);
          g_assert_cmpuint (event (0)->saved, ==, news->ticket);
          g_assert_cmpuint (event (0)->work_us, ==, news->commit_us);
          g_assert_cmpuint (event (0)->rest_us, ==, news->rest_us);
        }
      g_assert_cmpstr (driver->unpublished, ==,
                       news->final ? cases[i].unpublished : "of an earlier attempt");
      g_clear_pointer (&driver->unpublished, g_free);
      end_driver (driver);
    }
}

static gpointer
restore_much (gpointer data)
{
  const Scribe *scribe = data;
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  for (guint i = 0; i < 100; i++)
    scribe->config.notify (&(ScribeNews){ .kind = SCRIBE_RESTORED, .rows = rows },
                           scribe->config.data);
  return NULL;
}

/* A scribe that waits until the Node accepts its rows does not delay the end of the node. */
static void
the_end_waits_for_no_rows (void)
{
  Driver *driver = begin_driver (TRUE);
  Scribe *scribe = open_next (driver);
  GThread *thread = g_thread_new ("restore", restore_much, scribe);

  while (g_async_queue_length (posted) < 10)
    g_thread_yield ();
  keeper_close (driver);
  g_thread_join (thread);
  g_assert_cmpuint (scribe->freed, ==, 1);
  while (g_async_queue_length (posted) > 0)
    run_posted ();
  end_driver (driver);
}

/* A founder that cannot use the checkpoint ends. If only the store cannot be reached, it does not
 * end, since other nodes may reach it; a program alone has no other nodes. */
static void
a_founder_that_cannot_open (void)
{
  static const struct
  {
    int code;
    gboolean solo, given, ends;
  } cases[] = { { COORDINATOR_ERROR_STORE, FALSE, FALSE, FALSE },
                { COORDINATOR_ERROR_STORE, TRUE, FALSE, TRUE },
                { COORDINATOR_ERROR_UNUSABLE, FALSE, FALSE, TRUE },
                { COORDINATOR_ERROR_UNUSABLE, FALSE, TRUE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Driver *driver = begin_driver (TRUE);

      driver->config.solo = cases[i].solo;
      driver->given = cases[i].given ? g_strdup ("/given") : NULL;
      fails = TRUE;
      fails_with = cases[i].code;
      (void)open_next (driver);
      g_assert_cmpuint (n_failed, ==, cases[i].ends);
      g_assert_cmpuint (steps->len, ==, !cases[i].ends);
      fails_with = COORDINATOR_ERROR_STORE;
      g_clear_pointer (&driver->given, g_free);
      end_driver (driver);
    }
}

/* Only the founder's scribe gets a copy of the checkpoint to read, if there is one. A checkpoint
 * that is given to a running run gets the best values, too. */
static void
a_scribe_is_told_how_to_work (void)
{
  for (guint i = 0; i < 8; i++)
    {
      gboolean founder = (i & 1) != 0, kept = (i & 2) != 0, given = (i & 4) != 0;
      Driver *driver = begin_driver (founder);

      driver->config.kept = kept;
      driver->config.interval_s = kept ? 2.5 : FOLDER_INTERVAL_AUTO_S;
      driver->given = given ? g_strdup ("/given") : NULL;
      const Scribe *scribe = open_next (driver);
      g_assert_cmpint (scribe->config.copy != NULL, ==, founder && kept);
      g_assert_cmpuint (scribe->config.interval_us, ==, kept ? 2500000 : 2000000);
      g_assert_cmpint (scribe->config.is_thrifty, ==,
                       !kept); /* an interval that the user states is kept */
      g_assert_cmpstr (scribe->config.target, ==, "/checkpoint");
      g_assert_cmpint (scribe->bests > 0, ==, given || !founder);
      g_clear_pointer (&driver->given, g_free);
      end_driver (driver);
    }
}

/* A node without a scribe has nothing to publish, and reports so at once. */
static void
nothing_is_published_at_once (void)
{
  void (*const calls[]) (Driver *) = { keeper_offer, keeper_publish, keeper_final };

  for (int scribe = FALSE; scribe <= TRUE; scribe++)
    for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
      {
        Driver *driver = begin_driver (TRUE);
        if (scribe)
          (void)open_next (driver);
        calls[i](driver);
        if (scribe)
          {
            g_assert_cmpuint (scribes[0].offered, ==, i == 0);
            g_assert_cmpuint (scribes[0].finished, ==, i > 0);
          }
        else
          {
            run_posted ();
            g_assert_cmpint (event (0)->kind, ==, NODE_EVENT_PUBLISHED);
            g_assert_true (event (0)->final && !event (0)->failed);
          }
        end_driver (driver);
      }
}

int
main (int argc, char **argv)
{
  alarm (20); /* if a thread waits for ever */
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/keeper-news/" name, function)
  TEST ("rows-are-heard", rows_are_heard);
  TEST ("rows-of-an-earlier-scribe-are-dropped", rows_of_an_earlier_scribe_are_dropped);
  TEST ("publications-are-told", publications_are_told);
  TEST ("the-end-waits-for-no-rows", the_end_waits_for_no_rows);
  TEST ("a-founder-that-cannot-open", a_founder_that_cannot_open);
  TEST ("a-scribe-is-told-how-to-work", a_scribe_is_told_how_to_work);
  TEST ("nothing-is-published-at-once", nothing_is_published_at_once);
  return g_test_run ();
}
