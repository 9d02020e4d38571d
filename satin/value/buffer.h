/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for large values: in huge pages where the system has them, and used again, because a fresh
 * buffer of 64 MiB costs as much in page faults as its bytes cost to travel. Any thread. */
#pragma once

#include <glib.h>

#define BUFFER_LARGE ((gsize)4 << 20)      /* smaller ones are plain memory */
#define BUFFER_ALIGN 8                     /* what the types that travel need */
#define BUFFER_KEPT_MAX ((gsize)160 << 20) /* bytes that wait to be used again, in all */

/* Not initialised. NULL: no memory. */
guint8 *buffer_take (gsize size);
void buffer_give (guint8 *data, gsize size);
/* (transfer full): the bytes own the buffer from now on. */
GBytes *buffer_to_bytes (guint8 *data, gsize size);
/* (transfer full): a part of them as a program may see it, who reads numbers in it: a slice if it
 * lies at a multiple of BUFFER_ALIGN, else a copy that does. */
GBytes *buffer_slice (GBytes *bytes, gsize start, gsize size);
