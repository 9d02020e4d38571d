/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how fast large results are sent: jobs that return SIZE bytes run on the other node. The
 * time is from the end of the job there to the end of the sync here. Run it with two nodes of one
 * worker each. Its jobs are not pure: they only measure. */
#include <satin.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 0.5
#define TRIES_MAX 20

SATIN_RECORD (Blob, (int64_t, pid), (double, end_s), (SatinBytes, bytes));

static gint *
taken (gint64 master)
{
  static gint *mapped;
  g_autofree char *path
      = g_strdup_printf ("%s/satin-throughput-%" G_GINT64_FORMAT, g_get_tmp_dir (), master);
  if (mapped != NULL)
    return mapped;
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate (fd, sizeof (gint)) != 0)
    g_error ("cannot make %s", path);
  mapped = mmap (NULL, sizeof (gint), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close (fd);
  return mapped;
}

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the same bytes each time: the time to make them is not measured. */
static GBytes *
block (gint64 size)
{
  static GBytes *made;
  if (made == NULL || g_bytes_get_size (made) != (gsize)size)
    {
      guint8 *data = g_malloc ((gsize)size);
      for (gint64 i = 0; i < size; i++)
        data[i] = (guint8)(i * 131 >> 7);
      g_clear_pointer (&made, g_bytes_unref);
      made = g_bytes_new_take (data, (gsize)size);
    }
  return g_bytes_ref (made);
}

SATIN_JOB (blob, Blob, (int64_t, master), (int64_t, size))
{
  Blob result = { .pid = getpid () };
  g_atomic_int_inc (taken (master));
  result.bytes = satin_bytes (getpid () == master ? g_bytes_new (NULL, 0) : block (size));
  result.end_s = now ();
  return result;
}

/* Keeps this worker busy until the other node has taken `n` blobs. */
SATIN_JOB (hold, int32_t, (int64_t, master), (int32_t, n))
{
  for (double end = now () + PATIENCE_S;
       getpid () == master && g_atomic_int_get (taken (master)) < n && now () < end;)
    ;
  return n;
}

SATIN_JOB (once, double, (int64_t, master), (int64_t, size))
{
  Blob result;
  int32_t held;
  satin_spawn (blob, &result, master, size);
  satin_spawn (hold, &held, master, 1 + g_atomic_int_get (taken (master)));
  satin_sync ();
  double seconds = now () - result.end_s;
  if (result.pid == master)
    return -1;
  if (g_bytes_get_size (result.bytes) != (gsize)size
      || ((const guint8 *)g_bytes_get_data (result.bytes, NULL))[size - 1]
             != (guint8)((size - 1) * 131 >> 7))
    g_error ("wrong bytes came");
  return (double)size / seconds / 1e9;
}

SATIN_JOB (root, double, (int64_t, master), (int64_t, size), (int32_t, times))
{
  double rates[64], rate;
  int n = 0;
  for (int i = 0; i < times * TRIES_MAX && n < times; i++)
    {
      satin_sync ();
      rate = satin_call (once, master, size);
      if (rate > 0)
        rates[n++] = rate;
    }
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && rates[k] < rates[k - 1]; k--)
      {
        rate = rates[k];
        rates[k] = rates[k - 1];
        rates[k - 1] = rate;
      }
  if (n > 0)
    printf ("throughput %" G_GINT64_FORMAT " MiB: median %.2f min %.2f max %.2f GB/s (%d)\n",
            size >> 20, rates[n / 2], rates[0], rates[n - 1], n);
  return n > 0 ? rates[n / 2] : 0;
}

static int
throughput_main (SatinRun *run, int argc, char **argv)
{
  gint64 master = getpid ();
  double rate;
  gint64 size = (argc > 1 ? (gint64)atoi (argv[1]) : 64) << 20;
  int times = argc > 2 ? MIN (atoi (argv[2]), 64) : 15;
  if (!satin_root (run, root, &rate, master, size, times))
    return satin_stopped (run);
  g_autofree char *path
      = g_strdup_printf ("%s/satin-throughput-%" G_GINT64_FORMAT, g_get_tmp_dir (), master);
  unlink (path);
  if (rate <= 0)
    fprintf (stderr, "throughput: nothing was stolen\n");
  return rate > 0 ? 0 : 1;
}

SATIN_APP ("throughput", "[MIB [TIMES]]", throughput_main)
