/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run says of itself. Blocks; any thread. */
#pragma once

#include <gio/gio.h>

/* What a run says of itself, as its coordinator does if that can be asked, since it
 * knows best how much is done. Any thread. (transfer full) (nullable) */
char *ask_status (const char *path, GError **error);
