/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for a good tour. Pure: its random numbers have a fixed seed. Knows nothing of bounds
 * and jobs. */
#include "config.h"

#include "start.h"

#include <string.h>

/* Kicks for each city, and the least number of kicks. */
#define KICKS_PER_CITY 100
#define KICKS_MIN 200
/* A kick moves segments within so many places, so that repairing the tour is cheap. */
#define KICK_SPAN 50
/* The number of nearest neighbours that are tried for a city. */
#define NEAR_MAX 10

typedef struct
{
  int n;
  const gint32 *distance;
  int n_near;
  guint8 *near; /* n_near for each city, nearest first */
  int *tour;
  int *place;      /* of a city in the tour */
  gboolean *quiet; /* nothing has changed around this city since no improvement was found there */
} Search;

static gint64
cost (const Search *search, int a, int b)
{
  return search->distance[a * search->n + b];
}

static int
next_of (const Search *search, int city)
{
  int place = search->place[city] + 1;

  return search->tour[place == search->n ? 0 : place];
}

static int
last_of (const Search *search, int city)
{
  int place = search->place[city];

  return search->tour[place == 0 ? search->n - 1 : place - 1];
}

static void
put (Search *search, int place, int city)
{
  search->tour[place] = city;
  search->place[city] = place;
}

/* Reverses the section from city a to city b or, which is the same tour, the rest of it. */
static void
reverse (Search *search, int a, int b)
{
  int n = search->n;
  int i = search->place[a], j = search->place[b];
  int inside = (j - i + n) % n + 1;

  if (2 * inside > n)
    {
      int old_i = i;

      i = (j + 1) % n;
      j = (old_i - 1 + n) % n;
      inside = n - inside;
    }
  for (int k = 0; k < inside / 2; k++)
    {
      int x = search->tour[i], y = search->tour[j];

      put (search, i, y);
      put (search, j, x);
      i = i + 1 == n ? 0 : i + 1;
      j = j == 0 ? n - 1 : j - 1;
    }
}

static void
wake (Search *search, int city)
{
  search->quiet[city] = FALSE;
}

/* 2-opt: (a, next of a) and (c, next of c) become (a, c) and (next of a, next of c), or the same
 * with the previous cities. */
static gboolean
improve_two (Search *search, int a)
{
  for (int side = 0; side < 2; side++)
    {
      int b = side == 0 ? next_of (search, a) : last_of (search, a);

      for (int k = 0; k < search->n_near; k++)
        {
          int c = search->near[a * search->n_near + k];
          int d = side == 0 ? next_of (search, c) : last_of (search, c);
          gint64 gain = cost (search, a, b) - cost (search, a, c);

          if (gain <= 0)
            break;
          gain += cost (search, c, d) - cost (search, b, d);
          if (gain <= 0)
            continue;
          if (side == 0)
            reverse (search, b, c);
          else
            reverse (search, a, d);
          wake (search, a);
          wake (search, b);
          wake (search, c);
          wake (search, d);
          return TRUE;
        }
    }
  return FALSE;
}

/* Moves the section from first to last (in tour order) between c and the next city, forwards or
 * reversed, by at most three reversals. */
static void
move_segment (Search *search, int first, int last, int c, gboolean turned)
{
  int before = last_of (search, first), after = next_of (search, last), d = next_of (search, c);
  int n = search->n;
  int length = (search->place[last] - search->place[first] + n) % n + 1;
  int segment[3];

  for (int i = 0; i < length; i++)
    segment[i] = search->tour[(search->place[first] + i) % n];
  if (turned)
    for (int i = 0; i < length / 2; i++)
      {
        int swap = segment[i];

        segment[i] = segment[length - 1 - i];
        segment[length - 1 - i] = swap;
      }
  /* The cities between the old and the new place move by the length of the section. */
  if ((search->place[c] - search->place[last] + n) % n
      <= (search->place[first] - search->place[d] + n) % n)
    {
      int to = search->place[first];
      int count = (search->place[c] - search->place[last] + n) % n;
      int from = search->place[after];

      for (int i = 0; i < count; i++)
        put (search, (to + i) % n, search->tour[(from + i) % n]);
      for (int i = 0; i < length; i++)
        put (search, (to + count + i) % n, segment[i]);
    }
  else
    {
      int to = search->place[last];
      int count = (search->place[first] - search->place[d] + n) % n;
      int from = search->place[before];

      for (int i = 0; i < count; i++)
        put (search, (to - i + n) % n, search->tour[(from - i + n) % n]);
      for (int i = 0; i < length; i++)
        put (search, (to - count - i + 2 * n) % n, segment[length - 1 - i]);
    }
  wake (search, before);
  wake (search, after);
  wake (search, first);
  wake (search, last);
  wake (search, c);
  wake (search, d);
}

/* Or-opt: moves one to three cities from a on, in either direction, next to a near city. */
static gboolean
improve_or (Search *search, int a)
{
  for (int variant = 0; variant < 6; variant++)
    {
      int first = a, last = a;
      gboolean forward = variant < 3;
      int before, after;
      gint64 freed;

      for (int i = 0; i < variant % 3; i++)
        if (forward)
          last = next_of (search, last);
        else
          first = last_of (search, first);
      before = last_of (search, first);
      after = next_of (search, last);
      if (before == after || next_of (search, after) == before)
        continue;
      freed = cost (search, before, first) + cost (search, last, after)
              - cost (search, before, after);
      for (int k = 0; k < search->n_near; k++)
        {
          int c = search->near[a * search->n_near + k];
          int n = search->n;
          int inside = (search->place[c] - search->place[first] + n) % n;
          int other = forward ? last : first;

          if (cost (search, a, c) >= freed)
            break;
          if (inside <= variant % 3)
            continue;
          /* a next to c: the other end of the section goes to the city after or before c. */
          for (int side = 0; side < 2; side++)
            {
              int d = side == 0 ? next_of (search, c) : last_of (search, c);
              int left = side == 0 ? c : d;
              gboolean turned = (side == 0) != forward;

              if (left == last || left == before || d == first || d == last)
                continue;
              if (freed + cost (search, c, d) - cost (search, a, c) - cost (search, other, d) <= 0)
                continue;
              move_segment (search, first, last, left, turned);
              return TRUE;
            }
        }
    }
  return FALSE;
}

