/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of a scene: where a ray meets a body, and the normal there. Pure. */
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
  gboolean hollow; /* sphere, cone: visible only from inside */
  guint first;     /* polygon, patch: index of its first corner in the scene; a patch's three
                    * normals follow its corners */
  guint n;         /* polygon: number of corners */
  Vector place;    /* the centre; for a cone the middle of the base */
  Vector normal;   /* the axis of a cone, from base to apex; the plane of a polygon or patch. Length
                    * 1 */
  double radius;   /* of a sphere, or of a cone's base */
  double slope;    /* of a cone: growth of the radius along the axis */
  double height;   /* of a cone; for a plane, above the origin */
} Solid;

/* Computes normal and height from the corners. `corners` as in the functions below. */
void solid_prepare (Solid *solid, const Vector *corners);

/* The bounding box. `corners`: those of the scene. */
Box solid_box (const Solid *solid, const Vector *corners);

/* Finds where the ray first meets the solid, farther than `least` and nearer than *t. TRUE: *t
 * (out) is that distance. */
gboolean solid_meets (const Solid *solid, const Vector *corners, const Ray *ray, double least,
                      double *t);

/* The outward normal at a point of the solid, of length 1. */
Vector solid_normal (const Solid *solid, const Vector *corners, Vector at);
