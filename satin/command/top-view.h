/* SPDX-License-Identifier: BSD-3-Clause */
/* The screen of `satin top` as text. Pure. */
#pragma once

#include "top-sample.h"

typedef enum
{
  TOP_SORT_NODE, /* eldest first */
  TOP_SORT_CPU,
  TOP_SORT_JOBS,
  TOP_SORT_LOST,
  TOP_SORT_RISK,
  TOP_SORTS
} TopSort;

typedef struct
{
  guint columns, lines; /* of the terminal; lines 0: no limit */
  gboolean colour;      /* bold headings, red for what is wrong */
  gboolean keys;        /* the last line names the keys */
  gboolean folded;      /* one line for each site */
  TopSort sort;
  guint first; /* the first node line that is shown; made smaller if there are fewer lines */
  double elapsed_s;        /* since the run began; NAN: not known */
  const GPtrArray *events; /* of char *, the latest last */
  const char *clock;       /* time of day */
} TopView;

/* At most `lines` lines, none wider than `columns`, each with its newline. (transfer full) */
char *top_view_draw (TopView *view, const TopSample *sample);
