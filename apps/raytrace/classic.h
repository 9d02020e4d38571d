/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures as in the ray tracer of the Java version of Satin, for comparison with the picture by
 * which that was tested. Pure. */
#pragma once

#include "trace.h"

/* TRUE: the scene has only spheres and polygons, so this shading can draw it. */
gboolean classic_can (const Scene *scene);

/* The colour of the pixel. The file's bytes are 254 times the colour, rounded down. */
Vector classic_eye (const Scene *scene, int x, int y, int width, int height, Rays *rays);
