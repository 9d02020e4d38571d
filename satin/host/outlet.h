/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the user names for Satin's output, such as statistics and traces. */
#pragma once

#include <glib.h>

/* FALSE: outlet_write cannot write to `path`; the message calls the file `what`. Tries it with a
 * temporary file in the same folder. Any thread. */
gboolean outlet_is_writable (const char *what, const char *path,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Writes `text` to `path`. If `path` is an ordinary file, leads to one or does not exist, it uses a
 * temporary file and rename, so that readers see all or nothing. It writes directly into a device,
 * a pipe or a stream of this process (/dev/stderr). Any thread. */
gboolean outlet_write (const char *path, const char *text,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
