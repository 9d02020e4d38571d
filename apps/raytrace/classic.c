/* SPDX-License-Identifier: BSD-3-Clause */
/* The shading of the original program, with the peculiarities of its picture: a plane's distance is
 * the sum of a corner's coordinates; lights are small balls of strength one half; the light
 * collected so far is dimmed again by the angle of each further light; and except for lights
 * everything that a secondary ray meets is black. Its colours are floats, so they are here. */
#include "classic.h"

#define NEAR 1e-9
#define FAR 1e6
#define PLANE_NEAR 1e-6
#define LIGHT_RADIUS 1e-4f
#define LIGHT_STRENGTH 0.5f
#define ANGLE_PART 0.6f
#define MIRRORS 0.5f
#define ABSORBS 0.2f

typedef struct
{
  float r, g, b;
} Shade;

/* What a ray meets: a body, a light, or nothing. */
typedef struct
{
  const Solid *solid;
  const Light *light;
  double t;
} Met;

/* Rounds to floats, as the original reads numbers. */
static Vector
as_read (Vector a)
{
  return (Vector){ (float)a.x, (float)a.y, (float)a.z };
}

static Vector
divided (Vector a)
{
  double length = vector_length (a);

  return (Vector){ a.x / length, a.y / length, a.z / length };
}

static Shade
shade_of (Vector colour)
{
  return (Shade){ (float)colour.x, (float)colour.y, (float)colour.z };
}

static Shade
shade_scaled (Shade a, float k)
{
  return (Shade){ a.r * k, a.g * k, a.b * k };
}

/* A mixture with `part` of a, and the rest of b. */
static Shade
shade_mix (Shade a, Shade b, float part)
{
  float rest = 1 - part;

  return (Shade){ a.r * part + b.r * rest, a.g * part + b.g * rest, a.b * part + b.b * rest };
}

static Shade
shade_clipped (Shade a)
{
  return (Shade){ a.r > 1 ? 1 : a.r, a.g > 1 ? 1 : a.g, a.b > 1 ? 1 : a.b };
}

static gboolean
ball_meets (Vector centre, double radius, const Ray *ray, double *t)
{
  Vector to = vector_minus (centre, ray->from);
  double away = vector_dot (to, to), closest = vector_dot (to, ray->along), half, square;
  double within = radius * radius;

  if (away >= within && closest < NEAR)
    return FALSE;
  square = within - away + closest * closest;
  if (!(square > NEAR * NEAR))
    return FALSE;
  half = sqrt (square);
  for (int end = -1; end <= 1; end += 2)
    if (closest + end * half > NEAR && closest + end * half < *t)
      {
        *t = closest + end * half;
        return TRUE;
      }
  return FALSE;
}

/* TRUE: the point is in a fan of triangles, seen along one axis. */
static gboolean
fan_has (const Vector *corner, guint n, Vector at, gboolean along_x)
{
  double u0 = along_x ? at.z - corner[0].z : at.x - corner[0].x, v0 = at.y - corner[0].y;

  for (guint i = 1; i + 1 < n; i++)
    {
      double u1 = along_x ? corner[i].z - corner[0].z : corner[i].x - corner[0].x;
      double u2 = along_x ? corner[i + 1].z - corner[0].z : corner[i + 1].x - corner[0].x;
      double v1 = corner[i].y - corner[0].y, v2 = corner[i + 1].y - corner[0].y;
      double beta = u1 == 0 ? u0 / u2 : (v0 * u1 - u0 * v1) / (v2 * u1 - u2 * v1);
      double alpha = u1 == 0 ? (v0 - beta * v2) / v1 : (u0 - beta * u2) / u1;

      if (beta >= 0 && beta <= 1 && alpha >= 0 && alpha + beta <= 1)
        return TRUE;
    }
  return FALSE;
}

static Vector
plane_normal (const Vector *corner)
{
  return vector_cross (vector_minus (as_read (corner[2]), as_read (corner[0])),
                       vector_minus (as_read (corner[1]), as_read (corner[0])));
}

static gboolean
polygon_meets (const Solid *polygon, const Vector *corners, const Ray *ray, double *t)
{
  const Vector *corner = corners + polygon->first;
  Vector normal = plane_normal (corner), first = as_read (corner[0]);
  double rises = vector_dot (normal, ray->along);
  double above = vector_dot (normal, vector_minus (ray->from, first));
  double found = -(above + (first.x + first.y + first.z)) / rises;

  if (!(found > PLANE_NEAR && found < *t)
      || !fan_has (corner, polygon->n, vector_along (ray->from, found, ray->along),
                   normal.z > normal.x))
    return FALSE;
  *t = found;
  return TRUE;
}

/* The nearest body; of equally near ones the last in the file. */
static Met
meet (const Scene *scene, const Ray *ray)
{
  const Vector *corners = (const Vector *)scene->corners->data;
  Met met = { NULL, NULL, FAR };

  for (guint i = scene->solids->len; i-- > 0;)
    {
      const Solid *solid = &g_array_index (scene->solids, Solid, i);

      if (solid->kind == SOLID_SPHERE
              ? ball_meets (as_read (solid->place), (float)solid->radius, ray, &met.t)
              : polygon_meets (solid, corners, ray, &met.t))
        met.solid = solid;
    }
  for (guint i = scene->lights->len; i-- > 0;)
    {
      const Light *light = &g_array_index (scene->lights, Light, i);

      if (ball_meets (as_read (light->place), LIGHT_RADIUS, ray, &met.t))
        met = (Met){ NULL, light, met.t };
    }
  return met;
}

