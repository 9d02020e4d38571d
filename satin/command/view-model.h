/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page of `satin view` shows of a live run, built from replies to `status`: progress and
 * its history, what each node does and did, what changed. Bounded: its JSON stays below
 * VIEW_MODEL_JSON_MAX, however long the run lasts and however many nodes come. Pure: the caller
 * tells the time. One thread. */
#pragma once

#include <glib.h>

/* The most nodes that have a lane. Further nodes are only counted. */
#define VIEW_MODEL_LANES_MAX 1200
/* The most moments of the history. When they are used up, every second one is removed. */
#define VIEW_MODEL_MOMENTS_MAX 240
#define VIEW_MODEL_EVENTS_MAX 60
/* A run of more nodes is asked less often than each second. */
#define VIEW_MODEL_NODES_A_SECOND 400
/* The most bytes of the JSON with which a page begins, if nodes' texts have a usual length. Of a
 * page's 300 KB the rest is for the tree, the ledger and the page itself (view-large.sh). */
#define VIEW_MODEL_JSON_MAX (120 * 1000)

typedef enum
{
  VIEW_STATE_STARTING, /* no node listens yet */
  VIEW_STATE_RUNNING,
  VIEW_STATE_SILENT, /* a node has replied before, and none does now */
  VIEW_STATE_OVER    /* see view_model_end */
} ViewState;

typedef struct ViewModel ViewModel;

/* `facts` (nullable): members of a JSON object that never change, separated by commas. (transfer
 * full) */
ViewModel *view_model_new (const char *name, const char *facts);
void view_model_free (ViewModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewModel, view_model_free)

/* Takes a reply to `status`. `now_us`: microseconds since 1970. FALSE: the reply is invalid, and
 * nothing changes. */
gboolean view_model_status (ViewModel *model, gint64 now_us, const char *reply);
/* No node replied. */
void view_model_silence (ViewModel *model, gint64 now_us);
/* The run is over. `sentence`: how it ended. `done`: the share done; -1: not known. */
void view_model_end (ViewModel *model, gint64 now_us, const char *sentence, double done);
ViewState view_model_state (const ViewModel *model);
/* The number of nodes in the last reply. */
guint view_model_nodes (const ViewModel *model);

/* The whole model as one JSON object. (transfer full) */
char *view_model_whole (const ViewModel *model);
/* What the last reply changed, as one JSON object. NULL: a tick cannot express the change; send the
 * whole. (transfer full) (nullable) */
char *view_model_tick (ViewModel *model);
