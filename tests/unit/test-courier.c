/* SPDX-License-Identifier: BSD-3-Clause */
/* What coordinator/courier.c, scribe-far.c and ledger-ahead.c do when other processes use the same
 * URI, which publish there, or remove or damage the file; and how long they wait for a slow store.
 * Uses the store in memory (shelf.h). Links coordinator, storage and value. */
#include "far.h"

#include "coordinator/bid.h"
#include "coordinator/courier.h"

/* Enough rows for a file of more than the 4 MiB from which a file counts as large. */
#define LARGE_ROWS 70000u

/* In a split two coordinators publish to one place: the rows of both are there at the end. */
static void
two (const FarKind *kind, guint64 delta_from, guint first)
{
  g_autoptr (Place) place = far_place_new (kind), other = far_place_new (kind);
  Scribe *one = far_start (place, MS_US, delta_from);
  save_many (one, 0, first);
  wait_published (place, one);
  Scribe *rival = far_start (other, MS_US, delta_from);
  for (guint i = 0; i < 4; i++)
    {
      save_many (one, 20000 + 10 * i, 10);
      save_many (rival, 30000 + 10 * i, 10);
      wait_published (i % 2 ? place : other, i % 2 ? one : rival);
    }
  finish_all (place, one);
  finish_all (other, rival);
  assert_rows (kind->uri, first + 80);
}

static void
test_two (void)
{
  g_atomic_int_set (&far_sleeps, 1); /* another writer's lock is taken over after ten seconds */
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i++)
    {
      far_begin (&far_kinds[i]);
      two (&far_kinds[i], 0, 5);
      far_begin (&far_kinds[i]);
      two (&far_kinds[i], FROM_BYTES, BASE_ROWS);
    }
  g_atomic_int_set (&far_sleeps, 0);
}

/* A checkpoint that somebody removes is published again, with all that was saved. */
static void
removed (const FarKind *kind)
{
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, FROM_BYTES);
  save_many (scribe, 0, 5);
  wait_published (place, scribe);
  shelf_remove (FAR_FILE);
  save_many (scribe, 5, BASE_ROWS);
  wait_published (place, scribe);
  assert_rows (kind->uri, BASE_ROWS + 5);
  save_many (scribe, BASE_ROWS + 5, 5);
  wait_published (place, scribe);
  assert_names ("run.ckpt run.ckpt-delta");
  shelf_remove (FAR_FILE); /* the delta alone is useless */
  save_many (scribe, BASE_ROWS + 10, 5);
  wait_published (place, scribe);
  assert_rows (kind->uri, BASE_ROWS + 15);
  finish_all (place, scribe);
  assert_rows (kind->uri, BASE_ROWS + 15);
  scribe = far_start (place, HOUR_US, FROM_BYTES);
  finish_all (place, scribe);
  assert_names ("run.ckpt");
  assert_rows (kind->uri, BASE_ROWS + 15);
}

static void
test_removed (void)
{
  for_each_kind (removed);
}

typedef struct
{
  GBytes *files[2];
  gint n; /* atomic: how often another writer has published */
  gint end;
} Turns;

static void
put_other (gpointer data)
{
  Turns *turns = data;
  gint n = g_atomic_int_get (&turns->n);
  if (n >= g_atomic_int_get (&turns->end))
    return;
  far_put (FAR_FILE, turns->files[n % 2]);
  g_atomic_int_inc (&turns->n);
}

/* Other writers that publish first again and again are reported. Their rows are merged with ours as
 * soon as this coordinator can publish. */
