/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserved memory between guards, and the signal handler that prints a sentence when a thread
 * touches a guard. The handler reads the table of regions, so its entries are atomic; they are
 * reused. */
#include "config.h"

#include "memory.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_HANDLES_SIGNALS 0 /* the sanitizers have their own handler and signal stacks */
#else
#define MEMORY_HANDLES_SIGNALS 1
#endif

#define MEMORY_SIGNAL_STACK_BYTES 65536
/* The largest C frame that cannot jump over a guard; inlined jobs may share one frame. */
#define MEMORY_GUARD_BYTES ((gsize)1 << 20)
#define MEMORY_EXIT_CODE 6 /* a job failed */
#define MEMORY_GIVE_BACK_US (10 * G_USEC_PER_SEC)

typedef struct
{
  guintptr start; /* of the lower guard; 0: the entry is free. Written last, read first. */
  gsize bytes;    /* between the guards */
  const char *sentence; /* static text */
} MemoryRegion;

static MemoryRegion memory_regions[MEMORY_REGIONS_MAX];
static pthread_mutex_t memory_mutex = PTHREAD_MUTEX_INITIALIZER;
/* The signals by which faults of a job arrive. */
static const struct
{
  int number;
  const char *cause;
} memory_faults[] = { { SIGSEGV, "segmentation fault" },  { SIGBUS, "bus error" },
                      { SIGFPE, "arithmetic fault" },     { SIGILL, "illegal instruction" },
                      { SIGTRAP, "trap, as by g_error" }, { SIGABRT, "abort" } };
static struct sigaction memory_old_actions[G_N_ELEMENTS (memory_faults)];
static MemoryFaults memory_which;
static gboolean (*memory_report) (const char *cause, gboolean repeat);
static __thread void *memory_signal_stack;

static gsize
memory_round (gsize bytes)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE);

  return (bytes + page - 1) / page * page;
}

static void
memory_say (const char *text)
{
  gssize ignored = write (STDERR_FILENO, text, strlen (text));

  (void)ignored;
}

/* Only async-signal-safe calls from here to the end of the handler. */
static const char *
memory_find (guintptr address)
{
  for (guint i = 0; i < MEMORY_REGIONS_MAX; i++)
    {
      guintptr start = __atomic_load_n (&memory_regions[i].start,
                                        __ATOMIC_ACQUIRE); /* pairs with memory_enter */
      guintptr end = start + MEMORY_GUARD_BYTES + memory_regions[i].bytes;

      if (start == 0)
        continue;
      if ((address >= start && address < start + MEMORY_GUARD_BYTES)
          || (address >= end && address < end + MEMORY_GUARD_BYTES))
        return memory_regions[i].sentence;
    }
  return NULL;
}

static guint
memory_fault_of (int number)
{
  guint i = 0;

  while (memory_faults[i].number != number)
    i++;
  return i;
}

static void
memory_on_signal (int number, siginfo_t *info, void *context G_GNUC_UNUSED)
{
  guint fault = memory_fault_of (number);
  gboolean faulted = number == SIGSEGV || number == SIGBUS;
  const char *overflow = faulted ? memory_find ((guintptr)info->si_addr) : NULL;
  const char *cause = overflow != NULL ? overflow : memory_faults[fault].cause;

  if (memory_report != NULL
      && memory_report (cause, overflow == NULL)) /* … and has ended the run */
    _exit (MEMORY_EXIT_CODE);
  if (overflow != NULL)
    {
      memory_say ("satin: ");
      memory_say (cause);
      memory_say ("\n");
      _exit (MEMORY_EXIT_CODE);
    }
  sigaction (number, &memory_old_actions[fault], NULL); /* the fault happens again after return */
  if (info->si_code <= 0)
    raise (number); /* … but not a signal that was sent */
}

void
memory_take_faults (MemoryFaults which)
{
  memory_which = which;
}

static void
memory_install (void)
{
  static gsize once;
  struct sigaction action
      = { .sa_sigaction = memory_on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };

  if (memory_which == MEMORY_FAULTS_NONE || !g_once_init_enter (&once))
    return;
  sigemptyset (&action.sa_mask);
  for (guint i = 0; i < G_N_ELEMENTS (memory_faults); i++)
    {
      sigaction (memory_faults[i].number, &action, &memory_old_actions[i]);
      if (memory_which == MEMORY_FAULTS_FREE && memory_old_actions[i].sa_handler != SIG_DFL)
        sigaction (memory_faults[i].number, &memory_old_actions[i], NULL);
    }
  g_once_init_leave (&once, 1);
}

