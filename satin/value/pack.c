/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the serialised form of messages' headers. The form is told in record.c; here the walk goes
 * along a type instead of a table of members. Must not know what is packed. */
#include "config.h"

#include "pack.h"

#include "framing.h"

#include <string.h>

#define PACK_ALIGN_MAX 8

/* Fills the layouts of the type that stands at the front of `type`, and returns the first. */
static const PackLayout *
lay_out (const char *type, PackLayout *layout)
{
  const PackLayout *item;
  gboolean fixed = TRUE;

  *layout = (PackLayout){ .kind = *type, .chars = 1, .align = 1 };
  switch (*type)
    {
    case 'b':
      layout->fixed = 1;
      return layout;
    case 'u':
      layout->fixed = layout->align = 4;
      return layout;
    case 't':
    case 'd':
      layout->fixed = layout->align = 8;
      return layout;
    case 's':
      return layout;
    case 'a':
      item = lay_out (type + 1, layout + 1);
      layout->align = item->align;
      layout->chars += item->chars;
      return layout;
    }
  g_assert (*type == '(');
  if (type[1] == ')')
    layout->fixed = 1; /* the empty tuple takes one byte */
  while (type[layout->chars] != ')')
    {
      item = lay_out (type + layout->chars, layout + layout->chars);
      layout->chars += item->chars;
      layout->align = MAX (layout->align, item->align);
      layout->fixed = (guint32)framing_align (layout->fixed, item->align) + item->fixed;
      layout->ends += item->fixed == 0 && type[layout->chars] != ')';
      fixed = fixed && item->fixed > 0;
    }
  layout[layout->chars++].kind = ')';
  layout->fixed = fixed ? (guint32)framing_align (layout->fixed, layout->align) : 0;
  return layout;
}

PackLayout *
pack_type (const char *type)
{
  PackLayout *layouts = g_new0 (PackLayout, strlen (type));

  g_assert (lay_out (type, layouts)->chars == strlen (type));
  return layouts;
}

static gsize
read_end (const guint8 *data, guint width)
{
  guint64 end = 0;

  for (guint i = 0; i < width; i++)
    end |= (guint64)data[i] << (8 * i);
  return (gsize)end;
}

static inline gboolean
is_array (const PackLevel *level)
{
  return level->own->kind == 'a';
}

/* Goes one item on in the type. TRUE: its end is written down. */
static inline gboolean
step (PackLevel *level)
{
  const PackLayout *item = level->next;

  if (is_array (level))
    return item->fixed == 0;
  level->next += item->chars;
  return item->fixed == 0 && level->next->kind != ')';
}

static void
enter (PackLevel *level, const PackLayout *own, gsize start)
{
  level->own = own;
  level->next = own + 1;
  level->start = start;
}

/* Writing ---------------------------------------------------------------------------------- */

static void
grow (Packer *packer, gsize size)
{
  guint8 *before = packer->data;

  packer->room = MAX (packer->room * 2, packer->at + size);
  packer->data = g_malloc (packer->room);
  memcpy (packer->data, before, packer->at);
  if (before != packer->few)
    g_free (before);
}

/* Where so many bytes more may be written. */
static inline guint8 *
reserve (Packer *packer, gsize size)
{
  if (packer->at + size > packer->room)
    grow (packer, size);
  return packer->data + packer->at;
}

static void
pad_to (Packer *packer, gsize align)
{
  memset (reserve (packer, PACK_ALIGN_MAX), 0, PACK_ALIGN_MAX);
  packer->at = framing_align (packer->at, align);
}

static void
note_end (Packer *packer)
{
  const PackLevel *level = &packer->levels[packer->depth - 1];

  if (packer->n_ends == packer->ends_max)
    {
      gsize *more = g_new (gsize, packer->ends_max * 2);
      memcpy (more, packer->ends, packer->n_ends * sizeof (gsize));
      if (packer->ends != packer->few_ends)
        g_free (packer->ends);
      packer->ends = more;
      packer->ends_max *= 2;
    }
  packer->ends[packer->n_ends++] = packer->at - level->start;
}

