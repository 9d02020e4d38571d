/* SPDX-License-Identifier: BSD-3-Clause */
/* Every word of satin.h in one program; compiled as C and as C++, with warnings as errors, never
 * run. */
#include <satin.h>

SATIN_RECORD (Point, (int32_t, x), (double, y))
SATIN_RECORD (Line, (Point, a), (Point, ends, 2), (uint8_t, name, 16), (SatinBytes, more))

SATIN_RECORD (Shelf, (SatinShared, one), (SatinShared, some, 3), (Line, line))

SATIN_CONST (Line, scene)

static const int64_t *
smaller (const int64_t *a, const int64_t *b)
{
  return *a < *b ? a : b;
}

static const Point *
better (const Point *a, const Point *b)
{
  return a->x < b->x ? a : b;
}

SATIN_BEST (int64_t, bound, smaller, INT64_MAX)
SATIN_BEST (Point, point, better, { 3, 0 })

SATIN_JOB (fib, int64_t, (int32_t, n))
{
  if (n < 2)
    return n;

  int64_t x, y;
  satin_spawn (fib, &x, n - 1);
  satin_spawn (fib, &y, n - 2);
  satin_sync ();
  return x + y;
}

SATIN_JOB (none, uint8_t)
{
  return 1;
}

SATIN_JOB (fails, uint8_t, (int32_t, n))
{
  if (n > 1)
    satin_fail ("%d is not 0 or 1", n);
  else if (n == 0)
    return 1;
  satin_fail ("no");
}

SATIN_JOB_DECLARE (odd, uint8_t, (int32_t, n), (uint8_t, board, 16));

SATIN_JOB (even, uint8_t, (int32_t, n), (uint8_t, board, 16))
{
  return n == 0 ? satin_call (none) : satin_call (odd, n - 1, board);
}

SATIN_JOB_DEFINE (odd, uint8_t, (int32_t, n), (uint8_t, board, 16))
{
  return n == 0 ? 0 : satin_call (even, n - 1, board);
}

SATIN_JOB (lines, Line, (int8_t, a), (uint8_t, b), (int16_t, c), (uint16_t, d), (Line, e),
           (SatinBytes, f), (Line, g, 2), (double, h))
{
  Line results[3], line = e;

  if (a == 0 || satin_best (bound) < c)
    return satin_const (scene)->a.x > d ? g[0] : line;
  for (int i = 0; i < 3; i++)
    satin_spawn (lines, &results[i], (int8_t)(a - 1), b, c, d, e, f, g, h);
  satin_sync ();
  line.more = satin_bytes (g_bytes_new (&line.a, sizeof line.a));
  satin_improve (point, &line.a);
  return line;
}

SATIN_LIST (Points, Point)
SATIN_LIST (Numbers, int64_t)
SATIN_RECORD (Path, (SatinText, name), (Points, points), (Numbers, lengths, 2))
SATIN_LIST (Paths, Path)

SATIN_JOB (paths, Paths, (Paths, all), (SatinText, name))
{
  SatinHere here = satin_here ();
  Path path = { satin_text ("%s %d", name.text, 1), satin_list (Points, NULL, 3),
                { { NULL, 0, NULL }, { NULL, 0, NULL } } };

  satin_items (Points, path.points)[2].x = 1;
  satin_poll (here);
  if (all.n > 3)
    satin_fail_here (here, "%d", 3);
  return satin_join (Paths, all, satin_list (Paths, &path, 1));
}

static double
sum_of (double a, double b)
{
  return a + b;
}

SATIN_REDUCE (sums, double, sum_of, (Numbers, of), (double, scale))
{
  double s = 0;

  for (int64_t k = from; k < to; k++)
    s += (double)of.at[k] * scale;
  return s;
}

SATIN_REDUCE (lengths, double, sum_of)
{
  return (double)(to - from);
}

SATIN_FOR (squares, Numbers, int64_t)
{
  return i * i;
}

SATIN_FOR (points, Points, Point, (int32_t, x))
{
  Point p = { x, (double)i };

  return p;
}

