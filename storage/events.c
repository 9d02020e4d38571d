/* SPDX-License-Identifier: BSD-3-Clause */
/* Two files of a run have a common past. Later events of both may have the same numbers. So events
 * are compared by their contents, and numbered anew in the order of time. Keeps all events of both
 * files in memory; their number is bounded. */
#include "storage/events.h"

#include "storage/tables.h"

#include <string.h>

typedef struct
{
  GPtrArray *all;   /* of TablesEvent, owned */
  GHashTable *seen; /* contents -> how often the first file has them */
  guint n_new;
} EventsUnion;

static void
event_free (gpointer data)
{
  TablesEvent *event = data;
  g_free ((char *)event->kind);
  g_free ((char *)event->node);
  g_free ((char *)event->path);
  g_free ((char *)event->detail);
  g_free (event);
}

/* TRUE: the event sums up older events that were removed. */
static gboolean
is_sum (const TablesEvent *event)
{
  return strcmp (event->kind, "older") == 0;
}

static void
add (EventsUnion *events, const TablesEvent *event)
{
  TablesEvent *copy = g_new (TablesEvent, 1);
  *copy = (TablesEvent){ .at = event->at,
                         .work_s = event->work_s,
                         .kind = g_strdup (event->kind),
                         .node = g_strdup (event->node),
                         .path = g_strdup (event->path),
                         .detail = g_strdup (event->detail) };
  g_ptr_array_add (events->all, copy);
}

/* An event that nodes reported to two coordinators is the same event, even if the clocks of the two
 * differ. */
static char *
key_of (const TablesEvent *event)
{
  char work[G_ASCII_DTOSTR_BUF_SIZE];
  gboolean told = g_str_equal (event->kind, "requeued") || g_str_equal (event->kind, "leave");
  g_ascii_dtostr (work, sizeof work, event->work_s);
  if (g_str_equal (event->kind, "joined") || g_str_equal (event->kind, "left"))
    return g_strdup_printf ("%s\n%s", event->kind, event->node);
  return g_strdup_printf ("%" G_GINT64_FORMAT "\n%s\n%s\n%s\n%s\n%s", told ? 0 : event->at,
                          event->kind, event->node != NULL ? event->node : "\t",
                          event->path != NULL ? event->path : "\t", work,
                          event->detail != NULL ? event->detail : "\t");
}

static gboolean
add_first (const TablesEvent *event, gpointer data, GError **error)
{
  EventsUnion *events = data;
  (void)error;
  if (is_sum (event))
    return TRUE;
  char *key = key_of (event);
  guint times = GPOINTER_TO_UINT (g_hash_table_lookup (events->seen, key));
  g_hash_table_replace (events->seen, key, GUINT_TO_POINTER (times + 1));
  add (events, event);
  return TRUE;
}

static gboolean
add_if_new (const TablesEvent *event, gpointer data, GError **error)
{
  EventsUnion *events = data;
  if (is_sum (event))
    return TRUE;
  g_autofree char *key = key_of (event);
  guint times = GPOINTER_TO_UINT (g_hash_table_lookup (events->seen, key));
  (void)error;
  if (times > 0)
    {
      g_hash_table_replace (events->seen, g_steal_pointer (&key), GUINT_TO_POINTER (times - 1));
      return TRUE;
    }
  add (events, event);
  events->n_new++;
  return TRUE;
}

static gint
compare_time (gconstpointer a, gconstpointer b)
{
  const TablesEvent *x = *(TablesEvent *const *)a, *y = *(TablesEvent *const *)b;
  return (x->at > y->at) - (x->at < y->at);
}

static gboolean
write_all (Sql *to, EventsUnion *events, GError **error)
{
  if (!sql_run (to, "DELETE FROM event WHERE id > 0", error))
    return FALSE;
  g_ptr_array_sort (events->all, compare_time); /* a stable sort */
  for (guint i = 0; i < events->all->len; i++)
    if (!tables_put_event (to, events->all->pdata[i], EVENTS_KEEP, error))
      return FALSE;
  return TRUE;
}

/* Two sums cannot be united, since it is not known what they have in common. So the first stays. */
static gboolean
copy_sum (Sql *to, Sql *from, sqlite3_stmt *get, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *put = sql_ready (to,
                                 "INSERT OR IGNORE INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                                 "row_sum ('event', ?1, ?2, ?3, ?4, ?5, ?6, ?7))",
                                 error);
  if (put == NULL || !sql_next (from, get, &has_row, error))
    return FALSE;
  if (!has_row)
    return TRUE;
  for (int i = 0; i < sqlite3_column_count (get); i++)
    sqlite3_bind_value (put, i + 1, sqlite3_column_value (get, i));
  sqlite3_reset (get);
  return sql_finish (to, put, error);
}

gboolean
events_unite (Sql *to, Sql *from, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (event_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  EventsUnion events = { .all = all, .seen = seen };
  sqlite3_stmt *get = sql_ready (from,
                                 "SELECT id, at, kind, node, path, work_s, detail FROM event"
                                 " WHERE id = 0 AND row_holds (sum, 'event', id, at, kind, node,"
                                 " path, work_s, detail)",
                                 error);
  return get != NULL && copy_sum (to, from, get, error)
         && tables_each_event (to, add_first, &events, error)
         && tables_each_event (from, add_if_new, &events, error)
         && (events.n_new == 0 || write_all (to, &events, error));
}
