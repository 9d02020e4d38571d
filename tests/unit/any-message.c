/* SPDX-License-Identifier: BSD-3-Clause */
/* See any-message.h. */
#include "any-message.h"

#include "satin/value/shared.h"

#include <string.h>

/* The ends of the range are as likely as the numbers between them. */
static guint64
any_number (GRand *rand, guint64 max)
{
  guint64 number = ((guint64)g_rand_int (rand) << 32) | g_rand_int (rand);

  switch (g_rand_int_range (rand, 0, 4))
    {
    case 0:
      return 0;
    case 1:
      return max;
    case 2:
      return number % 100 <= max ? number % 100 : max;
    default:
      return max == G_MAXUINT64 ? number : number % (max + 1);
    }
}

static const char *
keep (AnyMessage *any, char *text)
{
  g_ptr_array_add (any->texts, text);
  return text;
}

static const char *
any_text (AnyMessage *any)
{
  static const char *const letters[] = { "a", "/", " ", "\303\244", "\342\202\254" };
  gboolean full = g_rand_int_range (any->rand, 0, 30) == 0;
  gsize size = full ? MESSAGE_TEXT_MAX : (gsize)g_rand_int_range (any->rand, 0, 40);
  g_autoptr (GString) text = g_string_new ("");

  while (text->len + 3 <= size)
    g_string_append (text, letters[g_rand_int_range (any->rand, 0, G_N_ELEMENTS (letters))]);
  while (full && text->len < size)
    g_string_append_c (text, 'x');
  return keep (any, g_string_free (g_steal_pointer (&text), FALSE));
}

static const char *
any_path (AnyMessage *any)
{
  g_autoptr (GString) path = g_string_new ("");

  for (gint n = g_rand_int_range (any->rand, 0, 6); n > 0; n--)
    g_string_append_printf (path, "/%u", (guint)any_number (any->rand, G_MAXUINT32));
  return keep (any, g_string_free (g_steal_pointer (&path), FALSE));
}

static GBytes *
any_bytes (AnyMessage *any)
{
  guint8 data[100];
  gsize size = (gsize)g_rand_int_range (any->rand, 0, sizeof data);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8)g_rand_int (any->rand);
  return size == 0 ? NULL : g_bytes_new (data, size);
}

static void
any_digest (AnyMessage *any, Digest *digest)
{
  g_autofree char *text = g_strdup_printf ("%u", g_rand_int (any->rand));

  *digest = digest_of_string (text);
}

static NodeId
any_id (AnyMessage *any)
{
  return (NodeId){ g_rand_int (any->rand), g_rand_int (any->rand), g_rand_int (any->rand) };
}

static void fill (AnyMessage *any, const MessageField *field, void *base);

typedef union
{
  guint64 number;
  NodeId id;
  MessageMember member;
  MessageHold hold;
  Loan loan;
  Row row;
} Item;

/* Item number `i`, with the properties that its list requires. */
static void
fill_item (AnyMessage *any, MessageShape shape, guint i, Item *item)
{
  memset (item, 0, sizeof *item);
  for (const MessageField *field = message_list (shape)->fields; field->meaning != NULL; field++)
    fill (any, field, item);
  if (shape == SHAPE_MEMBERS || shape == SHAPE_JOINERS)
    item->member.id.term = i + 1;
  if (shape == SHAPE_IDS)
    item->id.term = i + 1;
  if (shape == SHAPE_ROWS)
    item->row.children = i % 2 == 0 ? 0 : MAX (item->row.children, 1);
  if (shape == SHAPE_ROWS)
    item->row.type = item->row.children == 0 ? g_strdup ("") : g_strdup ("(xd)");
  if (shape == SHAPE_ROWS)
    g_ptr_array_add (any->texts, item->row.type);
}

