/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the cost of the scribe: figures-checkpoint [ROWS [VALUE-BYTES]]. Saves ROWS rows in the
 * order in which nodes send them, publishes, and starts again from the file; prints the time of
 * each step, the bytes that the file has besides paths and values, and the peak memory. */
#include "checkpoint.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef struct
{
  Place *place;
  gint64 began;
  gsize text_bytes, value_bytes;
} Figures;

static double
lap (Figures *figures)
{
  gint64 now = g_get_monotonic_time ();
  double seconds = (double)(now - figures->began) / G_USEC_PER_SEC;
  figures->began = now;
  return seconds;
}

static double
memory_mib (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

/* A row four levels below the root, as in the frontier of a deep program. */
static Row *
make_row (Figures *figures, guint number, guint n, gsize size)
{
  g_autofree char *path = g_strdup_printf ("/%u/%u/%u/%u", number % 7, number / 7 % 100,
                                           number / 700 % 100, number / 70000);
  g_autofree guint8 *bytes = g_malloc (MAX (size, 8));
  for (gsize i = 0; i < size; i += 8)
    {
      guint64 word = size > 8 ? g_random_int () * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)
                              : GUINT64_TO_LE (number * G_GUINT64_CONSTANT (2654435761));
      memcpy (bytes + i, &word, 8);
    }
  Digest digest = digest_of_string (path);
  g_autoptr (GBytes) value = g_bytes_new (bytes, size);
  Row *row = row_new (path, size > 8 ? 1 : 0, &digest, 1.0 / n, 1000 + number % 100000, value);
  row->node = (NodeId){ 1, 1 + number % 8, 0x1a2b3c4d };
  figures->text_bytes += strlen (path);
  figures->value_bytes += size;
  return row;
}

static Scribe *
open_scribe (Figures *figures, const char *run)
{
  Scribe *scribe = start (figures->place, HOUR_US, run);
  return scribe;
}

static void
write_all (Figures *figures, guint n, gsize size)
{
  Scribe *scribe = open_scribe (figures, "run-1");
  GPtrArray *rows = rows_new ();
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (rows, make_row (figures, i, n, size));
  lap (figures);
  scribe_save (scribe, rows);
  g_print ("given to the scribe      %7.3f s\n", lap (figures));
  finish (figures->place, scribe);
  g_print ("written and published    %7.3f s\n", lap (figures));
  scribe_free (scribe);
  struct stat status;
  g_assert_cmpint (stat (figures->place->target, &status), ==, 0);
  double beside = (double)status.st_size - (double)(figures->text_bytes + figures->value_bytes);
  g_print (
      "file                     %7.1f MiB: %.1f B a row beside path and value, %.3f x values\n",
      (double)status.st_size / 1048576, beside / n,
      (double)status.st_size / (double)figures->value_bytes);
}

static void
read_all (Figures *figures)
{
  Restore restore;
  g_autoptr (GError) error = NULL;
  lap (figures);
  g_assert_true (restore_look (figures->place->target, &restore, &error));
  g_print ("looked at                %7.3f s: %" G_GUINT64_FORMAT " rows\n", lap (figures),
           restore.rows);
  restore_clear (&restore);
  Scribe *scribe = open_scribe (figures, "run-2");
  g_print ("taken over               %7.3f s\n", lap (figures));
  scribe_load (scribe, NULL);
  place_wait (figures->place, &figures->place->n_restored_final, 1);
  g_print ("loaded                   %7.3f s: %u rows\n", lap (figures), figures->place->rows->len);
  scribe_free (scribe);
  g_print ("greatest memory          %7.1f MiB\n", memory_mib ());
}

int
main (int argc, char **argv)
{
  guint n = argc > 1 ? (guint)atoi (argv[1]) : 100000;
  gsize size = argc > 2 ? (gsize)atoi (argv[2]) : 8;
  if (n < 1 || size < 8 || size % 8 != 0)
    return 2;
  g_autoptr (Place) place = place_new ();
  Figures figures = { .place = place, .began = g_get_monotonic_time () };
  write_all (&figures, n, size);
  read_all (&figures);
  return 0;
}
