/* SPDX-License-Identifier: BSD-3-Clause */
/* The inline engine: the words of satin.h besides spawn, sync and call, what all jobs share, and
 * what a program and the library must agree on. Private, as satin-frame.h says. */
#pragma once

#if defined(__cplusplus) && defined(__cpp_exceptions)
#include <cxxabi.h>
#include <exception>
#define SATIN_EXCEPTIONS_
#endif

G_BEGIN_DECLS

#pragma GCC visibility push(default)

/* By this a function that a job calls can poll. */
typedef struct
{
  SatinStack_ *stack;
  SatinSlot_ *self, *head;
} SatinHere;

SATIN_INLINE_ SatinHere
satin_here_ (SatinFrame_ *frame)
{
  SatinHere here = { frame->stack, frame->self, frame->head };

  satin_put_down_ (frame);
  return here;
}

SATIN_INLINE_ void
satin_poll_here_ (SatinHere here)
{
  if (SATIN_UNLIKELY_ (satin_guard_ (here.stack) == (SatinSlot_ *)UINTPTR_MAX))
    satin_poll_ (here.stack, here.self, here.head);
}

/* engine/satin-fail.c. */
void satin_fail_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *top, const char *format, ...)
    __attribute__ ((cold, noreturn, format (printf, 4, 5)));

#define satin_fail_now_(frame, ...) \
  (satin_put_down_ (frame), satin_fail_ ((frame)->stack, (frame)->self, (frame)->head, __VA_ARGS__))

/* Every job does this after its body, when the result is in its slot. */
SATIN_INLINE_ void
satin_end_ (SatinFrame_ *frame)
{
  if (SATIN_UNLIKELY_ (frame->first != frame->head))
    satin_fail_ (frame->stack, frame->self, frame->head,
                 "it returned without satin_sync after its last satin_spawn");
  if (frame->holds)
    satin_release_ (frame->stack, frame->base, frame->head, frame->fresh);
  if (frame->arena != NULL)
    satin_arena_drop_ (frame->stack, frame->arena);
}

/* engine/door/share.c. Both may wait; the frame's slots end at `head`. The first gives the bytes to
 * the job. The second sees to it that this node has the bytes of which a finished job's result
 * holds the names. */
SatinBytes satin_shared_at_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head,
                             SatinShared shared);
void satin_own_at_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head, const SatinType *type,
                    const void *data) __attribute__ ((cold));

SATIN_INLINE_ SatinBytes
satin_shared_ (SatinFrame_ *frame, SatinShared shared)
{
  SatinBytes bytes;

  satin_put_down_ (frame);
  bytes = satin_shared_at_ (frame->stack, frame->self, frame->head, shared);
  frame->jobs = frame->stack->jobs;
  frame->holds = TRUE;
  return bytes;
}

SATIN_INLINE_ void
satin_own_ (SatinFrame_ *frame, const SatinType *type, const void *result)
{
  satin_put_down_ (frame);
  satin_own_at_ (frame->stack, frame->self, frame->head, type, result);
  frame->jobs = frame->stack->jobs;
}

#define SATIN_KEEP_AT_ 8 /* offset of a kept state in the payload of its slot */

/* engine/save/keep.c. The part of a frame that the two functions need, and change (head, arena). */
typedef struct
{
  SatinStack_ *stack;
  SatinSlot_ *self, *base, *head;
  const SatinJob *keeps; /* the pseudo-job of SATIN_KEEPS: its result is the state */
  void *arena;
  uint64_t fresh;
  gboolean holds;
} SatinPhases_;

void satin_keep_at_ (SatinPhases_ *phases, const void *state);
int satin_recall_at_ (SatinPhases_ *phases, void *state);

SATIN_INLINE_ SatinPhases_
satin_phases_ (const SatinFrame_ *frame, const SatinJob *keeps)
{
  SatinPhases_ phases = { frame->stack, frame->self,  frame->base,  frame->head,
                          keeps,        frame->arena, frame->fresh, frame->holds };

  return phases;
}

SATIN_INLINE_ void
satin_go_on_ (SatinFrame_ *frame, const SatinPhases_ *phases)
{
  frame->head = frame->first = frame->noted = phases->head;
  frame->arena = phases->arena;
  if (phases->keeps->result_holds)
    frame->holds = TRUE;
}

