/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of the work and the time that are left, from what left.c has found; the last two of
 * four steps.
 *
 * 3. The ideas. Where a tree is regular, the share that is done is the better clock, so its
 * estimate is a third one. Each of the three jumps when a large subtree ends. So each look since
 * half of the work was done counts, less the work that was done since; the last one counts once
 * more. An idea that the work done has overtaken is dropped: in a branch and bound search that is
 * the share, which soon says that nearly all is done.
 *
 * 4. The range. The best guess is the mean of the ideas, as factors; the one whose idea of the
 * whole work has changed least has most weight, and the share has little. How far the looks and
 * the ideas are apart makes the range, and some more where few subtrees have ended; where trees are
 * skewed the truth is near the greatest idea. A range that would be wider than LEFT_WIDEST is as
 * wide as that: people want to know "minutes or days" too.
 *
 * The figures below were chosen with the first 45 runs in tests/unit/left-runs.txt, and none of
 * them is sharp. Tests: test-left (it prints how often the range held the truth, and how wide it
 * was). */
#include "left-private.h"

#include <math.h>

/* Before so much work is saved, and so many looks have found more of it, nothing is said. */
#define WORK_MIN_S 1.0
#define LOOKS_MIN 2
/* As if so many subtrees of the usual size had been just as step 1 said. */
#define SUBTREES_PRIOR 3.0
/* The weight of the last look, in an idea. */
#define LAST_SHARE 0.3
/* An idea of the whole work is never trusted more than one that has changed so much; that of the
 * share that is done is trusted less. */
#define CHANGE_MIN 0.05
#define TRUST_SHARE 0.1
/* Step 1 does not know how far a job with many children will go: it is not believed that the tree
 * has more work left than so many times what the share says. */
#define SKEW_MAX 20.0
/* An idea that there is less left than this share of what is saved is overtaken. */
#define OVERTAKEN_SHARE 0.02
/* The outermost fifths of an idea's looks are left out; the others are at most so far from it. */
#define TAIL 0.2
#define LOOKS_WIDEST 8.0
/* The range is wider by this factor, twice as wide before a subtree has ended, and by this share of
 * how far the ideas are apart. */
#define MARGIN 1.8
#define MARGIN_FEW 1.0
#define APART_SHARE 0.3
/* It reaches up to the greatest idea times this, and down to the least one times that. */
#define GREATEST 1.1
#define LEAST 1.25
/* Seconds over which left_pace smooths. */
#define PACE_S 10.0

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  double one = *(const double *)a, other = *(const double *)b;

  return one < other ? -1 : one > other;
}

/* Of sorted numbers. */
static double
quantile (const GArray *numbers, double share)
{
  double place = share * (numbers->len - 1);
  guint low = (guint)place, high = MIN (low + 1, numbers->len - 1);
  double one = g_array_index (numbers, double, low), other = g_array_index (numbers, double, high);

  return one + (other - one) * (place - low);
}

/* One of the three ways to say how much is left. */
typedef struct
{
  double factor;     /* on what step 1 says */
  gboolean by_share; /* the share that is done says it */
} LeftWay;

static double
left_by (const LeftWay *way, const LeftLook *look)
{
  if (!way->by_share)
    return look->left_s * way->factor;
  return look->share > 0 ? look->saved_s * (1 - look->share) / look->share : 0;
}

/* The greatest difference between its ideas of the whole work, as a share of that. */
static double
change_of (const LeftPast *past, const LeftWay *way)
{
  double least_s = INFINITY, most_s = 0, sum_s = 0;

  if (past->looks->len < LEFT_PAST_MIN)
    return 1;
  for (guint i = 0; i < past->looks->len; i++)
    {
      double whole_s = left_look (past, i)->saved_s + left_by (way, left_look (past, i));

      least_s = MIN (least_s, whole_s);
      most_s = MAX (most_s, whole_s);
      sum_s += whole_s;
    }
  return sum_s > 0 ? (most_s - least_s) * past->looks->len / sum_s : 1;
}

/* What the looks say, less what was done since. (transfer full) sorted; their average. */
static GArray *
looks_by (const LeftPast *past, const LeftWay *way, double *average_s)
{
  GArray *said = g_array_new (FALSE, FALSE, sizeof (double));
  double now_s = left_look (past, past->looks->len - 1)->saved_s, sum_s = 0;

  for (guint i = 0; i < past->looks->len; i++)
    {
      double left_s = left_by (way, left_look (past, i)) - (now_s - left_look (past, i)->saved_s);

      g_array_append_val (said, left_s);
      sum_s += left_s;
    }
  g_array_sort (said, compare_numbers);
  *average_s = sum_s / said->len;
  return said;
}

/* What one way says in the end. */
typedef struct
{
  double log_s, weight;
  double spread; /* log of the factor to either side by which its looks differ */
} LeftIdea;

