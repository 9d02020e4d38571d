/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of messages: for each field of each kind, writer and reader refuse a value that breaks
 * a rule. */
#include "any-message.h"

#include "satin/value/buffer.h"

#include <math.h>
#include <string.h>

/* The bytes of a message that may break all rules: one that `message_encode` refuses. */
static GBytes *
encode_wrong (const Message *m)
{
  MessageWriter to
      = { .attachments = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref) };
  g_autoptr (GByteArray) all = g_byte_array_new ();
  gsize size;

  pack_begin (&to.packer, message_type (m->kind));
  for (const MessageField *field = message_fields (m->kind); field->meaning != NULL; field++)
    {
      MessageField whole = *field;
      if (whole.shape == SHAPE_TEXT)
        whole.shape = SHAPE_NAME; /* must not be cut */
      message_write_field (&to, m, &whole, m);
    }
  const guint8 *header = pack_end (&to.packer, &size);
  guint32 prelude[] = { GUINT32_TO_LE (m->kind), GUINT32_TO_LE ((guint32)size),
                        GUINT32_TO_LE (to.attachments->len), 0 };
  g_byte_array_append (all, (const guint8 *)prelude, sizeof prelude);
  for (guint i = 0; i < to.attachments->len; i++)
    {
      guint64 length = GUINT64_TO_LE (g_bytes_get_size (to.attachments->pdata[i]));
      g_byte_array_append (all, (const guint8 *)&length, sizeof length);
    }
  g_byte_array_append (all, header, (guint)size);
  while (to.attachments->len > 0 && all->len % BUFFER_ALIGN != 0)
    g_byte_array_append (all, (const guint8 *)"", 1);
  for (guint i = 0; i < to.attachments->len; i++)
    g_byte_array_append (all, g_bytes_get_data (to.attachments->pdata[i], NULL),
                         (guint)g_bytes_get_size (to.attachments->pdata[i]));
  pack_clear (&to.packer);
  g_ptr_array_unref (to.attachments);
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}

/* The reader names the wrong field and kind; the writer does, too, except for texts, which it
 * cuts. */
static void
assert_refused (const Message *m, const MessageField *field)
{
  const MessageField *fault = message_fault (m);
  g_autoptr (GBytes) bytes = encode_wrong (m);
  g_auto (Message) got = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (message_decode (bytes, &got, &error));
  g_assert_error (error, MESSAGE_ERROR, MESSAGE_ERROR_MALFORMED);
  g_assert_null (got.frame);
  g_autofree char *kind = g_strdup_printf ("malformed message '%s': ", message_kind_name (m->kind));
  g_autofree char *name = g_strdup_printf ("its '%s' ", field->meaning);
  g_assert_true (g_str_has_prefix (error->message, kind));
  if (!g_str_has_suffix (error->message, "sizes do not add up")) /* too many attachments */
    g_assert_nonnull (strstr (error->message, name));
  if (field->shape != SHAPE_TEXT)
    g_assert_true (fault == field);
  else
    g_assert_null (fault);
}

/* Lists that are too long or too short; they repeat one item. */
static void
check_list_limits (Message *m, const MessageField *field)
{
  const MessageList *list = message_list (field->shape);
  void *at = (char *)m + field->offset;
  g_autofree void *zeros = g_malloc0 (list->size);
  MessageMember *member = zeros;

  for (guint over = 0; over < (list->min > 0 ? 2 : 1); over++)
    {
      guint n = over == 0 ? list->max + 1 : list->min - 1;
      GArray *array = g_array_new (FALSE, FALSE, (guint)list->size);
      for (guint i = 0; i < n; i++)
        {
          if (field->shape == SHAPE_MEMBERS)
            *member = (MessageMember){ { 1, i + 1, 0 }, "", "", "", 0, 0 };
          if (field->shape == SHAPE_HOLDS)
            ((MessageHold *)zeros)->path = "";
          if (field->shape == SHAPE_SPEAKS)
            ((MessageSpeaks *)zeros)->digest = digest_of_string ("spoken of");
          g_array_append_vals (array, zeros, 1);
        }
      GArray *before = *(GArray **)at;
      *(GArray **)at = array;
      assert_refused (m, field);
      *(GArray **)at = before;
      g_array_unref (array);
    }
}