SATIN_INLINE_ void
satin_keep_ (SatinFrame_ *frame, const SatinJob *keeps, const void *state)
{
  SatinPhases_ phases = satin_phases_ (frame, keeps);

  if (SATIN_UNLIKELY_ (frame->first != frame->head))
    satin_fail_now_ (frame, "it called satin_keep before satin_sync had ended its phase");
  satin_put_down_ (frame);
  satin_keep_at_ (&phases, state);
  satin_go_on_ (frame, &phases);
  satin_aborted_ (frame); /* so a job that only computes and keeps can be saved and aborted */
}

SATIN_INLINE_ gboolean
satin_recall_ (SatinFrame_ *frame, const SatinJob *keeps, void *state)
{
  SatinPhases_ phases = satin_phases_ (frame, keeps);
  int found;

  if (SATIN_UNLIKELY_ (frame->base != frame->head))
    satin_fail_now_ (frame, "it called satin_recall after its first satin_spawn or satin_call");
  SATIN_WRITE_ (frame->stack->jobs, frame->jobs);
  found = satin_recall_at_ (&phases, state);
  frame->jobs = frame->stack->jobs;
  satin_go_on_ (frame, &phases);
  return found;
}

/* engine/registry.c. Each SATIN_JOB registers its job before main. */
typedef struct SatinJobEntry_ SatinJobEntry_;
struct SatinJobEntry_
{
  const SatinJob *job;
  SatinJobEntry_ *next;
};
void satin_job_register_ (SatinJobEntry_ *entry);

/* engine/door/crashed.c. A C++ exception that leaves a job ends the process by std::terminate. Its
 * handler, set before main, calls this to say what was thrown. `type` NULL: nothing was thrown;
 * `what` may be NULL. */
void satin_thrown_ (const char *type, const char *what) G_GNUC_NORETURN;
#ifdef SATIN_EXCEPTIONS_
extern "C++"
{
  static inline void
  satin_terminate_ () noexcept
  {
    const std::type_info *type = abi::__cxa_current_exception_type ();
    const char *name = NULL;
    int failed = 0;

    if (type == NULL)
      satin_thrown_ (NULL, NULL);
    name = abi::__cxa_demangle (type->name (), NULL, NULL, &failed);
    if (name == NULL)
      name = type->name ();
    try
      {
        throw;
      }
    catch (const std::exception &error)
      {
        satin_thrown_ (name, error.what ());
      }
    catch (...)
      {
        satin_thrown_ (name, NULL);
      }
  }
}
#define SATIN_WATCH_TERMINATE_() (void)std::set_terminate (satin_terminate_)
#else
#define SATIN_WATCH_TERMINATE_() (void)0
#endif

