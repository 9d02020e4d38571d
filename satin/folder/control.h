/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from outside to a run; any of its nodes answers. Blocks. Any thread. */
#pragma once

#include <glib.h>

/* (transfer full): the reply of the first live node in the run's folder to `request`, such as
 * "status" or "suspend". */
char *control_ask (const char *run_folder, const char *request, GError **error);
/* A node on another host whose launcher is gone keeps the end of the run and its answer for a
 * while. This call copies these files of all such nodes into the run's folder, and tells the nodes
 * when the files are safe on this disk. FALSE: a file cannot be kept here, or came incomplete. Its
 * node still has it, and `end` is not written here. */
gboolean control_bring_end (const char *run_folder, GError **error);
/* Requests to such a node. CONTROL_FILE asks for a piece of a file: the name follows and, unless it
 * is 0, the offset of the piece. CONTROL_TAKEN says that all files are safe. `end` is the last
 * file: the others are complete when it exists. */
#define CONTROL_FILE "file "
#define CONTROL_TAKEN "taken"
#define CONTROL_PIECE (1024 * 1024)
extern const char *const control_files_of_end[];
/* Requests that each node answers for itself: make the stacks report their jobs; what they
 * reported; the node's statistics. */
#define CONTROL_LOOK "look"
#define CONTROL_JOBS "jobs"
#define CONTROL_FIGURES "figures"
/* As CONTROL_FIGURES, with the node's oldest jobs as the stacks reported them for the last such
 * request. */
#define CONTROL_TOP "top"
/* Gives the run a checkpoint: its place follows, C-escaped. */
#define CONTROL_CHECKPOINT "checkpoint "
/* (transfer full) (nullable): the reply of the node at `address`. */
char *control_ask_at (const char *run_folder, const char *address, const char *request);
