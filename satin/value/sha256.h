/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256, since two of them lie on the way of each stolen job, and GLib's takes six times as long
 * as a processor that has instructions for it. Pure. */
#pragma once

#include <glib.h>

#define SHA256_SIZE 32
#define SHA256_BLOCK 64

/* After some bytes; may be copied to go on in several ways. */
typedef struct
{
  guint32 state[8];
  guint64 size; /* bytes so far */
  guint8 rest[SHA256_BLOCK];
} Sha256;

void sha256_init (Sha256 *sha);
void sha256_add (Sha256 *sha, const void *data, gsize size);
/* Uses it up. */
void sha256_end (Sha256 *sha, guint8 hash[SHA256_SIZE]);

/* One step of it, for as many blocks: in plain C, and by what this processor has (FALSE: nothing,
 * and nothing is done). For tests. */
void sha256_blocks_plain (guint32 state[8], const guint8 *data, gsize blocks);
gboolean sha256_blocks_fast (guint32 state[8], const guint8 *data, gsize blocks);
