/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes records as GVariant bytes, always little-endian, and decodes them, by the tables of
 * satin-type.h. The bytes are exactly those of GLib's serialiser, with which the tests compare
 * them. The reader accepts nothing else: it checks every bound before it reads, and never trusts
 * bytes from a network or a file. A scalar type encodes as that scalar, a record as a tuple, a
 * fixed array as a GVariant array whose length must match. Pure. Any thread. */
#pragma once

#include "digest.h"
#include "satin-type.h"

#include <glib.h>

#define RECORD_SIGNATURE_MAX 4096u /* most characters of the type of a kept state */
/* most shared bytes objects in a value that is sent to another node */
#define RECORD_SHARED_MAX (3u << 17)
#define RECORD_DEPTH_MAX 32    /* deepest nesting of types */
#define RECORD_SHARED_BYTES 24 /* an encoded SatinShared: digest and length */

#define RECORD_ERROR (record_error_quark ())
GQuark record_error_quark (void);
typedef enum
{
  RECORD_ERROR_MALFORMED /* the bytes are no value of this type */
} RecordError;

/* The GVariant type string, such as "(ix)" or "x". (transfer full) */
char *record_signature (const SatinType *type);
/* A text that differs if the encoding or a member's name differs, for schema digests. (transfer
 * full) */
char *record_schema (const SatinType *type);
/* TRUE: values of the type contain references (bytes, shared bytes, lists, texts). */
gboolean record_holds (const SatinType *type);

/* The encoding of the value at `data`. (transfer full) */
GBytes *record_encode (const SatinType *type, const void *data);
/* Fills `data`, whatever it contains before. References in it are new: SatinBytes refer to `bytes`,
 * or to copies where they would not be aligned; SatinShared belong to the store of this process.
 * Release them by record_clear. FALSE: malformed; `data` is all zero then. */
gboolean record_decode (const SatinType *type, GBytes *bytes, void *data, GError **error);
/* Copies the struct, and adds a reference to everything that it holds. */
void record_copy (const SatinType *type, void *to, const void *from);
/* Adds a reference to everything that the value holds. */
void record_ref (const SatinType *type, void *data);
/* Releases everything that the value holds and sets it to NULL. */
void record_clear (const SatinType *type, void *data);

/* The SatinShared in the value. (transfer full) (nullable): NULL: none. */
GPtrArray *record_list_shared (const SatinType *type, const void *data);

typedef struct
{
  Digest digest;
  guint64 length;
} RecordShared;
/* The same, as RecordShared, in an encoded value of which only the signature is known. Trusts
 * nothing. (transfer full) (nullable) */
GArray *record_find_shared (const char *signature, GBytes *bytes);
