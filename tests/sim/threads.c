/* SPDX-License-Identifier: BSD-3-Clause */
/* See threads.h. Main and a thread hand over to each other by semaphores; a thread never hands over
 * to another one. A thread that hands back holds no lock, unless it joins another one: so a lock is
 * hardly ever found taken, and is tried again. */
#include "config.h"

#include "threads.h"

#include "rng.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#define INDEX_BITS 10 /* Bits of a ticket for the thread; the other bits number its waits. */
#define EPOCH_US G_GUINT64_CONSTANT (1000000000)
#define REAL_EPOCH_US G_GUINT64_CONSTANT (1700000000000000)
#define WAKE_US 20   /* A thread that is woken runs within this time. */
#define YIELD_US 10  /* The time of a sched_yield. */
#define PAUSE_US 300 /* The longest time during which others run before a lock is taken. */

typedef struct
{
  Threads *threads;
  guint index;
  guint32 waits; /* The number of times that it has waited. */
  gboolean finished, is_due, hurries;
  guint64 at_us;    /* If is_due: the time at which it goes on, … */
  guint64 order;    /* … and the order in which waits of equal times end. */
  const void *cond; /* (nullable) The condition that it waits for. */
  guint n_locks;
  void *(*body) (void *data);
  void *data, *result;
  pthread_t thread;
  sem_t turn;
} Thread;

struct Threads
{
  ThreadsConfig config;
  Rng rng;
  GPtrArray *all; /* Of Thread. */
  gboolean ending;
  guint64 ahead_us, orders; /* ahead_us: their own time after threads_end. */
};

static __thread Thread *self; /* NULL: main. */
static Threads *entered;
static sem_t main_turn;

int __real_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
                           void *(*body) (void *), void *data);
int __real_pthread_join (pthread_t thread, void **result);
int __real_pthread_mutex_lock (pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock (pthread_mutex_t *mutex);
int __real_clock_gettime (clockid_t clock, struct timespec *time);
gint64 __real_g_get_monotonic_time (void);
gint64 __real_g_get_real_time (void);
#pragma GCC visibility push(default) /* The linker must see them where libraries call these. */
int __wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
                           void *(*body) (void *), void *data);
