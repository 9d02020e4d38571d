/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances as QAPLIB has them. One thread. */
#pragma once

#include "../words.h"
#include "level.h"

/* Reads n, then two matrices of n x n into `flow` and `distance`, which have room for QAP_MAX x
 * QAP_MAX; line ends mean nothing, but that n may have the best cost known beside it, as in
 * Taillard's files. FALSE: `words` are something else, or a cost might not fit in a number; then
 * *size is not written. */
gboolean qaplib_read (Words *words, int *size, gint32 *flow, gint32 *distance, GError **error);
