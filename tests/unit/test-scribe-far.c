/* SPDX-License-Identifier: BSD-3-Clause */
/* A coordinator whose checkpoint is at a URI (coordinator/scribe-far.c), at the store in memory
 * (shelf.h). The store fails and falls silent; nothing that was saved is lost, and each failure is
 * reported in one sentence. Links coordinator, storage and value. */
#include "far.h"

#include "coordinator/scribe-private.h"

#define SPAN_MAX 60 /* requests of one publication */

static const ShelfFault faults[] = { SHELF_REFUSES, SHELF_LOSES, SHELF_TEARS, SHELF_SILENT };

/* The next coordinator finds all saved rows, and no other file stays, at the store or here. */
static void
goes_on (const FarKind *kind)
{
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, HOUR_US, 0);
  ScribeStats stats;
  save_many (scribe, 0, 10);
  finish_all (place, scribe);
  assert_rows (kind->uri, 10);
  g_assert_cmpuint (place_strangers (place), ==, 0);

  scribe = far_start (place, HOUR_US, 0);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);
  g_assert_cmpuint (place->rows->len, ==, 10);
  guint64 generation = place->generation;
  save_many (scribe, 10, 10);
  finish (place, scribe);
  g_assert_cmpuint (place->generation, >, generation);
  generation = place->generation;
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.sent, >, 0);
  g_assert_cmpuint (stats.rows, ==, 20);
  finish (place, scribe); /* nothing is new: the existing rows are reported again */
  g_assert_cmpuint (place->generation, ==, generation);
  scribe_free (scribe);
  assert_rows (kind->uri, 20);
  assert_names ("run.ckpt");
  g_assert_cmpuint (place_strangers (place), ==, 0);
  g_assert_cmpuint (place->n_trouble, ==, 0);
}

static void
test_goes_on (void)
{
  for_each_kind (goes_on);
}

/* A base, then deltas, which the last publication merges into a base. */
static void
deltas (const FarKind *kind)
{
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, FROM_BYTES);
  save_many (scribe, 0, BASE_ROWS);
  wait_published (place, scribe);
  g_autoptr (GBytes) base = far_bytes (FAR_FILE);
  save_many (scribe, BASE_ROWS, 10);
  wait_published (place, scribe);
  assert_names ("run.ckpt run.ckpt-delta");
  g_autoptr (GBytes) same = far_bytes (FAR_FILE);
  g_assert_true (base == same);
  assert_rows (kind->uri, BASE_ROWS + 10);
  scribe_free (scribe); /* as after a kill: nothing is published */

  scribe = far_start (place, MS_US, FROM_BYTES);
  save_many (scribe, BASE_ROWS + 10, 10);
  wait_published (place, scribe);
  assert_rows (kind->uri, BASE_ROWS + 20);
  finish_all (place, scribe);
  assert_names ("run.ckpt");
  assert_rows (kind->uri, BASE_ROWS + 20);
}

static void
test_deltas (void)
{
  for_each_kind (deltas);
}

/* Only `make check-long` lets each request fail. The short check takes one of `n`, for each kind
 * and fault others. */
static guint
one_of (guint n)
{
  return g_getenv ("SATIN_LONG") != NULL ? 1 : n;
}

/* Requests `at` to `last` after the first publication fail, during the run. FALSE: there were not
 * so many. */
static gboolean
fail_in_the_middle (const FarKind *kind, ShelfFault fault, guint at, guint last)
{
  far_begin (kind);
  g_test_message ("fault %d at %u to %u", fault, at, last);
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, 0);
  save_many (scribe, 0, 5);
  wait_published (place, scribe);
  shelf_fail (fault, at, last);
  save_many (scribe, 5, 5);
  wait_published (place, scribe);
  gboolean was_reached = shelf_has_failed ();
  shelf_fail (SHELF_SOUND, 0, 0);
  assert_rows (kind->uri, 10);
  save_many (scribe, 10, 5);
  finish_all (place, scribe);
  assert_rows (kind->uri, 15);
  g_assert_cmpuint (place_strangers (place), ==, 0);
  return was_reached;
}

