/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include "../words.h"

#include <float.h>

#define SOLIDS_MAX (1 << 24)
#define CORNERS_MAX (1 << 26)

/* As strtod for plain decimals of at most 15 digits, but faster, since a scene may have a million
 * of them. Digits and power of ten are exact then, so the quotient is rounded correctly. FALSE: it
 * is another number, or none. */
static gboolean
short_real (const char *word, double *number)
{
  static const double powers[]
      = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
  gboolean minus = *word == '-';
  guint64 digits = 0;
  guint n = 0, behind = 0;

  if (FLT_EVAL_METHOD != 0) /* the processor would round twice */
    return FALSE;
  for (word += minus; g_ascii_isdigit (*word) && n < 15; word++, n++)
    digits = 10 * digits + (guint64)(*word - '0');
  if (*word == '.')
    for (word++; g_ascii_isdigit (*word) && n < 15; word++, n++, behind++)
      digits = 10 * digits + (guint64)(*word - '0');
  if (*word != '\0' || n == 0)
    return FALSE;
  *number = (double)digits / powers[behind];
  *number = minus ? -*number : *number;
  return TRUE;
}

static gboolean
read_real (Words *words, const char *what, double *number, GError **error)
{
  char *stop;

  if (!words_next (words))
    return words_refuse (words, error, "the file ends where %s is expected", what);
  if (short_real (words->word, number))
    return TRUE;
  *number = g_ascii_strtod (words->word, &stop);
  /* The limit keeps the square finite. */
  if (*stop != '\0' || stop == words->word || !(fabs (*number) < 1e100))
    return words_refuse (words, error, "%s is expected, not '%s'", what, words->word);
  return TRUE;
}

static gboolean
read_vector (Words *words, const char *what, Vector *vector, GError **error)
{
  return read_real (words, what, &vector->x, error) && read_real (words, what, &vector->y, error)
         && read_real (words, what, &vector->z, error);
}

/* Reads a line of the view. These lines may come in any order. */
static gboolean
read_view (Words *words, View *view, GError **error)
{
  gint64 width = 0, height = 0;
  double angle, hither;

  if (strcmp (words->word, "from") == 0)
    return read_vector (words, "the eye's place", &view->from, error);
  if (strcmp (words->word, "at") == 0)
    return read_vector (words, "the point looked at", &view->at, error);
  if (strcmp (words->word, "up") == 0)
    return read_vector (words, "the way up", &view->up, error);
  if (strcmp (words->word, "hither") == 0)
    return read_real (words, "the near plane", &hither, error);
  if (strcmp (words->word, "angle") == 0)
    {
      if (!read_real (words, "the angle of view", &angle, error))
        return FALSE;
      if (!(angle > 0 && angle < 180))
        return words_refuse (words, error, "an angle of view of '%s' degrees", words->word);
      view->angle = angle / 180 * G_PI;
      return TRUE;
    }
  if (!words_number (words, "the width in pixels", 1, SCENE_SIDE_MAX, &width, error)
      || !words_number (words, "the height in pixels", 1, SCENE_SIDE_MAX, &height, error))
    return FALSE;
  view->width = (int)width;
  view->height = (int)height;
  return TRUE;
}

static gboolean
read_surface (Words *words, Scene *scene, GError **error)
{
  Surface surface;

  if (!read_vector (words, "a surface's colour", &surface.colour, error)
      || !read_real (words, "Kd", &surface.diffuse, error)
      || !read_real (words, "Ks", &surface.mirror, error)
      || !read_real (words, "Shine", &surface.shine, error)
      || !read_real (words, "T", &surface.clear, error)
      || !read_real (words, "an index of refraction", &surface.index, error))
    return FALSE;
  g_array_append_val (scene->surfaces, surface);
  return TRUE;
}

static gboolean
read_light (Words *words, Scene *scene, GError **error)
{
  Light light = { .colour = { 1, 1, 1 } };
  Words ahead;

  if (!read_vector (words, "a light's place", &light.place, error))
    return FALSE;
  ahead = *words;
  if (words_left_in_line (words) > 0 && words_next (&ahead) && ahead.word[0] != '#'
      && !read_vector (words, "a light's colour", &light.colour, error))
    return FALSE;
  g_array_append_val (scene->lights, light);
  return TRUE;
}

static void
add_solid (Scene *scene, Solid solid)
{
  solid.surface = scene->surfaces->len - 1;
  solid_prepare (&solid, (const Vector *)scene->corners->data);
  g_array_append_val (scene->solids, solid);
}

static gboolean
read_sphere (Words *words, Scene *scene, GError **error)
{
  Solid sphere = { .kind = SOLID_SPHERE };
  double radius;

  if (!read_vector (words, "a sphere's centre", &sphere.place, error)
      || !read_real (words, "a sphere's radius", &radius, error))
    return FALSE;
  sphere.radius = fabs (radius);
  sphere.hollow = radius < 0;
  add_solid (scene, sphere);
  return TRUE;
}

