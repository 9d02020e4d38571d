/* SPDX-License-Identifier: BSD-3-Clause */
/* The integral of x sin (x) / 10 by adaptive quadrature: each interval is halved where the function
 * needs it. The tree of intervals fixes the order of all additions, so the sum has the same bits
 * wherever its parts are computed. */
#include "simpson.h"

#include <stdlib.h>

#define USAGE "[FROM TO] [--epsilon X]"

SATIN_JOB (integrate, double, (Piece, piece), (double, epsilon))
{
  Piece left, right;
  double value, x, y;

  if (piece_halve (&piece, epsilon, &left, &right, &value))
    return value;
  satin_spawn (integrate, &x, left, epsilon);
  satin_spawn (integrate, &y, right, epsilon);
  satin_sync ();
  return x + y;
}

/* FALSE: invalid; a message was printed. */
static gboolean
number (const char *what, const char *text, double least, double greatest, double *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  if (end != text && *end == '\0' && *value >= least && *value <= greatest)
    return TRUE;
  fprintf (stderr, "integrate: %s must be a number from %g to %g, not '%s'\n", what, least,
           greatest, text);
  return FALSE;
}

static gboolean
options_parse (int argc, char **argv, double ends[2], double *epsilon)
{
  int n = 0;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--epsilon") == 0)
      {
        if (++i == argc)
          {
            fprintf (stderr, "integrate: --epsilon needs a value\n");
            return FALSE;
          }
        if (!number ("--epsilon", argv[i], 1e-14, 1, epsilon))
          return FALSE;
      }
    else if (n == 2)
      {
        fprintf (stderr, "integrate: '%s' is one too many; usage: integrate " USAGE "\n", argv[i]);
        return FALSE;
      }
    else if (!number (n == 0 ? "FROM" : "TO", argv[i], -1e7, 1e7, &ends[n]))
      return FALSE;
    else
      n++;
  if (n == 1)
    fprintf (stderr, "integrate: TO is missing; usage: integrate " USAGE "\n");
  return n != 1;
}

static int
integrate_main (SatinRun *run, int argc, char **argv)
{
  double ends[2] = { 0, 250000 }, epsilon = 1e-9, result;
  Piece all;

  if (!options_parse (argc, argv, ends, &epsilon))
    return 2;
  all = piece_new (ends[0], ends[1], integrand (ends[0]), integrand (ends[1]));
  if (!satin_root (run, integrate, &result, all, epsilon))
    return satin_stopped (run);
  printf ("%.17g\n", result);
  return 0;
}

SATIN_APP ("integrate", USAGE, integrate_main)
