/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of satin.hpp. Usage: plus N MS prints one line with a result for each word; leaves
 * sleep for MS milliseconds until the file named by PLUS_GO exists. plus fail | here | throw: a job
 * fails. */
#include <satin.hpp>

#include <atomic>
#include <errno.h>
#include <stdexcept>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <time.h>
#include <unistd.h>

namespace
{
void
rest (int32_t ms)
{
  struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
  const char *go = getenv ("PLUS_GO");

  if (go == nullptr || access (go, F_OK) != 0)
    while (nanosleep (&time, &time) != 0 && errno == EINTR)
      continue;
}

/* Values of all kinds of types. */
enum class Colour : uint8_t
{
  red = 3,
  green = 7
};

struct Point
{
  int32_t x = 0, y = 0;

  bool
  operator<(const Point &other) const
  {
    return x != other.x ? x < other.x : y < other.y;
  }
};
SATIN_MEMBERS (Point, (int32_t, x), (int32_t, y))

SATIN_RECORD (Old, (int16_t, small), (Point, at))
SATIN_LIST (OldNumbers, int64_t)

struct All
{
  Colour colour;
  std::array<double, 3> real;
  uint8_t letters[5];
  Old old;
  OldNumbers numbers;
  satin::List<Point> points;
  satin::Bytes bytes;
  satin::Text text;
  satin::Shared shared;
};
SATIN_MEMBERS (All, (Colour, colour), (double, real, 3), (uint8_t, letters, 5), (Old, old),
               (OldNumbers, numbers), (satin::List<Point>, points), (satin::Bytes, bytes),
               (satin::Text, text), (satin::Shared, shared))

int64_t
sum_of (const All &all)
{
  int64_t sum = static_cast<int64_t> (all.colour) + all.letters[4] + all.old.small + all.old.at.y
                + static_cast<int64_t> (g_bytes_get_size (all.bytes)) + all.text.text[1];

  for (double x : all.real)
    sum += static_cast<int64_t> (x);
  for (int64_t n : satin::Span (all.numbers))
    sum += n;
  for (const Point &point : all.points)
    sum += point.x;
  return sum;
}

SATIN_BODY int64_t
fib (satin::Job &job, int32_t n)
{
  int64_t x, y;

  if (n < 2)
    return n;
  job.spawn<fib> (x, n - 1);
  job.spawn<fib> (y, n - 2);
  job.sync ();
  return x + y;
}

/* Fibonacci numbers by a functor, with a call and a spawn. The struct is too large for a slot. */
struct Fib
{
  int32_t n;
  std::array<int64_t, 20> ballast;

  int64_t operator() (satin::Job &job) const;
};
SATIN_MEMBERS (Fib, (int32_t, n), (int64_t, ballast, 20))

SATIN_BODY int64_t
Fib::operator() (satin::Job &job) const
{
  int64_t x, y;

  if (n < 2)
    return n + ballast[19];
  job.spawn (x, Fib{ n - 1, ballast });
  y = job.call (Fib{ n - 2, ballast });
  job.sync ();
  return x + y;
}

/* A value of all types is passed through two jobs and must come back unchanged. */
SATIN_BODY All
there (satin::Job &job, const All &all, int32_t ms, int8_t depth)
{
  All back;

  rest (ms);
  if (depth == 0)
    return all;
  job.spawn<there> (back, all, ms, depth - 1);
  job.sync ();
  return back;
}

/* More spawns in one phase than a frame has room for. */
SATIN_BODY int64_t
many (satin::Job &job, const std::array<int32_t, 40> &numbers) noexcept
{
  int64_t each[40], sum = 0;

  for (int i = 0; i < 40; i++)
    job.spawn<fib> (each[i], numbers[i]);
  job.sync ();
  for (int64_t one : each)
    sum += one;
  return sum;
}

/* Polls until it is aborted, in a function that the job calls. Number 3 returns. */
struct Endless
{
  int32_t number;