static gboolean
read_cone (Words *words, Scene *scene, GError **error)
{
  Solid cone = { .kind = SOLID_CONE };
  double base, apex;
  Vector top;

  if (!read_vector (words, "a cone's base", &cone.place, error)
      || !read_real (words, "the radius of a cone's base", &base, error)
      || !read_vector (words, "a cone's apex", &top, error)
      || !read_real (words, "the radius of a cone's apex", &apex, error))
    return FALSE;
  top = vector_minus (top, cone.place);
  cone.height = vector_length (top);
  if ((base < 0 && apex > 0) || (base > 0 && apex < 0))
    return words_refuse (words, error, "one radius of a cone is negative, the other is not");
  cone.hollow = base < 0 || apex < 0;
  cone.normal = vector_unit (top);
  cone.radius = fabs (base);
  cone.slope = (fabs (apex) - fabs (base)) / cone.height;
  if (!(fabs (cone.slope) < 1e50))
    return words_refuse (words, error, "a cone's apex is where its base is");
  add_solid (scene, cone);
  return TRUE;
}

static gboolean
read_polygon (Words *words, Scene *scene, GError **error)
{
  Solid polygon = { .kind = SOLID_POLYGON, .first = scene->corners->len };
  Vector corner;
  gint64 n = 0;

  if (!words_number (words, "the number of corners", 3, CORNERS_MAX - scene->corners->len, &n,
                     error))
    return FALSE;
  for (polygon.n = 0; polygon.n < n; polygon.n++)
    {
      if (!read_vector (words, "a corner", &corner, error))
        return FALSE;
      g_array_append_val (scene->corners, corner);
    }
  add_solid (scene, polygon);
  return TRUE;
}

/* A patch with more corners becomes a fan of triangles. */
static gboolean
read_patch (Words *words, Scene *scene, GError **error)
{
  Vector corner[3], normal[3];
  gint64 n = 0;

  if (!words_number (words, "the number of corners", 3, CORNERS_MAX - scene->corners->len, &n,
                     error))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      int k = (int)MIN (i, 2);

      if (!read_vector (words, "a corner", &corner[k], error)
          || !read_vector (words, "a corner's normal", &normal[k], error))
        return FALSE;
      if (i < 2)
        continue;
      if (scene->solids->len >= SOLIDS_MAX)
        return words_refuse (words, error, "there are more than %d bodies", SOLIDS_MAX);
      g_array_append_vals (scene->corners, corner, 3);
      g_array_append_vals (scene->corners, normal, 3);
      add_solid (scene, (Solid){ .kind = SOLID_PATCH, .first = scene->corners->len - 6 });
      corner[1] = corner[2];
      normal[1] = normal[2];
    }
  return TRUE;
}

static gboolean
read_solid (Words *words, Scene *scene, GError **error)
{
  static const struct
  {
    const char *word;
    gboolean (*read) (Words *words, Scene *scene, GError **error);
  } kinds[]
      = { { "s", read_sphere }, { "c", read_cone }, { "p", read_polygon }, { "pp", read_patch } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (words->word, kinds[i].word) == 0)
      {
        if (scene->surfaces->len == 0)
          return words_refuse (words, error, "'%s' stands before any surface ('f')", words->word);
        if (scene->solids->len >= SOLIDS_MAX)
          return words_refuse (words, error, "there are more than %d bodies", SOLIDS_MAX);
        return kinds[i].read (words, scene, error);
      }
  return words_refuse (words, error, "'%s' is no word of a scene (NFF)", words->word);
}

static gboolean
read_all (Words *words, Scene *scene, GError **error)
{
  static const char *const of_view[]
      = { "from", "at", "up", "angle", "hither", "resolution", NULL };

  while (words_next (words))
    {
      const char *word = words->word;

      if (word[0] == '#')
        words_skip_line (words);
      else if (strcmp (word, "b") == 0)
        {
          if (!read_vector (words, "the background's colour", &scene->background, error))
            return FALSE;
        }
      else if (strcmp (word, "l") == 0)
        {
          if (!read_light (words, scene, error))
            return FALSE;
        }
      else if (strcmp (word, "f") == 0)
        {
          if (!read_surface (words, scene, error))
            return FALSE;
        }
      else if (g_strv_contains (of_view, word))
        {
          if (!read_view (words, &scene->view, error))
            return FALSE;
        }
      else if (strcmp (word, "v") != 0 && !read_solid (words, scene, error))
        return FALSE;
    }
  return TRUE;
}

Scene *
scene_read (const char *file, GBytes *text, GError **error)
{
  g_autoptr (Scene) scene = g_new0 (Scene, 1);
  Words words = words_of (file, text);
  const View *view = &scene->view;

  scene->surfaces = g_array_new (FALSE, FALSE, sizeof (Surface));
  scene->lights = g_array_new (FALSE, FALSE, sizeof (Light));
  scene->solids = g_array_new (FALSE, FALSE, sizeof (Solid));
  scene->corners = g_array_new (FALSE, FALSE, sizeof (Vector));
  if (!read_all (&words, scene, error))
    return NULL;
  if (view->width == 0 || view->angle == 0)
    {
      words_refuse (&words, error, "the view's %s is missing",
                    view->angle == 0 ? "angle" : "resolution");
      return NULL;
    }
  if (!(vector_length (vector_cross (vector_minus (view->at, view->from), view->up)) > 0))
    {
      words_refuse (&words, error, "the view's from, at and up say no direction");
      return NULL;
    }
  return g_steal_pointer (&scene);
}

void
scene_free (Scene *scene)
{
  g_array_unref (scene->surfaces);
  g_array_unref (scene->lights);
  g_array_unref (scene->solids);
  g_array_unref (scene->corners);
  g_free (scene);
}
