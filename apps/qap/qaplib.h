/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances in the format of QAPLIB. One thread. */
#pragma once

#include "../words.h"
#include "level.h"

/* Reads n, then two matrices of n x n into `flow` and `distance`, which have room for QAP_MAX x
 * QAP_MAX. Line ends have no meaning, except that the best known cost may follow n on its line, as
 * in Taillard's files. FALSE: `words` have another form, or a cost might be too large; then *size
 * is unchanged. */
gboolean qaplib_read (Words *words, int *size, gint32 *flow, gint32 *distance, GError **error);
