/* SPDX-License-Identifier: BSD-3-Clause */
/* The serialised form of message headers: walks along a type string by framing.h. Does not
 * interpret the items. */
#include "config.h"

#include "pack.h"

#include <string.h>

/* Fills the layouts of the type at the front of `type`. Returns the first of them. */
static const PackLayout *
lay_out (const char *type, PackLayout *layout)
{
  static const Layout simple[128] = { ['b'] = { 1, 1, 0 },
                                      ['u'] = { 4, 4, 0 },
                                      ['t'] = { 8, 8, 0 },
                                      ['d'] = { 8, 8, 0 },
                                      ['s'] = { 0, 1, 0 } };
  const PackLayout *item = NULL;
  Layout sum = { 0, 1, 0 };

  *layout = (PackLayout){ .kind = *type, .chars = 1, .in = simple[*type & 0x7f] };
  if (*type == 'a')
    {
      item = lay_out (type + 1, layout + 1);
      layout->in.align = item->in.align;
      layout->chars += item->chars;
    }
  if (*type != '(')
    {
      g_assert (layout->in.align > 0);
      return layout;
    }
  while (type[layout->chars] != ')')
    {
      item = lay_out (type + layout->chars, layout + layout->chars);
      layout->chars += item->chars;
      framing_add (&sum, item->in);
    }
  layout[layout->chars++].kind = ')';
  layout->in = framing_sum (sum, item != NULL && item->in.fixed == 0);
  return layout;
}

PackLayout *
pack_type (const char *type)
{
  PackLayout *layouts = g_new0 (PackLayout, strlen (type));

  g_assert (lay_out (type, layouts)->chars == strlen (type));
  return layouts;
}

static inline gboolean
is_array (const PackLevel *level)
{
  return level->own->kind == 'a';
}

/* A number's size is its alignment. */
#define NUMBER(value) ((Layout){ sizeof (value), sizeof (value), 0 })

/* The layout of the next item, which must be of this kind. Advances in the type. */
static inline const PackLayout *
step (PackLevel *level, char kind)
{
  const PackLayout *item = level->next;

  g_assert (item->kind == kind);
  if (!is_array (level))
    level->next += item->chars;
  return item;
}

static inline gboolean
is_last (const PackLevel *level)
{
  return level->next->kind == ')';
}

/* Begins a container. */
static PackLevel *
begin_level (PackLevel *level, const PackLayout *own)
{
  level->own = own;
  level->next = own + 1;
  return level;
}

/* ---- writing ---- */

/* Writes an item of this layout. */
static inline void
put (Packer *packer, char kind, const void *data, gsize size, Layout layout)
{
  PackLevel *level = &packer->levels[packer->depth - 1];

  step (level, kind);
  framing_pad (&packer->out, layout);
  framing_put (&packer->out, data, size);
  framing_note (&packer->out, &level->in, layout, is_last (level));
}

void
pack_bool (Packer *packer, gboolean value)
{
  guint8 byte = value ? 1 : 0;

  put (packer, 'b', &byte, sizeof byte, NUMBER (byte));
}

void
pack_u32 (Packer *packer, guint32 value)
{
  value = GUINT32_TO_LE (value);
  put (packer, 'u', &value, sizeof value, NUMBER (value));
}

void
pack_u64 (Packer *packer, guint64 value)
{
  value = GUINT64_TO_LE (value);
  put (packer, 't', &value, sizeof value, NUMBER (value));
}

void
pack_double (Packer *packer, double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE (bits);
  put (packer, 'd', &bits, sizeof bits, NUMBER (bits));
}

void
pack_text (Packer *packer, const char *value)
{
  put (packer, 's', value, strlen (value) + 1, (Layout){ 0, 1, 0 });
}

void
pack_fixed (Packer *packer, const void *data, gsize size)
{
  Layout layout = packer->levels[packer->depth - 1].next->in;

  g_assert (layout.fixed == size);
  put (packer, '(', data, size, layout);
}

static void
open_level (Packer *packer, const PackLayout *own)
{
  g_assert ((own->kind == 'a' || own->kind == '(') && packer->depth < PACK_DEPTH_MAX);
  framing_open (&packer->out, &begin_level (&packer->levels[packer->depth++], own)->in,
                own->kind == 'a');
}

static void
close_level (Packer *packer)
{
  const PackLevel *level = &packer->levels[--packer->depth];

  g_assert (is_array (level) || is_last (level));
  framing_close (&packer->out, &level->in, level->own->in);
}

void
pack_open (Packer *packer)
{
  const PackLayout *own = packer->levels[packer->depth - 1].next;

  framing_pad (&packer->out, own->in);
  open_level (packer, own);
}

void
pack_close (Packer *packer)
{
  g_assert (packer->depth > 1);
  close_level (packer);
  PackLevel *level = &packer->levels[packer->depth - 1];
  const PackLayout *item = step (level, level[1].own->kind);
  framing_note (&packer->out, &level->in, item->in, is_last (level));
}

