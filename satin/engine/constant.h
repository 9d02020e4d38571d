/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants of the program, by name. Values are set once and then stay at
 * one address until the process ends. Thread-safe. */
#pragma once

#include "satin.h"

/* (nullable): by name. */
SatinConst_ *constant_find (const char *name);

/* None has a value again; what was readable stays. No run is open. */
void constant_forget (void);
/* Gives it a value, copied. The same value again does nothing. FALSE: it has another value already.
 */
gboolean constant_set (SatinConst_ *constant, const void *value);
/* The same from an encoding. FALSE and `error`: malformed, or it has another value. */
gboolean constant_set_encoded (SatinConst_ *constant, GBytes *bytes, GError **error);
/* (transfer full) (nullable): its encoding; NULL: it has no value yet. */
GBytes *constant_encode (const SatinConst_ *constant);
/* (transfer full): the encoding of a value that it might get. */
GBytes *constant_encode_value (const SatinConst_ *constant, const void *value);
