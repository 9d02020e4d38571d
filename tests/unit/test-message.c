/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages there and back, and what the world might send instead of them. */
#include "satin/protocol/message.h"

#include "value/buffer.h"
#include "value/shared.h"

#include <math.h>
#include <string.h>

static GBytes *
join_parts (GPtrArray *parts)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (parts->pdata[i], &size);
      g_byte_array_append (all, data, (guint)size);
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}

static GBytes *
encode (const Message *message)
{
  g_autoptr (GPtrArray) parts = message_encode (message);
  return join_parts (parts);
}

typedef struct
{
  Digest digest;
  GBytes *value;
  GPtrArray *loans, *rows, *shares;
  GArray *members, *holds, *numbers, *constants;
} Sample;

static void
sample_init (Sample *s)
{
  *s = (Sample){ .digest = digest_of_string ("job"), .value = g_bytes_new ("some value", 10) };
  s->loans = g_ptr_array_new_with_free_func ((GDestroyNotify)loan_free);
  g_ptr_array_add (s->loans, loan_new (7, "/0/3", 2, &s->digest, 0.25, s->value));
  g_ptr_array_add (s->loans, loan_new (8, "", 0, &s->digest, 1, NULL));
  s->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (s->rows, row_new ("/1", 3, &s->digest, 0.5, 99, s->value));
  g_ptr_array_add (s->rows, row_new_kept ("/2", 8, 3, &s->digest, 0.5, "(xd)", s->value));
  s->shares = shared_list_new ();
  g_ptr_array_add (s->shares, shared_add (shared_store_here (), s->value));
  ((Row *)s->rows->pdata[1])->shares = g_ptr_array_ref (s->shares);
  s->members = g_array_new (FALSE, FALSE, sizeof (MessageMember));
  MessageMember members[] = { { { 1, 1, 5 }, "unix:/a", "host", "site", 10, 2 },
                              { { 1, 2, 6 }, "tcp:127.0.0.1:9", "other", "", 11, 4 } };
  g_array_append_vals (s->members, members, 2);
  s->holds = g_array_new (FALSE, FALSE, sizeof (MessageHold));
  MessageHold hold = { "/0/1/2", s->digest, TRUE };
  g_array_append_val (s->holds, hold);
  s->numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint64 numbers[] = { 3, 1, G_MAXUINT64 };
  g_array_append_vals (s->numbers, numbers, 3);
  s->constants = g_array_new (FALSE, FALSE, sizeof (MessageConstant));
  MessageConstant constants[] = { { "const/a", s->value }, { "input/b", s->value } };
  g_array_append_vals (s->constants, constants, 2);
}

static void
sample_clear (Sample *s)
{
  g_bytes_unref (s->value);
  g_ptr_array_unref (s->loans);
  g_ptr_array_unref (s->rows);
  g_ptr_array_unref (s->shares);
  g_array_unref (s->members);
  g_array_unref (s->holds);
  g_array_unref (s->numbers);
  g_array_unref (s->constants);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sample, sample_clear)

static gboolean
takes_rows (MessageKind kind)
{
  return kind == MESSAGE_SAVE || kind == MESSAGE_HAND;
}

/* Everything set: each kind takes what it needs. */
static Message
full (const Sample *s, MessageKind kind)
{
  return (Message){ .kind = kind,
                    .id = { 1, 2, 3 },
                    .term = { 4, { 1, 1, 1 } },
                    .number = 42,
                    .version = 6,
                    .work_us = 77,
                    .risk_us = 33,
                    .count = 5,
                    .flag = TRUE,
                    .digest = s->digest,
                    .text = "text",
                    .host = "h",
                    .site = "s",
                    .path = "/5/4",
                    .value = s->value,
                    .loans = s->loans,
                    .shares = kind == MESSAGE_RESULT ? s->shares : NULL,
                    .rows = takes_rows (kind) ? s->rows : NULL,
                    .members = s->members,
                    .holds = s->holds,
                    .numbers = s->numbers,
                    .constants = s->constants };
}

/* What is spoken of goes to its items, as at the door of a node. */
static void
attach (Message *m)
{
  for (guint i = 0; m->speaks != NULL && i < m->speaks->len; i++)
    {
      const MessageSpeaks *speaks = &g_array_index (m->speaks, MessageSpeaks, i);
      GPtrArray **to
          = m->rows != NULL ? &((Row *)m->rows->pdata[speaks->item])->shares : &m->shares;
      *to = *to != NULL ? *to : shared_list_new ();
      g_ptr_array_add (*to, shared_enter (shared_store_here (), &speaks->digest, speaks->length));
    }
}

static void
test_every_kind_comes_back (void)
{
  g_auto (Sample) s;
  sample_init (&s);

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    {
      Message sent = full (&s, kind);
      g_autoptr (GBytes) bytes = encode (&sent);
      g_auto (Message) got = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_true (message_decode (bytes, &got, &error));
      g_assert_no_error (error);

      g_assert_cmpint (got.kind, ==, kind);
      g_assert_cmpuint (message_kind_of (bytes), ==, (guint)kind);
      g_assert_cmpint (message_speaks (&sent), ==, got.speaks != NULL);
      attach (&got);
      Message again = got;
      again.value = got.value;
      g_autoptr (GBytes) second = encode (&again);
      g_assert_true (g_bytes_equal (bytes, second));
    }
}

