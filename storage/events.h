/* SPDX-License-Identifier: BSD-3-Clause */
/* Unites the ledgers of two files of one run. */
#pragma once

#include "storage/sql.h"

/* The most events that a file holds; the oldest are removed first. */
#define EVENTS_KEEP 10000

/* Enters into `to` the verified events of `from` that it lacks, in the order of time, inside the
 * caller's transaction. */
gboolean events_unite (Sql *to, Sql *from, GError **error);
