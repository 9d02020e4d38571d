/* SPDX-License-Identifier: BSD-3-Clause */
/* Decisions about edges, and their consequences. One thread. Knows nothing of lengths and
 * bounds. */
#include "config.h"

#include "choice.h"

void
choice_init (Choice *choice, int n)
{
  choice->n = n;
  choice->edge = g_new (guint8, n * n);
  choice->n_left = g_new (int, n);
  choice->n_in = g_new (int, n);
  choice->end = g_new (int, n);
  choice->queue = g_new (int, n);
  choice->queue_length = 0;
  choice->queued = g_new0 (gboolean, n);
}

void
choice_clear (Choice *choice)
{
  g_free (choice->edge);
  g_free (choice->n_left);
  g_free (choice->n_in);
  g_free (choice->end);
  g_free (choice->queue);
  g_free (choice->queued);
}

static void
set_edge (Choice *choice, int a, int b, guint8 state)
{
  choice->edge[a * choice->n + b] = state;
  choice->edge[b * choice->n + a] = state;
  choice->changed = TRUE;
}

static void
enqueue (Choice *choice, int city)
{
  if (choice->queued[city])
    return;
  choice->queued[city] = TRUE;
  choice->queue[choice->queue_length++] = city;
}

static gboolean
rule_out (Choice *choice, int a, int b)
{
  if (choice_edge (choice, a, b) != EDGE_FREE)
    return choice_edge (choice, a, b) == EDGE_OUT;
  set_edge (choice, a, b, EDGE_OUT);
  if (--choice->n_left[a] < 2 || --choice->n_left[b] < 2)
    return FALSE;
  enqueue (choice, a);
  enqueue (choice, b);
  return TRUE;
}

static gboolean
take (Choice *choice, int a, int b)
{
  int x = choice->end[a], y = choice->end[b];

  if (choice_edge (choice, a, b) != EDGE_FREE)
    return choice_edge (choice, a, b) == EDGE_IN;
  if (choice->n_in[a] == 2 || choice->n_in[b] == 2)
    return FALSE;
  /* A path may only be closed to the whole tour. */
  if (x == b && choice->in_total != choice->n - 1)
    return FALSE;
  set_edge (choice, a, b, EDGE_IN);
  choice->n_in[a]++;
  choice->n_in[b]++;
  choice->in_total++;
  enqueue (choice, a);
  enqueue (choice, b);
  if (x == b)
    return TRUE;
  choice->end[x] = y;
  choice->end[y] = x;
  return choice->in_total == choice->n - 1 || choice_edge (choice, x, y) == EDGE_IN
         || rule_out (choice, x, y);
}

/* If two edges of a city are in, all others go out; if only two are left, both are in. */
static gboolean
settle_city (Choice *choice, int city)
{
  for (int to = 0; to < choice->n; to++)
    {
      if (choice_edge (choice, city, to) != EDGE_FREE)
        continue;
      if (choice->n_in[city] == 2 ? !rule_out (choice, city, to)
                                  : choice->n_left[city] == 2 && !take (choice, city, to))
        return FALSE;
    }
  return TRUE;
}

static gboolean
settle (Choice *choice)
{
  gboolean possible = TRUE;

  while (choice->queue_length > 0)
    {
      int city = choice->queue[--choice->queue_length];

      choice->queued[city] = FALSE;
      possible = possible && settle_city (choice, city);
    }
  return possible;
}

gboolean
choice_make (Choice *choice, int a, int b, gboolean in)
{
  gboolean possible = in ? take (choice, a, b) : rule_out (choice, a, b);

  /* The queue is emptied in any case, for the next start. */
  return settle (choice) && possible;
}

gboolean
choice_start (Choice *choice, const gint32 *distance, gint32 missing)
{
  int n = choice->n;
  gboolean possible = TRUE;

  choice->in_total = 0;
  choice->changed = TRUE;
  for (int a = 0; a < n; a++)
    {
      choice->n_left[a] = 0;
      choice->n_in[a] = 0;
      choice->end[a] = a;
      for (int b = 0; b < n; b++)
        {
          gboolean out = a == b || distance[a * n + b] == missing;

          choice->edge[a * n + b] = out ? EDGE_OUT : EDGE_FREE;
          choice->n_left[a] += !out;
        }
      if (choice->n_left[a] < 2)
        possible = FALSE;
      else if (choice->n_left[a] == 2)
        enqueue (choice, a);
    }
  return settle (choice) && possible;
}