int __wrap_pthread_join (pthread_t thread, void **result);
int __wrap_pthread_tryjoin_np (pthread_t thread, void **result);
int __wrap_pthread_mutex_lock (pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock (pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait (pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *mutex,
                                   const struct timespec *until);
int __wrap_pthread_cond_signal (pthread_cond_t *cond);
int __wrap_sched_yield (void);
int __wrap_clock_gettime (clockid_t clock, struct timespec *time);
gint64 __wrap_g_get_monotonic_time (void);
gint64 __wrap_g_get_real_time (void);
void __wrap_g_usleep (gulong us);
GThread *__wrap_g_thread_new (const char *name, GThreadFunc body, gpointer data);
gpointer __wrap_g_thread_join (GThread *thread);
void __wrap_g_thread_unref (GThread *thread);
#pragma GCC visibility pop

Threads *
threads_here (void)
{
  return self != NULL ? self->threads : entered;
}

gboolean
threads_is_one (void)
{
  return self != NULL;
}

static guint64
now_us (const Threads *threads)
{
  return MAX (*threads->config.now_us, threads->ahead_us);
}

/* ---- handing over ---- */

static void
wait_turn (sem_t *turn)
{
  while (sem_wait (turn) != 0)
    ;
}

/* The thread goes on at that time. */
static void
expect (Thread *thread, guint64 at_us)
{
  Threads *threads = thread->threads;

  thread->waits = (thread->waits + 1) & (G_MAXUINT32 >> (INDEX_BITS + 1));
  thread->is_due = TRUE;
  thread->at_us = at_us;
  thread->order = threads->orders++;
  if (!threads->ending)
    threads->config.wake (threads->config.data, thread->index | thread->waits << INDEX_BITS, at_us);
}

static void
wake (Thread *thread)
{
  Threads *threads = thread->threads;

  thread->cond = NULL;
  expect (thread, now_us (threads) + rng_below (&threads->rng, WAKE_US));
}

/* Lets main run. Returns when main lets this thread run again. */
static void
hand_back (void)
{
  sem_post (&main_turn);
  wait_turn (&self->turn);
}

/* Called by main. */
static void
let_run (Thread *thread)
{
  thread->is_due = FALSE;
  sem_post (&thread->turn);
  wait_turn (&main_turn);
}

void
threads_run (Threads *threads, guint32 ticket)
{
  guint index = ticket & ((1u << INDEX_BITS) - 1);
  Thread *thread = index < threads->all->len ? threads->all->pdata[index] : NULL;

  g_assert (self == NULL);
  if (thread == NULL || !thread->is_due || thread->waits != ticket >> INDEX_BITS)
    return;
  threads_enter (threads);
  let_run (thread);
}

/* Main waits for one of these threads, which may wait for another one. So the thread that is due
 * first runs, whichever it is. */
static void
let_next_run (Threads *threads)
{
  Thread *next = NULL;

  for (guint i = 0; i < threads->all->len; i++)
    {
      Thread *thread = threads->all->pdata[i];
      if (thread->is_due
          && (next == NULL || thread->at_us < next->at_us
              || (thread->at_us == next->at_us && thread->order < next->order)))
        next = thread;
    }
  g_assert (next != NULL); /* Otherwise all would wait for ever. */
  threads->ahead_us = MAX (threads->ahead_us, next->at_us);
  let_run (next);
}

gboolean
threads_let_next_run (Threads *threads)
{
  for (guint i = 0; i < threads->all->len; i++)
    if (!((Thread *)threads->all->pdata[i])->finished)
      {
        let_next_run (threads);
        return TRUE;
      }
  return FALSE;
}

void
threads_sleep (guint64 us)
{
  expect (self, now_us (self->threads) + us);
  hand_back ();
}

void
threads_set_pauses (gboolean pauses)
{
  self->hurries = !pauses;
}

/* ---- their life ---- */

Threads *
threads_new (const ThreadsConfig *config)
{
  static gsize begun;
  Threads *threads = g_new0 (Threads, 1);

  if (g_once_init_enter (&begun))
    {
      sem_init (&main_turn, 0, 0);
      g_once_init_leave (&begun, 1);
    }
  threads->config = *config;
  threads->rng.state = config->seed;
  threads->all = g_ptr_array_new ();
  return threads;
}

void
threads_enter (Threads *threads)
{
  g_assert (self == NULL);
  entered = threads;
}

void
threads_end (Threads *threads)
{
  threads->ending = TRUE;
}

gboolean
threads_is_ending (const Threads *threads)
{
  return threads->ending;
}

gpointer
threads_data (const Threads *threads)
{
  return threads->config.data;
}

static void *
begin (void *data)
{
  self = data;
  wait_turn (&self->turn);
  self->result = self->body (self->data);
  self->finished = TRUE;
  for (guint i = 0; i < self->threads->all->len; i++)
    {
      Thread *other = self->threads->all->pdata[i];
      if (other->cond == self) /* It waits in pthread_join. */
        wake (other);
    }
  sem_post (&main_turn);
  return NULL;
}

static Thread *
start (const pthread_attr_t *attributes, void *(*body) (void *), void *data)
{
  Threads *threads = threads_here ();
  Thread *thread = g_new0 (Thread, 1);

  thread->threads = threads;
  thread->index = threads->all->len;
  g_assert (thread->index < 1u << INDEX_BITS);
  thread->body = body;
  thread->data = data;
  sem_init (&thread->turn, 0, 0);
  if (__real_pthread_create (&thread->thread, attributes, begin, thread) != 0)
    {
      g_free (thread);
      return NULL;
    }
  g_ptr_array_add (threads->all, thread);
  wake (thread);
  return thread;
}

static void
wait_for_end (Thread *thread)
{
  while (!thread->finished)
    if (self == NULL)
      let_next_run (thread->threads);
    else
      {
        self->cond = thread;
        hand_back ();
      }
}

void
threads_free (Threads *threads)
{
  for (guint i = 0; i < threads->all->len; i++)
    {
      Thread *thread = threads->all->pdata[i];
      wait_for_end (thread);
      if (thread->thread != 0)
        __real_pthread_join (thread->thread, NULL);
      sem_destroy (&thread->turn);
      g_free (thread);
    }
  g_ptr_array_unref (threads->all);
  if (entered == threads)
    entered = NULL;
  g_free (threads);
}

static Thread *
find (pthread_t thread)
{
  GPtrArray *all = threads_here ()->all;

  for (guint i = all->len; i > 0; i--)
    if (((Thread *)all->pdata[i - 1])->thread == thread)
      return all->pdata[i - 1];
  g_assert_not_reached ();
}

/* ---- what replaces the calls ---- */

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*body) (void *),
                       void *data)
{
  Thread *made = start (attributes, body, data);

  if (made == NULL)
    return EAGAIN;
  *thread = made->thread;
  return 0;
}

