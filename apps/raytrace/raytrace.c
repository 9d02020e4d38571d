/* SPDX-License-Identifier: BSD-3-Clause */
/* Ray tracing. Rays go from the eye through the corners between the pixels, and a pixel is the mean
 * of its four corners. The picture of corners is halved until a part is small. Parts are bytes,
 * which the job that halved them joins.
 *
 * With --watch the root shows the parts that have come; this is for people and does not change the
 * result. */
#include "balls.h"
#include "classic.h"
#include "image.h"

#include <stdlib.h>

#define USAGE \
  "FILE.nff | --balls DEPTH [--size WIDTHxHEIGHT] [--classic] [--png FILE] [--ppm FILE] " \
  "[--watch FILE]"
#define TILE_SIDE 16  /* corners of a tile, which one job traces */
#define BLOCKS_SIDE 8 /* the root has the square of this number of children */
#define WATCH_US 500000

SATIN_RECORD (Area, (int32_t, x), (int32_t, y), (int32_t, width), (int32_t, height))

/* The corners of a tile, three bytes each, row by row, and the number of rays. */
SATIN_RECORD (Tile, (SatinBytes, colours), (Rays, rays))

/* `classic`: there are no corners, each colour is a pixel. */
SATIN_RECORD (Shot, (SatinBytes, nff), (int32_t, width), (int32_t, height), (uint8_t, classic))
SATIN_CONST (Shot, shot)

/* The settings of --watch in this process; the root's thread fills it. */
static struct
{
  const char *file;
  guint8 *corners;
  gint64 shown_us;
} watch;

/* The same for all jobs of this process; the first job makes it. */
static World *world_of_process;
/* The scene that main has read, until a job takes it: a process belongs to one run, which has one
 * scene. */
static Scene *read_by_main;

static const World *
world_known (void)
{
  if (g_once_init_enter (&world_of_process))
    {
      g_autoptr (GError) error = NULL;
      World *world = g_new0 (World, 1);
      Scene *scene = g_atomic_pointer_exchange (&read_by_main, NULL);

      if (scene == NULL)
        scene = scene_read ("the scene", satin_const (shot)->nff, &error);
      if (scene == NULL)
        g_error ("%s", error->message); /* main has read the scene before */
      world->scene = scene;
      world->bvh = bvh_new (scene);
      g_once_init_leave (&world_of_process, world);
    }
  return world_of_process;
}

/* ---- jobs ---- */

static void
rays_add (Rays *sum, const Rays *part)
{
  sum->eye += part->eye;
  sum->hits += part->hits;
  sum->reflected += part->reflected;
  sum->refracted += part->refracted;
  sum->shadow += part->shadow;
}

static void
paste (guint8 *to, int stride, int x, int y, const Area *area, const guint8 *colours)
{
  for (int row = 0; area->width > 0 && row < area->height; row++)
    memcpy (to + ((gsize)(y + row) * stride + x) * 3, colours + (gsize)row * area->width * 3,
            (gsize)area->width * 3);
}

/* Joins the parts to a tile. */
static Tile
join (const Area *all, const Area *areas, const Tile *parts, int n)
{
  gsize size = (gsize)all->width * all->height * 3;
  guint8 *colours = g_malloc (size);
  Tile tile = { NULL, { 0, 0, 0, 0, 0 } };

  for (int i = 0; i < n; i++)
    {
      paste (colours, all->width, areas[i].x - all->x, areas[i].y - all->y, &areas[i],
             g_bytes_get_data (parts[i].colours, NULL));
      rays_add (&tile.rays, &parts[i].rays);
    }
  tile.colours = satin_bytes (g_bytes_new_take (colours, size));
  return tile;
}

static guint8
byte_of (double light)
{
  return light >= 1 ? 255 : light > 0 ? (guint8)(light * 255 + 0.5) : 0;
}

/* Traces one colour: three bytes. */
static void
trace_one (const World *world, int x, int y, guint8 *to, Rays *rays)
{
  const Shot *its = satin_const (shot);
  Vector colour = its->classic ? classic_eye (world->scene, x, y, its->width, its->height, rays)
                               : trace_eye (world, x, y, its->width, its->height, rays);

  for (int i = 0; i < 3; i++)
    to[i] = its->classic ? (guint8)(fmin (fmax (vector_part (colour, i), 0), 1) * 254)
                         : byte_of (vector_part (colour, i));
}