static void
descend (Search *search)
{
  gboolean found = TRUE;

  while (found)
    {
      found = FALSE;
      for (int a = 0; a < search->n; a++)
        {
          if (search->quiet[a])
            continue;
          search->quiet[a] = TRUE;
          while (improve_two (search, a) || improve_or (search, a))
            found = TRUE;
        }
    }
}

/* Pseudorandom numbers, the same on every machine. */
static guint
draw (guint32 *seed, guint below)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) % below;
}

/* Swaps two adjacent sections, which no single 2-opt or Or-opt move undoes. */
static void
kick (Search *search, guint32 *seed)
{
  int n = search->n;
  int span = MIN (KICK_SPAN, n - 2);
  int at = (int)draw (seed, (guint)n);
  int first = 1 + (int)draw (seed, (guint)span - 1);
  int second = 1 + (int)draw (seed, (guint)(span - first));
  int moved[KICK_SPAN];

  for (int i = 0; i < first + second; i++)
    moved[i] = search->tour[(at + 1 + (i + first) % (first + second)) % n];
  for (int i = 0; i < first + second; i++)
    put (search, (at + 1 + i) % n, moved[i]);
  wake (search, search->tour[at]);
  wake (search, moved[0]);
  wake (search, moved[second - 1]);
  wake (search, moved[second]);
  wake (search, moved[first + second - 1]);
  wake (search, search->tour[(at + first + second + 1) % n]);
}

static gint64
length_of (const Search *search)
{
  gint64 length = 0;

  for (int i = 0; i < search->n; i++)
    length += cost (search, search->tour[i], search->tour[i + 1 == search->n ? 0 : i + 1]);
  return length;
}

static void
list_near (Search *search)
{
  int n = search->n;

  search->n_near = MIN (NEAR_MAX, n - 1);
  search->near = g_new (guint8, n * search->n_near);
  for (int a = 0; a < n; a++)
    {
      guint8 *near = &search->near[a * search->n_near];
      int count = 0;

      for (int b = 0; b < n; b++)
        {
          int i = count;

          if (b == a
              || (count == search->n_near
                  && cost (search, a, b) >= cost (search, a, near[count - 1])))
            continue;
          if (count < search->n_near)
            count++;
          else
            i--;
          for (; i > 0 && cost (search, a, near[i - 1]) > cost (search, a, b); i--)
            near[i] = near[i - 1];
          near[i] = (guint8)b;
        }
    }
}

static void
walk_to_nearest (Search *search)
{
  int n = search->n;

  for (int i = 0; i < n; i++)
    put (search, i, i);
  for (int i = 1; i < n - 1; i++)
    {
      int nearest = i;
      int swap;

      for (int k = i + 1; k < n; k++)
        if (cost (search, search->tour[i - 1], search->tour[k])
            < cost (search, search->tour[i - 1], search->tour[nearest]))
          nearest = k;
      swap = search->tour[i];
      put (search, i, search->tour[nearest]);
      put (search, nearest, swap);
    }
}

static void
search_tour (Search *search)
{
  int n = search->n;
  gsize size = (gsize)n * sizeof (int);
  g_autofree int *best = g_new (int, n);
  gint64 best_length;
  guint32 seed = 1;

  descend (search);
  best_length = length_of (search);
  memcpy (best, search->tour, size);
  for (int i = 0; i < MAX (KICKS_MIN, KICKS_PER_CITY * n); i++)
    {
      gint64 length;

      kick (search, &seed);
      descend (search);
      length = length_of (search);
      if (length <= best_length)
        {
          best_length = length;
          memcpy (best, search->tour, size);
          continue;
        }
      for (int k = 0; k < n; k++)
        put (search, k, best[k]);
    }
}

gint64
start_length (int n, const gint32 *distance, const guint8 *tour)
{
  gint64 length = 0;

  for (int i = 0; i < n; i++)
    length += distance[tour[i] * n + tour[i + 1 == n ? 0 : i + 1]];
  return length;
}

void
start_canonical (int n, guint8 *tour)
{
  g_autofree guint8 *old = g_memdup2 (tour, (gsize)n);
  int at = 0;
  int step;

  while (old[at] != 0)
    at++;
  step = old[(at + 1) % n] <= old[(at + n - 1) % n] ? 1 : n - 1;
  for (int i = 0; i < n; i++, at = (at + step) % n)
    tour[i] = old[at];
}

gint64
start_tour (int n, const gint32 *distance, guint8 *tour)
{
  Search search = { .n = n, .distance = distance };

  search.tour = g_new0 (int, n);
  search.place = g_new0 (int, n);
  search.quiet = g_new0 (gboolean, n);
  walk_to_nearest (&search);
  if (n >= 5)
    {
      list_near (&search);
      search_tour (&search);
    }
  for (int i = 0; i < n; i++)
    tour[i] = (guint8)search.tour[i];
  start_canonical (n, tour);
  g_free (search.near);
  g_free (search.tour);
  g_free (search.place);
  g_free (search.quiet);
  return start_length (n, distance, tour);
}
