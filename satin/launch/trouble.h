/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the messages that nodes wrote into the run's folder for people to read at once: a store is
 * down, a checkpoint was damaged, where the last one is kept. Changes nothing in the folder. One
 * thread. */
#pragma once

#include <glib.h>

typedef struct Trouble Trouble;

/* For the run whose folder is `path`. */
Trouble *trouble_new (const char *path);
void trouble_free (Trouble *trouble);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Trouble, trouble_free)
/* Prints the messages that were not printed before. */
void trouble_show (Trouble *trouble);
/* TRUE: this sentence was printed; NULL: any sentence was. */
gboolean trouble_has_said (const Trouble *trouble, const char *sentence);
