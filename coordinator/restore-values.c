/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that constants and inputs of a checkpoint belong to its run. Tests: test-restore. */
#include "coordinator/restore.h"

#include <string.h>

typedef enum
{
  LISTED_NOT,
  LISTED_SAME,
  LISTED_OTHER
} Listed;

/* Compares the bytes with the digest that the list has for this name. */
static Listed
find_listed (const char *list, const char *name, GBytes *bytes)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  Digest digest = digest_of_data (data, size);
  char hex[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (&digest, hex);
  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *blank = strchr (lines[i], ' ');
      if (blank != NULL && strcmp (blank + 1, name) == 0)
        return strncmp (lines[i], hex, DIGEST_HEX_LENGTH) == 0 ? LISTED_SAME : LISTED_OTHER;
    }
  return LISTED_NOT;
}

gboolean
restore_input_is_sound (const Restore *restore, const char *path, GBytes *bytes, const char *target,
                        GError **error)
{
  if (restore->inputs == NULL && restore->damage == NULL)
    return TRUE;
  if (restore->inputs != NULL && find_listed (restore->inputs, path, bytes) != LISTED_OTHER)
    return TRUE;
  g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
               "checkpoint '%s' is damaged and has lost the input '%s', and %s", target, path,
               restore->inputs != NULL
                   ? "the file has changed since; put back the old file, or name another checkpoint"
                   : "nothing proves that the file is still the same; name another checkpoint");
  return FALSE;
}

gboolean
restore_constant_is_sound (const Restore *restore, const char *name, GBytes *bytes)
{
  return restore->const_list == NULL
         || find_listed (restore->const_list, name, bytes) != LISTED_OTHER;
}

gboolean
restore_values_are_sound (const Restore *restore, gboolean is_mended, const char *target,
                          GError **error)
{
  for (guint i = 0; restore->constants != NULL && i < restore->constants->len; i++)
    {
      const RestoreConstant *value = restore->constants->pdata[i];
      gboolean is_input = g_str_has_prefix (value->name, "input/");
      const char *list = is_input ? restore->inputs : restore->const_list;
      const char *name = value->name + strlen ("input/"), *what = is_input ? "input" : "constant";
      if (list == NULL ? is_mended : find_listed (list, name, value->value) == LISTED_SAME)
        continue;
      if (list == NULL)
        g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                     "checkpoint '%s' is damaged: nothing proves that its %s '%s' is of this run; "
                     "say --mended to use it all the same, or name another checkpoint",
                     target, what, name);
      else
        g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                     "checkpoint '%s' has the %s '%s' of another run; name another checkpoint",
                     target, what, name);
      return FALSE;
    }
  return TRUE;
}
