/* SPDX-License-Identifier: BSD-3-Clause */
/* `srun satin run …`, `srun satin resume …` and `srun PROGRAM` with several tasks: one run; mpirun
 * in place of srun, too. The first task makes the run and is its first node; each of the others
 * finds what it is to do in a folder beside those of the runs, named after step and task
 * (host/step.h), on a disk that all hosts share. */
#pragma once

#include <glib.h>

/* One of several tasks of a step. The first one is to make the run: -1, and *sites (out, transfer
 * full) is a file of sites for it, with one node here and one at each other task, of `workers` each
 * (0: as Slurm says, else as usual). Another one waits for the run, is a node of it, and ends
 * when that node does: an exit code, 0 unless it could not become a node. It expects to be PROGRAM
 * ARGV, since all tasks must have the same words; program NULL: whatever the first one makes. */
int tasks_begin (int workers, const char *program, char **argv, char **sites);
/* The first one has ended: the others wait no longer. `sites` as above; NULL: there are no tasks.
 */
void tasks_end (const char *sites);
/* The folder in which task `number` finds its work. (transfer full) */
char *tasks_place (int number);
