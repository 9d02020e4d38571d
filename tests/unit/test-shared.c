/* SPDX-License-Identifier: BSD-3-Clause */
/* The store of shared bytes: what is kept, what may be forgotten, and which parts of a value speak
 * of shared bytes. */
#include "config.h"

#include "record.h"
#include "shared.h"

#include <string.h>

static GBytes *
some_bytes (char first, gsize size)
{
  char *data = g_malloc (size);

  memset (data, first, size);
  return g_bytes_new_take (data, size);
}

static Digest
digest_of_bytes (GBytes *bytes)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);

  return digest_of_data (data, size);
}

static gboolean
is_here (SharedStore *store, GBytes *bytes)
{
  Digest digest = digest_of_bytes (bytes);
  g_autoptr (GBytes) found = shared_find (store, &digest);

  return found != NULL && g_bytes_equal (found, bytes);
}

/* Each single byte of a digest names other bytes. */
static void
test_near_misses (void)
{
  g_autoptr (SharedStore) store = shared_store_new (1 << 20);
  g_autoptr (GBytes) bytes = some_bytes ('a', 100);
  Digest digest = digest_of_bytes (bytes);
  SatinShared here = shared_add (store, bytes);

  for (gsize i = 0; i < sizeof digest.bytes; i++)
    {
      digest.bytes[i] ^= 1;
      g_autoptr (GBytes) found = shared_find (store, &digest);
      g_assert_null (found);
      g_assert_false (shared_is_spoken_of (store, &digest));
      digest.bytes[i] ^= 1;
    }
  g_assert_true (is_here (store, bytes));
  shared_unref (here);
}

static void
test_once (void)
{
  g_autoptr (SharedStore) store = shared_store_new (1000);
  g_autoptr (GBytes) bytes = some_bytes ('a', 100), same = some_bytes ('a', 100);
  g_autoptr (GBytes) other = some_bytes ('b', 100);
  SatinShared a = shared_add (store, bytes), b = shared_add (store, same);
  SatinShared c = shared_add (store, other);

  g_assert_true (a == b);
  g_assert_true (a != c);
  g_assert_cmpuint (shared_length (a), ==, 100);
  shared_unref (a);
  shared_unref (b);
  shared_unref (c);
  g_assert_null (shared_ref (NULL));
  shared_unref (NULL);
}

/* Bytes that are referred to and kept stay, whatever the limit. Others are dropped, the longest
 * unused first. */
static void
test_limit (void)
{
  g_autoptr (SharedStore) store = shared_store_new (250);
  g_autoptr (GBytes) a = some_bytes ('a', 100), b = some_bytes ('b', 100);
  g_autoptr (GBytes) c = some_bytes ('c', 100), own = some_bytes ('o', 1000);
  SatinShared kept = shared_add (store, own);
  Digest digest_a = digest_of_bytes (a), digest_b = digest_of_bytes (b);
  Digest digest_c = digest_of_bytes (c);
  SatinShared spoken = shared_enter (store, &digest_b, 100);
  SharedStats stats;

  shared_put (store, &digest_a, a);
  shared_put (store, &digest_b, b);
  g_assert_true (is_here (store, b));
  g_assert_true (is_here (store, a)); /* used last */
  shared_put (store, &digest_c, c);
  g_assert_false (is_here (store, b)); /* although there is a reference to it */
  g_assert_true (is_here (store, a));
  g_assert_true (is_here (store, c));
  g_assert_true (is_here (store, own));
  shared_store_stats (store, &stats);
  g_assert_cmpuint (stats.memory, ==, 200);
  g_assert_cmpuint (stats.forgotten, ==, 1);

  g_assert_false (shared_keep (spoken, NULL));
  g_assert_true (shared_keep (spoken, b));
  shared_store_set_memory (store, 0);
  g_assert_true (is_here (store, b));
  g_assert_true (is_here (store, own));
  g_assert_false (is_here (store, a));
  shared_unref (spoken);
  g_assert_false (is_here (store, b));
  shared_unref (kept);
  g_assert_false (is_here (store, own));
}

/* Bytes without a reference stay while there is room, and are not kept when there is a reference
 * again. */
static void
test_again (void)
{
  g_autoptr (SharedStore) store = shared_store_new (100);
  g_autoptr (GBytes) bytes = some_bytes ('a', 100), other = some_bytes ('b', 1);
  Digest digest = digest_of_bytes (bytes), digest_b = digest_of_bytes (other);
  SatinShared shared = shared_add (store, bytes);
  g_autoptr (GBytes) again = NULL;

  shared_unref (shared);
  shared = shared_enter (store, &digest, 100);
  again = shared_bytes (shared);
  g_assert_true (g_bytes_equal (again, bytes));
  shared_put (store, &digest_b, other);
  g_assert_null (shared_bytes (shared));
  g_assert_true (is_here (store, other));
  shared_unref (shared);
}

static guint64
loose_bytes (SharedStore *store)
{
  SharedStats stats;

  shared_store_stats (store, &stats);
  return stats.memory;
}

/* Bytes are kept only if a reference asks for that while they are here, and only while one is left;
 * bytes alone are no reference. */
