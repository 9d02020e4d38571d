/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum and the proof of a row. They are computed inside SQL, so that one function sees the
 * values that SQLite really stores, when they are written and when they are verified. SipHash takes
 * a key, and is fast: every row is verified at each take-over, and SHA-256 took half of that time.
 * The checksum's key is the identity, which is not secret: it protects against damage and mistakes.
 * The proof's key is the seal, which is secret: SipHash under a secret key is a message
 * authentication code and protects against forgery. Knows nothing of tables, and not where the seal
 * comes from. Tests: test-storage, test-proof. */
#include "storage/rowsum.h"

#include "storage/cell.h"

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

static inline void
sip_word (guint64 v[4], guint64 word)
{
  v[3] ^= word;
  sip_round (v);
  sip_round (v);
  v[0] ^= word;
}

static inline guint64
load_word (const guint8 *bytes)
{
  guint64 word;
  memcpy (&word, bytes, sizeof word);
  return GUINT64_FROM_LE (word);
}

/* Both states in one loop, since a processor computes the two in parallel. */
static void
consume_sealed (Rowsum *sum, const guint8 *bytes, gsize n)
{
  guint64 v[4], w[4];
  memcpy (v, sum->v, sizeof v);
  memcpy (w, sum->w, sizeof w);
  for (gsize i = 0; i < n; i++)
    {
      guint64 word = load_word (bytes + 8 * i);
      sip_word (v, word);
      sip_word (w, word);
    }
  memcpy (sum->v, v, sizeof v);
  memcpy (sum->w, w, sizeof w);
}

static void
consume_words (Rowsum *sum, const guint8 *bytes, gsize n)
{
  guint64 v[4];
  if (sum->is_sealed)
    {
      consume_sealed (sum, bytes, n);
      return;
    }
  memcpy (v, sum->v, sizeof v);
  for (gsize i = 0; i < n; i++)
    sip_word (v, load_word (bytes + 8 * i));
  memcpy (sum->v, v, sizeof v);
}

/* Processes all whole words in the buffer. */
static void
consume (Rowsum *sum)
{
  guint n = sum->n / 8;
  consume_words (sum, sum->bytes, n);
  memcpy (sum->bytes, sum->bytes + 8 * n, 8);
  sum->n -= 8 * n;
}

/* Returns the place for so many bytes in the buffer, at most half of it. */
static inline guint8 *
room (Rowsum *sum, guint bytes)
{
  if (sum->n + bytes > ROWSUM_BYTES - 8)
    consume (sum);
  sum->size += bytes;
  sum->n += bytes;
  return sum->bytes + sum->n - bytes;
}

/* Without memcpy: most parts are too short to justify a call. */
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

/* Processes whole words in place, except the bytes that complete the last word in the buffer. */
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

static inline void
sip_begin (guint64 v[4], const guint64 key[2])
{
  v[0] = key[0] ^ G_GUINT64_CONSTANT (0x736f6d6570736575);
  v[1] = key[1] ^ G_GUINT64_CONSTANT (0x646f72616e646f6d);
  v[2] = key[0] ^ G_GUINT64_CONSTANT (0x6c7967656e657261);
  v[3] = key[1] ^ G_GUINT64_CONSTANT (0x7465646279746573);
}

