/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and values that wait to be written to the checkpoint. The inbox holds one entry for each
 * path, key and name, however often they come, so the memory that a hanging disk costs grows with
 * the frontier and not with time. No lock of its own. */
#pragma once

#include "loan.h"

typedef struct
{
  char *name, *type;
  GBytes *value;
} InboxValue;

typedef struct
{
  NodeId id;
  char *host, *site, *address;
  gint64 at;
} InboxMember;

typedef struct
{
  char *kind, *path, *detail;
  NodeId node;
  guint64 work_us;
  gint64 at;
  gboolean told; /* the table may have it already */
} InboxEvent;

typedef struct
{
  GHashTable *rows;      /* path -> Row: results */
  GHashTable *keeps;     /* path -> Row: kept states */
  GHashTable *constants; /* name -> InboxValue */
  GHashTable *bests;     /* name -> InboxValue */
  GHashTable *shown;     /* name -> text: the best value of that name as people see it */
  GQueue members;        /* of InboxMember, oldest first */
  GQueue events;         /* of InboxEvent, oldest first */
  GArray *present;       /* (nullable) of NodeId: a life of the run ends with these nodes */
  GBytes *answer;        /* the first one */
  int exit_code;
  guint64 ticket; /* the last ticket, see scribe_ticket */
  gsize bytes;    /* of the values in rows and keeps */
  guint prune_at; /* number of rows at which rows below others are next removed */
} Inbox;

Inbox *inbox_new (void);
void inbox_free (Inbox *inbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Inbox, inbox_free)
gboolean inbox_is_empty (const Inbox *inbox);

/* (transfer full). Same path and digest: of results the first stays, of kept states the one that
 * stands for more children; other digest: the newer. */
void inbox_add_row (Inbox *inbox, Row *row);
void inbox_add_value (GHashTable *values, const char *name, const char *type, GBytes *value);
void inbox_add_member (Inbox *inbox, const InboxMember *member);
void inbox_add_event (Inbox *inbox, const InboxEvent *event);
void inbox_answer (Inbox *inbox, GBytes *answer, int exit_code);

/* (transfer full: older): merges an inbox that could not be written into this later one. */
void inbox_put_back (Inbox *inbox, Inbox *older);
/* (transfer container): the rows in the order of their paths. */
GPtrArray *inbox_sorted_rows (const Inbox *inbox);
