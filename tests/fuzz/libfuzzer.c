/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects the target with clang's libFuzzer. With SATIN_FUZZ_SEEDS=FOLDER it first writes the
 * seeds to FOLDER. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);
int LLVMFuzzerInitialize (int *argc, char ***argv);

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  const char *folder = g_getenv ("SATIN_FUZZ_SEEDS");
  (void)argc, (void)argv;
  for (guint i = 0; folder != NULL; i++)
    {
      g_autoptr (GBytes) seed = fuzz_seed (i);
      if (seed == NULL)
        break;
      g_autofree char *path = g_strdup_printf ("%s/seed-%u", folder, i);
      gsize size;
      const char *data = g_bytes_get_data (seed, &size);
      g_file_set_contents (path, data, (gssize)size, NULL);
    }
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  fuzz_one (data, size);
  return 0;
}
