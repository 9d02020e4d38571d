/* SPDX-License-Identifier: BSD-3-Clause */
/* The words for lists, texts, loops and polls in functions. Usage: lists N MS.
 * A loop makes N numbers, jobs sort them in lists, a loop adds them up, and a recursive function
 * counts them. Each piece sleeps for MS milliseconds until the file named by LISTS_GO exists. */
#include <satin.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

SATIN_LIST (Numbers, int64_t)
SATIN_RECORD (Report, (SatinText, title), (Numbers, sorted), (int64_t, sum), (int64_t, found))

static void
rest (int32_t ms)
{
  struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
  const char *go = getenv ("LISTS_GO");

  if (go == NULL || access (go, F_OK) != 0)
    while (nanosleep (&time, &time) != 0 && errno == EINTR)
      continue;
}

SATIN_FOR (make, Numbers, int64_t, (int64_t, n), (int32_t, ms))
{
  if (i % 16 == 0)
    rest (ms);
  return i * 7919 % n;
}

static int64_t
plus (int64_t a, int64_t b)
{
  return a + b;
}

SATIN_REDUCE (add, int64_t, plus, (Numbers, numbers), (int32_t, ms))
{
  int64_t sum = 0;

  rest (ms);
  for (int64_t i = from; i < to; i++)
    sum += numbers.at[i];
  return sum;
}

SATIN_JOB (order, Numbers, (Numbers, list), (SatinText, name), (int32_t, ms))
{
  uint64_t half = list.n / 2, i = 0, k = 0;
  Numbers low, high, all;
  int64_t *to;

  if (list.n < 2)
    return list;
  satin_spawn (order, &low, (Numbers){ list.at, half, list.held }, satin_text ("%s0", name.text),
               ms);
  satin_spawn (order, &high, (Numbers){ list.at + half, list.n - half, list.held },
               satin_text ("%s1", name.text), ms);
  satin_sync ();
  if (list.n > 16)
    rest (ms);
  all = satin_list (Numbers, NULL, list.n);
  to = satin_items (Numbers, all);
  while (i < low.n || k < high.n)
    *to++ = k == high.n || (i < low.n && low.at[i] <= high.at[k]) ? low.at[i++] : high.at[k++];
  return all;
}

/* Counts the numbers from `from` on by recursion, one call for each. */
static int64_t
walk (SatinHere here, Numbers list, uint64_t from)
{
  satin_poll (here);
  return from == list.n ? 0 : 1 + walk (here, list, from + 1);
}

SATIN_JOB (report, Report, (int64_t, n), (int32_t, ms))
{
  Numbers made = satin_for (make, 0, n, 16, n, ms), sorted;
  Report its = { satin_text ("%d numbers, \xc3\xa4", (int)n), { NULL, 0, NULL }, 0, 0 };

  satin_spawn (order, &sorted, made, (SatinText){ "s", NULL }, ms);
  satin_spawn (add, &its.sum, 0, n, 16, made, ms);
  satin_sync ();
  its.sorted = sorted;
  its.found = walk (satin_here (), sorted, 0);
  return its;
}

static int
lists_main (SatinRun *run, int argc, char **argv)
{
  gboolean sorted = TRUE;
  Report its;

  if (argc != 3)
    return 2;
  if (!satin_root (run, report, &its, atoi (argv[1]), atoi (argv[2])))
    return satin_stopped (run);
  for (uint64_t i = 0; i < its.sorted.n; i++)
    sorted = sorted && its.sorted.at[i] == (int64_t)i;
  printf ("%s: %s, %d in all, sum %lld, found %d\n", its.title.text,
          sorted ? "sorted" : "not sorted", (int)its.sorted.n, (long long)its.sum, (int)its.found);
  return 0;
}

SATIN_APP ("lists", "N MS", lists_main)
