/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads travelling-salesman instances in the TSPLIB 95 format. Pure: from text to distances. Does
 * not know how tours are searched. */
#pragma once

#include <glib.h>

#define TSPLIB_CITIES_MAX 256
#define TSPLIB_DIRECTED_MAX 128 /* cities, if the distances depend on the direction */
#define TSPLIB_DISTANCE_MAX 500000000

#define TSPLIB_ERROR (tsplib_error_quark ())
GQuark tsplib_error_quark (void);
typedef enum
{
  TSPLIB_ERROR_MALFORMED,  /* not a TSPLIB file, or a broken one */
  TSPLIB_ERROR_UNSUPPORTED /* a kind of instance that this program does not solve */
} TsplibError;

typedef struct
{
  int n;
  gboolean directed; /* TYPE: ATSP */
  gint32 *distance;  /* n * n, symmetric unless directed, zeros on the diagonal */
  gint32 *label;     /* the file's numbers of the cities */
} Tsplib;

/* The instance in `text`. Error messages begin with "FILE:LINE: ". (transfer full) (nullable) */
Tsplib *tsplib_read (const char *file, const char *text, gsize size, GError **error);
void tsplib_free (Tsplib *tsplib);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Tsplib, tsplib_free)
