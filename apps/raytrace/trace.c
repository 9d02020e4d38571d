/* SPDX-License-Identifier: BSD-3-Clause */
/* Shading as the Standard Procedural Databases suggest: every light, and the ambient light, has the
 * strength sqrt (lights) / (2 lights). A reflecting or transparent surface sends a reflected ray, a
 * transparent one also a refracted ray. */
#include "trace.h"

#define DEPTH_MAX 5 /* primary rays have depth 1 */

typedef struct
{
  const World *world;
  Rays *rays;
  double least; /* least distance at which a ray may meet something */
} Tracer;

typedef struct
{
  const Surface *surface;
  Vector at, out;  /* `out` points to where the ray came from */
  gboolean inside; /* the ray came from inside */
} Meeting;

static Vector trace_ray (const Tracer *tracer, const Ray *ray, int depth);

static Vector
shade (const Tracer *tracer, const Meeting *meeting, Vector along)
{
  const Scene *scene = tracer->world->scene;
  const Surface *surface = meeting->surface;
  double strength = scene->lights->len == 0 ? 1 : 0.5 / sqrt (scene->lights->len);
  Vector colour = vector_times (strength * surface->diffuse, surface->colour);

  for (guint i = 0; i < scene->lights->len; i++)
    {
      const Light *light = &g_array_index (scene->lights, Light, i);
      Vector to = vector_minus (light->place, meeting->at), between;
      double far = vector_length (to), faces, part, shine;
      Ray ray = { meeting->at, vector_unit (to) };

      faces = vector_dot (meeting->out, ray.along);
      if (faces <= 0)
        continue;
      tracer->rays->shadow++;
      part = strength * bvh_light (tracer->world->bvh, &ray, tracer->least, far);
      if (part <= 0)
        continue;
      between = vector_unit (vector_minus (ray.along, along));
      shine = surface->mirror > 0
                  ? surface->mirror
                        * pow (fmax (vector_dot (meeting->out, between), 0), surface->shine)
                  : 0;
      colour = vector_along (colour, part * (surface->diffuse * faces + shine),
                             vector_tint (surface->colour, light->colour));
    }
  return colour;
}

/* The direction of the refracted ray (Snell). FALSE: total reflection. */
static gboolean
refract (const Meeting *meeting, Vector along, Vector *on)
{
  double index = meeting->surface->index > 0 ? meeting->surface->index : 1;
  double ratio = meeting->inside ? index : 1 / index, in = -vector_dot (along, meeting->out);
  double square = 1 - ratio * ratio * (1 - in * in);

  if (square < 0)
    return FALSE;
  *on = vector_unit (
      vector_along (vector_times (ratio, along), ratio * in - sqrt (square), meeting->out));
  return TRUE;
}

static Vector
trace_ray (const Tracer *tracer, const Ray *ray, int depth)
{
  const Scene *scene = tracer->world->scene;
  double t = HUGE_VAL, mirrors;
  const Solid *solid = bvh_nearest (tracer->world->bvh, ray, tracer->least, &t);
  const Surface *surface;
  Meeting meeting;
  Vector colour;
  Ray next;

  if (solid == NULL)
    return scene->background;
  surface = &g_array_index (scene->surfaces, Surface, solid->surface);
  meeting.surface = surface;
  meeting.at = vector_along (ray->from, t, ray->along);
  meeting.out = solid_normal (solid, (const Vector *)scene->corners->data, meeting.at);
  meeting.inside = vector_dot (meeting.out, ray->along) > 0;
  if (meeting.inside)
    meeting.out = vector_times (-1, meeting.out);
  if (depth == 1)
    tracer->rays->hits++;
  colour = shade (tracer, &meeting, ray->along);
  if (depth == DEPTH_MAX || !(surface->mirror > 0 || surface->clear > 0))
    return colour;

  mirrors = surface->mirror;
  next.from = meeting.at;
  if (surface->clear > 0 && !refract (&meeting, ray->along, &next.along))
    mirrors += surface->clear;
  else if (surface->clear > 0)
    {
      tracer->rays->refracted++;
      colour = vector_along (colour, surface->clear,
                             vector_tint (surface->colour, trace_ray (tracer, &next, depth + 1)));
    }
  tracer->rays->reflected++;
  next.along = vector_unit (
      vector_along (ray->along, -2 * vector_dot (ray->along, meeting.out), meeting.out));
  return vector_along (colour, mirrors,
                       vector_tint (surface->colour, trace_ray (tracer, &next, depth + 1)));
}

Vector
trace_eye (const World *world, int x, int y, int width, int height, Rays *rays)
{
  const View *view = &world->scene->view;
  Vector ahead = vector_minus (view->at, view->from), way = vector_unit (ahead);
  Vector right = vector_unit (vector_cross (way, view->up)), up = vector_cross (right, way);
  double half = tan (view->angle / 2);
  Tracer tracer = { world, rays, 1e-6 * vector_length (ahead) };
  Ray ray = { view->from, way };

  ray.along = vector_along (ray.along, half * (2.0 * x - width) / height, right);
  ray.along = vector_unit (vector_along (ray.along, half * (1 - 2.0 * y / height), up));
  rays->eye++;
  return trace_ray (&tracer, &ray, 1);
}
