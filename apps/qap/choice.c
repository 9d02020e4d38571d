/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses where to branch. Does not know where the bounds come from. */
#include "config.h"

#include "choice.h"

/* Looks at m children in a row or column. Children above `slack` are closed. Counts the open ones,
 * and adds up the bounds. */
typedef struct
{
  int open;
  gint64 sum;
} Line;

static Line
look_at (const gint64 *reduced, int m, int stride, gint64 slack, const guint8 *name,
         const gboolean *skip)
{
  Line line = { 0, 0 };

  for (int k = 0; k < m; k++)
    {
      if (skip != NULL && skip[name[k]])
        continue;
      line.open += reduced[k * stride] <= slack;
      line.sum += MIN (reduced[k * stride], slack + 1);
    }
  return line;
}

static gboolean
line_better (Line a, Line b)
{
  return a.open != b.open ? a.open < b.open : a.sum > b.sum;
}

int
choice_make (const Choice *choice, LevelChild *child)
{
  int m = choice->m, at = 0, count = 0;
  Line best = { G_MAXINT, 0 };
  gboolean by_row = TRUE;

  for (int k = 0; k < m; k++)
    {
      Line row = look_at (choice->reduced + k * m, m, 1, choice->slack, choice->location,
                          choice->skip_location);
      Line column = look_at (choice->reduced + k, m, m, choice->slack, choice->facility,
                             choice->skip_facility);

      if (line_better (row, best))
        {
          best = row;
          at = k;
          by_row = TRUE;
        }
      if (line_better (column, best))
        {
          best = column;
          at = k;
          by_row = FALSE;
        }
    }
  for (int k = 0; k < m; k++)
    {
      int a = by_row ? at : k, b = by_row ? k : at, place = count;
      const gboolean *skip = by_row ? choice->skip_location : choice->skip_facility;
      LevelChild one = { choice->facility[a], choice->location[b], choice->reduced[a * m + b] };

      if (one.bound > choice->slack || (skip != NULL && skip[by_row ? one.location : one.facility]))
        continue;
      for (; place > 0 && child[place - 1].bound < one.bound; place--)
        child[place] = child[place - 1];
      child[place] = one;
      count++;
    }
  return count;
}
