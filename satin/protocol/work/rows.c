/* SPDX-License-Identifier: BSD-3-Clause */
/* See rows.h.
 *
 * Tests: test-node-store, test-buddy */
#include "../core.h"

#include <string.h>

static guint
rows_shares (const Row *row)
{
  return row->shares != NULL ? row->shares->len : 0;
}

static gsize
text_bytes (const char *text)
{
  return text == NULL ? 0 : strlen (text) + 1;
}

gsize
rows_bytes (const Row *row)
{
  return sizeof *row + text_bytes (row->path) + text_bytes (row->args) + text_bytes (row->type)
         + (row->value == NULL ? 0 : g_bytes_get_size (row->value));
}

guint
rows_that_fit (const GPtrArray *rows, guint start)
{
  gsize bytes = 0;
  guint i = start, shares = 0;

  for (; i < rows->len && i - start < ROWS_MAX && (i == start || bytes < ROWS_BYTES_MAX); i++)
    {
      shares += rows_shares (rows->pdata[i]);
      if (shares > MESSAGE_SPEAKS_MAX && i > start)
        break;
      bytes += g_bytes_get_size (((const Row *)rows->pdata[i])->value);
    }
  return i;
}

guint
rows_send (Node *node, const NodeId *to, GPtrArray *rows, guint start, Message *message)
{
  g_autoptr (GPtrArray) some = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  guint end = rows_that_fit (rows, start);

  for (guint i = start; i < end; i++)
    {
      Row *row = row_copy (rows->pdata[i]);
      if (node_id_is_none (&row->node))
        row->node = node->self;
      g_ptr_array_add (some, row);
      if (message->kind == MESSAGE_COPY)
        node->stats.copied_bytes += g_bytes_get_size (row->value);
    }
  if (end < rows->len)
    message->number = 0;
  message->rows = some;
  (void)member_send (node, to, message);
  return end;
}
