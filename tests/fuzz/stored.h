/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints as the seeds of fuzz-checkpoint and fuzz-salvage. */
#pragma once

#include "storage/sql.h"

#define STORED_IDENTITY "00112233445566778899aabbccddeeff"

/* Like fuzz_seed: a checkpoint with small rows, one with rows that continue on other pages, one
 * that lost its header. */
GBytes *stored_seed (guint n);
/* (transfer full): the path of a new file with these bytes; the caller unlinks it. */
char *stored_file (const guint8 *data, gsize size);
/* Asserts that each row of `sql` is one that stored_seed wrote. */
void stored_check (Sql *sql);
