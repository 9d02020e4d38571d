/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of satin.hpp: which C++ types may travel, and how the library sees them. Private, as
 * satin.hpp says; programs use only SATIN_MEMBERS, which satin.hpp documents.
 *
 * A struct is described by an overload of satin_describe_ that argument-dependent lookup finds:
 * SATIN_MEMBERS defines one, and so do SATIN_RECORD and SATIN_LIST in C++. It is never called. Its
 * result type has type (), the SatinType, and holds, the bits of SatinHolds_. */
#pragma once

#include "satin.h"

#include <array>
#include <cstddef>
#include <type_traits>

#pragma GCC visibility push(default)

namespace satin
{
template <class T> struct List;

namespace detail
{
template <class T, class = void> struct TypeOf
{
  static constexpr bool known = false;
};

template <SatinKind kind, class T, int held = 0> struct Simple
{
  static constexpr bool known = true;
  static constexpr int holds = held;
  static constexpr SatinType self = { "simple", sizeof (T), kind, 0, nullptr };
  static constexpr const SatinType *
  type ()
  {
    return &self;
  }
};

template <> struct TypeOf<int8_t> : Simple<SATIN_KIND_INT8, int8_t>
{
};
template <> struct TypeOf<uint8_t> : Simple<SATIN_KIND_UINT8, uint8_t>
{
};
template <> struct TypeOf<int16_t> : Simple<SATIN_KIND_INT16, int16_t>
{
};
template <> struct TypeOf<uint16_t> : Simple<SATIN_KIND_UINT16, uint16_t>
{
};
template <> struct TypeOf<int32_t> : Simple<SATIN_KIND_INT32, int32_t>
{
};
template <> struct TypeOf<uint32_t> : Simple<SATIN_KIND_UINT32, uint32_t>
{
};
template <> struct TypeOf<int64_t> : Simple<SATIN_KIND_INT64, int64_t>
{
};
template <> struct TypeOf<uint64_t> : Simple<SATIN_KIND_UINT64, uint64_t>
{
};
template <> struct TypeOf<double> : Simple<SATIN_KIND_DOUBLE, double>
{
};
template <> struct TypeOf<SatinBytes> : Simple<SATIN_KIND_BYTES, SatinBytes, satin_holds_SatinBytes>
{
};
template <>
struct TypeOf<SatinShared> : Simple<SATIN_KIND_SHARED, SatinShared, satin_holds_SatinShared>
{
};
template <> struct TypeOf<SatinText> : Simple<SATIN_KIND_TEXT, SatinText, satin_holds_SatinBytes>
{
};

template <class T>
using Description = decltype (satin_describe_ (static_cast<const T *> (nullptr)));

template <class T>
struct TypeOf<T, std::enable_if_t<std::is_class_v<T>, std::void_t<Description<T> > > >
    : Description<T>
{
  static constexpr bool known = true;
};

/* An enum travels as its integer, if it has a fixed underlying type: only then {0} initialises it.
 */
template <class T>
struct TypeOf<T, std::enable_if_t<std::is_enum_v<T>, std::void_t<decltype (T{ 0 })> > >
    : TypeOf<std::underlying_type_t<T> >
{
};

/* T, if it may travel by itself; else the compiler prints a sentence. */
template <class T> struct Checked : TypeOf<T>
{
  static_assert (std::is_trivially_destructible_v<T>,
                 "law 5: a job may end at a spawn, sync or poll, where no destructor runs, so what "
                 "travels must have none (trivially destructible)");
  static_assert (std::is_trivially_copyable_v<T>,
                 "what travels is copied as bytes: the type must be trivially copyable");
  static_assert (TypeOf<T>::known,
                 "this type has no portable encoding: use int8_t to uint64_t, double, an enum of "
                 "these, SatinBytes, SatinShared, SatinText, satin::List, or describe the struct "
                 "by SATIN_MEMBERS");
};

template <class T> struct TypeOf<List<T> >
{
  static constexpr bool known = true;
  static constexpr int holds = Checked<T>::holds | satin_holds_SatinBytes;
  static constexpr SatinField item[] = { { "item", Checked<T>::type (), 0, 0 } };
  static constexpr SatinType self = { "list", 24, SATIN_KIND_LIST, 1, item };
  static constexpr const SatinType *
  type ()
  {
    static_assert (sizeof (List<T>) == sizeof (SatinList_), "a list is laid out as in C");
    return &self;
  }
};

/* A member or an argument: one value, or a fixed array (count). */
template <class T> struct Place : Checked<T>
{
  static constexpr uint32_t count = 0;
};
template <class T, size_t n> struct Place<T[n]> : Checked<T>
{
  static constexpr uint32_t count = n;
};
template <class T, size_t n> struct Place<std::array<T, n> > : Checked<T>
{
  static_assert (n > 0, "an array without items has no encoding");
  static constexpr uint32_t count = n;
};

template <class T>
constexpr SatinField
field (const char *name, size_t offset)
{
  return { name, Place<T>::type (), static_cast<uint32_t> (offset), Place<T>::count };
}

/* true: the member of the struct is a T, or, if count > 0, an array of `count` T. */
template <class T, class Member, size_t count>
constexpr bool
is_member ()
{
  if constexpr (count == 0)
    return std::is_same_v<T, Member>;
  else
    return std::is_same_v<T[count], Member> || std::is_same_v<std::array<T, count>, Member>;
}

constexpr bool
is_ascending (const SatinField *fields, size_t n)
{
  for (size_t i = 1; i < n; i++)
    if (fields[i - 1].offset >= fields[i].offset)
      return false;
  return true;
}

/* satin-types.h turns satin_type_int and the like into an error message; other names stay. */
constexpr bool
is_portable (const char *name)
{
  const char *head = "satin_type_";

  for (; *head != 0; head++, name++)
    if (*head != *name)
      return false;
  return true;
}
}
}

