/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for sound rows in files that were not checked before: every row that is found was
 * written by stored_seed. */
#include "fuzz.h"
#include "stored.h"

#include "storage/recover/salvage.h"

#include <unistd.h>

const char fuzz_name[] = "salvage";

GBytes *
fuzz_seed (guint n)
{
  return stored_seed (n);
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_autofree char *path = stored_file (data, size);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Sql) sql = salvage_open (path, i == 0 ? STORED_IDENTITY : NULL, 0, &error);
      if (sql != NULL)
        stored_check (sql);
      g_assert (sql == NULL || error == NULL);
    }
  unlink (path);
}
