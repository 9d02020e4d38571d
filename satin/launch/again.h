/* SPDX-License-Identifier: BSD-3-Clause */
/* At sites with `again = yes` a node that has ended is replaced: decides which places of a run get
 * a new node, and when. Pure: the caller tells the time and how nodes ended, and starts the nodes.
 * One thread. */
#pragma once

#include <glib.h>

/* The pause before the next node doubles with each node of the place that failed in a row, up to
 * AGAIN_PAUSE_MAX_US. A node that was a member for AGAIN_LASTS_US has not failed. */
#define AGAIN_PAUSE_US ((gint64)G_USEC_PER_SEC)
#define AGAIN_PAUSE_MAX_US (10 * 60 * (gint64)G_USEC_PER_SEC)
#define AGAIN_LASTS_US (60 * (gint64)G_USEC_PER_SEC)
/* A run without a living member for so long is given up. A node that finds no member, and founds
 * the run anew, takes less. */
#define AGAIN_DESERTED_US (60 * (gint64)G_USEC_PER_SEC)

/* Why a node ended before its run. */
typedef enum
{
  AGAIN_STOPPED, /* the run was suspended or cancelled */
  AGAIN_LEFT,    /* `satin leave` asked the node to go */
  AGAIN_REFUSED, /* the run refused it */
  AGAIN_TOLD,    /* it got a SIGTERM: its time is over, it was preempted, or its host goes down */
  AGAIN_LOST,    /* it was killed or crashed, or the connection or batch job is gone */
  AGAIN_NEVER    /* it never became a member, or could not be started */
} AgainEnd;

typedef struct Again Again;

/* `status`: from waitpid. `parted` (nullable): the member `parted` of the node's last figures, a
 * FOLDER_PARTED_... of folder/folder.h. */
AgainEnd again_end (int status, gboolean was_member, const char *parted);
/* TRUE: a node that ended for this reason is replaced. */
gboolean again_replaces (AgainEnd end);
/* The pause after so many failures in a row. */
gint64 again_pause_us (guint failures);

/* A new Again (transfer full) for `n_places` places, none of which has a node. */
Again *again_new (guint n_places);
void again_free (Again *again);
/* A node was started at the place. */
void again_started (Again *again, guint place);
/* The node of the place is a member. May be called more than once. */
void again_joined (Again *again, guint place, gint64 now_us);
/* The node of the place has ended. Returns the pause in microseconds until the next one is due; -1:
 * it is not replaced. *failures (out): how many nodes of the place failed in a row. */
gint64 again_gone (Again *again, guint place, AgainEnd end, gint64 now_us, guint *failures);
/* TRUE: a node is due at some place. The caller then finds out whether the run still goes on, and
 * calls again_take or again_put_off. */
gboolean again_look (Again *again, gint64 now_us);
/* The run goes on: returns the next place at which again_look found a node due; -1: no more. */
int again_take (Again *again);
/* It is not known whether the run goes on: these places are due again after AGAIN_PAUSE_US. */
void again_put_off (Again *again, gint64 now_us);
/* TRUE: some place has no node, and will get one. */
gboolean again_waits (const Again *again);
/* To be called repeatedly. `members_live`: some member of the run lives. TRUE: none has lived for
 * AGAIN_DESERTED_US, so new nodes could join nobody. */
gboolean again_deserted (Again *again, gboolean members_live, gint64 now_us);
