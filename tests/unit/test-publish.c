/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of publications, held by a process that was stopped. g_usleep is replaced: it counts. */
#include "store.h"

#include <sys/file.h>
#include <unistd.h>

static guint n_pauses;

void
g_usleep (gulong us)
{
  (void)us;
  n_pauses++;
}

static void
test_a_lock_that_is_kept_is_waited_for_once (Fixture *f, gconstpointer unused)
{
  gboolean is_stalled = FALSE;
  int holder = open (f->folder, O_RDONLY | O_DIRECTORY);
  (void)unused;
  g_assert_cmpint (flock (holder, LOCK_EX | LOCK_NB), ==, 0);
  n_pauses = 0;
  g_assert_cmpint (publish_lock (f->target, &is_stalled), ==, -1);
  g_assert_true (is_stalled);
  g_assert_cmpuint (n_pauses, >, 1);
  n_pauses = 0;
  g_assert_cmpint (publish_lock (f->target, &is_stalled), ==, -1);
  g_assert_cmpuint (n_pauses, ==, 0);
  close (holder);
  int own = publish_lock (f->target, &is_stalled);
  g_assert_cmpint (own, >=, 0);
  g_assert_false (is_stalled);
  close (own);
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/publish/a-lock-that-is-kept-is-waited-for-once",
      test_a_lock_that_is_kept_is_waited_for_once },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
