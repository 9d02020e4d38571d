/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a run: main is finished, or the whole run is suspended (each node halts, saves and
 * says so). With a checkpoint the end waits for the last publication. Driver's thread. */
#pragma once

#include "../members/link.h"
#include "../node.h"

#define STOP_DRAIN_US (20 * G_USEC_PER_SEC) /* patience when nobody says another */
#define STOP_ROWS_US (5 * G_USEC_PER_SEC) /* … at most, with rows for a coordinator that is new */

typedef struct
{
  gboolean wanted;    /* somebody asked for a suspend */
  gboolean cancelled; /* … or for the end */
  gboolean halting;   /* nothing new starts */
  gboolean halted;    /* the engine has stopped */
  gboolean finished;  /* main returned `code`; of an ended run: and that is its end */
  gboolean final;     /* the last publication was asked for */
  guint32 request;    /* counts the times that it was */
  guint64 code;
  GBytes *answer;      /* (nullable) … and this is to be kept */
  char *sentence;      /* (nullable) why it ends, for people */
  guint64 owed_scan;   /* to be served before this node counts as drained; 0: none */
  guint64 patience_us; /* with those that drain … */
  guint64 until_us;    /* … ends then */
} Stop;

void stop_done (Node *node);
/* patience_us 0: STOP_DRAIN_US. Asked again, the shorter patience holds. */
void stop_suspend (Node *node, guint64 patience_us);
void stop_cancel (Node *node);
/* A job ends every process that runs it. */
void stop_condemn (Node *node, const char *sentence);
/* The same for the only member, which this job ends. If somebody else is linked to it, it dies
 * without ending the run: who joins hears of the end, and looks for others; who was a member before
 * goes on. */
void stop_crash_report (Node *node, const char *sentence);
void stop_on_halt (Node *node);
void stop_on_halted (Node *node);
void stop_on_drained (Node *node, const Message *message);
/* The engine has served scan number `scan`. */
void stop_on_served (Node *node, guint64 scan);
/* Nothing new starts here. */
gboolean stop_halts (Node *node);
/* The run as a whole is to end, however. */
gboolean stop_has_begun (Node *node);
void stop_finish (Node *node, guint64 code, GBytes *answer);
/* The coordinator has published for the last time. */
void stop_on_closed (Node *node, const Message *message);
/* Nobody can write the checkpoint, and `why`. Who leaves goes without ending the run, if others are
 * left. */
void stop_refused (Node *node, const char *why);
/* A run that is given up for fewer crash reports than that takes does not end yet: its sender takes
 * itself for the last process, and others may live of which it has not heard. */
void stop_on_end (Node *node, guint64 code, gboolean finished);
/* The master is new. */
void stop_renew (Node *node);
/* Another coordinator; it has opened the checkpoint, and all send it what they have; it takes
 * orders. */
void stop_coordinator_is_new (Node *node);
void stop_coordinator_has_opened (Node *node);
void stop_coordinator_is_ready (Node *node);
/* No holder is left and nobody else can write. */
void stop_nobody_writes (Node *node);
/* This node is not master any more. */
void stop_deposed (Node *node);
void stop_greet (Node *node, const NodeId *to);
/* A new master in the middle of a suspend goes on with it. FALSE: there is none. */
gboolean stop_promoted (Node *node);
/* Is everything there for the last publication? */
void stop_go_on (Node *node);
guint64 stop_due (Node *node);
