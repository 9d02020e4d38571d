/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of Slurm, as srun starts it: the same words several times, which are one run. Pure but for
 * the environment. */
#pragma once

#include <glib.h>

/* The number that an environment variable holds; -1: none. */
int step_number (const char *variable);
/* Whether this process is one of several tasks of a step. */
gboolean step_has_tasks (void);
/* A program that was started so: becomes `satin run -- PROGRAM ARG…`, where the tasks find each
 * other. Returns when there is no `satin` beside `program` or in PATH. */
void step_become_run (const char *program, char **argv);
