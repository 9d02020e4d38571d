/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden transcripts: runs the commands of each file and compares the conversation with the stored
 * one. Without files it takes all of SATIN_SOURCE/tests/scenarios. Writes TAP; the exit code is 0
 * if all are equal. With --write it replaces the stored conversations; then the exit code is 0,
 * too. */
#include "config.h"

#include "cases.h"
#include "scenario.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static gboolean option_write;
static char **option_files;

static const GOptionEntry options[]
    = { { "write", 0, 0, G_OPTION_ARG_NONE, &option_write,
          "Store the new conversation and show the difference", NULL },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &option_files, NULL, "FILE..." },
        G_OPTION_ENTRY_NULL };

static void
print_error (const GError *error)
{
  printf ("# %s\n", error->message);
}

/* Prints a unified difference between the file and the new text, as comments of TAP. */
static void
show_difference (const char *file, const char *made)
{
  g_autofree char *path = NULL, *shown = NULL;
  g_autoptr (GError) error = NULL;
  int handle = g_file_open_tmp ("satin-scenario-XXXXXX", &path, &error);

  if (handle < 0 || !g_close (handle, &error) || !g_file_set_contents (path, made, -1, &error))
    {
      print_error (error);
      return;
    }
  const char *const arguments[]
      = { "diff", "-u", "--label", "stored", "--label", "new", file, path, NULL };
  if (g_spawn_sync (NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &shown, NULL,
                    NULL, &error))
    {
      g_auto (GStrv) lines = g_strsplit (g_strchomp (shown), "\n", -1);
      printf ("# %s\n", file);
      for (char **line = lines; *line != NULL; line++)
        printf ("# %s\n", *line);
    }
  else
    print_error (error);
  g_unlink (path);
}

/* FALSE: the conversation differs, or the scenario cannot be run. */
static gboolean
look_at (const char *file)
{
  g_autofree char *stored = NULL, *made = NULL, *name = g_path_get_basename (file);
  g_autoptr (GError) error = NULL;

  if (!g_file_get_contents (file, &stored, NULL, &error)
      || (made = scenario_run (name, stored, &error)) == NULL)
    {
      print_error (error);
      return FALSE;
    }
  if (g_str_equal (stored, made))
    return TRUE;
  show_difference (file, made);
  if (!option_write)
    return FALSE;
  if (g_file_set_contents (file, made, -1, &error))
    return TRUE;
  print_error (error);
  return FALSE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

/* (transfer full) All stored files, sorted by name. */
static GPtrArray *
all_files (GError **error)
{
  const char *source = g_getenv ("SATIN_SOURCE");
  g_autofree char *folder
      = g_build_filename (source != NULL ? source : ".", "tests", "scenarios", NULL);
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, error);

  for (const char *name = NULL; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_suffix (name, ".txt"))
      g_ptr_array_add (files, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (files, compare_names);
  return files;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- conversations in virtual time");
  g_autoptr (GPtrArray) files = NULL;
  g_autoptr (GError) error = NULL;
  guint n_bad = 0;

  signal (SIGABRT, cases_say_and_die);
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 2;
    }
  files = option_files == NULL ? all_files (&error) : g_ptr_array_new ();
  for (char **file = option_files; file != NULL && *file != NULL; file++)
    g_ptr_array_add (files, *file);
  if (error != NULL || files->len == 0)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "there are no scenarios");
      return 2;
    }
  printf ("1..%u\n", files->len);
  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *name = g_path_get_basename (files->pdata[i]);
      gboolean well = look_at (files->pdata[i]);
      n_bad += !well;
      printf ("%sok %u - %s\n", well ? "" : "not ", i + 1, name);
    }
  return n_bad > 0;
}
