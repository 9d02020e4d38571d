/* SPDX-License-Identifier: BSD-3-Clause */
/* A shortest schedule of a job shop, with proof: branch and bound, in C++ by satin.hpp. Each job
 * decides which of two operations on one machine comes first, and has two children, one for either
 * order. It tries both orders of some pairs before: an order that is impossible decides the pair
 * at once, and of the others the pair is taken that changes most.
 *
 * What a child is follows from the arguments alone (law 2): `upper` is the bound of the root. The
 * best schedule known only ends jobs early. */
#include <satin.hpp>

#include "../words.h"
#include "shop.hpp"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>

SATIN_MEMBERS (Shop, (int32_t, jobs), (int32_t, machines), (int32_t, machine, operations_max),
               (int32_t, time, operations_max), (int32_t, on, operations_max))

namespace
{
constexpr int tries = 24;             /* pairs of which a job tries both orders */
constexpr int32_t time_max = 1000000; /* of an operation */

/* When each operation begins. */
struct Schedule
{
  int32_t makespan = INT32_MAX;
  satin::List<int32_t> starts = { nullptr, 0, nullptr };

  bool
  operator<(const Schedule &other) const
  {
    return makespan != other.makespan
               ? makespan < other.makespan
               : std::lexicographical_compare (starts.begin (), starts.end (),
                                               other.starts.begin (), other.starts.end ());
  }
};
SATIN_MEMBERS (Schedule, (int32_t, makespan), (satin::List<int32_t>, starts))

char *
show_makespan (const Schedule &schedule)
{
  return schedule.starts.empty () ? nullptr : g_strdup_printf ("makespan %d", schedule.makespan);
}

satin::Const<Shop> shop ("shop");
satin::Best<Schedule, std::less<Schedule>, show_makespan> best ("schedule", {});

enum class Outcome
{
  branches,
  decided,
  impossible
};

/* What the decision did to heads and tails. */
int64_t
gain (const State &before, const State &after)
{
  int64_t sum = 0;

  for (int op = 0; op < shop->operations (); op++)
    sum += after.head[op] - before.head[op] + after.tail[op] - before.tail[op];
  return sum;
}

/* Tries both orders of some pairs. True: one order is impossible, and the other is in the state;
 * if that is impossible too, `outcome` says so. */
bool
try_pairs (satin::Here here, State &state, Outcome &outcome, Pair &chosen)
{
  Pair pairs[tries];
  int64_t most = -1;
  const int n = shop_pairs (*shop, state, pairs, tries);

  outcome = n == 0 ? Outcome::decided : Outcome::branches;
  for (int i = 0; i < n; i++)
    {
      State one = state, two = state;

      here.poll ();
      shop_decide (*shop, one, pairs[i].first, pairs[i].second);
      shop_decide (*shop, two, pairs[i].second, pairs[i].first);
      const bool fits_one = shop_conclude (*shop, one, state.upper),
                 fits_two = shop_conclude (*shop, two, state.upper);
      if (!fits_one || !fits_two)
        {
          outcome = fits_one || fits_two ? outcome : Outcome::impossible;
          state = fits_one ? one : two;
          return true;
        }
      const int64_t first = gain (state, one), second = gain (state, two);
      if (std::min (first, second) * 16 + std::max (first, second) > most)
        {
          most = std::min (first, second) * 16 + std::max (first, second);
          chosen = pairs[i];
          if (first > second)
            std::swap (chosen.first, chosen.second);
        }
    }
  return false;
}

/* All schedules that end before `upper` and keep to the decisions: a word for each operation, its
 * State::before. */
struct Search
{
  int32_t upper;
  satin::List<uint32_t> before;