/* A number, which is as long as it is aligned. */
static inline void
put (Packer *packer, char kind, const void *data, gsize size)
{
  PackLevel *level = &packer->levels[packer->depth - 1];
  guint8 *to = reserve (packer, 2 * PACK_ALIGN_MAX);
  gsize padding = framing_align (packer->at, size) - packer->at;

  g_assert (level->next->kind == kind);
  memset (to, 0, PACK_ALIGN_MAX);
  memcpy (to + padding, data, size);
  packer->at += padding + size;
  if (!is_array (level))
    level->next++;
}

void
pack_bool (Packer *packer, gboolean value)
{
  guint8 byte = value ? 1 : 0;

  put (packer, 'b', &byte, sizeof byte);
}

void
pack_u32 (Packer *packer, guint32 value)
{
  value = GUINT32_TO_LE (value);
  put (packer, 'u', &value, sizeof value);
}

void
pack_u64 (Packer *packer, guint64 value)
{
  value = GUINT64_TO_LE (value);
  put (packer, 't', &value, sizeof value);
}

void
pack_double (Packer *packer, double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE (bits);
  put (packer, 'd', &bits, sizeof bits);
}

void
pack_text (Packer *packer, const char *value)
{
  PackLevel *level = &packer->levels[packer->depth - 1];
  gsize size = strlen (value) + 1;

  g_assert (level->next->kind == 's');
  memcpy (reserve (packer, size), value, size);
  packer->at += size;
  if (step (level))
    note_end (packer);
}

void
pack_fixed (Packer *packer, const void *data, gsize size)
{
  PackLevel *level = &packer->levels[packer->depth - 1];

  g_assert (level->next->kind == '(' && level->next->fixed == size);
  pad_to (packer, level->next->align);
  memcpy (reserve (packer, size), data, size);
  packer->at += size;
  (void)step (level);
}

void
pack_open (Packer *packer)
{
  const PackLayout *own = packer->levels[packer->depth - 1].next;

  g_assert ((own->kind == 'a' || own->kind == '(') && packer->depth < PACK_DEPTH_MAX);
  pad_to (packer, own->align);
  enter (&packer->levels[packer->depth], own, packer->at);
  packer->levels[packer->depth++].n_ends = packer->n_ends;
}

/* Writes the table of ends of the innermost container, or fills a tuple of fixed size. */
static void
finish (Packer *packer, const PackLevel *level)
{
  gsize body = packer->at - level->start;
  guint n = packer->n_ends - level->n_ends, width = framing_width_for (body, n);
  guint8 *to = reserve (packer, (gsize)n * width);

  g_assert (is_array (level) || level->next->kind == ')');
  for (guint i = 0; i < n; i++)
    {
      gsize end = packer->ends[is_array (level) ? level->n_ends + i : packer->n_ends - 1 - i];
      for (guint k = 0; k < width; k++)
        *to++ = (guint8)((guint64)end >> (8 * k));
    }
  packer->at += (gsize)n * width;
  packer->n_ends = level->n_ends;
  for (; body < level->own->fixed; body++)
    {
      *reserve (packer, 1) = 0;
      packer->at++;
    }
}

void
pack_close (Packer *packer)
{
  const PackLevel *level = &packer->levels[packer->depth - 1];

  g_assert (packer->depth > 1);
  finish (packer, level);
  packer->depth--;
  if (step (&packer->levels[packer->depth - 1]))
    note_end (packer);
}

void
pack_begin (Packer *packer, const PackLayout *type)
{
  g_assert (type->kind == '(');
  packer->data = packer->few;
  packer->room = sizeof packer->few;
  packer->at = 0;
  packer->ends = packer->few_ends;
  packer->ends_max = G_N_ELEMENTS (packer->few_ends);
  packer->n_ends = 0;
  packer->depth = 1;
  enter (&packer->levels[0], type, 0);
  packer->levels[0].n_ends = 0;
}

