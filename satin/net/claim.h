/* SPDX-License-Identifier: BSD-3-Clause */
/* Who founds the run in a folder. The launcher names one process; when it dies before anybody has
 * joined it, the others would wait for nobody, so one of them takes its place. Each claim is a file
 * `founder-N` that only the first can make; it stands as long as its process lives. Blocks on the
 * local disk. */
#pragma once

#include <glib.h>

/* TRUE: this process is the founder, now or since an earlier call. FALSE: a live process is, or the
 * disk failed. */
gboolean claim_founder (const char *folder);
