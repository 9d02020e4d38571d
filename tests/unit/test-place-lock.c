/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks at stores that cannot compare (storage/places/place-lock.c): how long a writer waits for a
 * lock that it finds, and whose lock it removes. tests/e2e/place.sh does the same with real
 * servers. Uses the store in memory (shelf.h); waits take no time. */
#include "shelf.h"

#include "storage/places/place.h"

#include "host/process.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCK "/files/a.db.lock"
#define ANOTHER "satin-by-00000000-1-1-1-another-1"
#define SPAN_MAX 60 /* requests of one call */

static const char *const uris[]
    = { "sftp://me@shelf/files/a.db", "ftp://shelf/files/a.db", "http://shelf/files/a.db" };

static gint64 now_us = 1000000;

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

void
g_usleep (gulong us)
{
  now_us += (gint64)us;
}

static gboolean
is_dav (const char *uri)
{
  return g_str_has_prefix (uri, "http");
}

static Place *
place_at (const char *uri)
{
  g_autoptr (GError) error = NULL;
  Place *place = place_new (uri, TRUE, &error);
  g_assert_no_error (error);
  return place;
}

static void
assert_put (Place *place, const char *suffix)
{
  g_autoptr (GError) error = NULL;
  (void)place_put (place, suffix, "/proc/self/exe", NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
assert_names (const char *expected)
{
  g_autofree char *names = shelf_names ();
  g_assert_cmpstr (names, ==, expected);
}

/* (transfer full): the mark of a process of this host that has ended. */
static char *
dead_mark (void)
{
  pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    _exit (0);
  char *mark = process_mark (child);
  g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
  return mark;
}

/* ---- how long a writer waits ---- */

typedef enum
{
  AT_ONCE,     /* The owner is dead, or deposed. */
  TWO_SECONDS, /* The lock has no owner's name. */
  TEN_SECONDS  /* The owner may be at work. */
} Wait;

typedef enum
{
  NOBODY,
  DEAD_HERE,
  ALIVE_HERE,
  ELSEWHERE
} Process;

/* The writer is of term 5 of run "mine", unless it is of none. */
static const struct
{
  const char *what;
  Process process;
  guint term;
  const char *run;
  gboolean is_of_no_run;                 /* The writer. */
  gboolean has_locked_base, is_at_delta; /* It locked the base before; the lock is the delta's. */
  Wait wait;
} locks[] = {
  { "a dead process of this host", DEAD_HERE, 9, "other", .wait = AT_ONCE },
  { "the same, met by a writer of no run", DEAD_HERE, 9, "other", TRUE, .wait = AT_ONCE },
  { "a live process of this host", ALIVE_HERE, 4, "mine", .wait = TEN_SECONDS },
  { "an earlier term of the run", ELSEWHERE, 4, "mine", .wait = AT_ONCE },
  { "the same term", ELSEWHERE, 5, "mine", .wait = TEN_SECONDS },
  { "a later term", ELSEWHERE, 6, "mine", .wait = TEN_SECONDS },
  { "an earlier term of another run", ELSEWHERE, 4, "other", .wait = TEN_SECONDS },
  { "an earlier term, met by a writer of no run", ELSEWHERE, 4, "mine", TRUE, .wait = TEN_SECONDS },
  { "an earlier term that locks again", ELSEWHERE, 4, "mine", .has_locked_base = TRUE,
    .wait = TEN_SECONDS },
  { "an earlier term at the other file", ELSEWHERE, 4, "mine", .has_locked_base = TRUE,
    .is_at_delta = TRUE, .wait = AT_ONCE },
  { "nobody", NOBODY, .wait = TWO_SECONDS },
};

static void
assert_waited (gint64 waited_us, Wait wait)
{
  static const gint64 least_s[] = { 0, 2, 10 }, most_s[] = { 1, 4, 11 };
  g_assert_cmpint (waited_us, >=, least_s[wait] * G_USEC_PER_SEC);
  g_assert_cmpint (waited_us, <, most_s[wait] * G_USEC_PER_SEC);
}

static void
wait_for_lock (const char *uri, guint row)
{
  g_autoptr (Place) place = place_at (uri);
  g_autofree char *dead = dead_mark (), *alive = process_mark (getpid ());
  const char *const marks[] = { "", dead, alive, "00000000-1-1" };
  const char *suffix = locks[row].is_at_delta ? PLACE_DELTA : "";
  g_autofree char *lock = g_strdup_printf ("/files/a.db%s.lock", suffix);
  g_autofree char *owner = g_strdup_printf (
      "%s/satin-by-%s-%u-%s-123", lock, marks[locks[row].process], locks[row].term, locks[row].run);
  g_test_message ("%s: %s", uri, locks[row].what);
  shelf_clear ();
  if (!locks[row].is_of_no_run)
    place_set_writer (place, "mi/ne", 5); /* Of a run's name only letters and digits count. */
  if (locks[row].has_locked_base)
    assert_put (place, "");
  shelf_make_folder (lock);
  if (locks[row].process != NOBODY)
    shelf_make_folder (owner);
  gint64 began_us = now_us;
  assert_put (place, suffix);
  assert_waited (now_us - began_us, locks[row].wait);
  assert_names (locks[row].is_at_delta ? "a.db a.db-delta" : "a.db"); /* No lock stays. */
}

static void
test_how_long_a_writer_waits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    for (guint row = 0; row < G_N_ELEMENTS (locks); row++)
      wait_for_lock (uris[i], row);
}

/* ---- whose lock is removed ---- */

/* Where a single request fails, no lock stays; where it was not carried out, none is waited for. */
static gboolean
fail_one (const char *uri, ShelfFault fault, guint at)
{
  g_autoptr (Place) place = place_at (uri);
  g_test_message ("%s: fault %d at %u", uri, fault, at);
  shelf_clear ();
  shelf_put ("/files/a.db", "old", 3);
  shelf_fail (fault, at, at);
  gint64 began_us = now_us;
  (void)place_put (place, "", "/proc/self/exe", NULL, NULL, NULL);
  g_autofree char *names = shelf_names ();
  /* http: a folder whose removal was not confirmed may be another writer's by now. */
  g_assert_null (strstr (names, is_dav (uri) ? ".lock/" : ".lock"));
  if (fault == SHELF_REFUSES)
    g_assert_cmpint (now_us - began_us, <, G_USEC_PER_SEC);
  return shelf_has_failed ();
}

static void
test_no_lock_stays (void)
{
  static const ShelfFault faults[] = { SHELF_REFUSES, SHELF_TEARS, SHELF_LOSES };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    for (guint j = 0; j < G_N_ELEMENTS (faults); j++)
      {
        guint at = 1;
        while (fail_one (uris[i], faults[j], at))
          g_assert_cmpuint (++at, <, SPAN_MAX);
        g_assert_cmpuint (at, >, 3);
      }
}

typedef struct
{
  gboolean has_lost;
} Loss;

/* Another writer takes the lock over from one that stood still. */
static void
take_over (gpointer data)
{
  Loss *loss = data;
  g_autofree char *names = shelf_names ();
  const char *owner = strstr (names, "a.db.lock/");
  if (owner == NULL || loss->has_lost)
    return;
  g_autofree char *one = g_strndup (owner, strcspn (owner, " "));
  g_autofree char *path = g_strconcat ("/files/", one, NULL);
  shelf_remove (path);
  shelf_make_folder (LOCK "/" ANOTHER);
  loss->has_lost = TRUE;
}

static gboolean
lose_one (const char *uri, guint at)
{
  g_autoptr (Place) place = place_at (uri);
  Loss loss = { FALSE };
  g_test_message ("%s: lost at %u", uri, at);
  shelf_clear ();
  shelf_between (at, take_over, &loss);
  (void)place_put (place, "", "/proc/self/exe", NULL, NULL, NULL);
  gboolean was_reached = shelf_requests () >= at;
  shelf_between (0, NULL, NULL);
  g_autofree char *names = shelf_names ();
  g_assert_true (!loss.has_lost || strstr (names, "a.db.lock/" ANOTHER) != NULL);
  return was_reached;
}

static void
test_a_lost_lock_is_left_alone (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      guint at = 1;
      while (lose_one (uris[i], at))
        g_assert_cmpuint (++at, <, SPAN_MAX);
      g_assert_cmpuint (at, >, 3);
    }
}