#define SATIN_WORDS_(...) SATIN_WORDS_AT_ (__VA_ARGS__)
#define SATIN_WORDS_AT_(...) #__VA_ARGS__

#define SATIN_LISTED_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_LISTED_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_LISTED_2(c, T, m) satin::detail::field<decltype (c::m)> (#m, offsetof (c, m)),
#define SATIN_LISTED_3(c, T, m, N) SATIN_LISTED_2 (c, T, m)
#define SATIN_KEPT_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_KEPT_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_KEPT_2(c, T, m) | satin::detail::Place<decltype (c::m)>::holds
#define SATIN_KEPT_3(c, T, m, N) SATIN_KEPT_2 (c, T, m)
#define SATIN_BOUND_(c, x) SATIN_PICK_ (SATIN_BOUND_, x)
#define SATIN_BOUND_2(T, m) , satin_of_##m
#define SATIN_BOUND_3(T, m, N) , satin_of_##m
#define SATIN_SAID_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_SAID_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_SAID_2(c, T, m) SATIN_SAID_3 (c, T, m, 0)
#define SATIN_SAID_3(c, T, m, N) \
  static_assert (satin::detail::is_portable (SATIN_WORDS_ (satin_type_##T)), \
                 SATIN_WORDS_ (satin_type_##T)); \
  static_assert (satin::detail::is_member<T, decltype (c::m), N> (), \
                 "member '" #m "' of " #c " has another type");
#define SATIN_REST_(first, ...) __VA_ARGS__
#define SATIN_REST_OF_(...) SATIN_REST_ (__VA_ARGS__)

#define SATIN_MEMBERS_(Type, ...) \
  struct satin_described_##Type \
  { \
    static constexpr uint8_t n = 0 __VA_OPT__ (+SATIN_COUNT_ (__VA_ARGS__)); \
    static constexpr SatinField fields[] = { __VA_OPT__ ( \
        SATIN_MAP_ (SATIN_LISTED_, Type, __VA_ARGS__)){ nullptr, nullptr, 0, 0 } }; \
    static constexpr SatinType self = { #Type, sizeof (Type), SATIN_KIND_RECORD, n, fields }; \
    static constexpr int holds = 0 __VA_OPT__ (SATIN_MAP_ (SATIN_KEPT_, Type, __VA_ARGS__)); \
    static constexpr const SatinType * \
    type () \
    { \
      return &self; \
    } \
    static_assert (std::is_standard_layout_v<Type>, \
                   #Type " must be a plain struct: all members public, no virtual functions"); \
    static_assert (alignof (Type) <= 8, #Type " must not be aligned to more than 8"); \
    static_assert (satin::detail::is_ascending (fields, n), \
                   "SATIN_MEMBERS lists the members of " #Type " in their order"); \
    __VA_OPT__ (SATIN_MAP_ (SATIN_SAID_, Type, __VA_ARGS__)) \
    /* All members: another number of them does not compile. */ \
    __VA_OPT__ (static inline void satin_all_ (const Type &satin_it_) { \
      [[maybe_unused]] const auto &[SATIN_REST_OF_ (SATIN_MAP_ (SATIN_BOUND_, Type, __VA_ARGS__))] \
          = satin_it_; \
    }) \
  }; \
  static_assert (satin_described_##Type::n > 0 || std::is_empty_v<Type>, \
                 "SATIN_MEMBERS lists all members of " #Type); \
  __attribute__ ((unused)) inline satin_described_##Type satin_describe_ (const Type *) \
  { \
    return {}; \
  } \
  /* And for the words of C, as in SATIN_RECORD (Name, (Type, member)). */ \
  enum \
  { \
    satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type = satin_described_##Type::holds \
  }; \
  static constexpr const SatinType &satin_type_##Type __attribute__ ((unused)) \
  = satin_described_##Type::self

#pragma GCC visibility pop
