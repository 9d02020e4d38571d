/* SPDX-License-Identifier: BSD-3-Clause */
#include "solid.h"

void
solid_prepare (Solid *solid, const Vector *corners)
{
  const Vector *corner = corners + solid->first;
  Vector sum = { 0, 0, 0 }, middle = { 0, 0, 0 };
  guint n = solid->kind == SOLID_PATCH ? 3 : solid->n;

  if (solid->kind != SOLID_POLYGON && solid->kind != SOLID_PATCH)
    return;
  /* Newell's method, which is also right for concave polygons. */
  for (guint i = 0; i < n; i++)
    {
      Vector a = vector_minus (corner[i], corner[0]);
      Vector b = vector_minus (corner[(i + 1) % n], corner[0]);

      sum = vector_plus (sum, vector_cross (a, b));
      middle = vector_along (middle, 1.0 / n, corner[i]);
    }
  solid->normal = vector_unit (sum);
  solid->height = vector_dot (solid->normal, middle);
}

static void
box_add (Box *box, Vector point, double around)
{
  box->least
      = (Vector){ fmin (box->least.x, point.x - around), fmin (box->least.y, point.y - around),
                  fmin (box->least.z, point.z - around) };
  box->most = (Vector){ fmax (box->most.x, point.x + around), fmax (box->most.y, point.y + around),
                        fmax (box->most.z, point.z + around) };
}

Box
solid_box (const Solid *solid, const Vector *corners)
{
  Box box = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
  double apex = solid->radius + solid->slope * solid->height;

  switch (solid->kind)
    {
    case SOLID_SPHERE:
      box_add (&box, solid->place, solid->radius);
      break;
    case SOLID_CONE:
      box_add (&box, solid->place, solid->radius);
      box_add (&box, vector_along (solid->place, solid->height, solid->normal), fabs (apex));
      break;
    case SOLID_POLYGON:
    case SOLID_PATCH:
      for (guint i = 0; i < (solid->kind == SOLID_PATCH ? 3 : solid->n); i++)
        box_add (&box, corners[solid->first + i], 0);
      break;
    }
  return box;
}

static gboolean
nearer (double found, double least, double *t)
{
  if (!(found > least && found < *t))
    return FALSE;
  *t = found;
  return TRUE;
}

static gboolean
sphere_meets (const Solid *sphere, const Ray *ray, double least, double *t)
{
  Vector to = vector_minus (sphere->place, ray->from);
  double closest = vector_dot (to, ray->along), half;
  Vector off = vector_along (to, -closest, ray->along);
  double square = sphere->radius * sphere->radius - vector_dot (off, off);

  if (square < 0)
    return FALSE;
  half = sqrt (square);
  if (!sphere->hollow && closest - half > least)
    return nearer (closest - half, least, t);
  return nearer (closest + half, least, t);
}

/* TRUE: the point of the ray at distance t is on the cone between its ends, on the visible side. */
static gboolean
cone_has (const Solid *cone, const Ray *ray, double t)
{
  Vector at = vector_along (vector_minus (ray->from, cone->place), t, ray->along);
  double up = vector_dot (at, cone->normal);
  Vector out
      = vector_along (at, -up - cone->slope * (cone->radius + cone->slope * up), cone->normal);

  return up >= 0 && up <= cone->height && (!cone->hollow || vector_dot (out, ray->along) > 0);
}

static gboolean
cone_meets (const Solid *cone, const Ray *ray, double least, double *t)
{
  Vector from = vector_minus (ray->from, cone->place);
  double up = vector_dot (from, cone->normal), climb = vector_dot (ray->along, cone->normal);
  double radius = cone->radius + cone->slope * up, widens = cone->slope * climb;
  double a = 1 - climb * climb - widens * widens;
  double b = vector_dot (from, ray->along) - up * climb - radius * widens;
  double c = vector_dot (from, from) - up * up - radius * radius;
  double square = b * b - a * c, root, near, far;

  if (fabs (a) < 1e-14)
    return b != 0 && cone_has (cone, ray, -c / (2 * b)) && nearer (-c / (2 * b), least, t);
  if (square < 0)
    return FALSE;
  root = b < 0 ? sqrt (square) - b : -sqrt (square) - b;
  near = root / a;
  far = root != 0 ? c / root : near;
  if (near > far)
    {
      double swap = near;

      near = far;
      far = swap;
    }
  if (near > least && cone_has (cone, ray, near))
    return nearer (near, least, t);
  return far > least && cone_has (cone, ray, far) && nearer (far, least, t);
}

