/* SPDX-License-Identifier: BSD-3-Clause */
/* The ray tracer without Satin: bodies, the tree over them, scenes as text, pictures as files. */
#include "balls.h"
#include "bvh.h"
#include "image.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

static Scene *
scene_of (const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr (GError) error = NULL;
  Scene *scene = scene_read ("test", bytes, &error);

  g_assert_no_error (error);
  return scene;
}

#define VIEW \
  "v\nfrom 0 -9 0\nat 0 0 0\nup 0 0 1\nangle 45\nhither 1\nresolution 8 8\nf 1 1 1 1 0 1 0 0\n"

/* A ray from (x, -9, z) straight ahead: the distance of the body that it hits, to one decimal, or
 * -1. */
static double
ahead (const char *bodies, double x, double z)
{
  g_autofree char *text = g_strconcat (VIEW, bodies, NULL);
  g_autoptr (Scene) scene = scene_of (text);
  g_autoptr (Bvh) bvh = bvh_new (scene);
  Ray ray = { { x, -9, z }, { 0, 1, 0 } };
  double t = HUGE_VAL;

  return bvh_nearest (bvh, &ray, 1e-9, &t) == NULL ? -1 : t;
}

static void
assert_near (double found, double wanted)
{
  g_assert_cmpfloat_with_epsilon (found, wanted, 1e-9);
}

static void
test_bodies (void)
{
  static const char notched[] = "p 5\n-2 0 -2\n2 0 -2\n2 0 2\n0 0 0\n-2 0 2\n";
  static const char patch[] = "pp 3\n-2 0 -2 0 -1 0\n2 0 -2 0 -1 0\n0 0 2 0 -1 0\n";

  assert_near (ahead ("", 0, 0), -1);
  assert_near (ahead ("s 0 0 0 3\n", 0, 0), 6);
  assert_near (ahead ("s 0 0 0 -3\n", 0, 0), 12); /* from inside only */
  assert_near (ahead ("s 0 0 0 3\n", 3.01, 0), -1);
  assert_near (ahead ("c 0 0 -1 2 0 0 1 2\n", 0, 0), 7);
  assert_near (ahead ("c 0 0 -1 2 0 0 1 2\n", 0, 1.01), -1); /* no ends */
  assert_near (ahead ("c 0 0 -1 -2 0 0 1 -2\n", 0, 0), 11);
  assert_near (ahead ("c 0 0 -1 2 0 0 1 0\n", 0, 0), 8);
  assert_near (ahead ("c 0 0 -1 2 0 0 1 0\n", 0, 0.99), 9 - 0.01);
  assert_near (ahead ("c 0 0 0 1 0 2 0 1\n", 0, 0), -1); /* along its axis */
  assert_near (ahead (notched, 0, -1), 9);
  assert_near (ahead (notched, 0, 1), -1);
  assert_near (ahead (notched, 1.5, 1), 9);
  assert_near (ahead (patch, 0, 1.9), 9);
  assert_near (ahead (patch, 1, 1), -1);
}

/* The tree of bodies finds the same as testing every body one after the other. */
static void
test_tree (void)
{
  g_autoptr (GBytes) nff = balls_nff (3);
  g_autoptr (GError) error = NULL;
  g_autoptr (Scene) scene = scene_read ("balls", nff, &error);
  g_autoptr (Bvh) bvh = bvh_new (scene);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  const Vector *corners = (const Vector *)scene->corners->data;
  guint met = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (scene->solids->len, ==, 1 + 820);
  for (int i = 0; i < 3000; i++)
    {
      Ray ray = { { g_rand_double_range (random, -3, 3), g_rand_double_range (random, -3, 3), 2 },
                  { 0, 0, -1 } };
      Vector to = { g_rand_double_range (random, -1, 1), g_rand_double_range (random, -1, 1), 0 };
      double wanted = HUGE_VAL, t = HUGE_VAL;
      gboolean dark;

      if (i % 3 > 0) /* otherwise the ray is parallel to an axis */
        ray.along = vector_unit (vector_minus (to, ray.from));
      for (guint k = 0; k < scene->solids->len; k++)
        solid_meets (&g_array_index (scene->solids, Solid, k), corners, &ray, 1e-9, &wanted);
      dark = bvh_nearest (bvh, &ray, 1e-9, &t) == NULL;
      g_assert_true (t == wanted);
      g_assert_true (dark == (wanted == HUGE_VAL));
      if (dark)
        continue;
      met++;
      g_assert_true (bvh_light (bvh, &ray, 1e-9, t + 1e-6) == 0);
      g_assert_true (bvh_light (bvh, &ray, 1e-9, t - 1e-6) == 1);
    }
  g_assert_cmpuint (met, >, 2000);
}

/* A scene that is cut off anywhere is read or refused; a refusal names file and line. */
static void
test_cut_scenes (void)
{
  static const char whole[] = VIEW "l 1 2 3\nl 1 2 3 0.5 0.5 1 # dim\nb 0 0 1\n# all\n"
                                   "s 0 0 0 3\nc\n0 0 -1 2\n0 0 1 2\np 3\n1 0 0\n0 1 0\n0 0 1\n"
                                   "pp 3\n1 0 0 0 0 1\n0 1 0 0 0 1\n0 0 1 0 0 1\n";
  guint refused = 0;

  for (gsize n = 0; n <= strlen (whole); n++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (whole, n);
      g_autoptr (GError) error = NULL;
      g_autoptr (Scene) scene = scene_read ("cut", bytes, &error);

      g_assert_true ((scene == NULL) == (error != NULL));
      g_assert_true (error == NULL || g_str_has_prefix (error->message, "cut, line "));
      refused += error != NULL;
      if (n == strlen (whole))
        {
          g_assert_no_error (error);
          g_assert_cmpuint (scene->lights->len, ==, 2);
          g_assert_cmpuint (scene->solids->len, ==, 4);
          g_assert_true (g_array_index (scene->lights, Light, 1).colour.z == 1);
        }
    }
  g_assert_cmpuint (refused, >, strlen (whole) / 2);
}

