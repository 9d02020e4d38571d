/* SPDX-License-Identifier: BSD-3-Clause */
/* A step: one command line that a launcher of parallel programs (srun, mpirun) starts several
 * times. Its tasks form one run. Reads the environment, and for MPICH also the command line of the
 * launcher's process on this host, since MPICH passes no name of the step. Any thread. Keeps no
 * state. */
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
  int task;              /* the number of this one, from 0 */
  int here;              /* tasks of the step on this host; 0: unknown */
  char id[STEP_ID_SIZE]; /* the same in all tasks, different in other steps; may be part of a file
                          * name */
} Step;

/* The number in an environment variable, 0 or more; -1: it is not set or no number. */
int step_number (const char *variable);
/* Fills *step (out). FALSE: this process is not one of several tasks; launcher is STEP_NONE. */
gboolean step_read (Step *step);
/* TRUE: this process is one of several tasks of a step. */
gboolean step_has_tasks (void);
/* How the user can prevent the launcher from ending all tasks when one dies. NULL: the launcher
 * does not do that. Static. (nullable) */
const char *step_advice (const Step *step);
/* The value of `option` in a command line as /proc/PID/cmdline has it: words that end with a zero
 * byte. (transfer full) (nullable): NULL: the option is not there. Pure. */
char *step_find_option (const char *words, gsize size, const char *option);
/* For a program that was started as a task: executes `satin run -- PROGRAM ARG…`, which joins the
 * tasks. Returns if there is no `satin` beside `program` or in PATH. */
void step_become_run (const char *program, char **argv);