/* The two axes along which a plane with this normal has the largest projection. */
static void
axes_of (Vector normal, int *u, int *v)
{
  double x = fabs (normal.x), y = fabs (normal.y), z = fabs (normal.z);
  int away = x >= y && x >= z ? 0 : y >= z ? 1 : 2;

  *u = (away + 1) % 3;
  *v = (away + 2) % 3;
}

/* Counts how often a line from the point crosses the polygon. */
static gboolean
polygon_has (const Solid *polygon, const Vector *corner, guint n, Vector at)
{
  gboolean inside = FALSE;
  double atu, atv;
  int u, v;

  axes_of (polygon->normal, &u, &v);
  atu = vector_part (at, u);
  atv = vector_part (at, v);
  for (guint i = 0, j = n - 1; i < n; j = i++)
    {
      double au = vector_part (corner[i], u), av = vector_part (corner[i], v);
      double bu = vector_part (corner[j], u), bv = vector_part (corner[j], v);

      if ((av > atv) != (bv > atv) && atu < (bu - au) * (atv - av) / (bv - av) + au)
        inside = !inside;
    }
  return inside;
}

static gboolean
plane_meets (const Solid *solid, const Vector *corners, const Ray *ray, double least, double *t)
{
  double falls = vector_dot (solid->normal, ray->along);
  double found = (solid->height - vector_dot (solid->normal, ray->from)) / falls;

  return falls != 0 && found > least && found < *t
         && polygon_has (solid, corners + solid->first, solid->kind == SOLID_PATCH ? 3 : solid->n,
                         vector_along (ray->from, found, ray->along))
         && nearer (found, least, t);
}

gboolean
solid_meets (const Solid *solid, const Vector *corners, const Ray *ray, double least, double *t)
{
  switch (solid->kind)
    {
    case SOLID_SPHERE:
      return sphere_meets (solid, ray, least, t);
    case SOLID_CONE:
      return cone_meets (solid, ray, least, t);
    case SOLID_POLYGON:
    case SOLID_PATCH:
      return plane_meets (solid, corners, ray, least, t);
    }
  g_assert_not_reached ();
}

/* The normals of the corners, each weighted by the triangle that the point forms with the other
 * corners. */
static Vector
patch_normal (const Solid *patch, const Vector *corner, Vector at)
{
  Vector sum = { 0, 0, 0 };

  for (int i = 0; i < 3; i++)
    {
      Vector a = vector_minus (corner[(i + 1) % 3], at), b = vector_minus (corner[(i + 2) % 3], at);
      double part = vector_dot (vector_cross (a, b), patch->normal);

      sum = vector_along (sum, fmax (part, 0), corner[3 + i]);
    }
  return vector_dot (sum, sum) > 0 ? vector_unit (sum) : patch->normal;
}

Vector
solid_normal (const Solid *solid, const Vector *corners, Vector at)
{
  Vector out = vector_minus (at, solid->place);
  double up;

  switch (solid->kind)
    {
    case SOLID_SPHERE:
      return vector_unit (out);
    case SOLID_CONE:
      up = vector_dot (out, solid->normal);
      out = vector_along (out, -up, solid->normal);
      return vector_unit (vector_along (vector_unit (out), -solid->slope, solid->normal));
    case SOLID_PATCH:
      return patch_normal (solid, corners + solid->first, at);
    case SOLID_POLYGON:
      return solid->normal;
    }
  g_assert_not_reached ();
}