static void
let_a_minute_pass (gpointer data)
{
  (void)data;
  now_us += 60 * G_USEC_PER_SEC;
}

/* A store that was silent while a writer waited may have locks all the same: once it answers again,
 * the writer waits again. */
static void
test_silence_ends_no_wait (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    for (guint at = 1; at < SPAN_MAX; at++)
      {
        g_autoptr (Place) place = place_at (uris[i]);
        g_test_message ("%s: silent from %u on", uris[i], at);
        shelf_clear ();
        shelf_make_folder (LOCK);
        shelf_make_folder (LOCK "/" ANOTHER);
        shelf_fail (SHELF_SILENT, at, G_MAXUINT);
        shelf_between (at, let_a_minute_pass, NULL);
        (void)place_put (place, "", "/proc/self/exe", NULL, NULL, NULL);
        shelf_fail (SHELF_SOUND, 0, 0);
        shelf_between (0, NULL, NULL);
        place_ask_again (place);
        gint64 began_us = now_us;
        assert_put (place, "");
        assert_waited (now_us - began_us, TEN_SECONDS);
      }
}

static void
look_for_lock (gpointer data)
{
  gboolean *has_lock = data;
  g_autofree char *names = shelf_names ();
  *has_lock = *has_lock || strstr (names, "a.db.lock/satin-by-") != NULL;
}

/* A removal that depends on what stands there compares and removes under the lock. */
static void
test_removals_lock (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      g_autoptr (Place) place = place_at (uris[i]);
      PlaceState state;
      gboolean has_lock = FALSE;
      shelf_clear ();
      assert_put (place, "");
      g_assert_true (place_look (place, "", &state, NULL));
      shelf_between (0, look_for_lock, &has_lock);
      g_assert_true (place_remove (place, "", &state, NULL));
      shelf_between (0, NULL, NULL);
      g_assert_true (has_lock);
      assert_names ("");
      place_state_clear (&state);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/place-lock/how-long-a-writer-waits", test_how_long_a_writer_waits);
  g_test_add_func ("/place-lock/no-lock-stays", test_no_lock_stays);
  g_test_add_func ("/place-lock/a-lost-lock-is-left-alone", test_a_lost_lock_is_left_alone);
  g_test_add_func ("/place-lock/silence-ends-no-wait", test_silence_ends_no_wait);
  g_test_add_func ("/place-lock/removals-lock", test_removals_lock);
  return g_test_run ();
}
