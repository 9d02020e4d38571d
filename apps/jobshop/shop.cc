/* SPDX-License-Identifier: BSD-3-Clause */
/* See shop.hpp. The rules are Carlier and Pinson's (1989): immediate selection of pairs, and edge
 * finding on each machine, here over all sets {i: head >= a, tail >= b}. */
#include "shop.hpp"

#include <algorithm>

namespace
{
/* The operations of one machine; mirrored: time runs backwards. */
struct Line
{
  int n = 0;
  bool mirrored = false;
  int op[jobs_max];
  int32_t head[jobs_max], time[jobs_max], tail[jobs_max];
};

Line
line_of (const Shop &shop, const State &state, int machine, bool mirrored)
{
  Line line;

  line.n = shop.jobs;
  line.mirrored = mirrored;
  for (int i = 0; i < line.n; i++)
    {
      const int op = shop.on[machine * shop.jobs + i];
      line.op[i] = op;
      line.time[i] = shop.time[op];
      line.head[i] = mirrored ? state.tail[op] : state.head[op];
      line.tail[i] = mirrored ? state.head[op] : state.tail[op];
    }
  return line;
}

bool
raise (int32_t &value, int32_t to)
{
  if (to <= value)
    return false;
  value = to;
  return true;
}

/* A later head of an operation, or with mirrored a longer tail; marks what that may change. */
void
raise_head (const Shop &shop, State &state, int op, int32_t to, bool mirrored)
{
  const uint32_t own = 1u << shop.machine[op];
  const int step = op % shop.machines;

  if (!raise ((mirrored ? state.tail : state.head)[op], to))
    return;
  state.review |= own;
  if (mirrored)
    state.tails |= own | (step > 0 ? 1u << shop.machine[op - 1] : 0);
  else
    state.heads |= own | (step < shop.machines - 1 ? 1u << shop.machine[op + 1] : 0);
}

/* Job i before job k on this machine. */
void
note (const Shop &shop, State &state, const Line &line, int i, int k)
{
  const int first = line.op[line.mirrored ? k : i], second = line.op[line.mirrored ? i : k];

  if ((state.before[second] >> first / shop.machines & 1) == 0)
    shop_decide (shop, state, first, second);
}

/* The earliest end of all jobs in the set. */
int32_t
end_of (const Line &line, uint32_t set)
{
  int32_t end = 0;

  for (int k = 0; k < line.n; k++)
    if (set >> k & 1)
      {
        int32_t sum = line.head[k];
        for (int i = 0; i < line.n; i++)
          if ((set >> i & 1) && line.head[i] >= line.head[k])
            sum += line.time[i];
        end = std::max (end, sum);
      }
  return end;
}

/* A job that cannot be but the last of a set comes behind all of it. False: nothing fits. */
bool
find_last (const Shop &shop, const Line &line, State &state, int32_t upper)
{
  int by_head[jobs_max]; /* the latest first */

  for (int i = 0; i < line.n; i++)
    by_head[i] = i;
  std::sort (by_head, by_head + line.n, [&line] (int a, int b) {
    return line.head[a] != line.head[b] ? line.head[a] > line.head[b] : a < b;
  });
  for (int b = 0; b < line.n; b++)
    {
      const int32_t tail = line.tail[b];
      uint32_t set = 0;
      int32_t sum = 0;

      for (int n = 0; n < line.n; n++)
        {
          const int a = by_head[n];
          const int32_t head = line.head[a];

          if (line.tail[a] < tail)
            continue;
          set |= 1u << a;
          sum += line.time[a];
          if (head + sum + tail >= upper)
            return false;
          for (int c = 0; c < line.n; c++)
            if (std::min (head, line.head[c]) + sum + line.time[c] + tail >= upper
                && (set >> c & 1) == 0)
              for (int i = 0; i < line.n; i++)
                if (set >> i & 1)
                  note (shop, state, line, i, c);
        }
    }
  return true;
}

/* Of two jobs one cannot come first. False: neither can. */
bool
select_pairs (const Shop &shop, const Line &line, State &state, int32_t upper)
{
  for (int i = 0; i < line.n; i++)
    for (int k = 0; k < i; k++)
      {
        const int32_t both = line.time[i] + line.time[k];
        const bool i_first = (state.before[line.op[i]] >> k & 1) == 0
                             && line.head[i] + both + line.tail[k] < upper,
                   k_first = (state.before[line.op[k]] >> i & 1) == 0
                             && line.head[k] + both + line.tail[i] < upper;
        if (!i_first && !k_first)
          return false;
        if (!k_first)
          note (shop, state, line, i, k);
        if (!i_first)
          note (shop, state, line, k, i);
      }
  return true;
}

/* Heads of a machine along the jobs and behind what is decided; mirrored: tails. */
void
push (const Shop &shop, State &state, int machine, bool mirrored)
{
  const Line line = line_of (shop, state, machine, mirrored);
  const auto &heads = mirrored ? state.tail : state.head;

  for (int i = 0; i < line.n; i++)
    {
      const int op = line.op[i], step = op % shop.machines, by = mirrored ? 1 : -1;
      uint32_t before = mirrored ? 0 : state.before[op];

      if (mirrored)
        for (int k = 0; k < line.n; k++)
          before |= (state.before[line.op[k]] >> i & 1) << k;
      if (step + by >= 0 && step + by < shop.machines)
        raise_head (shop, state, op, heads[op + by] + shop.time[op + by], mirrored);
      if (before != 0)
        raise_head (shop, state, op, end_of (line, before), mirrored);
    }
}

/* Takes the lowest machine out of a set. */
int
take (uint32_t &set)
{
  const int machine = __builtin_ctz (set);

  set &= set - 1;
  return machine;
}

/* Heads and tails until nothing changes. False: something ends too late. */
bool
push_all (const Shop &shop, State &state, int32_t upper)
{
  while (state.heads != 0 || state.tails != 0)
    {
      const bool mirrored = state.heads == 0;
      const int machine = take (mirrored ? state.tails : state.heads);

      push (shop, state, machine, mirrored);
      for (int i = 0; i < shop.jobs; i++)
        {
          const int op = shop.on[machine * shop.jobs + i];
          if (state.head[op] + shop.time[op] + state.tail[op] >= upper)
            return false;
        }
    }
  return true;
}

/* xorshift: the same numbers on each machine. */
uint32_t
next_random (uint32_t &seed)
{
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed;
}

/* The jobs on each machine in order, and what follows. */
struct Orders
{
  int32_t job[machines_max][jobs_max], place[operations_max];
  int32_t head[operations_max], tail[operations_max], makespan;
};

int
neighbour (const Shop &shop, const Orders &orders, int op, int by)
{
  const int machine = shop.machine[op], at = orders.place[op] + by;

  return at < 0 || at >= shop.jobs ? -1 : shop.on[machine * shop.jobs + orders.job[machine][at]];
}

/* Heads, tails and makespan. False: the orders contradict each other. */
bool
measure (const Shop &shop, Orders &orders)
{
  const int n = shop.operations ();
  int row[operations_max], waits[operations_max], done = 0, found = 0;

  orders.makespan = 0;
  for (int op = 0; op < n; op++)
    {
      orders.head[op] = orders.tail[op] = 0;
      waits[op] = (op % shop.machines > 0) + (neighbour (shop, orders, op, -1) >= 0);
      if (waits[op] == 0)
        row[found++] = op;
    }
  for (; done < found; done++)
    {
      const int op = row[done];
      const int behind[2] = { op % shop.machines < shop.machines - 1 ? op + 1 : -1,
                              neighbour (shop, orders, op, 1) };
      for (int next : behind)
        if (next >= 0)
          {
            raise (orders.head[next], orders.head[op] + shop.time[op]);
            if (--waits[next] == 0)
              row[found++] = next;
          }
      orders.makespan = std::max (orders.makespan, orders.head[op] + shop.time[op]);
    }
  for (int i = done - 1; i >= 0; i--)
    {
      const int op = row[i], next = neighbour (shop, orders, op, 1);
      if (op % shop.machines < shop.machines - 1)
        raise (orders.tail[op], orders.tail[op + 1] + shop.time[op + 1]);
      if (next >= 0)
        raise (orders.tail[op], orders.tail[next] + shop.time[next]);
    }
  return done == n;
}

void
swap (const Shop &shop, Orders &orders, int machine, int at)
{
  int32_t *job = orders.job[machine];

  std::swap (job[at], job[at + 1]);
  for (int i = at; i < at + 2; i++)
    orders.place[shop.on[machine * shop.jobs + job[i]]] = i;
}

/* Always the operation with most work behind it, of those that could begin first. */
void
dispatch (const Shop &shop, Orders &orders)
{
  int32_t step[jobs_max] = {}, left[jobs_max] = {}, free[machines_max] = {}, ready[jobs_max] = {};
  int placed[machines_max] = {};

  for (int op = 0; op < shop.operations (); op++)
    left[op / shop.machines] += shop.time[op];
  for (int n = 0; n < shop.operations (); n++)
    {
      int best = -1;
      int32_t soonest = INT32_MAX;

      for (int j = 0; j < shop.jobs; j++)
        if (step[j] < shop.machines)
          {
            const int op = j * shop.machines + step[j];
            soonest
                = std::min (soonest, std::max (ready[j], free[shop.machine[op]]) + shop.time[op]);
          }
      for (int j = 0; j < shop.jobs; j++)
        if (step[j] < shop.machines
            && std::max (ready[j], free[shop.machine[j * shop.machines + step[j]]]) < soonest
            && (best < 0 || left[j] > left[best]))
          best = j;
      if (best < 0) /* operations without time */
        for (best = 0; step[best] == shop.machines; best++)
          continue;
      const int op = best * shop.machines + step[best]++, machine = shop.machine[op];
      orders.place[op] = placed[machine];
      orders.job[machine][placed[machine]++] = best;
      left[best] -= shop.time[op];
      ready[best] = free[machine] = std::max (ready[best], free[machine]) + shop.time[op];
    }
}

/* May the swap with the operation behind it shorten the schedule? Only at an end of a block of a
 * longest path (Nowicki and Smutnicki 1996). */
bool
is_critical (const Shop &shop, const Orders &orders, int op)
{
  const int next = neighbour (shop, orders, op, 1);

  const auto on_path = [&] (int one, int two) {
    return one >= 0 && two >= 0
           && orders.head[one] + shop.time[one] + orders.tail[one] == orders.makespan
           && orders.head[two] + shop.time[two] + orders.tail[two] == orders.makespan
           && orders.head[one] + shop.time[one] == orders.head[two];
  };
  if (!on_path (op, next))
    return false;
  return !on_path (neighbour (shop, orders, op, -1), op)
         || !on_path (next, neighbour (shop, orders, next, 1));
}
}

