/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file of --trace as a viewer would. check-trace FILE prints "processes N lanes N" and the
 * number of each span and mark. It prints "wrong: …" and ends with exit code 1 if the file is not
 * JSON, if time goes back in a lane, or if spans do not nest. With `torn` as second argument the
 * array need not be closed, and spans need not end. */
#include "text/json.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  double at;
  int open;
} Lane;

static int
fail (const char *what)
{
  g_print ("wrong: %s\n", what);
  return 1;
}

static const char *
look (GHashTable *lanes, GHashTable *processes, GHashTable *counts, GVariant *note)
{
  g_autofree char *key = NULL;
  const char *phase = "", *name = NULL;
  double pid = -1, tid = -1, at = -1;
  Lane *lane;

  if (!g_variant_lookup (note, "ph", "&s", &phase) || !g_variant_lookup (note, "pid", "d", &pid)
      || !g_variant_lookup (note, "tid", "d", &tid))
    return "an event without ph, pid or tid";
  g_variant_lookup (note, "name", "&s", &name);
  if (*phase == 'M')
    {
      if (g_strcmp0 (name, "process_name") == 0)
        g_hash_table_add (processes, g_strdup_printf ("%.0f", pid));
      return NULL;
    }
  if (!g_variant_lookup (note, "ts", "d", &at))
    return "an event without ts";
  key = g_strdup_printf ("%.0f %.0f", pid, tid);
  lane = g_hash_table_lookup (lanes, key);
  if (lane == NULL)
    {
      lane = g_new0 (Lane, 1);
      g_hash_table_insert (lanes, g_steal_pointer (&key), lane);
    }
  if (at < lane->at)
    return "time goes back";
  lane->at = at;
  lane->open += (*phase == 'B') - (*phase == 'E');
  if (lane->open < 0)
    return "a span ends that did not begin";
  if (name != NULL)
    g_hash_table_insert (
        counts, g_strdup (name),
        GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (counts, name)) + 1));
  return NULL;
}

static GVariant *
read_events (const char *file, gboolean torn)
{
  g_autofree char *text = NULL;
  g_autofree char *closed = NULL;
  char *comma;

  if (!g_file_get_contents (file, &text, NULL, NULL))
    return NULL;
  comma = strrchr (text, ',');
  torn = torn && !g_str_has_suffix (text, "]\n");
  if (!torn || comma == NULL)
    return json_read (text);
  if (comma[1] == '\n' && comma[2] == '\0')
    *comma = '\0';
  closed = g_strconcat (text, "]", NULL);
  return json_read (closed);
}

int
main (int argc, char **argv)
{
  gboolean torn = argc > 2 && strcmp (argv[2], "torn") == 0;
  g_autoptr (GVariant) events = argc > 1 ? read_events (argv[1], torn) : NULL;
  g_autoptr (GHashTable) lanes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) processes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer key, value;

  if (events == NULL || !g_variant_is_of_type (events, G_VARIANT_TYPE ("av")))
    return fail ("not a JSON array");
  for (gsize i = 0; i < g_variant_n_children (events); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (events, i);
      g_autoptr (GVariant) note = g_variant_get_variant (boxed);
      const char *wrong = look (lanes, processes, counts, note);

      if (wrong != NULL)
        return fail (wrong);
    }
  g_hash_table_iter_init (&iter, lanes);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (!torn && ((Lane *)value)->open > 0)
      return fail ("a span does not end");
  g_print ("processes %u lanes %u\n", g_hash_table_size (processes), g_hash_table_size (lanes));
  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_print ("%s %u\n", (const char *)key, GPOINTER_TO_UINT (value));
  return 0;
}
