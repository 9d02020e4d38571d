/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: each kind of the schema is read as it was written, and bytes of strangers do no
 * harm. */
#include "any-message.h"

#include "satin/value/buffer.h"
#include "satin/value/shared.h"

#include <string.h>

#define EACH_KIND 40 /* messages of random contents */

static GBytes *
encode (const Message *message)
{
  return any_message_join (message_encode (message));
}

/* ---- encoded and decoded ---- */

static void assert_same (const MessageField *field, const Message *sent, const void *from,
                         const void *to);

static void
assert_same_texts (const char *sent, const char *got)
{
  g_assert_cmpstr (sent != NULL ? sent : "", ==, got != NULL ? got : "");
}

static void
assert_same_bytes (GBytes *sent, GBytes *got)
{
  g_autoptr (GBytes) empty = g_bytes_new (NULL, 0);

  g_assert_nonnull (got);
  g_assert_true (g_bytes_equal (sent != NULL ? sent : empty, got));
}

static const void *
item_at (const MessageList *list, const void *at, guint i)
{
  if (list->keep != NULL)
    return (*(GPtrArray *const *)at)->pdata[i];
  return (*(GArray *const *)at)->data + i * list->size;
}

static void
assert_same_lists (const MessageList *list, const Message *sent, const void *from, const void *to)
{
  guint n = list->keep != NULL ? (*(GPtrArray *const *)from)->len : (*(GArray *const *)from)->len;

  g_assert_cmpuint (
      list->keep != NULL ? (*(GPtrArray *const *)to)->len : (*(GArray *const *)to)->len, ==, n);
  for (guint i = 0; i < n; i++)
    for (const MessageField *field = list->fields; field->meaning != NULL; field++)
      assert_same (field, sent, item_at (list, from, i), item_at (list, to, i));
}

/* `speaks`: what a decoded message has about the shares of the sender. */
static void
assert_spoken_of (const Message *sent, const GArray *speaks)
{
  guint n = 0;

  for (guint item = 0; item < (sent->rows != NULL ? sent->rows->len : 1); item++)
    {
      const GPtrArray *shares
          = sent->rows != NULL ? ((const Row *)sent->rows->pdata[item])->shares : sent->shares;
      for (guint i = 0; shares != NULL && i < shares->len; i++, n++)
        {
          g_assert_nonnull (speaks);
          g_assert_cmpuint (speaks->len, >, n);
          const MessageSpeaks *one = &g_array_index (speaks, MessageSpeaks, n);
          g_assert_cmpuint (one->item, ==, item);
          g_assert_true (digest_equal (&one->digest, shared_digest (shares->pdata[i])));
          g_assert_cmpuint (one->length, ==, shared_length (shares->pdata[i]));
        }
    }
  g_assert_cmpuint (speaks == NULL ? 0 : speaks->len, ==, n);
  g_assert_cmpint (message_speaks (sent), ==, n > 0);
}

static void
assert_same (const MessageField *field, const Message *sent, const void *from, const void *to)
{
  const void *a = (const char *)from + field->offset, *b = (const char *)to + field->offset;

  switch ((int)field->shape)
    {
    case SHAPE_FLAG:
    case SHAPE_U32:
      g_assert_cmpuint (*(const guint32 *)a, ==, *(const guint32 *)b);
      break;
    case SHAPE_U64:
    case SHAPE_WORD:
    case SHAPE_POSITIVE:
    case SHAPE_PART:
      g_assert_cmpuint (*(const guint64 *)a, ==, *(const guint64 *)b);
      break;
    case SHAPE_WEIGHT:
      g_assert_cmpfloat (*(const double *)a, ==, *(const double *)b);
      break;
    case SHAPE_DIGEST:
      g_assert_true (digest_equal (a, b));
      break;
    case SHAPE_ID:
      g_assert_true (node_id_equal (a, b));
      break;
    case SHAPE_TERM:
      g_assert_cmpint (term_compare (a, b), ==, 0);
      break;
    case SHAPE_TEXT:
    case SHAPE_NAME:
    case SHAPE_PATH:
      assert_same_texts (*(const char *const *)a, *(const char *const *)b);
      break;
    case SHAPE_VALUE:
    case SHAPE_ATTACHED:
      assert_same_bytes (*(GBytes *const *)a, *(GBytes *const *)b);
      break;
    case SHAPE_SPEAKS:
      assert_spoken_of (sent, *(GArray *const *)b);
      break;
    default:
      assert_same_lists (message_list (field->shape), sent, a, b);
    }
}

/* Each field of the kind is the same; fields that the kind does not have are zero in a decoded
 * message. */
static void
assert_came (const Message *sent, GBytes *bytes)
{
  g_auto (Message) got = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (message_decode (bytes, &got, &error));
  g_assert_no_error (error);
  g_assert_cmpint (got.kind, ==, sent->kind);
  for (const MessageField *field = message_fields (sent->kind); field->meaning != NULL; field++)
    assert_same (field, sent, sent, &got);
  if (got.value != NULL)
    g_assert_cmpuint ((guintptr)g_bytes_get_data (got.value, NULL) % BUFFER_ALIGN, ==, 0);
  g_autoptr (GBytes) again = encode (&got); /* as a node does that relays it */
  g_assert_true (g_bytes_equal (bytes, again));
}

