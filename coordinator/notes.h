/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the run, who is here and what happened: the rows of the small tables. Pure but for the
 * wall's clock; inside the caller's transaction, in the scribe's thread. */
#pragma once

#include "coordinator/inbox.h"

#include "storage/tables.h"

/* An id as it stands in the file; nobody is the empty text. */
const char *notes_node_text (const NodeId *id, char text[NODE_ID_TEXT_MAX]);
/* A row of the ledger; `at` 0: now. */
gboolean notes_event (Sql *sql, const TablesEvent *event, GError **error);
/* The values, members and events of `inbox`. Who is new, and who has left, is an event too. */
gboolean notes_write (Sql *sql, const Inbox *inbox, GError **error);
