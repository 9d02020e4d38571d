/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the serialised form of messages' headers. The form is told in record.c; here the walk goes
 * along a type string instead of a table of members. Must not know what is packed. */
#include "config.h"

#include "pack.h"

#include <string.h>

#define PACK_ALIGN_MAX 8
#define PACK_ROOM 128 /* enough for most */

typedef struct
{
  gsize align;
  gsize fixed; /* size; 0: it varies */
} Layout;

static gsize
align_up (gsize at, gsize align)
{
  return (at + align - 1) & ~(align - 1);
}

/* Of what is no container; the others have no alignment here. */
static const Layout simple[G_MAXUINT8 + 1]
    = { ['b'] = { 1, 1 }, ['u'] = { 4, 4 }, ['t'] = { 8, 8 }, ['d'] = { 8, 8 }, ['s'] = { 1, 0 } };

static Layout layout_of_container (const char **type);

/* The layout of the type at *type, which is moved past it. */
static inline Layout
layout_of (const char **type)
{
  const Layout *layout = &simple[(guint8) * *type];

  if (layout->align == 0)
    return layout_of_container (type);
  (*type)++;
  return *layout;
}

static Layout
layout_of_container (const char **type)
{
  Layout whole = { 1, 0 };
  gboolean fixed = TRUE;
  char kind = *(*type)++;

  if (kind == 'a')
    return (Layout){ layout_of (type).align, 0 };
  g_assert (kind == '(');
  if (**type == ')')
    whole.fixed = 1; /* the empty tuple takes one byte */
  while (**type != ')')
    {
      Layout item = layout_of (type);

      whole.align = MAX (whole.align, item.align);
      whole.fixed = align_up (whole.fixed, item.align) + item.fixed;
      fixed = fixed && item.fixed > 0;
    }
  (*type)++;
  whole.fixed = fixed ? align_up (whole.fixed, whole.align) : 0;
  return whole;
}

static guint
end_width (gsize size)
{
  if (size > G_MAXUINT32)
    return 8;
  if (size > G_MAXUINT16)
    return 4;
  return size > G_MAXUINT8 ? 2 : 1;
}

/* The width that a container of this size without its table of ends takes; the table counts in. */
static guint
end_width_for (gsize body, gsize n_ends)
{
  guint width = 1;

  while (width < 8 && end_width (body + n_ends * width) > width)
    width *= 2;
  return width;
}

static gsize
read_end (const guint8 *data, guint width)
{
  guint64 end = 0;

  memcpy (&end, data, width);
  return (gsize)GUINT64_FROM_LE (end);
}

/* Goes one item on in the type. TRUE: its end is written down. */
static gboolean
step (PackLevel *level, Layout *layout)
{
  const char *type = level->next;

  g_assert (*type != ')' && *type != '\0');
  *layout = layout_of (&type);
  if (level->elements == NULL)
    level->next = type;
  return layout->fixed == 0 && (level->elements != NULL || *type != ')');
}

static void
enter (PackLevel *level, const char *type, gsize start)
{
  *level
      = (PackLevel){ .start = start, .elements = *type == 'a' ? type + 1 : NULL, .next = type + 1 };
}

/* Writing ---------------------------------------------------------------------------------- */

/* Room for so many bytes more; pack_end () cuts off what is not used. */
static guint8 *
reserve (Packer *packer, gsize size)
{
  gsize least = packer->origin + packer->at + size;

  if (least > packer->bytes->len)
    g_byte_array_set_size (packer->bytes, (guint)MAX (least, 2 * (gsize)packer->bytes->len));
  return packer->bytes->data + packer->origin + packer->at;
}

static void
append (Packer *packer, const void *data, gsize size)
{
  memcpy (reserve (packer, size), data, size);
  packer->at += size;
}

static void
pad_to (Packer *packer, gsize align)
{
  static const guint8 zeros[PACK_ALIGN_MAX];

  append (packer, zeros, align_up (packer->at, align) - packer->at);
}