SATIN_JOB (loops, double, (int64_t, n))
{
  Numbers all = satin_for (squares, 0, n, 0);
  double x, y = satin_reduce (lengths, 0, n, 10);

  satin_spawn (sums, &x, 0, n, 0, all, 2.0);
  satin_sync ();
  return x + y + satin_for (points, 0, n, 1, 3).at[0].y;
}

SATIN_RECORD (Grid, (uint8_t, cell, 30))

SATIN_JOB (grid, int64_t, (Grid, cells), (int32_t, n))
{
  return cells.cell[n];
}

#ifndef __cplusplus
/* Compound literals as arguments: their commas do not separate macro arguments. */
SATIN_JOB (literals, int64_t, (int32_t, n))
{
  SATIN_KEEPS (Point);
  int64_t x;
  uint8_t one;

  satin_spawn (none, &one);
  satin_spawn (grid, &x, (Grid){ { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } }, n);
  satin_sync ();
  satin_keep (&(Point){ n, 1 });
  satin_improve (point, &(Point){ n, 1 });
  return x + one;
}

gboolean main_of_literals (SatinRun *run);

gboolean
main_of_literals (SatinRun *run)
{
  int64_t x;

  satin_publish (run, scene, &(Line){ { 1, 2 }, { { 3, 4 }, { 5, 6 } }, { 0 }, NULL });
  return satin_root (run, grid, &x, (Grid){ { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 } }, 3);
}
#endif

SATIN_JOB (long_one, int64_t, (int32_t, n))
{
  SATIN_KEEPS (Line);
  Line line = { { 0, 0 }, { { 1, 2 }, { 3, 4 } }, { 0 }, NULL };
  int64_t x;

  if (satin_recall (&line))
    line.name[0]++;
  for (; line.a.x < n; satin_keep (&line))
    {
      satin_spawn (fib, &x, line.a.x++);
      satin_sync ();
      line.a.y += (double)x;
    }
  return (int64_t)line.a.y;
}

SATIN_JOB (counter, int64_t, (int32_t, n))
{
  SATIN_KEEPS (int64_t);
  int64_t sum = 0;
  const int64_t *kept = &sum;

  satin_recall (&sum);
  sum += satin_call (fib, n);
  satin_keep (kept);
  return sum;
}

SATIN_JOB (shelf, SatinShared, (SatinShared, old), (Shelf, others), (SatinShared, more, 2))
{
  SATIN_KEEPS (Shelf);
  Shelf kept = others;
  SatinShared made;

  satin_recall (&kept);
  satin_spawn (shelf, &made, satin_share (satin_shared (old)), kept, more);
  satin_sync ();
  kept.one = made;
  satin_keep (&kept);
  return kept.some[0];
}

SATIN_JOB (any, int64_t, (int32_t, n))
{
  int64_t found[4], none = 0;
  int32_t number;

  if (satin_aborted ())
    return none;
  for (int i = 0; i < 4 && n > 0; i++)
    satin_spawn (any, &found[i], n - 1);
  while ((number = satin_sync_next ()) >= 0)
    if (found[number] > 0)
      {
        satin_abort ();
        return found[number];
      }
  return none;
}

static int
words_main (SatinRun *run, int argc, char **argv)
{
  Line line = { { 1, 2 }, { { 1, 2 }, { 3, 4 } }, { 0 }, NULL };
  GError *error = NULL;
  int64_t result;
  uint8_t one;

  if (argc < 2 || satin_input (run, argv[1], &error) == NULL)
    return 1;
  satin_publish (run, scene, &line);
  if (!satin_root (run, fib, &result, 30) || !satin_root (run, none, &one))
    return satin_stopped (run);
  return (int)result + satin_best (point).x;
}

/* A program with its own main. */
int words_own_main (int argc, char **argv);

int
words_own_main (int argc, char **argv)
{
  GError *error = NULL;
  SatinRun *run = satin_open (&argc, &argv, &error);
  int code;

  if (run == NULL)
    return g_error_matches (error, SATIN_ERROR, 2) ? 2 : 1;
  code = words_main (run, argc, argv);
  satin_suspend (run);
  return satin_close (run) == 0 && satin_reason () == NULL ? code : 1;
}

SATIN_APP ("words", "FILE", words_main, &fib_job, &none_job, &even_job, &odd_job, &lines_job,
           &long_one_job, &counter_job, &shelf_job, &any_job)
