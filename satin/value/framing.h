/* SPDX-License-Identifier: BSD-3-Clause */
/* What every writer and reader of GVariant's serialised form needs: where a value may stand, and
 * how wide the entries of a container's table of ends are. Pure; any thread. */
#pragma once

#include <glib.h>

static inline gsize
framing_align (gsize at, gsize align)
{
  return (at + align - 1) & ~(align - 1);
}

/* In a container of this size. */
static inline guint
framing_width (gsize size)
{
  if (size > G_MAXUINT32)
    return 8;
  if (size > G_MAXUINT16)
    return 4;
  return size > G_MAXUINT8 ? 2 : 1;
}

/* The same, when only the size without the table is known. The table counts in the size. */
static inline guint
framing_width_for (gsize body, gsize n_ends)
{
  guint width = 1;

  while (width < 8 && framing_width (body + n_ends * width) > width)
    width *= 2;
  return width;
}
