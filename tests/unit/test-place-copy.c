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
      g_assert_true (place_trial (place, 100000, &us, NULL));
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
  g_test_add_func ("/place-copy/copies", test_copies);
  g_test_add_func ("/place-copy/every-request-fails", test_every_request_fails);
  g_test_add_func ("/place-copy/others-come-between", test_others_come_between);
  g_test_add_func ("/place-copy/no-room-here", test_no_room_here);
  g_test_add_func ("/place-copy/holds", test_holds);
  g_test_add_func ("/place-copy/trial", test_trial);
  return g_test_run ();
}
