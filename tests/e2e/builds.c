/* SPDX-License-Identifier: BSD-3-Clause */
/* One program in several builds: LEAF is the result of a leaf, VERSION the stated version. Usage:
 * builds DEPTH NAP_MS: a tree of 2^DEPTH leaves that sleep while the file named by NAPS_HASTE does
 * not exist. */
#include <satin.h>

#include <stdlib.h>

SATIN_JOB_DECLARE (branch, int64_t, (int32_t, depth), (int32_t, nap_ms));

SATIN_JOB_DEFINE (branch, int64_t, (int32_t, depth), (int32_t, nap_ms))
{
  int64_t left, right;

  if (depth == 0)
    {
      const char *haste = getenv ("NAPS_HASTE");
      if (haste == NULL || !g_file_test (haste, G_FILE_TEST_EXISTS))
        g_usleep ((gulong)nap_ms * 1000);
      return LEAF;
    }
  satin_spawn (branch, &left, depth - 1, nap_ms);
  satin_spawn (branch, &right, depth - 1, nap_ms);
  satin_sync ();
  return left + right;
}

static int
builds_main (SatinRun *run, int argc, char **argv)
{
  int64_t result;

  if (argc != 3)
    return 2;
  if (!satin_root (run, branch, &result, atoi (argv[1]), atoi (argv[2])))
    return satin_stopped (run);
  g_print ("%" G_GINT64_FORMAT "\n", result);
  return 0;
}

#ifdef VERSION
SATIN_APP_VERSION (VERSION)
#endif
SATIN_APP ("builds", "DEPTH NAP_MS", builds_main)
