/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of node ids, and sets of them. Pure. Any thread. */
#include "config.h"

#include "node-id.h"

#include <string.h>

const char *
node_id_show (const NodeId *id, char text[NODE_ID_TEXT_MAX])
{
  g_snprintf (text, NODE_ID_TEXT_MAX, "%" G_GUINT32_FORMAT ".%" G_GUINT32_FORMAT, id->term,
              id->number);
  return text;
}

const char *
node_id_write (const NodeId *id, char text[NODE_ID_TEXT_MAX])
{
  g_snprintf (text, NODE_ID_TEXT_MAX, "%" G_GUINT32_FORMAT ".%" G_GUINT32_FORMAT ".%08x", id->term,
              id->number, (unsigned)id->random);
  return text;
}

/* Reads at most ten digits of this base from the front of `*text`. */
static gboolean
take_number (const char **text, guint base, guint32 *number)
{
  const char *digits = base == 10 ? "0123456789" : "0123456789abcdef";
  gsize length = strspn (*text, digits);
  guint64 value = 0;

  if (length == 0 || length > 10)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    value = value * base + (guint64)g_ascii_xdigit_value ((*text)[i]);
  if (value > G_MAXUINT32)
    return FALSE;
  *text += length;
  *number = (guint32)value;
  return TRUE;
}

gboolean
node_id_read (const char *text, NodeId *id)
{
  NodeId found;
  char again[NODE_ID_TEXT_MAX];
  const char *at = text;

  if (!take_number (&at, 10, &found.term) || *at++ != '.')
    return FALSE;
  if (!take_number (&at, 10, &found.number) || *at++ != '.')
    return FALSE;
  if (!take_number (&at, 16, &found.random) || *at != '\0')
    return FALSE;
  /* There is one text for each id: leading zeros and a short third part are refused. */
  if (strcmp (node_id_write (&found, again), text) != 0)
    return FALSE;
  *id = found;
  return TRUE;
}

static gboolean
find (const GArray *set, const NodeId *id, guint *place)
{
  for (*place = 0; *place < set->len; ++*place)
    if (node_id_equal (&g_array_index (set, NodeId, *place), id))
      return TRUE;
  return FALSE;
}

gboolean
node_id_set_has (const GArray *set, const NodeId *id)
{
  guint place;

  return find (set, id, &place);
}

void
node_id_set_add (GArray *set, const NodeId *id)
{
  if (!node_id_set_has (set, id))
    g_array_append_val (set, *id);
}

gboolean
node_id_set_remove (GArray *set, const NodeId *id)
{
  guint place;
  gboolean found = find (set, id, &place);

  if (found)
    g_array_remove_index (set, place);
  return found;
}
