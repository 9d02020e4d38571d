/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that the program spawns or calls, against those that SATIN_APP lists. A job that is not
 * listed has no number and no path that means anything on another node. */
#pragma once

#include "satin.h"

/* (transfer full) (nullable): the sentence about a job that some loaded module spawns or calls, or
 * `root` (nullable), and that is not in this NULL-terminated list; NULL: all are listed. Any thread.
 */
char *listed_sentence (const SatinJob *const *jobs, const SatinJob *root);
