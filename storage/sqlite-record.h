/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of SQLite's numbers and records, for files that read pages without SQLite. The numbers
 * 255, 64 and 35 are those of SQLite's file format. */
#pragma once

#include <glib.h>
#include <string.h>

#define RECORD_COLUMNS_MAX 16

typedef struct
{
  char kind; /* 'n' NULL, 'i' integer, 'r' real, 't' text, 'b' blob */
  gint64 integer;
  double real;
  const guint8 *data; /* of a text or blob */
  gsize size;
} RecordColumn;

typedef struct
{
  guint n;
  RecordColumn columns[RECORD_COLUMNS_MAX];
  gint64 rowid; /* of the cell, if its table has rowids */
} Record;

/* The header of a record. */
typedef struct
{
  guint n;
  guint64 types[RECORD_COLUMNS_MAX];
  gsize header, payload; /* bytes; the header is a part of the payload */
} RecordShape;

static inline guint32
record_load_big (const guint8 *bytes)
{
  guint32 word;
  memcpy (&word, bytes, sizeof word);
  return GUINT32_FROM_BE (word);
}

/* The number of bytes of a varint that must end before `end`; 0: it does not. */
static inline guint
record_take_varint (const guint8 *at, const guint8 *end, guint64 *value)
{
  guint64 word = 0;
  for (guint i = 0; i < 8 && at + i < end; i++)
    {
      word = word << 7 | (at[i] & 0x7f);
      if (at[i] < 0x80)
        {
          *value = word;
          return i + 1;
        }
    }
  if (end - at < 9)
    return 0;
  *value = word << 8 | at[8];
  return 9;
}

/* FALSE: no such type. */
static inline gboolean
record_type_size (guint64 type, gsize *size)
{
  static const guint8 sizes[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
  if (type >= 12)
    *size = (gsize)((type - 12) / 2);
  else if (type < G_N_ELEMENTS (sizes))
    *size = sizes[type];
  else
    return FALSE;
  return TRUE;
}

/* TRUE: the type of the last column of our rows, the sum: 16 bytes, or in format 1 an integer. It
 * takes one byte, the last of the header. */
static inline gboolean
record_is_sum (guint64 type)
{
  return type == 12 + 2 * 16 || (type >= 1 && type <= 6) || type == 8 || type == 9;
}

/* Reads the header of a record: its length, and a type for each column. FALSE: there is none
 * here. */
static inline gboolean
record_take_shape (const guint8 *at, const guint8 *end, guint64 payload_max, RecordShape *shape)
{
  gsize header = at[0], size;
  if (header < 4 || header >= 0x80 || (gsize)(end - at) < header)
    return FALSE;
  const guint8 *stop = at + header;
  if (!record_is_sum (stop[-1]))
    return FALSE;
  shape->n = 0;
  shape->header = header;
  shape->payload = header;
  for (at++; at < stop; shape->n++)
    {
      guint64 type;
      guint n = record_take_varint (at, stop, &type);
      if (n == 0 || shape->n == RECORD_COLUMNS_MAX || !record_type_size (type, &size)
          || size > payload_max)
        return FALSE;
      shape->types[shape->n] = type;
      shape->payload += size;
      at += n;
    }
  return shape->payload <= payload_max && record_is_sum (shape->types[shape->n - 1]);
}

/* How much of a payload lies in the page of its cell. */
static inline gsize
record_local_size (gsize payload, gsize page_size, gboolean has_rowid)
{
  gsize most = has_rowid ? page_size - 35 : (page_size - 12) * 64 / 255 - 23;
  gsize least = (page_size - 12) * 32 / 255 - 23;
  if (payload <= most)
    return payload;
  gsize some = least + (payload - least) % (page_size - 4);
  return some <= most ? some : least;
}

static inline gint64
record_load_integer (const guint8 *bytes, gsize size)
{
  guint64 word;
  if (size == sizeof word)
    {
      memcpy (&word, bytes, sizeof word);
      return (gint64)GUINT64_FROM_BE (word);
    }
  word = size > 0 && bytes[0] >= 0x80 ? G_MAXUINT64 : 0;
  for (gsize i = 0; i < size; i++)
    word = word << 8 | bytes[i];
  return (gint64)word;
}

static inline void
record_read_column (guint64 type, const guint8 *at, gsize size, RecordColumn *column)
{
  *column = (RecordColumn){ .kind = 'i', .data = at, .size = size };
  if (type == 0)
    column->kind = 'n';
  else if (type >= 12)
    column->kind = type % 2 == 0 ? 'b' : 't';
  else if (type == 8 || type == 9)
    column->integer = (gint64)type - 8;
  else
    column->integer = record_load_integer (at, size);
  if (type != 7)
    return;
  column->kind = 'r';
  memcpy (&column->real, &column->integer, sizeof column->real);
}

/* Reads all but the rowid. The columns point into `payload`. */
static inline void
record_read (const RecordShape *shape, const guint8 *payload, Record *record)
{
  const guint8 *at = payload + shape->header;
  record->n = shape->n;
  for (guint i = 0; i < shape->n; i++)
    {
      gsize size = 0;
      (void)record_type_size (shape->types[i], &size);
      record_read_column (shape->types[i], at, size, &record->columns[i]);
      at += size;
    }
}
