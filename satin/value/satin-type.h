/* SPDX-License-Identifier: BSD-3-Clause */
/* How a C value looks from outside: its members, their places and their portable encoding. The
 * macros of satin.h fill these tables at compile time; value/record.c walks them. Public, C and
 * C++. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

G_BEGIN_DECLS

/* Bytes of any size inside a job's arguments, a result or a record. Borrowed wherever a program
 * sees it: spawning and returning take their own reference. What Satin hands to a program lies
 * where an array of any number type may lie. NULL encodes as no bytes. */
typedef GBytes *SatinBytes;

/* Large bytes, shared by all who speak of them: by value only the digest of their content and their
 * length, in whose place satin_shared gives the bytes. Borrowed like SatinBytes. NULL: none. */
typedef struct SatinShared_ *SatinShared;

/* UTF-8 text of any length, borrowed like SatinBytes; ends with a NUL. `held` owns it; NULL: what
 * `text` points to is the program's own, and a spawn copies it. {NULL, NULL} travels as "". */
typedef struct
{
  const char *text;
  GBytes *held;
} SatinText;

/* How each list looks to the library; `at` is typed in the program. */
typedef struct
{
  const void *at;
  uint64_t n;
  GBytes *held; /* as in SatinText */
} SatinList_;

typedef enum
{
  SATIN_KIND_INT8,   /* GVariant n: GVariant has no signed byte */
  SATIN_KIND_UINT8,  /* y */
  SATIN_KIND_INT16,  /* n */
  SATIN_KIND_UINT16, /* q */
  SATIN_KIND_INT32,  /* i */
  SATIN_KIND_UINT32, /* u */
  SATIN_KIND_INT64,  /* x */
  SATIN_KIND_UINT64, /* t */
  SATIN_KIND_DOUBLE, /* d */
  SATIN_KIND_BYTES,  /* ay */
  SATIN_KIND_RECORD, /* (...) of its members, in order */
  SATIN_KIND_SHARED, /* SATIN_SHARED_SIGNATURE: 16 bytes of digest, 8 of length */
  SATIN_KIND_LIST,   /* a and the type of its items, which is that of its only field */
  SATIN_KIND_TEXT    /* s */
} SatinKind;

/* No other member has an h in its signature (GVariant's handle: what travels beside a value), so
 * whoever has a value and its type finds the shared bytes in it. */
#define SATIN_SHARED_SIGNATURE "(tthh)"

typedef struct SatinType SatinType;

/* One member of a record, or one argument of a job. */
typedef struct
{
  const char *name;
  const SatinType *type;
  uint32_t offset; /* of the member in the C struct */
  uint32_t count;  /* 0: one value; n: a fixed array of n, encoded as GVariant a<type> */
} SatinField;

struct SatinType
{
  const char *name; /* "int32_t", "Tour" */
  uint32_t size;    /* sizeof the C type */
  uint8_t kind;     /* SatinKind */
  uint8_t n_fields; /* of records; 1 of lists */
  const SatinField *fields;
};

G_END_DECLS
