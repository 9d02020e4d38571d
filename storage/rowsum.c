/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of a row. Computed inside SQL, so that what is written and what is verified later
 * pass through one function over the values that SQLite really holds. SipHash because it takes a
 * key, which the identity is, and because every row is verified at each take-over: SHA-256 took
 * half of that time. It guards against damage and mistakes, not against forgers: the key is no
 * secret. Must not know any table. Tests: test-storage. */
#include "storage/rowsum.h"

#include "storage/cell.h"
#include "storage/schema.h"

#include <string.h>

static inline guint64
rotate (guint64 word, guint bits)
{
  return word << bits | word >> (64 - bits);
}

static inline void
sip_round (guint64 v[4])
{
  v[0] += v[1];
  v[1] = rotate (v[1], 13) ^ v[0];
  v[0] = rotate (v[0], 32);
  v[2] += v[3];
  v[3] = rotate (v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = rotate (v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = rotate (v[1], 17) ^ v[2];
  v[2] = rotate (v[2], 32);
}

static void
consume_words (Rowsum *sum, const guint8 *bytes, gsize n)
{
  guint64 v[4];
  memcpy (v, sum->v, sizeof v);
  for (gsize i = 0; i < n; i++)
    {
      guint64 word;
      memcpy (&word, bytes + 8 * i, sizeof word);
      word = GUINT64_FROM_LE (word);
      v[3] ^= word;
      sip_round (v);
      sip_round (v);
      v[0] ^= word;
    }
  memcpy (sum->v, v, sizeof v);
}

/* All whole words that wait. */
static void
consume (Rowsum *sum)
{
  guint n = sum->n / 8;
  consume_words (sum, sum->bytes, n);
  memcpy (sum->bytes, sum->bytes + 8 * n, 8);
  sum->n -= 8 * n;
}

/* So many bytes can be put there, which are at most half of all. */
static inline guint8 *
room (Rowsum *sum, guint bytes)
{
  if (sum->n + bytes > ROWSUM_BYTES - 8)
    consume (sum);
  sum->size += bytes;
  sum->n += bytes;
  return sum->bytes + sum->n - bytes;
}

/* Most parts are shorter than a call of memcpy is worth. */
static inline void
copy_short (guint8 *to, const guint8 *from, gsize size)
{
  if (size >= 8)
    {
      memcpy (to, from, 8);
      memcpy (to + size - 8, from + size - 8, 8);
    }
  else
    for (gsize i = 0; i < size; i++)
      to[i] = from[i];
}

/* Whole words where they lie, but for what makes one of the last that waits. */
void
rowsum_add_bare (Rowsum *sum, const void *data, gsize size)
{
  const guint8 *bytes = data;
  if (size > 16)
    {
      guint wanting = -sum->n % 8;
      copy_short (room (sum, wanting), bytes, wanting);
      consume (sum);
      gsize words = (size - wanting) / 8;
      consume_words (sum, bytes + wanting, words);
      sum->size += 8 * words;
      bytes += wanting + 8 * words;
      size -= wanting + 8 * words;
    }
  copy_short (room (sum, (guint)size), bytes, size);
}

Rowsum
rowsum_begin (const Sql *sql)
{
  g_assert (sql->identity != NULL);

  Rowsum sum;
  sum.v[0] = sql->key[0] ^ G_GUINT64_CONSTANT (0x736f6d6570736575);
  sum.v[1] = sql->key[1] ^ G_GUINT64_CONSTANT (0x646f72616e646f6d);
  sum.v[2] = sql->key[0] ^ G_GUINT64_CONSTANT (0x6c7967656e657261);
  sum.v[3] = sql->key[1] ^ G_GUINT64_CONSTANT (0x7465646279746573);
  sum.size = sum.n = 0;
  return sum;
}

static inline void
add_number (Rowsum *sum, char tag, guint64 word)
{
  guint64 little = GUINT64_TO_LE (word);
  guint8 *to = room (sum, 1 + sizeof little);
  to[0] = (guint8)tag;
  memcpy (to + 1, &little, sizeof little);
}

/* A tag, the length in groups of seven bits, the data: parts cannot run into each other. */
static inline void
add_data (Rowsum *sum, char tag, const void *data, gsize size)
{
  *room (sum, 1) = (guint8)tag;
  gsize rest = size;
  for (; rest >= 0x80; rest >>= 7)
    *room (sum, 1) = (guint8)(rest | 0x80);
  *room (sum, 1) = (guint8)rest;
  rowsum_add_bare (sum, data, size);
}

void
rowsum_add_integer (Rowsum *sum, gint64 number)
{
  add_number (sum, 'i', (guint64)number);
}

void
rowsum_add_real (Rowsum *sum, double number)
{
  guint64 word;
  memcpy (&word, &number, sizeof word);
  add_number (sum, 'r', word);
}

void
rowsum_add_text (Rowsum *sum, const void *text, gsize size)
{
  add_data (sum, 't', text, size);
}

void
rowsum_add_blob (Rowsum *sum, const void *blob, gsize size)
{
  add_data (sum, 'b', blob, size);
}

void
rowsum_add_null (Rowsum *sum)
{
  *room (sum, 1) = 'n';
}

gint64
rowsum_end (Rowsum *sum)
{
  guint64 size = sum->size;
  guint wanting = 8 - sum->n % 8; /* the last word ends with the size */
  guint8 *to = room (sum, wanting);
  memset (to, 0, wanting - 1);
  to[wanting - 1] = (guint8)size;
  consume (sum);
  sum->v[2] ^= 0xff;
  for (int i = 0; i < 4; i++)
    sip_round (sum->v);
  return (gint64)(sum->v[0] ^ sum->v[1] ^ sum->v[2] ^ sum->v[3]);
}

void
rowsum_add_column (Rowsum *sum, const RecordColumn *column)
{
  switch (column->kind)
    {
    case 'i':
      rowsum_add_integer (sum, column->integer);
      break;
    case 'r':
      rowsum_add_real (sum, column->real);
      break;
    case 't':
      rowsum_add_text (sum, column->data, column->size);
      break;
    case 'b':
      rowsum_add_blob (sum, column->data, column->size);
      break;
    default:
      rowsum_add_null (sum);
    }
}

gint64
rowsum_of_columns (const Sql *sql, const char *table, const RecordColumn *columns, guint n)
{
  Rowsum sum = rowsum_begin (sql);
  rowsum_add_text (&sum, table, strlen (table));
  for (guint i = 0; i < n; i++)
    rowsum_add_column (&sum, &columns[i]);
  return rowsum_end (&sum);
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
  Rowsum sum = rowsum_begin (sql);
  for (int i = 0; i < n; i++)
    {
      RecordColumn column;
      cell_column (values[i], &column);
      rowsum_add_column (&sum, &column);
    }
  gint64 result = rowsum_end (&sum);
  sql->last_sum = (guint64)result;
  sqlite3_result_int64 (context, result);
}

/* The sum of checksums modulo 2^64, which SQLite's own sum() takes for an overflow. */
static void
add_to_sums (sqlite3_context *context, int n, sqlite3_value **values)
{
  guint64 *sums = sqlite3_aggregate_context (context, sizeof *sums);
  (void)n;
  if (sums != NULL)
    *sums += (guint64)sqlite3_value_int64 (values[0]);
}

static void
end_sums (sqlite3_context *context)
{
  const guint64 *sums = sqlite3_aggregate_context (context, 0);
  sqlite3_result_int64 (context, sums != NULL ? (gint64)*sums : 0);
}

void
rowsum_identify (Sql *sql, const char *identity)
{
  guint8 digest[32];
  gsize size = sizeof digest;
  g_autofree char *text = g_strdup_printf ("satin checkpoint %d %s", SCHEMA_VERSION, identity);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (checksum, (const guchar *)text, -1);
  g_checksum_get_digest (checksum, digest, &size);
  for (int i = 0; i < 2; i++)
    {
      memcpy (&sql->key[i], digest + 8 * i, 8);
      sql->key[i] = GUINT64_FROM_LE (sql->key[i]);
    }
  g_free (sql->identity);
  sql->identity = g_strdup (identity);
}

gboolean
rowsum_register (Sql *sql, GError **error)
{
  int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  int code
      = sqlite3_create_function_v2 (sql->db, "row_sum", -1, flags, sql, row_sum, NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2 (sql->db, "row_sums", 1, flags, NULL, NULL, add_to_sums,
                                       end_sums, NULL);
  return code == SQLITE_OK || sql_failed (sql, error);
}
