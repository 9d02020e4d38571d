/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the small tables: values of the run, nodes, events. Pure but for wall time; inside
 * the caller's transaction, in the scribe's thread. */
#pragma once

#include "coordinator/inbox.h"

#include "storage/tables.h"

/* The text of an id in the file; empty for no node. */
const char *notes_node_text (const NodeId *id, char text[NODE_ID_TEXT_MAX]);
/* A row of the ledger; `at` 0: now. */
gboolean notes_event (Sql *sql, const TablesEvent *event, GError **error);
/* The event that is the last one of a life of the run. */
#define NOTES_ENDED "ended"
/* A new life of the run takes the file over: all nodes in it have left. */
gboolean notes_begin_life (Sql *sql, GError **error);
/* The values, members and events of `inbox`. A new member is an event too. */
gboolean notes_write (Sql *sql, const Inbox *inbox, GError **error);
