/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of left.c, from which left-range.c makes a range. As left.h: pure, one thread. */
#pragma once

#include "coordinator/left.h"

/* At least this many looks count, even old ones. */
#define LEFT_PAST_MIN 3

/* The findings of one look. */
typedef struct
{
  double saved_s, share, left_s; /* left_s: the estimate of step 1 */
} LeftLook;

typedef struct
{
  GArray *looks;                     /* of LeftLook: the last looks; owned by the Left */
  guint n_ended;                     /* finished subtrees that step 2 has compared, … */
  double ended_said_s, ended_true_s; /* … the sums of their estimates and of the truth, … */
  double open_said_s, open_true_s;   /* … and the same for unfinished jobs, as of the last look */
} LeftPast;

static inline const LeftLook *
left_look (const LeftPast *past, guint index)
{
  return &g_array_index (past->looks, LeftLook, index);
}

/* Makes the range (left.c lists the steps). `n_open`: unfinished jobs with an estimate that is not
 * checked yet. Result and `work` as of left_work. */
gboolean left_range (const LeftPast *past, guint n_open, LeftRange *work);
