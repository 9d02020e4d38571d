/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared bytes of the rows in the work file: written and loaded with the rows, and removed when
 * no row refers to them. The values themselves contain the references; their types tell where. */
#include "coordinator/ledger-private.h"

#include "record.h"
#include "shared.h"

#include "storage/shares.h"

/* SQLite's limit for a row is 10^9 bytes. */
#define SHARED_BYTES_MAX (900u * 1024 * 1024)
/* A sweep reads all rows. So it takes at most this part of the time, unless it is shorter than
 * SWEEP_SHORT_US. */
#define SWEEP_REST 20
#define SWEEP_SHORT_US 2000

/* The shared bytes of a row are written with it. */
gboolean
ledger_has_shares (const Row *row)
{
  gboolean all = TRUE;
  for (guint i = 0; row->shares != NULL && i < row->shares->len; i++)
    {
      g_autoptr (GBytes) bytes = shared_bytes (row->shares->pdata[i]);
      all = all && bytes != NULL && g_bytes_get_size (bytes) <= SHARED_BYTES_MAX;
    }
  return all;
}

gboolean
ledger_write_shares (Ledger *ledger, const Row *row, GError **error)
{
  for (guint i = 0; row->shares != NULL && i < row->shares->len; i++)
    {
      char hex[DIGEST_HEX_LENGTH + 1];
      g_autoptr (GBytes) bytes = shared_bytes (row->shares->pdata[i]);
      digest_to_hex (shared_digest (row->shares->pdata[i]), hex);
      if (bytes != NULL && !shares_put (ledger->sql, hex, bytes, error))
        return FALSE;
    }
  return TRUE;
}

/* FALSE: the bytes are not there. */
static gboolean
load_one (Ledger *ledger, const RecordShared *item, GPtrArray *list, GError **error)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  SatinShared shared = shared_enter (shared_store_here (), &item->digest, item->length);
  g_ptr_array_add (list, shared);
  if (shared_keep (shared, NULL))
    return TRUE;
  digest_to_hex (&item->digest, hex);
  g_autoptr (GBytes) bytes
      = shares_get (ledger->ahead != NULL ? ledger->ahead : ledger->sql, hex, error);
  return bytes != NULL && g_bytes_get_size (bytes) == item->length && shared_keep (shared, bytes);
}

gboolean
ledger_load_shares (Ledger *ledger, const char *type, Row *row, GError **error)
{
  g_autoptr (GArray) found = record_find_shared (type, row->value);
  gboolean all = TRUE;
  if (found == NULL)
    return TRUE;
  row->shares = shared_list_new ();
  for (guint i = 0; all && i < found->len; i++)
    all = load_one (ledger, &g_array_index (found, RecordShared, i), row->shares, error);
  return all;
}

static gboolean
note_name (const char *hex, gint64 size, gpointer data, GError **error)
{
  (void)size;
  (void)error;
  g_hash_table_add (data, g_strdup (hex));
  return TRUE;
}

/* Removes the digests that a value refers to from the set of unused ones. */
static gboolean
keep_spoken (const char *type, GBytes *value, gpointer data, GError **error)
{
  g_autoptr (GArray) found = record_find_shared (type, value);
  (void)error;
  for (guint i = 0; found != NULL && i < found->len; i++)
    {
      char hex[DIGEST_HEX_LENGTH + 1];
      digest_to_hex (&g_array_index (found, RecordShared, i).digest, hex);
      g_hash_table_remove (data, hex);
    }
  return TRUE;
}

gboolean
ledger_sweep_shares (Ledger *ledger, gboolean is_end, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gint64 began_us = g_get_monotonic_time ();
  GHashTableIter iter;
  gpointer hex;
  if (began_us < ledger->sweep_us && !is_end)
    return TRUE;
  if (!shares_each (ledger->sql, note_name, names, error))
    return FALSE;
  if (g_hash_table_size (names) == 0)
    return TRUE;
  if (!shares_each_value (ledger->sql, keep_spoken, names, error))
    return FALSE;
  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &hex, NULL))
    if (!shares_drop (ledger->sql, hex, error))
      return FALSE;
  gint64 now_us = g_get_monotonic_time ();
  if (now_us - began_us > SWEEP_SHORT_US)
    ledger->sweep_us = now_us + (now_us - began_us) * SWEEP_REST;
  return TRUE;
}
