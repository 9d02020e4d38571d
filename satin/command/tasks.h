/* SPDX-License-Identifier: BSD-3-Clause */
/* `srun satin run …` and `srun PROGRAM` with several tasks: one run. The first task makes it and is
 * its first node; each of the others finds what it is to do in a folder beside those of the runs,
 * named after job, step and task, on a disk that all hosts share. */
#pragma once

#include <glib.h>

/* The first one: the text of a file of sites with one node here, and one at each other task, of
 * `workers` each (0: as Slurm says, else as usual). (transfer full) */
char *tasks_sites (int workers);
/* Of the tasks this one is the first. */
gboolean tasks_is_first (void);
/* Another one: waits for the run, is a node of it, and ends as that does: an exit code. `line`: the
 * shell command that it expects to be, since all tasks must have the same words. */
int tasks_serve (const char *line);
/* The folder in which task `number` finds its work. (transfer full) */
char *tasks_place (int number);