static void
check_pointers_limit (Message *m, const MessageField *field, Loan *loan, Row *row)
{
  GPtrArray **at = (GPtrArray **)(gpointer)((char *)m + field->offset), *before = *at;
  g_autoptr (GPtrArray) array = g_ptr_array_new ();
  guint max = message_list (field->shape)->max;

  for (guint i = 0; i <= max; i++)
    g_ptr_array_add (array, field->shape == SHAPE_LOANS ? (gpointer)loan : row);
  *at = array;
  assert_refused (m, field);
  *at = before;
}

static void check_limits (Message *m, const MessageField *named, const MessageField *field,
                          void *base);

/* Each limit of each field of an item, and the properties that the list requires of an item. */
static void
check_items (Message *m, const MessageField *field)
{
  const MessageList *list = message_list (field->shape);
  void *at = (char *)m + field->offset;
  MessageMember members[]
      = { { { 1, 2, 0 }, "", "", "", 0, 0 }, { { 1, 2, 0 }, "", "", "", 0, 0 } };
  MessageSpeaks speaks = { 1000, digest_of_string ("spoken of"), 0 };

  for (guint i = 0; list->keep == NULL && *(GArray **)at != NULL && i < (*(GArray **)at)->len; i++)
    for (const MessageField *inner = list->fields; inner->meaning != NULL; inner++)
      check_limits (m, field, inner, (*(GArray **)at)->data + i * list->size);
  for (guint i = 0; list->keep != NULL && i < (*(GPtrArray **)at)->len; i++)
    for (const MessageField *inner = list->fields; inner->meaning != NULL; inner++)
      check_limits (m, field, inner, (*(GPtrArray **)at)->pdata[i]);
  if (field->shape != SHAPE_MEMBERS && field->shape != SHAPE_SPEAKS)
    return;
  GArray *before = *(GArray **)at;
  g_autoptr (GArray) bad = g_array_new (FALSE, FALSE, (guint)list->size);
  *(GArray **)at = bad;
  if (field->shape == SHAPE_MEMBERS) /* two equal items */
    g_array_append_vals (bad, members, 2);
  if (field->shape == SHAPE_SPEAKS) /* a reference to an item that does not exist */
    g_array_append_vals (bad, &speaks, 1);
  assert_refused (m, field);
  if (field->shape == SHAPE_MEMBERS)
    g_array_index (bad, MessageMember, 0).id = NODE_ID_NONE;
  if (field->shape == SHAPE_SPEAKS)
    g_array_index (bad, MessageSpeaks, 0) = (MessageSpeaks){ 0 }; /* with a size of 0 */
  assert_refused (m, field);
  *(GArray **)at = before;
}

static void
check_long (Message *m, const MessageField *named, guint64 *at, guint64 wrong)
{
  guint64 before = *at;

  *at = wrong;
  assert_refused (m, named);
  *at = before;
}

static void
check_text (Message *m, const MessageField *named, const char **at, const char *wrong)
{
  const char *before = *at;

  *at = wrong;
  assert_refused (m, named);
  *at = before;
}

/* `named`: the field of the message that contains it, which both ends name. */
static void
check_limits (Message *m, const MessageField *named, const MessageField *field, void *base)
{
  void *at = (char *)base + field->offset;
  double weights[] = { NAN, INFINITY, -0.1, 1.1 };
  g_autofree char *endless = g_strnfill (MESSAGE_TEXT_MAX + 1, 'x');
  g_autoptr (Loan) loan = loan_new (1, "", 0, &m->digest, 0, NULL);
  g_autoptr (Row) row = row_new ("", 0, &m->digest, 0, 0, NULL);

  switch ((int)field->shape)
    {
    case SHAPE_WORD:
      check_long (m, named, at, (guint64)G_MAXUINT32 + 1);
      break;
    case SHAPE_POSITIVE:
      check_long (m, named, at, 0);
      break;
    case SHAPE_PART:
      m->work_us = MIN (m->work_us, 1000);
      check_long (m, named, at, m->work_us + 1);
      *(guint64 *)at = 0;
      break;
    case SHAPE_WEIGHT:
      for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
        {
          double before = *(double *)at;
          *(double *)at = weights[i];
          assert_refused (m, named);
          *(double *)at = before;
        }
      break;
    case SHAPE_TEXT:
      if (field == named) /* texts of items were cut already */
        check_text (m, named, at, endless);
      break;
    case SHAPE_NAME:
      check_text (m, named, at, endless);
      check_text (m, named, at, "\377");
      break;
    case SHAPE_PATH:
      check_text (m, named, at, "/00");
      check_text (m, named, at, "/4294967296");
      check_text (m, named, at, "x");
      break;
    case SHAPE_LOANS:
    case SHAPE_ROWS:
      check_pointers_limit (m, field, loan, row);
      check_items (m, field);
      break;
    case SHAPE_NUMBERS:
    case SHAPE_MEMBERS:
    case SHAPE_HOLDS:
    case SHAPE_SPEAKS:
      check_list_limits (m, field);
      check_items (m, field);
      break;
    default:
      break; /* this field may have any value */
    }
}

