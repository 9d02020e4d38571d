/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's messages about nodes and runs that ended badly, and what to do next. Reads the
 * logs in the run's folder, which may hold anything. One thread. */
#pragma once

#include "figures.h"

#include "folder/folder.h"

/* A node is gone, and the run goes on. `status`: from waitpid. `n_live`: how many other nodes of
 * this launcher live. */
void launch_words_gone (const char *path, gint64 pid, int status, guint n_live);
/* A node never joined, and the run goes on without it. `name`: of the node, for the message. Each
 * sentence is printed once. */
void launch_words_left_out (const char *path, gint64 pid, int status, const char *name);
/* No node ever joined. Prints the founder's own sentence and returns its exit code, if it is a
 * Satin program that refused; else prints that it is no Satin program, and returns 1. */
int launch_words_never_joined (const FolderRun *run, const char *path, gint64 pid, int status);
/* TRUE: a run with this exit code was suspended or cancelled. main hears of that at the end, and
 * its stderr is shown when all processes are gone (launch_words_of_main). */
gboolean launch_words_are_late (int code);
/* TRUE: main began in this node of this host, so it may still run. */
gboolean launch_words_main_is_at (const char *path, gint64 pid);
/* Prints what main wrote to stderr, which was held back like the answer. FALSE: there is
 * nothing. */
gboolean launch_words_of_main (const char *path);
/* Prints the answer of a run that ended with `code`. Returns `code`, or 1 after a message if the
 * answer is not here or cannot be written. */
int launch_words_answer (const char *path, int code);
/* At the end: prints main's stderr, unless launch_words_are_late. Then prints `sentence`, if any.
 * If the run failed and there is neither, nor an answer, prints the end of the newest log.
 * `is_told`: the reason was already printed. */
void launch_words_end (const char *path, int code, const char *sentence, gboolean is_told);
/* The run was suspended before it had begun: writes its end, also for `satin wait`, and prints it.
 * Returns the exit code. */
int launch_words_not_begun (const FolderRun *run, const char *path);
/* Prints how to resume a run that was suspended or broke off. `code`: of the launcher. */
void launch_words_next (const FolderRun *run, int code);
/* Prints how to run a job again that has ended the run. */
void launch_words_replay (const FolderRun *run);
/* At the end: prints one line of figures on stderr if `show`, and writes all of them as JSON to the
 * file `stats` (nullable). */
void launch_words_figures (const char *path, const FiguresSeen *seen, const char *stats,
                           gboolean show);
