/* SPDX-License-Identifier: BSD-3-Clause */
/* After Eric Haines, "A Proposal for Standard Graphics Environments", IEEE CG&A 7(11), 1987. Seen
 * along the axis of a ball, which is the direction from its parent, six of its nine children are
 * around it and three in front. The axes of the children are found by the shortest rotation. */
#include "balls.h"

#include "vector.h"

/* Rotates `from` as the shortest rotation from z to `axis` does. */
static Vector
turn (Vector from, Vector axis)
{
  Vector z = { 0, 0, 1 }, around = vector_cross (z, axis);
  double c = axis.z;

  if (c < -1 + 1e-12)
    return (Vector){ from.x, -from.y, -from.z };
  return vector_plus (vector_plus (vector_times (c, from), vector_cross (around, from)),
                      vector_times (vector_dot (around, from) / (1 + c), around));
}

/* The directions of the children of a ball whose axis is z. */
static void
find_ways (Vector ways[9])
{
  for (int i = 0; i < 9; i++)
    {
      double up = i < 3 ? asin (sqrt (2.0 / 3)) : 0;
      double around = i < 3 ? G_PI_4 + i * 2 * G_PI / 3 : G_PI / 12 + (i - 3) * G_PI / 3;

      ways[i] = (Vector){ cos (up) * cos (around), cos (up) * sin (around), sin (up) };
    }
}

static void
put_ball (GString *text, const Vector ways[9], Vector centre, double radius, Vector axis, int depth)
{
  g_string_append_printf (text, "s %g %g %g %g\n", centre.x, centre.y, centre.z, radius);
  for (int i = 0; depth > 0 && i < 9; i++)
    {
      Vector way = turn (ways[i], axis);

      put_ball (text, ways, vector_along (centre, radius * 4 / 3, way), radius / 3, way, depth - 1);
    }
}

GBytes *
balls_nff (int depth)
{
  Vector ways[9];
  GString *text = g_string_new ("# balls, by raytrace\n"
                                "b 0.078 0.361 0.753\n"
                                "v\nfrom 2.1 1.3 1.7\nat 0 0 0\nup 0 0 1\nangle 45\nhither 0.01\n"
                                "resolution 512 512\n"
                                "l 4 3 2\nl 1 -4 4\nl -3 1 5\n"
                                "f 1 0.75 0.33 0.8 0 100000 0 1\n"
                                "p 4\n12 12 -0.5\n-12 12 -0.5\n-12 -12 -0.5\n12 -12 -0.5\n"
                                "f 1 0.9 0.7 0.5 0.5 3.0827 0 1\n");

  find_ways (ways);
  put_ball (text, ways, (Vector){ 0, 0, 0 }, 0.5, (Vector){ 0, 0, 1 }, depth);
  return g_string_free_to_bytes (text);
}
