/* SPDX-License-Identifier: BSD-3-Clause */
/* Included before everything else (-include) into the files whose atomic accesses are tried in
 * every order: before each access the other thread may run, and the value that was read is noted.
 * See test-deque.c. */
#pragma once

#include <stdint.h>

#define SATIN_STEPS_ /* Tells satin.h to use plain atomic functions. */

/* Before an access; after it, with the value that was read. */
void steps_point (void);
void steps_saw (uint64_t value);

/* For large programs a relaxed access is one step together with the access before it: relaxed
 * accesses are hints, figures, or data of the owner alone. */
#ifdef SATIN_STEPS_FEW_
#define STEPS_POINT_(order) ((order) == __ATOMIC_RELAXED ? (void)0 : steps_point ())
#define STEPS_ADD_(order, value) ((order) == __ATOMIC_RELAXED ? (void)0 : steps_saw (value))
#else
#define STEPS_POINT_(order) steps_point ()
#define STEPS_ADD_(order, value) steps_saw (value)
#endif
#define STEPS_SAW_(type, order, expression) \
  __extension__({ \
    STEPS_POINT_ (order); \
    type steps_value_ = (expression); \
    steps_saw ((uint64_t)(uintptr_t)steps_value_); \
    steps_value_; \
  })

#define __atomic_load_n(p, order) \
  STEPS_SAW_ (__typeof__ (*(p) + 0), order, __atomic_load_n (p, order))
#define __atomic_exchange_n(p, v, order) \
  STEPS_SAW_ (__typeof__ (*(p) + 0), order, __atomic_exchange_n (p, v, order))
#define __atomic_fetch_or(p, v, order) \
  STEPS_SAW_ (__typeof__ (*(p) + 0), order, __atomic_fetch_or (p, v, order))
#define __atomic_fetch_add(p, v, order) \
  __extension__({ \
    STEPS_POINT_ (order); \
    __typeof__ (*(p) + 0) steps_value_ = __atomic_fetch_add (p, v, order); \
    STEPS_ADD_ (order, (uint64_t)steps_value_); \
    steps_value_; \
  })
#define __atomic_compare_exchange_n(p, expected, v, weak, order, failure) \
  STEPS_SAW_ (int, order, __atomic_compare_exchange_n (p, expected, v, weak, order, failure))
#define __atomic_store_n(p, v, order) (STEPS_POINT_ (order), __atomic_store_n (p, v, order))

/* The explorer has its own locks and waits. pthread.h and sched.h declare these functions under the
 * new names. */
#define pthread_mutex_lock steps_lock
#define pthread_mutex_unlock steps_unlock
#define pthread_cond_wait steps_cond_wait
#define pthread_cond_signal steps_cond_signal
#define pthread_cond_timedwait steps_cond_timedwait
#define sched_yield steps_yield