const guint8 *
pack_end (Packer *packer, gsize *size)
{
  g_assert (packer->depth == 1);
  finish (packer, &packer->levels[0]);
  *size = packer->at;
  return packer->data;
}

void
pack_clear (Packer *packer)
{
  if (packer->ends != packer->few_ends)
    g_free (packer->ends);
  if (packer->data != packer->few)
    g_free (packer->data);
}

/* Reading ---------------------------------------------------------------------------------- */

static void
fail (Unpacker *unpacker)
{
  unpacker->failed = TRUE;
}

/* Zeros up to the next multiple, within the innermost container. */
static inline void
skip_padding (Unpacker *unpacker, gsize align, gsize end)
{
  gsize to = framing_align (unpacker->at, align);

  if (to > end)
    {
      fail (unpacker);
      return;
    }
  for (; unpacker->at < to; unpacker->at++)
    if (unpacker->data[unpacker->at] != 0)
      fail (unpacker);
}

/* Finds the next item: it begins at unpacker->at; returns its end. On failure both are the same. */
static gsize
next_item (Unpacker *unpacker, char kind)
{
  PackLevel *level = &unpacker->levels[unpacker->depth - 1];
  const PackLayout *item = level->next;
  gsize end;

  if (unpacker->failed)
    return unpacker->at;
  g_assert (item->kind == kind);
  gboolean noted = step (level);
  skip_padding (unpacker, item->align, level->end);
  if (item->fixed > 0)
    end = unpacker->at + item->fixed;
  else if (!noted)
    end = level->end;
  else
    {
      if (!is_array (level))
        level->table -= level->width;
      end = level->start + read_end (unpacker->data + level->table, level->width);
      if (is_array (level))
        level->table += level->width;
    }
  if (unpacker->failed || end < unpacker->at || end > level->end)
    {
      fail (unpacker);
      return unpacker->at;
    }
  return end;
}

/* A number, which is as long as it is aligned. FALSE: *to is left alone. */
static inline gboolean
get (Unpacker *unpacker, char kind, void *to, gsize size)
{
  PackLevel *level = &unpacker->levels[unpacker->depth - 1];

  if (unpacker->failed)
    return FALSE;
  g_assert (level->next->kind == kind);
  if (!is_array (level))
    level->next++;
  skip_padding (unpacker, size, level->end);
  if (unpacker->failed || size > level->end - unpacker->at)
    {
      fail (unpacker);
      return FALSE;
    }
  memcpy (to, unpacker->data + unpacker->at, size);
  unpacker->at += size;
  return TRUE;
}

gboolean
unpack_bool (Unpacker *unpacker)
{
  guint8 byte = 0;

  if (get (unpacker, 'b', &byte, sizeof byte) && byte > 1)
    fail (unpacker);
  return byte == 1;
}

guint32
unpack_u32 (Unpacker *unpacker)
{
  guint32 value = 0;

  get (unpacker, 'u', &value, sizeof value);
  return GUINT32_FROM_LE (value);
}

guint64
unpack_u64 (Unpacker *unpacker)
{
  guint64 value = 0;

  get (unpacker, 't', &value, sizeof value);
  return GUINT64_FROM_LE (value);
}

double
unpack_double (Unpacker *unpacker)
{
  guint64 bits = 0;
  double value;

  get (unpacker, 'd', &bits, sizeof bits);
  bits = GUINT64_FROM_LE (bits);
  memcpy (&value, &bits, sizeof value);
  return value;
}

const char *
unpack_text (Unpacker *unpacker)
{
  gsize end = next_item (unpacker, 's');
  const char *text = (const char *)unpacker->data + unpacker->at;

  if (unpacker->failed || end == unpacker->at || unpacker->data[end - 1] != 0
      || !g_utf8_validate (text, (gssize)(end - unpacker->at - 1), NULL))
    {
      fail (unpacker);
      return "";
    }
  unpacker->at = end;
  return text;
}

