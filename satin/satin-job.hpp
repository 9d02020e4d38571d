/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of satin.hpp: how the library sees a function, a functor or a loop, and how a job is
 * written to a slot and run. Private, as satin.hpp says. The inlined engine is that of C
 * (satin-frame.h). As there, each SatinJob is a constant, so that the compiler can inline its run.
 *
 * A job class has Result, args (the SatinType of its arguments, with the job's name), args_hold,
 * store (payload, arguments...) and run (Job &, payload). */
#pragma once

#include "satin-describe.hpp"

#include <new>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)

namespace satin
{
class Job;

namespace detail
{
#define SATIN_ALWAYS_ __attribute__ ((always_inline)) inline

/* A member function that forwards the arguments of printf. GCC checks them against the format.
 * clang cannot forward "...", so there it is a template without that check. */
#if __has_builtin(__builtin_va_arg_pack)
#define SATIN_FAILS_ __attribute__ ((always_inline, noreturn, cold, format (printf, 2, 3))) inline
#define SATIN_FORMAT_ const char *format, ...
#define SATIN_VALUES_ format, __builtin_va_arg_pack ()
#else
#define SATIN_FAILS_ template <class... A> __attribute__ ((noreturn, cold))
#define SATIN_FORMAT_ const char *format, A... values
#define SATIN_VALUES_ format, values...
#endif

constexpr uint32_t
round_up (uint32_t n, uint32_t to)
{
  return (n + to - 1) / to * to;
}

/* GCC writes "... [with auto F = NAME]", clang "... [F = &NAME]". */
template <auto F>
constexpr const char *
pretty ()
{
  return __PRETTY_FUNCTION__;
}

/* A function's name, out of the compiler's text, the same for all compilers. */
constexpr std::string_view
name_in (std::string_view text)
{
  const size_t begin = text.find ("F = ") + 4;

  text = text.substr (begin, text.rfind (']') - begin);
  for (std::string_view head : { "&", "{anonymous}::", "(anonymous namespace)::" })
    if (text.substr (0, head.size ()) == head)
      text.remove_prefix (head.size ());
  return text;
}

template <auto F> struct Name
{
  static constexpr std::string_view whole = name_in (pretty<F> ());
  struct Letters
  {
    char at[whole.size () + 1];
  };
  static constexpr Letters
  copy ()
  {
    Letters copied = {};

    for (size_t i = 0; i < whole.size (); i++)
      copied.at[i] = whole[i];
    return copied;
  }
  static constexpr Letters letters = copy ();
};

/* An argument in a slot: an array is read in place; any other is copied, so that the compiler may
 * keep it in a register. */
template <class T, class As> SATIN_ALWAYS_ decltype (auto) load (const char *at)
{
  if constexpr (std::is_reference_v<As> && (sizeof (T) > 64))
    return *std::launder (reinterpret_cast<const T *> (at));
  else
    {
      alignas (T) char bytes[sizeof (T)];
      __builtin_memcpy (bytes, at, sizeof (T));
      return T (*std::launder (reinterpret_cast<const T *> (bytes)));
    }
}

template <class T, class A>
SATIN_ALWAYS_ void
put (char *at, A &&argument)
{
  static_assert (std::is_convertible_v<A, T>, "an argument of a job has the wrong type");
  static_assert (!std::is_floating_point_v<std::decay_t<A> > || std::is_floating_point_v<T>,
                 "a double does not become an integer argument by itself");
  T value = static_cast<T> (std::forward<A> (argument));

  __builtin_memcpy (at, &value, sizeof value);
}

inline constexpr const char *plain_names[] = { "1", "2", "3", "4", "5", "6", "7", "8" };
inline constexpr const char *loop_names[] = { "from", "to", "grain", "1", "2", "3", "4", "5" };

/* The arguments of a function, laid out like the members of a struct. `As` are its parameters, each
 * a value or a reference to a constant; C++ does not tell their names. */
template <const char *const *names, class... As> struct Arguments
{
  static constexpr size_t n = sizeof...(As);
  static_assert (n <= 8, "a job has at most 8 arguments: make some of them a struct");
  static_assert (
      ((!std::is_lvalue_reference_v<As> || std::is_const_v<std::remove_reference_t<As> >)&&...),
      "a job's argument is a value, or a reference to a constant one");
  struct Layout
  {
    SatinField fields[n + 1];
    uint32_t size;
  };
  static constexpr Layout
  lay_out ()
  {
    Layout made = {};
    uint32_t end = 0, i = 0;

    ((made.fields[i]
      = field<std::decay_t<As> > (names[i], round_up (end, alignof (std::decay_t<As>))),
      end = made.fields[i++].offset + static_cast<uint32_t> (sizeof (std::decay_t<As>))),
     ...);
    made.size = n == 0 ? 1 : round_up (end, 8);
    return made;
  }
  static constexpr Layout layout = lay_out ();
  static constexpr int holds = (0 | ... | Place<std::decay_t<As> >::holds);

  static constexpr SatinType
  type (const char *name)
  {
    return { name, layout.size, SATIN_KIND_RECORD, n, layout.fields };
  }

  template <size_t... i, class... A>
  static SATIN_ALWAYS_ void
  store_each (char *payload, std::index_sequence<i...>, A &&...arguments)
  {
    (void)payload;
    (put<std::decay_t<As> > (payload + layout.fields[i].offset, std::forward<A> (arguments)), ...);
  }

  template <class... A>
  static SATIN_ALWAYS_ void
  store (char *payload, A &&...arguments)
  {
    static_assert (sizeof...(A) == n, "the job takes another number of arguments");
    store_each (payload, std::make_index_sequence<n>{}, std::forward<A> (arguments)...);
  }

  template <class F, size_t... i, class... First>
  static SATIN_ALWAYS_ auto
  call_each (F function, const char *payload, std::index_sequence<i...>, First &&...first)
  {
    (void)payload;
    return function (std::forward<First> (first)...,
                     load<std::decay_t<As>, As> (payload + layout.fields[i].offset)...);
  }

  /* function (first..., arguments...) */
  template <class F, class... First>
  static SATIN_ALWAYS_ auto
  call (F function, const char *payload, First &&...first)
  {
    return call_each (function, payload, std::make_index_sequence<n>{},
                      std::forward<First> (first)...);
  }
};

/* F as an object, so that a call of it is a call of F and nothing else. */
template <auto F> struct Direct
{
  template <class... A>
  SATIN_ALWAYS_ auto
  operator() (A &&...arguments) const
  {
    return F (std::forward<A> (arguments)...);
  }
};

/* Result function (Head..., As...), noexcept or not. */
template <class R, class... As> struct Types
{
  using Result = R;
  using Args = Arguments<plain_names, As...>;
};
template <class F> struct Signature;
template <class R, class... As> struct Signature<R (*) (Job &, As...)> : Types<R, As...>
{
};
template <class R, class... As> struct Signature<R (*) (Job &, As...) noexcept> : Types<R, As...>
{
};

template <auto F> struct Function
{
  using Result = typename Signature<decltype (F)>::Result;
  using Args = typename Signature<decltype (F)>::Args;
  static constexpr SatinType args = Args::type (Name<F>::letters.at);
  static constexpr int args_hold = Args::holds;

  template <class... A>
  static SATIN_ALWAYS_ void
  store (char *payload, A &&...arguments)
  {
    Args::store (payload, std::forward<A> (arguments)...);
  }
  static SATIN_ALWAYS_ Result
  run (Job &job, const char *payload)
  {
    return Args::call (Direct<F> (), payload, job);
  }
};

/* A struct whose members are the arguments. */
template <class T> struct Functor
{
  using Result = decltype (std::declval<const T &> () (std::declval<Job &> ()));
  static constexpr SatinType args = *Checked<T>::type ();
  static constexpr int args_hold = Checked<T>::holds;

  static SATIN_ALWAYS_ void
  store (char *payload, const T &functor)
  {
    __builtin_memcpy (payload, &functor, sizeof functor);
  }
  static SATIN_ALWAYS_ Result
  run (Job &job, const char *payload)
  {
    return load<T, const T &> (payload) (job);
  }
};

/* The loops: satin-loop.hpp. */
template <class L, auto Body, class R, class Args> struct Loop;
template <auto Body, auto Merge> struct Reduce;
template <auto Body> struct Map;

/* What `spawn<F>` means. */
template <auto F, class = decltype (F)> struct Named
{
  using type = Function<F>;
};
template <auto F, class J> struct Named<F, const J *>
{
  using type = J;
};
template <auto F> using JobOf = typename Named<F>::type;

template <class J>
inline SatinDone_ run (SatinStack_ *, SatinSlot_ *, SatinSlot_ *, uint64_t) noexcept;

/* The object by which the library knows job class J; it registers itself before main. */
template <class J> struct Known
{
  using Result = typename J::Result;
  static_assert (!std::is_void_v<Result>, "a job has a result: return a uint8_t if it has none");
  static constexpr int holds = Checked<Result>::holds;
  static_assert (Checked<Result>::type ()->kind != SATIN_KIND_RECORD
                     || Checked<Result>::type ()->n_fields > 0,
                 "a result has a member");
  static constexpr uint32_t at = round_up (J::args.size, 8);
  static constexpr uint32_t size = at + round_up (sizeof (Result), 8);
  static constexpr bool big = size > SATIN_PAYLOAD_;
  static constexpr bool returns = sizeof (Result) <= 8 && holds == 0;
  static constexpr SatinJob job
      = { J::args.name, &J::args, Checked<Result>::type (), run<J>, at, size, big, J::args_hold,
          holds,        returns };

  static inline SatinJobEntry_ entry = { &job, nullptr };
  static bool
  begin ()
  {
    satin_job_register_ (&entry);
    SATIN_WATCH_TERMINATE_ ();
    return true;
  }
  static inline const bool begun = begin ();
  /* It uses `begun`, so each use of the job registers it. */
  using Registered = std::integral_constant<const bool *, &begun>;
};

/* The pseudo-job of a kept state, which is its result. */
template <class T> struct Kept
{
  static constexpr uint32_t size = SATIN_KEEP_AT_ + sizeof (T);
  static constexpr SatinJob job = { "kept",
                                    nullptr,
                                    Checked<T>::type (),
                                    nullptr,
                                    SATIN_KEEP_AT_,
                                    size,
                                    size > SATIN_PAYLOAD_,
                                    0,
                                    Checked<T>::holds,
                                    0 };
};

/* A result as it lies in memory. */
template <class Result>
SATIN_ALWAYS_ Result
value_of (const void *at)
{
  alignas (Result) char bytes[sizeof (Result)];

  __builtin_memcpy (bytes, at, sizeof bytes);
  return *std::launder (reinterpret_cast<Result *> (bytes));
}
}
}

#pragma GCC visibility pop
