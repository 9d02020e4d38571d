/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the first body that a ray meets: a bounding volume hierarchy over the bodies of a scene. It
 * does not change once built; any thread. */
#pragma once

#include "scene.h"

typedef struct Bvh Bvh;

/* `scene` must outlive it. (transfer full) */
Bvh *bvh_new (const Scene *scene);
void bvh_free (Bvh *bvh);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bvh, bvh_free)

/* The nearest body between `least` and *t along the ray, with its distance in *t (out); NULL:
 * none. */
const Solid *bvh_nearest (const Bvh *bvh, const Ray *ray, double least, double *t);

/* The part of a light at distance `most` that comes along the ray: 1 unless there is a body
 * between; transparent bodies pass a part. */
double bvh_light (const Bvh *bvh, const Ray *ray, double least, double most);
