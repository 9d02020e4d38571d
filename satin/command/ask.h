/* SPDX-License-Identifier: BSD-3-Clause */
/* What the verbs that speak to a run share: finding it, asking its nodes, waiting for its end. They
 * need no launcher, which may be gone. Blocking calls, one thread. */
#pragma once

#include "folder/ask-status.h"
#include "folder/folder.h"

/* A run that was named on the command line. */
typedef struct
{
  FolderRun run;
  char *path;
} AskRun;

void ask_run_clear (AskRun *ask);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AskRun, ask_run_clear)

/* The folder of the run that `word` means: its name, or the path or URI of its checkpoint.
 * (transfer full) NULL: there is none on this machine. */
char *ask_folder (const char *word, GError **error);
/* The record of the run that `word` means, which has ended and whose folder is gone
 * (folder/folder-ended.h); of several with one checkpoint the last. (transfer full) (nullable) */
char *ask_ended (const char *word);
/* FALSE: there is no such run. */
gboolean ask_look (const char *name, AskRun *ask, GError **error);
/* The same; why there is none is said on stderr. */
gboolean ask_find (const char *name, AskRun *ask);
/* The reply of some node to `request`; a run that has just been started is given a little time.
 * NULL: said on stderr, beginning with `what` ("cannot suspend"). (transfer full) */
char *ask_node (const AskRun *ask, const char *request, const char *what);
/* While no node listens yet the launcher is told to suspend the run. TRUE: it did, or the run has
 * ended; FALSE: a node can be asked now, or nobody hears. */
gboolean ask_launcher (const AskRun *ask);
/* Waits until the run has ended: its exit code, and the sentence it left (out, optional, nullable,
 * transfer full). -1: not before `limit_us`; -2: its processes are gone and left no word; -3: the
 * folder is gone; -4: the end cannot be kept here, `sentence` is why, and a node of another host still
 * has it. limit_us 0: no limit. Call ask_stay before, so that the folder stays. */
int ask_wait (const AskRun *ask, gint64 limit_us, char **sentence);
/* The folder is to stay until this process has read the end from it. */
gboolean ask_stay (const AskRun *ask);
/* This process has read it; removes the folder when nobody else does. */
void ask_leave (const AskRun *ask);
/* A word and seconds, or a word alone where they are negative. (transfer full) */
char *ask_request (const char *word, double within_s);
