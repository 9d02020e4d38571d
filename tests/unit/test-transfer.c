/* SPDX-License-Identifier: BSD-3-Clause */
/* What the courier does with each file (coordinator/courier.c), at the store in memory (shelf.h),
 * without a scribe: which files it removes and when, when it gives up, what it sweeps. The files
 * need not be checkpoints. Links coordinator, storage and value. */
#include "far.h"

#include "coordinator/bid.h"
#include "coordinator/courier.h"

#include <curl/curl.h>

#define FILE_BYTES 200000 /* several parts of a transfer */
#define MARK_AT 92        /* PLACE_MARK_AT of place.h, which checkpoint.h excludes */

typedef struct
{
  Courier *courier;
  char *folder, *stage, *delta;
  GAsyncQueue *ends;
} Carrier;

static void
on_end (void *data)
{
  Carrier *carrier = data;
  g_async_queue_push (carrier->ends, carrier);
}

/* A file that differs from others of another letter in its first bytes. */
static GBytes *
lettered (char letter, gboolean has_delta)
{
  char *bytes = g_strnfill (FILE_BYTES, letter);
  memset (bytes + MARK_AT, 0, 4);
  bytes[MARK_AT] = has_delta ? (char)0x80 : 0;
  return g_bytes_new_take (bytes, FILE_BYTES);
}

static void
put_letter (const char *path, char letter, gboolean has_delta)
{
  g_autoptr (GBytes) bytes = lettered (letter, has_delta);
  far_put (path, bytes);
}

/* The first letter of the file there; 0: there is none. */
static char
letter_at (const char *path)
{
  g_autoptr (GBytes) bytes = shelf_get (path);
  return bytes != NULL ? *(const char *)g_bytes_get_data (bytes, NULL) : 0;
}

static char
letter_here (const char *path)
{
  g_autofree char *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) ? *text : 0;
}

static Carrier *
carrier_new (const FarKind *kind)
{
  g_autoptr (GError) error = NULL;
  Carrier *carrier = g_new0 (Carrier, 1);
  carrier->ends = g_async_queue_new ();
  carrier->folder = g_dir_make_tmp ("satin-test-XXXXXX", NULL);
  carrier->stage = g_build_filename (carrier->folder, "stage", NULL);
  carrier->delta = g_strconcat (carrier->stage, "-delta", NULL);
  carrier->courier = courier_new (kind->uri, carrier->stage, NULL, on_end, carrier, &error);
  g_assert_no_error (error);
  g_assert_true (courier_is_ready (carrier->courier, NULL));
  return carrier;
}

/* No file stays on this host. */
static void
carrier_free (Carrier *carrier)
{
  courier_free (carrier->courier);
  g_assert_cmpint (g_rmdir (carrier->folder), ==, 0);
  g_async_queue_unref (carrier->ends);
  g_free (carrier->folder);
  g_free (carrier->stage);
  g_free (carrier->delta);
  g_free (carrier);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Carrier, carrier_free)

static CourierState
carry_out (Carrier *carrier, char letter, Publication made)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lettered (letter, made.may_get_delta);
  g_assert_true (g_file_set_contents (made.is_delta ? carrier->delta : carrier->stage,
                                      g_bytes_get_data (bytes, NULL), FILE_BYTES, NULL));
  courier_send (carrier->courier, &made);
  (void)g_async_queue_pop (carrier->ends);
  CourierState state = courier_take (carrier->courier, &error);
  g_assert_cmpint (state == COURIER_FAILED, ==, error != NULL);
  g_assert_cmpint (courier_take (carrier->courier, NULL), ==, COURIER_IDLE);
  return state;
}

static void
skip_s (gint64 s)
{
  __atomic_fetch_add (&far_skipped_us, s * G_USEC_PER_SEC, __ATOMIC_SEQ_CST);
}

static const Publication a_base, a_delta = { .is_delta = TRUE },
                                 a_marked_base = { .may_get_delta = TRUE },
                                 a_taking_base = { .takes_delta = TRUE };

typedef struct
{
  const char *path; /* the file that another writer replaces … */
  gboolean is_done;
} Intruder;

