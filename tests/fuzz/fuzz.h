/* SPDX-License-Identifier: BSD-3-Clause */
/* A decoder to be fed anything. Each target defines these; mutate.c drives it from `make check`,
 * libfuzzer.c from `make fuzz`. */
#pragma once

#include <glib.h>

extern const char fuzz_name[];
/* (transfer full) (nullable): a sound input, number n from 0; NULL: there are no more. */
GBytes *fuzz_seed (guint n);
/* Must come back, whatever the bytes are. */
void fuzz_one (const guint8 *data, gsize size);
