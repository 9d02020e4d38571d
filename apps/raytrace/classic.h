/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures as the ray tracer among the programs of the Java Satin made them: for comparison with
 * the one that it was tested by. Pure. */
#pragma once

#include "trace.h"

/* TRUE: there are only spheres and polygons, and it can be drawn so. */
gboolean classic_can (const Scene *scene);

/* The colour of the pixel. A byte of the file is 254 times it, rounded down. */
Vector classic_eye (const Scene *scene, int x, int y, int width, int height, Rays *rays);