void
memory_set_report (gboolean (*report) (const char *cause, gboolean repeat))
{
  memory_report = report;
}

static gboolean
memory_enter (guintptr start, gsize bytes, const char *sentence)
{
  gboolean entered = FALSE;

  pthread_mutex_lock (&memory_mutex);
  for (guint i = 0; i < MEMORY_REGIONS_MAX && !entered; i++)
    if (memory_regions[i].start == 0)
      {
        memory_regions[i].bytes = bytes;
        memory_regions[i].sentence = sentence;
        __atomic_store_n (&memory_regions[i].start, start, __ATOMIC_RELEASE); /* memory_find */
        entered = TRUE;
      }
  pthread_mutex_unlock (&memory_mutex);
  return entered;
}

void *
memory_reserve (gsize bytes, const char *sentence)
{
  gsize size = memory_round (bytes);
  char *start = mmap (NULL, size + 2 * MEMORY_GUARD_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (start == MAP_FAILED)
    return NULL;
  if (mprotect (start + MEMORY_GUARD_BYTES, size, PROT_READ | PROT_WRITE) != 0
      || !memory_enter ((guintptr)start, size, sentence))
    {
      munmap (start, size + 2 * MEMORY_GUARD_BYTES);
      return NULL;
    }
  return start + MEMORY_GUARD_BYTES;
}

void
memory_release (void *memory, gsize bytes)
{
  char *start = (char *)memory - MEMORY_GUARD_BYTES;

  pthread_mutex_lock (&memory_mutex);
  for (guint i = 0; i < MEMORY_REGIONS_MAX; i++)
    if (memory_regions[i].start == (guintptr)start)
      __atomic_store_n (&memory_regions[i].start, 0, __ATOMIC_RELEASE); /* memory_find */
  pthread_mutex_unlock (&memory_mutex);
  munmap (start, memory_round (bytes) + 2 * MEMORY_GUARD_BYTES);
}

void
memory_watch_thread (void)
{
  stack_t stack = { .ss_size = MEMORY_SIGNAL_STACK_BYTES };

  if (!MEMORY_HANDLES_SIGNALS)
    return;
  memory_install ();
  /* By mmap, so that no page is touched before a fault. */
  stack.ss_sp = mmap (NULL, MEMORY_SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack.ss_sp == MAP_FAILED) /* then a full stack ends the process without its sentence */
    return;
  memory_signal_stack = stack.ss_sp;
  sigaltstack (&stack, NULL);
}

void
memory_watch_main (void)
{
  pthread_attr_t attributes;
  void *start = NULL;
  size_t bytes = 0;

  memory_watch_thread ();
  if (!MEMORY_HANDLES_SIGNALS || pthread_getattr_np (pthread_self (), &attributes) != 0)
    return;
  /* The system keeps a gap below the stack that is larger than our guard. */
  if (pthread_attr_getstack (&attributes, &start, &bytes) == 0
      && (guintptr)start > MEMORY_GUARD_BYTES)
    (void)memory_enter ((guintptr)start - MEMORY_GUARD_BYTES, bytes,
                        MEMORY_FULL ("the C stack of main"));
  pthread_attr_destroy (&attributes);
}

void
memory_unwatch_thread (void)
{
  stack_t stack = { .ss_flags = SS_DISABLE };

  if (memory_signal_stack == NULL)
    return;
  sigaltstack (&stack, NULL);
  munmap (memory_signal_stack, MEMORY_SIGNAL_STACK_BYTES);
  memory_signal_stack = NULL;
}

void
memory_limit_heaps (guint threads)
{
#ifdef M_ARENA_MAX
  const char *tuned = g_getenv ("GLIBC_TUNABLES");

  if (g_getenv ("MALLOC_ARENA_MAX") == NULL
      && (tuned == NULL || strstr (tuned, "arena_max") == NULL))
    mallopt (M_ARENA_MAX, (int)MIN (threads, G_MAXINT));
#else
  (void)threads;
#endif
}

gboolean
memory_give_back (void)
{
#ifdef __GLIBC__
  static gint64 given_us;
  gint64 now_us = g_get_monotonic_time (), last_us = __atomic_load_n (&given_us, __ATOMIC_RELAXED);

  if (now_us - last_us < MEMORY_GIVE_BACK_US
      || !__atomic_compare_exchange_n (&given_us, &last_us, now_us, FALSE, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED))
    return FALSE;
  malloc_trim (0);
#endif
  return TRUE;
}
