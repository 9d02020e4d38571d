/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a checkpoint as it grows, in the way in which Left reads them. */
#pragma once

#include "coordinator/left.h"

#include <string.h>

/* The saved rows of a run, by path. */
typedef struct
{
  double weight, work_s;
} Row;

static GTree *
rows_new (void)
{
  return g_tree_new_full ((GCompareDataFunc)(void (*) (void))strcmp, NULL, g_free, g_free);
}

typedef struct
{
  const char *path;
  GPtrArray *found;
} Below;

static gboolean
find_below (gpointer key, gpointer value, gpointer data)
{
  Below *below = data;
  gsize size = strlen (below->path);

  (void)value;
  if (strncmp (key, below->path, size) == 0 && (((char *)key)[size] == '/'))
    g_ptr_array_add (below->found, key);
  return FALSE;
}

/* Adds a row, which replaces the rows below it. */
static void
put (GTree *rows, const char *path, double weight, double work_s)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  Below below = { path, found };
  Row *row = g_new (Row, 1);

  *row = (Row){ weight, work_s };
  g_tree_foreach (rows, find_below, &below);
  for (guint i = 0; i < found->len; i++)
    g_tree_remove (rows, found->pdata[i]);
  g_tree_replace (rows, g_strdup (path), row);
}

static gboolean
look_at (gpointer key, gpointer value, gpointer data)
{
  const Row *row = value;

  left_row (data, key, row->weight, row->work_s);
  return FALSE;
}

static void
look (Left *left, GTree *rows)
{
  left_begin (left);
  g_tree_foreach (rows, look_at, left);
  left_end (left);
}
