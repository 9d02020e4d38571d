/* SPDX-License-Identifier: BSD-3-Clause */
/* The work and the time that are left, from the findings of left.c: the last two of four steps.
 *
 * 3. The estimates. In a regular tree the finished share is the better clock, so it gives a third
 * estimate besides the two corrected ones. Each of the three jumps when a large subtree ends. So
 * every look counts since half of the work was done, less the work done since that look; the last
 * look has extra weight. An estimate that the work has overtaken is dropped: in a branch and bound
 * search this is the estimate by the share, which soon finds nearly everything done.
 *
 * 4. The range. The best guess is the weighted geometric mean of the estimates. The estimate whose
 * total has changed least has the greatest weight; the one by the share has a small weight. The
 * range covers the spread of the looks and of the estimates, and more if few subtrees have ended.
 * In skewed trees the truth is near the greatest estimate. The range is cut at LEFT_WIDEST, since
 * even then people learn whether it takes minutes or days.
 *
 * The constants below were chosen with the first 45 runs in tests/unit/left-runs.txt; none of them
 * is critical. Tests: test-left (it prints how often the range contained the truth, and how wide it
 * was). */
#include "left-private.h"

#include <math.h>

/* No estimate before so much work is saved, in seconds, and so many looks have found more of it. */
#define WORK_MIN_S 1.0
#define LOOKS_MIN 2
/* Counts as so many subtrees of the usual size for which step 1 was right. */
#define SUBTREES_PRIOR 3.0
/* The weight of the last look in an estimate. */
#define LAST_SHARE 0.3
/* An estimate is never trusted more than one whose total has changed by CHANGE_MIN. The one by the
 * share is trusted less. */
#define CHANGE_MIN 0.05
#define TRUST_SHARE 0.1
/* Step 1 cannot know how far a job with many children will go. So at most so many times the work
 * that the share gives is believed to be left. */
#define SKEW_MAX 20.0
/* An estimate of less than this share of the saved work counts as overtaken. */
#define OVERTAKEN_SHARE 0.02
/* The outermost fifths of an estimate's looks are ignored; the factor of the others is limited. */
#define TAIL 0.2
#define LOOKS_WIDEST 8.0
/* The range grows by this factor, by twice as much before a subtree has ended, and by this share of
 * the distance between the estimates. */
#define MARGIN 1.8
#define MARGIN_FEW 1.0
#define APART_SHARE 0.3
/* The range contains the greatest estimate times GREATEST and the least times LEAST. */
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

/* The quantile of sorted numbers. */
static double
quantile (const GArray *numbers, double share)
{
  double place = share * (numbers->len - 1);
  guint low = (guint)place, high = MIN (low + 1, numbers->len - 1);
  double one = g_array_index (numbers, double, low), other = g_array_index (numbers, double, high);

  return one + (other - one) * (place - low);
}

/* One of the three kinds of estimate. */
typedef struct
{
  double factor;     /* applied to the estimate of step 1 */
  gboolean by_share; /* uses the finished share instead */
} LeftWay;

static double
left_by (const LeftWay *way, const LeftLook *look)
{
  if (!way->by_share)
    return look->left_s * way->factor;
  return look->share > 0 ? look->saved_s * (1 - look->share) / look->share : 0;
}

/* The greatest difference between its estimates of the whole work, as a share of that work. */
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

/* The estimates of all looks, less the work done since each. (transfer full) sorted; their average
 * in *average_s (out). */
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

/* The result of one kind of estimate. */
typedef struct
{
  double log_s, weight;
  double spread; /* log of the factor by which its looks differ to either side */
} LeftIdea;

/* FALSE: it is overtaken. `most_s`: upper limit of an estimate. */
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

/* Step 2: the two corrections of step 1, and the share. */
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

/* The mean of `n` estimates, 1 or more, and the range of the truth around it. */
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
  if (n == 0) /* all are overtaken: hardly any work is left, or it cannot be known */
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
