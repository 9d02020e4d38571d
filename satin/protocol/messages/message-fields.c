/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, reads and checks the fields of a message; see message-fields.h. Pure. Reading trusts
 * nothing. */
#include "message-fields.h"

#include "value/shared.h"

#include <math.h>
#include <string.h>

/* ---- the lists ---- */

static gboolean
member_rule (const Message *m G_GNUC_UNUSED, const void *item, const void *before)
{
  const MessageMember *member = item, *last = before;

  return !node_id_is_none (&member->id)
         && (last == NULL || node_id_compare (&last->id, &member->id) < 0);
}

static gboolean
id_rule (const Message *m G_GNUC_UNUSED, const void *item, const void *before)
{
  return !node_id_is_none (item) && (before == NULL || node_id_compare (before, item) < 0);
}

/* A kept state has a type; a result has none. */
static gboolean
row_rule (const Message *m G_GNUC_UNUSED, const void *item, const void *before G_GNUC_UNUSED)
{
  const Row *row = item;

  if (row->children == 0)
    return row->type == NULL || row->type[0] == '\0';
  return row->type != NULL && strlen (row->type) <= RECORD_SIGNATURE_MAX
         && g_variant_type_string_is_valid (row->type);
}

static gboolean
speaks_rule (const Message *m, const void *item, const void *before G_GNUC_UNUSED)
{
  const MessageSpeaks *speaks = item;

  return speaks->item < (m->rows != NULL ? m->rows->len : 1) && !digest_is_zero (&speaks->digest);
}

static gpointer
keep_loan (const void *item)
{
  return loan_copy (item);
}

static gpointer
keep_row (const void *item)
{
  const Row *read = item;
  Row *row
      = row_new (read->path, read->job, &read->digest, read->weight, read->work_us, read->value);

  row->node = read->node;
  row->children = read->children;
  row->began_ms = read->began_ms;
  row->took_ms = read->took_ms;
  row->args = read->args[0] == '\0' ? NULL : g_strdup (read->args);
  row->type = read->type[0] == '\0' ? NULL : g_strdup (read->type);
  return row;
}

static const MessageField number_fields[] = { { "number", SHAPE_U64, 0 }, { 0 } };
static const MessageField id_fields[] = { { "id", SHAPE_ID, 0 }, { 0 } };
static const MessageField member_fields[] = { MEMBER_FIELDS (FIELD_OF){ 0 } };
static const MessageField hold_fields[] = { HOLD_FIELDS (FIELD_OF){ 0 } };
static const MessageField loan_fields[] = { LOAN_FIELDS (FIELD_OF){ 0 } };
static const MessageField row_fields[] = { ROW_FIELDS (FIELD_OF){ 0 } };
static const MessageField speaks_fields[] = { SPEAKS_FIELDS (FIELD_OF){ 0 } };

static const MessageList lists[SHAPES - SHAPE_NUMBERS] = {
  { number_fields, sizeof (guint64), 0, MESSAGE_NUMBERS_MAX, NULL, NULL, NULL },
  { member_fields, sizeof (MessageMember), 1, MESSAGE_MEMBERS_MAX, member_rule, NULL, NULL },
  { member_fields, sizeof (MessageMember), 0, MESSAGE_MEMBERS_MAX, member_rule, NULL, NULL },
  { id_fields, sizeof (NodeId), 0, MESSAGE_MEMBERS_MAX, id_rule, NULL, NULL },
  { hold_fields, sizeof (MessageHold), 0, MESSAGE_ITEMS_MAX, NULL, NULL, NULL },
  { loan_fields, sizeof (Loan), 0, MESSAGE_ITEMS_MAX, NULL, keep_loan, (GDestroyNotify)loan_free },
  { row_fields, sizeof (Row), 0, MESSAGE_ITEMS_MAX, row_rule, keep_row, (GDestroyNotify)row_free },
  { speaks_fields, sizeof (MessageSpeaks), 0, MESSAGE_SPEAKS_MAX, speaks_rule, NULL, NULL },
};

const MessageList *
message_list (MessageShape shape)
{
  return shape < SHAPE_NUMBERS ? NULL : &lists[shape - SHAPE_NUMBERS];
}