static void
test_every_kind_comes_back (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    for (guint i = 0; i < EACH_KIND; i++)
      {
        g_auto (AnyMessage) any;
        any_message_init (&any, (MessageKind)kind, rand);
        g_autoptr (GBytes) bytes = encode (&any.message);

        g_assert_cmpuint (message_kind_of (bytes), ==, (guint)kind);
        assert_came (&any.message, bytes);
      }
}

static void
test_every_kind_has_a_name_of_its_own (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    g_assert_true (g_hash_table_add (names, (gpointer)message_kind_name ((MessageKind)kind)));
  g_assert_cmpstr (message_kind_name (MESSAGE_KINDS), ==, "unknown");
  g_assert_cmpint (MESSAGE_HELLO, ==, 1); /* this number is the same in all versions */
}

/* ---- bytes from strangers ---- */

static void
test_every_truncation_is_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    {
      g_auto (AnyMessage) any;
      any_message_init (&any, (MessageKind)kind, rand);
      g_autoptr (GBytes) bytes = encode (&any.message);
      for (gsize size = 0; size < g_bytes_get_size (bytes); size++)
        {
          g_autoptr (GBytes) less = g_bytes_new_from_bytes (bytes, 0, size);
          g_autofree void *end
              = g_memdup2 (g_bytes_get_data (less, NULL),
                           size); /* on the heap, so that a sanitizer sees an overrun */
          g_autoptr (GBytes) alone = g_bytes_new_static (end, size);
          g_auto (Message) got = { 0 };
          g_assert_false (message_decode (alone, &got, NULL));
        }
    }
}

/* Any bytes are refused, or they are a message that is encoded to the same bytes. TRUE: they
 * are. */
static gboolean
hear (const guint8 *data, gsize size)
{
  g_autofree void *copy = g_memdup2 (data, size); /* so that a sanitizer sees an overrun */
  g_autoptr (GBytes) bytes = g_bytes_new_static (copy, size);
  g_auto (Message) got = { 0 };
  g_autoptr (GError) error = NULL;

  if (!message_decode (bytes, &got, &error))
    {
      g_assert_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED);
      g_assert_null (got.frame);
      return FALSE;
    }
  g_autoptr (GBytes) again = encode (&got);
  g_assert_true (g_bytes_equal (bytes, again));
  return TRUE;
}

static void
test_no_flipped_byte_hurts (void)
{
  static const guint8 flips[] = { 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint taken = 0, refused = 0;

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    {
      g_auto (AnyMessage) any;
      any_message_init (&any, (MessageKind)kind, rand);
      g_autoptr (GBytes) bytes = encode (&any.message);
      gsize size = g_bytes_get_size (bytes);
      g_autofree guint8 *data = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
      for (gsize at = 0; at < MIN (size, 2000); at++)
        for (guint i = 0; i < G_N_ELEMENTS (flips); i++)
          {
            data[at] ^= flips[i];
            if (hear (data, size))
              taken++;
            else
              refused++;
            data[at] ^= flips[i];
          }
    }
  g_assert_cmpuint (taken, >, 0);
  g_assert_cmpuint (refused, >, 0);
}

static void
test_random_mutation_never_hurts (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  guint taken = 0;

  for (guint i = 0; i < 60000; i++)
    {
      g_auto (AnyMessage) any;
      any_message_init (&any, (MessageKind)(1 + i % (MESSAGE_KINDS - 1)), rand);
      g_autoptr (GBytes) bytes = encode (&any.message);
      gsize size = g_bytes_get_size (bytes);
      g_autofree guint8 *data = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
      for (gint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
        data[g_rand_int_range (rand, 0, (gint)size)] = (guint8)g_rand_int (rand);
      if (g_rand_int_range (rand, 0, 4) == 0)
        memset (data + 4, 0xff, (gsize)g_rand_int_range (rand, 1, 12));
      taken += hear (data, size);
    }
  g_assert_cmpuint (taken, >, 0);
}

static gboolean
is_other (const char *path, gpointer bad)
{
  return !g_str_equal (path, bad);
}

/* A receiver can check each path of a message, wherever it stands. */
static void
test_no_path_is_passed_over (void)
{
  static const char *const paths[] = { "/0", "/1", "/2", "/3" };
  const Digest digest = digest_of_string ("");
  const MessageHold hold = { (char *)paths[3], digest, 1 };
  g_autoptr (GPtrArray) loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free),
                        rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GArray) holds = g_array_new (FALSE, FALSE, sizeof hold);
  const Message message = { .path = paths[0], .loans = loans, .rows = rows, .holds = holds };

  g_ptr_array_add (loans, loan_new (1, paths[1], 0, &digest, 1, NULL));
  g_ptr_array_add (rows, row_new (paths[2], 0, &digest, 1, 0, NULL));
  g_array_append_val (holds, hold);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    g_assert_false (message_all_paths (&message, is_other, (gpointer)paths[i]));
  g_assert_true (message_all_paths (&message, is_other, (gpointer) "/4"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/every-kind-comes-back", test_every_kind_comes_back);
  g_test_add_func ("/message/every-kind-has-a-name-of-its-own",
                   test_every_kind_has_a_name_of_its_own);
  g_test_add_func ("/message/no-path-is-passed-over", test_no_path_is_passed_over);
  g_test_add_func ("/message/every-truncation-is-refused", test_every_truncation_is_refused);
  g_test_add_func ("/message/no-flipped-byte-hurts", test_no_flipped_byte_hurts);
  g_test_add_func ("/message/random-mutation-never-hurts", test_random_mutation_never_hurts);
  return g_test_run ();
}
