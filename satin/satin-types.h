/* SPDX-License-Identifier: BSD-3-Clause */
/* The inline engine: the tables of types, the types that are refused, and macros that go over
 * arguments and members. Private, as satin-frame.h says. */
#pragma once

G_BEGIN_DECLS

#pragma GCC visibility push(default)

/* The types. */
#define SATIN_SCALAR_(T, KIND) \
  static const SatinType satin_type_##T __attribute__ ((unused)) \
  = { #T, sizeof (T), KIND, 0, NULL };
SATIN_SCALAR_ (int8_t, SATIN_KIND_INT8)
SATIN_SCALAR_ (uint8_t, SATIN_KIND_UINT8)
SATIN_SCALAR_ (int16_t, SATIN_KIND_INT16)
SATIN_SCALAR_ (uint16_t, SATIN_KIND_UINT16)
SATIN_SCALAR_ (int32_t, SATIN_KIND_INT32)
SATIN_SCALAR_ (uint32_t, SATIN_KIND_UINT32)
SATIN_SCALAR_ (int64_t, SATIN_KIND_INT64)
SATIN_SCALAR_ (uint64_t, SATIN_KIND_UINT64)
SATIN_SCALAR_ (double, SATIN_KIND_DOUBLE)
SATIN_SCALAR_ (SatinBytes, SATIN_KIND_BYTES)
SATIN_SCALAR_ (SatinShared, SATIN_KIND_SHARED)
SATIN_SCALAR_ (SatinText, SATIN_KIND_TEXT)

/* The references in a type: bits of SatinHolds_. A type without such a name makes a compile error
 * that says what is needed. */
enum
{
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int8_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint8_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int16_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint16_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int32_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint32_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int64_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint64_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_double = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_SatinBytes = 1,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_SatinShared = 2,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_SatinText = 1
};
/* These bits, as the library knows them. */
enum SatinHolds_
{
  satin_holds_SatinBytes = 1,
  satin_holds_SatinShared = 2
};
#define SATIN_HOLDS_(Type) ((int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type)
#define SATIN_SPEAKS_(Type) ((SATIN_HOLDS_ (Type) & (int)satin_holds_SatinShared) != 0)

/* Types that would mean something else on another machine, or that cannot leave this one. */
#define satin_type_int satin_int_differs_between_machines_use_int32_t_or_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int \
  satin_int_differs_between_machines_use_int32_t_or_int64_t
#define satin_type_unsigned satin_unsigned_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_unsigned \
  satin_unsigned_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_type_signed satin_signed_differs_between_machines_use_int32_t_or_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_signed \
  satin_signed_differs_between_machines_use_int32_t_or_int64_t
#define satin_type_long satin_long_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_long \
  satin_long_differs_between_machines_use_int64_t
#define satin_type_short satin_short_differs_between_machines_use_int16_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_short \
  satin_short_differs_between_machines_use_int16_t
#define satin_type_char satin_char_differs_between_machines_use_int8_t_or_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_char \
  satin_char_differs_between_machines_use_int8_t_or_uint8_t
#define satin_type_float satin_float_has_no_portable_encoding_use_double
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_float \
  satin_float_has_no_portable_encoding_use_double
#define satin_type_bool satin_bool_differs_between_machines_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_bool \
  satin_bool_differs_between_machines_use_uint8_t
#define satin_type__Bool satin_bool_differs_between_machines_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not__Bool \
  satin_bool_differs_between_machines_use_uint8_t
#define satin_type_size_t satin_size_t_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_size_t \
  satin_size_t_differs_between_machines_use_uint64_t
#define satin_type_ssize_t satin_ssize_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_ssize_t \
  satin_ssize_t_differs_between_machines_use_int64_t
#define satin_type_ptrdiff_t satin_ptrdiff_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_ptrdiff_t \
  satin_ptrdiff_t_differs_between_machines_use_int64_t
#define satin_type_intptr_t satin_intptr_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_intptr_t \
  satin_intptr_t_differs_between_machines_use_int64_t
#define satin_type_uintptr_t satin_uintptr_t_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uintptr_t \
  satin_uintptr_t_differs_between_machines_use_uint64_t
#define satin_type_time_t satin_time_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_time_t \
  satin_time_t_differs_between_machines_use_int64_t
#define satin_type_off_t satin_off_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_off_t \
  satin_off_t_differs_between_machines_use_int64_t
#define satin_type_gint satin_gint_differs_between_machines_use_int32_t_or_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gint \
  satin_gint_differs_between_machines_use_int32_t_or_int64_t
#define satin_type_guint satin_guint_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_guint \
  satin_guint_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_type_glong satin_glong_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_glong \
  satin_glong_differs_between_machines_use_int64_t
#define satin_type_gulong satin_gulong_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gulong \
  satin_gulong_differs_between_machines_use_uint64_t
#define satin_type_gsize satin_gsize_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gsize \
  satin_gsize_differs_between_machines_use_uint64_t
#define satin_type_gboolean satin_gboolean_differs_between_machines_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gboolean \
  satin_gboolean_differs_between_machines_use_uint8_t
#define satin_type_gchar satin_gchar_differs_between_machines_use_int8_t_or_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gchar \
  satin_gchar_differs_between_machines_use_int8_t_or_uint8_t
#define satin_type_const satin_const_types_and_pointers_cannot_travel_use_values_or_SatinBytes
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_const \
  satin_const_types_and_pointers_cannot_travel_use_values_or_SatinBytes
#define satin_type_void satin_void_has_no_value_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_void \
  satin_void_has_no_value_use_uint8_t

/* Counting and mapping. Each element is a parenthesised (type, name) or (type, name, COUNT). */
#define SATIN_COUNT_(...) \
  SATIN_COUNT_AT_ (__VA_ARGS__, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, \
                   17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SATIN_COUNT_AT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
                        a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, \
                        a32, a33, n, ...) \
  n
#define SATIN_PASTE_(a, b) SATIN_PASTE_AT_ (a, b)
#define SATIN_PASTE_AT_(a, b) a##b
#define SATIN_JOIN_(a, b) SATIN_JOIN_AT_ (a, b)
#define SATIN_JOIN_AT_(a, b) a##b
#define SATIN_MAP_(M, c, ...) \
  SATIN_PASTE_ (SATIN_MAP_, SATIN_COUNT_ (__VA_ARGS__)) (M, c, __VA_ARGS__)
#define SATIN_MAP_1(M, c, x) M (c, x)
#define SATIN_MAP_2(M, c, x, ...) M (c, x) SATIN_MAP_1 (M, c, __VA_ARGS__)
#define SATIN_MAP_3(M, c, x, ...) M (c, x) SATIN_MAP_2 (M, c, __VA_ARGS__)
#define SATIN_MAP_4(M, c, x, ...) M (c, x) SATIN_MAP_3 (M, c, __VA_ARGS__)
#define SATIN_MAP_5(M, c, x, ...) M (c, x) SATIN_MAP_4 (M, c, __VA_ARGS__)
#define SATIN_MAP_6(M, c, x, ...) M (c, x) SATIN_MAP_5 (M, c, __VA_ARGS__)
#define SATIN_MAP_7(M, c, x, ...) M (c, x) SATIN_MAP_6 (M, c, __VA_ARGS__)
#define SATIN_MAP_8(M, c, x, ...) M (c, x) SATIN_MAP_7 (M, c, __VA_ARGS__)
#define SATIN_MAP_9(M, c, x, ...) M (c, x) SATIN_MAP_8 (M, c, __VA_ARGS__)
#define SATIN_MAP_10(M, c, x, ...) M (c, x) SATIN_MAP_9 (M, c, __VA_ARGS__)
#define SATIN_MAP_11(M, c, x, ...) M (c, x) SATIN_MAP_10 (M, c, __VA_ARGS__)
#define SATIN_MAP_12(M, c, x, ...) M (c, x) SATIN_MAP_11 (M, c, __VA_ARGS__)
#define SATIN_MAP_13(M, c, x, ...) M (c, x) SATIN_MAP_12 (M, c, __VA_ARGS__)
#define SATIN_MAP_14(M, c, x, ...) M (c, x) SATIN_MAP_13 (M, c, __VA_ARGS__)
#define SATIN_MAP_15(M, c, x, ...) M (c, x) SATIN_MAP_14 (M, c, __VA_ARGS__)
#define SATIN_MAP_16(M, c, x, ...) M (c, x) SATIN_MAP_15 (M, c, __VA_ARGS__)
#define SATIN_MAP_17(M, c, x, ...) M (c, x) SATIN_MAP_16 (M, c, __VA_ARGS__)
#define SATIN_MAP_18(M, c, x, ...) M (c, x) SATIN_MAP_17 (M, c, __VA_ARGS__)
#define SATIN_MAP_19(M, c, x, ...) M (c, x) SATIN_MAP_18 (M, c, __VA_ARGS__)
#define SATIN_MAP_20(M, c, x, ...) M (c, x) SATIN_MAP_19 (M, c, __VA_ARGS__)
#define SATIN_MAP_21(M, c, x, ...) M (c, x) SATIN_MAP_20 (M, c, __VA_ARGS__)
#define SATIN_MAP_22(M, c, x, ...) M (c, x) SATIN_MAP_21 (M, c, __VA_ARGS__)
#define SATIN_MAP_23(M, c, x, ...) M (c, x) SATIN_MAP_22 (M, c, __VA_ARGS__)
#define SATIN_MAP_24(M, c, x, ...) M (c, x) SATIN_MAP_23 (M, c, __VA_ARGS__)
#define SATIN_MAP_25(M, c, x, ...) M (c, x) SATIN_MAP_24 (M, c, __VA_ARGS__)
#define SATIN_MAP_26(M, c, x, ...) M (c, x) SATIN_MAP_25 (M, c, __VA_ARGS__)
#define SATIN_MAP_27(M, c, x, ...) M (c, x) SATIN_MAP_26 (M, c, __VA_ARGS__)
#define SATIN_MAP_28(M, c, x, ...) M (c, x) SATIN_MAP_27 (M, c, __VA_ARGS__)
#define SATIN_MAP_29(M, c, x, ...) M (c, x) SATIN_MAP_28 (M, c, __VA_ARGS__)
#define SATIN_MAP_30(M, c, x, ...) M (c, x) SATIN_MAP_29 (M, c, __VA_ARGS__)
#define SATIN_MAP_31(M, c, x, ...) M (c, x) SATIN_MAP_30 (M, c, __VA_ARGS__)
#define SATIN_MAP_32(M, c, x, ...) M (c, x) SATIN_MAP_31 (M, c, __VA_ARGS__)
/* The same over the arguments of a job, which come after its result type. */
#define SATIN_ARGS_(M, c, ...) \
  SATIN_PASTE_ (SATIN_ARGS_, SATIN_COUNT_ (__VA_ARGS__)) (M, c, __VA_ARGS__)
#define SATIN_ARGS_1(M, c, R)
#define SATIN_ARGS_2(M, c, R, ...) SATIN_MAP_1 (M, c, __VA_ARGS__)
#define SATIN_ARGS_3(M, c, R, ...) SATIN_MAP_2 (M, c, __VA_ARGS__)
#define SATIN_ARGS_4(M, c, R, ...) SATIN_MAP_3 (M, c, __VA_ARGS__)
#define SATIN_ARGS_5(M, c, R, ...) SATIN_MAP_4 (M, c, __VA_ARGS__)
#define SATIN_ARGS_6(M, c, R, ...) SATIN_MAP_5 (M, c, __VA_ARGS__)
#define SATIN_ARGS_7(M, c, R, ...) SATIN_MAP_6 (M, c, __VA_ARGS__)
#define SATIN_ARGS_8(M, c, R, ...) SATIN_MAP_7 (M, c, __VA_ARGS__)
#define SATIN_ARGS_9(M, c, R, ...) SATIN_MAP_8 (M, c, __VA_ARGS__)
/* These are refused, see SATIN_DECLARE_. */
#define SATIN_ARGS_10(M, c, R, ...) SATIN_MAP_9 (M, c, __VA_ARGS__)
#define SATIN_ARGS_11(M, c, R, ...) SATIN_MAP_10 (M, c, __VA_ARGS__)
#define SATIN_ARGS_12(M, c, R, ...) SATIN_MAP_11 (M, c, __VA_ARGS__)
#define SATIN_ARGS_13(M, c, R, ...) SATIN_MAP_12 (M, c, __VA_ARGS__)
#define SATIN_ARGS_14(M, c, R, ...) SATIN_MAP_13 (M, c, __VA_ARGS__)
#define SATIN_ARGS_15(M, c, R, ...) SATIN_MAP_14 (M, c, __VA_ARGS__)
#define SATIN_ARGS_16(M, c, R, ...) SATIN_MAP_15 (M, c, __VA_ARGS__)
#define SATIN_ARGS_17(M, c, R, ...) SATIN_MAP_16 (M, c, __VA_ARGS__)
#define SATIN_NO_ARGS_(...) SATIN_PASTE_ (SATIN_NO_ARGS_, SATIN_COUNT_ (__VA_ARGS__))
#define SATIN_NO_ARGS_1 char satin_none_;
#define SATIN_NO_ARGS_2
#define SATIN_NO_ARGS_3
#define SATIN_NO_ARGS_4
#define SATIN_NO_ARGS_5
#define SATIN_NO_ARGS_6
#define SATIN_NO_ARGS_7
#define SATIN_NO_ARGS_8
#define SATIN_NO_ARGS_9
#define SATIN_NO_ARGS_10
#define SATIN_NO_ARGS_11
#define SATIN_NO_ARGS_12
#define SATIN_NO_ARGS_13
#define SATIN_NO_ARGS_14
#define SATIN_NO_ARGS_15
#define SATIN_NO_ARGS_16
#define SATIN_NO_ARGS_17
#define SATIN_FIRST_(...) SATIN_FIRST_AT_ (__VA_ARGS__, 0)
#define SATIN_FIRST_AT_(a, ...) a
#define SATIN_PICK_(prefix, x) SATIN_JOIN_ (prefix, SATIN_COUNT_ x) x

#define SATIN_MEMBER_(c, x) SATIN_PICK_ (SATIN_MEMBER_, x)
#define SATIN_MEMBER_2(T, m) T m;
#define SATIN_MEMBER_3(T, m, N) T m[N];

#define SATIN_FIELD_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_FIELD_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_APPLY_(M, ...) M (__VA_ARGS__)
#define SATIN_UNWRAP_(...) __VA_ARGS__
#define SATIN_FIELD_2(c, T, m) { #m, &satin_type_##T, (uint32_t)offsetof (c, m), 0 },
#define SATIN_FIELD_3(c, T, m, N) { #m, &satin_type_##T, (uint32_t)offsetof (c, m), (uint32_t)(N) },

#define SATIN_HOLD_(c, x) SATIN_PICK_ (SATIN_HOLD_, x)
#define SATIN_HOLD_2(T, m) | (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##T
#define SATIN_HOLD_3(T, m, N) | (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##T

#define SATIN_PARAMETER_(c, x) SATIN_PICK_ (SATIN_PARAMETER_, x)
#define SATIN_PARAMETER_2(T, m) , T m
#define SATIN_PARAMETER_3(T, m, N) , const T *m

#define SATIN_STORE_(c, x) SATIN_PICK_ (SATIN_STORE_, x)
#define SATIN_STORE_2(T, m) satin_args_->m = m;
#define SATIN_STORE_3(T, m, N) __builtin_memcpy (satin_args_->m, m, sizeof satin_args_->m);

#define SATIN_LOAD_(c, x) SATIN_PICK_ (SATIN_LOAD_, x)
#define SATIN_LOAD_2(T, m) , satin_args_->m
#define SATIN_LOAD_3(T, m, N) , satin_args_->m

#define SATIN_PASS_(c, x) SATIN_PICK_ (SATIN_PASS_, x)
#define SATIN_PASS_2(T, m) , m
#define SATIN_PASS_3(T, m, N) , m

#pragma GCC visibility pop

G_END_DECLS
