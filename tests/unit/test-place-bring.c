/* SPDX-License-Identifier: BSD-3-Clause */
/* Large files that are read while they come from a place (storage/places/place-bring.c), at the
 * store in memory (shelf.h): moved, forgotten, broken off and mixed on the way. Links storage
 * alone. */
#include "copies.h"

/* In the thread that brings it. */
static void
hold (gpointer data)
{
  Fixture *f = data;
  g_atomic_int_set (&f->is_held, 1);
  while (!g_atomic_int_get (&f->may_go_on))
    g_usleep (100);
}

static void
go_on (Fixture *f)
{
  g_atomic_int_set (&f->may_go_on, 1);
}

/* Begins to bring `bytes`, and stands still behind `after` bytes of it. */
static void
begin_held (Fixture *f, const Kind *kind, GBytes *bytes, guint64 after)
{
  g_autoptr (GError) error = NULL;
  PlacePair pair = { 0 };
  begin (f, kind);
  put ("/files/a.db", bytes);
  shelf_during (after, hold, f);
  Place *place = place_at (kind);
  g_assert_true (place_refresh_early (&place, f->to, &pair, &error));
  g_assert_no_error (error);
  g_assert_null (place); /* it is taken */
  g_assert_true (pair.base.exists);
  place_pair_clear (&pair);
  while (!g_atomic_int_get (&f->is_held))
    g_usleep (100);
}

static void
assert_arrives (const Fixture *f, GBytes *bytes)
{
  g_autofree char *failure = NULL;
  g_assert_true (arrival_wait_end (f->to, &failure));
  g_assert_null (failure);
  g_assert_true (is_file (f->to, bytes));
}

/* What has come can be read, and so can the end and the pages above the first rows; who asks
 * meanwhile is told what comes, and the store is not asked again. */
static void
test_it_is_read_while_it_comes (void)
{
  g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
  guint64 size = g_bytes_get_size (bytes), half = size / 2;
  guint64 far_at = (FAR_PAGE - 1) * PAGE_BYTES, farther_at = (FARTHER_PAGE - 1) * PAGE_BYTES;
  for (guint i = 0; i < G_N_ELEMENTS (kinds) && kinds[i].is_early; i++)
    {
      Fixture f;
      PlacePair pair;
      begin_held (&f, &kinds[i], bytes, half);
      g_autoptr (Arrival) arrival = arrival_open (f.to);
      g_assert_nonnull (arrival);
      g_assert_cmpuint (arrival_bytes (arrival), ==, size);
      g_assert_true (arrival_wait (arrival, 0, half - REST_BYTES * 4));
      g_assert_true (arrival_wait (arrival, size - REST_BYTES, size));
      g_assert_cmpuint (arrival_reach (arrival, far_at), >=, far_at + PAGE_BYTES);
      g_assert_cmpuint (arrival_reach (arrival, farther_at), ==, farther_at + PAGE_BYTES);
      g_assert_cmpuint (arrival_reach (arrival, farther_at - 1), ==, farther_at - 1);

      guint requests = shelf_requests ();
      g_autoptr (Place) other = place_at (&kinds[i]);
      g_assert_true (place_is_under_way (other, f.to, &pair));
      g_assert_cmpstr (pair.base.tag, ==, arrival_tag (arrival));
      g_assert_cmpuint (pair.base.bytes, ==, size);
      place_pair_clear (&pair);
      g_assert_true (place_refresh (other, f.to, &pair, NULL));
      g_assert_true (pair.base.exists && !pair.delta.exists);
      place_pair_clear (&pair);
      g_assert_cmpuint (shelf_requests (), ==, requests);
      go_on (&f);
      assert_arrives (&f, bytes);
      g_assert_false (place_is_under_way (other, f.to, &pair));
      g_assert_null (place_bring_failure ());
      g_assert_false (place_bring_break ());
      end (&f);
    }
}

/* Of a store that is far away nothing is asked for but the end. */
static void
be_slow (gpointer unused)
{
  (void)unused;
  __atomic_fetch_add (&now_us, 30 * 1000, __ATOMIC_SEQ_CST);
}

