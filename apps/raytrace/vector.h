/* SPDX-License-Identifier: BSD-3-Clause */
/* Points, directions and colours. */
#pragma once

#include <math.h>

typedef struct
{
  double x, y, z;
} Vector;

static inline Vector
vector_plus (Vector a, Vector b)
{
  return (Vector){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline Vector
vector_minus (Vector a, Vector b)
{
  return (Vector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline Vector
vector_times (double k, Vector a)
{
  return (Vector){ k * a.x, k * a.y, k * a.z };
}

/* The lesser, or greater, component of each. Without fmin and fmax: these are calls, which also
 * treat NaN. */
static inline Vector
vector_least (Vector a, Vector b)
{
  return (Vector){ a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z };
}

static inline Vector
vector_most (Vector a, Vector b)
{
  return (Vector){ a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z };
}

/* Component by component, as a surface colours light. */
static inline Vector
vector_tint (Vector a, Vector b)
{
  return (Vector){ a.x * b.x, a.y * b.y, a.z * b.z };
}

/* a + k b */
static inline Vector
vector_along (Vector a, double k, Vector b)
{
  return (Vector){ a.x + k * b.x, a.y + k * b.y, a.z + k * b.z };
}

static inline double
vector_dot (Vector a, Vector b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vector
vector_cross (Vector a, Vector b)
{
  return (Vector){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline double
vector_length (Vector a)
{
  return sqrt (vector_dot (a, a));
}

/* Scales to length 1; the zero vector stays zero. */
static inline Vector
vector_unit (Vector a)
{
  double length = vector_length (a);

  return length > 0 ? vector_times (1 / length, a) : a;
}

static inline double
vector_part (Vector a, int axis)
{
  return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}
