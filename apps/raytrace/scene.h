/* SPDX-License-Identifier: BSD-3-Clause */
/* A scene in Eric Haines' Neutral File Format (NFF). */
#pragma once

#include "solid.h"

#include <glib.h>

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
  GArray *surfaces; /* of Surface */
  GArray *lights;   /* of Light */
  GArray *solids;   /* of Solid */
  GArray *corners;  /* of Vector: corners and normals of polygons and patches */
} Scene;

/* The scene in the text. `file`: its name, for messages. NULL: `error` has the reason and the line.
 * (transfer full) */
Scene *scene_read (const char *file, GBytes *text, GError **error);

void scene_free (Scene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scene, scene_free)
