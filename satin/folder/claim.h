/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the process that founds the run in a folder. The launcher names one process; when it dies
 * before anybody has joined it, the others would wait for nobody, so one of them takes its place;
 * likewise when it cannot reach the checkpoint, and another perhaps can. Each claim is a file
 * `founder-N` that only the first can make; it stands as long as its process lives and has not
 * passed it on (node-PID.unfit). Blocks on the local disk. */
#pragma once

#include <glib.h>

/* TRUE: this process is the founder, now or since an earlier call. FALSE: a live process is, or the
 * disk failed. */
gboolean claim_founder (const char *folder);
/* This process, one of `nodes`, cannot found the run, and `why`. Waits for a moment until all of
 * them have been started. TRUE: another live process may, and this one shall
 * join it. FALSE: none is left; `sentence` (transfer full) says why, and who tried. */
gboolean claim_pass_on (const char *folder, guint nodes, const char *why, char **sentence);
