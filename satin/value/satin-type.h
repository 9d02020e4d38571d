/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes C values: their members, with their places and portable encodings. The macros of
 * satin.h fill these tables at compile time; value/record.c walks through them. Public, for C and
 * C++. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

G_BEGIN_DECLS

/* Bytes of any size in a job's arguments, a result or a record. The program only borrows them:
 * spawn and return take their own references. Bytes from Satin are aligned for arrays of any number
 * type. NULL encodes as no bytes. */
typedef GBytes *SatinBytes;

/* Large bytes that jobs share. The value contains only the digest of the content and the length;
 * satin_shared returns the bytes. Borrowed like SatinBytes. NULL: none. */
typedef struct SatinShared_ *SatinShared;

/* UTF-8 text of any length that ends with a NUL. Borrowed like SatinBytes. `held` owns it; NULL:
 * the program owns the memory of `text`, and a spawn copies it. {NULL, NULL} encodes as "". */
typedef struct
{
  const char *text;
  GBytes *held;
} SatinText;

/* Any list, as the library sees it; the program's type has a typed `at`. */
typedef struct
{
  const void *at;
  uint64_t n;
  GBytes *held; /* owner of the items, as in SatinText */
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
  SATIN_KIND_RECORD, /* (...) of its members, in their order */
  SATIN_KIND_SHARED, /* SATIN_SHARED_SIGNATURE: 16 bytes of digest, 8 bytes of length */
  SATIN_KIND_LIST,   /* a and the type of its items, which is the type of its only field */
  SATIN_KIND_TEXT    /* s */
} SatinKind;

/* No other member has an h in its signature (GVariant's handle, for data beside a value). So a
 * value and its type suffice to find the shared bytes in it. */
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