/* The number of items. `at`: the address of the pointer to the array, which may be NULL. */
static guint
n_items (const MessageList *list, const void *at)
{
  if (list->keep != NULL)
    return *(GPtrArray *const *)at != NULL ? (*(GPtrArray *const *)at)->len : 0;
  return *(GArray *const *)at != NULL ? (*(GArray *const *)at)->len : 0;
}

static const void *
item_at (const MessageList *list, const void *at, guint i)
{
  if (list->keep != NULL)
    return (*(GPtrArray *const *)at)->pdata[i];
  return (*(GArray *const *)at)->data + i * list->size;
}

/* ---- rules ---- */

static gboolean holds (const Message *m, const MessageField *field, const void *base);

static gboolean
list_holds (const Message *m, const MessageList *list, const void *at)
{
  guint n = n_items (list, at);
  const void *before = NULL;

  if (n < list->min || n > list->max)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const void *item = item_at (list, at, i);
      for (const MessageField *field = list->fields; field->meaning != NULL; field++)
        if (!holds (m, field, item))
          return FALSE;
      if (list->rule != NULL && !list->rule (m, item, before))
        return FALSE;
      before = item;
    }
  return TRUE;
}

static gboolean
is_name (const char *text)
{
  return text != NULL && strlen (text) <= MESSAGE_TEXT_MAX && g_utf8_validate (text, -1, NULL);
}

static gboolean
is_weight (double weight)
{
  return isfinite (weight) && weight >= 0 && weight <= 1;
}

static gboolean
holds (const Message *m, const MessageField *field, const void *base)
{
  const void *at = (const char *)base + field->offset;

  switch (field->shape)
    {
    case SHAPE_WORD:
      return *(const guint64 *)at <= G_MAXUINT32;
    case SHAPE_POSITIVE:
      return *(const guint64 *)at > 0;
    case SHAPE_PART:
      return *(const guint64 *)at <= m->work_us;
    case SHAPE_WEIGHT:
      return is_weight (*(const double *)at);
    case SHAPE_NAME:
      return is_name (*(const char *const *)at);
    case SHAPE_PATH:
      return *(const char *const *)at != NULL && path_is_canonical (*(const char *const *)at);
    case SHAPE_FLAG:
    case SHAPE_U32:
    case SHAPE_U64:
    case SHAPE_DIGEST:
    case SHAPE_ID:
    case SHAPE_TERM:
    case SHAPE_TEXT:
    case SHAPE_VALUE:
    case SHAPE_ATTACHED:
      return TRUE;
    case SHAPE_NUMBERS ... SHAPE_SPEAKS:
      return list_holds (m, message_list (field->shape), at);
    case SHAPES:
      break;
    }
  g_assert_not_reached ();
}

/* In a message to be sent the shared bytes are in the shares of values and rows; in a decoded
 * message they are in a list. */
static guint
n_shares (const Message *m)
{
  guint n = m->shares != NULL ? m->shares->len : 0;

  for (guint i = 0; m->rows != NULL && i < m->rows->len; i++)
    {
      const GPtrArray *shares = ((const Row *)m->rows->pdata[i])->shares;
      n += shares != NULL ? shares->len : 0;
    }
  return n;
}

const MessageField *
message_fault (const Message *m)
{
  for (const MessageField *field = message_fields (m->kind); field->meaning != NULL; field++)
    if (!holds (m, field, m) || (field->shape == SHAPE_SPEAKS && n_shares (m) > MESSAGE_SPEAKS_MAX))
      return field;
  return NULL;
}

/* ---- writing ---- */

static void
write_digest (Packer *to, const Digest *digest)
{
  pack_fixed (to, digest->bytes, sizeof digest->bytes);
}

static void
write_id (Packer *to, const NodeId *id)
{
  pack_open (to);
  pack_u32 (to, id->term);
  pack_u32 (to, id->number);
  pack_u32 (to, id->random);
  pack_close (to);
}

static void
write_term (Packer *to, const Term *term)
{
  pack_open (to);
  pack_u32 (to, term->number);
  write_id (to, &term->opener);
  pack_close (to);
}

/* Writes a text that the reader accepts, since otherwise the link would be closed: it is cut and
 * made valid UTF-8. */