/* Adds the stored difference of a byte to its prediction: the inverse of the filter in image.c. */
static guint8
unfilter (int left, int above, int corner, guint8 rest)
{
  int a = ABS (above - corner), b = ABS (left - corner), c = ABS (left + above - 2 * corner);

  return (guint8)(rest + (a <= b && a <= c ? left : b <= c ? above : corner));
}

static guint32
number_at (const char *bytes)
{
  guint32 number;

  memcpy (&number, bytes, 4);
  return GUINT32_FROM_BE (number);
}

static void
test_png (void)
{
  enum
  {
    WIDTH = 37,
    HEIGHT = 23,
    STRIDE = WIDTH * 3
  };
  g_autofree char *folder = g_dir_make_tmp ("satin-test-XXXXXX", NULL), *png = NULL;
  g_autofree char *file = g_build_filename (folder, "a.png", NULL);
  g_autoptr (GConverter) zlib
      = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
  guint8 pixels[HEIGHT * STRIDE], rows[HEIGHT * (STRIDE + 1) + 1], back[HEIGHT][STRIDE];
  Image image = { WIDTH, HEIGHT, pixels };
  gsize size, n_read, n_written;
  guint32 length;

  for (gsize i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8)(i * i / 7 + (i % 5) * 40);
  g_assert_true (image_write_png (&image, file, NULL));
  g_assert_true (g_file_get_contents (file, &png, &size, NULL));
  g_assert_cmpmem (png, 8, "\x89PNG\r\n\x1a\n", 8);
  g_assert_cmpmem (png + 12, 4, "IHDR", 4);
  g_assert_cmpuint (number_at (png + 16), ==, WIDTH);
  g_assert_cmpuint (number_at (png + 20), ==, HEIGHT);
  length = number_at (png + 33);
  g_assert_cmpmem (png + 37, 4, "IDAT", 4);
  g_assert_cmpint (g_converter_convert (zlib, png + 41, length, rows, sizeof rows,
                                        G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL),
                   ==, G_CONVERTER_FINISHED);
  g_assert_cmpuint (n_written, ==, HEIGHT * (STRIDE + 1));
  for (int y = 0; y < HEIGHT; y++)
    for (int i = 0; i < STRIDE; i++)
      back[y][i]
          = unfilter (i < 3 ? 0 : back[y][i - 3], y == 0 ? 0 : back[y - 1][i],
                      i < 3 || y == 0 ? 0 : back[y - 1][i - 3], rows[y * (STRIDE + 1) + 1 + i]);
  g_assert_cmpmem (back, sizeof back, pixels, sizeof pixels);
  /* The checksum of an end without content is in the standard's examples. */
  g_assert_cmpuint (size, ==, 41 + length + 4 + 12);
  g_assert_cmphex (number_at (png + size - 4), ==, 0xae426082);
  g_remove (file);
  g_rmdir (folder);
}

/* A scene's number is the double that strtod gives, bit for bit. */
static void
check_number (const char *word)
{
  g_autofree char *text = g_strconcat (VIEW "s ", word, " 0 0 1\n", NULL);
  g_autoptr (Scene) scene = scene_of (text);
  double wanted = g_ascii_strtod (word, NULL);
  double got = g_array_index (scene->solids, Solid, 0).place.x;

  g_assert_true (memcmp (&got, &wanted, sizeof got) == 0);
}

/* Numbers in all notations. */
static void
test_numbers (void)
{
  static const char *const plain[] = { "0",
                                       "-0",
                                       "5.",
                                       ".5",
                                       "-.25",
                                       "007",
                                       "0.1",
                                       "123456789012345",
                                       "1234567890123456",
                                       "-0.000000000000001",
                                       "0.0000000000000001",
                                       "1e22",
                                       "1e-23",
                                       "99999999999999.9" };
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  char word[32];

  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    check_number (plain[i]);
  for (guint i = 0; i < 20000; i++)
    {
      double value = (g_rand_double (random) - 0.5) * pow (10, g_rand_int_range (random, -9, 12));

      g_snprintf (word, sizeof word, "%.*g", (int)(i % 17) + 1, value);
      check_number (word);
      g_snprintf (word, sizeof word, "%.*f", (int)(i % 15), value);
      check_number (word);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/raytrace/a-ray-meets-each-kind-of-body-where-it-is", test_bodies);
  g_test_add_func ("/raytrace/the-tree-finds-what-a-look-at-all-finds", test_tree);
  g_test_add_func ("/raytrace/a-scene-cut-off-anywhere-is-read-or-refused", test_cut_scenes);
  g_test_add_func ("/raytrace/numbers-are-read-as-strtod-reads-them", test_numbers);
  g_test_add_func ("/raytrace/a-png-holds-the-picture", test_png);
  return g_test_run ();
}
