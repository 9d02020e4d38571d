/* SPDX-License-Identifier: BSD-3-Clause */
/* What leads to a node of a site of Slurm when there is no allocation: a process that submits a
 * batch job for it, passes on what the launcher and the node say, and takes the job out of Slurm
 * when the run ends first, be it in the queue or not. The folders of runs must be on a disk that
 * the site's hosts share. */
#pragma once

/* `satin batch-node RUN-FOLDER SKIP LINE [OPTION…]`: SKIP bytes of standard input come before what
 * the launcher says (the program, when it is sent), LINE is a shell command, the rest for sbatch.
 * It ends as the node does. Not for people. */
#define BATCH_VERB "batch-node"
/* Instead of options: the node is this task of the step, see tasks.h. What it is to do stands in
 * these files of its folder; the second is there when it may begin. */
#define BATCH_TASK "--task="
#define BATCH_LINE "line"
#define BATCH_SCRIPT "job"

int command_batch (int argc, char **argv);
