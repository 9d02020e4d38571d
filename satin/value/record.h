/* SPDX-License-Identifier: BSD-3-Clause */
/* Records to GVariant's bytes and back, always little-endian, by the tables of satin-type.h. The
 * bytes are exactly those of the library's serialiser (the oracle of the tests); the reader takes
 * nothing else: it is strict, checks every bound before it looks, and never trusts what came from a
 * wire or a file. A scalar type encodes as that scalar, a record as a tuple, a fixed array as a
 * GVariant array whose length must match. Pure; any thread. */
#pragma once

#include "satin-type.h"

#include <gio/gio.h>

#define RECORD_ERROR (record_error_quark ())
GQuark record_error_quark (void);
typedef enum
{
  RECORD_ERROR_MALFORMED /* not the bytes of a value of this type */
} RecordError;

/* (transfer full): the GVariant type string, e.g. "(ix)" or "x". Types nest at most 32 deep. */
char *record_signature (const SatinType *type);
/* (transfer full): text that changes whenever the encoding or a member's name does, for schema
 * digests. */
char *record_schema (const SatinType *type);
/* TRUE: the type holds SatinBytes somewhere. */
gboolean record_has_bytes (const SatinType *type);

/* (transfer full): the encoding of the value at `data`. */
GBytes *record_encode (const SatinType *type, const void *data);
/* Fills `data` (size bytes, contents ignored). SatinBytes in it are new references into `bytes`, to
 * be released by record_clear. FALSE: malformed; `data` is all zero then. */
gboolean record_decode (const SatinType *type, GBytes *bytes, void *data, GError **error);
/* Copies the struct and takes a reference on every SatinBytes inside. */
void record_copy (const SatinType *type, void *to, const void *from);
/* Takes one more reference on every SatinBytes inside. */
void record_ref (const SatinType *type, void *data);
/* Releases every SatinBytes inside and sets them to NULL. */
void record_clear (const SatinType *type, void *data);
