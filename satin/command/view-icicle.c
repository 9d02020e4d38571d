/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-icicle.h. The width of an unfinished job is not saved. All children of a job have equal
 * shares (satin/engine), so a saved child tells the width of its siblings. If none is saved, the
 * job's width is divided by the known number of children. Tests: test-view-icicle. */
#include "view-icicle.h"

#include "text/json.h"

#include <math.h>
#include <string.h>

/* A box narrower than this share of the picture's width cannot be seen. */
#define NARROW (1.0 / 500)
/* A smaller rest may be an error of rounding. */
#define REST_MIN 1e-3

void
view_icicle_row_free (gpointer data)
{
  ViewIcicleRow *row = data;

  g_free (row->job);
  g_free (row->node);
  g_free (row->value);
  g_free (row->args);
  g_free (row);
}

typedef struct
{
  GString *json; /* NULL: only counts the boxes */
  Stems *stems;
  double narrow;
  guint boxes;
} Drawing;

/* Narrow boxes that will be drawn as one. */
typedef struct
{
  guint32 first, last;
  double width, saved;
  guint64 rows;
  guint n;
} Many;

static void
number (Drawing *drawing, const char *key, double value)
{
  g_string_append_printf (drawing->json, ",\"%s\":", key);
  json_append_number (drawing->json, value);
}

/* Rounds to six significant digits. */
static double
rounded (double share)
{
  double scale = share > 0 ? pow (10, 5 - floor (log10 (share))) : 1;

  return isfinite (scale) ? round (share * scale) / scale : 0;
}

static void
begin_box (Drawing *drawing, gboolean is_first, const char *kind, guint32 n, double width)
{
  drawing->boxes++;
  if (drawing->json == NULL)
    return;
  g_string_append_printf (drawing->json, "%s{\"k\":\"%s\",\"n\":%u", is_first ? "" : ",", kind, n);
  number (drawing, "w", rounded (width));
}

static void
end_box (Drawing *drawing)
{
  if (drawing->json != NULL)
    g_string_append_c (drawing->json, '}');
}

static void
draw_many (Drawing *drawing, Many *many, gboolean *is_first)
{
  if (many->n == 0)
    return;
  begin_box (drawing, *is_first, "many", many->first, many->width);
  if (drawing->json != NULL)
    {
      number (drawing, "to", many->last);
      number (drawing, "s", rounded (many->saved));
      number (drawing, "rows", (double)many->rows);
    }
  end_box (drawing);
  *is_first = FALSE;
  *many = (Many){ 0 };
}

static void
add_many (Many *many, guint32 first, guint32 last, double width, const Tree *tree)
{
  if (many->n++ == 0)
    many->first = first;
  many->last = last;
  many->width += width;
  many->saved += tree != NULL ? tree->weight : 0;
  many->rows += tree != NULL ? tree->rows : 0;
}

/* The width of each child of a job that is `width` wide. */
static double
child_width (const Tree *tree, double width)
{
  const Tree *last = tree->children->pdata[tree->children->len - 1];

  for (guint i = 0; i < tree->children->len; i++)
    {
      const Tree *child = tree->children->pdata[i];

      if (child->is_saved && child->weight > 0)
        return child->weight;
    }
  return width / MAX ((double)last->number + 1, (double)tree->kept);
}

static double
width_of (const Tree *child, double each)
{
  return child->is_saved ? child->weight : MAX (child->weight, each);
}

/* The width of all known children, so that they can be scaled to fit. */
static double
known_width (const Tree *tree, double each)
{
  double sum = each * tree->kept;
  guint32 from, to;

  for (guint i = 0; i < tree->children->len; i++)
    {
      const Tree *child = tree->children->pdata[i];

      if (tree_gap_before (tree, i, &from, &to))
        sum += each * ((double)(to - from) + 1);
      if (child->number >= tree->kept)
        sum += width_of (child, each);
    }
  return sum;
}

static void draw (Drawing *drawing, const Tree *tree, const char *path, double width, guint level,
                  gboolean is_first);

