/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks through GVariant's serialised form, for all code that writes or reads it (record.c,
 * pack.c): the places of items, padding, and the tables of ends. The caller says what the items
 * are. Pure.
 *
 * The form. A value of fixed size stands at a multiple of its alignment, and a tuple of such values
 * is padded with zeros to a multiple of its own. An array or tuple with members of variable size
 * ends with a table of the members' ends, counted from its own start. (A tuple omits members of
 * fixed size and its last member, and writes the table backwards.) Entries are as wide as the size
 * of the whole container needs: 1, 2, 4 or 8 bytes. Every container starts at a multiple of the
 * greatest alignment inside it. So a position is aligned if it is aligned from the very start. */
#pragma once

#include <glib.h>
#include <string.h>

/* The size and alignment of a type's values. */
typedef struct
{
  gsize fixed; /* size in bytes; 0: it varies */
  guint32 align;
  guint32 n_ends; /* of a tuple: entries in its table of ends */
} Layout;

static inline gsize
framing_align (gsize at, gsize align)
{
  return (at + align - 1) & ~(align - 1);
}

/* A tuple's layout: start with { 0, 1, 0 }, add the layout of each item, … */
static inline void
framing_add (Layout *sum, Layout item)
{
  sum->fixed = framing_align (sum->fixed, item.align) + item.fixed;
  sum->align = MAX (sum->align, item.align);
  sum->n_ends += item.fixed == 0;
}

/* … and finish with this. */
static inline Layout
framing_sum (Layout sum, gboolean last_varies)
{
  if (sum.n_ends == 0) /* an empty tuple has one byte */
    return (Layout){ framing_align (MAX (sum.fixed, 1), sum.align), sum.align, 0 };
  return (Layout){ 0, sum.align, sum.n_ends - (last_varies ? 1 : 0) };
}

/* A container that is being written or read. */
typedef struct
{
  gsize start;       /* where the container begins */
  gsize n_ends;      /* reader: entries in its table; writer: ends that were noted before this
                      * container */
  gboolean is_array; /* an array: its table runs forwards, with an entry for each item of variable
                      * size */
  guint width;       /* reader: bytes of an entry */
  gsize end, stop;   /* reader: the end of its items; the end of the container */
  gsize table;       /* reader: the next entry */
} FramingLevel;

/* ---- writing ---- */

typedef struct
{
  guint8 *data; /* NULL: nothing is written, only counted */
  gsize at, room;
  gboolean grown; /* `data` was reallocated and is owned */
  gsize n_ends, ends_room;
  gsize *ends; /* of items whose containers are open */
  gsize few_ends[16];
} FramingWriter;

/* `data`, with `room` bytes, is borrowed. */
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

/* Writes zeros up to `to`, 8 at most. */
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

/* Notes the end of an item. `last`: of a tuple. */
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

/* Enters the container from here to `end`. `item`: of an array. */
void framing_enter (FramingReader *reader, FramingLevel *level, gsize end, Layout own,
                    const Layout *item);
/* Leaves a container. It fails unless the items filled it; in a tuple of fixed size zeros may
 * follow. */
void framing_leave (FramingReader *reader, const FramingLevel *level, Layout own);
/* TRUE: the bytes from here to `end` are UTF-8 that ends with a NUL. */
gboolean framing_is_text (const FramingReader *reader, gsize end);

static inline gsize
framing_read_end (const FramingReader *reader, gsize at, guint width)
{
  guint64 end = 0;

  for (guint i = 0; i < width; i++)
    end |= (guint64)reader->data[at + i] << (8 * i);
  return (gsize)end;
}

/* Skips zeros up to `to`. */
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

/* Goes to the next item and returns its end. After a failure both are the same place. */
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
