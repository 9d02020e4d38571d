/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a place's file (storage/places/place-copy.c), at the store in memory (shelf.h). What is
 * taken for a copy is one, whatever fails and whichever other client acts meanwhile. Links storage
 * alone. */
#include "copies.h"

#define SPAN_MAX 40

static const ShelfFault faults[] = { SHELF_REFUSES, SHELF_LOSES, SHELF_TEARS, SHELF_SILENT };

static void
for_each_kind (void (*test) (Fixture *f))
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      Fixture f;
      begin (&f, &kinds[i]);
      test (&f);
      end (&f);
    }
}

/* The files at the store are fetched; files that are here already are not fetched again; a delta
 * that is gone there is removed here; the copy stays if there is nothing at the store any more. */
static void
copies (Fixture *f)
{
  guint sizes[] = { SMALL_PAGES, LARGE_PAGES };
  assert_copy (f, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GBytes) base = make_file (sizes[i], 'a', i + 1, FALSE);
      g_autoptr (GBytes) with = make_file (sizes[i], 'b', i + 10, TRUE);
      g_autoptr (GBytes) delta = make_file (2, 'c', i + 11, FALSE);
      put ("/files/a.db", base);
      put ("/files/a.db-delta", delta);
      assert_copy (f, base, NULL); /* the delta of a base that names none is ignored */
      guint64 sent, received;
      g_autoptr (Place) place = place_at (f->kind);
      PlacePair pair = { 0 };
      g_assert_true (place_refresh (place, f->to, &pair, NULL));
      place_traffic (place, &sent, &received);
      g_assert_cmpuint (received, <=, 200);
      place_pair_clear (&pair);
      put ("/files/a.db", with);
      assert_copy (f, with, delta);
      shelf_remove ("/files/a.db-delta");
      assert_copy (f, with, NULL);
      place_change_copy (f->to);
      assert_copy (f, with, NULL);
    }
  shelf_remove ("/files/a.db");
  g_autoptr (GBytes) last = make_file (LARGE_PAGES, 'b', 11, TRUE);
  g_autoptr (GError) error = NULL;
  PlacePair pair = { 0 };
  g_assert_true (refresh (f, &pair, &error));
  g_assert_false (pair.base.exists);
  g_assert_true (is_file (f->to, last));
}

static void
test_copies (void)
{
  for_each_kind (copies);
}

static void
let_an_hour_pass (gpointer data)
{
  (void)data;
  __atomic_fetch_add (&now_us, G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC, __ATOMIC_SEQ_CST);
}

/* A limit is for what the store answers at once; a download takes the time that it takes. */
static void
a_download_has_no_limit (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) base = make_file (LARGE_PAGES, 'a', 1, FALSE);
  g_autoptr (Place) place = place_at (f->kind);
  PlacePair pair = { 0 };
  put ("/files/a.db", base);
  place_set_limit (place, g_get_monotonic_time () + 8 * G_USEC_PER_SEC);
  place_set_patience (place, 2 * 3600);
  shelf_during (100000, let_an_hour_pass, NULL);
  (void)place_refresh (place, f->to, &pair, &error);
  g_assert_no_error (error);
  g_assert_true (is_file (f->to, base));
  place_pair_clear (&pair);
}

static void
test_a_download_has_no_limit (void)
{
  for_each_kind (a_download_has_no_limit);
}

static void
assert_is_copy (const Fixture *f, const char *path, guint number)
{
  g_autoptr (Place) place = place_at (f->kind);
  PlaceState state = { 0 };
  g_assert_cmpint (place_has_copy (place, path, &state), ==, number > 0);
  g_assert_cmpuint (state.number, ==, number);
  g_assert_cmpint (state.has_delta, ==, number > 0);
}

/* What was brought is a copy until it is changed, under the name that it has now. */
static void
copies_are_known (Fixture *f)
{
  g_autoptr (GBytes) base = make_file (SMALL_PAGES, 'a', 7, TRUE);
  g_autoptr (GBytes) delta = make_file (2, 'c', 8, FALSE);
  g_autofree char *moved_delta = g_strconcat (f->moved, PLACE_DELTA, NULL);
  put ("/files/a.db", base);
  put ("/files/a.db-delta", delta);
  assert_is_copy (f, f->to, 0);
  assert_copy (f, base, delta);
  assert_is_copy (f, f->to, 7);
  place_move_copy (f->to, f->moved);
  assert_is_copy (f, f->to, 0);
  assert_is_copy (f, f->moved, 7);
  g_assert_true (is_file (moved_delta, delta));
  place_change_copy (f->moved);
  assert_is_copy (f, f->moved, 0);
  g_assert_true (is_file (f->moved, base));
}

