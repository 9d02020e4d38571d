/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a run: main is finished, or the whole run is suspended: each node halts. With a
 * checkpoint the end waits for the last round of saving (round.h). Driver's thread. */
#pragma once

#include "../members/link.h"
#include "../node.h"

#define STOP_DRAIN_US (20 * G_USEC_PER_SEC) /* patience when nobody says another */
#define STOP_ROWS_US (5 * G_USEC_PER_SEC) /* … at most, with rows for a coordinator that is new */

/* How far this node is with a suspend; it never goes back. */
typedef enum
{
  STOP_RUNS,
  STOP_HALTING, /* the node has heard of it: nothing new starts */
  STOP_HALTED   /* the engine has stopped */
} StopPhase;

typedef struct
{
  StopPhase phase;
  gboolean cancelled; /* … for ever */
  gboolean finished;  /* main returned `code`; of an ended run: main's return ended it */
  guint32 awaited;    /* the request for the last publication whose answer is awaited; 0: none */
  guint64 code;
  GBytes *answer;      /* (nullable) … with this answer */
  char *sentence;      /* (nullable) why the run ends, for people */
  guint64 patience_us; /* for nodes to drain … */
  guint64 until_us;    /* … until then */
} Stop;

void stop_init (Node *node);
/* Halts this node and tells the master, which halts all. patience_us 0: STOP_DRAIN_US. If it is
 * called again, the shorter patience holds. */
void stop_suspend (Node *node, guint64 patience_us);
void stop_cancel (Node *node);
/* A job ends every process that runs it: ends the run. */
void stop_condemn (Node *node, const char *sentence);
/* The same for the only member, which this job ends. If another node is linked to this one, this
 * node dies without ending the run: a joining node hears of the end and looks for others, and a
 * former member goes on. */
void stop_crash_report (Node *node, const char *sentence);
void stop_on_suspend (Node *node, const NodeId *from, const Message *message);
void stop_on_halted (Node *node);
/* TRUE: no new job starts here. */
gboolean stop_halts (Node *node);
/* TRUE: the end of the run has begun, in any way. */
gboolean stop_has_begun (Node *node);
void stop_finish (Node *node, guint64 code, GBytes *answer);
/* PUBLISHED; if it answers the last request of this node, which is master, the run ends. */
void stop_on_published (Node *node, const Message *message);
/* No node can write the checkpoint, because of `why`. A leaving node then leaves without ending the
 * run, if others stay. */
void stop_refused (Node *node, const char *why);
/* The sender of END has given up the run. With too few crash reports the run does not end here yet:
 * the sender takes itself for the last process, but others may live that it does not know. */
void stop_on_end (Node *node, guint64 code, gboolean finished);
/* There is a new master. */
void stop_renew (Node *node);
/* The coordinator that was asked for the last publication is gone: the next one is asked. */
void stop_ask_again (Node *node);
/* This node is no longer master. */
void stop_deposed (Node *node);
void stop_greet (Node *node, const NodeId *to);
/* A new master continues a suspend under way. FALSE: there is none. */
gboolean stop_promoted (Node *node);
/* Asks for the last publication, when a coordinator can make it. */
void stop_go_on (Node *node);
guint64 stop_due (Node *node);
