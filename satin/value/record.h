/* SPDX-License-Identifier: BSD-3-Clause */
/* Records to GVariant's bytes and back, always little-endian, by the tables of satin-type.h. The
 * bytes are exactly those of the library's serialiser (the oracle of the tests); the reader takes
 * nothing else: it is strict, checks every bound before it looks, and never trusts what came from a
 * wire or a file. A scalar type encodes as that scalar, a record as a tuple, a fixed array as a
 * GVariant array whose length must match. Pure; any thread. */
#pragma once

#include "digest.h"
#include "satin-type.h"

#include <gio/gio.h>

#define RECORD_SIGNATURE_MAX 4096u /* characters, of a type that a job keeps */
#define RECORD_SHARED_MAX (3u << 17) /* shared bytes in one value that goes to another node */
#define RECORD_DEPTH_MAX 32    /* types nest no deeper */
#define RECORD_SHARED_BYTES 24 /* an encoded SatinShared: digest and length */

#define RECORD_ERROR (record_error_quark ())
GQuark record_error_quark (void);
typedef enum
{
  RECORD_ERROR_MALFORMED /* not the bytes of a value of this type */
} RecordError;

/* (transfer full): the GVariant type string, e.g. "(ix)" or "x". */
char *record_signature (const SatinType *type);
/* (transfer full): text that changes whenever the encoding or a member's name does, for schema
 * digests. */
char *record_schema (const SatinType *type);
/* TRUE: the type holds references (SatinBytes, SatinShared) somewhere. */
gboolean record_holds (const SatinType *type);

/* (transfer full): the encoding of the value at `data`. */
GBytes *record_encode (const SatinType *type, const void *data);
/* Fills `data` (size bytes, contents ignored). SatinBytes in it are new references into `bytes`,
 * or into copies where they would not be aligned, to be released by record_clear; so are
 * SatinShared, in the store of this process. FALSE: malformed; `data` is all zero then. */
gboolean record_decode (const SatinType *type, GBytes *bytes, void *data, GError **error);
/* Copies the struct and takes a reference on everything that it holds. */
void record_copy (const SatinType *type, void *to, const void *from);
/* Takes one more reference on everything that it holds. */
void record_ref (const SatinType *type, void *data);
/* Releases everything that it holds and sets it to NULL. */
void record_clear (const SatinType *type, void *data);

/* (transfer full) (nullable): the SatinShared in it; NULL: none. */
GPtrArray *record_list_shared (const SatinType *type, const void *data);

typedef struct
{
  Digest digest;
  guint64 length;
} RecordShared;
/* (transfer full) (nullable): the same, as RecordShared, of an encoded value of which only the
 * signature is known. Trusts nothing. */
GArray *record_find_shared (const char *signature, GBytes *bytes);