/* … as soon as our base 'B' stands at the place. */
static void
intrude (gpointer data)
{
  Intruder *intruder = data;
  if (intruder->path == NULL || intruder->is_done || letter_at (FAR_FILE) != 'B')
    return;
  intruder->is_done = TRUE;
  put_letter (intruder->path, 'X', TRUE);
}

/* The delta is removed only if the base that contains it still stands at the place, and only if it
 * is the delta that the base contains. */
static void
delta_is_removed_late (const FarKind *kind)
{
  static const struct
  {
    const char *replaced;
    CourierState end;
    char delta;
  } cases[] = { { NULL, COURIER_SENT, 0 },
                { FAR_FILE, COURIER_SENT, 'D' },
                { FAR_DELTA, COURIER_CHANGED, 'X' } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      far_begin (kind);
      put_letter (FAR_FILE, 'A', TRUE);
      put_letter (FAR_DELTA, 'D', FALSE);
      g_autoptr (Carrier) carrier = carrier_new (kind);
      Intruder intruder = { .path = cases[i].replaced };
      shelf_between (0, intrude, &intruder);
      g_assert_cmpint (carry_out (carrier, 'B', a_taking_base), ==, cases[i].end);
      shelf_between (0, NULL, NULL);
      g_assert_cmpint (letter_at (FAR_DELTA), ==, cases[i].delta);
      g_assert_cmpint (letter_at (FAR_FILE), ==,
                       cases[i].replaced == cases[1].replaced ? 'X' : 'B');
    }
}

static void
test_delta_is_removed_late (void)
{
  for_each_kind (delta_is_removed_late);
}

/* A delta of another writer stays until a base contains it, also when a delta of ours stood there
 * before. Until then it is in the files that were brought. */
static void
delta_of_another_stays (const FarKind *kind)
{
  put_letter (FAR_FILE, 'A', TRUE);
  g_autoptr (Carrier) carrier = carrier_new (kind);
  g_assert_true (courier_is_marked (carrier->courier));
  g_assert_cmpint (letter_here (carrier->stage), ==, 'A');
  g_assert_cmpint (carry_out (carrier, 'D', a_delta), ==, COURIER_SENT);
  put_letter (FAR_FILE, 'X', TRUE);
  put_letter (FAR_DELTA, 'Y', FALSE);
  g_assert_cmpint (carry_out (carrier, 'E', a_delta), ==, COURIER_CHANGED);
  g_assert_cmpint (letter_here (carrier->stage), ==, 'X');
  g_assert_cmpint (letter_here (carrier->delta), ==, 'Y');
  g_assert_cmpint (letter_at (FAR_DELTA), ==, 'Y');
  g_assert_cmpint (carry_out (carrier, 'B', a_marked_base), ==, COURIER_SENT);
  g_assert_cmpint (letter_at (FAR_DELTA), ==, 'Y');
  g_assert_cmpint (carry_out (carrier, 'C', a_taking_base), ==, COURIER_SENT);
  assert_names ("run.ckpt");
}

static void
test_delta_of_another_stays (void)
{
  for_each_kind (delta_of_another_stays);
}

/* Our own delta is removed by the next base, once. A delta needs its base: if that is gone, the
 * delta is not sent, and a base is. The place is marked for as long as a delta may follow. */
static void
own_delta_and_base (const FarKind *kind)
{
  g_autoptr (Carrier) carrier = carrier_new (kind);
  g_assert_false (courier_is_marked (carrier->courier));
  g_assert_cmpint (carry_out (carrier, 'A', a_marked_base), ==, COURIER_SENT);
  g_assert_true (courier_is_marked (carrier->courier));
  g_assert_cmpint (carry_out (carrier, 'D', a_delta), ==, COURIER_SENT);
  assert_names ("run.ckpt run.ckpt-delta");
  g_assert_cmpint (carry_out (carrier, 'B', a_base), ==, COURIER_SENT);
  g_assert_false (courier_is_marked (carrier->courier));
  assert_names ("run.ckpt");
  shelf_remove (FAR_FILE);
  g_assert_cmpint (carry_out (carrier, 'E', a_delta), ==, COURIER_CHANGED);
  assert_names ("");
  g_assert_cmpint (carry_out (carrier, 'C', a_base), ==, COURIER_SENT);
  shelf_remove (FAR_FILE);
  g_assert_cmpint (carry_out (carrier, 'F', a_base), ==, COURIER_SENT);
  g_assert_cmpint (letter_at (FAR_FILE), ==, 'F');
}

