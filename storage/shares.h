/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes in the table constant, as share/DIGEST: those that saved rows refer to. Each call is
 * one statement inside the caller's transaction. A row whose checksum fails counts as missing. */
#pragma once

#include "storage/sql.h"

/* `hex`: the digest. Bytes that are there already stay. */
gboolean shares_put (Sql *sql, const char *hex, GBytes *bytes, GError **error);
gboolean shares_drop (Sql *sql, const char *hex, GError **error);
/* (transfer full) (nullable): NULL without an error: there are none. */
GBytes *shares_get (Sql *sql, const char *hex, GError **error);
/* The arguments are valid during the call. FALSE from `each` stops, as an error. */
typedef gboolean (*SharesEach) (const char *hex, gint64 size, gpointer data, GError **error);
gboolean shares_each (Sql *sql, SharesEach each, gpointer data, GError **error);
/* Every result and kept state whose type can refer to shared bytes. */
typedef gboolean (*SharesEachValue) (const char *type, GBytes *value, gpointer data,
                                     GError **error);
gboolean shares_each_value (Sql *sql, SharesEachValue each, gpointer data, GError **error);