static void
draw_range (Drawing *drawing, Many *many, const char *kind, guint32 from, guint32 to, double width,
            gboolean *is_first)
{
  if (width < drawing->narrow)
    {
      add_many (many, from, to, width, NULL);
      return;
    }
  draw_many (drawing, many, is_first);
  begin_box (drawing, *is_first, kind, from, width);
  if (drawing->json != NULL && to != from)
    number (drawing, "to", to);
  end_box (drawing);
  *is_first = FALSE;
}

static void
draw_children (Drawing *drawing, const Tree *tree, const char *path, double width, guint level)
{
  const Tree *last = tree->children->pdata[tree->children->len - 1];
  double each = child_width (tree, width), known = known_width (tree, each);
  double fit = known > width ? width / known : 1;
  gboolean is_first = TRUE;
  Many many = { 0 };
  guint32 from, to;

  if (tree->kept > 0)
    draw_range (drawing, &many, "kept", 0, tree->kept - 1, each * tree->kept * fit, &is_first);
  for (guint i = 0; i < tree->children->len; i++)
    {
      const Tree *child = tree->children->pdata[i];
      double wide = width_of (child, each) * fit;

      if (tree_gap_before (tree, i, &from, &to))
        draw_range (drawing, &many, "missing", from, to, each * ((double)(to - from) + 1) * fit,
                    &is_first);
      if (child->number < tree->kept)
        continue;
      if (wide < drawing->narrow)
        {
          add_many (&many, child->number, child->number, wide, child);
          continue;
        }
      g_autofree char *child_path = path_child (drawing->stems, path, child->number);
      draw_many (drawing, &many, &is_first);
      draw (drawing, child, child_path, wide, level + 1, is_first);
      is_first = FALSE;
    }
  draw_many (drawing, &many, &is_first);
  if (width - known > MAX (REST_MIN * width, drawing->narrow))
    draw_range (drawing, &many, "later", MAX (last->number + 1, tree->kept), G_MAXUINT32,
                width - known, &is_first);
}

static void
draw_row (Drawing *drawing, const ViewIcicleRow *row)
{
  json_append_member (drawing->json, "job", row->job);
  json_append_member (drawing->json, "node", row->node);
  json_append_member (drawing->json, "value", row->value);
  number (drawing, "at", (double)row->saved);
  if (row->args != NULL)
    json_append_member (drawing->json, "args", row->args);
  if (row->began <= 0)
    return;
  number (drawing, "began", (double)row->began);
  number (drawing, "took_s", row->took_s);
}

static void
draw (Drawing *drawing, const Tree *tree, const char *path, double width, guint level,
      gboolean is_first)
{
  gboolean has_more
      = tree->children != NULL && tree->children->len > 0 && level < VIEW_ICICLE_LEVELS;

  begin_box (drawing, is_first, tree->is_saved ? "saved" : "work", tree->number, width);
  if (drawing->json != NULL)
    {
      json_append_member (drawing->json, "p", path[0] == '\0' ? "/" : path);
      number (drawing, "s", rounded (tree->weight));
      number (drawing, "rows", (double)tree->rows);
      number (drawing, "cost_s", round (tree->work_s * 1000) / 1000);
      if (tree->row != NULL)
        draw_row (drawing, tree->row);
      if (has_more)
        g_string_append (drawing->json, ",\"in\":[");
    }
  if (has_more)
    draw_children (drawing, tree, path, width, level);
  if (has_more && drawing->json != NULL)
    g_string_append_c (drawing->json, ']');
  end_box (drawing);
}

void
view_icicle_append (GString *json, Stems *stems, const Tree *tree, const char *path, double weight)
{
  double width = MAX (weight, tree->weight);
  Drawing drawing = { .stems = stems, .narrow = width * NARROW };

  if (width <= 0)
    width = 1;
  for (;; drawing.narrow *= 2)
    {
      drawing.boxes = 0;
      draw (&drawing, tree, path, width, 0, TRUE);
      if (drawing.boxes <= VIEW_ICICLE_BOXES_MAX)
        break;
    }
  drawing.json = json;
  draw (&drawing, tree, path, width, 0, TRUE);
}
