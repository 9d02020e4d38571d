/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides each box by the surface area heuristic, with a few candidate places along the axis of the
 * greatest spread. */
#include "bvh.h"

#define LEAF_MAX 4 /* bodies in a box that is not divided further */
#define BINS 16    /* candidate places */
#define DEPTH_MAX 64
#define HALVE_BELOW \
  40 /* levels: from there on in equal halves, so that the depth stays in bounds */

typedef struct
{
  Box box;
  guint first; /* leaf: its first body in `order`; else: the second child; the first child follows
                * this node */
  guint n;     /* leaf: number of bodies; else 0 */
} Node;

typedef struct
{
  Box box;
  Vector middle;
  guint solid;
} Entry;

struct Bvh
{
  const Scene *scene;
  GArray *nodes; /* of Node */
  Solid *solids; /* in the order of the leaves */
};

static const Box box_nothing
    = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };

static Box
box_both (Box a, Box b)
{
  return (Box){ vector_least (a.least, b.least), vector_most (a.most, b.most) };
}

static double
box_area (Box box)
{
  Vector size = vector_minus (box.most, box.least);

  return size.x < 0 ? 0 : size.x * size.y + size.y * size.z + size.z * size.x;
}

static gint
compare_entries (gconstpointer a, gconstpointer b, gpointer axis)
{
  const Entry *x = a, *y = b;
  double p = vector_part (x->middle, GPOINTER_TO_INT (axis));
  double q = vector_part (y->middle, GPOINTER_TO_INT (axis));

  return p < q ? -1 : p > q ? 1 : (x->solid > y->solid) - (x->solid < y->solid);
}

/* The bin of an entry. */
static int
bin_of (const Entry *entry, int axis, double least, double width)
{
  int bin = (int)((vector_part (entry->middle, axis) - least) / width * BINS);

  return CLAMP (bin, 0, BINS - 1);
}

/* The last bin of the cheapest first part; -1: it is cheaper not to divide. */
static int
cheapest (const Entry *entries, guint n, Box all, int axis, double least, double width)
{
  Box box[BINS], left = box_nothing, right[BINS];
  guint count[BINS] = { 0 }, before = 0;
  double best = n * box_area (all);
  int at = -1;

  for (int i = 0; i < BINS; i++)
    box[i] = box_nothing;
  for (guint i = 0; i < n; i++)
    {
      int bin = bin_of (&entries[i], axis, least, width);

      box[bin] = box_both (box[bin], entries[i].box);
      count[bin]++;
    }
  right[BINS - 1] = box[BINS - 1];
  for (int i = BINS - 2; i >= 0; i--)
    right[i] = box_both (box[i], right[i + 1]);
  for (int i = 0; i < BINS - 1; i++)
    {
      double cost;

      left = box_both (left, box[i]);
      before += count[i];
      cost = before * box_area (left) + (n - before) * box_area (right[i + 1]);
      if (before > 0 && before < n && cost < best)
        {
          best = cost;
          at = i;
        }
    }
  return at;
}

/* Reorders the entries so that the first part of the division comes first. Returns its length. */
static guint
divide (Entry *entries, guint n, Box all, int depth)
{
  Vector least = entries[0].middle, most = least, size;
  double from, width;
  guint first = 0;
  int axis, bin;

  for (guint i = 1; i < n; i++)
    {
      least = vector_least (least, entries[i].middle);
      most = vector_most (most, entries[i].middle);
    }
  size = vector_minus (most, least);
  axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  from = vector_part (least, axis);
  width = vector_part (size, axis);
  bin = depth < HALVE_BELOW && width > 0 ? cheapest (entries, n, all, axis, from, width) : -1;
  if (bin < 0)
    {
      g_qsort_with_data (entries, (gint)n, sizeof *entries, compare_entries,
                         GINT_TO_POINTER (axis));
      return n / 2;
    }
  for (guint i = 0; i < n; i++)
    if (bin_of (&entries[i], axis, from, width) <= bin)
      {
        Entry swap = entries[i];

        entries[i] = entries[first];
        entries[first++] = swap;
      }
  return first;
}

static void
build (Bvh *bvh, Entry *entries, guint from, guint n, int depth)
{
  guint self = bvh->nodes->len, first;
  Node node = { box_nothing, from, n };

  g_assert (depth < DEPTH_MAX);
  for (guint i = 0; i < n; i++)
    node.box = box_both (node.box, entries[from + i].box);
  g_array_append_val (bvh->nodes, node);
  if (n <= LEAF_MAX)
    return;
  first = divide (entries + from, n, node.box, depth);
  build (bvh, entries, from, first, depth + 1);
  g_array_index (bvh->nodes, Node, self).first = bvh->nodes->len;
  g_array_index (bvh->nodes, Node, self).n = 0;
  build (bvh, entries, from + first, n - first, depth + 1);
}

