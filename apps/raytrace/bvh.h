/* SPDX-License-Identifier: BSD-3-Clause */
/* Which body a ray meets first: a tree of boxes within boxes over the bodies of a scene. Once built
 * it does not change, and any thread may ask. */
#pragma once

#include "scene.h"

typedef struct Bvh Bvh;

/* `scene` has to outlive it. (transfer full) */
Bvh *bvh_new (const Scene *scene);
void bvh_free (Bvh *bvh);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bvh, bvh_free)

/* The nearest body between `least` and *t along the ray, and its distance in *t; NULL: none. */
const Solid *bvh_nearest (const Bvh *bvh, const Ray *ray, double least, double *t);

/* What part of a light comes along the ray from `most` away: 1 unless a body stands between; clear
 * ones let a part through. */
double bvh_light (const Bvh *bvh, const Ray *ray, double least, double most);
