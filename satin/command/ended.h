/* SPDX-License-Identifier: BSD-3-Clause */
/* What `satin status` shows of a run from its folder: program, arguments, host and times; and the
 * list of runs that have ended. One thread. */
#pragma once

#include "folder/folder.h"

/* Appends `,"program":...` and the other facts to a JSON object. `until_us`: when the run ended, or
 * now, in microseconds since 1970; 0: not known. */
void ended_append_facts (GString *json, const FolderRun *run, gint64 until_us);
/* Prints the facts for people, on one or two lines. */
void ended_print_facts (const FolderRun *run, gint64 until_us);
/* Prints all runs of this user that have ended, or whose processes are gone. */
void ended_print (void);
/* Appends the same runs as elements of a JSON array. */
void ended_append (GString *json);