static void
test_kept (void)
{
  g_autoptr (SharedStore) store = shared_store_new (1000);
  g_autoptr (GBytes) bytes = some_bytes ('a', 100), other = some_bytes ('b', 10);
  Digest digest = digest_of_bytes (bytes), digest_b = digest_of_bytes (other);

  shared_put (store, &digest, bytes);
  g_assert_false (shared_is_spoken_of (store, &digest));
  g_assert_cmpuint (loose_bytes (store), ==, 100);
  SatinShared shared = shared_enter (store, &digest, 100);
  g_assert_true (shared_is_spoken_of (store, &digest));
  g_assert_cmpuint (loose_bytes (store), ==, 100);
  g_assert_true (shared_keep (shared, NULL));
  g_assert_cmpuint (loose_bytes (store), ==, 0);
  shared_unref (shared);
  g_assert_cmpuint (loose_bytes (store), ==, 100);
  shared = shared_enter (store, &digest, 100);
  shared_put (store, &digest, bytes);
  g_assert_cmpuint (loose_bytes (store), ==, 100);
  shared_unref (shared);

  shared = shared_enter (store, &digest_b, 10);
  g_assert_false (shared_keep (shared, NULL));
  shared_put (store, &digest_b, other);
  g_assert_cmpuint (loose_bytes (store), ==, 110);
  shared_unref (shared);
}

/* References may outlive the store. */
static void
test_outlives (void)
{
  g_autoptr (GBytes) bytes = some_bytes ('a', 100);
  SharedStore *store = shared_store_new (1000);
  SatinShared shared = shared_add (store, bytes);
  GBytes *found;

  shared_store_free (store);
  found = shared_bytes (shared);
  g_assert_true (g_bytes_equal (found, bytes));
  g_bytes_unref (found);
  shared_unref (shared);
}

typedef struct
{
  gint32 number;
  SatinShared one;
  SatinShared many[3];
  SatinBytes bytes;
} Speaks;

static const SatinType type_int32 = { "gint32", 4, SATIN_KIND_INT32, 0, NULL };
static const SatinType type_bytes = { "SatinBytes", sizeof (GBytes *), SATIN_KIND_BYTES, 0, NULL };
static const SatinType type_shared
    = { "SatinShared", sizeof (SatinShared), SATIN_KIND_SHARED, 0, NULL };
static const SatinField fields[] = { { "number", &type_int32, offsetof (Speaks, number), 0 },
                                     { "one", &type_shared, offsetof (Speaks, one), 0 },
                                     { "many", &type_shared, offsetof (Speaks, many), 3 },
                                     { "bytes", &type_bytes, offsetof (Speaks, bytes), 0 } };
static const SatinType type_speaks = { "Speaks", sizeof (Speaks), SATIN_KIND_RECORD, 4, fields };
static const SatinField list_item[] = { { "", &type_speaks, 0, 0 } };
static const SatinType type_list = { "List", sizeof (SatinList_), SATIN_KIND_LIST, 1, list_item };

static void
test_record (void)
{
  g_autoptr (GBytes) a = some_bytes ('a', 10), b = some_bytes ('b', 20);
  SatinShared first = shared_add (shared_store_here (), a);
  SatinShared second = shared_add (shared_store_here (), b);
  Speaks speaks = { 7, second, { first, NULL, second }, a }, back;
  g_autofree char *signature = record_signature (&type_speaks);
  g_autoptr (GBytes) bytes = record_encode (&type_speaks, &speaks);
  g_autoptr (GPtrArray) list = record_list_shared (&type_speaks, &speaks);
  Speaks two[] = { { 1, NULL, { NULL, NULL, first }, a }, speaks };
  SatinList_ items = { two, 2, NULL };
  g_autoptr (GPtrArray) in_items = record_list_shared (&type_list, &items);
  g_autoptr (GArray) found = record_find_shared (signature, bytes);
  const RecordShared *item;

  g_assert_cmpstr (signature, ==, "(i(tthh)a(tthh)ay)");
  g_assert_cmpuint (list->len, ==, 3);
  g_assert_true (list->pdata[0] == second && list->pdata[1] == first);
  g_assert_cmpuint (in_items->len, ==, 4);
  g_assert_true (in_items->pdata[0] == first && in_items->pdata[1] == second);
  g_assert_cmpuint (found->len, ==, 3);
  item = &g_array_index (found, RecordShared, 1);
  g_assert_true (digest_equal (&item->digest, shared_digest (first)));
  g_assert_cmpuint (item->length, ==, 10);
  g_assert_true (record_decode (&type_speaks, bytes, &back, NULL));
  g_assert_true (back.one == second && back.many[0] == first && back.many[1] == NULL);
  record_clear (&type_speaks, &back);
  shared_unref (first);
  shared_unref (second);
  g_assert_null (record_find_shared ("(ix)", bytes));
  g_assert_null (record_list_shared (&type_int32, &speaks.number));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shared/near-misses", test_near_misses);
  g_test_add_func ("/shared/once", test_once);
  g_test_add_func ("/shared/limit", test_limit);
  g_test_add_func ("/shared/again", test_again);
  g_test_add_func ("/shared/kept", test_kept);
  g_test_add_func ("/shared/outlives", test_outlives);
  g_test_add_func ("/shared/record", test_record);
  return g_test_run ();
}
