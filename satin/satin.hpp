/* SPDX-License-Identifier: BSD-3-Clause */
/* Satin in C++17: the words of satin.h as functions and templates. satin.h says what they do, and
 * has the five laws of a job; this page says what is different.
 *
 *   SATIN_BODY int64_t                        struct Fib
 *   fib (satin::Job &job, int32_t n)          {
 *   {                                           int32_t n;
 *     int64_t x, y;                             SATIN_BODY int64_t operator() (satin::Job &) const;
 *                                             };
 *     if (n < 2)                              SATIN_MEMBERS (Fib, (int32_t, n))
 *       return n;
 *     job.spawn<fib> (x, n - 1);              job.spawn (x, Fib{ n - 1 });
 *     job.spawn<fib> (y, n - 2);
 *     job.sync ();
 *     return x + y;
 *   }
 *
 * A job is a function Result (satin::Job &, arguments...) of up to 8 arguments, or a functor: a
 * struct whose members are the arguments. Its name, in checkpoints and messages, is that of the
 * function as the compiler writes it, or that of the struct; no two jobs of a program have one
 * name. A job that several files use stands in a header; a job of one file alone stands in an
 * anonymous namespace. Jobs register themselves where they are spawned, called or made the root.
 *
 * Types: int8_t to uint64_t, double, enums that say their integer, satin::Bytes, Shared and Text,
 * satin::List of any of these, each SATIN_RECORD and SATIN_LIST, and structs that SATIN_MEMBERS
 * describes; as members and arguments std::array too. All else does not compile.
 *
 * Law 5: an abort may end a job at each spawn, call, sync, poll and keep, and no destructor runs
 * then. What travels (arguments, functors, results, states, items) must have a trivial destructor
 * and be trivially copyable; the compiler checks that. It cannot check a job's own variables: a
 * std::vector that lives across such a place is lost there, and one in a block before it is not.
 *
 * An exception that leaves a job ends the run with exit code 6 and is named. It does not reach the
 * parent, which may run elsewhere. Names with an underscore at their end, and namespace detail, are
 * private and change. */
#pragma once

#include "satin-job.hpp"

#include <functional>

#pragma GCC visibility push(default)

/* Stands before a job's function or operator (): the compiler makes it a part of the job's frame.
 * Without it a job has the same result and takes eight times as many instructions. */
#define SATIN_BODY __attribute__ ((always_inline)) inline

/* SATIN_MEMBERS (Type, (type, member), (type, member, COUNT)...)
 * Describes a struct: all its members, in their order, with the types that they have there. In the
 * namespace of the struct, after it and before its first use. The struct is plain: its members are
 * public; functions, constructors and operators are its own affair. int, long and the like do not
 * compile, as in a SATIN_RECORD. No members: SATIN_MEMBERS (Type). Up to 32. */
#define SATIN_MEMBERS(Type, ...) SATIN_MEMBERS_ (Type __VA_OPT__ (, ) __VA_ARGS__);

