/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page of `satin view` shows of a checkpoint: its job tree, its ledger, and what crashes
 * cost. The file stays open, and is read again only if another file is at its place. Calls block.
 * Any threads may call _read, _ledger and _boxes at the same time; the others must not run beside
 * _read. */
#pragma once

#include <glib.h>

/* The newest events of a page, and the nodes with most work. */
#define VIEW_TREE_EVENTS_MAX 150
#define VIEW_TREE_NODES_MAX 60
/* The most publications in the history of a run that is over. */
#define VIEW_TREE_MOMENTS_MAX 240

typedef struct ViewTree ViewTree;

/* `target`: a path or URI from place_check. (transfer full) */
ViewTree *view_tree_new (const char *target);
void view_tree_free (ViewTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewTree, view_tree_free)

/* Reads what is at the place now. FALSE: it cannot be read (error as of restore_open); what was
 * read before stays. *is_new (out, optional): it differs from what was read before. */
gboolean view_tree_read (ViewTree *tree, gboolean *is_new, GError **error);
/* The name of the run. (transfer full) */
char *view_tree_name (ViewTree *tree);
/* Program and arguments, as members of a JSON object. (transfer full) */
char *view_tree_facts (ViewTree *tree);
/* The state of the run, as a sentence; *done (out): its share. (transfer full) */
char *view_tree_state (ViewTree *tree, double *done);
/* All but the boxes, as a JSON object: events, nodes, costs, progress. (transfer full) NULL: an
 * error, or nothing was read. */
char *view_tree_ledger (ViewTree *tree, GError **error);
/* The boxes at and below the job `path`, as a JSON object; "/" means the last root. `weight`: the
 * job's share of the whole tree; <= 0: not known. (transfer full) NULL: an error;
 * G_IO_ERROR_INVALID_ARGUMENT: `path` is none. */
char *view_tree_boxes (ViewTree *tree, const char *path, double weight, GError **error);