/* Where a copy cannot be moved, nothing there counts as one. */
static void
copies_move_first (Fixture *f)
{
  g_autoptr (GBytes) base = make_file (SMALL_PAGES, 'a', 7, TRUE);
  g_autofree char *inside = g_build_filename (f->moved, "x", NULL);
  put ("/files/a.db", base);
  assert_copy (f, base, NULL);
  g_assert_cmpint (g_mkdir_with_parents (inside, 0700), ==, 0);
  place_move_copy (f->to, f->moved);
  assert_is_copy (f, f->to, 7);
  g_autofree char *tag = g_strconcat (f->moved, ".tag", NULL);
  g_assert_false (g_file_test (tag, G_FILE_TEST_EXISTS));
  g_assert_cmpint (g_rmdir (inside), ==, 0);
  g_assert_cmpint (g_rmdir (f->moved), ==, 0);
}

static void
test_copies_are_known (void)
{
  for_each_kind (copies_are_known);
  for_each_kind (copies_move_first);
}

/* What a reader learns of a file from its first bytes. */
static void
headers_are_read (Fixture *f)
{
  static const struct
  {
    guint n_pages, page_bytes; /* as they stand in the header */
    guint64 number;
    gboolean has_delta;
    guint64 bytes;
    guint32 told;
  } table[] = { { 20, 4096, 1, FALSE, 20 * 4096, 1 },
                { 20, 512, 2, TRUE, 20 * 512, 2 },
                { 3000000, 1, 3, FALSE, G_GUINT64_CONSTANT (3000000) * 65536, 3 }, /* 1: 64 KiB */
                { 20, 32768, 0x7fffffff, TRUE, 20 * 32768, 0x7fffffff },
                { 20, 4096, G_GUINT64_CONSTANT (0x180000005), FALSE, 20 * 4096, 5 } };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (GBytes) bytes = make_file (1, 'a', 1, FALSE);
      g_autofree guint8 *copy = g_memdup2 (g_bytes_get_data (bytes, NULL), PAGE_BYTES);
      g_autoptr (Place) place = place_at (f->kind);
      guint32 mark = place_mark (table[i].number, table[i].has_delta);
      PlaceState state;
      copy[16] = (guint8)(table[i].page_bytes >> 8);
      copy[17] = (guint8)table[i].page_bytes;
      write_big (copy + 28, table[i].n_pages);
      memcpy (copy + PLACE_MARK_AT, &mark, sizeof mark);
      shelf_put ("/files/a.db", copy, PAGE_BYTES);
      g_assert_true (place_look (place, "", &state, NULL));
      g_assert_cmpuint (state.bytes, ==, table[i].bytes);
      g_assert_cmpuint (state.number, ==, table[i].told);
      g_assert_cmpint (state.has_delta, ==, table[i].has_delta);
      place_state_clear (&state);
    }
}

static void
test_headers_are_read (void)
{
  for_each_kind (headers_are_read);
}

/* Requests `at` to `last` fail: the error is reported, and no partial file is ever taken for a
 * copy. FALSE: there were not so many. */
static gboolean
fail_one (const Kind *kind, ShelfFault fault, guint at, guint last, guint n_pages)
{
  Fixture f;
  begin (&f, kind);
  g_test_message ("fault %d at %u to %u, %u pages", fault, at, last, n_pages);
  g_autoptr (GBytes) base = make_file (n_pages, 'a', 1, TRUE);
  g_autoptr (GBytes) delta = make_file (2, 'c', 2, FALSE);
  g_autoptr (GError) error = NULL;
  PlacePair pair;
  put ("/files/a.db", base);
  put ("/files/a.db-delta", delta);
  shelf_fail (fault, at, last);
  gboolean good = refresh (&f, &pair, &error);
  gboolean was_reached = shelf_has_failed ();
  shelf_fail (SHELF_SOUND, 0, 0);
  g_assert_true (good == (error == NULL));
  g_assert_true (good == pair.base.exists);
  if (good)
    g_assert_true (is_file (f.to, base) && is_file (f.to_delta, delta));
  else
    {
      g_assert_true (g_str_has_prefix (error->message, "checkpoint '"));
      g_assert_null (strchr (error->message, '\n'));
    }
  place_pair_clear (&pair);
  assert_copy (&f, base, delta);
  end (&f);
  return was_reached;
}

