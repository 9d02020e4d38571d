/* SPDX-License-Identifier: BSD-3-Clause */
/* See notes.h. */
#include "coordinator/notes.h"

#include "storage/events.h"

const char *
notes_node_text (const NodeId *id, char text[NODE_ID_TEXT_MAX])
{
  return node_id_is_none (id) ? "" : node_id_write (id, text);
}

gboolean
notes_event (Sql *sql, const TablesEvent *event, GError **error)
{
  TablesEvent row = *event;
  if (row.at == 0)
    row.at = g_get_real_time () / G_USEC_PER_SEC;
  return tables_put_event (sql, &row, EVENTS_KEEP, error);
}

/* The digests of the inputs stand in a row of their own too: should an input be lost from a damaged
 * file, the one that is read in its place can be told from another. */
static gboolean
write_inputs (Sql *sql, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT ifnull(group_concat(digest || ' ' || substr(name, 7), char(10)), '')"
                   " FROM (SELECT name, digest FROM constant WHERE name LIKE 'input/%' ORDER BY 1)",
                   error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  g_autofree char *inputs = sql_column_string (statement, 0);
  sqlite3_reset (statement);
  return tables_set (sql, "inputs", inputs, error);
}

static gboolean
write_values (Sql *sql, const Inbox *inbox, GError **error)
{
  GHashTableIter iter;
  gpointer key, data;
  g_hash_table_iter_init (&iter, inbox->settings);
  while (g_hash_table_iter_next (&iter, &key, &data))
    if (!tables_set (sql, key, data, error))
      return FALSE;
  g_hash_table_iter_init (&iter, inbox->constants);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      InboxValue *value = data;
      char hex[DIGEST_HEX_LENGTH + 1];
      gsize size;
      const void *bytes = g_bytes_get_data (value->value, &size);
      Digest digest = digest_of_data (bytes, size);
      digest_to_hex (&digest, hex);
      TablesValue row
          = { .name = value->name, .type = value->type, .digest = hex, .value = value->value };
      if (!tables_put_constant (sql, &row, error))
        return FALSE;
    }
  if (g_hash_table_size (inbox->constants) > 0 && !write_inputs (sql, error))
    return FALSE;
  g_hash_table_iter_init (&iter, inbox->bests);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      InboxValue *value = data;
      TablesValue row = { .name = value->name, .type = value->type, .value = value->value };
      if (!tables_put_best (sql, &row, error))
        return FALSE;
    }
  return TRUE;
}

/* What is new is a row of the ledger too. */
static gboolean
write_member (Sql *sql, const InboxMember *member, const TablesNode *node, GError **error)
{
  gboolean left = member->has_left;
  int before = sqlite3_total_changes (sql->db);
  if (!(left ? tables_end_node (sql, node->id, member->at, member->cause, error)
             : tables_put_node (sql, node, error)))
    return FALSE;
  return sqlite3_total_changes (sql->db) == before
         || notes_event (sql,
                         &(TablesEvent){ .at = member->at,
                                         .kind = left ? "left" : "joined",
                                         .node = node->id,
                                         .detail = left ? member->cause : member->host },
                         error);
}

gboolean
notes_write (Sql *sql, const Inbox *inbox, GError **error)
{
  if (!write_values (sql, inbox, error))
    return FALSE;
  for (GList *link = inbox->members.head; link != NULL; link = link->next)
    {
      const InboxMember *member = link->data;
      char id[NODE_ID_TEXT_MAX];
      TablesNode node = { .id = notes_node_text (&member->id, id),
                          .name = member->host,
                          .site = member->site,
                          .address = member->address,
                          .joined = member->at };
      if (!write_member (sql, member, &node, error))
        return FALSE;
    }
  for (GList *link = inbox->events.head; link != NULL; link = link->next)
    {
      const InboxEvent *event = link->data;
      char id[NODE_ID_TEXT_MAX];
      TablesEvent row
          = { .at = event->at,
              .kind = event->kind,
              .node = node_id_is_none (&event->node) ? NULL : notes_node_text (&event->node, id),
              .path = event->path,
              .work_s = (double)event->work_us / G_USEC_PER_SEC,
              .detail = event->detail };
      if (!notes_event (sql, &row, error))
        return FALSE;
    }
  return TRUE;
}