static void
write_text (Packer *to, const char *text)
{
  gsize size = text != NULL ? strlen (text) : 0;
  g_autofree char *valid = NULL;
  g_autofree char *cut = NULL;

  if (size > 0 && !g_utf8_validate (text, (gssize)size, NULL))
    {
      text = valid = g_utf8_make_valid (text, (gssize)size);
      size = strlen (text);
    }
  if (size > MESSAGE_TEXT_MAX)
    {
      for (size = MESSAGE_TEXT_MAX; size > 0 && ((guint8)text[size] & 0xc0) == 0x80;) /* not within
                                                                                       * a UTF-8
                                                                                       * character
                                                                                       */
        size--;
      text = cut = g_strndup (text, size);
    }
  pack_text (to, text != NULL ? text : "");
}

static void
attach (MessageWriter *to, GBytes *bytes)
{
  g_ptr_array_add (to->attachments, bytes != NULL ? g_bytes_ref (bytes) : g_bytes_new (NULL, 0));
}

static void
write_item (MessageWriter *to, const Message *m, const MessageList *list, const void *item)
{
  pack_open (&to->packer);
  for (const MessageField *field = list->fields; field->meaning != NULL; field++)
    message_write_field (to, m, field, item);
  pack_close (&to->packer);
}

static void
write_shares (MessageWriter *to, const Message *m, guint32 item, const GPtrArray *shares)
{
  for (guint i = 0; shares != NULL && i < shares->len; i++)
    {
      MessageSpeaks speaks
          = { item, *shared_digest (shares->pdata[i]), shared_length (shares->pdata[i]) };
      write_item (to, m, message_list (SHAPE_SPEAKS), &speaks);
    }
}

/* Writes a list. The list of shared bytes is made here from the value or the rows; a decoded
 * message has it. */
static void
write_list (MessageWriter *to, const Message *m, MessageShape shape, const void *at)
{
  const MessageList *list = message_list (shape);
  guint n = n_items (list, at);

  pack_open (&to->packer);
  for (guint i = 0; i < n; i++)
    write_item (to, m, list, item_at (list, at, i));
  if (shape == SHAPE_SPEAKS && m->speaks == NULL)
    {
      write_shares (to, m, 0, m->shares);
      for (guint i = 0; m->rows != NULL && i < m->rows->len; i++)
        write_shares (to, m, i, ((const Row *)m->rows->pdata[i])->shares);
    }
  pack_close (&to->packer);
}

void
message_write_field (MessageWriter *to, const Message *m, const MessageField *field,
                     const void *base)
{
  const void *at = (const char *)base + field->offset;
  Packer *packer = &to->packer;

  switch (field->shape)
    {
    case SHAPE_FLAG:
      pack_bool (packer, *(const gboolean *)at);
      break;
    case SHAPE_U32:
      pack_u32 (packer, *(const guint32 *)at);
      break;
    case SHAPE_U64:
    case SHAPE_WORD:
    case SHAPE_POSITIVE:
    case SHAPE_PART:
      pack_u64 (packer, *(const guint64 *)at);
      break;
    case SHAPE_WEIGHT:
      pack_double (packer, *(const double *)at);
      break;
    case SHAPE_DIGEST:
      write_digest (packer, at);
      break;
    case SHAPE_ID:
      write_id (packer, at);
      break;
    case SHAPE_TERM:
      write_term (packer, at);
      break;
    case SHAPE_TEXT:
      write_text (packer, *(const char *const *)at);
      break;
    case SHAPE_NAME:
    case SHAPE_PATH:
      pack_text (packer, *(const char *const *)at);
      break;
    case SHAPE_VALUE:
    case SHAPE_ATTACHED:
      attach (to, *(GBytes *const *)at);
      break;
    case SHAPE_NUMBERS ... SHAPE_SPEAKS:
      write_list (to, m, field->shape, at);
      break;
    case SHAPES:
      g_assert_not_reached ();
    }
}

/* ---- reading ---- */

static void
read_digest (Unpacker *from, Digest *digest)
{
  unpack_fixed (from, digest->bytes, sizeof digest->bytes);
}

