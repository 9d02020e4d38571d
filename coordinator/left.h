/* SPDX-License-Identifier: BSD-3-Clause */
/* How much work a run has left, from its saved rows. The share of the tree that is done is a bad
 * clock, since a subtree's weight follows the branching and not the work. So this estimates the
 * tree's work from its form, and corrects the estimate by its error for the subtrees that have
 * finished since (left.c says how). Pure: no clock, no file; a Left belongs to one thread at a
 * time. */
#pragma once

#include <glib.h>

typedef struct Left Left;

/* Seconds, of work or of time. As a rule the truth lies between low and high. Ranges of work are
 * never wider than LEFT_WIDEST to each side of `best`. */
typedef struct
{
  double best_s, low_s, high_s;
} LeftRange;

#define LEFT_WIDEST 6.0

/* (transfer full): an estimate without data. */
Left *left_new (void);
void left_free (Left *left);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Left, left_free)

/* Reads all saved rows once: left_begin, left_row for each, in the order of their paths as text,
 * left_end. Roots with weight 0 are finished, and ignored. `path`: canonical (value/path.h); rows
 * deeper than PATH_STEM_LEVELS count as work, but their place in the tree is not used. `work_s`:
 * seconds of work that the row stands for. If no work was added since the last look, nothing
 * changes. */
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
/* Returns the smoothed number of busy workers. `busy`: the number at `now_s`, of any monotonic
 * clock. */
double left_pace (LeftPace *pace, double busy, double now_s);
/* Seconds until the end, if `busy` workers do `work`, `age_s` seconds after the look that gave
 * `work`. FALSE: no worker is busy, or the work should be over by now; `time` is as it was. */
gboolean left_time (const LeftRange *work, double busy, double age_s, LeftRange *time);
