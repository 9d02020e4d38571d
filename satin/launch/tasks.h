/* SPDX-License-Identifier: BSD-3-Clause */
/* `srun satin run ...`, `srun satin resume ...`, `srun PROGRAM`, or mpirun in place of srun, with
 * several tasks: all tasks are one run. The first task makes the run and is its first node. Each
 * other task finds its work in a folder beside the runs' folders, on a disk that all hosts share.
 * The folder is named after the step and the task (host/step.h). */
#pragma once

#include <glib.h>

/* Called by each task of a step. In the first task it returns -1: the caller makes the run with the
 * file of sites *sites (out, transfer full). That file has one node here and one at each other
 * task, with `workers` each (0: as Slurm says, else the default). In any other task it waits for
 * the run, is a node of it, ends when that node does, and returns an exit code: 0 unless it could
 * not become a node. `program` and `argv` are what this task was told to run, since all tasks must
 * have the same words. NULL: it runs what the first task says. */
int tasks_begin (int workers, const char *program, char **argv, char **sites);
/* The first task has ended its run: the others stop waiting. `sites`: from tasks_begin, removed
 * here. NULL: there are no tasks, and nothing is done. */
void tasks_end (const char *sites);
/* The path of the folder in which task `number` finds its work; of task 0 it is a file. (transfer
 * full) */
char *tasks_place (int number);