static void
test_failures_in_the_middle (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i++)
    for (guint j = 0; j < G_N_ELEMENTS (faults); j++)
      {
        guint every = one_of (3), at = 1 + (i + j) % every;
        for (; fail_in_the_middle (&far_kinds[i], faults[j], at, at + (at % 2 ? 0 : 6));
             at += every)
          g_assert_cmpuint (at, <, SPAN_MAX);
        g_assert_cmpuint (at, >, 3);
      }
}

/* Requests `at` to `last` fail while the next coordinator sends a delta and, at its end, the base
 * that includes it. FALSE: there were not so many. */
static gboolean
fail_with_deltas (const FarKind *kind, GBytes *base, GBytes *delta, ShelfFault fault, guint at,
                  guint last)
{
  far_begin (kind);
  g_test_message ("fault %d at %u to %u", fault, at, last);
  far_put (FAR_FILE, base);
  far_put (FAR_DELTA, delta);
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, FROM_BYTES);
  shelf_fail (fault, at, last);
  save_many (scribe, BASE_ROWS + 10, 10);
  wait_published (place, scribe);
  finish_all (place, scribe);
  gboolean was_reached = shelf_has_failed ();
  shelf_fail (SHELF_SOUND, 0, 0);
  assert_rows (kind->uri, BASE_ROWS + 20);
  return was_reached;
}

static void
test_failures_with_deltas (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i += 3) /* sftp and s3 */
    {
      g_autoptr (GBytes) base = NULL, delta = NULL;
      far_leave_pair (&far_kinds[i], &base, &delta);
      for (guint j = 0; j < G_N_ELEMENTS (faults); j++)
        {
          guint every = one_of (3), at = 1 + (i + j) % every;
          for (; fail_with_deltas (&far_kinds[i], base, delta, faults[j], at, at); at += every)
            g_assert_cmpuint (at, <, SPAN_MAX);
        }
    }
}

#define TOLD_ROWS 40

typedef struct
{
  Place *place;
  Scribe *scribe;
  guint n_saved;
} Late;

/* Saves another row, and lets the scribe write it, while the publication is under way. */
static void
save_meanwhile (gpointer data)
{
  Late *late = data;
  const struct timespec pause = { .tv_nsec = 5000000 };
  if (late->scribe == NULL || late->n_saved == TOLD_ROWS)
    return;
  g_autofree char *path = g_strdup_printf ("/%u", late->n_saved);
  save_one (late->scribe, row_make (path, 1, 1, 0.001));
  scribe_ticket (late->scribe, ++late->n_saved);
  (void)nanosleep (&pause, NULL);
}

/* In the scribe's thread, which publishes nothing else meanwhile. */
static void
look_when_told (const ScribeNews *news, void *data)
{
  Late *late = data;
  if (news->kind == SCRIBE_PUBLISHED && news->ticket > 0)
    {
      g_autofree char *path = g_build_filename (late->place->folder, "seen", NULL);
      g_autoptr (GBytes) bytes = far_bytes (FAR_FILE);
      g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                          (gssize)g_bytes_get_size (bytes), NULL));
      g_autofree char *rows = ask (path, "SELECT count(*) FROM result");
      g_assert_cmpuint (g_ascii_strtoull (rows, NULL, 10), >=, news->ticket);
    }
  place_notify (news, late->place);
}

/* A ticket is acknowledged when all rows up to it stand at the place, whatever is written here
 * while they are on their way. */
static void
is_published_when_told (const FarKind *kind)
{
  g_autoptr (Place) place = far_place_new (kind);
  g_autoptr (GError) error = NULL;
  ScribeConfig config = far_config (place, MS_US);
  Late late = { .place = place };
  config.notify = look_when_told;
  config.data = &late;
  late.scribe = far_scribe (&config, &error);
  g_assert_no_error (error);
  shelf_between (0, save_meanwhile, &late);
  save_one (late.scribe, row_make ("/99", 1, 1, 0.001));
  pthread_mutex_lock (&place->lock);
  while (place->ticket < TOLD_ROWS)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
  shelf_between (0, NULL, NULL);
  finish_all (place, late.scribe);
}

static void
test_is_published_when_told (void)
{
  for_each_kind (is_published_when_told);
}

/* A coordinator that cannot read or write the place does not begin, and leaves no file. When the
 * store works again, it begins with all rows there. */