static void
test_every_request_fails (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint j = 0; j < G_N_ELEMENTS (faults); j++)
      for (guint k = 0; k < 3; k++)
        {
          guint at = 1, n_pages = k == 1 ? LARGE_PAGES : SMALL_PAGES;
          while (fail_one (&kinds[i], faults[j], at, k < 2 ? at : SPAN_MAX, n_pages))
            g_assert_cmpuint (++at, <, SPAN_MAX);
          g_assert_cmpuint (at, >, 2);
        }
}

/* Another writer acts between any two requests: the copy is wholly one of the two versions, and a
 * base that names a delta comes with its own. */
static gboolean
replace_at (const Kind *kind, guint at, guint n_pages)
{
  Fixture f;
  begin (&f, kind);
  g_autoptr (GBytes) old = make_file (n_pages, 'a', 1, FALSE);
  Newer newer = { make_file (n_pages, 'b', 2, TRUE), make_file (2, 'c', 3, FALSE) };
  g_autoptr (GError) error = NULL;
  PlacePair pair;
  put ("/files/a.db", old);
  shelf_between (at, put_newer, &newer);
  gboolean good = refresh (&f, &pair, &error);
  gboolean was_reached = shelf_requests () >= at;
  shelf_between (0, NULL, NULL);
  if (!good) /* only a reader that has begun to read the old version can notice */
    g_assert_nonnull (strstr (error->message, "somebody replaced it while it was read"));
  else if (pair.delta.exists)
    g_assert_true (is_file (f.to, newer.base) && is_file (f.to_delta, newer.delta));
  else
    g_assert_true (is_file (f.to, old));
  place_pair_clear (&pair);
  assert_copy (&f, was_reached ? newer.base : old, was_reached ? newer.delta : NULL);
  g_bytes_unref (newer.base);
  g_bytes_unref (newer.delta);
  end (&f);
  return was_reached;
}

static void
test_others_come_between (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint k = 0; k < 2; k++)
      {
        guint at = 1;
        while (replace_at (&kinds[i], at, k ? LARGE_PAGES : SMALL_PAGES))
          g_assert_cmpuint (++at, <, SPAN_MAX);
        g_assert_cmpuint (at, >, 2);
      }
}

static void
take_the_delta_in (gpointer base)
{
  put ("/files/a.db", base);
  shelf_remove ("/files/a.db-delta");
}

/* The writer publishes a base that contains the delta, and removes the delta, between any two
 * requests: the copy holds the delta, or the base that contains it. */
static gboolean
take_in_at (const Kind *kind, guint at)
{
  Fixture f;
  begin (&f, kind);
  g_test_message ("at %u", at);
  g_autoptr (GBytes) base = make_file (SMALL_PAGES, 'a', 1, TRUE);
  g_autoptr (GBytes) delta = make_file (2, 'c', 2, FALSE);
  g_autoptr (GBytes) later = make_file (SMALL_PAGES, 'b', 3, TRUE);
  PlacePair pair;
  put ("/files/a.db", base);
  put ("/files/a.db-delta", delta);
  shelf_between (at, take_the_delta_in, later);
  if (refresh (&f, &pair, NULL))
    g_assert_true (is_file (f.to, later) || (is_file (f.to, base) && is_file (f.to_delta, delta)));
  gboolean was_reached = shelf_requests () >= at;
  shelf_between (0, NULL, NULL);
  place_pair_clear (&pair);
  end (&f);
  return was_reached;
}

static void
test_a_delta_is_taken_in (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      guint at = 1;
      while (take_in_at (&kinds[i], at))
        g_assert_cmpuint (++at, <, SPAN_MAX);
      g_assert_cmpuint (at, >, 4);
    }
}

/* ---- this machine's disk ---- */

static void
test_no_room_here (void)
{
  Fixture f;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
  PlacePair pair;
  begin (&f, &kinds[0]);
  put ("/files/a.db", bytes);
  g_autofree char *to = g_steal_pointer (&f.to);
  f.to = g_build_filename (f.folder, "absent", "copy", NULL);
  g_assert_false (refresh (&f, &pair, &error));
  g_assert_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL);
  g_assert_nonnull (strstr (error->message, f.to));
  g_clear_error (&error);

  g_free (f.to);
  f.to = g_steal_pointer (&to);
  g_assert_cmpint (g_mkdir (f.to, 0700), ==, 0); /* a folder has the name of the copy */
  g_assert_false (refresh (&f, &pair, &error));
  g_assert_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL);
  g_assert_cmpint (g_rmdir (f.to), ==, 0);
  assert_copy (&f, bytes, NULL);
  end (&f);
}