namespace satin
{
using Bytes = SatinBytes;   /* satin_bytes makes it */
using Shared = SatinShared; /* satin_share makes it */
using Text = SatinText;     /* satin_text makes it */

/* n items that something else owns. */
template <class T> class Span
{
  T *at_ = nullptr;
  size_t n_ = 0;

public:
  constexpr Span () = default;
  constexpr
  Span (T *at, size_t n)
      : at_ (at), n_ (n)
  {
  }
  template <size_t n>
  constexpr
  Span (T (&array)[n])
      : at_ (array), n_ (n)
  {
  }
  /* A List, or a SATIN_LIST of C. */
  template <class L, class = decltype (std::declval<const L &> ().held)>
  constexpr
  Span (const L &list)
      : at_ (list.at), n_ (list.n)
  {
  }
  constexpr T *
  data () const
  {
    return at_;
  }
  constexpr size_t
  size () const
  {
    return n_;
  }
  constexpr bool
  empty () const
  {
    return n_ == 0;
  }
  constexpr T *
  begin () const
  {
    return at_;
  }
  constexpr T *
  end () const
  {
    return at_ + n_;
  }
  constexpr T &
  operator[] (size_t i) const
  {
    return at_[i];
  }
  /* n items from the i-th on. */
  constexpr Span
  part (size_t i, size_t n) const
  {
    return { at_ + i, n };
  }
};
template <class L>
Span (const L &) -> Span<std::remove_pointer_t<decltype (std::declval<const L &> ().at)> >;

/* A list that travels, as SATIN_LIST (Name, T) makes one: borrowed until the job returns. `held`
 * owns the items. If it is null the items are the program's own, as in List<T>{ array, 3 }, and a
 * spawn copies them. A result must not be such a list. */
template <class T> struct List
{
  const T *at;
  uint64_t n;
  GBytes *held;

  const T *
  begin () const
  {
    return at;
  }
  const T *
  end () const
  {
    return at + n;
  }
  size_t
  size () const
  {
    return n;
  }
  bool
  empty () const
  {
    return n == 0;
  }
  const T &
  operator[] (size_t i) const
  {
    return at[i];
  }
  /* `count` items from the i-th on; shares the memory. */
  List
  part (size_t i, size_t count) const
  {
    return { at + i, count, held };
  }
  /* The items of a list that satin::list made; write them before you pass the list on. */
  Span<T>
  items () const
  {
    return { const_cast<T *> (at), n };
  }
};

/* A copy of n items, owned by the running job until it returns; outside a job until the process
 * ends. Any thread. */
template <class T>
List<T>
list (const T *items, uint64_t n)
{
  List<T> made;

  satin_list_fill_ (detail::Checked<T>::type (), items, n, &made);
  return made;
}

/* The same of n zeros. */
template <class T>
List<T>
list (uint64_t n)
{
  return list<T> (nullptr, n);
}

/* A list of the items of both, owned likewise. */
template <class T>
List<T>
join (List<T> a, List<T> b)
{
  List<T> made;

  satin_list_join_ (detail::Checked<T>::type (), &a, &b, &made);
  return made;
}

/* For functions that a job calls: `satin::Here here = job.here ()`, by value. Valid until the job's
 * next spawn, call, sync or keep, on the job's own thread. */
struct Here
{
  SatinHere here_;

  /* Like Job::poll. */
  SATIN_ALWAYS_ void
  poll () const
  {
    satin_poll_here_ (here_);
  }
  /* Like Job::fail. */
  SATIN_FAILS_ void
  fail (SATIN_FORMAT_) const
  {
    satin_fail_ (here_.stack, here_.self, here_.head, SATIN_VALUES_);
  }
};

/* reduce<Body, Merge> and map<Body> are jobs (int64_t from, int64_t to, int64_t grain,
 * arguments...) like any: job.call<satin::reduce<sum, add>> (0, n, 0) runs one here, and it may be
 * spawned or be the root. They are SATIN_REDUCE and SATIN_FOR: the range is cut in halves down to
 * `grain` (0: about 2,048 pieces). Result Body (int64_t from, int64_t to, arguments...) computes a
 * piece, which may be empty, and Result Merge (Result, Result) unites two neighbours. For map the
 * function is T Body (int64_t i, arguments...), and the result is the List<T> of all, in order;
 * each index is a poll. Bodies are plain functions of up to five arguments of their own. */
template <auto Body, auto Merge>
inline constexpr const detail::Reduce<Body, Merge> *reduce = nullptr;
template <auto Body> inline constexpr const detail::Map<Body> *map = nullptr;

/* The body of a job gets one. Only the body itself uses it, on its own thread. */
class Job
{
public:
  /* Starts the job F with these arguments, or the functor; `into` is filled by the next sync. The
   * spawn takes its own references to what is borrowed in the arguments. */
  template <auto F, class... A>
  SATIN_ALWAYS_ void
  spawn (typename detail::JobOf<F>::Result &into, A &&...arguments)
  {
    place_<detail::JobOf<F> > (&into, std::forward<A> (arguments)...);
  }
  template <class T>
  SATIN_ALWAYS_ void
  spawn (typename detail::Functor<T>::Result &into, const T &functor)
  {
    place_<detail::Functor<T> > (&into, functor);
  }

  /* Runs the job here and now: a child like a spawned one. */
  template <auto F, class... A>
  SATIN_ALWAYS_ typename detail::JobOf<F>::Result
  call (A &&...arguments)
  {
    return call_<detail::JobOf<F> > (std::forward<A> (arguments)...);
  }
  template <class T>
  SATIN_ALWAYS_ typename detail::Functor<T>::Result
  call (const T &functor)
  {
    return call_<detail::Functor<T> > (functor);
  }

