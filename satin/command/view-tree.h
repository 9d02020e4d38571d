/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page of `satin view` shows of a checkpoint: its job tree, its ledger, and what crashes
 * cost. The file is opened once and read again only when another one stands at its place. Blocks;
 * any thread, also several. */
#pragma once

#include <gio/gio.h>

/* The newest events that a page gets, and nodes with most work. */
#define VIEW_TREE_EVENTS_MAX 150
#define VIEW_TREE_NODES_MAX 60
/* Publications whose share done makes the history of a run that is over. */
#define VIEW_TREE_MOMENTS_MAX 240

typedef struct ViewTree ViewTree;

/* `target`: a path or URI as storage/places/place.h has checked it. */
ViewTree *view_tree_new (const char *target);
void view_tree_free (ViewTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewTree, view_tree_free)

/* Takes what stands at the place now. FALSE: it cannot be read (error as of restore_open); what was
 * read before stays. `is_new` (out, optional): it differs from what was read before. */
gboolean view_tree_read (ViewTree *tree, gboolean *is_new, GError **error);
/* The name of the run, of what was read. (transfer full) */
char *view_tree_name (ViewTree *tree);
/* Program and arguments, as members of a JSON object. (transfer full) */
char *view_tree_facts (ViewTree *tree);
/* How the run stands by the file, as a sentence; `done` (out): its share. (transfer full) */
char *view_tree_state (ViewTree *tree, double *done);
/* All but the boxes, as a JSON object: events, nodes, costs, progress. (transfer full)
 * (nullable): error. */
char *view_tree_ledger (ViewTree *tree, GError **error);
/* The boxes at and below the job `path`, "/" for the last root, as a JSON object; `weight`: its
 * share of the whole tree, <= 0: not known. NULL: error; G_IO_ERROR_INVALID_ARGUMENT: not a path of
 * a job. (transfer full) (nullable) */
char *view_tree_boxes (ViewTree *tree, const char *path, double weight, GError **error);
