/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_input and satin_publish: what all nodes of a run read. The digest of each job depends on
 * all of it, so it must be complete before the first root begins. Else a main that runs again would
 * not find the results of its first roots. Main thread only.
 * Tests: test-mains-part, input.sh, roots.sh */
#include "config.h"

#include "run-private.h"

#include "buffer.h"
#include "engine/constant.h"
#include "record.h"

#include <string.h>
#include <sys/stat.h>

/* FALSE: `path` is a stream. A node has no standard input, and another node that runs main later
 * could not read a pipe again. Alone, main runs once, so streams are allowed. */
static gboolean
can_be_read_again (SatinRun *run, const char *path, GError **error)
{
  static const char *const streams[] = { "/dev/std", "/dev/fd/", "/proc/self/fd/" };
  struct stat info;
  gboolean stream = strcmp (path, "-") == 0;

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    stream = stream || g_str_has_prefix (path, streams[i]);
  if (!run->node_process
      || (!stream
          && (stat (path, &info) != 0 || S_ISREG (info.st_mode) || S_ISDIR (info.st_mode)
              || strcmp (path, "/dev/null") == 0)))
    return TRUE;
  g_set_error (
      error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
      "'%s' is not a regular file, and main may have to read it on several nodes: write its "
      "content to a file and name that",
      path);
  return FALSE;
}

/* Gives it to all nodes. */
static void
say (SatinRun *run, const char *name, GBytes *bytes)
{
  if (run->owner == RUN_OF_NODE)
    g_hash_table_replace (run->said, g_strdup (name), g_bytes_ref (bytes));
  driver_set_constant (run->driver, name, bytes, TRUE);
}

GBytes *
satin_input (SatinRun *run, const char *path, GError **error)
{
  g_autofree char *name = g_strconcat ("input/", path, NULL);
  g_autoptr (GError) reason = NULL;
  GBytes *bytes = driver_constant (run->driver, name);
  if (bytes != NULL)
    {
      g_autoptr (GBytes) came = bytes;

      bytes = buffer_slice (came, 0, g_bytes_get_size (came));
    }
  else
    {
      char *text;
      gsize size;
      if (run->roots > 0)
        {
          g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                       "'%s' has to be read before the first satin_root", path);
          return NULL;
        }
      if (!can_be_read_again (run, path, error) || !g_file_get_contents (path, &text, &size, error))
        return NULL;
      bytes = g_bytes_new_take (text, size);
      if (!look_at_input (run, path, bytes, &reason))
        {
          run_give_up (run, reason->code, reason->message);
          g_propagate_error (error, g_steal_pointer (&reason));
          g_bytes_unref (bytes);
          return NULL;
        }
    }
  say (run, name, bytes);
  g_ptr_array_add (run->inputs, bytes);
  return bytes;
}

void
satin_publish_ (SatinRun *run, SatinConst_ *constant, const void *value)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strconcat ("const/", constant->name, NULL);
  g_autoptr (GBytes) bytes = record_encode (constant->type, value);
  g_autoptr (GBytes) kept = driver_constant (run->driver, name);
  if (run->roots > 0 && (kept == NULL || !g_bytes_equal (kept, bytes)))
    {
      g_autofree char *sentence = g_strdup_printf (
          "constant '%s' has to be published before the first satin_root", constant->name);
      run_give_up (run, 1, sentence);
      return;
    }
  if ((kept != NULL && run->restore.constants != NULL && !g_bytes_equal (kept, bytes))
      || !restore_constant_is_sound (&run->restore, constant->name, bytes))
    {
      g_autofree char *sentence
          = g_strdup_printf ("checkpoint '%s' is of another run: constant '%s' differs",
                             run->config.checkpoint, constant->name);
      run_give_up (run, 3, sentence);
      return;
    }
  if (!constant_set_encoded (constant, bytes, &error))
    {
      g_autofree char *sentence
          = g_strdup_printf ("%s: main has to publish the same whenever it runs", error->message);
      run_give_up (run, 1, sentence);
      return;
    }
  say (run, name, bytes);
}