  /* Returns when all that was spawned is done and filled. */
  SATIN_ALWAYS_ void
  sync ()
  {
    satin_sync_ (&frame_);
  }

  /* Waits for one more of the spawned jobs, fills its result and returns its number; -1: none is
   * left. The order may differ between two runs. */
  SATIN_ALWAYS_ int32_t
  sync_next ()
  {
    return satin_sync_next_ (&frame_);
  }

  /* Drops all spawned jobs whose result is not filled. */
  SATIN_ALWAYS_ void
  abort ()
  {
    satin_abort_ (&frame_);
  }

  /* In a long job without spawns, every millisecond or so: a load and a compare. Here the job can
   * be suspended and saved; if it was aborted, the poll does not return. */
  SATIN_ALWAYS_ void
  poll ()
  {
    satin_aborted_ (&frame_);
  }

  SATIN_ALWAYS_ Here
  here ()
  {
    return { satin_here_ (&frame_) };
  }

  /* Ends the run with exit code 6: the job has no result. Formatted as by printf. */
  SATIN_FAILS_ void
  fail (SATIN_FORMAT_)
  {
    SatinHere at = satin_here_ (&frame_);

    satin_fail_ (at.stack, at.self, at.head, SATIN_VALUES_);
  }

  /* For a job of many phases. recall stands before the first spawn: true if the job was lost and
   * runs again; `state` is what it kept then. keep stands after a sync: `state` stands for all
   * phases up to here. Both have one type in a job. keep is a poll. */
  template <class T>
  SATIN_ALWAYS_ bool
  recall (T &state)
  {
    return satin_recall_ (&frame_, &detail::Kept<T>::job, &state) != FALSE;
  }
  template <class T>
  SATIN_ALWAYS_ void
  keep (const T &state)
  {
    satin_keep_ (&frame_, &detail::Kept<T>::job, &state);
  }

  /* The bytes of a Shared, borrowed until the job returns or keeps a state. */
  SATIN_ALWAYS_ Bytes
  shared (Shared name)
  {
    return satin_shared_ (&frame_, name);
  }

  Job (const Job &) = delete;
  Job &operator= (const Job &) = delete;

private:
  SatinFrame_ frame_;

  template <class J>
  friend SatinDone_ detail::run (SatinStack_ *, SatinSlot_ *, SatinSlot_ *, uint64_t) noexcept;
  template <class L, auto Body, class R, class Args> friend struct detail::Loop;

  SATIN_ALWAYS_
  Job (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head, uint64_t jobs, const SatinJob *own,
       gboolean holds)
      : frame_{ stack, self, head, head,    head,         head,  own, {},
                {},    jobs, 0,    nullptr, stack->fresh, FALSE, {},  holds }
  {
  }

  template <class J, class... A>
  SATIN_ALWAYS_ void
  place_ (void *into, A &&...arguments)
  {
    using Known = detail::Known<J>;
    void *payload = satin_place_ (&frame_, &Known::job, into, Known::big, Known::size,
                                  J::args_hold | Known::holds);

    (void)typename Known::Registered{};
    J::store (static_cast<char *> (payload), std::forward<A> (arguments)...);
    if constexpr (J::args_hold != 0)
      satin_hold_args_ (&Known::job, payload);
  }