static void
test_a_far_store_is_asked_little (void)
{
  Fixture f;
  g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
  for (gboolean is_far = FALSE; is_far <= TRUE; is_far++)
    {
      begin (&f, &kinds[0]);
      put ("/files/a.db", bytes);
      shelf_between (0, is_far ? be_slow : NULL, NULL);
      assert_copy (&f, TRUE, bytes, NULL);
      g_assert_cmpuint (shelf_requests (), ==, is_far ? 3 : 6);
      end (&f);
    }
}

static void
test_moved_while_it_comes (void)
{
  Fixture f;
  g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
  begin_held (&f, &kinds[0], bytes, 2 * REST_BYTES);
  place_move_copy (f.to, f.moved);
  go_on (&f);
  g_assert_true (arrival_wait_end (f.moved, &(char *){ NULL }));
  g_assert_true (is_file (f.moved, bytes));
  g_assert_cmpint (g_access (f.to, F_OK), !=, 0);
  /* It is a copy like any other. */
  g_free (f.to);
  f.to = g_strdup (f.moved);
  guint requests = shelf_requests ();
  assert_copy (&f, TRUE, bytes, NULL);
  g_assert_cmpuint (shelf_requests (), ==, requests + 1);
  end (&f);
}

static void
test_forgotten_while_it_comes (void)
{
  Fixture f;
  g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
  begin_held (&f, &kinds[0], bytes, 2 * REST_BYTES);
  go_on (&f);
  place_forget_copy (f.to);
  g_assert_cmpint (g_access (f.to, F_OK), !=, 0);
  g_assert_cmpint (g_access (f.tag, F_OK), !=, 0);
  g_assert_null (place_bring_failure ());
  end (&f);
}

static void
assert_broken (Fixture *f, Arrival *arrival, const char *words)
{
  g_autofree char *failure = NULL, *again = NULL;
  go_on (f);
  g_assert_false (arrival_wait_end (f->to, &failure));
  g_assert_nonnull (strstr (failure, words));
  g_assert_false (arrival_wait (arrival, 0, arrival_bytes (arrival)));
  while ((again = place_bring_failure ()) == NULL)
    g_usleep (100);
  g_assert_cmpstr (failure, ==, again);
}

static void
test_broken_off (void)
{
  Fixture f;
  g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
  begin_held (&f, &kinds[0], bytes, 5 * REST_BYTES);
  {
    g_autoptr (Arrival) arrival = arrival_open (f.to);
    g_assert_true (place_bring_break ());
    assert_broken (&f, arrival, "interrupted before all of it was here");
  }
  g_assert_false (place_bring_break ());
  assert_copy (&f, TRUE, bytes, NULL);
  end (&f);
}

/* A store that mixes two files: nobody believes what came. */
static void
test_mixed (void)
{
  for (guint i = 0; i < 2; i++)
    {
      Fixture f;
      g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
      g_autofree guint8 *copy
          = g_memdup2 (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
      gsize at = i == 0 ? g_bytes_get_size (bytes) - 1 : (FAR_PAGE - 1) * PAGE_BYTES + 200;
      copy[at] ^= 1;
      g_autoptr (GBytes) other = g_bytes_new (copy, g_bytes_get_size (bytes));
      Newer newer = { other, NULL };
      begin (&f, &kinds[0]);
      g_autoptr (GError) error = NULL;
      PlacePair pair;
      put ("/files/a.db", bytes);
      shelf_between (6, put_newer, &newer); /* the last request, for all of it */
      g_assert_false (refresh_early (&f, &pair, &error));
      shelf_between (0, NULL, NULL);
      g_assert_nonnull (strstr (error->message, "somebody replaced it while it was read"));
      place_forget_copy (f.to);
      assert_copy (&f, TRUE, other, NULL);
      end (&f);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  copies_set_up ();
  g_test_add_func ("/place-bring/it-is-read-while-it-comes", test_it_is_read_while_it_comes);
  g_test_add_func ("/place-bring/a-far-store-is-asked-little", test_a_far_store_is_asked_little);
  g_test_add_func ("/place-bring/moved-while-it-comes", test_moved_while_it_comes);
  g_test_add_func ("/place-bring/forgotten-while-it-comes", test_forgotten_while_it_comes);
  g_test_add_func ("/place-bring/broken-off", test_broken_off);
  g_test_add_func ("/place-bring/mixed", test_mixed);
  return g_test_run ();
}