  static void
  turn (satin::Here here)
  {
    for (;;)
      here.poll ();
  }
  SATIN_BODY int32_t
  operator() (satin::Job &job) const
  {
    if (number == 3)
      return number;
    turn (job.here ());
    return -1;
  }
};
SATIN_MEMBERS (Endless, (int32_t, number))

/* The first result aborts the other jobs. Only number 3 returns; with one worker it runs first,
 * since it was spawned last. */
SATIN_BODY int32_t
first (satin::Job &job)
{
  int32_t each[4] = { 0, 0, 0, 0 };

  for (int32_t i = 0; i < 4; i++)
    job.spawn (each[i], Endless{ i });
  int32_t which = job.sync_next ();
  job.abort ();
  return job.sync_next () == -1 ? each[which] * 10 + which : -1;
}

/* sync_next returns the number of each child once. */
SATIN_BODY int64_t
one_by_one (satin::Job &job)
{
  int64_t each[6], seen = 0;
  int32_t which;

  for (int32_t i = 0; i < 6; i++)
    job.spawn<fib> (each[i], 10 + i);
  while ((which = job.sync_next ()) >= 0)
    seen += each[which] << which;
  return seen;
}

/* Loops. */
int64_t
square (int64_t i, const std::array<int64_t, 2> &by, int32_t ms)
{
  if (i % 64 == 0)
    rest (ms);
  return i * i + by[1];
}

int64_t
add_up (int64_t from, int64_t to, satin::List<int64_t> squares)
{
  int64_t sum = 0;

  for (int64_t n : squares.part (static_cast<size_t> (from), static_cast<size_t> (to - from)))
    sum += n;
  return sum;
}

int64_t
plus (int64_t a, int64_t b) noexcept
{
  return a + b;
}

/* Phases. */
struct State
{
  int32_t step = 0;
  int64_t sum = 0;
  satin::List<int64_t> trail = { nullptr, 0, nullptr };
};
SATIN_MEMBERS (State, (int32_t, step), (int64_t, sum), (satin::List<int64_t>, trail))

SATIN_BODY State
phases (satin::Job &job, int32_t steps, int32_t ms)
{
  State state;

  job.recall (state);
  while (state.step < steps)
    {
      int64_t x, y;
      job.spawn<fib> (x, state.step);
      job.spawn<fib> (y, state.step + 1);
      job.sync ();
      rest (ms);
      state.sum += x * y;
      state.trail = satin::join (state.trail, satin::list (&state.sum, 1));
      state.step++;
      job.keep (state);
    }
  return state;
}

/* A constant and a best value. */
satin::Const<Point> origin ("origin");

char *
show_point (const Point &point)
{
  return g_strdup_printf ("%d,%d", point.x, point.y);
}
satin::Best<Point, std::less<Point>, show_point> lowest ("lowest", { 1000, 0 });

SATIN_BODY Point
improves (satin::Job &, int32_t x)
{
  lowest.improve ({ x, origin->y });
  return lowest.value ();
}

struct Report
{
  int64_t sums[8];
  int32_t first;
  Point best;
  satin::Text text;
};
SATIN_MEMBERS (Report, (int64_t, sums, 8), (int32_t, first), (Point, best), (satin::Text, text))

All
make_all ()
{
  static const int64_t numbers[] = { 100, 200, 300 };
  All all = { Colour::green,
              { 1.5, 2.5, 1000 },
              { 1, 2, 3, 4, 50 },
              { 6, { 7, 8 } },
              { numbers, 3, nullptr },
              satin::list<Point> (4),
              satin_bytes (g_bytes_new ("12345", 5)),
              satin_text ("%d", 12),
              nullptr };

  for (Point &point : all.points.items ())
    point.x = 5;
  return all;
}

struct Main
{
  int32_t n, ms;