static void
test_both_ends_refuse_what_is_over_a_limit (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    {
      g_auto (AnyMessage) any;
      any_message_init (&any, (MessageKind)kind, rand);
      for (const MessageField *field = message_fields (any.message.kind); field->meaning != NULL;
           field++)
        check_limits (&any.message, field, field, &any.message);
      g_assert_null (message_fault (&any.message)); /* the message is as before */
    }
}

static void
test_a_row_has_a_type_if_it_is_a_kept_state (void)
{
  Digest digest = digest_of_string ("job");
  g_autofree char *deep = g_strnfill (MESSAGE_TEXT_MAX + 1, 'i');
  const struct
  {
    guint32 children;
    const char *type;
  } wrong[] = { { 0, "i" }, { 2, "" }, { 2, "(" }, { 2, deep } };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
      g_ptr_array_add (rows, row_new_kept ("/2", 1, 3, &digest, 0, wrong[i].type, NULL));
      ((Row *)rows->pdata[0])->children = wrong[i].children;
      Message m = { .kind = MESSAGE_COPY, .rows = rows };
      assert_refused (&m, message_fields (MESSAGE_COPY));
    }
}

/* A message that the writer refuses is a bug of this program, which must end. */
static void
test_the_writer_ends_a_program_that_breaks_a_rule (void)
{
  if (g_test_subprocess ())
    {
      message_encode (&(Message){ .kind = MESSAGE_COVERED, .path = "/00" });
      return;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*message 'covered' with a bad 'path'*");
}

/* An error text of a store may be as long as its answer. A text that the reader would refuse would
 * cost the link, so the writer shortens it. */
static void
test_the_writer_mends_texts_for_people (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (GString) endless = g_string_new ("x");
  while (endless->len <= MESSAGE_TEXT_MAX)
    g_string_append (endless, "\303\244");
  guint n = 0;

  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    for (const MessageField *field = message_fields ((MessageKind)kind); field->meaning != NULL;
         field++)
      {
        if (field->shape != SHAPE_TEXT)
          continue;
        n++;
        g_auto (AnyMessage) any;
        any_message_init (&any, (MessageKind)kind, rand);
        const char **at = (const char **)(gpointer)((char *)&any.message + field->offset);
        *at = endless->str;
        g_autoptr (GBytes) bytes = any_message_join (message_encode (&any.message));
        g_auto (Message) got = { 0 };
        g_assert_true (message_decode (bytes, &got, NULL));
        const char *text = *(const char **)(gpointer)((char *)&got + field->offset);
        g_assert_cmpuint (strlen (text), ==, MESSAGE_TEXT_MAX - 1); /* no half character */
        g_assert_true (g_str_has_prefix (endless->str, text));
        *at = "Z\374rich";
        g_autoptr (GBytes) latin = any_message_join (message_encode (&any.message));
        g_auto (Message) mended = { 0 };
        g_assert_true (message_decode (latin, &mended, NULL));
        text = *(const char **)(gpointer)((char *)&mended + field->offset);
        g_assert_cmpstr (text, ==, "Z\357\277\275rich");
      }
  g_assert_cmpuint (n, >, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message-fields/both-ends-refuse-what-is-over-a-limit",
                   test_both_ends_refuse_what_is_over_a_limit);
  g_test_add_func ("/message-fields/a-row-has-a-type-if-it-is-a-kept-state",
                   test_a_row_has_a_type_if_it_is_a_kept_state);
  g_test_add_func ("/message-fields/the-writer-ends-a-program-that-breaks-a-rule",
                   test_the_writer_ends_a_program_that_breaks_a_rule);
  g_test_add_func ("/message-fields/the-writer-mends-texts-for-people",
                   test_the_writer_mends_texts_for_people);
  return g_test_run ();
}
