/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a run from outside: any of its nodes answers. Blocks; any thread. */
#pragma once

#include <gio/gio.h>

/* (transfer full): the reply of the first live node in the run's folder to `request` ("status",
 * "suspend"). */
char *control_ask (const char *run_folder, const char *request, GError **error);
/* (transfer full) (nullable): that of the node at this address. */
char *control_ask_at (const char *run_folder, const char *address, const char *request);