SATIN_JOB (trace, Tile, (Area, area))
{
  Area half[2] = { area, area };
  Tile part[2];

  if (area.width <= TILE_SIDE && area.height <= TILE_SIDE)
    {
      const World *world = world_known ();
      guint8 colours[TILE_SIDE * TILE_SIDE * 3], *at = colours;
      Tile tile = { NULL, { 0, 0, 0, 0, 0 } };

      for (int y = area.y; y < area.y + area.height; y++, satin_aborted ())
        for (int x = area.x; x < area.x + area.width; x++, at += 3)
          trace_one (world, x, y, at, &tile.rays);
      tile.colours = satin_bytes (g_bytes_new (colours, (gsize)(at - colours)));
      return tile;
    }
  if (area.width > area.height)
    {
      half[0].width = area.width / 2;
      half[1].x += half[0].width;
      half[1].width -= half[0].width;
    }
  else
    {
      half[0].height = area.height / 2;
      half[1].y += half[0].height;
      half[1].height -= half[0].height;
    }
  satin_spawn (trace, &part[0], half[0]);
  satin_spawn (trace, &part[1], half[1]);
  satin_sync ();
  return join (&area, half, part, 2);
}

static void watch_show (const Area *all, const Area *area, const Tile *part);

SATIN_JOB (picture, Tile, (Area, all))
{
  Area areas[BLOCKS_SIDE * BLOCKS_SIDE];
  Tile parts[BLOCKS_SIDE * BLOCKS_SIDE];
  int n = 0, i;

  for (int row = 0; row < BLOCKS_SIDE; row++)
    for (int column = 0; column < BLOCKS_SIDE; column++)
      {
        int x = all.width * column / BLOCKS_SIDE, y = all.height * row / BLOCKS_SIDE;

        areas[n] = (Area){ x, y, all.width * (column + 1) / BLOCKS_SIDE - x,
                           all.height * (row + 1) / BLOCKS_SIDE - y };
        satin_spawn (trace, &parts[n], areas[n]);
        n++;
      }
  while ((i = satin_sync_next ()) >= 0)
    watch_show (&all, &areas[i], &parts[i]);
  return join (&all, areas, parts, n);
}

/* ---- pictures ---- */

/* The pixels between the corners. (transfer full) */
static guint8 *
pixels_of (const guint8 *corners)
{
  int width = satin_const (shot)->width, height = satin_const (shot)->height;
  gsize size = (gsize)width * height * 3, stride = ((gsize)width + 1) * 3;
  guint8 *pixels = g_malloc (size), *to = pixels;

  if (satin_const (shot)->classic)
    return memcpy (pixels, corners, size);
  for (int y = 0; y < height; y++)
    for (gsize i = 0; i < (gsize)width * 3; i++)
      {
        const guint8 *c = corners + y * stride + i;

        *to++ = (guint8)((c[0] + c[3] + c[stride] + c[stride + 3] + 2) / 4);
      }
  return pixels;
}

/* FALSE: failed; a message was printed. */
static gboolean
write_picture (const char *file, const guint8 *pixels,
               gboolean (*write) (const Image *image, const char *file, GError **error))
{
  g_autoptr (GError) error = NULL;
  Image image = { satin_const (shot)->width, satin_const (shot)->height, pixels };

  if (file == NULL || write (&image, file, &error))
    return TRUE;
  fprintf (stderr, "raytrace: %s\n", error->message);
  return FALSE;
}

/* Called by the root, so by one thread at a time. */
static void
watch_show (const Area *all, const Area *area, const Tile *part)
{
  g_autofree guint8 *pixels = NULL;
  Image image = { satin_const (shot)->width, satin_const (shot)->height, NULL };

  if (watch.file == NULL)
    return;
  paste (watch.corners, all->width, area->x, area->y, area, g_bytes_get_data (part->colours, NULL));
  if (g_get_monotonic_time () - watch.shown_us < WATCH_US)
    return;
  image.pixels = pixels = pixels_of (watch.corners);
  /* A failure to write is reported at the end. */
  image_write_png (&image, watch.file, NULL);
  watch.shown_us = g_get_monotonic_time ();
}

/* ---- main ---- */

typedef struct
{
  const char *scene, *png, *ppm;
  int balls;         /* -1: not given */
  int width, height; /* 0: from the scene */
  gboolean classic;
} Options;

static gboolean
refuse_usage (const char *what, const char *word)
{
  fprintf (stderr, "raytrace: %s '%s'; usage: raytrace " USAGE "\n", what, word);
  return FALSE;
}

static gboolean
parse_size (const char *text, Options *options)
{
  char *end;
  gint64 width = g_ascii_strtoll (text, &end, 10), height = width;

  if (end != text && *end == 'x')
    height = g_ascii_strtoll (end + 1, &end, 10);
  options->width = (int)CLAMP (width, 0, SCENE_SIDE_MAX + 1);
  options->height = (int)CLAMP (height, 0, SCENE_SIDE_MAX + 1);
  return *end == '\0' && width >= 1 && height >= 1 && width <= SCENE_SIDE_MAX
         && height <= SCENE_SIDE_MAX;
}

