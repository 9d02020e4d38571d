/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for a live run at addresses that a file names. Blocks; any thread. */
#pragma once

#include <glib.h>

#define WIRE_FIND_US (3 * G_USEC_PER_SEC)
#define WIRE_FIND_PATIENCE 10

/* TRUE: a node at one of the addresses (NULL-terminated) greets with this id; `name`, `host` (out)
 * (transfer full) of its run. The file may come from anybody and name any address, so three are
 * asked at a time, and for `limit_us` in all; WIRE_FIND_PATIENCE times as long while somebody who
 * took the connection has not said yet who it is. A process of this machine that has not even then,
 * at its Unix socket, may be that run, standing still: TRUE, `name` is NULL and `host` the address.
 */
gboolean wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name,
                        char **host);