  template <class J, class... A>
  SATIN_ALWAYS_ typename J::Result
  call_ (A &&...arguments)
  {
    using Known = detail::Known<J>;
    using Result = typename J::Result;
    SatinSlot_ *slot = frame_.head;

    place_<J> (nullptr, std::forward<A> (arguments)...);
    uint64_t returned = satin_called_ (&frame_, &Known::job, Known::big, Known::at, Known::returns);
    if constexpr (Known::returns)
      return detail::value_of<Result> (&returned);
    else
      return detail::value_of<Result> (satin_result_at_ (slot, Known::big, Known::at));
  }
};

/* One value that every node has before the root starts:
 *   static satin::Const<Sieve> sieve ("sieve");      at file scope
 *   run.publish (sieve, its);                        in main, before the root
 *   sieve->limit                                     in a job; the same address until the end */
template <class T> class Const
{
  SatinConst_ constant_;
  static_assert ((detail::Checked<T>::holds & satin_holds_SatinShared) == 0,
                 "a constant holds a SatinShared; every node has a constant anyway");
  friend class Run;

public:
  explicit Const (const char *name)
      : constant_{ name, detail::Checked<T>::type (), nullptr, nullptr }
  {
    satin_const_register_ (&constant_);
  }
  Const (const Const &) = delete;
  const T &
  operator* () const
  {
    return *static_cast<const T *> (satin_const_value_ (&constant_));
  }
  const T *
  operator->() const
  {
    return &**this;
  }
};

/* One improving value that all nodes share: at file scope, static satin::Best<T> best ("name",
 * first). Better () (a, b), by default a < b, says that a is better: a strict total order (equal
 * cost: the smaller solution). The result of value () may lag behind and never goes back: a hint,
 * never the answer. char *Show (const T &) makes a text for people, which Satin frees with g_free,
 * as in SATIN_BEST_SHOW. */
template <class T, class Better = std::less<T>, char *(*Show) (const T &) = nullptr> class Best
{
  const T first_;
  SatinBest_ best_;
  static_assert ((detail::Checked<T>::holds & satin_holds_SatinShared) == 0,
                 "a best value holds a SatinShared, which only jobs can follow");

  static const void *
  merge (const void *a, const void *b)
  {
    return Better () (*static_cast<const T *> (b), *static_cast<const T *> (a)) ? b : a;
  }
  static char *
  show (const void *value)
  {
    if constexpr (Show != nullptr)
      return Show (*static_cast<const T *> (value));
    else
      return nullptr;
  }

public:
  Best (const char *name, const T &first)
      : first_ (first), best_{ name,    detail::Checked<T>::type (),     merge, &first_,
                               nullptr, Show != nullptr ? show : nullptr }
  {
    satin_best_register_ (&best_);
  }
  Best (const Best &) = delete;
  /* Any thread; costs a load. The reference is good until the process ends. */
  const T &
  value () const
  {
    return *static_cast<const T *> (satin_best_value_ (&best_));
  }
  /* Offers a value to all nodes. Any thread. */
  void
  improve (const T &value)
  {
    satin_improve_ (&best_, &value);
  }
};

/* One run of a program. Main gets it, or a main of the program's own makes it from the SatinRun
 * that satin_open returned and that satin_close ends. */
class Run
{
  SatinRun *run_;

  template <class J, class... A>
  bool
  root_ (typename J::Result &into, A &&...arguments)
  {
    using Known = detail::Known<J>;
    alignas (8) char payload[J::args.size] = {};

    (void)typename Known::Registered{};
    J::store (payload, std::forward<A> (arguments)...);
    return satin_root_ (run_, &Known::job, payload, &into) != FALSE;
  }

public:
  explicit Run (SatinRun *run) : run_ (run)
  {
  }
  /* Runs a job with all below it, any number of times, one after the other. False: main returns
   * stopped () at once. */
  template <auto F, class... A>
  bool
  root (typename detail::JobOf<F>::Result &into, A &&...arguments)
  {
    return root_<detail::JobOf<F> > (into, std::forward<A> (arguments)...);
  }
  template <class T>
  bool
  root (typename detail::Functor<T>::Result &into, const T &functor)
  {
    return root_<detail::Functor<T> > (into, functor);
  }
  int
  stopped ()
  {
    return satin_stopped (run_);
  }
  /* satin_input: a file, read once for the whole run; (transfer none). */
  GBytes *
  input (const char *path, GError **error)
  {
    return satin_input (run_, path, error);
  }
  /* Before the root: gives the constant its value, copied. */
  template <class T>
  void
  publish (Const<T> &constant, const T &value)
  {
    satin_publish_ (run_, &constant.constant_, &value);
  }
};

/* In main: int main (int argc, char **argv) { return satin::program<run> ("fib", "N", argc, argv);
 * } where int run (satin::Run &, int argc, char **argv) is what SATIN_APP calls the main function.
 */
template <int (*Main) (Run &, int, char **)>
int
program (const char *name, const char *usage, int argc, char **argv)
{
  static const SatinJob *const none[] = { nullptr };
  static const SatinApp app = { SATIN_LAYOUT_, name, usage,
                                [] (SatinRun *satin, int n, char **words) {
                                  Run run (satin);
                                  return Main (run, n, words);
                                },
                                none };

  return satin_main_ (&app, argc, argv);
}
}

#include "satin-loop.hpp"

#pragma GCC visibility pop
