/* SPDX-License-Identifier: BSD-3-Clause */
/* What `satin status` says of a run that its folder knows: program, arguments, host and times; and
 * the runs that go on no more. One thread. */
#pragma once

#include "folder/folder.h"

/* Appends `,"program":…` and the other facts to a JSON object. `until_us`: when the run ended, or
 * now, in microseconds since 1970. */
void ended_append_facts (GString *json, const FolderRun *run, gint64 until_us);
/* One line of them, for people. */
void ended_print_facts (const FolderRun *run, gint64 until_us);
/* All runs of this user that go on no more, one line each. */
void ended_print (void);
/* The same as the elements of a JSON array. */
void ended_append (GString *json);
