/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes wrote into the run's folder for people to read at once: that a store is down, that a
 * checkpoint was damaged, where the last one is kept. One thread; changes nothing there. */
#pragma once

#include <glib.h>

typedef struct Trouble Trouble;

/* Of the run in folder `path`. */
Trouble *trouble_new (const char *path);
void trouble_free (Trouble *trouble);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Trouble, trouble_free)
/* Says what was not said before. */
void trouble_show (Trouble *trouble);
/* TRUE: this sentence was said; NULL: any was. */
gboolean trouble_has_said (const Trouble *trouble, const char *sentence);
