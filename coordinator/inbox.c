/* SPDX-License-Identifier: BSD-3-Clause */
/* The scribe's queue: a newer entry replaces an older one of the same name. Pure; the owner locks.
 * Knows nothing of files. */
#include "coordinator/inbox.h"

#include "path.h"

#include <string.h>

#define EVENTS_MAX 10000
#define MEMBERS_MAX 100000
#define PRUNE_ROWS_MIN 4096

static void
value_free (gpointer data)
{
  InboxValue *value = data;
  g_free (value->name);
  g_free (value->type);
  g_bytes_unref (value->value);
  g_free (value);
}

static void
member_free (gpointer data)
{
  InboxMember *member = data;
  g_free (member->host);
  g_free (member->site);
  g_free (member->address);
  g_free (member);
}

static void
event_free (gpointer data)
{
  InboxEvent *event = data;
  g_free (event->kind);
  g_free (event->path);
  g_free (event->detail);
  g_free (event);
}

static void
row_destroy (gpointer data)
{
  row_free (data);
}

Inbox *
inbox_new (void)
{
  Inbox *inbox = g_new0 (Inbox, 1);
  inbox->rows = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, row_destroy);
  inbox->keeps = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, row_destroy);
  inbox->constants = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, value_free);
  inbox->bests = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, value_free);
  inbox->shown = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  inbox->prune_at = PRUNE_ROWS_MIN;
  return inbox;
}

void
inbox_free (Inbox *inbox)
{
  if (inbox == NULL)
    return;
  g_hash_table_destroy (inbox->rows);
  g_hash_table_destroy (inbox->keeps);
  g_hash_table_destroy (inbox->constants);
  g_hash_table_destroy (inbox->bests);
  g_hash_table_destroy (inbox->shown);
  g_queue_clear_full (&inbox->members, member_free);
  g_queue_clear_full (&inbox->events, event_free);
  g_clear_pointer (&inbox->present, g_array_unref);
  g_clear_pointer (&inbox->answer, g_bytes_unref);
  g_free (inbox);
}

gboolean
inbox_is_empty (const Inbox *inbox)
{
  return g_hash_table_size (inbox->rows) == 0 && g_hash_table_size (inbox->keeps) == 0
         && g_hash_table_size (inbox->constants) == 0 && g_hash_table_size (inbox->bests) == 0
         && inbox->members.length == 0 && inbox->events.length == 0 && inbox->present == NULL
         && inbox->answer == NULL;
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  const Row *const *one = a, *const *other = b;
  return strcmp ((*one)->path, (*other)->path);
}

GPtrArray *
inbox_sorted_rows (const Inbox *inbox)
{
  GPtrArray *rows = g_ptr_array_sized_new (g_hash_table_size (inbox->rows));
  GHashTableIter iter;
  gpointer row;
  g_hash_table_iter_init (&iter, inbox->rows);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    g_ptr_array_add (rows, row);
  g_ptr_array_sort (rows, compare_paths);
  return rows;
}

static void
drop_row (Inbox *inbox, const Row *row)
{
  inbox->bytes -= g_bytes_get_size (row->value);
  g_hash_table_remove (inbox->rows, row->path);
}

/* The kept state whose phases contain `path`, as far as the text of `path` shows. (nullable) */
static Row *
keep_above (Inbox *inbox, const char *path)
{
  g_autofree char *above = g_strdup (path);
  char *slash;
  while (g_hash_table_size (inbox->keeps) > 0 && (slash = strrchr (above, '/')) != NULL)
    {
      guint64 number = g_ascii_strtoull (slash + 1, NULL, 10);
      *slash = '\0';
      Row *keep = g_hash_table_lookup (inbox->keeps, above);
      if (keep != NULL && keep->children > number)
        return keep;
    }
  return NULL;
}

/* While nothing can be written, rows that newer rows replace would pile up. This removes rows below
 * another row of the same stem, and rows of phases that were kept. Others are removed when they are
 * written. */
static void
prune (Inbox *inbox)
{
  g_autoptr (GPtrArray) rows = inbox_sorted_rows (inbox);
  Row *last = NULL;
  for (guint i = 0; i < rows->len; i++)
    {
      Row *row = g_ptr_array_index (rows, i);
      if (last != NULL && path_continues (row->path, last->path))
        {
          drop_row (inbox, row);
          continue;
        }
      last = row;
      Row *keep = keep_above (inbox, row->path);
      if (keep == NULL)
        continue;
      drop_row (inbox, row);
      last = NULL;
    }
  inbox->prune_at = MAX (PRUNE_ROWS_MIN, 2 * g_hash_table_size (inbox->rows));
}