static void
note_end (Packer *packer)
{
  const PackLevel *level = &packer->levels[packer->depth - 1];

  if (packer->n_ends == packer->ends_max)
    {
      gsize *more = g_new (gsize, packer->ends_max * 2);
      memcpy (more, packer->ends, packer->n_ends * sizeof (gsize));
      if (packer->ends != packer->few)
        g_free (packer->ends);
      packer->ends = more;
      packer->ends_max *= 2;
    }
  packer->ends[packer->n_ends++] = packer->at - level->start;
}

/* An item that is no container. */
static void
put (Packer *packer, char kind, const void *data, gsize size)
{
  PackLevel *level = &packer->levels[packer->depth - 1];
  Layout layout;

  g_assert (*level->next == kind);
  gboolean noted = step (level, &layout);
  pad_to (packer, layout.align);
  append (packer, data, size);
  if (noted)
    note_end (packer);
}

void
pack_bool (Packer *packer, gboolean value)
{
  guint8 byte = value ? 1 : 0;

  put (packer, 'b', &byte, 1);
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
  put (packer, 's', value, strlen (value) + 1);
}

void
pack_open (Packer *packer)
{
  const char *type = packer->levels[packer->depth - 1].next, *after = type;
  Layout layout = layout_of (&after);

  g_assert ((*type == 'a' || *type == '(') && packer->depth < PACK_DEPTH_MAX);
  pad_to (packer, layout.align);
  enter (&packer->levels[packer->depth], type, packer->at);
  packer->levels[packer->depth].size = layout.fixed;
  packer->levels[packer->depth++].n_ends = packer->n_ends;
}

/* Writes the table of ends of the innermost container, or fills a tuple of fixed size. */
static void
finish (Packer *packer, const PackLevel *level)
{
  gsize body = packer->at - level->start;
  guint n = packer->n_ends - level->n_ends, width = end_width_for (body, n);

  g_assert (level->elements != NULL || *level->next == ')');
  for (guint i = 0; i < n; i++)
    {
      guint64 end
          = packer->ends[level->elements != NULL ? level->n_ends + i : packer->n_ends - 1 - i];
      end = GUINT64_TO_LE (end);
      append (packer, &end, width);
    }
  packer->n_ends = level->n_ends;
  for (; body < level->size; body++)
    append (packer, "", 1);
}

void
pack_close (Packer *packer)
{
  Layout layout;

  g_assert (packer->depth > 1);
  finish (packer, &packer->levels[--packer->depth]);
  if (step (&packer->levels[packer->depth - 1], &layout))
    note_end (packer);
}

void
pack_begin (Packer *packer, GByteArray *bytes, const char *type)
{
  const char *after = type;

  g_assert (*type == '(' && bytes->len % PACK_ALIGN_MAX == 0);
  packer->bytes = bytes;
  packer->origin = bytes->len;
  packer->at = 0;
  packer->ends = packer->few;
  packer->ends_max = G_N_ELEMENTS (packer->few);
  packer->n_ends = 0;
  packer->depth = 1;
  g_byte_array_set_size (bytes, bytes->len + PACK_ROOM);
  enter (&packer->levels[0], type, 0);
  packer->levels[0].size = layout_of (&after).fixed;
}

void
pack_end (Packer *packer)
{
  g_assert (packer->depth == 1);
  finish (packer, &packer->levels[0]);
  g_byte_array_set_size (packer->bytes, (guint)(packer->origin + packer->at));
  if (packer->ends != packer->few)
    g_free (packer->ends);
}

/* Reading ---------------------------------------------------------------------------------- */

static void
fail (Unpacker *unpacker)
{
  unpacker->failed = TRUE;
}

