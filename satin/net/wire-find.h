/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for a live run at addresses that a file names. Blocks; any thread. */
#pragma once

#include <glib.h>

/* TRUE: a node at one of the addresses (NULL-terminated) greets with this id; `name`, `host` (out)
 * (transfer full) of its run. The file may come from anybody and name any address, so three are
 * asked at a time, and for three seconds in all. */
gboolean wire_find_run (char **addresses, const char *id, char **name, char **host);
