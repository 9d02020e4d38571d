/* SPDX-License-Identifier: BSD-3-Clause */
/* GVariant's serialised form, little-endian, written and read item by item along a type string: for
 * what is no C struct, as a record (record.h) is. Types: b u t d s, tuples and
 * arrays of these. Pure; one thread per Packer or Unpacker, any number for a type. */
#pragma once

#include "framing.h"

#define PACK_DEPTH_MAX 8 /* containers in each other */

/* What the type takes that begins at one character of a type string. */
typedef struct
{
  Layout in;
  guint16 chars; /* of the string */
  char kind;     /* the character */
} PackLayout;

/* (transfer full, g_free): the layouts of this type, one for each character. To be made once. */
PackLayout *pack_type (const char *type);

typedef struct
{
  const PackLayout *own;  /* the container */
  const PackLayout *next; /* the next item; an array's element */
  FramingLevel in;
} PackLevel;

/* ---- writing ---- */

typedef struct
{
  FramingWriter out;
  PackLevel levels[PACK_DEPTH_MAX];
  guint depth;
  guint8 few[256]; /* enough for most */
} Packer;

/* Begins a tuple of this type, which outlives the Packer. The items follow in its order; a wrong
 * one aborts. */
void pack_begin (Packer *packer, const PackLayout *type);
void pack_bool (Packer *packer, gboolean value);
void pack_u32 (Packer *packer, guint32 value);
void pack_u64 (Packer *packer, guint64 value);
void pack_double (Packer *packer, double value);
void pack_text (Packer *packer, const char *value); /* valid UTF-8 */
/* The next item, a tuple of numbers without padding, as its little-endian bytes stand. */
void pack_fixed (Packer *packer, const void *data, gsize size);
/* The next item is a tuple or an array; its own items follow until pack_close. */
void pack_open (Packer *packer);
void pack_close (Packer *packer);
/* (transfer none): all that was written, until pack_clear. */
const guint8 *pack_end (Packer *packer, gsize *size);
void pack_clear (Packer *packer);

/* ---- reading ---- */

typedef struct
{
  FramingReader in; /* once it failed, what is read from then on is zero or empty */
  PackLevel levels[PACK_DEPTH_MAX];
  guint depth;
} Unpacker;

/* Reads a tuple of this type, trusting nothing: whatever is not in normal form fails. `data` is
 * borrowed as long as the texts are used. */
void unpack_begin (Unpacker *unpacker, const PackLayout *type, const guint8 *data, gsize size);
gboolean unpack_bool (Unpacker *unpacker);
guint32 unpack_u32 (Unpacker *unpacker);
guint64 unpack_u64 (Unpacker *unpacker);
double unpack_double (Unpacker *unpacker);
const char *unpack_text (Unpacker *unpacker);                 /* points into the data */
void unpack_fixed (Unpacker *unpacker, void *to, gsize size); /* see pack_fixed */
void unpack_open (Unpacker *unpacker);
/* TRUE: the open array has one more element. */
gboolean unpack_more (Unpacker *unpacker);
void unpack_close (Unpacker *unpacker);
/* TRUE: all was read and all was well. */
gboolean unpack_end (Unpacker *unpacker);
