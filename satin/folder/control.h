/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a run from outside: any of its nodes answers. Blocks; any thread. */
#pragma once

#include <gio/gio.h>

/* (transfer full): the reply of the first live node in the run's folder to `request` ("status",
 * "suspend"). */
char *control_ask (const char *run_folder, const char *request, GError **error);
/* A node on another host whose launcher is gone keeps the end of the run, and its answer, for a
 * while: brings what such nodes have into the run's folder, and tells them when it is on the disk
 * here. FALSE: a file cannot be kept here or did not come whole; its node still has it, and `end`
 * is not brought before it. */
gboolean control_bring_end (const char *run_folder, GError **error);
/* What such a node is asked for: a piece of a file, by its name and, unless 0, the bytes before the
 * piece; and what it is told: that somebody has them all. `end` is the last of them: what belongs
 * to it is there then. */
#define CONTROL_FILE "file "
#define CONTROL_TAKEN "taken"
#define CONTROL_PIECE (1024 * 1024)
extern const char *const control_files_of_end[];
/* What each node is asked for itself alone: that its stacks say what they run; a moment later, what
 * they said; its statistics. */
#define CONTROL_LOOK "look"
#define CONTROL_JOBS "jobs"
#define CONTROL_FIGURES "figures"
/* The same with its oldest jobs, as its stacks said when this was asked last. */
#define CONTROL_TOP "top"
/* What a node is told when the run is to have a checkpoint: its place, C-escaped. */
#define CONTROL_CHECKPOINT "checkpoint "
/* (transfer full) (nullable): that of the node at this address. */
char *control_ask_at (const char *run_folder, const char *address, const char *request);
