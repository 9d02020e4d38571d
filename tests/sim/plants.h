/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each planted bug shows. */
#pragma once

#include <glib.h>

/* Runs the case in which this planted bug was last caught. FALSE: it failed; how has been printed.
 * TRUE if no such case is known. NULL: runs the cases of all planted bugs. `runs` counts them. */
gboolean plants_go_well (const char *plant, guint64 *runs);
