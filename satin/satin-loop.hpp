/* SPDX-License-Identifier: BSD-3-Clause */
/* How the jobs of satin.hpp run: the wrapper of each, and the two loops. Private, as satin.hpp
 * says. */
#pragma once

#include "satin.hpp"

#pragma GCC visibility push(default)

namespace satin
{
namespace detail
{
/* The function that the library calls: SatinJob.run. */
template <class J>
inline SatinDone_
run (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head, uint64_t jobs) noexcept
{
  using Known = detail::Known<J>;
  using Result = typename J::Result;
  Job job (stack, self, head, jobs, &Known::job, J::args_hold != 0 || Known::holds != 0);
  char *payload = static_cast<char *> (satin_payload_ (self, Known::big));
  SatinDone_ done = { 0, 0 };

  (void)typename Known::Registered{};
  if constexpr (Known::returns)
    {
      Result result = J::run (job, payload);
      satin_end_ (&job.frame_);
      __builtin_memcpy (&done.result, &result, sizeof result);
    }
  else
    {
      Result *result = new (payload + Known::at) Result (J::run (job, payload));
      if constexpr ((Known::holds & satin_holds_SatinShared) != 0)
        satin_own_ (&job.frame_, Known::job.result, result);
      if constexpr (Known::holds != 0)
        satin_hold_result_ (&Known::job, result);
      satin_end_ (&job.frame_);
    }
  done.jobs = job.frame_.jobs;
  return done;
}

/* The signatures of bodies: Result (int64_t from, int64_t to, As...) and T (int64_t i, As...). */
template <class F> struct Piece;
template <class R, class... As> struct Piece<R (*) (int64_t, int64_t, As...)>
{
  using Result = R;
  using Args = Arguments<loop_names, int64_t, int64_t, int64_t, As...>;
};
template <class R, class... As>
struct Piece<R (*) (int64_t, int64_t, As...) noexcept> : Piece<R (*) (int64_t, int64_t, As...)>
{
};
template <class F> struct Item;
template <class T, class... As> struct Item<T (*) (int64_t, As...)>
{
  using Type = T;
  using Args = Arguments<loop_names, int64_t, int64_t, int64_t, As...>;
};
template <class T, class... As>
struct Item<T (*) (int64_t, As...) noexcept> : Item<T (*) (int64_t, As...)>
{
};

/* A job that cuts its range in two. L computes a piece and unites two results. */
template <class L, auto Body, class R, class Args> struct Loop
{
  using Result = R;
  static constexpr SatinType args = Args::type (Name<Body>::letters.at);
  static constexpr int args_hold = Args::holds;

  template <class... A>
  static SATIN_ALWAYS_ void
  store (char *payload, A &&...arguments)
  {
    Args::store (payload, std::forward<A> (arguments)...);
  }

  struct Cut
  {
    template <class... A>
    SATIN_ALWAYS_ Result
    operator() (Job &job, int64_t from, int64_t to, int64_t asked, const A &...arguments) const
    {
      const int64_t grain = satin_grain_ (from, to, asked);
      const uint64_t items = satin_range_ (from, to);
      const int64_t middle = from + static_cast<int64_t> (items / 2);

      if (items <= static_cast<uint64_t> (grain))
        return L::piece (job, from, to, arguments...);
      Result low, high;
      job.place_<L> (&low, from, middle, grain, arguments...);
      job.place_<L> (&high, middle, to, grain, arguments...);
      job.sync ();
      return L::unite (low, high);
    }
  };

  static SATIN_ALWAYS_ Result
  run (Job &job, const char *payload)
  {
    return Args::call (Cut (), payload, job);
  }
};

template <auto Body, auto Merge>
struct Reduce : Loop<Reduce<Body, Merge>, Body, typename Piece<decltype (Body)>::Result,
                     typename Piece<decltype (Body)>::Args>
{
  using Result = typename Piece<decltype (Body)>::Result;

  template <class... A>
  static SATIN_ALWAYS_ Result
  piece (Job &, int64_t from, int64_t to, const A &...arguments)
  {
    return Body (from, to, arguments...);
  }
  static SATIN_ALWAYS_ Result
  unite (const Result &low, const Result &high)
  {
    return Merge (low, high);
  }
};

template <auto Body>
struct Map : Loop<Map<Body>, Body, List<typename Item<decltype (Body)>::Type>,
                  typename Item<decltype (Body)>::Args>
{
  using T = typename Item<decltype (Body)>::Type;

  template <class... A>
  static SATIN_ALWAYS_ List<T>
  piece (Job &job, int64_t from, int64_t to, const A &...arguments)
  {
    const List<T> made = list<T> (satin_range_ (from, to));
    T *item = made.items ().data ();

    for (int64_t i = from; i < to; i++)
      {
        const T value = Body (i, arguments...);
        satin_set_item_ (Checked<T>::type (), Checked<T>::holds, item, &value, sizeof value);
        item++;
        job.poll ();
      }
    return made;
  }
  static SATIN_ALWAYS_ List<T>
  unite (List<T> low, List<T> high)
  {
    return join (low, high);
  }
};
}
}

#pragma GCC visibility pop
