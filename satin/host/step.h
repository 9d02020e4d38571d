/* SPDX-License-Identifier: BSD-3-Clause */
/* A step: one command line that a launcher of parallel programs (srun, mpirun) starts several
 * times. Its tasks are one run. Reads the environment, and for MPICH the command line of the
 * launcher's process on this host, since MPICH names a step nowhere else. Any thread; nothing is
 * kept. */
#pragma once

#include <glib.h>

typedef enum
{
  STEP_NONE,
  STEP_SLURM,   /* srun */
  STEP_OPENMPI, /* mpirun of Open MPI, also by PMIx */
  STEP_HYDRA    /* mpirun of MPICH and its relatives, by PMI */
} StepLauncher;

#define STEP_ID_SIZE 96

typedef struct
{
  StepLauncher launcher;
  int tasks;             /* of the step, more than one */
  int task;              /* this one, from 0 */
  int here;              /* tasks of the step on this host; 0: unknown */
  char id[STEP_ID_SIZE]; /* the same in all tasks and in no other step; fit for a file name */
} Step;

/* The number from 0 on that an environment variable holds; -1: none. */
int step_number (const char *variable);
/* Fills *step (out). FALSE: this process is not one of several tasks; launcher is STEP_NONE. */
gboolean step_read (Step *step);
/* Whether this process is one of several tasks of a step. */
gboolean step_has_tasks (void);
/* How the user prevents that the launcher ends all tasks when one dies. (nullable): it does not, or
 * it is prevented. Static. */
const char *step_advice (const Step *step);
/* The value of `option` in the words of a command line, as /proc/PID/cmdline has them: each ends
 * with a zero byte. (transfer full) (nullable): there is none. Pure. */
char *step_find_option (const char *words, gsize size, const char *option);
/* A program that was started so: becomes `satin run -- PROGRAM ARG…`, where the tasks find each
 * other. Returns when there is no `satin` beside `program` or in PATH. */
void step_become_run (const char *program, char **argv);
