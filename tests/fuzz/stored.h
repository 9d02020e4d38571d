/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints as the seeds of fuzz-checkpoint and fuzz-salvage. */
#pragma once

#include "storage/sql.h"

#define STORED_IDENTITY "00112233445566778899aabbccddeeff"

/* As fuzz_seed: one of small rows, one of rows that go on in other pages, one that lost its header.
 */
GBytes *stored_seed (guint n);
/* (transfer full): the path of a file with these bytes; the caller unlinks it. */
char *stored_file (const guint8 *data, gsize size);
/* Asserts that each row of `sql` is one that stored_seed wrote. */
void stored_check (Sql *sql);
