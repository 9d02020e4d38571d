/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <glib.h>

/* The status of a run. Asks the run's coordinator if it can be reached, since the coordinator knows
 * best how much is done; otherwise another node. Blocks. Any thread. (transfer full) (nullable) */
char *ask_status (const char *path, GError **error);
