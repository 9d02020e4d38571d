/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads instances. Knows nothing of their use. */
#include "config.h"

#include "qaplib.h"

#include <string.h>

#define COST_MAX (G_MAXINT64 / 8)

/* The next word outside of comments, which are lines that begin with # or %. */
static gboolean
next_number (Words *words, gint64 min, gint64 max, const char *what, gint64 *number, GError **error)
{
  while (words_next (words) && words->first && strchr ("#%", words->word[0]) != NULL)
    words_skip_line (words);
  return words_as_number (words, what, min, max, number, error);
}

/* FALSE: a cost might be too large for a number. */
static gboolean
costs_fit (const Qap *qap)
{
  int square = qap->n * qap->n;
  gint64 flow = 1, distance = 1;

  for (int i = 0; i < square; i++)
    {
      flow = MAX (flow, ABS ((gint64)qap->flow[i]));
      distance = MAX (distance, ABS ((gint64)qap->distance[i]));
    }
  return flow <= COST_MAX / square / distance;
}

gboolean
qaplib_read (Words *words, int *size, gint32 *flow, gint32 *distance, GError **error)
{
  gint32 *matrix[] = { flow, distance };
  gint64 n = 0, value = 0;
  gboolean alone;

  if (!next_number (words, 1, QAP_MAX, "the number of facilities", &n, error))
    return FALSE;
  alone = words_left_in_line (words) == 1;
  if (alone && n > 1 && !next_number (words, 0, G_MAXINT64, "the best cost known", &value, error))
    return FALSE;
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < n * n; i++)
      {
        g_autofree char *what = g_strdup_printf ("element %d of row %d of matrix %d",
                                                 (int)(i % n + 1), (int)(i / n + 1), which + 1);

        if (!next_number (words, -G_MAXINT32, G_MAXINT32, what, &value, error))
          return FALSE;
        matrix[which][i] = (gint32)value;
      }
  while (words_next (words))
    {
      if (!words->first || strchr ("#%", words->word[0]) == NULL)
        return words_refuse (words, error, "'%s' stands behind the two matrices of %d x %d",
                             words->word, (int)n, (int)n);
      words_skip_line (words);
    }
  if (!costs_fit (&(Qap){ (int)n, flow, distance }))
    return words_refuse (words, error, "the numbers are too large together");
  *size = (int)n;
  return TRUE;
}