static gboolean
fail_at_the_beginning (const FarKind *kind, ShelfFault fault, guint at, gboolean has_old)
{
  far_begin (kind);
  g_test_message ("fault %d from %u on", fault, at);
  g_autoptr (Place) place = far_place_new (kind);
  g_autoptr (GError) error = NULL;
  if (has_old)
    {
      Scribe *before = far_start (place, HOUR_US, 0);
      save_many (before, 0, 5);
      finish_all (place, before);
    }
  shelf_fail (fault, at, G_MAXUINT);
  ScribeConfig config = far_config (place, HOUR_US);
  Scribe *scribe = far_scribe (&config, &error);
  gboolean was_reached = shelf_has_failed ();
  g_assert_true (was_reached || scribe != NULL);
  g_assert_true ((scribe == NULL) == (error != NULL));
  if (scribe == NULL)
    {
      g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
      assert_sentence (error->message);
      g_assert_cmpuint (place_strangers (place), ==, 0);
    }
  shelf_fail (SHELF_SOUND, 0, 0);
  if (scribe == NULL)
    scribe = far_start (place, HOUR_US, 0);
  save_many (scribe, 5, 5);
  finish_all (place, scribe);
  assert_rows (kind->uri, has_old ? 10 : 5);
  return was_reached;
}

static void
test_failures_at_the_beginning (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i++)
    for (guint j = 0; j < G_N_ELEMENTS (faults); j++)
      for (gboolean has_old = i % 2 != 0; has_old <= TRUE; has_old++)
        {
          guint every = one_of (2), at = 1 + (i + j) % every;
          for (; fail_at_the_beginning (&far_kinds[i], faults[j], at, has_old); at += every)
            g_assert_cmpuint (at, <, SPAN_MAX);
        }
}

static void
test_what_is_no_place (void)
{
  static const char *const uris[]
      = { "gopher://shelf/a", "sftp://me:secret@shelf/a", "sftp://shelf/", "https://shelf/a?b" };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (GError) error = NULL;
      shelf_clear ();
      g_free (place->target);
      place->target = g_strdup (uris[i]);
      ScribeConfig config = far_config (place, HOUR_US);
      g_assert_null (far_scribe (&config, &error));
      g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
      g_assert_null (strstr (error->message, "secret"));
      g_assert_cmpuint (shelf_requests (), ==, 0);
    }
}

/* When the store fails for good, finished results are kept on this host, and the message says
 * where. */
