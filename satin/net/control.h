/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a run from outside: any of its nodes answers. Blocks; any thread. */
#pragma once

#include <gio/gio.h>

/* (transfer full): the reply of the first live node in the run's folder to `request` ("status",
 * "suspend"). */
char *control_ask (const char *run_folder, const char *request, GError **error);
/* (transfer full) (nullable): that of one process of this host. */
char *control_ask_process (const char *run_folder, gint64 pid, const char *request);
