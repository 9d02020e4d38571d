/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of a run's places get a node anew when theirs has ended, and when: those of sites with
 * `again = yes`. Pure: it is told the time and what became of a node, and starts nothing. One
 * thread. */
#pragma once

#include <glib.h>

/* The pause before a node is started doubles with each one of its place that failed in a row, up to
 * AGAIN_PAUSE_MAX_US. A node that was a member for AGAIN_LASTS_US has not failed. */
#define AGAIN_PAUSE_US ((gint64)G_USEC_PER_SEC)
#define AGAIN_PAUSE_MAX_US (10 * 60 * (gint64)G_USEC_PER_SEC)
#define AGAIN_LASTS_US (60 * (gint64)G_USEC_PER_SEC)
/* Longer than a node takes that finds nobody to join and founds the run anew. */
#define AGAIN_DESERTED_US (60 * (gint64)G_USEC_PER_SEC)

/* How a node ended before its run. */
typedef enum
{
  AGAIN_STOPPED, /* with the run, which is suspended or cancelled */
  AGAIN_LEFT,    /* `satin leave` has asked it to */
  AGAIN_REFUSED, /* the run does not want it */
  AGAIN_TOLD,    /* SIGTERM: its time is over, it was preempted, or its host goes down */
  AGAIN_LOST,    /* killed or crashed, or the connection or the batch job is gone */
  AGAIN_NEVER    /* it has never been a member */
} AgainEnd;

typedef struct Again Again;

/* `status` as waitpid tells it. `parted` (nullable): what the node's last figures say of it, the
 * FOLDER_PARTED_… of folder/folder.h. */
AgainEnd again_end (int status, gboolean was_member, const char *parted);
/* TRUE: a node that ended so is replaced. */
gboolean again_replaces (AgainEnd end);
/* After so many failures in a row. */
gint64 again_pause_us (guint failures);

/* Of that many places, none of which has a node. */
Again *again_new (guint n_places);
void again_free (Again *again);
/* The place has a node, which has begun to start. */
void again_started (Again *again, guint place);
/* Its node is a member; said once or more often. */
void again_joined (Again *again, guint place, gint64 now_us);
/* Its node has ended so. Returns the pause after which another one is due, in microseconds; -1: it
 * stays away. *failures (out): how many of its nodes have failed in a row. */
gint64 again_gone (Again *again, guint place, AgainEnd end, gint64 now_us, guint *failures);
/* TRUE: some place is due, and the caller is to find out whether the run goes on. */
gboolean again_look (Again *again, gint64 now_us);
/* The run goes on: the next of the places that were due when again_look was called. -1: no more. */
int again_take (Again *again);
/* It is not known whether the run goes on: they are due again after AGAIN_PAUSE_US. */
void again_put_off (Again *again, gint64 now_us);
/* TRUE: some place is without a node, and another one is due some time. */
gboolean again_waits (const Again *again);
/* Called now and then; `members_live`: some member of the run is alive. TRUE: none has been for
 * AGAIN_DESERTED_US, so nobody can join the run any more. */
gboolean again_deserted (Again *again, gboolean members_live, gint64 now_us);
