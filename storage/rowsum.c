/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of a row. Computed inside SQL, so that what is written and what is verified later
 * pass through one function over the values that SQLite really holds. Must not know any table. */
#include "storage/rowsum.h"

#include <string.h>

/* Longer data goes to the checksum without being copied first. */
#define SCRATCH_BYTES_MAX 4096

static void
flush (Sql *sql)
{
  g_checksum_update (sql->checksum, sql->scratch->data, (gssize)sql->scratch->len);
  g_byte_array_set_size (sql->scratch, 0);
}

static void
add_number (Sql *sql, char tag, guint64 word)
{
  guint8 bytes[9] = { (guint8)tag };
  guint64 big = GUINT64_TO_BE (word);
  memcpy (bytes + 1, &big, sizeof big);
  g_byte_array_append (sql->scratch, bytes, sizeof bytes);
}

/* A tag, the length in groups of seven bits, the data: parts cannot run into each other. */
static void
add_data (Sql *sql, char tag, const void *data, gsize size)
{
  guint8 head[11] = { (guint8)tag };
  guint n = 1;
  gsize rest = size;
  for (; rest >= 0x80; rest >>= 7)
    head[n++] = (guint8)(rest | 0x80);
  head[n++] = (guint8)rest;
  g_byte_array_append (sql->scratch, head, n);
  if (size <= SCRATCH_BYTES_MAX)
    {
      g_byte_array_append (sql->scratch, data, (guint)size);
      return;
    }
  flush (sql);
  const guint8 *bytes = data;
  while (size > 0)
    {
      gsize piece = MIN (size, (gsize)G_MAXINT32);
      g_checksum_update (sql->checksum, bytes, (gssize)piece);
      bytes += piece;
      size -= piece;
    }
}

static void
add_value (Sql *sql, sqlite3_value *value)
{
  double real;
  guint64 word;
  switch (sqlite3_value_type (value))
    {
    case SQLITE_INTEGER:
      add_number (sql, 'i', (guint64)sqlite3_value_int64 (value));
      break;
    case SQLITE_FLOAT:
      real = sqlite3_value_double (value);
      memcpy (&word, &real, sizeof word);
      add_number (sql, 'r', word);
      break;
    case SQLITE_TEXT:
      {
        const void *text = sqlite3_value_text (value);
        add_data (sql, 't', text, (gsize)sqlite3_value_bytes (value));
        break;
      }
    case SQLITE_BLOB:
      {
        const void *blob = sqlite3_value_blob (value);
        add_data (sql, 'b', blob, (gsize)sqlite3_value_bytes (value));
        break;
      }
    default:
      add_data (sql, 'n', NULL, 0);
    }
}

static void
row_sum (sqlite3_context *context, int n, sqlite3_value **values)
{
  Sql *sql = sqlite3_user_data (context);
  if (sql->identity == NULL)
    {
      sqlite3_result_null (context);
      return;
    }
  g_checksum_reset (sql->checksum);
  add_data (sql, 'I', sql->identity, strlen (sql->identity));
  for (int i = 0; i < n; i++)
    add_value (sql, values[i]);
  flush (sql);
  guint8 digest[32];
  gsize size = sizeof digest;
  g_checksum_get_digest (sql->checksum, digest, &size);
  guint64 big;
  memcpy (&big, digest, sizeof big);
  sqlite3_result_int64 (context, (gint64)GUINT64_FROM_BE (big));
}

gboolean
rowsum_register (Sql *sql, GError **error)
{
  int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  int code
      = sqlite3_create_function_v2 (sql->db, "row_sum", -1, flags, sql, row_sum, NULL, NULL, NULL);
  return code == SQLITE_OK || sql_failed (sql, error);
}
