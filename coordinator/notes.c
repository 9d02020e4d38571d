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

/* Writes lines of digest, blank and name. `get`: a literal query for them. */
static gboolean
write_digests (Sql *sql, const char *key, const char *get, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, get, error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  g_autofree char *lines = sql_column_string (statement, 0);
  sqlite3_reset (statement);
  return tables_set (sql, key, lines, error);
}

/* The digests of inputs and constants are also stored in rows of their own. They distinguish the
 * values of this run from those of another run of the same program and arguments. And if a damaged
 * file has lost an input, they show whether the one read again is the same. */
static gboolean
write_inputs (Sql *sql, GError **error)
{
  return write_digests (
             sql, "inputs",
             "SELECT ifnull(group_concat(digest || ' ' || substr(name, 7), char(10)), '')"
             " FROM (SELECT name, digest FROM constant WHERE name LIKE 'input/%' ORDER BY 1)",
             error)
         && write_digests (
             sql, "constants",
             "SELECT ifnull(group_concat(digest || ' ' || substr(name, 7), char(10)), '')"
             " FROM (SELECT name, digest FROM constant WHERE name LIKE 'const/%' ORDER BY 1)",
             error);
}

static gboolean
write_values (Sql *sql, const Inbox *inbox, GError **error)
{
  GHashTableIter iter;
  gpointer data;
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

/* Writes each best value once, though a new coordinator gets all of them again. */
static gboolean
note_shown (Sql *sql, const Inbox *inbox, GError **error)
{
  GHashTableIter iter;
  gpointer name, text;
  g_hash_table_iter_init (&iter, inbox->shown);
  while (g_hash_table_iter_next (&iter, &name, &text))
    {
      g_autofree char *detail = g_strdup_printf ("%s: %s", (char *)name, (char *)text);
      TablesEvent event = { .at = g_get_real_time () / G_USEC_PER_SEC,
                            .kind = "best",
                            .detail = detail };
      if (!tables_put_event_once (sql, &event, EVENTS_KEEP, error))
        return FALSE;
    }
  return TRUE;
}

/* Also records joins and leaves in the table `node`. A node that left without a join gets one. */
static gboolean
put_told (Sql *sql, const TablesEvent *event, GError **error)
{
  gboolean left = g_str_equal (event->kind, "left"), joined = g_str_equal (event->kind, "joined");
  TablesEvent join = *event;
  TablesNode node
      = { .id = event->node, .name = joined ? event->detail : NULL, .joined = event->at };
  join.kind = "joined";
  join.detail = node.name;
  if ((joined || left)
      && !(tables_meet_node (sql, &node, error)
           && tables_put_event_once (sql, &join, EVENTS_KEEP, error)))
    return FALSE;
  return joined
         || ((!left || tables_end_node (sql, event->node, event->at, event->detail, error))
             && tables_put_event_once (sql, event, EVENTS_KEEP, error));
}

static gboolean
write_member (Sql *sql, const InboxMember *member, GError **error)
{
  char id[NODE_ID_TEXT_MAX];
  TablesNode node = { .id = notes_node_text (&member->id, id),
                      .name = member->host,
                      .site = member->site,
                      .address = member->address,
                      .joined = member->at };
  TablesEvent event
      = { .at = member->at, .kind = "joined", .node = node.id, .detail = member->host };
  return tables_put_node (sql, &node, error)
         && tables_put_event_once (sql, &event, EVENTS_KEEP, error);
}

static gboolean
write_event (Sql *sql, const InboxEvent *event, GError **error)
{
  char id[NODE_ID_TEXT_MAX];
  TablesEvent row
      = { .at = event->at,
          .kind = event->kind,
          .node = node_id_is_none (&event->node) ? NULL : notes_node_text (&event->node, id),
          .path = event->path,
          .work_s = (double)event->work_us / G_USEC_PER_SEC,
          .detail = event->detail };
  return event->told && row.node != NULL ? put_told (sql, &row, error)
                                         : notes_event (sql, &row, error);
}

typedef struct
{
  const GArray *present; /* (nullable) of NodeId */
  GPtrArray *gone;       /* of ids as text */
} Others;

static gboolean
add_other (const TablesNode *node, gpointer data, GError **error)
{
  Others *others = data;
  char id[NODE_ID_TEXT_MAX];
  (void)error;
  if (node->left > 0 || node->joined == 0)
    return TRUE;
  for (guint i = 0; others->present != NULL && i < others->present->len; i++)
    if (g_str_equal (notes_node_text (&g_array_index (others->present, NodeId, i), id), node->id))
      return TRUE;
  g_ptr_array_add (others->gone, g_strdup (node->id));
  return TRUE;
}

/* All nodes but those `present` (of NodeId; NULL: none) have left: writes that into the rows of
 * `node` and as events, where the file lacks it. */
static gboolean
only_present (Sql *sql, const GArray *present, const char *cause, GError **error)
{
  g_autoptr (GPtrArray) gone = g_ptr_array_new_with_free_func (g_free);
  gboolean good = tables_each_node (sql, add_other, &(Others){ present, gone }, error);
  for (guint i = 0; good && i < gone->len; i++)
    good = put_told (sql,
                     &(TablesEvent){ .at = g_get_real_time () / G_USEC_PER_SEC,
                                     .kind = "left",
                                     .node = gone->pdata[i],
                                     .detail = cause },
                     error);
  return good;
}

/* TRUE: the last life of the run ended with an event. Otherwise it was lost. */
static gboolean
has_ended (Sql *sql, gboolean *ended, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT kind = '" NOTES_ENDED "' FROM event WHERE kind IN ('" NOTES_ENDED
                   "', 'joined', 'elected') ORDER BY id DESC LIMIT 1",
                   error);
  gboolean has_row;
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  *ended = has_row && sqlite3_column_int (statement, 0);
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
notes_begin_life (Sql *sql, GError **error)
{
  gboolean ended;
  return has_ended (sql, &ended, error)
         && only_present (sql, NULL, ended ? "ended" : "gone at a take-over", error);
}

static gboolean
write_end (Sql *sql, const Inbox *inbox, GError **error)
{
  TablesEvent ended = { .kind = NOTES_ENDED, .detail = inbox->answer != NULL ? "finished" : NULL };
  return only_present (sql, inbox->present, "gone", error) && notes_event (sql, &ended, error);
}

gboolean
notes_write (Sql *sql, const Inbox *inbox, GError **error)
{
  if (!write_values (sql, inbox, error) || !note_shown (sql, inbox, error))
    return FALSE;
  for (GList *link = inbox->members.head; link != NULL; link = link->next)
    if (!write_member (sql, link->data, error))
      return FALSE;
  for (GList *link = inbox->events.head; link != NULL; link = link->next)
    if (!write_event (sql, link->data, error))
      return FALSE;
  return inbox->present == NULL || write_end (sql, inbox, error);
}
