/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks addresses from a file whether a run is alive. Blocks. Any thread. */
#pragma once

#include <glib.h>

#define WIRE_FIND_US (3 * G_USEC_PER_SEC)
#define WIRE_FIND_PATIENCE 10

/* TRUE: a node at one of `addresses` (NULL-terminated) greets with run id `id`; `name` and `host`
 * (out) (transfer full) are from its greeting. The file may come from anybody and name any address.
 * So three addresses are asked at a time, and the search takes at most `limit_us`, or
 * WIRE_FIND_PATIENCE times as long while an accepted connection waits for its greeting. A process
 * at a Unix socket that sends no greeting even then may be the run, stopped: TRUE, `name` is NULL
 * and `host` is the address. */
gboolean wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name,
                        char **host);