static void
add_keep (Inbox *inbox, Row *row)
{
  Row *old = g_hash_table_lookup (inbox->keeps, row->path);
  gboolean is_same = old != NULL && digest_equal (&old->digest, &row->digest);
  if (is_same && old->children >= row->children)
    {
      old->work_us = MAX (old->work_us, row->work_us);
      row_free (row);
      return;
    }
  if (is_same)
    row->work_us = MAX (row->work_us, old->work_us);
  inbox->bytes += g_bytes_get_size (row->value);
  inbox->bytes -= old != NULL ? g_bytes_get_size (old->value) : 0;
  g_hash_table_replace (inbox->keeps, (gpointer)row->path, row);
}

void
inbox_add_row (Inbox *inbox, Row *row)
{
  if (row->children > 0)
    {
      add_keep (inbox, row);
      return;
    }
  Row *old = g_hash_table_lookup (inbox->rows, row->path);
  if (old != NULL && digest_equal (&old->digest, &row->digest))
    {
      row_free (row);
      return;
    }
  if (old != NULL)
    drop_row (inbox, old);
  inbox->bytes += g_bytes_get_size (row->value);
  g_hash_table_insert (inbox->rows, (gpointer)row->path, row);
  if (g_hash_table_size (inbox->rows) >= inbox->prune_at)
    prune (inbox);
}

void
inbox_add_value (GHashTable *values, const char *name, const char *type, GBytes *value)
{
  InboxValue *copy = g_new0 (InboxValue, 1);
  copy->name = g_strdup (name);
  copy->type = g_strdup (type);
  copy->value = g_bytes_ref (value);
  g_hash_table_replace (values, copy->name, copy);
}

void
inbox_add_member (Inbox *inbox, const InboxMember *member)
{
  InboxMember *copy = g_new0 (InboxMember, 1);
  *copy = *member;
  copy->host = g_strdup (member->host);
  copy->site = g_strdup (member->site);
  copy->address = g_strdup (member->address);
  g_queue_push_tail (&inbox->members, copy);
  if (inbox->members.length > MEMBERS_MAX)
    member_free (g_queue_pop_head (&inbox->members));
}

void
inbox_add_event (Inbox *inbox, const InboxEvent *event)
{
  InboxEvent *copy = g_new0 (InboxEvent, 1);
  *copy = *event;
  copy->kind = g_strdup (event->kind);
  copy->path = g_strdup (event->path);
  copy->detail = g_strdup (event->detail);
  g_queue_push_tail (&inbox->events, copy);
  if (inbox->events.length > EVENTS_MAX)
    event_free (g_queue_pop_head (&inbox->events));
}

void
inbox_answer (Inbox *inbox, GBytes *answer, int exit_code)
{
  if (inbox->answer != NULL)
    return;
  inbox->answer = g_bytes_ref (answer);
  inbox->exit_code = exit_code;
}

static void
put_back_rows (Inbox *inbox, Inbox *older)
{
  GHashTableIter iter;
  gpointer data;
  g_hash_table_iter_init (&iter, older->rows);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      Row *row = data, *newer = g_hash_table_lookup (inbox->rows, row->path);
      g_hash_table_iter_steal (&iter);
      if (newer != NULL && !digest_equal (&newer->digest, &row->digest))
        row_free (row);
      else
        {
          if (newer != NULL)
            drop_row (inbox, newer);
          inbox_add_row (inbox, row);
        }
    }
}

static void
put_back_keeps (Inbox *inbox, Inbox *older)
{
  GHashTableIter iter;
  gpointer data;
  g_hash_table_iter_init (&iter, older->keeps);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      Row *row = data, *newer = g_hash_table_lookup (inbox->keeps, row->path);
      g_hash_table_iter_steal (&iter);
      if (newer != NULL && !digest_equal (&newer->digest, &row->digest))
        row_free (row);
      else
        add_keep (inbox, row);
    }
}

static void
put_back_table (GHashTable *newer, GHashTable *older)
{
  GHashTableIter iter;
  gpointer key, value;
  g_hash_table_iter_init (&iter, older);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!g_hash_table_contains (newer, key))
      {
        g_hash_table_iter_steal (&iter);
        g_hash_table_insert (newer, key, value);
      }
}

static void
put_back_queue (GQueue *newer, GQueue *older)
{
  while (!g_queue_is_empty (older))
    g_queue_push_head (newer, g_queue_pop_tail (older));
}

void
inbox_put_back (Inbox *inbox, Inbox *older)
{
  inbox->ticket = MAX (inbox->ticket, older->ticket);
  put_back_rows (inbox, older);
  put_back_keeps (inbox, older);
  put_back_table (inbox->constants, older->constants);
  put_back_table (inbox->bests, older->bests);
  put_back_table (inbox->shown, older->shown);
  put_back_queue (&inbox->members, &older->members);
  put_back_queue (&inbox->events, &older->events);
  if (inbox->present == NULL)
    inbox->present = g_steal_pointer (&older->present);
  if (older->answer != NULL)
    {
      g_clear_pointer (&inbox->answer, g_bytes_unref);
      inbox->answer = g_steal_pointer (&older->answer);
      inbox->exit_code = older->exit_code;
    }
  inbox_free (older);
}