/* FALSE: it is overtaken. `most_s`: more is not believed. */
static gboolean
idea_by (const LeftPast *past, const LeftWay *way, double most_s, LeftIdea *idea)
{
  const LeftLook *last = left_look (past, past->looks->len - 1);
  double idea_s, low_s, high_s, last_s = left_by (way, last);
  g_autoptr (GArray) said = looks_by (past, way, &idea_s);

  if (idea_s > 0)
    idea_s = pow (idea_s, 1 - LAST_SHARE) * pow (last_s, LAST_SHARE);
  else if (!way->by_share)
    idea_s = last_s / 4;
  idea_s = MIN (idea_s, most_s);
  if (!(idea_s > OVERTAKEN_SHARE * last->saved_s))
    return FALSE;
  low_s = MAX (quantile (said, TAIL), idea_s / LOOKS_WIDEST);
  high_s = CLAMP (quantile (said, 1 - TAIL), low_s, MAX (low_s, idea_s * LOOKS_WIDEST));
  *idea = (LeftIdea){ .log_s = log (idea_s),
                      .weight
                      = (way->by_share ? TRUST_SHARE : 1) / (change_of (past, way) + CHANGE_MIN),
                      .spread = log (high_s / low_s) / 2 };
  return TRUE;
}

/* Step 2: the ways by both corrections, and by the share. */
static void
find_ways (const LeftPast *past, guint n_open, LeftWay *ways)
{
  double usual_s = past->n_ended > 0 ? past->ended_said_s / past->n_ended
                                     : past->open_said_s / MAX (n_open, 1);
  double prior_s = SUBTREES_PRIOR * usual_s, said_s = past->ended_said_s + prior_s;

  ways[0] = ways[1] = (LeftWay){ .factor = 1 };
  ways[2] = (LeftWay){ .by_share = TRUE };
  if (past->n_ended > 0)
    ways[0].factor = (past->ended_true_s + prior_s) / said_s;
  if (said_s + past->open_said_s > 0)
    ways[1].factor
        = (past->ended_true_s + past->open_true_s + prior_s) / (said_s + past->open_said_s);
}

/* Of `n` ideas, 1 or more: their mean, and how far to either side the truth may lie. */
static void
join (const LeftIdea *ideas, guint n, double margin, LeftRange *range)
{
  double mean = 0, weights = 0, spread = 0, apart = 0, half, low, high, widest = log (LEFT_WIDEST);

  for (guint i = 0; i < n; i++)
    {
      weights += ideas[i].weight;
      mean += ideas[i].weight * ideas[i].log_s;
      spread += ideas[i].weight * ideas[i].spread;
    }
  mean /= weights;
  for (guint i = 0; i < n; i++)
    apart += ideas[i].weight * (ideas[i].log_s - mean) * (ideas[i].log_s - mean);
  half = log (margin) + APART_SHARE * sqrt (apart / weights) + spread / weights;
  low = mean - half;
  high = mean + half;
  for (guint i = 0; i < n; i++)
    {
      low = MIN (low, ideas[i].log_s + log (LEAST));
      high = MAX (high, ideas[i].log_s + log (GREATEST));
    }
  *range
      = (LeftRange){ exp (mean), exp (MAX (low, mean - widest)), exp (MIN (high, mean + widest)) };
}

gboolean
left_range (const LeftPast *past, guint n_open, LeftRange *work)
{
  LeftWay ways[3];
  LeftIdea ideas[3];
  LeftRange range;
  guint n = 0;

  if (past->looks->len < LOOKS_MIN)
    return FALSE;
  const LeftLook *last = left_look (past, past->looks->len - 1);
  if (last->saved_s < WORK_MIN_S || last->share <= 0)
    return FALSE;
  find_ways (past, n_open, ways);
  double share_s = left_by (&ways[2], last);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    n += idea_by (past, &ways[i], SKEW_MAX * share_s, &ideas[n]);
  if (n == 0) /* all are overtaken: nearly nothing is left, or nobody knows */
    {
      double left_s = MAX (last->left_s * ways[1].factor, share_s);

      ideas[n++] = (LeftIdea){ .log_s = log (MAX (left_s, OVERTAKEN_SHARE / 4 * last->saved_s)),
                               .weight = 1,
                               .spread = 1 };
    }
  join (ideas, n, MARGIN * (1 + MARGIN_FEW / (past->n_ended + 1)), &range);
  if (!isfinite (range.high_s))
    return FALSE;
  *work = range;
  return TRUE;
}

double
left_pace (LeftPace *pace, double busy, double now_s)
{
  double passed_s = now_s - pace->at_s;

  if (pace->at_s == 0 || pace->busy <= 0)
    {
      pace->busy = busy;
      pace->since_s = now_s;
    }
  else if (passed_s > 0)
    pace->busy += (busy - pace->busy) * passed_s / (passed_s + MIN (PACE_S, now_s - pace->since_s));
  pace->at_s = now_s;
  return pace->busy;
}

gboolean
left_time (const LeftRange *work, double busy, double age_s, LeftRange *time)
{
  LeftRange range;

  if (!(busy > 0))
    return FALSE;
  range = (LeftRange){ .best_s = work->best_s / busy - age_s,
                       .low_s = work->low_s / busy - age_s,
                       .high_s = work->high_s / busy - age_s };
  if (!(range.best_s > 0))
    return FALSE;
  range.low_s = MAX (range.low_s, range.best_s / LEFT_WIDEST);
  *time = range;
  return TRUE;
}