static void
test_jobs_keep_their_arguments (void)
{
  g_auto (Sample) s;
  sample_init (&s);
  Message sent = full (&s, MESSAGE_JOBS);
  g_autoptr (GBytes) bytes = encode (&sent);
  g_auto (Message) got = { 0 };

  g_assert_true (message_decode (bytes, &got, NULL));

  g_assert_cmpuint (got.loans->len, ==, 2);
  const Loan *loan = got.loans->pdata[0];
  g_assert_cmpuint (loan->loan, ==, 7);
  g_assert_cmpstr (loan->path, ==, "/0/3");
  g_assert_true (g_bytes_equal (loan->args, s.value));
  g_assert_cmpuint ((guintptr)g_bytes_get_data (loan->args, NULL) % BUFFER_ALIGN, ==, 0);
  g_assert_true (digest_equal (&loan->digest, &s.digest));
}

static void
refuse (const Message *message)
{
  g_autoptr (GBytes) bytes = encode (message);
  g_auto (Message) got = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (message_decode (bytes, &got, &error));
  g_assert_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED);
}

static void
test_what_breaks_a_rule_is_refused (void)
{
  g_auto (Sample) s;
  sample_init (&s);
  g_autofree char *endless = g_strnfill (MESSAGE_TEXT_MAX + 1, 'x');

  Message message = full (&s, MESSAGE_COVERED);
  message.path = "/00";
  refuse (&message);
  g_array_index (s.constants, MessageConstant, 1).name = endless;
  message = full (&s, MESSAGE_CONSTANTS);
  refuse (&message);
  g_array_index (s.constants, MessageConstant, 1).name = "input/b";
  ((Loan *)s.loans->pdata[0])->weight = NAN;
  message = full (&s, MESSAGE_JOBS);
  refuse (&message);
  MessageMember twin = g_array_index (s.members, MessageMember, 1);
  g_array_append_val (s.members, twin); /* members stand in order, each once */
  message = full (&s, MESSAGE_ROSTER);
  refuse (&message);
  g_array_set_size (s.members, 0);
  refuse (&message);
  g_array_set_size (s.numbers, MESSAGE_NUMBERS_MAX + 1);
  message = full (&s, MESSAGE_HOLDING);
  refuse (&message);
  MessageConstant late = g_array_index (s.constants, MessageConstant, 0);
  g_array_append_val (s.constants, late); /* in the order of names */
  message = full (&s, MESSAGE_CONSTANTS);
  refuse (&message);
}

/* A store's error may be as long as its answer. What the reader would refuse costs the link. */
static void
test_a_text_that_is_too_long_is_cut_by_the_writer (void)
{
  g_auto (Sample) s;
  sample_init (&s);
  g_autoptr (GString) endless = g_string_new ("x");
  while (endless->len <= MESSAGE_TEXT_MAX)
    g_string_append (endless, "\303\244");
  static const MessageKind kinds[]
      = { MESSAGE_BID, MESSAGE_ELECT, MESSAGE_EVENT, MESSAGE_LAST_WORDS, MESSAGE_JOIN };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      Message message = full (&s, kinds[i]);
      message.text = message.host = endless->str;
      g_autoptr (GBytes) bytes = encode (&message);
      g_auto (Message) got = { 0 };
      g_assert_true (message_decode (bytes, &got, NULL));
      g_assert_cmpuint (strlen (got.text), ==, MESSAGE_TEXT_MAX - 1); /* no half of a character */
      g_assert_true (g_utf8_validate (got.text, -1, NULL));
    }
}

static void
test_every_truncation_is_refused (void)
{
  g_auto (Sample) s;
  sample_init (&s);

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    {
      Message sent = full (&s, kind);
      g_autoptr (GBytes) bytes = encode (&sent);
      for (gsize size = 0; size < g_bytes_get_size (bytes); size++)
        {
          g_autoptr (GBytes) less = g_bytes_new_from_bytes (bytes, 0, size);
          g_auto (Message) got = { 0 };
          g_assert_false (message_decode (less, &got, NULL));
        }
    }
}

/* Whatever comes is refused, or it is a message that can be sent on. */
static void
test_random_mutation_never_hurts (void)
{
  g_auto (Sample) s;
  sample_init (&s);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  guint taken = 0;

  for (guint i = 0; i < 60000; i++)
    {
      Message sent = full (&s, 1 + (int)(i % (MESSAGE_KINDS - 1)));
      g_autoptr (GBytes) bytes = encode (&sent);
      gsize size;
      g_autofree guint8 *data
          = g_memdup2 (g_bytes_get_data (bytes, &size), g_bytes_get_size (bytes));
      size = g_bytes_get_size (bytes);
      for (gint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
        data[g_rand_int_range (rand, 0, (gint)size)] = (guint8)g_rand_int (rand);
      if (g_rand_int_range (rand, 0, 4) == 0)
        memset (data + 4, 0xff, (gsize)g_rand_int_range (rand, 1, 12));
      g_autoptr (GBytes) bad = g_bytes_new (data, size);
      g_auto (Message) got = { 0 };

      if (!message_decode (bad, &got, NULL))
        {
          g_assert_null (got.frame);
          continue;
        }

      taken++;
      g_autoptr (GBytes) again = encode (&got);
      g_auto (Message) second = { 0 };
      g_assert_true (message_decode (again, &second, NULL));
    }
  g_assert_cmpuint (taken, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/every-kind-comes-back", test_every_kind_comes_back);
  g_test_add_func ("/message/jobs-keep-their-arguments", test_jobs_keep_their_arguments);
  g_test_add_func ("/message/what-breaks-a-rule-is-refused", test_what_breaks_a_rule_is_refused);
  g_test_add_func ("/message/a-text-that-is-too-long-is-cut-by-the-writer",
                   test_a_text_that_is_too_long_is_cut_by_the_writer);
  g_test_add_func ("/message/every-truncation-is-refused", test_every_truncation_is_refused);
  g_test_add_func ("/message/random-mutation-never-hurts", test_random_mutation_never_hurts);
  return g_test_run ();
}
