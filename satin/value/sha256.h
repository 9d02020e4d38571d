/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256, by the processor's own instructions where it has them: a digest lies on the way of each
 * stolen job and of each row, and those of shared bytes are of megabytes. A sum that was begun may
 * be copied. Pure. */
#pragma once

#include <glib.h>

#define SHA256_BYTES 32

typedef struct
{
  guint32 state[8];
  guint64 length;
  guint8 pending[64]; /* the last length % 64 bytes */
} Sha256;

void sha256_begin (Sha256 *sum);
void sha256_add (Sha256 *sum, const void *data, gsize size);
/* Nothing may be added afterwards. */
void sha256_end (Sha256 *sum, guint8 digest[SHA256_BYTES]);

/* For tests: FALSE: not by the processor's instructions, TRUE: by those if it has them. */
void sha256_use_instructions (gboolean use);
