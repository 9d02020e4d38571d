/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment says of stores, for nodes on other hosts: which certificates to trust, which
 * region, endpoint and profile. No secret is among it: those are each host's own. */
#pragma once

#include <glib.h>

/* (transfer full): a line "NAME=VALUE" for each of them that is set here. */
char *store_settings_write (void);
/* Takes over what `text` says into this process's environment, where that says nothing of it, and
 * of a file only if it is here too; anything else in it is passed over. Before there are threads.
 */
void store_settings_take (const char *text);
