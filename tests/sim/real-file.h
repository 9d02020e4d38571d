/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a checkpoint file and holds each of its rows against the oracle. */
#pragma once

#include "store.h"

/* What stands at the place (nothing: an empty store), as the simulator's checks know it. NULL: all
 * is right; else (transfer full) what is wrong. */
char *real_file_read (const char *target, const Tree *tree, Store *store);
