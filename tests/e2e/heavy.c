/* SPDX-License-Identifier: BSD-3-Clause */
/* heavy ROWS BYTES: ROWS jobs, each with a result of BYTES bytes, and a job that waits until the
 * file named by HEAVY_GO exists. Makes a checkpoint of any size. Prints the sum of all first bytes.
 * Each job that is computed adds a byte to the file named by HEAVY_LOG. */
#include <satin.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void
note (void)
{
  const char *name = getenv ("HEAVY_LOG");
  int fd = name == NULL ? -1 : open (name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

  if (fd < 0)
    return;
  if (write (fd, ".", 1) != 1)
    abort ();
  close (fd);
}

SATIN_JOB (heavy, SatinBytes, (int32_t, number), (int32_t, size))
{
  guint8 *data = g_malloc ((gsize)size);
  guint32 x = (guint32)number + 1;

  note ();
  for (int i = 0; i < size; i++)
    {
      x = x * 1664525u + 1013904223u;
      data[i] = (guint8)(x >> 24);
    }
  return satin_bytes (g_bytes_new_take (data, (gsize)size));
}

SATIN_JOB (gate, int32_t, (int32_t, number))
{
  const char *name = getenv ("HEAVY_GO");

  while (name != NULL && access (name, F_OK) != 0 && !satin_aborted ())
    usleep (20000);
  return number;
}

SATIN_JOB (all, int64_t, (int32_t, n), (int32_t, size))
{
  SatinBytes *parts = g_new0 (SatinBytes, n);
  int32_t last;
  int64_t sum = 0;

  for (int32_t i = 0; i < n; i++)
    satin_spawn (heavy, &parts[i], i, size);
  satin_spawn (gate, &last, n);
  satin_sync ();
  for (int32_t i = 0; i < n; i++)
    sum += ((const guint8 *)g_bytes_get_data (parts[i], NULL))[0];
  g_free (parts);
  return sum;
}

static int
heavy_main (SatinRun *run, int argc, char **argv)
{
  int64_t sum;

  if (argc != 3)
    return 2;
  if (!satin_root (run, all, &sum, (int32_t)atoi (argv[1]), (int32_t)atoi (argv[2])))
    return satin_stopped (run);
  printf ("%lld\n", (long long)sum);
  return 0;
}

SATIN_APP ("heavy", "ROWS BYTES", heavy_main)
