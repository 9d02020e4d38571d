/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum by which every row of every table proves whose it is: the first 8 bytes of SHA-256
 * over the identity, the table's name and all other columns of the row, as an SQL function row_sum
 * (table, column…). */
#pragma once

#include "storage/sql.h"

/* Makes row_sum known to the connection. It reads `sql->identity` at each call. */
gboolean rowsum_register (Sql *sql, GError **error);
