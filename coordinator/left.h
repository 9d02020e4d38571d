/* SPDX-License-Identifier: BSD-3-Clause */
/* How much work a run has left, from its saved rows. The share of the tree that is done is a bad
 * clock, since a subtree's weight follows the branching and not the work. So this estimates the
 * tree's work from its form, and corrects the estimate by its error for the subtrees that have
 * finished since (left.c says how). Pure: no clock, no file; a Left belongs to one thread at a
 * time. */
#pragma once

#include <glib.h>

typedef struct Left Left;

/* Seconds: of work, or of time. Between low and high the truth lies as a rule. Ranges of work are
 * never wider than LEFT_WIDEST to each side of `best`. */
typedef struct
{
  double best_s, low_s, high_s;
} LeftRange;

#define LEFT_WIDEST 6.0

/* (transfer full): nothing is known yet. */
Left *left_new (void);
void left_free (Left *left);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Left, left_free)

/* One look at all saved rows: left_begin, left_row for each, in the order of their paths as text,
 * left_end. Roots that weigh nothing are finished ones, and not looked at. `path`: canonical
 * (value/path.h); rows deeper than PATH_STEM_LEVELS count as work, but
 * their place in the tree is not used. `work_s`: seconds of work that the row stands for. A look
 * in which no work was added changes nothing. */
void left_begin (Left *left);
void left_row (Left *left, const char *path, double weight, double work_s);
void left_end (Left *left);

/* Seconds of work that are left, as of the last look. FALSE: too little is known; `work` is as it
 * was. */
gboolean left_work (const Left *left, LeftRange *work);

/* The number of busy workers, smoothed over some seconds, and over less just after the first one
 * has become busy; zeroed at first. */
typedef struct
{
  double busy, at_s, since_s;
} LeftPace;
/* `busy` workers are so at `now_s`, of any clock that only grows. The smoothed number. */
double left_pace (LeftPace *pace, double busy, double now_s);
/* Seconds until the end, when `busy` workers do `work`, `age_s` seconds after the look that it is
 * from. FALSE: nobody works, or it should be over by now; `time` is as it was. */
gboolean left_time (const LeftRange *work, double busy, double age_s, LeftRange *time);
