/* SPDX-License-Identifier: BSD-3-Clause */
/* A gap between two neighbouring texts of a sorted table. For texts that come in order it tells
 * from memory that the table has nothing there. One thread. */
#pragma once

#include "storage/sql.h"

typedef struct
{
  Sql *sql;
  const char *next_text; /* literals: the least text that is greater than ?1; */
  const char *last_text; /* the greatest text of all */
  char *low, *high;      /* (nullable): none is less; none is greater */
  gsize room;            /* bytes that are allocated for `low`; 0: not known */
  gboolean is_known;     /* `low` is a text of the table, or NULL and the first gap is meant */
  gboolean has_high;     /* else it is read when it is needed */
} Gap;

void gap_init (Gap *gap, Sql *sql, const char *next_text, const char *last_text);
/* Forgets all: texts were removed from the table, or may have been. */
void gap_forget (Gap *gap);
/* Moves the gap behind the last text. */
gboolean gap_find_last (Gap *gap, GError **error);
/* The table has the text `path` from now on; moves the gap behind it. `is_last`: it is the
 * greatest. */
void gap_put (Gap *gap, const char *path, gboolean is_last);
/* TRUE: no text of the table lies from `from` up to, but without, `to`, and the greatest before it
 * is `low`. FALSE: not known. */
gboolean gap_spans (Gap *gap, const char *from, const char *to);
