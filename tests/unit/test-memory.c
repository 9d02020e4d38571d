/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserved memory between guards: all of it can be used, an access to either guard ends the process
 * with one sentence, and other faults act as before. A thread leaves nothing behind. */
#include "config.h"

#include "os/memory.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED TRUE /* sanitizers have their own handlers */
#else
#define IS_SANITIZED FALSE
#endif

static gsize
page (void)
{
  return (gsize)sysconf (_SC_PAGESIZE);
}

static gboolean
is_mapped (const void *start)
{
  return msync ((void *)((guintptr)start / page () * page ()), page (), MS_ASYNC) == 0;
}

static void
test_all_may_be_used (void)
{
  gsize bytes = 3 * page () + 1; /* four pages */
  char *first = memory_reserve (bytes, "first"), *second = memory_reserve (bytes, "second");

  for (gsize i = 0; i < 4 * page (); i += page ())
    first[i] = second[i] = 1;
  first[4 * page () - 1] = 1;
  memory_release (first, bytes);
  g_assert_false (is_mapped (first));
  g_assert_false (is_mapped (first + 4 * page ())); /* the guard pages are gone, too */
  g_assert_false (is_mapped (first - 1));
  g_assert_true (is_mapped (second));
  memory_release (second, bytes);
}

/* In a process of its own. */
static void
fault (volatile char *at)
{
  if (at == NULL)
    (void)raise (SIGSEGV);
  else
    *at = 1;
  _exit (0);
}

typedef enum
{
  AT_LOWER_GUARD,
  AT_UPPER_GUARD,
  AT_RELEASED,
  AT_SIGNAL
} At;

static void
fault_at (At where)
{
  char *gone = memory_reserve (page (), "gone");
  char *memory = memory_reserve (2 * page (), "it is full");

  memory_watch_thread ();
  memory_release (gone, page ());
  if (where == AT_LOWER_GUARD)
    fault (memory - 1);
  if (where == AT_UPPER_GUARD)
    fault (memory + 2 * page ());
  if (where == AT_RELEASED)
    fault (gone - 1);
  fault (NULL);
}

static void
test_fault (gconstpointer data)
{
  At where = (At)GPOINTER_TO_INT (data);

  if (IS_SANITIZED)
    {
      g_test_skip ("sanitized");
      return;
    }
  if (g_test_subprocess ())
    fault_at (where);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  if (where <= AT_UPPER_GUARD)
    g_test_trap_assert_stderr ("satin: it is full\n");
  else
    g_test_trap_assert_stderr_unmatched ("*satin: *");
}

static void
send_by_kill (int number)
{
  (void)kill (getpid (), number);
}

static void
send_by_raise (int number)
{
  (void)raise (number);
}

static void
send_by_queue (int number)
{
  (void)sigqueue (getpid (), number, (union sigval){ 0 });
}

/* A signal that somebody sends ends the process, as it does where nobody handles it. */
static void
test_sent (void)
{
  static void (*const ways[]) (int) = { send_by_kill, send_by_raise, send_by_queue };
  static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };

  if (IS_SANITIZED)
    {
      g_test_skip ("sanitized");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
      {
        pid_t child = fork ();
        int status;

        if (child == 0)
          {
            (void)prctl (PR_SET_DUMPABLE, 0); /* no core files */
            memory_watch_thread ();
            ways[i](numbers[k]);
            _exit (0);
          }
        g_assert_cmpint (waitpid (child, &status, 0), ==, child);
        g_assert_true (WIFSIGNALED (status));
        g_assert_cmpint (WTERMSIG (status), ==, numbers[k]);
      }
}

static void *
watched (void *unused)
{
  static stack_t stack, after;

  (void)unused;
  memory_watch_thread ();
  g_assert_cmpint (sigaltstack (NULL, &stack), ==, 0);
  g_assert_cmpint (stack.ss_flags & SS_DISABLE, ==, 0);
  g_assert_true (is_mapped (stack.ss_sp));
  memory_unwatch_thread ();
  g_assert_cmpint (sigaltstack (NULL, &after), ==, 0);
  g_assert_cmpint (after.ss_flags & SS_DISABLE, !=, 0);
  g_assert_false (is_mapped (stack.ss_sp));
  memory_unwatch_thread (); /* a second call has no effect */
  return NULL;
}

static void
test_thread (void)
{
  pthread_t thread;

  if (IS_SANITIZED)
    {
      g_test_skip ("sanitized");
      return;
    }
  g_assert_cmpint (pthread_create (&thread, NULL, watched, NULL), ==, 0);
  g_assert_cmpint (pthread_join (thread, NULL), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory/all-of-it-may-be-used", test_all_may_be_used);
  g_test_add_data_func ("/memory/below", GINT_TO_POINTER (AT_LOWER_GUARD), test_fault);
  g_test_add_data_func ("/memory/above", GINT_TO_POINTER (AT_UPPER_GUARD), test_fault);
  g_test_add_data_func ("/memory/what-was-released", GINT_TO_POINTER (AT_RELEASED), test_fault);
  g_test_add_data_func ("/memory/a-signal-that-was-sent", GINT_TO_POINTER (AT_SIGNAL), test_fault);
  g_test_add_func ("/memory/each-signal-that-is-sent", test_sent);
  g_test_add_func ("/memory/a-thread-leaves-nothing", test_thread);
  return g_test_run ();
}