int
__wrap_pthread_join (pthread_t thread, void **result)
{
  Thread *other = find (thread);

  wait_for_end (other);
  if (result != NULL)
    *result = other->result;
  __real_pthread_join (thread, NULL); /* Its stack is free from now on. */
  other->thread = 0;
  return 0;
}

int
__wrap_pthread_tryjoin_np (pthread_t thread, void **result)
{
  return find (thread)->finished ? __wrap_pthread_join (thread, result) : EBUSY;
}

int
__wrap_pthread_mutex_lock (pthread_mutex_t *mutex)
{
  Threads *threads = threads_here ();

  if (self != NULL && self->n_locks == 0 && !self->hurries && !threads->ending
      && threads->config.pauses > 0 && rng_below (&threads->rng, 1000) < threads->config.pauses)
    threads_sleep (rng_below (&threads->rng, PAUSE_US));
  while (pthread_mutex_trylock (mutex) != 0)
    if (self == NULL)
      let_next_run (threads);
    else
      threads_sleep (1);
  if (self != NULL)
    self->n_locks++;
  return 0;
}

int
__wrap_pthread_mutex_unlock (pthread_mutex_t *mutex)
{
  if (self != NULL)
    self->n_locks--;
  return __real_pthread_mutex_unlock (mutex);
}

/* TRUE: somebody signalled. */
static gboolean
wait_for_signal (pthread_cond_t *cond, pthread_mutex_t *mutex)
{
  gboolean woken;

  g_assert (self != NULL && self->n_locks == 1);
  self->cond = cond;
  self->order = self->threads->orders++;
  __wrap_pthread_mutex_unlock (mutex);
  hand_back ();
  woken = self->cond == NULL;
  self->cond = NULL;
  self->n_locks++; /* No pause before the lock: a thread that waits has it again soon. */
  while (pthread_mutex_trylock (mutex) != 0)
    threads_sleep (1);
  return woken;
}

int
__wrap_pthread_cond_wait (pthread_cond_t *cond, pthread_mutex_t *mutex)
{
  (void)wait_for_signal (cond, mutex);
  return 0;
}

int
__wrap_pthread_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *mutex,
                               const struct timespec *until)
{
  guint64 at_us = (guint64)until->tv_sec * G_USEC_PER_SEC + (guint64)until->tv_nsec / 1000 + 1;

  expect (self, MAX (at_us - EPOCH_US, now_us (self->threads)));
  return wait_for_signal (cond, mutex) ? 0 : ETIMEDOUT;
}

int
__wrap_pthread_cond_signal (pthread_cond_t *cond)
{
  GPtrArray *all = threads_here ()->all;
  Thread *first = NULL;

  for (guint i = 0; i < all->len; i++)
    {
      Thread *thread = all->pdata[i];
      if (thread->cond == cond && (first == NULL || thread->order < first->order))
        first = thread;
    }
  if (first != NULL)
    wake (first);
  return 0;
}

int
__wrap_sched_yield (void)
{
  g_assert (self != NULL);
  threads_sleep (YIELD_US);
  return 0;
}

void
__wrap_g_usleep (gulong us)
{
  g_assert (self != NULL);
  threads_sleep (us);
}

/* The clock of the processor's time stands still. */
int
__wrap_clock_gettime (clockid_t clock, struct timespec *time)
{
  gint64 us = __wrap_g_get_monotonic_time ();

  if (threads_here () == NULL)
    return __real_clock_gettime (clock, time);
  *time = (struct timespec){ 0 };
  if (clock == CLOCK_MONOTONIC)
    *time = (struct timespec){ us / G_USEC_PER_SEC, us % G_USEC_PER_SEC * 1000 };
  return 0;
}

gint64
__wrap_g_get_monotonic_time (void)
{
  const Threads *threads = threads_here ();

  return threads == NULL ? __real_g_get_monotonic_time () : (gint64)(EPOCH_US + now_us (threads));
}

gint64
__wrap_g_get_real_time (void)
{
  const Threads *threads = threads_here ();

  return threads == NULL ? __real_g_get_real_time () : (gint64)(REAL_EPOCH_US + now_us (threads));
}

gint64
threads_real_time (void)
{
  return __real_g_get_monotonic_time ();
}

GThread *
__wrap_g_thread_new (const char *name, GThreadFunc body, gpointer data)
{
  Thread *thread = start (NULL, body, data);

  (void)name;
  g_assert (thread != NULL);
  return (GThread *)thread;
}

gpointer
__wrap_g_thread_join (GThread *thread)
{
  Thread *other = (Thread *)thread;

  wait_for_end (other);
  return other->result;
}

void
__wrap_g_thread_unref (GThread *thread)
{
  (void)thread; /* threads_free joins it. */
}
