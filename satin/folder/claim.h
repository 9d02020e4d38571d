/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the process that founds the run in a folder. The launcher names one process. If this
 * process dies before another has joined it, the others would wait in vain, so one of them takes
 * its place. The same happens if it cannot read the checkpoint, and another process perhaps can. A
 * claim is a file `founder-N`, which only the first process can make. It is valid as long as its
 * process lives and has not passed the role on (node-PID.unfit). Blocks on the local disk. */
#pragma once

#include <glib.h>

/* TRUE: this process is the founder, by this call or an earlier one. FALSE: another live process
 * is, or the disk failed. */
gboolean claim_founder (const char *folder);
/* This process, one of `nodes`, cannot found the run, for the reason `why`. Waits for a moment
 * until all of them have started. TRUE: another live process may found it; this one is to join
 * that. FALSE: no other process is left; `sentence` (transfer full) says which nodes tried, and why
 * they failed. */
gboolean claim_pass_on (const char *folder, guint nodes, const char *why, char **sentence);
