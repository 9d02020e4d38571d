/* SPDX-License-Identifier: BSD-3-Clause */
/* A target of fuzzing, which takes any bytes. Each target defines these functions. mutate.c calls
 * them in `make check`, libfuzzer.c in `make fuzz`. */
#pragma once

#include <glib.h>

extern const char fuzz_name[];
/* (transfer full) (nullable): the n-th sound input, from 0; NULL: there are no more. */
GBytes *fuzz_seed (guint n);
/* Must return for any bytes. */
void fuzz_one (const guint8 *data, gsize size);
