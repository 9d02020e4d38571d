/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of a scene: where a ray meets one, and how it lies there. Pure. */
#pragma once

#include "vector.h"

#include <glib.h>

typedef struct
{
  Vector from, along; /* `along` has length 1 */
} Ray;

typedef struct
{
  Vector least, most;
} Box;

typedef enum
{
  SOLID_SPHERE,
  SOLID_CONE,    /* or cylinder, without its ends */
  SOLID_POLYGON, /* flat, perhaps concave */
  SOLID_PATCH    /* a triangle with a normal at each corner */
} SolidKind;

typedef struct
{
  SolidKind kind;
  guint surface;   /* its number in the scene */
  gboolean hollow; /* sphere, cone: to be seen from inside only */
  guint first;     /* polygon, patch: its corners in the scene's; then a patch's three normals */
  guint n;         /* polygon: so many */
  Vector place;    /* the centre; the middle of the cone's base */
  Vector normal;   /* the cone's axis, from base to apex; a polygon's or patch's plane. Length 1 */
  double radius;   /* of sphere or base */
  double slope;    /* of a cone: what its radius grows by along the axis */
  double height;   /* of a cone; of a plane above the origin */
} Solid;

/* Fills in what the corners say: normal and height. `corners` as in the functions below. */
void solid_prepare (Solid *solid, const Vector *corners);

/* What the solid lies in. `corners` are those of the scene. */
Box solid_box (const Solid *solid, const Vector *corners);

/* Where the ray first meets the solid, farther than `least` and nearer than *t. TRUE: *t is that
 * distance. */
gboolean solid_meets (const Solid *solid, const Vector *corners, const Ray *ray, double least,
                      double *t);

/* The normal at a point of the solid, outwards, of length 1. */
Vector solid_normal (const Solid *solid, const Vector *corners, Vector at);