void
pack_begin (Packer *packer, const PackLayout *type)
{
  g_assert (type->kind == '(');
  framing_begin (&packer->out, packer->few, sizeof packer->few);
  packer->depth = 0;
  open_level (packer, type);
}

const guint8 *
pack_end (Packer *packer, gsize *size)
{
  g_assert (packer->depth == 1);
  close_level (packer);
  *size = packer->out.at;
  return packer->out.data;
}

void
pack_clear (Packer *packer)
{
  framing_clear (&packer->out);
}

/* ---- reading ---- */

/* Goes to the next item, at unpacker->in.at. Returns its end; after a failure both are the same. */
static inline gsize
next_item (Unpacker *unpacker, char kind)
{
  PackLevel *level = &unpacker->levels[unpacker->depth - 1];
  const PackLayout *item = step (level, kind);

  return framing_next (&unpacker->in, &level->in, item->in, is_last (level));
}

/* Reads an item of this layout. FALSE: *to is unchanged. */
static inline gboolean
get (Unpacker *unpacker, char kind, void *to, Layout layout)
{
  PackLevel *level = &unpacker->levels[unpacker->depth - 1];
  FramingReader *in = &unpacker->in;

  step (level, kind);
  (void)framing_next (in, &level->in, layout, FALSE);
  if (in->failed)
    return FALSE;
  memcpy (to, in->data + in->at, layout.fixed);
  in->at += layout.fixed;
  return TRUE;
}

gboolean
unpack_bool (Unpacker *unpacker)
{
  guint8 byte = 0;

  if (get (unpacker, 'b', &byte, NUMBER (byte)) && byte > 1)
    unpacker->in.failed = TRUE;
  return byte == 1;
}

guint32
unpack_u32 (Unpacker *unpacker)
{
  guint32 value = 0;

  get (unpacker, 'u', &value, NUMBER (value));
  return GUINT32_FROM_LE (value);
}

guint64
unpack_u64 (Unpacker *unpacker)
{
  guint64 value = 0;

  get (unpacker, 't', &value, NUMBER (value));
  return GUINT64_FROM_LE (value);
}

double
unpack_double (Unpacker *unpacker)
{
  guint64 bits = 0;
  double value;

  get (unpacker, 'd', &bits, NUMBER (bits));
  bits = GUINT64_FROM_LE (bits);
  memcpy (&value, &bits, sizeof value);
  return value;
}

const char *
unpack_text (Unpacker *unpacker)
{
  gsize end = next_item (unpacker, 's');
  FramingReader *in = &unpacker->in;
  const char *text = (const char *)in->data + in->at;

  in->failed = in->failed || !framing_is_text (in, end);
  in->at = end;
  return in->failed ? "" : text;
}

void
unpack_fixed (Unpacker *unpacker, void *to, gsize size)
{
  Layout layout = unpacker->levels[unpacker->depth - 1].next->in;

  g_assert (layout.fixed == size);
  if (!get (unpacker, '(', to, layout))
    memset (to, 0, size);
}

static void
enter (Unpacker *unpacker, const PackLayout *own, gsize end)
{
  PackLevel *level = begin_level (&unpacker->levels[unpacker->depth++], own);

  framing_enter (&unpacker->in, &level->in, end, own->in, is_array (level) ? &own[1].in : NULL);
}

void
unpack_open (Unpacker *unpacker)
{
  const PackLayout *own = unpacker->levels[unpacker->depth - 1].next;

  g_assert ((own->kind == 'a' || own->kind == '(') && unpacker->depth < PACK_DEPTH_MAX);
  enter (unpacker, own, next_item (unpacker, own->kind));
}

gboolean
unpack_more (Unpacker *unpacker)
{
  const PackLevel *level = &unpacker->levels[unpacker->depth - 1];

  g_assert (is_array (level));
  if (unpacker->in.failed)
    return FALSE;
  return level->next->in.fixed > 0 ? unpacker->in.at < level->in.end
                                   : level->in.table < level->in.stop;
}

static void
leave (Unpacker *unpacker)
{
  const PackLevel *level = &unpacker->levels[--unpacker->depth];

  g_assert (is_array (level) || is_last (level));
  framing_leave (&unpacker->in, &level->in, level->own->in);
}

void
unpack_close (Unpacker *unpacker)
{
  g_assert (unpacker->depth > 1);
  leave (unpacker);
}

void
unpack_begin (Unpacker *unpacker, const PackLayout *type, const guint8 *data, gsize size)
{
  g_assert (type->kind == '(');
  unpacker->in = (FramingReader){ data, 0, type->in.fixed > 0 && type->in.fixed != size };
  unpacker->depth = 0;
  enter (unpacker, type, size);
}

gboolean
unpack_end (Unpacker *unpacker)
{
  g_assert (unpacker->depth == 1);
  leave (unpacker);
  return !unpacker->in.failed;
}