static void
fails_at_the_end (const FarKind *kind, ShelfFault fault, gboolean failed_before)
{
  g_autoptr (Place) place = far_place_new (kind);
  g_autofree char *spare = g_build_filename (place->folder, "kept", "run.ckpt", NULL);
  g_autofree char *folder = g_path_get_dirname (spare);
  g_autoptr (GError) error = NULL;
  ScribeConfig config = far_config (place, failed_before ? MS_US : HOUR_US);
  config.spare = spare;
  Scribe *scribe = far_scribe (&config, &error);
  g_assert_no_error (error);
  save_many (scribe, 0, 5);
  finish (place, scribe);
  shelf_fail (fault, 1, G_MAXUINT);
  save_many (scribe, 5, 5);
  if (failed_before)
    wait_for_trouble (place);
  finish (place, scribe);
  wait_for_trouble (place);
  assert_sentence (place->trouble);
  g_assert_nonnull (strstr (place->trouble, "; the checkpoint is kept in '"));
  g_assert_nonnull (strstr (place->trouble, spare));
  assert_rows (spare, 10);
  scribe_free (scribe);
  shelf_fail (SHELF_SOUND, 0, 0);
  assert_rows (kind->uri, 5);
  g_assert_cmpint (g_unlink (spare), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_fails_at_the_end (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (far_kinds); i++)
    for (gboolean failed_before = FALSE; failed_before <= TRUE; failed_before++)
      {
        far_begin (&far_kinds[i]);
        fails_at_the_end (&far_kinds[i], SHELF_REFUSES, failed_before);
        far_begin (&far_kinds[i]);
        fails_at_the_end (&far_kinds[i], SHELF_SILENT, failed_before);
      }
}

static gint64 part_us; /* how long each part of a file takes */

static void
let_time_pass (void)
{
  __atomic_fetch_add (&far_skipped_us, part_us, __ATOMIC_SEQ_CST);
}

/* At the end a place is given up when it stands still for more than eight seconds. */
static void
stands_still_at_the_end (const FarKind *kind)
{
  for (gint64 part_s = 7; part_s <= 9; part_s += 2)
    {
      far_begin (kind);
      g_autoptr (Place) place = far_place_new (kind);
      g_autofree char *spare = g_build_filename (place->folder, "work.kept", NULL);
      g_autoptr (GError) error = NULL;
      ScribeConfig config = far_config (place, HOUR_US);
      config.spare = spare;
      Scribe *scribe = far_scribe (&config, &error);
      g_assert_no_error (error);
      save_many (scribe, 0, 5);
      finish (place, scribe); /* what is under way when the end comes gets less time */
      save_many (scribe, 5, 5);
      part_us = part_s * G_USEC_PER_SEC;
      far_stop_clock ();
      shelf_each_chunk (let_time_pass);
      finish (place, scribe);
      shelf_each_chunk (NULL);
      far_start_clock ();
      scribe_free (scribe);
      if (part_s > 8)
        wait_for_trouble (place);
      g_assert_cmpint (place->trouble != NULL && strstr (place->trouble, spare) != NULL, ==,
                       part_s > 8);
      assert_rows (part_s > 8 ? spare : kind->uri, 10);
    }
}

static void
test_stands_still_at_the_end (void)
{
  for_each_kind (stands_still_at_the_end);
}

/* A second call of scribe_finish is answered together with the first; only a publication that
 * begins after a call can answer it. */
static void
test_finish_moves (void)
{
  static const ScribeFinish wanted[SCRIBE_FINISH_STATES][SCRIBE_FINISH_EVENTS] = {
    { SCRIBE_FINISH_OWED, SCRIBE_FINISH_NONE, SCRIBE_FINISH_NONE },
    { SCRIBE_FINISH_OWED, SCRIBE_FINISH_SENDING, SCRIBE_FINISH_NONE },
    { SCRIBE_FINISH_SENDING, SCRIBE_FINISH_SENDING, SCRIBE_FINISH_NONE },
  };

  for (ScribeFinish from = 0; from < SCRIBE_FINISH_STATES; from++)
    for (ScribeFinishEvent event = 0; event < SCRIBE_FINISH_EVENTS; event++)
      g_assert_cmpint (scribe_finish_after (from, event), ==, wanted[from][event]);
}

/* Another coordinator replaces the file. The next publication contains the rows of both. */
static void
others_go_first (const FarKind *kind)
{
  g_autoptr (Place) place = far_place_new (kind), other = far_place_new (kind);
  Scribe *scribe = far_start (place, HOUR_US, 0);
  save_many (scribe, 0, 10);
  finish (place, scribe);
  Scribe *second = far_start (other, HOUR_US, 0);
  save_many (second, 10, 10);
  finish_all (other, second);
  save_many (scribe, 20, 10);
  finish_all (place, scribe);
  assert_rows (kind->uri, 30);
  g_assert_cmpuint (place->n_trouble, ==, 0);
}

static void
test_others_go_first (void)
{
  for_each_kind (others_go_first);
}

/* Rows that stand at the place already are acknowledged, too, although nothing is published. */
static void
known_rows_are_acknowledged (const FarKind *kind)
{
  g_autoptr (Place) place = far_place_new (kind);
  Scribe *scribe = far_start (place, MS_US, 0);
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  scribe_ticket (scribe, 1);
  wait_published (place, scribe);
  save_one (scribe, row_make ("/0", 1, 1, 0.1));
  scribe_ticket (scribe, 2);
  pthread_mutex_lock (&place->lock);
  while (place->ticket < 2)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
  finish_all (place, scribe);
}

static void
test_known_rows_are_acknowledged (void)
{
  for_each_kind (known_rows_are_acknowledged);
}

/* A place that fails is left alone for twice as long each time, up to a minute. Once it has worked,
 * the next failure is the first one again. */
static void
rests_grow (const FarKind *kind)
{
  const gint64 most_us = 60 * G_USEC_PER_SEC;
  g_autoptr (Place) place = far_place_new (kind);
  g_autoptr (GError) error = NULL;
  ScribeConfig config = far_config (place, G_USEC_PER_SEC);
  FarFailures failures = { .place = place };
  config.notify = far_note_failure;
  config.data = &failures;
  Scribe *scribe = far_scribe (&config, &error);
  g_assert_no_error (error);
  far_stop_clock ();
  shelf_fail (SHELF_REFUSES, 1, G_MAXUINT);
  save_many (scribe, 0, 5);
  place_wait (place, &failures.n, FAR_FAILURES);
  for (guint i = 1; i < FAR_FAILURES; i++)
    {
      gint64 usual_us = MIN (most_us, (gint64)G_USEC_PER_SEC << i);
      gint64 rest_us = failures.at_us[i] - failures.at_us[i - 1];
      g_assert_cmpint (rest_us, >=, usual_us * 3 / 4);
    }
  shelf_fail (SHELF_SOUND, 0, 0);
  finish (place, scribe);
  pthread_mutex_lock (&place->lock);
  failures.n = 0;
  pthread_mutex_unlock (&place->lock);
  shelf_fail (SHELF_REFUSES, 1, G_MAXUINT);
  save_many (scribe, 5, 5);
  place_wait (place, &failures.n, 2);
  g_assert_cmpint (failures.at_us[1] - failures.at_us[0], <, most_us / 2);
  far_start_clock ();
  shelf_fail (SHELF_SOUND, 0, 0);
  finish_all (place, scribe);
  assert_rows (kind->uri, 10);
}

static void
test_rests_grow (void)
{
  for_each_kind (rests_grow);
}

/* Locks at the place that coordinators of terms before and from now on left, of this run and of
 * another one. */
static const struct
{
  const char *owner;
  gboolean is_old; /* it is removed at once */
} locks[] = { { "satin-by-00000000-1-1-6-run1-9", TRUE },
              { "satin-by-00000000-1-1-7-run1-9", FALSE },
              { "satin-by-00000000-1-1-6-run2-9", FALSE } };

/* A coordinator tells the store its run and its term, so it does not wait for the lock of one whom
 * it has replaced. */
static void
locks_of_earlier_terms (const FarKind *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (locks); i++)
    {
      g_autoptr (Place) place = far_place_new (kind);
      g_autoptr (GError) error = NULL;
      g_autofree char *owner = g_strconcat (FAR_FILE ".lock/", locks[i].owner, NULL);
      ScribeConfig config = far_config (place, HOUR_US);
      far_begin (kind);
      config.term = 7;
      shelf_make_folder (FAR_FILE ".lock");
      shelf_make_folder (owner);
      far_stop_clock ();
      /* From here on, since the coordinator may publish its empty checkpoint at once. */
      gint64 began_us = g_get_monotonic_time ();
      Scribe *scribe = far_scribe (&config, &error);
      g_assert_no_error (error);
      save_many (scribe, 0, 5);
      finish (place, scribe);
      gint64 waited_us = g_get_monotonic_time () - began_us;
      far_start_clock ();
      scribe_free (scribe);
      g_assert_cmpint (waited_us < 8 * G_USEC_PER_SEC, ==, locks[i].is_old);
    }
}

