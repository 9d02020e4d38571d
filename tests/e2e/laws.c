/* SPDX-License-Identifier: BSD-3-Clause */
/* Each law of a job, kept and broken: laws LAW kept|broken. laws.sh shows the consequences that
 * apps/README describes. */
#include <satin.h>

#include <stdlib.h>
#include <unistd.h>

#define LEAVES 60

/* 1: a result depends only on the arguments. Broken: a leaf counts in a global variable. */
static int64_t counted; /* atomic */

SATIN_JOB (count_leaf, int64_t, (uint8_t, broken))
{
  g_usleep (10000);
  if (!broken)
    return 1;
  __atomic_fetch_add (&counted, 1, __ATOMIC_RELAXED);
  return 0;
}

SATIN_JOB (pure, int64_t, (uint8_t, broken))
{
  int64_t one[LEAVES], sum = 0;

  for (int i = 0; i < LEAVES; i++)
    satin_spawn (count_leaf, &one[i], broken);
  satin_sync ();
  for (int i = 0; i < LEAVES; i++)
    sum += one[i];
  return sum;
}

/* Sleeps, ten times as long until the file named by LAWS_GO exists. */
static void
rest (gulong us)
{
  const char *go = getenv ("LAWS_GO");

  g_usleep (go != NULL && access (go, F_OK) != 0 ? 10 * us : us);
}

/* 2: child k is always the same job. Broken: its argument is the time of day. */
SATIN_JOB (nap, int64_t, (int64_t, said))
{
  rest (30000 + (gulong)(said % 2));
  return 1;
}

SATIN_JOB (steady, int64_t, (uint8_t, broken))
{
  int64_t one[LEAVES], sum = 0;

  for (int i = 0; i < LEAVES; i++)
    satin_spawn (nap, &one[i], broken ? g_get_real_time () : i);
  satin_sync ();
  for (int i = 0; i < LEAVES; i++)
    sum += one[i];
  return sum;
}

/* 3: a pruned job returns the whole best value. Broken: it returns 0. */
static const int64_t *
most_of (const int64_t *a, const int64_t *b)
{
  return *a >= *b ? a : b;
}

SATIN_BEST (int64_t, most, most_of, 0)

static char *
most_show (const int64_t *value)
{
  return *value > 0 ? g_strdup_printf ("found %d", (int)*value) : NULL;
}

SATIN_BEST_SHOW (most, most_show)

SATIN_JOB (look, int64_t, (int64_t, value), (uint8_t, broken))
{
  if (satin_best (most) >= value)
    return broken ? 0 : satin_best (most);
  satin_improve (most, &value);
  for (int i = 0; i < 300; i++) /* stands for a longer search below */
    {
      g_usleep (10000);
      satin_aborted ();
    }
  return value;
}

SATIN_JOB (witnessed, int64_t, (uint8_t, broken))
{
  int64_t found[2];

  satin_spawn (look, &found[0], 42, broken);
  satin_spawn (look, &found[1], 0, broken);
  satin_sync ();
  return *most_of (&found[0], &found[1]);
}

/* 4: main may run again. Broken: it publishes the time of day. */
SATIN_CONST (int64_t, start)

SATIN_JOB (again, int64_t, (uint8_t, unused))
{
  (void)unused;
  return satin_call (steady, 0) + *satin_const (start) - *satin_const (start);
}

/* 5: a job owns no memory across a sync. Broken: it does, and an abort leaks the memory. */
#define HELD (1 << 20)

SATIN_JOB (long_one, int64_t, (int64_t, turns))
{
  for (int64_t i = 0; i < turns && !satin_aborted (); i++)
    g_usleep (100);
  return turns;
}

SATIN_JOB (hold, int64_t, (uint8_t, broken))
{
  char *held = broken ? memset (g_malloc (HELD), 1, HELD) : NULL;
  int64_t turns;

  satin_spawn (long_one, &turns, 10000);
  satin_sync ();
  if (!broken)
    held = memset (g_malloc (HELD), 1, HELD);
  turns += held[turns];
  g_free (held);
  return turns;
}

SATIN_JOB (empty_handed, int64_t, (uint8_t, broken))
{
  int64_t slow, quick = 0;

  for (int i = 0; i < 100; i++)
    {
      satin_spawn (hold, &slow, broken); /* the oldest child, so thieves take it */
      satin_spawn (long_one, &quick, 100);
      satin_sync_next ();
      satin_abort ();
    }
  return quick;
}

/* A mistake that Satin finds at once: a job returns without a sync. */
SATIN_JOB (hasty, int64_t, (uint8_t, broken))
{
  int64_t one = 0;

  satin_spawn (count_leaf, &one, FALSE);
  if (!broken)
    satin_sync ();
  return one;
}

static void
tell_memory (void)
{
  char line[256];
  FILE *status = fopen ("/proc/self/status", "r");

  while (status != NULL && fgets (line, sizeof line, status) != NULL)
    if (strncmp (line, "VmHWM:", 6) == 0)
      fprintf (stderr, "kib %ld\n", strtol (line + 6, NULL, 10));
  if (status != NULL)
    fclose (status);
}

static int
laws_main (SatinRun *run, int argc, char **argv)
{
  uint8_t broken = argc == 3 && strcmp (argv[2], "broken") == 0;
  int law = argc == 3 ? atoi (argv[1]) : 0;
  int64_t result, now = broken ? g_get_real_time () : 1;
  gboolean done = FALSE;

  if (argc != 3)
    return 2;
  if (law == 4)
    satin_publish (run, start, &now);
  switch (law)
    {
    case 1:
      done = satin_root (run, pure, &result, broken);
      break;
    case 2:
      done = satin_root (run, steady, &result, broken);
      break;
    case 3:
      done = satin_root (run, witnessed, &result, broken);
      break;
    case 4:
      done = satin_root (run, again, &result, broken);
      break;
    case 5:
      done = satin_root (run, empty_handed, &result, broken);
      break;
    default:
      done = satin_root (run, hasty, &result, broken);
    }
  if (!done)
    return satin_stopped (run);
  if (law == 5)
    tell_memory ();
  printf ("%" G_GINT64_FORMAT "\n", (gint64)(result + counted));
  return 0;
}

SATIN_APP ("laws", "LAW kept|broken", laws_main)