static void
fill_list (AnyMessage *any, MessageShape shape, void *at)
{
  const MessageList *list = message_list (shape);
  guint n = (guint)g_rand_int_range (any->rand, (gint)list->min, 5);
  GPtrArray *pointers = list->keep == NULL ? NULL : g_ptr_array_new_with_free_func (list->clear);
  GArray *array = list->keep != NULL ? NULL : g_array_new (FALSE, FALSE, (guint)list->size);
  Item item;

  for (guint i = 0; i < n; i++)
    {
      fill_item (any, shape, i, &item);
      if (array != NULL)
        g_array_append_vals (array, &item, 1);
      else
        g_ptr_array_add (pointers, list->keep (&item));
      if (shape == SHAPE_LOANS)
        g_clear_pointer (&item.loan.args, g_bytes_unref); /* the copy has its own */
      if (shape == SHAPE_ROWS)
        g_clear_pointer (&item.row.value, g_bytes_unref);
    }
  if (array != NULL)
    *(GArray **)at = array;
  else
    *(GPtrArray **)at = pointers;
}

static GPtrArray *
any_shares (AnyMessage *any)
{
  gint n = g_rand_int_range (any->rand, 0, 4);
  GPtrArray *shares = n == 0 ? NULL : shared_list_new ();

  for (gint i = 0; i < n; i++)
    {
      Digest digest;
      any_digest (any, &digest);
      g_ptr_array_add (shares, shared_enter (shared_store_here (), &digest,
                                             any_number (any->rand, G_MAXUINT32)));
    }
  return shares;
}

/* The shares as a sender puts them into a message. */
static void
fill_shares (AnyMessage *any)
{
  const GPtrArray *rows = any->message.rows;

  if (rows == NULL)
    any->message.shares = any_shares (any);
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    ((Row *)rows->pdata[i])->shares = any_shares (any);
}

static void
fill_long (AnyMessage *any, MessageShape shape, guint64 *at)
{
  guint64 max = shape == SHAPE_WORD   ? G_MAXUINT32
                : shape == SHAPE_PART ? any->message.work_us
                                      : G_MAXUINT64;

  *at = any_number (any->rand, max);
  if (shape == SHAPE_POSITIVE)
    *at = MAX (*at, 1);
}

static void
fill (AnyMessage *any, const MessageField *field, void *base)
{
  void *at = (char *)base + field->offset;

  switch ((int)field->shape)
    {
    case SHAPE_FLAG:
      *(gboolean *)at = g_rand_boolean (any->rand);
      break;
    case SHAPE_U32:
      *(guint32 *)at = (guint32)any_number (any->rand, G_MAXUINT32);
      break;
    case SHAPE_U64:
    case SHAPE_WORD:
    case SHAPE_POSITIVE:
    case SHAPE_PART:
      fill_long (any, field->shape, at);
      break;
    case SHAPE_WEIGHT:
      *(double *)at = (double)any_number (any->rand, 100) / 100;
      break;
    case SHAPE_DIGEST:
      any_digest (any, at);
      break;
    case SHAPE_ID:
      *(NodeId *)at = any_id (any);
      break;
    case SHAPE_TERM:
      *(Term *)at = (Term){ g_rand_int (any->rand), any_id (any) };
      break;
    case SHAPE_TEXT:
    case SHAPE_NAME:
      *(const char **)at = any_text (any);
      break;
    case SHAPE_PATH:
      *(const char **)at = any_path (any);
      break;
    case SHAPE_VALUE:
    case SHAPE_ATTACHED:
      *(GBytes **)at = any_bytes (any);
      break;
    case SHAPE_SPEAKS:
      fill_shares (any);
      break;
    default:
      fill_list (any, field->shape, at);
    }
}

void
any_message_init (AnyMessage *any, MessageKind kind, GRand *rand)
{
  *any = (AnyMessage){ { .kind = kind }, rand, g_ptr_array_new_with_free_func (g_free) };
  for (const MessageField *field = message_fields (kind); field->meaning != NULL; field++)
    fill (any, field, &any->message);
}

void
any_message_clear (AnyMessage *any)
{
  message_clear (&any->message);
  g_ptr_array_unref (any->texts);
}

GBytes *
any_message_join (GPtrArray *parts)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (parts->pdata[i], &size);
      g_byte_array_append (all, data, (guint)size);
    }
  g_ptr_array_unref (parts);
  return g_byte_array_free_to_bytes (g_steal_pointer (&all));
}