static void
test_own_delta_and_base (void)
{
  for_each_kind (own_delta_and_base);
}

/* A file that was brought before, and that somebody puts back, is brought again. */
static void
old_file_comes_back (const FarKind *kind)
{
  put_letter (FAR_FILE, 'A', FALSE);
  g_autoptr (Carrier) carrier = carrier_new (kind);
  g_assert_cmpint (letter_here (carrier->stage), ==, 'A');
  g_assert_cmpint (carry_out (carrier, 'B', a_base), ==, COURIER_SENT);
  put_letter (FAR_FILE, 'A', FALSE);
  g_assert_cmpint (carry_out (carrier, 'C', a_base), ==, COURIER_CHANGED);
  g_assert_cmpint (letter_at (FAR_FILE), ==, 'A');
  g_assert_cmpint (letter_here (carrier->stage), ==, 'A');
}

static void
test_old_file_comes_back (void)
{
  for_each_kind (old_file_comes_back);
}

static void
put_x (gpointer data)
{
  (void)data;
  put_letter (FAR_FILE, 'X', FALSE);
}

/* A file that another writer puts there after the look is not replaced, either. */
static void
replaced_after_the_look (const FarKind *kind)
{
  g_autoptr (Carrier) carrier = carrier_new (kind);
  g_assert_cmpint (carry_out (carrier, 'A', a_base), ==, COURIER_SENT);
  shelf_fail (SHELF_SOUND, 0, 0);
  shelf_between (2, put_x, NULL);
  g_assert_cmpint (carry_out (carrier, 'B', a_base), ==, COURIER_CHANGED);
  shelf_between (0, NULL, NULL);
  g_assert_cmpint (letter_at (FAR_FILE), ==, 'X');
  g_assert_cmpint (letter_here (carrier->stage), ==, 'X');
}

static void
test_replaced_after_the_look (void)
{
  for_each_kind (replaced_after_the_look);
}

/* Base and delta are kept under names of their own, which differ. */
static void
kept_aside (const FarKind *kind)
{
  g_autoptr (GError) error = NULL;
  put_letter (FAR_FILE, 'A', TRUE);
  put_letter (FAR_DELTA, 'D', FALSE);
  g_autoptr (Carrier) carrier = carrier_new (kind);
  const char *const paths[] = { carrier->stage, carrier->delta };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autofree char *name = courier_keep_aside (carrier->courier, paths[i], "harmed", &error);
      g_assert_no_error (error);
      const char *suffix = strstr (name, i == 0 ? "run.ckpt.harmed-" : "run.ckpt-delta.harmed-");
      g_assert_nonnull (suffix);
      g_autofree char *path = g_strconcat ("/files/", suffix, NULL);
      g_assert_cmpint (letter_at (path), ==, "AD"[i]);
    }
  g_assert_cmpint (letter_at (FAR_FILE), ==, 'A');
  g_assert_cmpint (letter_at (FAR_DELTA), ==, 'D');
}

static void
test_kept_aside (void)
{
  for_each_kind (kept_aside);
}

static void
take_9_s (gpointer data)
{
  (void)data;
  skip_s (9);
}