void
unpack_fixed (Unpacker *unpacker, void *to, gsize size)
{
  const PackLayout *item = unpacker->levels[unpacker->depth - 1].next;
  gsize end = next_item (unpacker, '(');

  memset (to, 0, size);
  if (unpacker->failed)
    return;
  g_assert (item->fixed == size);
  memcpy (to, unpacker->data + unpacker->at, size);
  unpacker->at = end;
}

/* Where the items of the container that was entered end, and where its ends are written. */
static void
find_table (Unpacker *unpacker, PackLevel *level, gsize end)
{
  gsize size = end - level->start, n_ends = 0;

  level->end = level->stop = end;
  if (level->own->fixed > 0)
    return;
  level->width = framing_width (size);
  level->table = end;
  if (!is_array (level))
    {
      n_ends = level->own->ends;
      if (n_ends * level->width > size)
        {
          fail (unpacker);
          return;
        }
      level->end = end - n_ends * level->width;
    }
  else if (level->next->fixed == 0 && size > 0)
    {
      gsize last = read_end (unpacker->data + end - level->width, level->width);
      if (last > size || (size - last) % level->width != 0 || last == size)
        {
          fail (unpacker);
          return;
        }
      n_ends = (size - last) / level->width;
      level->end = level->table = level->start + last;
    }
  if (n_ends > 0 && level->width != framing_width_for (level->end - level->start, n_ends))
    fail (unpacker);
}

void
unpack_open (Unpacker *unpacker)
{
  const PackLayout *own = unpacker->levels[unpacker->depth - 1].next;
  gsize end;

  g_assert (unpacker->depth < PACK_DEPTH_MAX);
  if (unpacker->failed)
    {
      unpacker->depth++;
      return;
    }
  g_assert (own->kind == 'a' || own->kind == '(');
  end = next_item (unpacker, own->kind);
  enter (&unpacker->levels[unpacker->depth], own, unpacker->at);
  find_table (unpacker, &unpacker->levels[unpacker->depth++], end);
}

gboolean
unpack_more (Unpacker *unpacker)
{
  const PackLevel *level = &unpacker->levels[unpacker->depth - 1];

  if (unpacker->failed)
    return FALSE;
  g_assert (is_array (level));
  return level->next->fixed > 0 ? unpacker->at < level->end : level->table < level->stop;
}

/* The items of the container must have filled it. */
static void
leave (Unpacker *unpacker, const PackLevel *level)
{
  if (unpacker->failed)
    return;
  g_assert (is_array (level) || level->next->kind == ')');
  if (level->own->fixed > 0)
    for (; unpacker->at < level->end; unpacker->at++)
      if (unpacker->data[unpacker->at] != 0)
        fail (unpacker);
  if (unpacker->at != level->end)
    fail (unpacker);
  unpacker->at = level->stop;
}

void
unpack_close (Unpacker *unpacker)
{
  g_assert (unpacker->depth > 1);
  leave (unpacker, &unpacker->levels[--unpacker->depth]);
}

void
unpack_begin (Unpacker *unpacker, const PackLayout *type, const guint8 *data, gsize size)
{
  PackLevel *level = &unpacker->levels[0];

  g_assert (type->kind == '(');
  unpacker->data = data;
  unpacker->at = 0;
  unpacker->depth = 1;
  unpacker->failed = FALSE;
  enter (level, type, 0);
  if (type->fixed > 0 && type->fixed != size)
    fail (unpacker);
  else
    find_table (unpacker, level, size);
}

gboolean
unpack_end (Unpacker *unpacker)
{
  g_assert (unpacker->depth == 1);
  leave (unpacker, &unpacker->levels[0]);
  return !unpacker->failed;
}
