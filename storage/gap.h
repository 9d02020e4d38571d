/* SPDX-License-Identifier: BSD-3-Clause */
/* A gap between two neighbouring texts of a sorted table. For texts that come in order it shows,
 * without a query, that the table has nothing there. One thread. */
#pragma once

#include "storage/sql.h"

typedef struct
{
  Sql *sql;
  const char *next_text; /* literals: the least text that is greater than ?1; */
  const char *last_text; /* the greatest text of all */
  char *low, *high;      /* (nullable): none is less; none is greater */
  gsize room;            /* bytes that are allocated for `low`; 0: not known */
  gboolean is_known;     /* `low` is a text of the table, or NULL for the gap before the first
                          * text */
  gboolean has_high;     /* `high` was read; otherwise it is read when needed */
} Gap;

void gap_init (Gap *gap, Sql *sql, const char *next_text, const char *last_text);
/* Call this when texts were removed from the table, or may have been. */
void gap_forget (Gap *gap);
/* Moves the gap behind the last text. */
gboolean gap_find_last (Gap *gap, GError **error);
/* The table now has the text `path`; moves the gap behind it. `is_last`: it is the greatest
 * text. */
void gap_put (Gap *gap, const char *path, gboolean is_last);
/* TRUE: the table has no text from `from` up to, but without, `to`, and `low` is the greatest text
 * before. FALSE: not known. */
gboolean gap_spans (Gap *gap, const char *from, const char *to);