/* Zeros up to the next multiple, within the innermost container. */
static void
skip_padding (Unpacker *unpacker, gsize align, gsize end)
{
  gsize to = align_up (unpacker->at, align);

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
next_item (Unpacker *unpacker, char kind, Layout *layout)
{
  PackLevel *level = &unpacker->levels[unpacker->depth - 1];
  gsize end;

  if (unpacker->failed)
    return unpacker->at;
  g_assert (*level->next == kind);
  gboolean noted = step (level, layout);
  skip_padding (unpacker, layout->align, level->end);
  if (layout->fixed > 0)
    end = unpacker->at + layout->fixed;
  else if (!noted)
    end = level->end;
  else
    {
      if (level->elements == NULL)
        level->table -= level->width;
      end = level->start + read_end (unpacker->data + level->table, level->width);
      if (level->elements != NULL)
        level->table += level->width;
    }
  if (unpacker->failed || end < unpacker->at || end > level->end)
    {
      fail (unpacker);
      return unpacker->at;
    }
  return end;
}

/* FALSE: *to is left alone. */
static gboolean
get (Unpacker *unpacker, char kind, void *to, gsize size)
{
  Layout layout;
  gsize end = next_item (unpacker, kind, &layout);

  if (unpacker->failed)
    return FALSE;
  memcpy (to, unpacker->data + unpacker->at, size);
  unpacker->at = end;
  return TRUE;
}

gboolean
unpack_bool (Unpacker *unpacker)
{
  guint8 byte = 0;

  if (get (unpacker, 'b', &byte, 1) && byte > 1)
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
  Layout layout;
  gsize end = next_item (unpacker, 's', &layout);
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

/* How many ends a tuple writes down; `type` stands after its '('. */
static gsize
count_ends (const char *type)
{
  gsize n = 0;

  while (*type != ')')
    {
      Layout item = layout_of (&type);
      n += item.fixed == 0 && *type != ')';
    }
  return n;
}

/* Where the items of the container that was entered end, and where its ends are written. */
static void
find_table (Unpacker *unpacker, PackLevel *level, gsize end)
{
  const char *type = level->next;
  gsize size = end - level->start, n_ends = 0;

  level->end = level->stop = end;
  if (level->size > 0)
    return;
  level->width = end_width (size);
  level->table = end;
  if (level->elements == NULL)
    {
      n_ends = count_ends (type);
      if (n_ends * level->width > size)
        {
          fail (unpacker);
          return;
        }
      level->end = end - n_ends * level->width;
    }
  else if (layout_of (&type).fixed == 0 && size > 0)
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
  if (n_ends > 0 && level->width != end_width_for (level->end - level->start, n_ends))
    fail (unpacker);
}

void
unpack_open (Unpacker *unpacker)
{
  const char *type = unpacker->levels[unpacker->depth - 1].next;
  Layout layout = { 1, 0 };
  gsize end;

  g_assert (unpacker->depth < PACK_DEPTH_MAX);
  if (unpacker->failed)
    {
      unpacker->depth++;
      return;
    }
  g_assert (*type == 'a' || *type == '(');
  end = next_item (unpacker, *type, &layout);
  enter (&unpacker->levels[unpacker->depth], type, unpacker->at);
  unpacker->levels[unpacker->depth].size = layout.fixed;
  find_table (unpacker, &unpacker->levels[unpacker->depth++], end);
}

gboolean
unpack_more (Unpacker *unpacker)
{
  const PackLevel *level = &unpacker->levels[unpacker->depth - 1];
  const char *type = level->elements;

  if (unpacker->failed)
    return FALSE;
  g_assert (type != NULL);
  return layout_of (&type).fixed > 0 ? unpacker->at < level->end : level->table < level->stop;
}

/* The items of the container must have filled it. */
static void
leave (Unpacker *unpacker, const PackLevel *level)
{
  if (unpacker->failed)
    return;
  g_assert (level->elements != NULL || *level->next == ')');
  if (level->size > 0)
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
unpack_begin (Unpacker *unpacker, const char *type, const guint8 *data, gsize size)
{
  const char *after = type;
  PackLevel *level = &unpacker->levels[0];

  g_assert (*type == '(');
  unpacker->data = data;
  unpacker->at = 0;
  unpacker->depth = 1;
  unpacker->failed = FALSE;
  enter (level, type, 0);
  level->size = layout_of (&after).fixed;
  if (level->size > 0 && level->size != size)
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
