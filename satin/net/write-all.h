/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes to a descriptor, all of them. Any thread; blocks. */
#pragma once

#include <glib.h>

/* FALSE: errno says why; a part may be written. */
gboolean write_all (int fd, const void *data, gsize size);
