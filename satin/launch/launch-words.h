/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher says of nodes and runs that did not go well, and what to do next. One thread;
 * reads the logs in the run's folder, changes nothing. */
#pragma once

#include "figures.h"

#include "folder/folder.h"

/* A node of a run that goes on is gone; of those that the launcher started `n_live` others are
 * left.
 */
void launch_words_gone (const char *path, gint64 pid, int status, guint n_live);
/* A node of another host never joined; `name` says which that is. The run goes on without. */
void launch_words_left_out (const char *path, gint64 pid, int status, const char *name);
/* No node ever joined: the founder's own sentence and exit code if it is a Satin program that
 * refused, else that it is none. Returns the exit code of the launcher. */
int launch_words_never_joined (const FolderRun *run, const char *path, gint64 pid, int status);
/* A run that ends with this code is stopped from outside: main hears of it then, and says how far
 * it came (launch_words_of_main, when all processes are gone). */
gboolean launch_words_are_late (int code);
/* main has begun at this node of this host, so it may still run there. */
gboolean launch_words_main_is_at (const char *path, gint64 pid);
/* Shows the words of main, which were held back like its answer. FALSE: it left none. */
gboolean launch_words_of_main (const char *path);
/* Shows the answer of a run that has ended so. Returns `code`, or 1, which is told, if it is not
 * there or cannot be shown. */
int launch_words_answer (const char *path, int code);
/* At the end: the words of main, unless they come late; if it has left none and `code` is a
 * failure, `sentence` (nullable), or else the end of the log written to last, tells why, unless
 * that was told already. */
void launch_words_end (const char *path, int code, const char *sentence, gboolean is_told);
/* At the end of a run that was suspended when it had not begun, for whoever waits for that too.
 * Returns the exit code. */
int launch_words_not_begun (const FolderRun *run, const char *path);
/* How to go on with a run that was suspended, or broke off with another `code` than one that main
 * gave. */
void launch_words_next (const FolderRun *run, int code);
/* How to look at a job that has ended a run. */
void launch_words_replay (const FolderRun *run);
/* The figures of the run at its end: one line on stderr if `show`, and all of them as JSON to the
 * file `stats` (nullable). */
void launch_words_figures (const char *path, const FiguresSeen *seen, const char *stats,
                           gboolean show);
