/* SPDX-License-Identifier: BSD-3-Clause */
/* A scene in Eric Haines' Neutral File Format (NFF). */
#pragma once

#include "solid.h"

#include <gio/gio.h>

#define SCENE_SIDE_MAX 16384 /* pixels */

typedef struct
{
  Vector colour;
  double diffuse, mirror, shine, clear,
      index; /* Kd, Ks, Phong's exponent, T, index of refraction */
} Surface;

typedef struct
{
  Vector place, colour;
} Light;

typedef struct
{
  Vector from, at, up;
  double angle; /* radians, from the first row to the last */
  int width, height;
} View;

typedef struct
{
  View view;
  Vector background;
  GArray *surfaces; /* Surface */
  GArray *lights;   /* Light */
  GArray *solids;   /* Solid */
  GArray *corners;  /* Vector: corners and normals of polygons and patches */
} Scene;

/* The scene that the text says. `file` is its name, as people know it. NULL: `error` says what is
 * wrong, and in which line. (transfer full) */
Scene *scene_read (const char *file, GBytes *text, GError **error);

void scene_free (Scene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scene, scene_free)
