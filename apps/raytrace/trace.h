/* SPDX-License-Identifier: BSD-3-Clause */
/* Rays from the eye into a scene, and what becomes of them. Pure. */
#pragma once

#include "bvh.h"

#include <satin.h>

/* Rays: all from the eye, those that met something; then those that came of them. */
SATIN_RECORD (Rays, (uint64_t, eye), (uint64_t, hits), (uint64_t, reflected), (uint64_t, refracted),
              (uint64_t, shadow))

typedef struct
{
  const Scene *scene;
  const Bvh *bvh;
} World;

/* The colour that is seen at column x of 0 … width and row y of 0 … height, these counted between
 * the pixels. Adds to the rays. */
Vector trace_eye (const World *world, int x, int y, int width, int height, Rays *rays);