static gboolean
options_parse (int argc, char **argv, Options *options)
{
  const char *balls = NULL, *size = NULL;
  struct
  {
    const char *name, **value;
  } known[] = { { "--balls", &balls },
                { "--size", &size },
                { "--png", &options->png },
                { "--ppm", &options->ppm },
                { "--watch", &watch.file } };

  *options = (Options){ .balls = -1 };
  for (int i = 1; i < argc; i++)
    {
      guint k = 0;

      if (strcmp (argv[i], "--classic") == 0)
        {
          options->classic = TRUE;
          continue;
        }
      while (k < G_N_ELEMENTS (known) && strcmp (argv[i], known[k].name) != 0)
        k++;
      if (k == G_N_ELEMENTS (known) && argv[i][0] == '-' && argv[i][1] != '\0')
        return refuse_usage ("there is no option", argv[i]);
      if (k < G_N_ELEMENTS (known) && i + 1 == argc)
        return refuse_usage ("a value is missing behind", argv[i]);
      if (k < G_N_ELEMENTS (known))
        *known[k].value = argv[++i];
      else if (options->scene != NULL)
        return refuse_usage ("one scene is enough, not", argv[i]);
      else
        options->scene = argv[i];
    }
  if (balls != NULL && (strlen (balls) != 1 || balls[0] < '0' || balls[0] > '0' + BALLS_DEPTH_MAX))
    return refuse_usage ("DEPTH is 0 to " G_STRINGIFY (BALLS_DEPTH_MAX) ", not", balls);
  if (size != NULL && !parse_size (size, options))
    return refuse_usage ("a side has 1 to " G_STRINGIFY (SCENE_SIDE_MAX) " pixels, not", size);
  if ((balls == NULL) == (options->scene == NULL))
    return refuse_usage ("either FILE or --balls is needed;", balls == NULL ? "" : options->scene);
  if (balls != NULL)
    options->balls = balls[0] - '0';
  return TRUE;
}

static int
print_picture (const Options *options, const Tile *tile)
{
  const Shot *its = satin_const (shot);
  const Rays *rays = &tile->rays;
  g_autofree guint8 *pixels = pixels_of (g_bytes_get_data (tile->colours, NULL));
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, pixels,
                                                      (gsize)its->width * its->height * 3);

  if (!write_picture (options->png, pixels, image_write_png)
      || !write_picture (options->ppm, pixels, image_write_ppm)
      || !write_picture (watch.file, pixels, image_write_png))
    return 1;
  printf ("rays %" G_GUINT64_FORMAT " checksum %.16s\n",
          (guint64)(rays->eye + rays->reflected + rays->refracted + rays->shadow), sum);
  printf ("eye %" G_GUINT64_FORMAT " hits %" G_GUINT64_FORMAT " reflected %" G_GUINT64_FORMAT
          " refracted %" G_GUINT64_FORMAT " shadow %" G_GUINT64_FORMAT "\n",
          (guint64)rays->eye, (guint64)rays->hits, (guint64)rays->reflected,
          (guint64)rays->refracted, (guint64)rays->shadow);
  return 0;
}

/* FALSE: failed; a message was printed. */
static gboolean
publish (SatinRun *run, const Options *options)
{
  g_autoptr (GBytes) balls = options->balls >= 0 ? balls_nff (options->balls) : NULL;
  g_autoptr (GError) error = NULL;
  GBytes *nff = balls != NULL ? balls : satin_input (run, options->scene, &error);
  g_autoptr (Scene) scene
      = nff == NULL ? NULL : scene_read (balls != NULL ? "--balls" : options->scene, nff, &error);
  Shot its;

  if (scene == NULL)
    {
      fprintf (stderr, "raytrace: %s\n", error->message);
      return FALSE;
    }
  if (options->classic && !classic_can (scene))
    {
      fprintf (stderr, "raytrace: --classic draws spheres and polygons only\n");
      return FALSE;
    }
  its = (Shot){ nff, options->width == 0 ? scene->view.width : options->width,
                options->width == 0 ? scene->view.height : options->height, options->classic };
  satin_publish (run, shot, &its);
  Scene *before = g_atomic_pointer_exchange (&read_by_main, g_steal_pointer (&scene));
  if (before != NULL) /* main runs again */
    scene_free (before);
  return TRUE;
}

static int
raytrace_main (SatinRun *run, int argc, char **argv)
{
  Options options;
  Area all = { 0, 0, 0, 0 };
  Tile tile;

  if (!options_parse (argc, argv, &options))
    return 2;
  if (!publish (run, &options))
    return 1;
  all.width = satin_const (shot)->width + !options.classic;
  all.height = satin_const (shot)->height + !options.classic;
  if (watch.file != NULL && watch.corners == NULL)
    {
      watch.corners = g_malloc ((gsize)all.width * all.height * 3);
      memset (watch.corners, 64, (gsize)all.width * all.height * 3);
    }
  if (!satin_root (run, picture, &tile, all))
    return satin_stopped (run);
  return print_picture (&options, &tile);
}

SATIN_APP ("raytrace", USAGE, raytrace_main)
