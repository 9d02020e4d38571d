/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive quadrature by Simpson's rule: one step, without jobs. Pure. */
#pragma once

#include <satin.h>

#include <math.h>

/* An interval with the function's values at its ends and in its middle. */
SATIN_RECORD (Piece, (double, from), (double, to), (double, at_from), (double, at_middle),
              (double, at_to))

static inline double
integrand (double x)
{
  return 0.1 * x * sin (x);
}

static inline double
simpson (const Piece *piece)
{
  return (piece->to - piece->from) / 6 * (piece->at_from + 4 * piece->at_middle + piece->at_to);
}

static inline Piece
piece_new (double from, double to, double at_from, double at_to)
{
  return (Piece){ from, to, at_from, integrand (from + (to - from) / 2), at_to };
}

/* Halves the piece. TRUE: its integral changed so little, or its ends are so close, that *value is
 * the answer. FALSE: the answer is the sum of the answers for both halves. */
static inline gboolean
piece_halve (const Piece *piece, double epsilon, Piece *left, Piece *right, double *value)
{
  double middle = piece->from + (piece->to - piece->from) / 2, both, change;

  *left = piece_new (piece->from, middle, piece->at_from, piece->at_middle);
  *right = piece_new (middle, piece->to, piece->at_middle, piece->at_to);
  both = simpson (left) + simpson (right);
  change = both - simpson (piece);
  /* Richardson's extrapolation removes the leading error. */
  *value = both + change / 15;
  return fabs (change) <= 15 * epsilon || left->from + (left->to - left->from) / 2 <= left->from;
}
