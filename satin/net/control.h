/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a run from outside: any of its nodes answers. Blocks; any thread. */
#pragma once

#include <gio/gio.h>

/* (transfer full): the reply of the first live node in the run's folder to `request` ("status",
 * "suspend"). */
char *control_ask (const char *run_folder, const char *request, GError **error);
/* A node on another host whose launcher is gone keeps the end of the run, and its answer, for some
 * seconds: who finds one that has it brings it into the run's folder. */
void control_bring_end (const char *run_folder);
/* What such a node is asked for: a file; and what it is told: that somebody has them all. `end` is
 * the last of them: what belongs to it is there then. */
#define CONTROL_FILE "file "
#define CONTROL_TAKEN "taken"
extern const char *const control_files_of_end[];
/* (transfer full) (nullable): that of the node at this address. */
char *control_ask_at (const char *run_folder, const char *address, const char *request);
