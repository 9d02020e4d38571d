/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher says of nodes and runs that did not go well, and what to do next. One thread;
 * reads the logs in the run's folder, changes nothing. */
#pragma once

#include "net/folder.h"

/* A node of a run that goes on is gone; `n_live` others are left. */
void launch_words_gone (const char *path, gint64 pid, int status, guint n_live);
/* A node of another host never joined; `name` says which that is. The run goes on without. */
void launch_words_left_out (const char *path, gint64 pid, int status, const char *name);
/* No node ever joined: the founder's own sentence and exit code if it is a Satin program that
 * refused, else that it is none. Returns the exit code of the launcher. */
int launch_words_never_joined (const FolderRun *run, const char *path, gint64 pid, int status);
/* Main failed and left no sentence: its last words are the end of the log written to last. */
void launch_words_last (const char *path);
/* How to go on with a run that was suspended, or broke off with another `code` than one that main
 * gave. */
void launch_words_next (const FolderRun *run, int code);
