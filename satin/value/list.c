/* SPDX-License-Identifier: BSD-3-Clause */
/* See list.h. Tests: test-lists, test-record. */
#include "config.h"

#include "list.h"

#include "record.h"

typedef struct
{
  const SatinType *item;
  guint64 n;
  guint8 *items;
} Block;

static void
block_free (gpointer data)
{
  Block *block = data;

  for (guint64 i = 0; record_holds (block->item) && i < block->n; i++)
    record_clear (block->item, block->items + i * block->item->size);
  g_free (block->items);
  g_free (block);
}

GBytes *
list_new (const SatinType *item, guint64 n, void **items)
{
  Block *block;
  guint8 *place = n > G_MAXSIZE / item->size ? NULL : g_try_malloc0_n (n, item->size);

  if (place == NULL)
    return NULL;
  block = g_new (Block, 1);
  *block = (Block){ item, n, place };
  *items = place;
  return g_bytes_new_with_free_func (place, (gsize)n * item->size, block_free, block);
}

GBytes *
list_copy (const SatinType *item, const void *from, guint64 n)
{
  void *items;
  GBytes *held;

  list_check_length (n);
  held = list_new (item, n, &items);
  if (held == NULL)
    g_error ("no memory for a list of %" G_GUINT64_FORMAT " items of %u bytes", n, item->size);
  if (from == NULL)
    return held;
  memcpy (items, from, (gsize)n * item->size);
  for (guint64 i = 0; record_holds (item) && i < n; i++)
    record_ref (item, (guint8 *)items + i * item->size);
  return held;
}

void
list_check_length (guint64 n)
{
  if (n > G_MAXUINT32)
    g_error ("a list of %" G_GUINT64_FORMAT " items: a list has at most %u", n, G_MAXUINT32);
}

const char *
list_valid_text (const char *text, char **mended)
{
  if (text == NULL)
    return "";
  if (g_utf8_validate (text, -1, NULL))
    return text;
  *mended = g_utf8_make_valid (text, -1);
  return *mended;
}

static void
hold_list (const SatinType *item, void *at)
{
  SatinList_ list = list_at (at);

  if (list.held != NULL)
    {
      g_bytes_ref (list.held);
      return;
    }
  if (list.n > 0)
    {
      list.held = list_copy (item, list.at, list.n);
      list.at = g_bytes_get_data (list.held, NULL);
    }
  memcpy (at, &list, sizeof list);
}

static void
hold_text (void *at)
{
  SatinText text = list_text_at (at);
  g_autofree char *mended = NULL;
  const char *valid = list_valid_text (text.text, &mended);

  if (text.held != NULL && mended == NULL)
    {
      g_bytes_ref (text.held);
      return;
    }
  if (text.text == NULL)
    return;
  text.held = g_bytes_new (valid, strlen (valid) + 1);
  text.text = g_bytes_get_data (text.held, NULL);
  memcpy (at, &text, sizeof text);
}

void
list_hold (const SatinType *type, void *at)
{
  if (type->kind == SATIN_KIND_TEXT)
    hold_text (at);
  else
    hold_list (type->fields[0].type, at);
}

void
list_clear (const SatinType *type, void *at)
{
  GBytes *held = type->kind == SATIN_KIND_TEXT ? list_text_at (at).held : list_at (at).held;

  if (held != NULL)
    g_bytes_unref (held);
  memset (at, 0, type->size);
}