static void
test_locks_of_earlier_terms (void)
{
  locks_of_earlier_terms (&far_kinds[0]);
  locks_of_earlier_terms (&far_kinds[2]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  far_set_up ();
  g_test_add_func ("/scribe-far/finish-moves", test_finish_moves);
  g_test_add_func ("/scribe-far/goes-on", test_goes_on);
  g_test_add_func ("/scribe-far/is-published-when-told", test_is_published_when_told);
  g_test_add_func ("/scribe-far/deltas", test_deltas);
  g_test_add_func ("/scribe-far/failures-in-the-middle", test_failures_in_the_middle);
  g_test_add_func ("/scribe-far/failures-with-deltas", test_failures_with_deltas);
  g_test_add_func ("/scribe-far/failures-at-the-beginning", test_failures_at_the_beginning);
  g_test_add_func ("/scribe-far/what-is-no-place", test_what_is_no_place);
  g_test_add_func ("/scribe-far/fails-at-the-end", test_fails_at_the_end);
  g_test_add_func ("/scribe-far/stands-still-at-the-end", test_stands_still_at_the_end);
  g_test_add_func ("/scribe-far/others-go-first", test_others_go_first);
  g_test_add_func ("/scribe-far/known-rows-are-acknowledged", test_known_rows_are_acknowledged);
  g_test_add_func ("/scribe-far/rests-grow", test_rests_grow);
  g_test_add_func ("/scribe-far/locks-of-earlier-terms", test_locks_of_earlier_terms);
  return g_test_run ();
}