void
shop_begin (const Shop &shop, State &state)
{
  state = {};
  for (int op = 0; op < shop.operations (); op++)
    if (op % shop.machines > 0)
      state.head[op] = state.head[op - 1] + shop.time[op - 1];
  for (int op = shop.operations () - 1; op >= 0; op--)
    if (op % shop.machines < shop.machines - 1)
      state.tail[op] = state.tail[op + 1] + shop.time[op + 1];
}

void
shop_decide (const Shop &shop, State &state, int first, int second)
{
  const uint32_t machine = 1u << shop.machine[first];

  state.before[second] |= 1u << first / shop.machines;
  state.heads |= machine;
  state.tails |= machine;
  state.review |= machine;
}

bool
shop_conclude (const Shop &shop, State &state, int32_t upper)
{
  if (upper != state.upper)
    state.heads = state.tails = state.review = (1u << shop.machines) - 1;
  state.upper = upper;
  while (push_all (shop, state, upper))
    {
      if (state.review == 0)
        return true;
      const int machine = take (state.review);
      if (!select_pairs (shop, line_of (shop, state, machine, false), state, upper)
          || !find_last (shop, line_of (shop, state, machine, false), state, upper)
          || !find_last (shop, line_of (shop, state, machine, true), state, upper))
        return false;
    }
  return false;
}

