/* SPDX-License-Identifier: BSD-3-Clause */
/* Resume, inspect, copies, fresh starts and bids with a checkpoint at a URI (coordinator/restore.c,
 * bid.c), at the store in memory (shelf.h). Nothing at the place is lost, whatever fails. Links
 * coordinator, storage and value. */
#include "far.h"

#include "coordinator/bid.h"

#include "storage/sql.h"

#define N_ROWS 10
#define SPAN_MAX 60

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

static void
leave_small (const FarKind *kind)
{
  far_begin (kind);
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, HOUR_US, 0);
  save_many (scribe, 0, N_ROWS);
  finish_all (place, scribe);
}

/* The URI of another file beside that of `kind`. (transfer full) */
static char *
beside (const FarKind *kind, const char *name)
{
  const char *slash = strrchr (kind->uri, '/');
  return g_strdup_printf ("%.*s/%s", (int)(slash - kind->uri), kind->uri, name);
}

static void
look (const FarKind *kind)
{
  g_auto (Restore) restore = { 0 };
  g_autoptr (GError) error = NULL;
  g_assert_true (restore_look (kind->uri, &restore, &error));
  g_assert_no_error (error);
  g_assert_false (restore.exists);
  g_assert_false (restore_is_ours (kind->uri));
  g_assert_null (restore_open (kind->uri, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, "there is no checkpoint at"));
  g_clear_error (&error);

  leave_small (kind);
  assert_rows (kind->uri, N_ROWS);
  g_assert_true (restore_is_ours (kind->uri));
  g_autoptr (Sql) file = restore_open (kind->uri, &error);
  g_assert_no_error (error);
  RestoreQuery query = { .limit = 3 };
  g_autoptr (GPtrArray) rows = restore_rows (file, &query, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, 3);

  shelf_put (FAR_FILE, "somebody's letter, which is no checkpoint at all", 48);
  g_assert_false (restore_is_ours (kind->uri));
  g_assert_false (restore_look (kind->uri, &restore, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  assert_sentence (error->message); /* names the URI, not a copy on this host */
}

static void
test_look (void)
{
  for_each_kind (look);
}

/* The file that a look for a start has fetched is the copy that the coordinator takes. */
static void
look_for_a_start (const FarKind *kind)
{
  leave_small (kind);
  g_autoptr (Place) place = far_place_new (kind);
  g_autofree char *copy = g_build_filename (place->folder, "copy", NULL);
  g_autoptr (GError) error = NULL;
  g_auto (Restore) restore = { 0 };
  Identity identity = identity_make ("run-1", "app", "8");
  g_assert_true (restore_look_for (kind->uri, copy, &identity, &restore, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (restore.generation, >=, 1);
  g_assert_true (restore_matches (&restore, &identity, kind->uri, &error));
  identity_clear (&identity);
  g_autofree char *here = ask (copy, "SELECT count(*) FROM result");
  g_assert_cmpstr (here, ==, "10");

  shelf_fail (SHELF_SOUND, 0, 0);
  ScribeConfig config = far_config (place, HOUR_US);
  config.copy = copy;
  Scribe *scribe = far_scribe (&config, &error);
  g_assert_no_error (error);
  ScribeStats stats;
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.rows, ==, N_ROWS);
  finish_all (place, scribe);
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

static void
test_look_for_a_start (void)
{
  for_each_kind (look_for_a_start);
}

/* A store that does not answer, or refuses, is reported in one message, by all readers and
 * writers. */
static void
fails (const FarKind *kind)
{
  static const ShelfFault how[] = { SHELF_REFUSES, SHELF_SILENT, SHELF_ANSWERS };
  Identity identity = identity_make ("run-1", "app", "8");
  leave_small (kind);
  shelf_answer (403, 67); /* libcurl's CURLE_LOGIN_DENIED */
  for (guint i = 0; i < G_N_ELEMENTS (how); i++)
    for (guint what = 0; what < 5; what++)
      {
        g_autoptr (GError) error = NULL;
        g_auto (Restore) restore = { 0 };
        g_autofree char *name = NULL;
        BidResult bid;
        shelf_fail (how[i], 1, G_MAXUINT);
        if (what == 0)
          g_assert_false (restore_look (kind->uri, &restore, &error));
        else if (what == 1)
          g_assert_null (restore_open (kind->uri, &error));
        else if (what == 2)
          g_assert_false (restore_copy ("/dev/null", kind->uri, &error));
        else if (what == 3)
          g_assert_null (name = restore_set_aside (kind->uri, &error));
        else
          g_assert_false (bid_make (kind->uri, &identity, &bid, &error));
        g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
        assert_sentence (error->message);
      }
  shelf_fail (SHELF_SOUND, 0, 0);
  assert_rows (kind->uri, N_ROWS);
  identity_clear (&identity);
}

static void
test_fails (void)
{
  for_each_kind (fails);
}

/* A copy is one file that includes the delta, and replaces no file. */
static void
copy (const FarKind *kind)
{
  g_autoptr (GBytes) base = NULL, delta = NULL;
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *other = beside (kind, "other.ckpt"), *third = beside (kind, "third.ckpt");
  far_leave_pair (kind, &base, &delta);
  g_assert_true (restore_copy (kind->uri, place->target, &error)); /* to a path … */
  g_assert_no_error (error);
  assert_rows (place->target, BASE_ROWS + 10);
  g_assert_true (restore_copy (place->target, other, &error)); /* … from one … */
  g_assert_no_error (error);
  assert_rows (other, BASE_ROWS + 10);
  g_assert_true (restore_copy (kind->uri, third, &error)); /* … and from URI to URI */
  g_assert_no_error (error);
  assert_rows (third, BASE_ROWS + 10);
  assert_names ("other.ckpt run.ckpt run.ckpt-delta third.ckpt");
  g_assert_cmpuint (place_strangers (place), ==, 0);

  g_autoptr (GBytes) before = far_bytes ("/files/other.ckpt");
  const char *const taken[] = { other, place->target };
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++)
    {
      g_assert_false (restore_copy (kind->uri, taken[i], &error));
      g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
      g_assert_nonnull (strstr (error->message, "is there already: choose another place"));
      g_assert_null (strstr (error->message, "me@"));
      g_clear_error (&error);
    }
  g_autoptr (GBytes) after = far_bytes ("/files/other.ckpt");
  g_assert_true (before == after);
}

static void
test_copy (void)
{
  for_each_kind (copy);
}

static void
put_first (gpointer data)
{
  shelf_put ("/files/other.ckpt", data, strlen (data));
}

/* A file that appears between the look and the copy stays. */
static void
copy_comes_second (const FarKind *kind)
{
  g_autofree char *other = beside (kind, "other.ckpt");
  leave_small (kind);
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_assert_true (restore_copy (kind->uri, place->target, &error));
  guint at = 1;
  for (; at < SPAN_MAX; at++)
    {
      shelf_remove ("/files/other.ckpt");
      shelf_between (at, put_first, "the other's");
      gboolean good = restore_copy (place->target, other, &error);
      gboolean was_reached = shelf_requests () >= at;
      shelf_between (0, NULL, NULL);
      if (!was_reached)
        break;
      g_assert_true (good == (error == NULL));
      g_autoptr (GBytes) stands = far_bytes ("/files/other.ckpt");
      if (!good)
        {
          g_assert_nonnull (strstr (error->message, "is there already"));
          g_assert_cmpuint (g_bytes_get_size (stands), ==, strlen ("the other's"));
          g_clear_error (&error);
        }
    }
  g_assert_cmpuint (at, >, 2);
  g_assert_cmpuint (at, <, SPAN_MAX);
}

static void
test_copy_comes_second (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i++)
    {
      far_begin (&far_kinds[i]);
      copy_comes_second (&far_kinds[i]);
    }
}

/* A fresh start moves the checkpoint to another name, with its delta. */
static void
set_aside (const FarKind *kind)
{
  g_autoptr (GBytes) base = NULL, delta = NULL;
  g_autoptr (GError) error = NULL;
  far_leave_pair (kind, &base, &delta);
  g_autofree char *name = restore_set_aside (kind->uri, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (name, "run.ckpt.old-"));
  g_assert_null (strstr (name, "me@"));
  g_autofree char *uri = beside (kind, strrchr (name, '/') + 1);
  assert_rows (uri, BASE_ROWS + 10);
  g_autoptr (GBytes) gone = shelf_get (FAR_FILE), gone_delta = shelf_get (FAR_DELTA);
  g_assert_null (gone);
  g_assert_null (gone_delta);
}

static void
test_set_aside (void)
{
  for_each_kind (set_aside);
}

/* TRUE if a whole copy of base and delta is there, under any name. */
static gboolean
stands_somewhere (const FarKind *kind)
{
  g_autofree char *names = shelf_names ();
  g_auto (GStrv) list = g_strsplit (names, " ", -1);
  gboolean found = FALSE;
  for (guint i = 0; list[i] != NULL && !found; i++)
    {
      g_auto (Restore) restore = { 0 };
      g_autofree char *uri = beside (kind, list[i]);
      found = !g_str_has_suffix (list[i], "-delta") && restore_look (uri, &restore, NULL)
              && restore.exists && restore.rows == BASE_ROWS + 10;
    }
  return found;
}

static void
test_set_aside_loses_nothing (void)
{
  static const ShelfFault how[] = { SHELF_REFUSES, SHELF_LOSES, SHELF_TEARS, SHELF_SILENT };
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i += 3) /* sftp and s3 */
    {
      const FarKind *kind = &far_kinds[i];
      g_autoptr (GBytes) base = NULL, delta = NULL;
      far_leave_pair (kind, &base, &delta);
      for (guint j = 0; j < G_N_ELEMENTS (how); j++)
        for (guint at = 1;; at++)
          {
            g_autoptr (GError) error = NULL;
            g_assert_cmpuint (at, <, SPAN_MAX);
            far_begin (kind);
            far_put (FAR_FILE, base);
            far_put (FAR_DELTA, delta);
            shelf_fail (how[j], at, at + 3);
            g_autofree char *name = restore_set_aside (kind->uri, &error);
            gboolean was_reached = shelf_has_failed ();
            shelf_fail (SHELF_SOUND, 0, 0);
            g_assert_true ((name == NULL) == (error != NULL));
            if (!was_reached)
              break;
            if (error != NULL)
              assert_sentence (error->message);
            g_assert_true (stands_somewhere (kind));
          }
    }
}

/* A bid reports the generation at the store, that of the delta if there is one, and leaves no
 * file. */
static void
bids (const FarKind *kind)
{
  g_autoptr (GBytes) base = NULL, delta = NULL;
  g_autoptr (GError) error = NULL;
  Identity identity = identity_make ("run-1", "app", "8");
  BidResult result;
  g_assert_true (bid_make (kind->uri, &identity, &result, &error));
  g_assert_cmpuint (result.generation, ==, 0);
  g_assert_cmpuint (result.bytes, ==, BID_BYTES_MIN);
  assert_names ("");
  leave_small (kind);
  g_auto (Restore) restore = { 0 };
  g_assert_true (restore_look (kind->uri, &restore, NULL));
  g_assert_true (bid_make (kind->uri, &identity, &result, &error));
  g_assert_cmpuint (result.generation, ==, restore.generation);
  assert_names ("run.ckpt");

  far_leave_pair (kind, &base, &delta);
  restore_clear (&restore);
  g_assert_true (restore_look (kind->uri, &restore, NULL));
  g_assert_true (bid_make (kind->uri, &identity, &result, &error));
  g_assert_cmpuint (result.generation, ==, restore.generation);
  g_assert_cmpuint (result.bytes, ==,
                    g_bytes_get_size (delta)); /* the part that is sent again and again */
  shelf_remove (FAR_DELTA);
  g_assert_true (bid_make (kind->uri, &identity, &result, &error));
  g_assert_cmpuint (result.generation, <, restore.generation);
  g_assert_cmpuint (result.bytes, ==, g_bytes_get_size (base));
  g_assert_no_error (error);
  assert_names ("run.ckpt");
  identity_clear (&identity);
}

static void
test_bids (void)
{
  for_each_kind (bids);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  far_set_up ();
  g_test_add_func ("/restore-far/look", test_look);
  g_test_add_func ("/restore-far/look-for-a-start", test_look_for_a_start);
  g_test_add_func ("/restore-far/fails", test_fails);
  g_test_add_func ("/restore-far/copy", test_copy);
  g_test_add_func ("/restore-far/copy-comes-second", test_copy_comes_second);
  g_test_add_func ("/restore-far/set-aside", test_set_aside);
  g_test_add_func ("/restore-far/set-aside-loses-nothing", test_set_aside_loses_nothing);
  g_test_add_func ("/restore-far/bids", test_bids);
  return g_test_run ();
}