static void
test_others_go_first (void)
{
  const FarKind *kind = &far_kinds[0];
  Turns turns = { .end = G_MAXINT };
  for (guint i = 0; i < 2; i++)
    {
      far_begin (kind);
      g_autoptr (Place) other = far_place_new (kind);
      Scribe *scribe = far_start (other, HOUR_US, 0);
      save_many (scribe, 100 + 10 * i, 10);
      finish_all (other, scribe);
      turns.files[i] = far_bytes (FAR_FILE);
    }
  shelf_clear ();
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, 0);
  save_many (scribe, 0, 10);
  wait_published (place, scribe);
  shelf_between (0, put_other, &turns);
  save_many (scribe, 10, 10);
  wait_for_trouble (place);
  g_assert_nonnull (strstr (place->trouble, "others replace it again and again"));
  assert_sentence (place->trouble);
  g_atomic_int_set (&turns.end, 0);
  wait_published (place, scribe);
  shelf_between (0, NULL, NULL);
  finish_all (place, scribe);
  assert_rows (kind->uri, 40);
  g_bytes_unref (turns.files[0]);
  g_bytes_unref (turns.files[1]);
}

/* Damages two pages in the middle of the table: a single one would be restored from the spare
 * pages. */
static GBytes *
harm (GBytes *bytes)
{
  gsize size;
  guint8 *copy = g_bytes_unref_to_data (bytes, &size);
  for (gsize at = size / 2; at < size / 2 + 16384; at++)
    copy[at] ^= 0x55;
  return g_bytes_new_take (copy, size);
}

/* A damaged file is kept beside its successor, at the store. If that is not possible, it is not
 * replaced. */
static void
damaged (const FarKind *kind)
{
  g_autoptr (GBytes) base = NULL, delta = NULL;
  far_leave_pair (kind, &base, &delta);
  base = harm (g_steal_pointer (&base));
  far_put (FAR_FILE, base);
  Restore restore;
  g_assert_true (restore_look (kind->uri, &restore, NULL));
  g_assert_nonnull (restore.damage);
  guint64 rows = restore.rows;
  g_assert_cmpuint (rows, >, BASE_ROWS / 2);
  g_assert_cmpuint (rows, <, BASE_ROWS + 10);
  restore_clear (&restore);

  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, HOUR_US, FROM_BYTES);
  save_many (scribe, 20000, 5);
  finish_all (place, scribe);
  g_assert_cmpuint (place->n_trouble, ==, 1);
  assert_sentence (place->trouble);
  const char *kept = strstr (place->trouble, "the damaged file is kept as '");
  g_assert_nonnull (kept);
  const char *suffix = strstr (kept, ".damaged-");
  g_assert_nonnull (suffix);
  g_autofree char *path = g_strdup_printf (FAR_FILE "%.*s", (int)strcspn (suffix, "'"), suffix);
  g_autoptr (GBytes) aside = far_bytes (path);
  g_assert_true (g_bytes_equal (aside, base));
  assert_rows (kind->uri, rows + 5);
}

static void
test_damaged (void)
{
  for_each_kind (damaged);
}

static void
test_damaged_cannot_be_kept (void)
{
  const FarKind *kind = &far_kinds[0];
  g_autoptr (GBytes) base = NULL, delta = NULL;
  far_leave_pair (kind, &base, &delta);
  base = harm (g_steal_pointer (&base));
  for (guint at = 1;; at++)
    {
      far_begin (kind);
      far_put (FAR_FILE, base);
      far_put (FAR_DELTA, delta);
      g_autoptr (Place) place = far_place_new (kind);
      g_autoptr (GError) error = NULL;
      ScribeConfig config = far_config (place, HOUR_US);
      shelf_fail (SHELF_REFUSES, at, G_MAXUINT);
      Scribe *scribe = far_scribe (&config, &error);
      shelf_fail (SHELF_SOUND, 0, 0);
      if (scribe != NULL)
        {
          g_assert_cmpuint (at, >, 5);
          finish_all (place, scribe);
          return;
        }
      assert_sentence (error->message);
      g_autoptr (GBytes) now = far_bytes (FAR_FILE);
      g_assert_true (g_bytes_equal (now, base));
      g_assert_cmpuint (place_strangers (place), ==, 0);
    }
}