Bvh *
bvh_new (const Scene *scene)
{
  const Vector *corners = (const Vector *)scene->corners->data;
  guint n = scene->solids->len;
  g_autofree Entry *entries = g_new (Entry, n + 1);
  Bvh *bvh = g_new0 (Bvh, 1);

  bvh->scene = scene;
  bvh->nodes = g_array_new (FALSE, FALSE, sizeof (Node));
  bvh->solids = g_new (Solid, n + 1);
  for (guint i = 0; i < n; i++)
    {
      Box box = solid_box (&g_array_index (scene->solids, Solid, i), corners);

      entries[i] = (Entry){ box, vector_times (0.5, vector_plus (box.least, box.most)), i };
    }
  build (bvh, entries, 0, n, 0);
  for (guint i = 0; i < n; i++)
    bvh->solids[i] = g_array_index (scene->solids, Solid, entries[i].solid);
  return bvh;
}

void
bvh_free (Bvh *bvh)
{
  g_array_unref (bvh->nodes);
  g_free (bvh->solids);
  g_free (bvh);
}

/* The distance at which the ray enters the box, if less than t; else infinity. For a ray within a
 * side of the box, 0 / 0 occurs, and that side is skipped. */
static inline double
enters (const Box *box, Vector from, Vector inverse, double t)
{
  double near = 0, far = t;
  const double *least = &box->least.x, *most = &box->most.x;
  const double start[3] = { from.x, from.y, from.z }, over[3] = { inverse.x, inverse.y, inverse.z };

  for (int i = 0; i < 3; i++)
    {
      double a = (least[i] - start[i]) * over[i], b = (most[i] - start[i]) * over[i];
      double in = over[i] < 0 ? b : a, out = over[i] < 0 ? a : b;

      if (in > near)
        near = in;
      if (out < far)
        far = out;
    }
  /* Rounding must not lose bodies in the side of a box. */
  return near <= far * (1 + 1e-12) + 1e-12 ? near : HUGE_VAL;
}

static Vector
inverse_of (Vector a)
{
  return (Vector){ 1 / a.x, 1 / a.y, 1 / a.z };
}

const Solid *
bvh_nearest (const Bvh *bvh, const Ray *ray, double least, double *t)
{
  const Vector *corners = (const Vector *)bvh->scene->corners->data;
  const Node *nodes = (const Node *)bvh->nodes->data;
  Vector inverse = inverse_of (ray->along);
  const Solid *found = NULL;
  struct
  {
    guint node;
    double enters;
  } stack[DEPTH_MAX + 1];
  int top = 0;

  stack[top].node = 0;
  stack[top++].enters = enters (&nodes[0].box, ray->from, inverse, *t);
  while (top > 0)
    {
      guint at = stack[--top].node, second = nodes[at].first;
      double a, b;

      if (stack[top].enters > *t)
        continue;
      if (nodes[at].n > 0 || bvh->nodes->len == 1)
        {
          for (guint i = 0; i < nodes[at].n; i++)
            if (solid_meets (&bvh->solids[second + i], corners, ray, least, t))
              found = &bvh->solids[second + i];
          continue;
        }
      a = enters (&nodes[at + 1].box, ray->from, inverse, *t);
      b = enters (&nodes[second].box, ray->from, inverse, *t);
      /* The nearer child is visited first, so it is pushed last. */
      stack[top].node = a <= b ? second : at + 1;
      stack[top].enters = fmax (a, b);
      top += fmax (a, b) < HUGE_VAL;
      stack[top].node = a <= b ? at + 1 : second;
      stack[top].enters = fmin (a, b);
      top += fmin (a, b) < HUGE_VAL;
    }
  return found;
}

double
bvh_light (const Bvh *bvh, const Ray *ray, double least, double most)
{
  const Vector *corners = (const Vector *)bvh->scene->corners->data;
  const Surface *surfaces = (const Surface *)bvh->scene->surfaces->data;
  const Node *nodes = (const Node *)bvh->nodes->data;
  Vector inverse = inverse_of (ray->along);
  guint stack[DEPTH_MAX + 1];
  double part = 1;
  int top = 0;

  stack[top++] = 0;
  while (top > 0 && part > 0)
    {
      const Node *node = &nodes[stack[--top]];

      if (enters (&node->box, ray->from, inverse, most) == HUGE_VAL)
        continue;
      if (node->n == 0 && bvh->nodes->len > 1)
        {
          stack[top++] = node->first;
          stack[top++] = (guint)(node - nodes) + 1;
          continue;
        }
      for (guint i = 0; i < node->n && part > 0; i++)
        {
          const Solid *solid = &bvh->solids[node->first + i];
          double t = most;

          if (solid_meets (solid, corners, ray, least, &t))
            part *= CLAMP (surfaces[solid->surface].clear, 0, 1);
        }
    }
  return part;
}
