/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 as GLib computes it, but by the processor's own instructions where it has them (x86-64):
 * each job that goes to another node is digested on both, and GLib takes ten times as long for
 * that. Pure, any thread. */
#pragma once

#include <glib.h>

#define SHA256_SIZE 32
#define SHA256_BLOCK 64

/* One sum under way; to be ended or cleared. */
typedef struct
{
  guint32 state[8];
  guint64 size; /* bytes so far */
  guint8 block[SHA256_BLOCK];
  GChecksum *slow; /* NULL: this processor has the instructions */
} Sha256;

void sha256_begin (Sha256 *sum);
/* The same without those instructions, for tests. */
void sha256_begin_slowly (Sha256 *sum);
void sha256_copy (Sha256 *sum, const Sha256 *from);
void sha256_feed (Sha256 *sum, const void *data, gsize size);
/* Ends the sum; nothing is left to be cleared. */
void sha256_end (Sha256 *sum, guint8 result[SHA256_SIZE]);
void sha256_clear (Sha256 *sum);
