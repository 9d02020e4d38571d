/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the ledger until a publication has them, whichever node is coordinator. Each node keeps
 * the events that happened to it (its slots that came back) and those that it saw (members that
 * joined or left), and tells a new coordinator all of them. Otherwise a node tells the coordinator
 * only the events that happened to itself: the coordinator sees the others, too. The content of an
 * event identifies it, so a node may tell it any number of times, and the file has one row.
 * Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

#define EVENT_LEFT "left"
#define EVENT_UNMATCHED "unmatched"
/* The file has no more events; the oldest are removed first. */
#define EVENTS_MAX 10000

typedef enum
{
  EVENT_SEEN, /* the coordinator sees it too */
  EVENT_DUE,  /* the coordinator is to be told */
  EVENT_TOLD
} EventState;

typedef struct
{
  EventState state;
  guint64 number; /* among the events of this node, from 1 */
  guint64 at_us;
  Term term; /* term and version of the first roster that has the event */
  guint64 version;
  char *kind, *path, *detail;
  NodeId id;
  guint64 work_us;
} Event;

typedef struct
{
  GQueue kept;    /* of Event, by number */
  guint64 number; /* of the newest */
} Events;

void events_init (Node *node);
/* An event that happened here: `event` is a MESSAGE_EVENT, whose number, version and count are
 * ignored. */
void events_add (Node *node, const Message *event);
/* A saved result at this path fits no job: an event, of which the coordinator warns people once. */
void events_unmatched (Node *node, const char *path);
/* An event that all members see. */
void events_see (Node *node, const Message *event);
/* There is a new coordinator: it is told all kept events. */
void events_renew (Node *node);
void events_on_event (Node *node, const NodeId *from, const Message *message);
/* Tells the coordinator all events that it lacks. FALSE: it cannot be reached now; it will be told
 * when it can. */
gboolean events_tell (Node *node);
/* TRUE: a member has left this run, or is about to. Only then can there be events of which the
 * coordinator does not know. */
gboolean events_may_lack (const Node *node);
/* The told events up to this number are published. */
void events_published (Node *node, guint64 number);
/* … and those that the coordinator sees by itself, of all rosters up to this one. */
void events_seen_published (Node *node, const Term *term, guint64 version);
void events_check (Node *node);
