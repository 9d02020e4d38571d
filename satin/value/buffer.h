/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for large values, in huge pages where the system has them. Buffers are used again, since
 * the page faults of a new buffer of 64 MiB cost as much time as sending its bytes. Any thread. */
#pragma once

#include <glib.h>

#define BUFFER_LARGE ((gsize)4 << 20)      /* smaller buffers are ordinary memory */
#define BUFFER_ALIGN 8                     /* alignment that encoded types need */
#define BUFFER_KEPT_MAX ((gsize)160 << 20) /* most bytes of unused buffers, in all */

/* Memory that is not initialised. NULL: no memory. */
guint8 *buffer_take (gsize size);
void buffer_give (guint8 *data, gsize size);
/* Bytes that own the buffer. (transfer full) */
GBytes *buffer_to_bytes (guint8 *data, gsize size);
/* A part of `bytes` in which a program may read numbers: a slice if it is aligned to BUFFER_ALIGN,
 * else an aligned copy. (transfer full) */
GBytes *buffer_slice (GBytes *bytes, gsize start, gsize size);
