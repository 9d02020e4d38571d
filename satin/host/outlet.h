/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that people named for what we tell them. */
#pragma once

#include <gio/gio.h>

/* Whether outlet_write can write to `path`; tries it by a file of another name there. FALSE: a
 * sentence that names it as `what`. Any thread. */
gboolean outlet_is_writable (const char *what, const char *path,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Writes all of `text` to `path`: by a temporary file and rename where that is (or leads to) an
 * ordinary file or nothing yet, so that readers see all or nothing; into it where it is a device, a
 * pipe, or one of this process's own streams (/dev/stderr). Any thread. */
gboolean outlet_write (const char *path, const char *text,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