static void
read_id (Unpacker *from, NodeId *id)
{
  unpack_open (from);
  id->term = unpack_u32 (from);
  id->number = unpack_u32 (from);
  id->random = unpack_u32 (from);
  unpack_close (from);
}

static void
read_term (Unpacker *from, Term *term)
{
  unpack_open (from);
  term->number = unpack_u32 (from);
  read_id (from, &term->opener);
  unpack_close (from);
}

/* Only the reader checks the length: the writer cuts. */
static const char *
read_text (Unpacker *from)
{
  const char *text = unpack_text (from);

  from->in.failed = from->in.failed || strlen (text) > MESSAGE_TEXT_MAX;
  return text;
}

typedef union
{
  guint64 number;
  NodeId id;
  MessageMember member;
  MessageHold hold;
  Loan loan;
  Row row;
  MessageSpeaks speaks;
} Item;

/* FALSE: the item is invalid. */
static gboolean
read_item (MessageReader *from, Message *m, const MessageList *list, Item *item)
{
  memset (item, 0, sizeof *item);
  unpack_open (&from->unpacker);
  for (const MessageField *field = list->fields; field->meaning != NULL; field++)
    message_read_field (from, m, field, item);
  unpack_close (&from->unpacker);
  return !from->unpacker.in.failed;
}

static void
read_array (MessageReader *from, Message *m, const MessageList *list, GArray *to)
{
  Item item;

  while (unpack_more (&from->unpacker) && to->len < list->max && read_item (from, m, list, &item))
    g_array_append_vals (to, &item, 1);
}

static void
read_pointers (MessageReader *from, Message *m, const MessageList *list, GPtrArray *to)
{
  Item item;

  while (unpack_more (&from->unpacker) && to->len < list->max && read_item (from, m, list, &item))
    g_ptr_array_add (to, list->keep (&item));
}

static void
read_list (MessageReader *from, Message *m, MessageShape shape, void *at)
{
  const MessageList *list = message_list (shape);

  unpack_open (&from->unpacker);
  if (list->keep != NULL)
    {
      GPtrArray *array = g_ptr_array_new_with_free_func (list->clear);
      *(GPtrArray **)at = array;
      read_pointers (from, m, list, array);
    }
  else if (shape != SHAPE_SPEAKS || unpack_more (&from->unpacker)) /* most values refer to no shared
                                                                    * bytes */
    {
      GArray *array = g_array_new (FALSE, FALSE, (guint)list->size);
      *(GArray **)at = array;
      read_array (from, m, list, array);
    }
  unpack_close (&from->unpacker); /* fails if there are more */
}

void
message_read_field (MessageReader *from, Message *m, const MessageField *field, void *base)
{
  void *at = (char *)base + field->offset;
  Unpacker *unpacker = &from->unpacker;

  switch (field->shape)
    {
    case SHAPE_FLAG:
      *(gboolean *)at = unpack_bool (unpacker);
      break;
    case SHAPE_U32:
      *(guint32 *)at = unpack_u32 (unpacker);
      break;
    case SHAPE_U64:
    case SHAPE_WORD:
    case SHAPE_POSITIVE:
    case SHAPE_PART:
      *(guint64 *)at = unpack_u64 (unpacker);
      break;
    case SHAPE_WEIGHT:
      *(double *)at = unpack_double (unpacker);
      break;
    case SHAPE_DIGEST:
      read_digest (unpacker, at);
      break;
    case SHAPE_ID:
      read_id (unpacker, at);
      break;
    case SHAPE_TERM:
      read_term (unpacker, at);
      break;
    case SHAPE_TEXT:
    case SHAPE_NAME:
      *(const char **)at = read_text (unpacker);
      break;
    case SHAPE_PATH:
      *(const char **)at = unpack_text (unpacker);
      break;
    case SHAPE_ATTACHED:
      *(GBytes **)at = message_take_attachment (from);
      break;
    case SHAPE_VALUE:
      (void)message_take_attachment (from);
      *(GBytes **)at = g_steal_pointer (&from->last);
      break;
    case SHAPE_NUMBERS ... SHAPE_SPEAKS:
      read_list (from, m, field->shape, at);
      break;
    case SHAPES:
      g_assert_not_reached ();
    }
}