static Shade
light_at (const Scene *scene, Vector at, Vector normal, Rays *rays)
{
  Shade sum = shade_of (scene->background);

  for (guint i = scene->lights->len; i-- > 0;)
    {
      Vector place = as_read (g_array_index (scene->lights, Light, i).place);
      Ray ray = { at, divided (vector_minus (place, at)) };
      Met met;
      float angle, more;

      ray.from = vector_along (at, 2 * NEAR, ray.along);
      rays->shadow++;
      met = meet (scene, &ray);
      if (met.solid == NULL && met.light == NULL)
        continue;
      angle = (float)fmin (fabs (vector_dot (ray.along, normal)), 1);
      more = met.light != NULL ? LIGHT_STRENGTH : 0;
      sum = shade_scaled ((Shade){ sum.r + more, sum.g + more, sum.b + more }, angle);
    }
  return shade_clipped (sum);
}

/* The colour along the ray after it is turned towards `normal` by `factor` times its component in
 * that direction. */
static Shade
turned (const Scene *scene, const Ray *ray, Vector at, Vector normal, double factor)
{
  double turn = vector_dot (ray->along, normal) * factor;
  Ray on = { at, divided (vector_along (ray->along, turn, normal)) };
  Met met;

  on.from = vector_along (at, 2 * NEAR, on.along);
  met = meet (scene, &on);
  if (met.light != NULL)
    return (Shade){ 2 * LIGHT_STRENGTH, 2 * LIGHT_STRENGTH, 2 * LIGHT_STRENGTH };
  return met.solid != NULL ? (Shade){ 0, 0, 0 } : shade_of (scene->background);
}

static Shade
shade_solid (const Scene *scene, const Solid *solid, const Ray *ray, Vector at, Rays *rays)
{
  const Surface *surface = &g_array_index (scene->surfaces, Surface, solid->surface);
  gboolean ball = solid->kind == SOLID_SPHERE;
  Vector normal
      = divided (ball ? vector_minus (at, as_read (solid->place))
                      : plane_normal ((const Vector *)scene->corners->data + solid->first));
  float angle = (float)fmin (fabs (vector_dot (normal, ray->along) * ANGLE_PART), 1);
  float diffuse = (float)surface->diffuse, clear = ball ? (float)surface->index : 0;
  Shade light = light_at (scene, at, normal, rays), own = shade_of (surface->colour);
  Shade behind = shade_of (scene->background), mirrored, beyond = { 0, 0, 0 }, sum;

  if (ball)
    {
      own = shade_scaled (own, angle);
      own = shade_mix ((Shade){ own.r * light.r, own.g * light.g, own.b * light.b }, behind,
                       diffuse);
      beyond = turned (scene, ray, at, vector_times (-1, normal), clear);
      rays->refracted++;
    }
  else
    {
      own = shade_mix (
          own, behind,
          (float)(diffuse * fmin (fabs (vector_dot (normal, ray->along) * ANGLE_PART), 1)));
      own = shade_scaled ((Shade){ own.r * light.r, own.g * light.g, own.b * light.b }, angle);
      own = shade_scaled (own, diffuse);
    }
  mirrored = turned (scene, ray, at, normal, -2);
  rays->reflected++;
  sum = (Shade){ (own.r + beyond.r * clear + mirrored.r * MIRRORS) / ABSORBS,
                 (own.g + beyond.g * clear + mirrored.g * MIRRORS) / ABSORBS,
                 (own.b + beyond.b * clear + mirrored.b * MIRRORS) / ABSORBS };
  return shade_clipped (sum);
}

gboolean
classic_can (const Scene *scene)
{
  for (guint i = 0; i < scene->solids->len; i++)
    {
      SolidKind kind = g_array_index (scene->solids, Solid, i).kind;

      if (kind != SOLID_SPHERE && kind != SOLID_POLYGON)
        return FALSE;
    }
  return TRUE;
}

Vector
classic_eye (const Scene *scene, int x, int y, int width, int height, Rays *rays)
{
  const View *view = &scene->view;
  Vector look = divided (vector_minus (as_read (view->at), as_read (view->from)));
  double degrees = (float)(view->angle * 180 / G_PI), steep = G_PI - atan2 (look.z, look.y);
  double around = G_PI - atan2 (look.y, look.x), c, s, turned_y;
  Vector v = { x - width / 2, y - height / 2, -(width / 2 / 2) * (180 / degrees) };
  Ray ray = { as_read (view->from), v };
  Shade shade;
  Met met;

  v = divided (v);
  c = cos (steep);
  s = sin (steep);
  turned_y = v.y * c - s * v.z;
  v.z = v.y * s + c * v.z;
  c = cos (around);
  s = sin (around);
  v.y = v.x * c - s * turned_y;
  v.x = v.x * s + c * turned_y;
  ray.along = v;
  rays->eye++;
  met = meet (scene, &ray);
  rays->hits += met.solid != NULL || met.light != NULL;
  if (met.solid != NULL)
    shade = shade_solid (scene, met.solid, &ray, vector_along (ray.from, met.t, ray.along), rays);
  else if (met.light != NULL)
    shade = (Shade){ LIGHT_STRENGTH, LIGHT_STRENGTH, LIGHT_STRENGTH };
  else
    shade = shade_of (scene->background);
  return (Vector){ shade.r, shade.g, shade.b };
}
