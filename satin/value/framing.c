/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of framing.h that are not inlined. Pure. Tests: test-record, test-pack. */
#include "config.h"

#include "framing.h"

/* Bytes of an entry in a container of `size` bytes. */
static guint
width_of (gsize size)
{
  if (size > G_MAXUINT32)
    return 8;
  if (size > G_MAXUINT16)
    return 4;
  return size > G_MAXUINT8 ? 2 : 1;
}

/* The same for a container of `body` bytes before its table, which counts in the size. */
static guint
width_for (gsize body, gsize n_ends)
{
  guint width = 1;

  while (width < 8 && width_of (body + n_ends * width) > width)
    width *= 2;
  return width;
}

void
framing_grow (FramingWriter *writer, gsize size)
{
  guint8 *before = writer->data;

  writer->room = MAX (writer->room * 2, writer->at + size);
  writer->data = g_malloc (writer->room);
  memcpy (writer->data, before, writer->at);
  if (writer->grown)
    g_free (before);
  writer->grown = TRUE;
}

void
framing_grow_ends (FramingWriter *writer)
{
  gsize *before = writer->ends;

  writer->ends = g_new (gsize, writer->ends_room * 2);
  memcpy (writer->ends, before, writer->n_ends * sizeof (gsize));
  writer->ends_room *= 2;
  if (before != writer->few_ends)
    g_free (before);
}

void
framing_write_ends (FramingWriter *writer, const FramingLevel *level)
{
  gsize n = writer->n_ends - level->n_ends;
  guint width = width_for (writer->at - level->start, n);

  for (gsize i = 0; i < n && writer->data != NULL; i++)
    {
      gsize at = level->is_array ? level->n_ends + i : writer->n_ends - 1 - i;
      guint64 end = GUINT64_TO_LE ((guint64)writer->ends[at]);

      framing_put (writer, &end, width);
    }
  if (writer->data == NULL)
    writer->at += n * width;
  writer->n_ends = level->n_ends;
}

/* The number of entries: an array's last end is where its table begins. */
static gsize
count_ends (FramingReader *reader, gsize size, gsize stop, guint width)
{
  gsize last = size == 0 ? 0 : framing_read_end (reader, stop - width, width);

  reader->failed |= (size > 0 && last >= size) || (size - last) % width != 0;
  return reader->failed ? 0 : (size - last) / width;
}

void
framing_enter (FramingReader *reader, FramingLevel *level, gsize end, Layout own,
               const Layout *item)
{
  gsize start = reader->at, n = own.n_ends;
  guint width;

  *level = (FramingLevel){ start, 0, item != NULL, 0, end, end, end };
  if (item == NULL ? n == 0 : item->fixed > 0)
    return; /* no table of ends */
  level->width = width = width_of (end - start);
  if (item != NULL)
    n = count_ends (reader, end - start, end, width);
  if (n * width > end - start)
    {
      reader->failed = TRUE;
      return;
    }
  level->n_ends = n;
  level->end -= n * width;
  if (item != NULL)
    level->table = level->end;
  reader->failed |= n > 0 && width != width_for (level->end - start, n);
}

void
framing_leave (FramingReader *reader, const FramingLevel *level, Layout own)
{
  if (own.fixed > 0 && !reader->failed)
    framing_skip (reader, level->end, level->end);
  reader->failed |= reader->at != level->end;
  reader->at = level->stop;
}

gboolean
framing_is_text (const FramingReader *reader, gsize end)
{
  const char *text = (const char *)reader->data + reader->at;
  gsize size = end - reader->at;

  return size > 0 && text[size - 1] == '\0' && g_utf8_validate (text, (gssize)size - 1, NULL);
}