/* A coordinator does not begin at a place that cannot be tried within eight seconds. */
static void
slow_at_the_beginning (const FarKind *kind)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("satin-test-XXXXXX", NULL);
  g_autofree char *stage = g_build_filename (folder, "stage", NULL);
  shelf_between (1, take_9_s, NULL);
  Courier *courier = courier_new (kind->uri, stage, NULL, NULL, NULL, &error);
  g_assert_true (courier == NULL || !courier_is_ready (courier, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  assert_sentence (error->message);
  courier_free (courier);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_slow_at_the_beginning (void)
{
  for_each_kind (slow_at_the_beginning);
}

static gint is_under_way; /* atomic */

static void
take_long (void)
{
  const struct timespec pause = { .tv_nsec = 300000000 };
  g_atomic_int_set (&is_under_way, TRUE);
  (void)nanosleep (&pause, NULL);
}

/* Nobody waits for the rest of a transfer that is given up. */
static void
given_up (const FarKind *kind)
{
  g_autoptr (Carrier) carrier = carrier_new (kind);
  g_autoptr (GBytes) bytes = lettered ('A', FALSE);
  g_atomic_int_set (&is_under_way, FALSE);
  g_assert_true (
      g_file_set_contents (carrier->stage, g_bytes_get_data (bytes, NULL), FILE_BYTES, NULL));
  shelf_each_chunk (take_long);
  courier_send (carrier->courier, &a_base);
  while (!g_atomic_int_get (&is_under_way))
    (void)g_async_queue_timeout_pop (carrier->ends, 1000);
  g_clear_pointer (&carrier->courier, courier_free);
  shelf_each_chunk (NULL);
  g_assert_cmpint (letter_at (FAR_FILE), ==, 0);
}

static void
test_given_up (void)
{
  far_begin (&far_kinds[0]);
  given_up (&far_kinds[0]);
}

/* The time that the last request might take; 0: as long as it takes. */
static double
limit_s (void)
{
  g_autofree char *ms = shelf_option (CURLOPT_TIMEOUT_MS);
  return ms != NULL ? g_ascii_strtod (ms, NULL) / 1000 : 0;
}

typedef enum
{
  LOOK,
  COPY_FROM,
  COPY_TO,
  SET_ASIDE,
  BID,
  ASKERS
} Asker;

static gboolean
ask_store (Asker asker, const char *uri, const char *path, GError **error)
{
  Identity identity = identity_make ("run-1", "app", "8");
  Restore restore = { 0 };
  BidResult bid;
  g_autofree char *name = NULL;
  gboolean good = asker == LOOK        ? restore_look (uri, &restore, error)
                  : asker == COPY_FROM ? restore_copy (uri, path, error)
                  : asker == COPY_TO   ? restore_copy (path, uri, error)
                  : asker == SET_ASIDE ? (name = restore_set_aside (uri, error)) != NULL
                                       : bid_make (uri, &identity, &bid, error);
  restore_clear (&restore);
  identity_clear (&identity);
  return good;
}

/* Each asks a store first what there is. A store that says nothing is given up after some seconds.
 * What is sent then may take as long as it takes. */
static void
store_is_asked_first (const FarKind *kind)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  for (Asker asker = 0; asker < ASKERS; asker++)
    {
      shelf_fail (SHELF_SILENT, 1, G_MAXUINT);
      g_assert_false (ask_store (asker, kind->uri, place->target, &error));
      g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
      g_clear_error (&error);
      g_assert_cmpuint (shelf_requests (), ==, 1);
      g_assert_cmpfloat (limit_s (), >, 0);
      g_assert_cmpfloat (limit_s (), <=, 8);
    }
  shelf_fail (SHELF_SOUND, 0, 0);
  g_assert_true (g_file_set_contents (place->target, "a file", -1, NULL));
  g_assert_true (ask_store (COPY_TO, kind->uri, place->target, NULL));
  g_assert_cmpfloat (limit_s (), ==, 0);
}

static void
test_store_is_asked_first (void)
{
  for_each_kind (store_is_asked_first);
}

/* A bid counts a delta only if its base announces one. Any other was left behind. */
static void
bid_counts (const FarKind *kind)
{
  Identity identity = identity_make ("run-1", "app", "8");
  char delta[200] = "B";
  delta[MARK_AT + 3] = 7; /* its generation */
  for (gboolean is_announced = FALSE; is_announced <= TRUE; is_announced++)
    {
      BidResult bid;
      put_letter (FAR_FILE, 'A', is_announced);
      shelf_put (FAR_DELTA, delta, sizeof delta);
      g_assert_true (bid_make (kind->uri, &identity, &bid, NULL));
      g_assert_cmpuint (bid.generation, ==, is_announced ? 7 : 0);
      g_assert_cmpuint (bid.bytes, >=, BID_BYTES_MIN);
    }
  identity_clear (&identity);
}

static void
test_bid_counts (void)
{
  for_each_kind (bid_counts);
}

static void
take_5_s (void)
{
  skip_s (5);
}

/* A transfer may take as long as it likes while bytes move, and the courier may rest for long
 * before. With somebody waiting for the end, it gives up a place that stands still. A place that
 * was silent is asked again the next time. */
static void
patience (const FarKind *kind)
{
  g_autoptr (Carrier) carrier = carrier_new (kind);
  skip_s (3600);
  shelf_each_chunk (take_5_s);
  g_assert_cmpint (carry_out (carrier, 'A', a_base), ==, COURIER_SENT);
  shelf_each_chunk (NULL);
  shelf_fail (SHELF_SILENT, 1, 1);
  g_assert_cmpint (carry_out (carrier, 'B', a_base), ==, COURIER_FAILED);
  g_assert_cmpuint (shelf_requests (), ==, 1);
  shelf_fail (SHELF_SOUND, 0, 0);
  g_assert_cmpint (carry_out (carrier, 'C', a_base), ==, COURIER_SENT);
  courier_hurry (carrier->courier, 4);
  shelf_each_chunk (take_5_s);
  g_assert_cmpint (carry_out (carrier, 'D', a_base), ==, COURIER_FAILED);
  shelf_each_chunk (NULL);
  g_assert_cmpint (letter_at (FAR_FILE), ==, 'C');
}

static void
test_patience (void)
{
  for_each_kind (patience);
}

#define LEFTOVER FAR_FILE ".123.0123abcd.4.tmp"

/* What a dead writer left is removed when it has not changed for ten minutes. The store is asked
 * for its list every five minutes, after a transfer that succeeded, and not at the end. */
static void
leftovers_are_swept (const FarKind *kind)
{
  g_autoptr (Carrier) carrier = carrier_new (kind);
  guint n[4];
  shelf_put (LEFTOVER, "x", 1);
  for (gint64 min = 0; min < 10; min += 3)
    {
      g_assert_cmpint (carry_out (carrier, 'A' + (char)min, a_base), ==, COURIER_SENT);
      g_assert_cmpint (letter_at (LEFTOVER), ==, 'x');
      skip_s (3 * 60);
    }
  g_assert_cmpint (carry_out (carrier, 'L', a_base), ==, COURIER_SENT);
  assert_names ("run.ckpt");
  for (guint i = 0; i < G_N_ELEMENTS (n); i++)
    {
      if (i == 3)
        courier_hurry (carrier->courier, 60);
      shelf_fail (i == 2 ? SHELF_REFUSES : SHELF_SOUND, 1, G_MAXUINT);
      g_assert_cmpint (carry_out (carrier, 'M' + (char)i, a_base), ==,
                       i == 2 ? COURIER_FAILED : COURIER_SENT);
      n[i] = shelf_requests ();
      skip_s (6 * 60);
    }
  g_assert_cmpuint (n[1], >, n[0]);
  g_assert_cmpuint (n[2], ==, 1);
  g_assert_cmpuint (n[3], ==, n[0]);
}

static void
test_leftovers_are_swept (void)
{
  for (guint i = 0; i < 3; i++) /* s3 leaves none */
    {
      far_begin (&far_kinds[i]);
      leftovers_are_swept (&far_kinds[i]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  far_set_up ();
  g_test_add_func ("/transfer/delta-is-removed-late", test_delta_is_removed_late);
  g_test_add_func ("/transfer/delta-of-another-stays", test_delta_of_another_stays);
  g_test_add_func ("/transfer/own-delta-and-base", test_own_delta_and_base);
  g_test_add_func ("/transfer/old-file-comes-back", test_old_file_comes_back);
  g_test_add_func ("/transfer/patience", test_patience);
  g_test_add_func ("/transfer/leftovers-are-swept", test_leftovers_are_swept);
  g_test_add_func ("/transfer/replaced-after-the-look", test_replaced_after_the_look);
  g_test_add_func ("/transfer/kept-aside", test_kept_aside);
  g_test_add_func ("/transfer/slow-at-the-beginning", test_slow_at_the_beginning);
  g_test_add_func ("/transfer/given-up", test_given_up);
  g_test_add_func ("/transfer/store-is-asked-first", test_store_is_asked_first);
  g_test_add_func ("/transfer/bid-counts", test_bid_counts);
  return g_test_run ();
}