/* ---- large files that were already fetched ---- */

static void
leave_large (const FarKind *kind)
{
  far_begin (kind);
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, HOUR_US, 0);
  save_many (scribe, 0, LARGE_ROWS);
  finish_all (place, scribe);
  g_autoptr (GBytes) bytes = far_bytes (FAR_FILE);
  g_assert_cmpuint (g_bytes_get_size (bytes), >, 4 * 1024 * 1024);
}

static Scribe *
start_with_copy (Place *place, const char *copy, GError **error)
{
  ScribeConfig config = far_config (place, HOUR_US);
  config.copy = copy;
  config.loads = TRUE;
  return far_scribe (&config, error);
}

/* A look at the checkpoint fetches it. The coordinator then continues with that copy, which becomes
 * its work file. */
static void
test_large (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i += 2) /* sftp and http */
    {
      leave_large (&far_kinds[i]);
      g_autoptr (Place) place = far_place_new (&far_kinds[i]);
      g_autofree char *copy = g_build_filename (place->folder, "copy", NULL);
      g_autoptr (GError) error = NULL;
      Identity identity = identity_make ("run-1", "app", "8");
      Restore restore;
      g_assert_true (restore_look_for (place->target, copy, &identity, &restore, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (restore.identity.run, ==, "run-1");
      restore_clear (&restore);
      BidResult bid; /* no bid sends a file as large */
      g_assert_true (bid_make (place->target, &identity, &bid, &error));
      g_assert_cmpuint (bid.bytes, ==, BID_BYTES_MAX);
      identity_clear (&identity);

      Scribe *scribe = start_with_copy (place, copy, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (place->rows->len, ==, LARGE_ROWS);
      scribe_load (scribe, NULL);
      place_wait (place, &place->n_restored_final, 1);
      g_assert_cmpuint (place->rows->len, ==, LARGE_ROWS);
      save_many (scribe, LARGE_ROWS, 10);
      finish_all (place, scribe);
      g_assert_cmpuint (place_strangers (place), ==, 0);
      assert_rows (place->target, LARGE_ROWS + 10);
      g_assert_cmpuint (place->n_trouble, ==, 0);
    }
}

/* The checkpoint is removed after the look, before the coordinator begins: the coordinator
 * continues from the copy and publishes all of it again. */
static void
removed_after_a_look (const FarKind *kind)
{
  g_autoptr (GBytes) base = NULL, delta = NULL;
  far_leave_pair (kind, &base, &delta);
  far_begin (kind);
  far_put (FAR_FILE, base);
  far_put (FAR_DELTA, delta);
  g_autoptr (Place) place = far_place_new (kind);
  g_autofree char *copy = g_build_filename (place->folder, "copy", NULL);
  g_autoptr (GError) error = NULL;
  Restore restore;
  Identity identity = identity_make ("run-1", "app", "8");
  g_assert_true (restore_look_for (place->target, copy, &identity, &restore, &error));
  g_assert_no_error (error);
  restore_clear (&restore);
  identity_clear (&identity);
  shelf_remove (FAR_FILE);
  shelf_remove (FAR_DELTA);

  Scribe *scribe = start_with_copy (place, copy, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (place->rows->len, ==, BASE_ROWS + 10);
  save_many (scribe, LARGE_ROWS, 10);
  finish_all (place, scribe);
  assert_rows (place->target, BASE_ROWS + 20);
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

static void
test_removed_after_a_look (void)
{
  for_each_kind (removed_after_a_look);
}

/* ---- slow stores ---- */

/* Before each request: a delta stands only beside a base whose header says so (PLACE_MARK_AT of
 * place.h, which checkpoint.h excludes); for no reader would look for another. */
static void
check_mark (gpointer data)
{
  g_autoptr (GBytes) base = shelf_get (FAR_FILE), delta = shelf_get (FAR_DELTA);
  const guint8 *bytes = base != NULL ? g_bytes_get_data (base, NULL) : NULL;
  g_assert_true (delta == NULL || (bytes != NULL && bytes[92] >= 0x80));
  *(gboolean *)data |= delta != NULL;
}

static void
test_a_base_without_a_mark (void)
{
  gboolean had_delta = FALSE;
  far_begin (&far_kinds[0]);
  g_autoptr (Place) place = far_place_new (&far_kinds[0]);
  Scribe *scribe = far_start (place, HOUR_US, 0);
  save_many (scribe, 0, BASE_ROWS);
  finish_all (place, scribe);
  shelf_between (0, check_mark, &had_delta);
  scribe = far_start (place, MS_US, FROM_BYTES);
  for (guint i = 0; i < 2; i++)
    {
      save_many (scribe, BASE_ROWS + 10 * i, 10);
      wait_published (place, scribe);
    }
  finish_all (place, scribe);
  shelf_between (0, NULL, NULL);
  g_assert_true (had_delta);
  assert_rows (place->target, BASE_ROWS + 20);
}

typedef struct
{
  Scribe *scribe;
  guint n;
  gboolean finishes; /* calls scribe_finish at the first part */
} Slow;

static Slow slow;

/* Each part of a file takes five seconds, in which the scribe looks after the transfer. */
static void
take_5_s (void)
{
  const struct timespec pause = { .tv_nsec = 5000000 };
  g_autofree char *path = g_strdup_printf ("/%u", 90000 + slow.n++);
  if (slow.finishes && slow.n == 1)
    scribe_finish (slow.scribe);
  else if (!slow.finishes)
    save_one (slow.scribe, row_make (path, 1, 1, 1e-6));
  (void)nanosleep (&pause, NULL);
  __atomic_fetch_add (&far_skipped_us, 5 * G_USEC_PER_SEC, __ATOMIC_SEQ_CST);
}

/* A store that is slow is waited for, and then left alone for longer. But when the run ends during
 * a transfer, it is given up, and so is the next try: the results are kept here. */
static void
test_slow_in_the_middle (void)
{
  for (gboolean finishes = FALSE; finishes <= TRUE; finishes++)
    {
      far_begin (&far_kinds[0]);
      g_autoptr (Place) place = far_place_new (&far_kinds[0]);
      g_autofree char *spare = g_build_filename (place->folder, "work.kept", NULL);
      g_autoptr (GError) error = NULL;
      ScribeConfig config = far_config (place, MS_US);
      config.spare = spare;
      slow = (Slow){ .scribe = far_scribe (&config, &error), .finishes = finishes };
      g_assert_no_error (error);
      wait_published (place, slow.scribe);
      guint n_published = place->n_published; /* nothing else is to be published */
      shelf_each_chunk (take_5_s);
      save_one (slow.scribe, row_make ("/1", 1, 1, 0.1));
      if (finishes)
        {
          place_wait (place, &place->n_final, 1);
          g_assert_nonnull (place->trouble);
          g_assert_nonnull (strstr (place->trouble, spare));
        }
      else
        {
          pthread_mutex_lock (&place->lock);
          while (place->n_trouble == 0 && place->n_published < n_published + 2)
            pthread_cond_wait (&place->wake, &place->lock);
          g_assert_nonnull (place->trouble); /* told before the second slow one */
          g_assert_nonnull (strstr (place->trouble, "publishing takes"));
          pthread_mutex_unlock (&place->lock);
        }
      shelf_each_chunk (NULL);
      if (finishes)
        scribe_free (slow.scribe);
      else
        finish_all (place, slow.scribe);
      assert_rows (finishes ? spare : place->target, finishes ? 1 : 1 + slow.n);
    }
}

#define REST_MAX_US (80 * G_USEC_PER_SEC) /* a minute, and a quarter more by chance */

/* A store that fails again and again is not left alone for longer than a minute. Meanwhile the last
 * generation that it has is reported. */
static void
test_rests_end (void)
{
  ScribeStats stats;
  far_begin (&far_kinds[0]);
  g_autoptr (Place) place = far_place_new (&far_kinds[0]);
  g_autoptr (GError) error = NULL;
  ScribeConfig config = far_config (place, 16 * G_USEC_PER_SEC / 10);
  FarFailures failures = { .place = place };
  config.notify = far_note_failure;
  config.data = &failures;
  Scribe *scribe = far_scribe (&config, &error);
  g_assert_no_error (error);
  place_wait (place, &place->n_published, 1);
  shelf_fail (SHELF_REFUSES, 1, G_MAXUINT);
  save_many (scribe, 0, 5);
  place_wait (place, &failures.n, FAR_FAILURES);
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.generation, ==, place->generation);
  shelf_fail (SHELF_SOUND, 0, 0);
  finish_all (place, scribe);
  for (guint i = 1; i < FAR_FAILURES; i++)
    g_assert_cmpint (failures.at_us[i] - failures.at_us[i - 1], <, REST_MAX_US);
  assert_rows (place->target, 5);
}

/* When nothing is to be done, the scribe sleeps: it makes no rounds, after each of which it notes
 * its processor time. */
static void
test_sleeps (void)
{
  const struct timespec pause = { .tv_nsec = 10000000 };
  far_begin (&far_kinds[0]);
  g_autoptr (Place) place = far_place_new (&far_kinds[0]);
  Scribe *scribe = far_start (place, HOUR_US, 0);
  guint64 last_us = 0;
  save_many (scribe, 0, 5);
  finish (place, scribe);
  for (guint n_same = 0, n = 0; n_same < 5; n++)
    {
      ScribeStats stats;
      g_assert_cmpuint (n, <, 1000);
      (void)nanosleep (&pause, NULL);
      scribe_stats (scribe, &stats);
      n_same = stats.cpu_us == last_us ? n_same + 1 : 0;
      last_us = stats.cpu_us;
    }
  scribe_free (scribe);
}

/* The end of a transfer is reported once. Nothing is sent before the place was tried, or before the
 * end of the last transfer was reported. */
static void
test_moves (void)
{
  static const CourierState wanted[COURIER_STATES][COURIER_EVENTS] = {
    [COURIER_TRYING] = { COURIER_IDLE },
    [COURIER_IDLE] = { COURIER_NONE, COURIER_BUSY },
    [COURIER_BUSY] = { COURIER_NONE, COURIER_NONE, COURIER_SENT, COURIER_CHANGED, COURIER_FAILED },
  };

  for (CourierState from = 0; from < COURIER_STATES; from++)
    for (CourierEvent event = 0; event < COURIER_EVENTS; event++)
      g_assert_cmpint (courier_state_after (from, event), ==,
                       from >= COURIER_SENT && event == COURIER_ON_TAKE ? COURIER_IDLE
                                                                        : wanted[from][event]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  far_set_up ();
  g_test_add_func ("/courier/moves", test_moves);
  g_test_add_func ("/courier/two", test_two);
  g_test_add_func ("/courier/removed", test_removed);
  g_test_add_func ("/courier/others-go-first", test_others_go_first);
  g_test_add_func ("/courier/damaged", test_damaged);
  g_test_add_func ("/courier/damaged-cannot-be-kept", test_damaged_cannot_be_kept);
  g_test_add_func ("/courier/large", test_large);
  g_test_add_func ("/courier/removed-after-a-look", test_removed_after_a_look);
  g_test_add_func ("/courier/a-base-without-a-mark", test_a_base_without_a_mark);
  g_test_add_func ("/courier/slow-in-the-middle", test_slow_in_the_middle);
  g_test_add_func ("/courier/rests-end", test_rests_end);
  g_test_add_func ("/courier/sleeps", test_sleeps);
  return g_test_run ();
}