#define SATIN_REGISTER_JOB_(name) \
  static void __attribute__ ((constructor)) satin_register_##name (void) \
  { \
    static SatinJobEntry_ entry = { &name##_job, NULL }; \
    satin_job_register_ (&entry); \
    SATIN_WATCH_TERMINATE_ (); \
  }

/* Constants and best values. */
typedef struct SatinConst_ SatinConst_;
struct SatinConst_
{
  const char *name;
  const SatinType *type;
  const void *value; /* atomic; NULL: not published */
  SatinConst_ *next;
};

typedef struct SatinBest_ SatinBest_;
struct SatinBest_
{
  const char *name;
  const SatinType *type;
  const void *(*merge) (const void *a, const void *b);
  const void *value; /* atomic; old values stay readable */
  SatinBest_ *next;
  char *(*show) (const void *value); /* NULL: there is no SATIN_BEST_SHOW */
};

void satin_const_register_ (SatinConst_ *constant);
void satin_const_missing_ (const SatinConst_ *constant) G_GNUC_NORETURN;
void satin_best_register_ (SatinBest_ *best);
void satin_improve_ (SatinBest_ *best, const void *value);

SATIN_INLINE_ const void *
satin_const_value_ (const SatinConst_ *constant)
{
  const void *value = __atomic_load_n (&constant->value, __ATOMIC_ACQUIRE);

  if (SATIN_UNLIKELY_ (value == NULL))
    satin_const_missing_ (constant);
  return value;
}

SATIN_INLINE_ const void *
satin_best_value_ (const SatinBest_ *best)
{
  return __atomic_load_n (&best->value, __ATOMIC_ACQUIRE);
}

/* The program, as satin/node sees it. */
typedef struct
{
  uint32_t layout; /* SATIN_LAYOUT_ of the program's satin.h */
  const char *name;
  const char *usage;
  int (*main) (SatinRun *run, int argc, char **argv);
  const SatinJob *const *jobs; /* NULL-terminated: those that get the first numbers */
} SatinApp;

/* What inlined code assumes of the library: a program refuses to run with a library that has
 * another number. The number is made of the size of each struct that a program shares with the
 * library and of the places of its members. The version is for changes that these do not show, such
 * as the meaning of a field. */
#define SATIN_INLINE_VERSION_ 6u
#define SATIN_MIX_(h, x) (((h) ^ (uint32_t)(x)) * 16777619u)
#define SATIN_MIX_1_(h, T, a) SATIN_MIX_ (SATIN_MIX_ (h, sizeof (T)), offsetof (T, a))
#define SATIN_MIX_2_(h, T, a, b) SATIN_MIX_ (SATIN_MIX_1_ (h, T, a), offsetof (T, b))
#define SATIN_MIX_3_(h, T, a, b, c) SATIN_MIX_ (SATIN_MIX_2_ (h, T, a, b), offsetof (T, c))
#define SATIN_MIX_4_(h, T, a, b, c, d) SATIN_MIX_ (SATIN_MIX_3_ (h, T, a, b, c), offsetof (T, d))
#define SATIN_MIX_5_(h, T, a, b, c, d, e) \
  SATIN_MIX_ (SATIN_MIX_4_ (h, T, a, b, c, d), offsetof (T, e))
#define SATIN_LAYOUT_STACK_(h) SATIN_MIX_3_ (h, SatinStack_, guard, jobs, fresh)
#define SATIN_LAYOUT_SLOT_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_STACK_ (h), SatinSlot_, parent, state, job, into, payload)
#define SATIN_LAYOUT_JOB_(h) \
  SATIN_MIX_5_ ( \
      SATIN_MIX_5_ (SATIN_LAYOUT_SLOT_ (h), SatinJob, name, args, result, run, result_at), \
      SatinJob, payload, big, args_hold, result_holds, returns)
#define SATIN_LAYOUT_DONE_(h) SATIN_MIX_2_ (SATIN_LAYOUT_JOB_ (h), SatinDone_, jobs, result)
#define SATIN_LAYOUT_PHASES_(h) \
  SATIN_MIX_3_ ( \
      SATIN_MIX_5_ (SATIN_LAYOUT_DONE_ (h), SatinPhases_, stack, self, base, head, keeps), \
      SatinPhases_, arena, fresh, holds)
#define SATIN_LAYOUT_CONST_(h) \
  SATIN_MIX_4_ (SATIN_LAYOUT_PHASES_ (h), SatinConst_, name, type, value, next)
#define SATIN_LAYOUT_BEST_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_CONST_ (h), SatinBest_, name, type, merge, value, next)
#define SATIN_LAYOUT_TYPE_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_BEST_ (h), SatinType, name, size, kind, n_fields, fields)
#define SATIN_LAYOUT_FIELD_(h) \
  SATIN_MIX_4_ (SATIN_LAYOUT_TYPE_ (h), SatinField, name, type, offset, count)
#define SATIN_LAYOUT_APP_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_FIELD_ (h), SatinApp, layout, name, usage, main, jobs)
#define SATIN_LAYOUT_ SATIN_MIX_ (SATIN_LAYOUT_APP_ (SATIN_INLINE_VERSION_), SATIN_KEEP_AT_)
extern const uint32_t satin_app_version_; /* defined only by SATIN_APP_VERSION */

/* Implemented by satin/node. */
int satin_main_ (const SatinApp *app, int argc, char **argv);
SatinRun *satin_open_ (uint32_t layout, int *argc, char ***argv, GError **error);
gboolean satin_root_ (SatinRun *run, const SatinJob *job, const void *args, void *result);
void satin_publish_ (SatinRun *run, SatinConst_ *constant, const void *value);

#pragma GCC visibility pop

G_END_DECLS
