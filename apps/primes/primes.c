/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the primes below a number, and finds the widest gap between two primes, or the first gap
 * of a given width. apps/README is a tutorial on it. */
#include <satin.h>

#include <stdlib.h>

#define USAGE "N [--gap WIDTH]"
#define GRAIN 100000 /* numbers of a job, which takes some hundred microseconds */
#define BEYOND 400   /* no gap below 2^32 is wider */
#define SMALL 6542   /* primes below 2^16 */

/* The data of all jobs: the limit, and the primes for sieving. */
SATIN_RECORD (Sieve, (int64_t, limit), (uint16_t, prime, SMALL))
SATIN_CONST (Sieve, sieve)

/* A gap belongs to the numbers in which it begins; `behind` is its first prime. No gap: width 0,
 * behind all numbers. */
SATIN_RECORD (Gap, (int64_t, width), (int64_t, behind))
SATIN_RECORD (Primes, (int64_t, count), (Gap, widest))

static const Gap no_gap = { 0, INT64_MAX };

/* Sets `is` to TRUE for each prime among `n` numbers from `from` on. */
static void
mark_primes (int64_t from, int64_t n, uint8_t *is)
{
  const Sieve *its = satin_const (sieve);

  memset (is, TRUE, (gsize)n);
  for (int64_t i = from; i < 2 && i < from + n; i++)
    is[i - from] = FALSE;
  for (int i = 0; i < SMALL; i++)
    {
      int64_t p = its->prime[i];

      for (int64_t m = MAX (p * p, (from + p - 1) / p * p); m < from + n; m += p)
        is[m - from] = FALSE;
    }
}

/* The primes from `from` up to, but without, `to`, and the widest gap, or the first one wider than
 * `than`. */
static Primes
look (int64_t from, int64_t to, int64_t than, gboolean first)
{
  int64_t end = MIN (to + BEYOND, satin_const (sieve)->limit), before = -1;
  uint8_t is[GRAIN + BEYOND];
  Primes found = { 0, no_gap };

  mark_primes (from, end - from, is);
  for (int64_t n = from; n < end; n++)
    {
      if (!is[n - from])
        continue;
      if (before >= 0 && before < to && n - before > than && (!first || found.widest.width == 0))
        {
          found.widest = (Gap){ n - before, before };
          than = n - before;
        }
      found.count += n < to;
      before = n;
      if (n >= to)
        break;
    }
  return found;
}

/* The wider gap; the first of two equally wide ones. */
static Gap
wider (Gap a, Gap b)
{
  return b.width > a.width ? b : a;
}

static Primes
both (Primes left, Primes right)
{
  return (Primes){ left.count + right.count, wider (left.widest, right.widest) };
}

SATIN_REDUCE (primes, Primes, both)
{
  return look (from, to, 0, FALSE);
}

/* A total order: the earlier gap. */
static const Gap *
earlier (const Gap *a, const Gap *b)
{
  if (a->behind != b->behind)
    return a->behind < b->behind ? a : b;
  return a->width >= b->width ? a : b;
}

SATIN_BEST (Gap, earliest, earlier, { 0, INT64_MAX })

SATIN_JOB (first_gap, Gap, (int64_t, from), (int64_t, to), (int64_t, width))
{
  Gap known = satin_best (earliest), left, right;

  if (known.behind < from)
    return known;
  if (to - from <= GRAIN)
    {
      left = look (from, to, width - 1, TRUE).widest;
      if (left.width > 0)
        satin_improve (earliest, &left);
      return left;
    }
  /* The job spawned last runs first. */
  satin_spawn (first_gap, &right, from + (to - from) / 2, to, width);
  satin_spawn (first_gap, &left, from, from + (to - from) / 2, width);
  satin_sync ();
  return *earlier (&left, &right);
}

/* FALSE: invalid; a message was printed. */
static gboolean
parse (const char *what, const char *text, int64_t most, int64_t *number)
{
  char *end;

  *number = g_ascii_strtoll (text, &end, 10);
  if (end != text && *end == '\0' && *number >= 1 && *number <= most)
    return TRUE;
  fprintf (stderr, "primes: %s must be a number from 1 to %" G_GINT64_FORMAT ", not '%s'\n", what,
           (gint64)most, text);
  return FALSE;
}

/* The primes below 2^16, by trial division. */
static void
publish (SatinRun *run, int64_t limit)
{
  Sieve its = { .limit = limit };
  int n = 0;

  for (int i = 2; n < SMALL; i++)
    {
      int k = 0;

      while (k < n && its.prime[k] * its.prime[k] <= i && i % its.prime[k] != 0)
        k++;
      if (k == n || its.prime[k] * its.prime[k] > i)
        its.prime[n++] = (uint16_t)i;
    }
  satin_publish (run, sieve, &its);
}

static int
print_gap (Gap gap)
{
  if (gap.width == 0)
    printf ("gap none\n");
  else
    printf ("gap %" G_GINT64_FORMAT " behind %" G_GINT64_FORMAT "\n", (gint64)gap.width,
            (gint64)gap.behind);
  return 0;
}

static int
primes_main (SatinRun *run, int argc, char **argv)
{
  int64_t limit, width = 0;
  Primes found;
  Gap gap;

  if (argc != 2 && !(argc == 4 && strcmp (argv[2], "--gap") == 0))
    {
      fprintf (stderr, "primes: one number is needed; usage: primes " USAGE "\n");
      return 2;
    }
  if (!parse ("N", argv[1], G_MAXUINT32, &limit)
      || (argc == 4 && !parse ("WIDTH", argv[3], G_MAXUINT32, &width)))
    return 2;
  publish (run, limit);
  if (width > 0)
    return satin_root (run, first_gap, &gap, 0, limit, width) ? print_gap (gap)
                                                              : satin_stopped (run);
  if (!satin_root (run, primes, &found, 0, limit, GRAIN))
    return satin_stopped (run);
  printf ("primes %" G_GINT64_FORMAT " ", (gint64)found.count);
  return print_gap (found.widest);
}

SATIN_APP ("primes", USAGE, primes_main, &primes_job, &first_gap_job)
