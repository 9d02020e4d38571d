/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page of `satin view` shows of a live run, put together from the replies to `status`: how
 * far it is and was, what each node does and did, what changed. Bounded: however long it goes on
 * and however many nodes come, its JSON stays under VIEW_MODEL_JSON_MAX. Pure: is told the time.
 * One thread. */
#pragma once

#include <glib.h>

/* Nodes that have a lane; a site's other nodes are only counted. */
#define VIEW_MODEL_LANES_MAX 1200
/* Moments of the history; when they are used up every second one goes. */
#define VIEW_MODEL_MOMENTS_MAX 240
#define VIEW_MODEL_EVENTS_MAX 60
/* So many nodes are worth a second of asking: the view asks a run of more nodes less often. */
#define VIEW_MODEL_NODES_A_SECOND 400
/* Bytes of the JSON that a page begins with, when texts of nodes are of a usual length: of a page's
 * 300 KB the rest is for the tree, the ledger and the page itself (view-large.sh). */
#define VIEW_MODEL_JSON_MAX (120 * 1000)

typedef enum
{
  VIEW_STATE_STARTING, /* no node listens yet */
  VIEW_STATE_RUNNING,
  VIEW_STATE_SILENT, /* it has answered before, and does not now */
  VIEW_STATE_OVER    /* see view_model_end */
} ViewState;

typedef struct ViewModel ViewModel;

/* `facts` (nullable): members of a JSON object that never change, with a comma between them. */
ViewModel *view_model_new (const char *name, const char *facts);
void view_model_free (ViewModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewModel, view_model_free)

/* A reply to `status` at `now_us` since 1970. FALSE: it is none, and nothing changes. */
gboolean view_model_status (ViewModel *model, gint64 now_us, const char *reply);
/* No reply came. */
void view_model_silence (ViewModel *model, gint64 now_us);
/* The run is over, and this is how: a sentence, with the share done if that is known (else -1). */
void view_model_end (ViewModel *model, gint64 now_us, const char *sentence, double done);
ViewState view_model_state (const ViewModel *model);
/* Nodes that the last reply named. */
guint view_model_nodes (const ViewModel *model);

/* All of it, as one JSON object. (transfer full) */
char *view_model_whole (const ViewModel *model);
/* What the last reply changed, as one JSON object. NULL: more than a tick can say: send the whole.
 * (transfer full) (nullable) */
char *view_model_tick (ViewModel *model);
