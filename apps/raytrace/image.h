/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures, and writing them to files. */
#pragma once

#include <glib.h>

typedef struct
{
  int width, height;
  const guint8 *pixels; /* red, green, blue; row by row from the top */
} Image;

/* Replaces the file by the picture. FALSE: error. */
gboolean image_write_ppm (const Image *image, const char *file, GError **error);
gboolean image_write_png (const Image *image, const char *file, GError **error);
