/* SPDX-License-Identifier: BSD-3-Clause */
/* The local process of a node at a Slurm site, when there is no allocation. It submits a batch job
 * that becomes the node, and relays bytes between the launcher and that job. If the run ends first,
 * it cancels the job, whether queued or running. The runs' folders must be on a disk that the
 * site's hosts share. */
#pragma once

/* `satin batch-node RUN-FOLDER SKIP LINE [OPTION...]`: started by the launcher, not by people. The
 * first SKIP bytes of standard input are the program, if it is sent; frames of folder/relay.h
 * follow. LINE is the shell command of the node; the options are for sbatch. It exits with the exit
 * code of the node. */
#define BATCH_VERB "batch-node"
/* Instead of options, "--task=N": the node runs in task N of this step (tasks.h). The task finds
 * two files in its folder: LINE, and later the script that it runs. */
#define BATCH_TASK "--task="
#define BATCH_LINE "line"
#define BATCH_SCRIPT "job"

/* The entry point of BATCH_VERB, called like those of command/command.h. Returns the exit code. */
int command_batch (int argc, char **argv);