  SATIN_BODY Schedule operator() (satin::Job &job) const;
};
SATIN_MEMBERS (Search, (int32_t, upper), (satin::List<uint32_t>, before))

Search
child (const State &parent, int first, int second)
{
  State state = parent;

  shop_decide (*shop, state, first, second);
  return { state.upper,
           satin::list (state.before.data (), static_cast<uint64_t> (shop->operations ())) };
}

SATIN_BODY Schedule
Search::operator() (satin::Job &job) const
{
  State state, pruned;
  Outcome outcome;
  Pair pair = {};
  Schedule one, two;

  shop_begin (*shop, state);
  std::copy (before.begin (), before.end (), state.before.begin ());
  if (!shop_conclude (*shop, state, upper))
    return best.value ();
  pruned = state;
  if (!shop_conclude (*shop, pruned, std::min (upper, best.value ().makespan)))
    return best.value (); /* law 3: the whole of it */
  while (try_pairs (job.here (), state, outcome, pair) && outcome != Outcome::impossible)
    continue;
  if (outcome == Outcome::decided)
    {
      satin::List<int32_t> starts
          = satin::list<int32_t> (static_cast<uint64_t> (shop->operations ()));
      best.improve ({ shop_starts (*shop, state, starts.items ().data ()), starts });
    }
  if (outcome != Outcome::branches)
    return best.value ();
  /* The child that is spawned last runs first: the order that changes less. */
  job.spawn (two, child (state, pair.second, pair.first));
  job.spawn (one, child (state, pair.first, pair.second));
  job.sync ();
  return one < two ? one : two;
}

/* Number of jobs and machines, then for each job its machines, from 0 on, with times. */
bool
read_shop (Words *words, Shop &read, GError **error)
{
  gint64 jobs = 0, machines = 0, machine = 0, time = 0;

  if (!words_number (words, "the number of jobs", 1, jobs_max, &jobs, error)
      || !words_number (words, "the number of machines", 1, machines_max, &machines, error))
    return false;
  read.jobs = static_cast<int32_t> (jobs);
  read.machines = static_cast<int32_t> (machines);
  read.on.fill (-1);
  for (int op = 0; op < read.operations (); op++)
    {
      if (!words_number (words, "a machine", 0, machines - 1, &machine, error)
          || !words_number (words, "a time", 0, time_max, &time, error))
        return false;
      int32_t &on = read.on[static_cast<size_t> (machine * jobs + op / machines)];
      if (on >= 0)
        return words_refuse (words, error, "job %d is twice on machine %d",
                             (int)(op / machines + 1), (int)machine);
      on = op;
      read.machine[op] = static_cast<int32_t> (machine);
      read.time[op] = static_cast<int32_t> (time);
    }
  if (words_next (words))
    return words_refuse (words, error, "'%s' stands behind the last job", words->word);
  for (int op = read.operations (); op < operations_max; op++)
    read.machine[op] = read.time[op] = 0;
  return true;
}

/* Each machine's jobs in their order, numbered from 1. */
void
print_schedule (satin::Span<const int32_t> starts, int32_t makespan)
{
  printf ("makespan %d\n", makespan);
  for (int machine = 0; machine < shop->machines; machine++)
    {
      int32_t order[jobs_max];
      for (int j = 0; j < shop->jobs; j++)
        order[j] = shop->on[machine * shop->jobs + j];
      std::sort (order, order + shop->jobs, [starts] (int32_t a, int32_t b) {
        return std::make_pair (starts[a], starts[a] + shop->time[a])
               < std::make_pair (starts[b], starts[b] + shop->time[b]);
      });
      printf ("machine %d:", machine);
      for (int j = 0; j < shop->jobs; j++)
        printf (" %d@%d", order[j] / shop->machines + 1, starts[order[j]]);
      printf ("\n");
    }
}

int
solve (satin::Run &run, int32_t upper)
{
  std::array<int32_t, operations_max> starts;
  const size_t n = static_cast<size_t> (shop->operations ());
  int32_t makespan = shop_first (*shop, starts.data ());
  Schedule found;
  State state;

  shop_begin (*shop, state);
  if (!run.root (found, Search{ std::min (makespan, upper), { state.before.data (), n, nullptr } }))
    {
      makespan = std::min (makespan, best.value ().makespan);
      fprintf (stderr, "jobshop: so far %d\n", makespan);
      return run.stopped ();
    }
  if (found.makespan < makespan)
    print_schedule (found.starts, found.makespan);
  else if (makespan < upper)
    print_schedule ({ starts.data (), n }, makespan);
  else
    {
      fprintf (stderr, "jobshop: no schedule has a makespan of at most %d\n", upper - 1);
      return 1;
    }
  return 0;
}

int
run_jobshop (satin::Run &run, int argc, char **argv)
{
  g_autoptr (GError) error = nullptr;
  gint64 upper = INT32_MAX - 1;
  const bool bounded = argc == 4 && strcmp (argv[2], "--upper") == 0;
  Shop read;

  if ((argc != 2 && !bounded) || (argv[1][0] == '-' && argv[1][1] != '\0')
      || (bounded && !g_ascii_string_to_signed (argv[3], 10, 0, INT32_MAX - 1, &upper, nullptr)))
    {
      fprintf (stderr, "jobshop: one FILE is needed; usage: jobshop FILE [--upper MAKESPAN]\n");
      return 2;
    }
  GBytes *bytes = run.input (argv[1], &error);
  Words words = bytes == nullptr ? Words{} : words_of (argv[1], bytes);
  if (bytes == nullptr || !read_shop (&words, read, &error))
    {
      fprintf (stderr, "jobshop: %s\n", error->message);
      return 1;
    }
  run.publish (shop, read);
  return solve (run, static_cast<int32_t> (upper) + 1);
}
}

int
main (int argc, char **argv)
{
  return satin::program<run_jobshop> ("jobshop", "FILE [--upper MAKESPAN]", argc, argv);
}
