/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file as a checkpoint: it is opened, salvaged or refused. Every row that is read was written
 * by stored_seed. */
#include "fuzz.h"
#include "stored.h"

#include "storage/recover/guard.h"

#include <unistd.h>

const char fuzz_name[] = "checkpoint";

GBytes *
fuzz_seed (guint n)
{
  return stored_seed (n);
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = stored_file (data, size);
  g_autoptr (Sql) sql = guard_open (path, STORED_IDENTITY, &error);

  if (sql != NULL)
    stored_check (sql);
  g_assert (sql == NULL || error == NULL);
  unlink (path);
}
