/* SPDX-License-Identifier: BSD-3-Clause */
/* A coordinator alone with its store. delta-check URI FIRST N TIMES [end]: continues the checkpoint
 * at URI and TIMES times saves N new rows and waits until they are published. After each it prints
 * a line: the rows in the checkpoint, the bytes sent, the generation. `end`: with a last
 * publication. FROM in the environment: the size in bytes from which a base may have a delta.
 * SATIN_CRASH_AT works as everywhere. `delta-check URI` prints how many rows a reader finds;
 * `delta-check --bid URI` prints the bytes of the trial commit that a bid makes there. */
#include "../unit/checkpoint.h"

#include "coordinator/bid.h"

#include <stdio.h>
#include <stdlib.h>

#define INTERVAL_US 20000

static void
say (Scribe *scribe, Place *place, guint64 ticket)
{
  ScribeStats stats;
  pthread_mutex_lock (&place->lock);
  while (place->ticket < ticket)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
  scribe_stats (scribe, &stats);
  printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", stats.rows,
          stats.sent, stats.generation);
  fflush (stdout);
}

static int
read_rows (const char *uri)
{
  Restore restore;
  g_autoptr (GError) error = NULL;
  if (!restore_look (uri, &restore, &error))
    {
      fprintf (stderr, "delta-check: %s\n", error->message);
      return 1;
    }
  printf ("%" G_GUINT64_FORMAT "%s\n", restore.rows, restore.damage != NULL ? " damaged" : "");
  restore_clear (&restore);
  return 0;
}

static int
bid (const char *uri)
{
  BidResult result;
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  if (!bid_make (uri, &identity, &result, &error))
    fprintf (stderr, "delta-check: %s\n", error->message);
  else
    printf ("%" G_GUINT64_FORMAT "\n", result.bytes);
  identity_clear (&identity);
  return error != NULL;
}

static Scribe *
begin (Place *place)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  const char *from = g_getenv ("FROM");
  ScribeConfig config = { .work_path = place->work,
                          .target = place->target,
                          .interval_us = INTERVAL_US,
                          .delta_from = from != NULL ? g_ascii_strtoull (from, NULL, 10) : 0,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems,
                          .notify = place_notify,
                          .data = place };
  Scribe *scribe = scribe_new (&config, &identity, &error);
  if (scribe == NULL)
    {
      fprintf (stderr, "delta-check: %s\n", error->message);
      exit (1);
    }
  identity_clear (&identity);
  return scribe;
}

int
main (int argc, char **argv)
{
  if (argc == 2)
    return read_rows (argv[1]);
  if (argc == 3 && strcmp (argv[1], "--bid") == 0)
    return bid (argv[2]);
  if (argc < 5)
    return 2;
  g_autoptr (Place) place = place_new ();
  g_free (place->target);
  place->target = g_strdup (argv[1]);
  Scribe *scribe = begin (place);
  guint first = (guint)atoi (argv[2]), n = (guint)atoi (argv[3]), times = (guint)atoi (argv[4]);
  for (guint i = 0; i < times; i++)
    {
      GPtrArray *rows = rows_new ();
      for (guint k = first + i * n; k < first + (i + 1) * n; k++)
        {
          g_autofree char *path = g_strdup_printf ("/%u/%u", k / 100, k % 100);
          g_ptr_array_add (rows, row_make (path, k, 1000, 1e-7));
        }
      scribe_save (scribe, rows);
      scribe_ticket (scribe, i + 1);
      say (scribe, place, i + 1);
    }
  if (argc > 5)
    {
      finish (place, scribe);
      say (scribe, place, 0);
    }
  scribe_free (scribe);
  if (place->trouble != NULL)
    fprintf (stderr, "delta-check: %s\n", place->trouble);
  return 0;
}
