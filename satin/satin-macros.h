/* SPDX-License-Identifier: BSD-3-Clause */
/* The inline engine: what SATIN_RECORD, SATIN_LIST, SATIN_JOB and the other words at file scope
 * define. Private, as satin-frame.h says. */
#pragma once

G_BEGIN_DECLS

#pragma GCC visibility push(default)

/* A definition has to repeat its declaration: same names, same types. */
#define SATIN_CHECK_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_CHECK_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_CHECK_2(c, T, m) \
  SATIN_ASSERT_ (SATIN_SAME_ (T, __typeof__ (((c *)0)->m)), \
                 "argument '" #m "' has another type where the job is declared");
#define SATIN_CHECK_3(c, T, m, N) \
  SATIN_ASSERT_ (SATIN_SAME_ (T[N], __typeof__ (((c *)0)->m)), \
                 "argument '" #m "' has another type where the job is declared");

#ifdef __cplusplus
#define SATIN_NOEXCEPT_ noexcept
#define SATIN_ASSERT_ static_assert
#define SATIN_SAME_(A, B) __is_same(A, B)
#define SATIN_POINTER_(T, p) satin_pointer_<T> (p)
#define SATIN_FITS_(T, p, x) (x) /* the typed function checks */
#define SATIN_STATE_(T, p) satin_place_of_<T> (p)
extern "C++"
{
  template <typename T>
  static inline const T *
  satin_pointer_ (const T *p)
  {
    return p;
  }
  template <typename T>
  static inline T *
  satin_place_of_ (T *p)
  {
    return p;
  }
}
/* For satin.hpp, which finds types by overloads (satin-describe.hpp). */
#define SATIN_DESCRIBE_(Name) \
  extern "C++" \
  { \
    struct satin_described_##Name \
    { \
      static constexpr int holds \
          = (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Name; \
      static constexpr const SatinType *type () \
      { \
        return &satin_type_##Name; \
      } \
    }; \
    __attribute__ ((unused)) inline satin_described_##Name satin_describe_ (const Name *) \
    { \
      return {}; \
    } \
  }
#else
#define SATIN_DESCRIBE_(Name)
#define SATIN_NOEXCEPT_
#define SATIN_ASSERT_ _Static_assert
#define SATIN_SAME_(A, B) __builtin_types_compatible_p (A, B)
#define SATIN_POINTER_(T, p) _Generic((p), T * : (p), const T * : (p))
#define SATIN_FITS_(T, p, x) _Generic((p), T * : (x))
#define SATIN_STATE_(T, p) SATIN_FITS_ (T, p, p)
#endif

#define SATIN_RECORD_(Name, ...) \
  typedef struct Name \
  { \
    SATIN_MAP_ (SATIN_MEMBER_, Name, __VA_ARGS__) \
  } Name; \
  enum \
  { \
    satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Name \
    = 0 SATIN_MAP_ (SATIN_HOLD_, Name, __VA_ARGS__) \
  }; \
  static const SatinField satin_fields_##Name[] __attribute__ ((unused)) \
  = { SATIN_MAP_ (SATIN_FIELD_, Name, __VA_ARGS__) }; \
  static const SatinType satin_type_##Name __attribute__ ((unused)) \
  = { #Name, sizeof (Name), SATIN_KIND_RECORD, SATIN_COUNT_ (__VA_ARGS__), satin_fields_##Name }; \
  SATIN_DESCRIBE_ (Name)

/* engine/satin-list.c. `list` is a SatinList_. */
void satin_list_fill_ (const SatinType *item, const void *items, uint64_t n, void *list);
void satin_list_join_ (const SatinType *item, const void *a, const void *b, void *list);

void satin_list_set_ (const SatinType *item, void *to, const void *from);

/* Copies an item into a list. `holds`: the list's item takes references of its own. */
SATIN_INLINE_ void
satin_set_item_ (const SatinType *item, int holds, void *to, const void *from, size_t size)
{
  if (holds)
    satin_list_set_ (item, to, from);
  else
    __builtin_memcpy (to, from, size);
}

#define SATIN_LIST_(Name, Type) \
  typedef struct Name \
  { \
    const Type *at; \
    uint64_t n; \
    GBytes *held; \
  } Name; \
  enum \
  { \
    satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Name \
    = (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type \
      | (int)satin_holds_SatinBytes \
  }; \
  static const SatinField satin_fields_##Name[] __attribute__ ((unused)) \
  = { { "item", &satin_type_##Type, 0, 0 } }; \
  static const SatinType satin_type_##Name __attribute__ ((unused)) \
  = { #Name, sizeof (Name), SATIN_KIND_LIST, 1, satin_fields_##Name }; \
  SATIN_DESCRIBE_ (Name) \
  SATIN_INLINE_ Name satin_list_##Name (const Type *satin_items_, uint64_t satin_n_) \
  { \
    Name satin_made_; \
    satin_list_fill_ (&satin_type_##Type, satin_items_, satin_n_, &satin_made_); \
    return satin_made_; \
  } \
  SATIN_INLINE_ Name satin_join_##Name (Name satin_a_, Name satin_b_) \
  { \
    Name satin_made_; \
    satin_list_join_ (&satin_type_##Type, &satin_a_, &satin_b_, &satin_made_); \
    return satin_made_; \
  } \
  SATIN_INLINE_ Type *satin_items_##Name (Name satin_made_) \
  { \
    return (Type *)(uintptr_t)satin_made_.at; \
  }

/* An error if the compiler sees that a destination is NULL. Without optimisation it sees none. */
void satin_null_destination_ (void)
    __attribute__ ((error ("the destination of a job is NULL: every result needs a variable")));
#define SATIN_NOT_NULL_(into) \
  do \
    if (__builtin_constant_p ((into) == NULL) && (into) == NULL) \
      satin_null_destination_ (); \
  while (0)

#define SATIN_JOB_(name, ...) \
  SATIN_DECLARE_ (name, __VA_ARGS__) \
  SATIN_DEFINE_ (name, __VA_ARGS__)
#define SATIN_JOB_DECLARE_(name, ...) \
  SATIN_DECLARE_ (name, __VA_ARGS__) \
  SATIN_ASSERT_ (1, "") /* and the semicolon behind it */
#define SATIN_DECLARE_(name, ...) \
  SATIN_ASSERT_ (SATIN_COUNT_ (__VA_ARGS__) <= 9, \
                 "job '" #name "' has more than 8 arguments: put some into a SATIN_RECORD"); \
  typedef SATIN_FIRST_ (__VA_ARGS__) satin_result_##name; \
  typedef struct \
  { \
    SATIN_ARGS_ (SATIN_MEMBER_, name, __VA_ARGS__) SATIN_NO_ARGS_ (__VA_ARGS__) \
  } satin_args_##name; \
  enum \
  { \
    satin_count_##name = SATIN_COUNT_ (__VA_ARGS__) - 1, \
    satin_args_hold_##name = 0 SATIN_ARGS_ (SATIN_HOLD_, name, __VA_ARGS__), \
    satin_result_holds_##name = SATIN_JOIN_ ( \
        satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_, SATIN_FIRST_ (__VA_ARGS__)), \
    satin_at_##name = (sizeof (satin_args_##name) + 7) / 8 * 8, \
    satin_size_##name = satin_at_##name + (sizeof (satin_result_##name) + 7) / 8 * 8, \
    satin_big_##name = (int)satin_size_##name > SATIN_PAYLOAD_, \
    satin_returns_##name \
    = sizeof (satin_result_##name) <= 8 && (int)satin_result_holds_##name == 0 \
  }; \
  extern const SatinJob name##_job; \
  SATIN_INLINE_ void satin_place_##name ( \
      SatinFrame_ *satin_frame_, \
      void *satin_into_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    satin_args_##name *satin_args_ = (satin_args_##name *)satin_place_ ( \
        satin_frame_, &name##_job, satin_into_, satin_big_##name, satin_size_##name, \
        (int)satin_args_hold_##name | (int)satin_result_holds_##name); \
    (void)satin_args_; \
    SATIN_ARGS_ (SATIN_STORE_, name, __VA_ARGS__) \
    if ((int)satin_args_hold_##name != 0) \
      satin_hold_args_ (&name##_job, satin_args_); \
  } \
  SATIN_INLINE_ void satin_spawn_##name ( \
      SatinFrame_ *satin_frame_, \
      satin_result_##name *satin_into_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    SATIN_NOT_NULL_ (satin_into_); \
    satin_place_##name (satin_frame_, satin_into_ SATIN_ARGS_ (SATIN_PASS_, name, __VA_ARGS__)); \
  } \
  SATIN_INLINE_ satin_result_##name satin_call_##name ( \
      SatinFrame_ *satin_frame_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    SatinSlot_ *satin_slot_ = satin_frame_->head; \
    uint64_t satin_returned_; \
    satin_result_##name satin_result_; \
    satin_place_##name (satin_frame_, NULL SATIN_ARGS_ (SATIN_PASS_, name, __VA_ARGS__)); \
    satin_returned_ = satin_called_ (satin_frame_, &name##_job, satin_big_##name, satin_at_##name, \
                                     satin_returns_##name); \
    if (!satin_returns_##name) \
      return *(satin_result_##name *)satin_result_at_ (satin_slot_, satin_big_##name, \
                                                       satin_at_##name); \
    __builtin_memcpy (&satin_result_, &satin_returned_, \
                      satin_returns_##name ? sizeof satin_result_ : 0); \
    return satin_result_; \
  } \
  SATIN_INLINE_ gboolean satin_root_##name ( \
      SatinRun *satin_run_, \
      satin_result_##name *satin_into_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    satin_args_##name satin_root_args_, *satin_args_ = &satin_root_args_; \
    SATIN_NOT_NULL_ (satin_into_); \
    memset (satin_args_, 0, sizeof *satin_args_); \
    SATIN_ARGS_ (SATIN_STORE_, name, __VA_ARGS__) \
    return satin_root_ (satin_run_, &name##_job, satin_args_, satin_into_); \
  }

#define SATIN_DEFINE_(name, ...) \
  SATIN_ASSERT_ ((int)satin_count_##name == SATIN_COUNT_ (__VA_ARGS__) - 1, \
                 "job '" #name "' has another number of arguments where it is declared"); \
  SATIN_ASSERT_ (SATIN_SAME_ (SATIN_FIRST_ (__VA_ARGS__), satin_result_##name), \
                 "job '" #name "' has another result type where it is declared"); \
  SATIN_ARGS_ (SATIN_CHECK_, satin_args_##name, __VA_ARGS__) \
  static const SatinField satin_fields_##name[] \
      = { SATIN_ARGS_ (SATIN_FIELD_, satin_args_##name, __VA_ARGS__){ NULL, NULL, 0, 0 } }; \
  static const SatinType satin_args_type_##name \
      = { #name, sizeof (satin_args_##name), SATIN_KIND_RECORD, satin_count_##name, \
          satin_fields_##name }; \
  static SatinDone_ satin_run_##name (SatinStack_ *satin_stack_, SatinSlot_ *satin_self_, \
                                      SatinSlot_ *satin_head_, uint64_t satin_jobs_) \
      SATIN_NOEXCEPT_; \
  const SatinJob name##_job = { #name, \
                                &satin_args_type_##name, \
                                &SATIN_JOIN_ (satin_type_, SATIN_FIRST_ (__VA_ARGS__)), \
                                satin_run_##name, \
                                satin_at_##name, \
                                satin_size_##name, \
                                satin_big_##name, \
                                satin_args_hold_##name, \
                                satin_result_holds_##name, \
                                satin_returns_##name }; \
  SATIN_REGISTER_JOB_ (name) \
  SATIN_INLINE_ satin_result_##name satin_body_##name ( \
      SatinFrame_ *const satin_frame_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)); \
  static inline SatinDone_ satin_run_##name (SatinStack_ *satin_stack_, SatinSlot_ *satin_self_, \
                                             SatinSlot_ *satin_head_, uint64_t satin_jobs_) \
      SATIN_NOEXCEPT_ \
  { \
    SatinFrame_ satin_own_frame_ \
        = { satin_stack_, \
            satin_self_, \
            satin_head_, \
            satin_head_, \
            satin_head_, \
            satin_head_, \
            &name##_job, \
            { NULL, NULL, NULL, NULL }, \
            { NULL, NULL, NULL, NULL }, \
            satin_jobs_, \
            0, \
            NULL, \
            satin_stack_->fresh, \
            FALSE, \
            { { 0, 0 }, { 0, 0 } }, \
            (int)satin_args_hold_##name != 0 || (int)satin_result_holds_##name != 0 }; \
    char *satin_payload_at_ = (char *)satin_payload_ (satin_self_, satin_big_##name); \
    satin_args_##name *satin_args_ = (satin_args_##name *)(void *)satin_payload_at_; \
    SatinDone_ satin_done_ = { 0, 0 }; \
    satin_result_##name satin_short_; \
    satin_result_##name *satin_result_ \
        = satin_returns_##name \
              ? &satin_short_ \
              : (satin_result_##name *)(void *)(satin_payload_at_ + satin_at_##name); \
    (void)satin_args_; \
    *satin_result_ \
        = satin_body_##name (&satin_own_frame_ SATIN_ARGS_ (SATIN_LOAD_, name, __VA_ARGS__)); \
    if (((int)satin_result_holds_##name & (int)satin_holds_SatinShared) != 0) \
      satin_own_ (&satin_own_frame_, name##_job.result, satin_result_); \
    if ((int)satin_result_holds_##name != 0) \
      satin_hold_result_ (&name##_job, satin_result_); \
    satin_end_ (&satin_own_frame_); \
    if (satin_returns_##name) \
      __builtin_memcpy (&satin_done_.result, &satin_short_, \
                        satin_returns_##name ? sizeof satin_short_ : 0); \
    satin_done_.jobs = satin_own_frame_.jobs; \
    return satin_done_; \
  } \
  SATIN_INLINE_ satin_result_##name satin_body_##name ( \
      SatinFrame_ *const satin_frame_ __attribute__ ((unused)) \
      SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__))

/* Loops. */
#define SATIN_PIECES_ 2048

SATIN_INLINE_ uint64_t
satin_range_ (int64_t from, int64_t to)
{
  return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

SATIN_INLINE_ int64_t
satin_grain_ (int64_t from, int64_t to, int64_t grain)
{
  return grain > 0 ? grain : (int64_t)(satin_range_ (from, to) / SATIN_PIECES_) + 1;
}

/* A job that cuts its range in two; satin_piece_name computes a piece. */
#define SATIN_LOOP_(name, Result, MERGE, ...) \
  SATIN_JOB (name, Result, (int64_t, from), (int64_t, to), \
             (int64_t, grain)__VA_OPT__ (, ) __VA_ARGS__) \
  { \
    const int64_t satin_grain_of_ = satin_grain_ (from, to, grain); \
    const uint64_t satin_items_of_ = satin_range_ (from, to); \
    Result satin_low_, satin_high_; \
    if (satin_items_of_ <= (uint64_t)satin_grain_of_) \
      return satin_piece_##name ( \
          satin_here (), from, \
          to SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
    const int64_t satin_middle_ = from + (int64_t)(satin_items_of_ / 2); \
    satin_spawn_##name ( \
        satin_frame_, &satin_low_, from, satin_middle_, \
        satin_grain_of_ SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
    satin_spawn_##name ( \
        satin_frame_, &satin_high_, satin_middle_, to, \
        satin_grain_of_ SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
    satin_sync (); \
    return MERGE (satin_low_, satin_high_); \
  }

#define SATIN_REDUCE_(name, Result, MERGE, ...) \
  static inline Result satin_body_of_##name ( \
      int64_t from, \
      int64_t to SATIN_ARGS_ (SATIN_PARAMETER_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
  SATIN_INLINE_ Result satin_piece_##name ( \
      SatinHere satin_at_ __attribute__ ((unused)), int64_t from, \
      int64_t to SATIN_ARGS_ (SATIN_PARAMETER_, name, Result __VA_OPT__ (, ) __VA_ARGS__)) \
  { \
    return satin_body_of_##name ( \
        from, to SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
  } \
  SATIN_LOOP_ (name, Result, MERGE __VA_OPT__ (, ) __VA_ARGS__) \
  static inline Result satin_body_of_##name ( \
      int64_t from __attribute__ ((unused)), \
      int64_t to __attribute__ ((unused)) \
      SATIN_ARGS_ (SATIN_PARAMETER_, name, Result __VA_OPT__ (, ) __VA_ARGS__))

#define SATIN_FOR_EACH_(name, List, Type, ...) \
  static inline Type satin_body_of_##name ( \
      int64_t i SATIN_ARGS_ (SATIN_PARAMETER_, name, Type __VA_OPT__ (, ) __VA_ARGS__)); \
  SATIN_INLINE_ List satin_piece_##name ( \
      SatinHere satin_at_, int64_t from, \
      int64_t to SATIN_ARGS_ (SATIN_PARAMETER_, name, Type __VA_OPT__ (, ) __VA_ARGS__)) \
  { \
    List satin_made_ = satin_list (List, NULL, satin_range_ (from, to)); \
    Type *satin_to_ = satin_items (List, satin_made_); \
    for (int64_t satin_i_ = from; satin_i_ < to; satin_i_++) \
      { \
        Type satin_item_ = satin_body_of_##name ( \
            satin_i_ SATIN_ARGS_ (SATIN_PASS_, name, Type __VA_OPT__ (, ) __VA_ARGS__)); \
        satin_set_item_ (&satin_type_##Type, SATIN_HOLDS_ (Type), satin_to_, &satin_item_, \
                         sizeof satin_item_); \
        satin_to_++; \
        satin_poll (satin_at_); \
      } \
    return satin_made_; \
  } \
  SATIN_LOOP_ (name, List, satin_join_##List __VA_OPT__ (, ) __VA_ARGS__) \
  static inline Type satin_body_of_##name (int64_t i __attribute__ ((unused)) SATIN_ARGS_ ( \
      SATIN_PARAMETER_, name, Type __VA_OPT__ (, ) __VA_ARGS__))

/* The typed function behind each word checks the number of arguments. */
#define SATIN_SPAWN_(job, ...) \
  __extension__({ \
    SATIN_STRICT_; \
    satin_spawn_##job (SATIN_FOR_ (job, satin_frame_, __VA_ARGS__), __VA_ARGS__); \
    SATIN_STRICT_END_; \
  })
#define SATIN_ROOT_(run, job, ...) \
  SATIN_VALUE_ (job, satin_root_##job (SATIN_FOR_ (job, run, __VA_ARGS__), __VA_ARGS__))
/* x, if the first argument has the type of a destination. */
#define SATIN_FOR_(job, x, ...) SATIN_FITS_ (satin_result_##job, SATIN_FIRST_ (__VA_ARGS__), x)
#define SATIN_CALL_(job, ...) \
  SATIN_VALUE_ (job, satin_call_##job (satin_frame_ __VA_OPT__ (, ) __VA_ARGS__))

/* A double that becomes an integer argument is an error, whatever warnings the program asks for. In
 * C++ a pragma behind the last expression would take its value away. */
#define SATIN_STRICT_ \
  _Pragma ("GCC diagnostic push") _Pragma ("GCC diagnostic error \"-Wfloat-conversion\"")
#define SATIN_STRICT_END_ _Pragma ("GCC diagnostic pop")
#ifdef __cplusplus
#define SATIN_VALUE_(job, call) \
  __extension__({ \
    SATIN_STRICT_; \
    auto satin_value_of_##job = call; \
    SATIN_STRICT_END_; \
    satin_value_of_##job; \
  })
#else
#define SATIN_VALUE_(job, call) \
  __extension__({ \
    SATIN_STRICT_; \
    call; \
    SATIN_STRICT_END_ \
  })
#endif

#define SATIN_KEEPS_(Type) \
  typedef Type satin_kept_type_ __attribute__ ((unused)); \
  static const SatinJob satin_keep_and_recall_need_SATIN_KEEPS __attribute__ ((unused)) \
  = { #Type, \
      NULL, \
      &satin_type_##Type, \
      NULL, \
      SATIN_KEEP_AT_, \
      SATIN_KEEP_AT_ + sizeof (Type), \
      SATIN_KEEP_AT_ + sizeof (Type) > SATIN_PAYLOAD_, \
      FALSE, \
      (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type, \
      FALSE }

#define SATIN_RECALL_(state) \
  satin_recall_ (satin_frame_, &satin_keep_and_recall_need_SATIN_KEEPS, \
                 SATIN_STATE_ (satin_kept_type_, state))
#define SATIN_KEEP_(...) \
  satin_keep_ (satin_frame_, &satin_keep_and_recall_need_SATIN_KEEPS, \
               SATIN_POINTER_ (satin_kept_type_, (__VA_ARGS__)))
#define SATIN_PUBLISH_(run, name, ...) \
  satin_publish_ ((run), &name##_const, SATIN_POINTER_ (satin_const_##name, (__VA_ARGS__)))
#define SATIN_IMPROVE_(name, ...) \
  satin_improve_ (&name##_best, SATIN_POINTER_ (satin_best_##name, (__VA_ARGS__)))

#define SATIN_CONST_(Type, name) \
  SATIN_CONST_DECLARE_ (Type, name) \
  SATIN_ASSERT_ (!SATIN_SPEAKS_ (Type), \
                 "constant '" #name "' holds a SatinShared; every node has a constant anyway"); \
  SatinConst_ name##_const = { #name, &satin_type_##Type, NULL, NULL }; \
  static void __attribute__ ((constructor)) satin_register_const_##name (void) \
  { \
    satin_const_register_ (&name##_const); \
  }
#define SATIN_CONST_DECLARE_(Type, name) \
  typedef Type satin_const_##name; \
  extern SatinConst_ name##_const;

#define SATIN_BEST_(Type, name, MERGE, ...) \
  SATIN_BEST_DECLARE_ (Type, name) \
  SATIN_ASSERT_ (!SATIN_SPEAKS_ (Type), \
                 "best value '" #name "' holds a SatinShared, which only jobs can follow"); \
  static const void *satin_merge_##name (const void *satin_a_, const void *satin_b_) \
  { \
    const Type *satin_better_ = MERGE ((const Type *)satin_a_, (const Type *)satin_b_); \
    return satin_better_; \
  } \
  static const Type satin_initial_##name = __VA_ARGS__; \
  SatinBest_ name##_best \
      = { #name, &satin_type_##Type, satin_merge_##name, &satin_initial_##name, NULL, NULL }; \
  static void __attribute__ ((constructor)) satin_register_best_##name (void) \
  { \
    satin_best_register_ (&name##_best); \
  }
#define SATIN_BEST_SHOW_(name, function) \
  static char *satin_show_##name (const void *satin_value_) \
  { \
    return function ((const satin_best_##name *)satin_value_); \
  } \
  static void __attribute__ ((constructor)) satin_register_show_##name (void) \
  { \
    name##_best.show = satin_show_##name; \
  }
#define SATIN_BEST_DECLARE_(Type, name) \
  typedef Type satin_best_##name; \
  extern SatinBest_ name##_best;

#define SATIN_APP_(app_name, app_usage, ...) \
  SATIN_APP_OF_ (app_name, app_usage, __VA_ARGS__, NULL)
#define SATIN_APP_OF_(app_name, app_usage, function, ...) \
  static const SatinJob *const satin_app_jobs_[] = { __VA_ARGS__ }; \
  static const SatinApp satin_app_ \
      = { SATIN_LAYOUT_, app_name, app_usage, function, satin_app_jobs_ }; \
  int main (int argc, char **argv) \
  { \
    return satin_main_ (&satin_app_, argc, argv); \
  }

#define SATIN_APP_VERSION_(n) \
  SATIN_ASSERT_ ((__typeof__ (n))1 / 2 == 0 && (n) > 0 && (n) <= 0xffffffffu, \
                 "SATIN_APP_VERSION takes an integer from 1 to 2^32-1"); \
  const uint32_t satin_app_version_ = (n);

#pragma GCC visibility pop

G_END_DECLS
