/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants of the program, by name. Values are set once and then stay at
 * one address until the process ends. Thread-safe. */
#pragma once

#include "satin.h"

/* NULL: no constant has this name. */
SatinConst_ *constant_find (const char *name);

/* Takes the values of all constants away. Values that were readable stay readable. The caller has
 * no run open. */
void constant_forget (void);
/* Gives the constant a value, copied. The same value again does nothing. FALSE: it has another
 * value. */
gboolean constant_set (SatinConst_ *constant, const void *value);
/* The same from an encoding. FALSE and `error`: malformed, or it has another value. */
gboolean constant_set_encoded (SatinConst_ *constant, GBytes *bytes, GError **error);
/* (transfer full) (nullable): the encoding of its value. NULL: it has no value yet. */
GBytes *constant_encode (const SatinConst_ *constant);
/* (transfer full): the encoding that `value` would have. */
GBytes *constant_encode_value (const SatinConst_ *constant, const void *value);
