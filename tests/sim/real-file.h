/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a checkpoint file and compares each of its rows with the oracle. */
#pragma once

#include "store.h"

/* Reads the file at `target` into the store that the checks of the simulator use; no file gives an
 * empty store. NULL: all is right; otherwise (transfer full) what is wrong. */
char *real_file_read (const char *target, const Tree *tree, Store *store);