  SATIN_BODY Report
  operator() (satin::Job &job) const
  {
    Report report = {};
    All all = make_all (), back;
    State state;
    std::array<int32_t, 40> numbers;
    satin::List<int64_t> squares;
    Point found;

    numbers.fill (5);
    all.shared = satin_share (satin_bytes (g_bytes_new ("shared", 6)));
    job.spawn<fib> (report.sums[0], n);
    job.spawn (report.sums[1], Fib{ 12, {} });
    job.spawn<there> (back, all, ms, 3);
    job.spawn<many> (report.sums[3], numbers);
    job.spawn<phases> (state, 20, ms);
    job.spawn<satin::map<square> > (squares, 0, 1000, 64, std::array<int64_t, 2>{ 0, 1 }, ms);
    job.spawn<improves> (found, 40);
    job.sync ();
    report.sums[2]
        = sum_of (back) + static_cast<int64_t> (g_bytes_get_size (job.shared (back.shared)));
    report.sums[4] = state.sum + state.trail.part (9, 1)[0] + satin::Span (state.trail)[19];
    report.sums[5] = job.call<satin::reduce<add_up, plus> > (0, 1000, 0, squares);
    report.sums[6] = job.call<one_by_one> ();
    report.first = job.call<first> ();
    report.best = found;
    report.text = satin_text ("%s, %d", "text", n);
    return report;
  }
};
SATIN_MEMBERS (Main, (int32_t, n), (int32_t, ms))

/* A map in one piece, which another worker runs until it is aborted: its bodies cannot poll. */
constexpr int64_t n_items = 20000;
std::atomic<int64_t> n_begun;

int64_t
begin_item (int64_t i)
{
  n_begun++;
  rest (1);
  return i;
}

SATIN_BODY int32_t
wait_for_item (satin::Job &job)
{
  while (n_begun == 0)
    job.poll ();
  return 1;
}

SATIN_BODY int32_t
stops (satin::Job &job)
{
  satin::List<int64_t> items;
  int32_t begun;

  job.spawn<satin::map<begin_item> > (items, 0, n_items, n_items);
  job.spawn<wait_for_item> (begun);
  if (job.sync_next () == 1)
    job.abort ();
  return n_begun < n_items;
}

/* Jobs that fail. */
SATIN_BODY int64_t
throws (satin::Job &, int32_t n)
{
  throw std::runtime_error ("thrown " + std::to_string (n));
}

void
fail_inside (satin::Here here, int32_t n)
{
  here.fail ("inside, %d of %s", n, "three");
}

SATIN_BODY int64_t
fails (satin::Job &job, int32_t how)
{
  int64_t x = 0;

  if (how == 1)
    job.fail ("itself, %d of %s", how, "three");
  if (how == 2)
    fail_inside (job.here (), how);
  try
    {
      job.spawn<throws> (x, how);
      job.sync ();
    }
  catch (const std::exception &)
    {
      x = -1;
    }
  return x;
}

int
run_plus (satin::Run &run, int argc, char **argv)
{
  const std::string word = argc > 1 ? argv[1] : "";
  Report report;
  int64_t none;

  run.publish (origin, { 3, 4 });
  if (word == "fail" || word == "here" || word == "throw")
    return run.root<fails> (none, word == "fail" ? 1 : word == "here" ? 2 : 3) ? 0 : run.stopped ();
  if (word == "stops")
    {
      if (!run.root<stops> (report.first))
        return run.stopped ();
      printf ("%d\n", report.first);
      return 0;
    }
  if (argc != 3)
    return 2;
  if (!run.root (report, Main{ atoi (argv[1]), atoi (argv[2]) }))
    return run.stopped ();
  for (int i = 0; i < 7; i++)
    printf ("%lld ", (long long)report.sums[i]);
  printf ("%d (%d,%d) %s\n", report.first, report.best.x, report.best.y, report.text.text);
  return 0;
}
}

int
main (int argc, char **argv)
{
  return satin::program<run_plus> ("plus", "N MS | stops | fail | here | throw", argc, argv);
}