/* ---- copies are compared with the store, and the place is tried ---- */

static gboolean
holds (const Fixture *f, const char *path, GError **error)
{
  g_autoptr (Place) place = place_at (f->kind);
  g_autofree char *way = g_build_filename (f->folder, "way", NULL);
  gboolean is_same = TRUE, good = place_holds (place, "", path, way, &is_same, error);
  g_assert_cmpint (g_access (way, F_OK), !=, 0);
  return good && is_same;
}

static void
test_holds (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      Fixture f;
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = make_file (LARGE_PAGES, 'a', 1, FALSE);
      g_autoptr (GBytes) longer = make_file (LARGE_PAGES + 1, 'a', 1, FALSE);
      gsize size = g_bytes_get_size (bytes);
      g_autofree guint8 *copy = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
      begin (&f, &kinds[i]);
      g_assert_true (g_file_set_contents (f.moved, (char *)copy, (gssize)size, NULL));
      g_assert_false (holds (&f, f.moved, &error)); /* there is no file */
      put ("/files/a.db", bytes);
      g_assert_true (holds (&f, f.moved, &error));
      g_assert_no_error (error);
      copy[size - 1] ^= 1;
      shelf_put ("/files/a.db", copy, size);
      g_assert_false (holds (&f, f.moved, &error));
      put ("/files/a.db", longer);
      g_assert_false (holds (&f, f.moved, &error));
      g_assert_false (holds (&f, "/absent", &error));
      g_assert_no_error (error);
      shelf_fail (SHELF_REFUSES, 1, 1);
      g_assert_false (holds (&f, f.moved, &error));
      g_assert_error (error, PLACE_ERROR, PLACE_ERROR_DOWN);
      end (&f);
    }
}

static void
let_a_second_pass (gpointer data)
{
  (void)data;
  __atomic_fetch_add (&now_us, G_USEC_PER_SEC, __ATOMIC_SEQ_CST);
}

/* A trial leaves no file there, and failures are reported. */
static void
test_trial (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      guint64 us;
      Fixture f;
      begin (&f, &kinds[i]);
      g_autoptr (Place) place = place_at (&kinds[i]);
      shelf_between (1, let_a_second_pass, NULL);
      g_assert_true (place_trial (place, 100000, &us, NULL));
      shelf_between (0, NULL, NULL);
      g_assert_cmpuint (us, >=, G_USEC_PER_SEC);
      g_assert_cmpuint (us, <, 2 * G_USEC_PER_SEC);
      g_autofree char *names = shelf_names ();
      g_assert_cmpstr (names, ==, "");
      for (guint at = 1;; at++)
        {
          g_autoptr (GError) error = NULL;
          g_assert_cmpuint (at, <, SPAN_MAX);
          place_ask_again (place);
          shelf_fail (SHELF_REFUSES, at, SPAN_MAX);
          gboolean good = place_trial (place, 512, &us, &error);
          g_assert_true (good == (error == NULL));
          if (!shelf_has_failed ())
            break;
          if (!good)
            g_assert_error (error, PLACE_ERROR, PLACE_ERROR_DOWN);
        }
      end (&f);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  copies_set_up ();
  g_autofree char *folder = g_build_filename (
      g_getenv ("TMPDIR") != NULL ? g_getenv ("TMPDIR") : "/tmp", "satin-copies-XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (folder));
  g_setenv ("TMPDIR", folder, TRUE);
  g_test_add_func ("/place-copy/copies", test_copies);
  g_test_add_func ("/place-copy/a-download-has-no-limit", test_a_download_has_no_limit);
  g_test_add_func ("/place-copy/copies-are-known", test_copies_are_known);
  g_test_add_func ("/place-copy/headers-are-read", test_headers_are_read);
  g_test_add_func ("/place-copy/every-request-fails", test_every_request_fails);
  g_test_add_func ("/place-copy/others-come-between", test_others_come_between);
  g_test_add_func ("/place-copy/a-delta-is-taken-in", test_a_delta_is_taken_in);
  g_test_add_func ("/place-copy/no-room-here", test_no_room_here);
  g_test_add_func ("/place-copy/holds", test_holds);
  g_test_add_func ("/place-copy/trial", test_trial);
  int status = g_test_run ();
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* no test has left a file on this machine */
  return status;
}