int
shop_pairs (const Shop &shop, const State &state, Pair *pairs, int max)
{
  const auto more = [] (const Pair &a, const Pair &b) {
    return a.least != b.least ? a.least > b.least : a.most > b.most;
  };
  int n = 0;

  for (int machine = 0; machine < shop.machines; machine++)
    {
      const Line line = line_of (shop, state, machine, false);
      for (int i = 0; i < line.n; i++)
        for (int k = 0; k < i; k++)
          {
            const int a = line.op[i], b = line.op[k];
            if ((state.before[a] >> k & 1) || (state.before[b] >> i & 1))
              continue;
            const int32_t one = line.head[i] + line.time[i] + line.time[k] + line.tail[k];
            const int32_t two = line.head[k] + line.time[k] + line.time[i] + line.tail[i];
            const Pair pair = one <= two ? Pair{ a, b, one, two } : Pair{ b, a, two, one };
            int at = n;
            for (; at > 0 && more (pair, pairs[at - 1]); at--)
              if (at < max)
                pairs[at] = pairs[at - 1];
            if (at < max)
              pairs[at] = pair;
            n = std::min (n + 1, max);
          }
    }
  return n;
}

int32_t
shop_starts (const Shop &shop, const State &state, int32_t *starts)
{
  int32_t makespan = 0;
  bool news = true;

  for (int op = 0; op < shop.operations (); op++)
    starts[op] = 0;
  while (news)
    {
      news = false;
      for (int op = 0; op < shop.operations (); op++)
        {
          const int machine = shop.machine[op];
          if (op % shop.machines > 0)
            news |= raise (starts[op], starts[op - 1] + shop.time[op - 1]);
          for (int j = 0; j < shop.jobs; j++)
            if (state.before[op] >> j & 1)
              {
                const int other = shop.on[machine * shop.jobs + j];
                news |= raise (starts[op], starts[other] + shop.time[other]);
              }
        }
    }
  for (int op = 0; op < shop.operations (); op++)
    makespan = std::max (makespan, starts[op] + shop.time[op]);
  return makespan;
}

