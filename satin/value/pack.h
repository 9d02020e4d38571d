/* SPDX-License-Identifier: BSD-3-Clause */
/* GVariant's serialised form, little-endian, written and read item by item along a type string, for
 * values that are no C struct as records are (record.h). Types: b u t d s, and tuples and arrays of
 * these. Pure. A Packer or Unpacker belongs to one thread; a type may be shared by any number. */
#pragma once

#include "framing.h"

#define PACK_DEPTH_MAX 8 /* nesting of containers */

/* The layout of the type that begins at one character of a type string. */
typedef struct
{
  Layout in;
  guint16 chars; /* length in the string */
  char kind;     /* the character */
} PackLayout;

/* The layouts of a type, one for each character; make them once. (transfer full, g_free) */
PackLayout *pack_type (const char *type);

typedef struct
{
  const PackLayout *own;  /* the container's layout */
  const PackLayout *next; /* the next item; in an array always its element */
  FramingLevel in;
} PackLevel;

/* ---- writing ---- */

typedef struct
{
  FramingWriter out;
  PackLevel levels[PACK_DEPTH_MAX];
  guint depth;
  guint8 few[256]; /* enough for most messages */
} Packer;

/* Begins a tuple of this type, which must outlive the Packer. Write its items in order; an item of
 * a wrong type aborts. */
void pack_begin (Packer *packer, const PackLayout *type);
void pack_bool (Packer *packer, gboolean value);
void pack_u32 (Packer *packer, guint32 value);
void pack_u64 (Packer *packer, guint64 value);
void pack_double (Packer *packer, double value);
void pack_text (Packer *packer, const char *value); /* valid UTF-8 */
/* Writes the next item, a tuple of numbers without padding, from its little-endian bytes. */
void pack_fixed (Packer *packer, const void *data, gsize size);
/* Begins the next item, a tuple or array. Its items follow, then pack_close. */
void pack_open (Packer *packer);
void pack_close (Packer *packer);
/* All bytes written. (transfer none): valid until pack_clear. */
const guint8 *pack_end (Packer *packer, gsize *size);
void pack_clear (Packer *packer);

/* ---- reading ---- */

typedef struct
{
  FramingReader in; /* after a failure everything reads as zero or empty */
  PackLevel levels[PACK_DEPTH_MAX];
  guint depth;
} Unpacker;

/* Begins to read a tuple of this type. Trusts nothing: bytes that are not in normal form fail.
 * `data` is borrowed as long as texts from it are used. */
void unpack_begin (Unpacker *unpacker, const PackLayout *type, const guint8 *data, gsize size);
gboolean unpack_bool (Unpacker *unpacker);
guint32 unpack_u32 (Unpacker *unpacker);
guint64 unpack_u64 (Unpacker *unpacker);
double unpack_double (Unpacker *unpacker);
const char *unpack_text (Unpacker *unpacker);                 /* points into the data */
void unpack_fixed (Unpacker *unpacker, void *to, gsize size); /* see pack_fixed */
void unpack_open (Unpacker *unpacker);
/* TRUE: the open array has another element. */
gboolean unpack_more (Unpacker *unpacker);
void unpack_close (Unpacker *unpacker);
/* TRUE: all bytes were read, and nothing failed. */
gboolean unpack_end (Unpacker *unpacker);
