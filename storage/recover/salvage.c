/* SPDX-License-Identifier: BSD-3-Clause */
/* First finds the identity, then proves every row with it. The tables and the form of their rows
 * are read from a new file of our format, so nothing here depends on them. Does not interpret
 * tables, except that run contains the identity. */

#include "storage/recover/salvage.h"

#include "storage/rowsum.h"

#include "storage/recover/pages.h"

#include <string.h>

#define TABLES_MAX 16
/* While the identity is not known: the most rows kept for testing one, and the most identities to
 * test. */
#define SAMPLES_MAX 256
#define GUESSES_MAX 64
#define IDENTITY_DIGITS 32

typedef struct
{
  char *name, *insert;
  guint n_columns;
  gboolean has_rowid;
  gboolean has_key;  /* the first column is the rowid of the cell */
  guint n_new;       /* columns before the last that an earlier format may lack */
  guint reals;       /* bit i: column i converts integers to reals */
} SalvageTable;

typedef struct
{
  const SalvageTable *table;
  Record record;
  GByteArray *bytes; /* the data of the record's columns */
} SalvageSample;

typedef struct
{
  Sql *sql;
  guint n_tables;
  SalvageTable tables[TABLES_MAX];
  PagesWanted wanted;
  GPtrArray *samples; /* of SalvageSample */
  GPtrArray *guesses; /* of texts */
  gboolean is_known;  /* the identity */
  GError *error;
} Salvage;

static void
sample_free (gpointer data)
{
  SalvageSample *sample = data;
  g_byte_array_unref (sample->bytes);
  g_free (sample);
}

static void
salvage_free (Salvage *salvage)
{
  for (guint i = 0; i < salvage->n_tables; i++)
    {
      g_free (salvage->tables[i].name);
      g_free (salvage->tables[i].insert);
    }
  g_ptr_array_unref (salvage->samples);
  g_ptr_array_unref (salvage->guesses);
  g_clear_error (&salvage->error);
  sql_free (salvage->sql);
  g_free (salvage);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Salvage, salvage_free)

static gboolean
read_columns (Salvage *salvage, SalvageTable *table, GError **error)
{
  gboolean has_row;
  g_autoptr (GString) insert = g_string_new (NULL);
  g_string_printf (insert, "INSERT OR IGNORE INTO %s VALUES (", table->name);
  sqlite3_stmt *statement
      = sql_ready (salvage->sql, "SELECT type, pk FROM pragma_table_info (?1)", error);
  if (statement == NULL)
    return FALSE;
  sql_bind_string (statement, 1, table->name);
  while (sql_next (salvage->sql, statement, &has_row, error))
    {
      if (!has_row)
        {
          g_string_append (insert, ")");
          table->insert = g_string_free (g_steal_pointer (&insert), FALSE);
          gboolean *wanted
              = table->has_rowid ? salvage->wanted.with_rowid : salvage->wanted.without_rowid;
          guint n_now = 0, before = rowsum_n_before (table->name, strlen (table->name), &n_now);
          table->n_new = before > 0 ? n_now - before : 0;
          for (guint lacking = 0; lacking <= table->n_new; lacking++)
            wanted[table->n_columns - lacking] = TRUE;
          return TRUE;
        }
      const char *type = (const char *)sqlite3_column_text (statement, 0);
      g_assert (table->n_columns < RECORD_COLUMNS_MAX);
      table->has_key |= strcmp (type, "INTEGER") == 0 && sqlite3_column_int (statement, 1) == 1;
      table->reals |= strcmp (type, "REAL") == 0 ? 1u << table->n_columns : 0;
      table->n_columns++;
      g_string_append (insert, table->n_columns > 1 ? ", ?" : "?");
    }
  return FALSE;
}

