/* SPDX-License-Identifier: BSD-3-Clause */
/* A run with any number of saved rows: a job with TOP leaves, and below it a chain of LEVELS jobs
 * with WIDTH leaves each. The lowest job creates the file WIDE_GO.waits and waits until WIDE_GO
 * exists. Until then no row of a leaf is replaced by the row of a job above it. Usage: wide TOP
 * LEVELS WIDTH; prints the number of leaves. */
#include <satin.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

SATIN_JOB (leaf, int32_t, (int32_t, level), (int32_t, number))
{
  (void)level, (void)number;
  return 1;
}

/* A best value that improves all the time, so that there is always something to save. */
SATIN_RECORD (Beat, (int64_t, n))

static const Beat *
beat_later (const Beat *a, const Beat *b)
{
  return b->n > a->n ? b : a;
}

SATIN_BEST (Beat, beat, beat_later, { 0 })

SATIN_JOB (gate, int32_t, (int32_t, unused))
{
  const struct timespec slice = { 0, 50 * 1000 * 1000 };
  const char *name = getenv ("WIDE_GO");
  g_autofree char *mark = g_strconcat (name != NULL ? name : "", ".waits", NULL);
  Beat now = satin_best (beat);

  (void)unused;
  if (name != NULL)
    (void)g_file_set_contents (mark, "", 0, NULL);
  while (!satin_aborted () && name != NULL && access (name, F_OK) != 0)
    {
      now.n++;
      satin_improve (beat, &now);
      nanosleep (&slice, NULL);
    }
  return 0;
}

/* `top`: the number of leaves of this job; 0: `width`, as in the jobs below. */
SATIN_JOB (level, int64_t, (int32_t, top), (int32_t, levels), (int32_t, width))
{
  int32_t n = top > 0 ? top : width, none = 0;
  g_autofree int32_t *each = g_new0 (int32_t, (gsize)n);
  int64_t below = 0, sum = 0;

  /* A worker runs the child that it spawned first last. */
  if (levels > 0)
    satin_spawn (level, &below, 0, levels - 1, width);
  else
    satin_spawn (gate, &none, 0);
  for (int32_t i = 0; i < n; i++)
    satin_spawn (leaf, &each[i], levels, i);
  satin_sync ();
  for (int32_t i = 0; i < n; i++)
    sum += each[i];
  return sum + below;
}

static int
wide_main (SatinRun *run, int argc, char **argv)
{
  int64_t leaves;

  if (argc != 4)
    return 2;
  if (!satin_root (run, level, &leaves, atoi (argv[1]), atoi (argv[2]), atoi (argv[3])))
    return satin_stopped (run);
  g_print ("%" G_GINT64_FORMAT "\n", leaves);
  return 0;
}

SATIN_APP ("wide", "TOP LEVELS WIDTH", wide_main)
