/* SPDX-License-Identifier: BSD-3-Clause */
/* An iterated simulation whose plane is shared bytes. Each phase halves the plane into bands that
 * any node may compute. The bands' results are shared bytes, too. Each phase keeps the whole plane.
 * Each band sleeps for MS milliseconds until the file named by PLANE_GO exists, so that a run lasts
 * long enough for a test without processor time. */
#include <satin.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
rest (int32_t ms)
{
  const char *go = getenv ("PLANE_GO");

  if (go == NULL || access (go, F_OK) != 0)
    g_usleep ((gulong)ms * 1000);
}

SATIN_RECORD (World, (int32_t, step), (SatinShared, plane))

static uint8_t
next (const uint8_t *plane, int32_t size, int32_t at)
{
  uint32_t left = plane[at == 0 ? size - 1 : at - 1], here = plane[at],
           right = plane[at + 1 == size ? 0 : at + 1];
  uint32_t cell = left * 3 + here * 5 + right * 7 + 1;

  cell = (cell ^ cell >> 7) * UINT32_C (0x9e3779b1);
  return (uint8_t)(cell >> 3);
}

/* The cells [from, from + n) after the next step, computed in `parts` parts. */
SATIN_JOB (band, SatinShared, (SatinShared, plane), (int32_t, from), (int32_t, n), (int32_t, parts),
           (int32_t, ms))
{
  guint8 *cells;

  if (parts == 1)
    {
      gsize size;
      const uint8_t *old = g_bytes_get_data (satin_shared (plane), &size);

      rest (ms);
      cells = g_malloc ((gsize)n);
      for (int32_t i = 0; i < n; i++)
        cells[i] = next (old, (int32_t)size, from + i);
      return satin_share (satin_bytes (g_bytes_new_take (cells, (gsize)n)));
    }

  int32_t half = n / 2;
  SatinShared low, high;
  satin_spawn (band, &low, plane, from, half, parts / 2, ms);
  satin_spawn (band, &high, plane, from + half, n - half, parts - parts / 2, ms);
  satin_sync ();
  GBytes *first = satin_shared (low), *second = satin_shared (high);
  cells = g_malloc ((gsize)n);
  memcpy (cells, g_bytes_get_data (first, NULL), (gsize)half);
  memcpy (cells + half, g_bytes_get_data (second, NULL), (gsize)(n - half));
  return satin_share (satin_bytes (g_bytes_new_take (cells, (gsize)n)));
}

SATIN_JOB (world, SatinBytes, (SatinShared, plane), (int32_t, size), (int32_t, steps),
           (int32_t, parts), (int32_t, ms))
{
  SATIN_KEEPS (World);
  World now = { 0, plane };

  satin_recall (&now);
  while (now.step < steps)
    {
      satin_spawn (band, &now.plane, now.plane, 0, size, parts, ms);
      satin_sync ();
      now.step++;
      satin_keep (&now);
    }
  return satin_shared (now.plane);
}

static int
plane_main (SatinRun *run, int argc, char **argv)
{
  SatinBytes result;

  if (argc != 5 || atoi (argv[1]) < atoi (argv[3]))
    return 2;
  int32_t size = atoi (argv[1]);
  guint8 *cells = g_malloc ((gsize)size);
  for (int32_t i = 0; i < size; i++)
    cells[i] = (guint8)(i * i);
  SatinShared first = satin_share (satin_bytes (g_bytes_new_take (cells, (gsize)size)));
  if (!satin_root (run, world, &result, first, size, atoi (argv[2]), atoi (argv[3]),
                   atoi (argv[4])))
    return satin_stopped (run);
  g_autofree char *sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, result);
  g_print ("%.16s\n", sum);
  return 0;
}

SATIN_APP ("plane", "SIZE STEPS PARTS MS", plane_main)
