/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends rows to the coordinator; at the coordinator, also gives the scribe its orders. A new
 * coordinator asks for whole frontiers; no other memory of saves exists. Rows that went to an
 * earlier coordinator, and messages of an earlier one, do not count. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"
#include "../work/work.h"

/* No node waits longer than this because of the bytes that it sent. */
#define SAVES_ROW_REST_MAX_US (60 * G_USEC_PER_SEC)
#define SAVES_HURRY_US (200 * 1000)
/* After a scan that took time t the next one comes SAVES_REST * t later at the earliest, unless all
 * rows are wanted: so scans of deep stacks take at most 0.13 % of the time. */
#define SAVES_REST 800

/* Rows of a node at the scribe: when this order is published, so much of its work is; or its
 * events.
 */
typedef struct
{
  guint64 ticket;
  NodeId node;
  guint32 lease; /* for which it was sent */
  guint64 reported_us;
  guint64 event; /* or this one of its events; 0: of rows */
  Term term;     /* or all that the rosters up to this one tell; number 0: not that */
  guint64 version;
} SavesTicket;

/*  state    this node                                             may become
 *  NOT      is not coordinator                                    HERE
 *  HERE     is coordinator; the scribe takes over                 OPENED
 *  OPENED   publishes
 * Each may become NOT. */
typedef enum
{
  SAVES_NOT,
  SAVES_HERE,
  SAVES_OPENED
} SavesPhase;

typedef struct
{
  SavesPhase phase;
  gboolean tells_all; /* it began by offering all rows */
  guint64 rows;       /* rows that the engine has reported so far */
  guint64 scans;      /* orders to the engine so far */
  guint64 whole_scan; /* the last of them that was of all rows; CORE_NEVER: the next one is to be */
  guint64 tickets;    /* orders to the scribe so far */
  GQueue waiting;     /* of SavesTicket: rows that are not published yet */
  guint64 at_us;      /* of the next scan; CORE_NEVER: none */
  gboolean unmatched; /* people were warned that saved results fit no job */
  guint64 rest_us;    /* no scan before then: the last one took long, or its rows are large */
} Saves;

void saves_init (Node *node);
/* This node is coordinator now. `whole`: offer all rows. */
void saves_promoted (Node *node, gboolean whole);
/* … and not any more. */
void saves_retired (Node *node);
/* The scribe has taken over. */
void saves_opened (Node *node);
/* TRUE: the next scan is to be of all rows. */
gboolean saves_wants_whole (const Node *node);
/* TRUE: the coordinator takes rows, and is this node or can be reached. */
gboolean saves_reaches (Node *node);
/* There is a new coordinator: the whole frontier is sent again, soon. */
void saves_renew (Node *node);
/* `risk_us`: so much less is at risk in this node when they are published. */
void saves_on_rows (Node *node, GPtrArray *rows, guint64 risk_us);
/* The next scan is soon. */
void saves_hurry (Node *node);
/* Orders a scan from the engine; returns its number. */
guint64 saves_scan (Node *node);
/* … of all rows. */
guint64 saves_scan_whole (Node *node);
/* The engine has served scan number `scan`, and all before it, at this cost for each seat. */
void saves_on_served (Node *node, guint64 scan, guint64 cost_us);
void saves_on_published (Node *node, const NodeEvent *event);
/* This much of the work that this node reported is published. */
void saves_on_saved (Node *node, const NodeId *from, const Message *message);
/* Coordinator: the orders to the scribe so far contain the events of this node up to this one; and
 * the changes up to the present roster. */
void saves_note_event (Node *node, const NodeId *id, guint64 event);
void saves_note_roster (Node *node);
void saves_on_save (Node *node, const NodeId *from, const Message *message);
/* This member of a run with a checkpoint scans from now on at its interval. */
void saves_begin (Node *node);
/* Sends the finished results that wait for their lenders. */
void saves_flush (Node *node);
/* `seen` FALSE: the member joined before this node. */
void saves_joined (Node *node, const Member *member, gboolean seen);
void saves_departed (Node *node, const NodeId *id, const char *cause);
guint64 saves_due (Node *node);
void saves_tick (Node *node);
void saves_check (Node *node);