static gboolean
read_tables (Salvage *salvage, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (salvage->sql,
                   "SELECT name, NOT wr FROM pragma_table_list WHERE schema = 'main'"
                   " AND type = 'table' AND name NOT LIKE 'sqlite%'",
                   error);
  if (statement == NULL)
    return FALSE;
  while (sql_next (salvage->sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      g_assert (salvage->n_tables < TABLES_MAX);
      SalvageTable *table = &salvage->tables[salvage->n_tables++];
      table->name = sql_column_string (statement, 0);
      table->has_rowid = sqlite3_column_int (statement, 1) != 0;
      if (!read_columns (salvage, table, error))
        return FALSE;
    }
  return FALSE;
}

static gboolean
has_form (const SalvageTable *table, const Record *record, gboolean has_rowid)
{
  return record->n <= table->n_columns && record->n + table->n_new >= table->n_columns
         && table->has_rowid == has_rowid
         && record->columns[0].kind == (table->has_key ? 'n' : 't');
}

/* TRUE: the record is a row of this table. */
static gboolean
is_proved (const Sql *sql, const SalvageTable *table, const Record *record)
{
  Rowsum sum = rowsum_begin (sql);
  rowsum_add_text (&sum, table->name, strlen (table->name));
  guint nulls = 0;
  while (nulls + 2 < record->n && record->columns[record->n - 2 - nulls].kind == 'n')
    nulls++;
  guint n = rowsum_n_summed (table->name, strlen (table->name), record->n - 1, nulls);
  for (guint i = 0; i < n; i++)
    {
      const RecordColumn *column = &record->columns[i];
      if (i == 0 && table->has_key)
        rowsum_add_integer (&sum, record->rowid);
      else if (column->kind == 'i' && (table->reals >> i & 1))
        rowsum_add_real (&sum, (double)column->integer);
      else
        rowsum_add_column (&sum, column);
    }
  return rowsum_agrees (sql, rowsum_end (&sum), &record->columns[record->n - 1]);
}

static gboolean
insert (Salvage *salvage, const SalvageTable *table, const Record *record, GError **error)
{
  sqlite3_stmt *statement = sql_ready (salvage->sql, table->insert, error);
  if (statement == NULL)
    return FALSE;
  for (guint i = 0; i < record->n; i++)
    {
      const RecordColumn *column = &record->columns[i];
      int index = i + 1 < record->n ? (int)i + 1 : (int)table->n_columns;
      if (i == 0 && table->has_key)
        sqlite3_bind_int64 (statement, index, record->rowid);
      else if (column->kind == 'r')
        sqlite3_bind_double (statement, index, column->real);
      else if (column->kind == 'i')
        sqlite3_bind_int64 (statement, index, column->integer);
      else if (column->kind == 't')
        sqlite3_bind_text64 (statement, index, (const char *)column->data, column->size,
                             SQLITE_STATIC, SQLITE_UTF8);
      else if (column->kind == 'b')
        sqlite3_bind_blob64 (statement, index, column->data, column->size, SQLITE_STATIC);
    }
  return sql_finish (salvage->sql, statement, error);
}

static gboolean
take_record (const Record *record, gboolean has_rowid, gboolean *stop, gpointer data)
{
  Salvage *salvage = data;
  for (guint i = 0; i < salvage->n_tables; i++)
    {
      const SalvageTable *table = &salvage->tables[i];
      if (!has_form (table, record, has_rowid) || !is_proved (salvage->sql, table, record))
        continue;
      *stop = !insert (salvage, table, record, &salvage->error);
      return TRUE;
    }
  return FALSE;
}

static void
add_guess (const char *text, gpointer data)
{
  Salvage *salvage = data;
  for (guint i = 0; i < salvage->guesses->len; i++)
    if (strcmp (salvage->guesses->pdata[i], text) == 0)
      return;
  if (salvage->guesses->len < GUESSES_MAX)
    g_ptr_array_add (salvage->guesses, g_strdup (text));
}

/* TRUE: the row contains the identity and proves itself, since it is summed with that identity. */
static gboolean
names_identity (Salvage *salvage, const SalvageTable *table, const Record *record)
{
  const RecordColumn *key = &record->columns[0], *value = &record->columns[1];
  if (strcmp (table->name, "run") != 0 || value->kind != 't' || value->size != IDENTITY_DIGITS
      || key->size != strlen ("identity") || memcmp (key->data, "identity", key->size) != 0)
    return FALSE;
  char identity[IDENTITY_DIGITS + 1] = { 0 };
  memcpy (identity, value->data, IDENTITY_DIGITS);
  rowsum_identify (salvage->sql, identity);
  if (is_proved (salvage->sql, table, record))
    return TRUE;
  add_guess (identity, salvage);
  return FALSE;
}

static void
keep_sample (Salvage *salvage, const SalvageTable *table, const Record *record)
{
  SalvageSample *sample = g_new0 (SalvageSample, 1);
  sample->table = table;
  sample->record = *record;
  sample->bytes = g_byte_array_sized_new (1); /* so that its data is not NULL */
  for (guint i = 0; i < record->n; i++)
    g_byte_array_append (sample->bytes, record->columns[i].data, (guint)record->columns[i].size);
  const guint8 *at = sample->bytes->data;
  for (guint i = 0; i < record->n; i++)
    {
      sample->record.columns[i].data = at;
      at += record->columns[i].size;
    }
  g_ptr_array_add (salvage->samples, sample);
}

static gboolean
look_for_identity (const Record *record, gboolean has_rowid, gboolean *stop, gpointer data)
{
  Salvage *salvage = data;
  for (guint i = 0; i < salvage->n_tables && !salvage->is_known; i++)
    {
      const SalvageTable *table = &salvage->tables[i];
      if (!has_form (table, record, has_rowid))
        continue;
      salvage->is_known = names_identity (salvage, table, record);
      if (!salvage->is_known && salvage->samples->len < SAMPLES_MAX)
        keep_sample (salvage, table, record);
    }
  *stop = salvage->is_known;
  return FALSE;
}

/* TRUE: this identity proves at least one sample, so it is the right one. */
static gboolean
try_identity (Salvage *salvage, const char *identity)
{
  rowsum_identify (salvage->sql, identity);
  for (guint i = 0; i < salvage->samples->len && !salvage->is_known; i++)
    {
      const SalvageSample *sample = salvage->samples->pdata[i];
      salvage->is_known = is_proved (salvage->sql, sample->table, &sample->record);
    }
  return salvage->is_known;
}

/* Corrects a text with one wrong bit by trying all texts that differ in one bit. */
static gboolean
try_neighbours (Salvage *salvage, char *text)
{
  for (guint bit = 0; bit < 8 * IDENTITY_DIGITS; bit++)
    {
      text[bit / 8] ^= (char)(1 << bit % 8);
      if (g_ascii_isxdigit (text[bit / 8]) && try_identity (salvage, text))
        return TRUE;
      text[bit / 8] ^= (char)(1 << bit % 8);
    }
  return FALSE;
}

static gboolean
guess_identity (Salvage *salvage, Pages *pages, GError **error)
{
  if (!pages_scan_hex (pages, add_guess, salvage, error))
    return FALSE;
  for (guint i = 0; i < salvage->guesses->len && !salvage->is_known; i++)
    (void)try_identity (salvage, salvage->guesses->pdata[i]);
  for (guint i = 0; i < salvage->guesses->len && !salvage->is_known; i++)
    (void)try_neighbours (salvage, salvage->guesses->pdata[i]);
  return TRUE;
}

/* `page_size` (out): the page size with which it was found. */
static gboolean
find_identity (Salvage *salvage, Pages *pages, const char *identity, guint32 *page_size,
               GError **error)
{
  for (const guint32 *size = pages_sizes (pages); *size != 0 && !salvage->is_known; size++)
    {
      *page_size = *size;
      g_ptr_array_set_size (salvage->samples, 0);
      if (!pages_scan (pages, *size, &salvage->wanted, look_for_identity, salvage, error))
        return FALSE;
      if (!salvage->is_known && identity != NULL)
        (void)try_identity (salvage, identity);
      if (!salvage->is_known && salvage->samples->len > 0
          && !guess_identity (salvage, pages, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
take_rows (Salvage *salvage, Pages *pages, guint32 page_size, GError **error)
{
  gboolean good = sql_run (salvage->sql, "BEGIN", error)
                  && pages_scan (pages, page_size, &salvage->wanted, take_record, salvage, error);
  if (good && salvage->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&salvage->error));
      good = FALSE;
    }
  return good && sql_run (salvage->sql, "COMMIT", error);
}

Sql *
salvage_open (const char *path, const char *identity, guint64 bytes_max, GError **error)
{
  guint32 page_size = 0;
  g_autoptr (Pages) pages = pages_open (path, error);
  if (pages == NULL)
    return NULL;
  g_autoptr (Salvage) salvage = g_new0 (Salvage, 1);
  salvage->samples = g_ptr_array_new_with_free_func (sample_free);
  salvage->guesses = g_ptr_array_new_with_free_func (g_free);
  salvage->sql = sql_create_private (0, error);
  pages_limit (pages, bytes_max);
  if (salvage->sql == NULL || !read_tables (salvage, error)
      || !find_identity (salvage, pages, identity, &page_size, error) || !salvage->is_known)
    return NULL;
  pages_limit (pages, 0);
  /* The page size is at best from the header. Short rows are found with any page size, long ones
   * only with the right one. */
  if (!take_rows (salvage, pages, page_size, error))
    return NULL;
  for (const guint32 *size = pages_sizes (pages); *size != 0; size++)
    if (*size != page_size && !take_rows (salvage, pages, *size, error))
      return NULL;
  salvage->sql->is_salvage = TRUE;
  return g_steal_pointer (&salvage->sql);
}
