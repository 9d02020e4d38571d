/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk through GVariant's serialised form, for all who write or read it (record.c, pack.c):
 * where an item stands, what pads it, the tables of ends. The caller says what the items are. Pure.
 *
 * The form in four sentences. A value of fixed size stands at a multiple of its alignment, and a
 * tuple of such values is padded with zeros to a multiple of its own. An array or tuple whose
 * members vary in size ends with a table of their ends, counted from its own start (a tuple leaves
 * out members of fixed size and its last one, and writes the table backwards). The entries are as
 * wide as the size of the whole container needs: 1, 2, 4 or 8 bytes. Every container starts at a
 * multiple of the greatest alignment inside it, so positions from the very start of the bytes are
 * aligned exactly when positions from the container's start are. */
#pragma once

#include <glib.h>
#include <string.h>

/* How a value of a type lies in the bytes. */
typedef struct
{
  gsize fixed; /* its size; 0: it varies */
  guint32 align;
  guint32 n_ends; /* how many a tuple writes down */
} Layout;

static inline gsize
framing_align (gsize at, gsize align)
{
  return (at + align - 1) & ~(align - 1);
}

/* A tuple's layout is the sum of those of its items, from { 0, 1, 0 }, … */
static inline void
framing_add (Layout *sum, Layout item)
{
  sum->fixed = framing_align (sum->fixed, item.align) + item.fixed;
  sum->align = MAX (sum->align, item.align);
  sum->n_ends += item.fixed == 0;
}

/* … and what this makes of it. */
static inline Layout
framing_sum (Layout sum, gboolean last_varies)
{
  if (sum.n_ends == 0) /* the empty tuple takes one byte */
    return (Layout){ framing_align (MAX (sum.fixed, 1), sum.align), sum.align, 0 };
  return (Layout){ 0, sum.align, sum.n_ends - (last_varies ? 1 : 0) };
}

/* A container that is being written or read. */
typedef struct
{
  gsize start;       /* where it begins */
  gsize n_ends;      /* reader: how many are written down; writer: how many were noted before it */
  gboolean is_array; /* the table runs forwards, and counts the items if they vary */
  guint width;       /* reader: of an end */
  gsize end, stop;   /* reader: where its items end, and where it does */
  gsize table;       /* reader: where the table goes on */
} FramingLevel;

/* ---- writing ---- */

typedef struct
{
  guint8 *data; /* NULL: nothing is written, only counted */
  gsize at, room;
  gboolean grown; /* the data moved into memory of its own */
  gsize n_ends, ends_room;
  gsize *ends; /* of items whose containers are still open */
  gsize few_ends[16];
} FramingWriter;

/* `data`, of so much room, is borrowed. */
static inline void
framing_begin (FramingWriter *writer, guint8 *data, gsize room)
{
  writer->data = data;
  writer->at = 0;
  writer->room = room;
  writer->grown = FALSE;
  writer->n_ends = 0;
  writer->ends_room = G_N_ELEMENTS (writer->few_ends);
  writer->ends = writer->few_ends;
}

void framing_grow (FramingWriter *writer, gsize size);
void framing_grow_ends (FramingWriter *writer);
void framing_write_ends (FramingWriter *writer, const FramingLevel *level);

static inline void
framing_clear (FramingWriter *writer)
{
  if (writer->ends != writer->few_ends)
    g_free (writer->ends);
  if (writer->grown)
    g_free (writer->data);
}

static inline void
framing_put (FramingWriter *writer, const void *data, gsize size)
{
  if (writer->data != NULL && size > 0)
    {
      if (size > writer->room - writer->at)
        framing_grow (writer, size);
      memcpy (writer->data + writer->at, data, size);
    }
  writer->at += size;
}

/* Zeros, of which there are 8 at most. */
static inline void
framing_fill (FramingWriter *writer, gsize to)
{
  static const guint8 zeros[8];

  if (to > writer->at)
    framing_put (writer, zeros, to - writer->at);
}

static inline void
framing_pad (FramingWriter *writer, Layout item)
{
  framing_fill (writer, framing_align (writer->at, item.align));
}

static inline void
framing_open (FramingWriter *writer, FramingLevel *level, gboolean is_array)
{
  level->start = writer->at;
  level->n_ends = writer->n_ends;
  level->is_array = is_array;
}

/* An item ends here. `last`: of a tuple. */
static inline void
framing_note (FramingWriter *writer, const FramingLevel *level, Layout item, gboolean last)
{
  if (item.fixed > 0 || last)
    return;
  if (writer->data != NULL && writer->n_ends == writer->ends_room)
    framing_grow_ends (writer);
  if (writer->data != NULL)
    writer->ends[writer->n_ends] = writer->at - level->start;
  writer->n_ends++;
}

static inline void
framing_close (FramingWriter *writer, const FramingLevel *level, Layout own)
{
  if (own.fixed > 0)
    framing_fill (writer, level->start + own.fixed);
  else if (writer->n_ends > level->n_ends)
    framing_write_ends (writer, level);
}

/* ---- reading ---- */

typedef struct
{
  const guint8 *data;
  gsize at;
  gboolean failed; /* sticky: the bytes are not in normal form */
} FramingReader;

/* The container that lies from here to `end`. `item`: an array's. */
void framing_enter (FramingReader *reader, FramingLevel *level, gsize end, Layout own,
                    const Layout *item);
/* The items must have filled it, those of a tuple of fixed size but for zeros. */
void framing_leave (FramingReader *reader, const FramingLevel *level, Layout own);
/* What lies from here to `end` is UTF-8 that ends with a NUL. */
gboolean framing_is_text (const FramingReader *reader, gsize end);

static inline gsize
framing_read_end (const FramingReader *reader, gsize at, guint width)
{
  guint64 end = 0;

  for (guint i = 0; i < width; i++)
    end |= (guint64)reader->data[at + i] << (8 * i);
  return (gsize)end;
}

/* Zeros up to there. */
static inline void
framing_skip (FramingReader *reader, gsize to, gsize end)
{
  if (to > end)
    {
      reader->failed = TRUE;
      return;
    }
  for (; reader->at < to; reader->at++)
    reader->failed |= reader->data[reader->at] != 0;
}

/* Goes to the next item and returns its end, which is where it stands already after a failure. */
static inline gsize
framing_next (FramingReader *reader, FramingLevel *level, Layout item, gboolean last)
{
  gsize end = level->end;

  if (reader->failed)
    return reader->at;
  framing_skip (reader, framing_align (reader->at, item.align), level->end);
  if (item.fixed > 0)
    end = reader->at + item.fixed;
  else if (level->is_array)
    {
      end = level->start + framing_read_end (reader, level->table, level->width);
      level->table += level->width;
    }
  else if (!last)
    end = level->start + framing_read_end (reader, level->table -= level->width, level->width);
  reader->failed |= end < reader->at || end > level->end;
  return reader->failed ? reader->at : end;
}
