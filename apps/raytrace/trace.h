/* SPDX-License-Identifier: BSD-3-Clause */
/* Rays from the eye into a scene, and their colours. Pure. */
#pragma once

#include "bvh.h"

#include <satin.h>

/* Numbers of rays: all from the eye, those of them that met something, and secondary rays by
 * kind. */
SATIN_RECORD (Rays, (uint64_t, eye), (uint64_t, hits), (uint64_t, reflected), (uint64_t, refracted),
              (uint64_t, shadow))

typedef struct
{
  const Scene *scene;
  const Bvh *bvh;
} World;

/* The colour at column x of 0 … width and row y of 0 … height, which count the corners between
 * pixels. Adds to the numbers of rays. */
Vector trace_eye (const World *world, int x, int y, int width, int height, Rays *rays);
