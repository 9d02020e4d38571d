/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of a row. Computed inside SQL, so that what is written and what is verified later
 * pass through one function over the values that SQLite really holds. SipHash because it takes a
 * key, which the identity is, and because every row is verified at each take-over: SHA-256 took
 * half of that time. It guards against damage and mistakes, not against forgers: the key is no
 * secret. Must not know any table. */
#include "storage/rowsum.h"

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

static inline void
sip_word (Rowsum *sum, guint64 word)
{
  sum->v[3] ^= word;
  sip_round (sum->v);
  sip_round (sum->v);
  sum->v[0] ^= word;
}

static inline void
add_byte (Rowsum *sum, guint8 byte)
{
  sum->word |= (guint64)byte << 8 * (sum->size & 7);
  if ((++sum->size & 7) != 0)
    return;
  sip_word (sum, sum->word);
  sum->word = 0;
}

void
rowsum_add_bare (Rowsum *sum, const void *data, gsize size)
{
  const guint8 *bytes = data;
  guint shift = 8 * (sum->size & 7);
  for (; size >= 8; size -= 8, bytes += 8, sum->size += 8)
    {
      guint64 word;
      memcpy (&word, bytes, sizeof word);
      word = GUINT64_FROM_LE (word);
      sip_word (sum, sum->word | word << shift);
      sum->word = shift > 0 ? word >> (64 - shift) : 0;
    }
  for (; size > 0; size--)
    add_byte (sum, *bytes++);
}

Rowsum
rowsum_begin (const Sql *sql)
{
  g_assert (sql->identity != NULL);

  Rowsum sum = { .v = { sql->key[0] ^ G_GUINT64_CONSTANT (0x736f6d6570736575),
                        sql->key[1] ^ G_GUINT64_CONSTANT (0x646f72616e646f6d),
                        sql->key[0] ^ G_GUINT64_CONSTANT (0x6c7967656e657261),
                        sql->key[1] ^ G_GUINT64_CONSTANT (0x7465646279746573) } };
  return sum;
}

static void
add_number (Rowsum *sum, char tag, guint64 word)
{
  guint64 little = GUINT64_TO_LE (word);
  add_byte (sum, (guint8)tag);
  rowsum_add_bare (sum, &little, sizeof little);
}

/* A tag, the length in groups of seven bits, the data: parts cannot run into each other. */
static void
add_data (Rowsum *sum, char tag, const void *data, gsize size)
{
  add_byte (sum, (guint8)tag);
  gsize rest = size;
  for (; rest >= 0x80; rest >>= 7)
    add_byte (sum, (guint8)(rest | 0x80));
  add_byte (sum, (guint8)rest);
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
  add_byte (sum, 'n');
}

gint64
rowsum_end (Rowsum *sum)
{
  sip_word (sum, sum->word | sum->size << 56);
  sum->v[2] ^= 0xff;
  for (int i = 0; i < 4; i++)
    sip_round (sum->v);
  return (gint64)(sum->v[0] ^ sum->v[1] ^ sum->v[2] ^ sum->v[3]);
}

static void
add_value (Rowsum *sum, sqlite3_value *value)
{
  const void *data;
  switch (sqlite3_value_type (value))
    {
    case SQLITE_INTEGER:
      rowsum_add_integer (sum, sqlite3_value_int64 (value));
      break;
    case SQLITE_FLOAT:
      rowsum_add_real (sum, sqlite3_value_double (value));
      break;
    case SQLITE_TEXT:
      data = sqlite3_value_text (value);
      rowsum_add_text (sum, data, (gsize)sqlite3_value_bytes (value));
      break;
    case SQLITE_BLOB:
      data = sqlite3_value_blob (value);
      rowsum_add_blob (sum, data, (gsize)sqlite3_value_bytes (value));
      break;
    default:
      rowsum_add_null (sum);
    }
}

gint64
rowsum_of_values (const Sql *sql, const char *table, sqlite3_value **values, int n)
{
  Rowsum sum = rowsum_begin (sql);
  rowsum_add_text (&sum, table, strlen (table));
  for (int i = 0; i < n; i++)
    add_value (&sum, values[i]);
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
    add_value (&sum, values[i]);
  sqlite3_result_int64 (context, rowsum_end (&sum));
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
  return code == SQLITE_OK || sql_failed (sql, error);
}