Rowsum
rowsum_begin (const Sql *sql)
{
  g_assert (sql->identity != NULL);

  Rowsum sum;
  sip_begin (sum.v, sql->key);
  sum.is_sealed = sql->is_sealed;
  if (sum.is_sealed)
    sip_begin (sum.w, sql->seal);
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

/* Adds a tag, the length in groups of seven bits, and the data, so that the borders of parts
 * count. */
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

static guint64
sip_end (guint64 v[4])
{
  v[2] ^= 0xff;
  for (int i = 0; i < 4; i++)
    sip_round (v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

RowsumValue
rowsum_end (Rowsum *sum)
{
  guint64 size = sum->size;
  guint wanting = 8 - sum->n % 8; /* the last word ends with the size */
  guint8 *to = room (sum, wanting);
  memset (to, 0, wanting - 1);
  to[wanting - 1] = (guint8)size;
  consume (sum);
  return (RowsumValue){ sip_end (sum->v), sum->is_sealed ? sip_end (sum->w) : 0 };
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

guint64
rowsum_stored (const RecordColumn *stored)
{
  return stored->kind == 'b' && stored->size == ROWSUM_STORED_BYTES ? load_word (stored->data)
         : stored->kind == 'i'                                      ? (guint64)stored->integer
                                                                    : 0;
}

guint64
rowsum_stored_at (sqlite3_stmt *statement, int index)
{
  RecordColumn column;
  cell_column (sqlite3_column_value (statement, index), &column);
  return rowsum_stored (&column);
}

/* In a file of format 1 the column is an integer, the checksum alone. */
gboolean
rowsum_agrees (const Sql *sql, RowsumValue value, const RecordColumn *stored)
{
  if (stored->kind == 'i')
    return !sql->is_sealed && (guint64)stored->integer == value.sum;
  return stored->kind == 'b' && stored->size == ROWSUM_STORED_BYTES
         && load_word (stored->data) == value.sum
         && (!sql->is_sealed || load_word (stored->data + 8) == value.proof);
}

guint
rowsum_n_before (const char *table, gsize size, guint *n_now)
{
  static const struct
  {
    const char *name;
    guint n, before;
  } tables[] = { { "result", 12, 8 }, { "keep", 7, 5 }, { "best", 4, 3 } };
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    if (size == strlen (tables[i].name) && memcmp (table, tables[i].name, size) == 0)
      {
        *n_now = tables[i].n;
        return tables[i].before;
      }
  return 0;
}

guint
rowsum_n_summed (const char *table, gsize size, guint n, guint nulls)
{
  guint n_now = 0, before = nulls > 0 ? rowsum_n_before (table, size, &n_now) : 0;
  return before > 0 && n <= n_now ? MAX (before, n - nulls) : n;
}

RowsumValue
rowsum_of_columns (const Sql *sql, const char *table, const RecordColumn *columns, guint n)
{
  Rowsum sum = rowsum_begin (sql);
  rowsum_add_text (&sum, table, strlen (table));
  guint nulls = 0;
  while (nulls < n && columns[n - 1 - nulls].kind == 'n')
    nulls++;
  n = rowsum_n_summed (table, strlen (table), n, nulls);
  for (guint i = 0; i < n; i++)
    rowsum_add_column (&sum, &columns[i]);
  return rowsum_end (&sum);
}

static RowsumValue
value_of (const Sql *sql, int n, sqlite3_value **values)
{
  /* The first value is the table's name. */
  const char *table = n > 1 ? (const char *)sqlite3_value_text (values[0]) : NULL;
  guint nulls = 0;
  while ((int)nulls + 1 < n && sqlite3_value_type (values[n - 1 - (int)nulls]) == SQLITE_NULL)
    nulls++;
  if (table != NULL)
    n = 1
        + (int)rowsum_n_summed (table, (gsize)sqlite3_value_bytes (values[0]), (guint)n - 1, nulls);
  Rowsum sum = rowsum_begin (sql);
  for (int i = 0; i < n; i++)
    {
      RecordColumn column;
      cell_column (values[i], &column);
      rowsum_add_column (&sum, &column);
    }
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
  RowsumValue value = value_of (sql, n, values);
  guint64 words[] = { GUINT64_TO_LE (value.sum), GUINT64_TO_LE (value.proof) };
  G_STATIC_ASSERT (sizeof words == ROWSUM_STORED_BYTES);
  sql->last_sum = value.sum;
  sqlite3_result_blob (context, words, sizeof words, SQLITE_TRANSIENT);
}

static void
row_holds (sqlite3_context *context, int n, sqlite3_value **values)
{
  const Sql *sql = sqlite3_user_data (context);
  RecordColumn stored;
  if (sql->identity == NULL || n < 1)
    {
      sqlite3_result_int (context, FALSE);
      return;
    }
  cell_column (values[0], &stored);
  sqlite3_result_int (context, rowsum_agrees (sql, value_of (sql, n - 1, values + 1), &stored));
}

/* The sum of checksums modulo 2^64; SQLite's own sum() reports an overflow. */
static void
add_to_sums (sqlite3_context *context, int n, sqlite3_value **values)
{
  guint64 *sums = sqlite3_aggregate_context (context, sizeof *sums);
  (void)n;
  RecordColumn stored;
  cell_column (values[0], &stored);
  if (sums != NULL)
    *sums += rowsum_stored (&stored);
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
  g_autofree char *text = g_strconcat ("satin checkpoint 1 ", identity, NULL);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (checksum, (const guchar *)text, -1);
  g_checksum_get_digest (checksum, digest, &size);
  for (int i = 0; i < 2; i++)
    {
      memcpy (&sql->key[i], digest + 8 * i, 8);
      sql->key[i] = GUINT64_FROM_LE (sql->key[i]);
    }
  if (sql->identity != identity)
    {
      g_free (sql->identity);
      sql->identity = g_strdup (identity);
    }
}

void
rowsum_seal (Sql *sql, const guint8 seal[ROWSUM_SEAL_BYTES])
{
  sql->is_sealed = seal != NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (sql->seal); i++)
    sql->seal[i] = seal != NULL ? load_word (seal + 8 * i) : 0;
}

void
rowsum_take_after (Sql *sql, const Sql *other)
{
  rowsum_identify (sql, other->identity);
  memcpy (sql->seal, other->seal, sizeof sql->seal);
  sql->is_sealed = other->is_sealed;
  sql->origin = other->origin;
}

gboolean
rowsum_register (Sql *sql, GError **error)
{
  int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  int code
      = sqlite3_create_function_v2 (sql->db, "row_sum", -1, flags, sql, row_sum, NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2 (sql->db, "row_holds", -1, flags, sql, row_holds, NULL, NULL,
                                       NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2 (sql->db, "row_sums", 1, flags, NULL, NULL, add_to_sums,
                                       end_sums, NULL);
  return code == SQLITE_OK || sql_failed (sql, error);
}
