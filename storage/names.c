/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for names. The last name is remembered, because results come in long series of one node
 * and one job. Knows nothing of nodes and jobs. Tests: test-layout. */
#include "storage/names.h"

#include "storage/tables.h"

#include <string.h>

/* Three bytes in each row. Two jobs of a program rarely get the same number; then the second gets
 * the next one. */
#define JOB_NUMBER_MASK 0xffffff

/* Nodes come and go throughout a run, but only present nodes send results. */
#define NODES_KEPT_MAX 64

typedef struct
{
  gint64 number;
  char *name, *type; /* `type`: only of jobs */
} NamesEntry;

typedef struct
{
  GHashTable *by_number; /* NamesEntry, which is its own key */
  GHashTable *by_name;   /* the same entries, borrowed */
  const NamesEntry *last;
} NamesTable;

struct Names
{
  Sql *sql;
  NamesTable nodes, jobs;
};

static guint
hash_number (gconstpointer data)
{
  return g_int64_hash (&((const NamesEntry *)data)->number);
}

static gboolean
has_equal_number (gconstpointer a, gconstpointer b)
{
  return ((const NamesEntry *)a)->number == ((const NamesEntry *)b)->number;
}

static guint
hash_name (gconstpointer data)
{
  return g_str_hash (((const NamesEntry *)data)->name);
}

static gboolean
has_equal_name (gconstpointer a, gconstpointer b)
{
  const NamesEntry *one = a, *other = b;
  return strcmp (one->name, other->name) == 0 && g_strcmp0 (one->type, other->type) == 0;
}

static void
entry_free (gpointer data)
{
  NamesEntry *entry = data;
  g_free (entry->name);
  g_free (entry->type);
  g_free (entry);
}

static void
table_init (NamesTable *table)
{
  table->by_number = g_hash_table_new_full (hash_number, has_equal_number, entry_free, NULL);
  table->by_name = g_hash_table_new (hash_name, has_equal_name);
}

static void
table_done (NamesTable *table)
{
  g_hash_table_destroy (table->by_name);
  g_hash_table_destroy (table->by_number);
}

static const NamesEntry *
table_add (NamesTable *table, gint64 number, const char *name, const char *type)
{
  NamesEntry *entry = g_new0 (NamesEntry, 1);
  entry->number = number;
  entry->name = g_strdup (name);
  entry->type = g_strdup (type);
  g_hash_table_add (table->by_name, entry);
  g_hash_table_add (table->by_number, entry);
  return entry;
}

static void
table_forget (NamesTable *table)
{
  table->last = NULL;
  g_hash_table_remove_all (table->by_name);
  g_hash_table_remove_all (table->by_number);
}

static gboolean
table_read (Sql *sql, NamesTable *table, const char *text, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      const char *name = (const char *)sqlite3_column_text (statement, 1);
      const char *type = (const char *)sqlite3_column_text (statement, 2);
      NamesEntry entry = { .number = sqlite3_column_int64 (statement, 0) };
      if (name != NULL && !g_hash_table_contains (table->by_number, &entry))
        table_add (table, entry.number, name, type);
    }
  return FALSE;
}

Names *
names_new (Sql *sql, GError **error)
{
  g_autoptr (Names) names = g_new0 (Names, 1);
  names->sql = sql;
  table_init (&names->nodes);
  table_init (&names->jobs);
  if (!table_read (sql, &names->nodes,
                   "SELECT n, id, NULL FROM node NOT INDEXED WHERE"
                   " row_holds (sum, 'node', n, id, host, site, address, joined, left, cause)",
                   error)
      || !table_read (sql, &names->jobs,
                      "SELECT n, name, type FROM job WHERE row_holds (sum, 'job', n, name, type)",
                      error))
    return NULL;
  return g_steal_pointer (&names);
}

void
names_free (Names *names)
{
  if (names == NULL)
    return;
  table_done (&names->nodes);
  table_done (&names->jobs);
  g_free (names);
}

/* The entry, if it is known. (nullable) */
static const NamesEntry *
table_find (NamesTable *table, const char *name, const char *type)
{
  NamesEntry wanted = { .name = (char *)name, .type = (char *)type };
  if (table->last == NULL || !has_equal_name (table->last, &wanted))
    table->last = g_hash_table_lookup (table->by_name, &wanted);
  return table->last;
}

gboolean
names_find_node (Names *names, const char *id, gint64 *number)
{
  const NamesEntry *entry = table_find (&names->nodes, id, NULL);
  if (entry != NULL)
    *number = entry->number;
  return entry != NULL;
}

gboolean
names_number_node (Names *names, const char *id, gint64 *number, GError **error)
{
  const NamesEntry *entry = table_find (&names->nodes, id, NULL);
  if (entry == NULL)
    {
      gint64 fresh;
      if (!tables_number_node (names->sql, id, &fresh, error))
        return FALSE;
      if (g_hash_table_size (names->nodes.by_number) >= NODES_KEPT_MAX)
        table_forget (&names->nodes);
      entry = names->nodes.last = table_add (&names->nodes, fresh, id, NULL);
    }
  *number = entry->number;
  return TRUE;
}

/* The number that this job has or would get. */
static gint64
job_number (Names *names, const char *name, const char *type)
{
  guint8 digest[32];
  gsize size = sizeof digest;
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (checksum, (const guchar *)name, (gssize)strlen (name) + 1);
  g_checksum_update (checksum, (const guchar *)type, (gssize)strlen (type) + 1);
  g_checksum_get_digest (checksum, digest, &size);
  NamesEntry wanted = { .number = digest[0] << 16 | digest[1] << 8 | digest[2] };
  while (g_hash_table_contains (names->jobs.by_number, &wanted))
    wanted.number = (wanted.number + 1) & JOB_NUMBER_MASK;
  return wanted.number;
}

void
names_expect (Names *names, const char *const *job_names, const char *const *job_types)
{
  for (gsize i = 0; job_names[i] != NULL; i++)
    if (table_find (&names->jobs, job_names[i], job_types[i]) == NULL)
      table_add (&names->jobs, job_number (names, job_names[i], job_types[i]), job_names[i],
                 job_types[i]);
}

gboolean
names_number_job (Names *names, const char *name, const char *type, gint64 *number, GError **error)
{
  const NamesEntry *entry = table_find (&names->jobs, name, type);
  if (entry == NULL)
    {
      gint64 fresh = job_number (names, name, type);
      if (!tables_put_job (names->sql, fresh, name, type, error))
        return FALSE;
      entry = names->jobs.last = table_add (&names->jobs, fresh, name, type);
    }
  *number = entry->number;
  return TRUE;
}

static const NamesEntry *
table_at (NamesTable *table, gint64 number)
{
  NamesEntry wanted = { .number = number };
  if (table->last == NULL || table->last->number != number)
    table->last = g_hash_table_lookup (table->by_number, &wanted);
  return table->last;
}

const char *
names_node (Names *names, gint64 number)
{
  const NamesEntry *entry = table_at (&names->nodes, number);
  return entry != NULL ? entry->name : NULL;
}

gboolean
names_job (Names *names, gint64 number, const char **name, const char **type)
{
  const NamesEntry *entry = table_at (&names->jobs, number);
  if (entry == NULL || entry->type == NULL)
    return FALSE;
  *name = entry->name;
  *type = entry->type;
  return TRUE;
}