int32_t
shop_first (const Shop &shop, int32_t *starts)
{
  constexpr int rounds = 20000;
  static int32_t tabu[operations_max][jobs_max]; /* until when op does not come before a job */
  Orders now, best;
  uint32_t seed = 2463534242u;

  for (auto &row : tabu)
    std::fill (row, row + jobs_max, 0);
  dispatch (shop, now);
  measure (shop, now);
  best = now;
  for (int round = 1; round <= rounds; round++)
    {
      int32_t chosen_makespan = INT32_MAX;
      int chosen = -1, any = -1, n_any = 0;

      for (int op = 0; op < shop.operations (); op++)
        {
          if (!is_critical (shop, now, op))
            continue;
          const int next = neighbour (shop, now, op, 1);
          Orders then = now;
          swap (shop, then, shop.machine[op], now.place[op]);
          if (next_random (seed) % static_cast<uint32_t> (++n_any) == 0)
            any = op;
          if (!measure (shop, then)
              || (tabu[next][op / shop.machines] > round && then.makespan >= best.makespan))
            continue;
          if (then.makespan < chosen_makespan
              || (then.makespan == chosen_makespan && next_random (seed) % 2 == 0))
            {
              chosen_makespan = then.makespan;
              chosen = op;
            }
        }
      if (chosen < 0)
        chosen = any; /* all is tabu */
      if (chosen < 0)
        break;
      const int next = neighbour (shop, now, chosen, 1);
      tabu[chosen][next / shop.machines] = round + 4 + static_cast<int> (next_random (seed) % 6);
      swap (shop, now, shop.machine[chosen], now.place[chosen]);
      measure (shop, now);
      if (now.makespan < best.makespan)
        best = now;
    }
  std::copy (best.head, best.head + shop.operations (), starts);
  return best.makespan;
}
