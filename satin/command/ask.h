/* SPDX-License-Identifier: BSD-3-Clause */
/* For verbs that talk to a run: finds it, asks its nodes, waits for its end. Needs no launcher.
 * Calls block. One thread. */
#pragma once

#include "folder/ask-status.h"
#include "folder/folder.h"

/* A run that was named on the command line, and its folder. */
typedef struct
{
  FolderRun run;
  char *path;
} AskRun;

void ask_run_clear (AskRun *ask);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AskRun, ask_run_clear)

/* The folder of the run that `word` names: by its name, or by the path or URI of its checkpoint.
 * (transfer full) NULL: FOLDER_ERROR, there is no such run on this machine. */
char *ask_folder (const char *word, GError **error);
/* The record (folder/folder-ended.h) of a run that has ended and whose folder is gone. If several
 * had the same checkpoint, the last one's. (transfer full) (nullable) */
char *ask_ended (const char *word);
/* Finds the run `name` and fills *ask. FALSE: there is no such run. */
gboolean ask_look (const char *name, AskRun *ask, GError **error);
/* The same. FALSE: a message was printed. */
gboolean ask_find (const char *name, AskRun *ask);
/* TRUE: the run has not ended, and some process of it lives. FALSE: a message was printed. */
gboolean ask_is_live (const AskRun *ask);
/* The reply of some node to `request`. For 5 s it tries again, since a run that has just started
 * may not listen yet. NULL: a message was printed that begins with `what`, such as "cannot
 * suspend". (transfer full) */
char *ask_node (const AskRun *ask, const char *request, const char *what);
/* While no node listens yet, asks the launcher to suspend the run. TRUE: the run has ended. FALSE:
 * a node listens now, or nothing has happened for 5 s. */
gboolean ask_launcher (const AskRun *ask);
/* Waits until the run has ended. Returns its exit code, and *sentence, the message that it left
 * (out, optional, nullable, transfer full). -1: it has not ended within limit_us (0: no limit). -2:
 * its processes are gone, and there is no end. -3: the folder is gone. -4: the end cannot be
 * written here, for the reason in *sentence; a node of another host still has it. Call ask_stay
 * before. */
int ask_wait (const AskRun *ask, gint64 limit_us, char **sentence);
/* Keeps the run's folder until ask_leave. FALSE: a message was printed. */
gboolean ask_stay (const AskRun *ask);
/* This process no longer needs the folder: removes it if the run has ended and nobody else needs
 * it. */
void ask_leave (const AskRun *ask);
/* The text of a request: `word` and seconds, or `word` alone if within_s is negative. (transfer
 * full) */
char *ask_request (const char *word, double within_s);
