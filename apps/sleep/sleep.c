/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree whose leaves sleep: it can occupy more cores than the machine has. */
#include <satin.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define BRANCH_MAX 1000
#define LEAVES_MAX 1000000000

SATIN_JOB (nap, int64_t, (int32_t, depth), (int32_t, branch), (int32_t, ms))
{
  int64_t leaves = 0;

  if (depth == 0)
    {
      struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

      while (nanosleep (&left, &left) != 0 && errno == EINTR)
        continue;
      return 1;
    }

  int64_t *parts = g_newa (int64_t, branch);
  for (int32_t i = 0; i < branch; i++)
    satin_spawn (nap, &parts[i], depth - 1, branch, ms);
  satin_sync ();
  for (int32_t i = 0; i < branch; i++)
    leaves += parts[i];
  return leaves;
}

/* FALSE: invalid; a message was printed. */
static gboolean
number (const char *what, const char *text, int32_t least, int32_t greatest, int32_t *value)
{
  gint64 n;

  if (!g_ascii_string_to_signed (text, 10, least, greatest, &n, NULL))
    {
      fprintf (stderr, "sleep: %s must be a number from %d to %d, not '%s'\n", what, least,
               greatest, text);
      return FALSE;
    }
  *value = (int32_t)n;
  return TRUE;
}

static gboolean
options_parse (int argc, char **argv, int32_t *ms, int32_t *depth, int32_t *branch)
{
  for (int i = 1; i < argc; i++)
    {
      gboolean deep = strcmp (argv[i], "--depth") == 0;

      if (deep || strcmp (argv[i], "--branch") == 0)
        {
          if (i + 1 == argc)
            {
              fprintf (stderr, "sleep: %s needs a value\n", argv[i]);
              return FALSE;
            }
          if (!number (argv[i], argv[i + 1], deep ? 0 : 1, deep ? 60 : BRANCH_MAX,
                       deep ? depth : branch))
            return FALSE;
          i++;
        }
      else if (*ms >= 0 || argv[i][0] == '-')
        {
          fprintf (stderr,
                   "sleep: '%s' is one too many; usage: sleep MS [--depth N] [--branch N]\n",
                   argv[i]);
          return FALSE;
        }
      else if (!number ("MS", argv[i], 0, 1000000000, ms))
        return FALSE;
    }
  if (*ms < 0)
    fprintf (stderr, "sleep: MS is missing; usage: sleep MS [--depth N] [--branch N]\n");
  return *ms >= 0;
}

static int
sleep_main (SatinRun *run, int argc, char **argv)
{
  int32_t ms = -1, depth = 6, branch = 2;
  double all = 1;
  int64_t leaves;

  if (!options_parse (argc, argv, &ms, &depth, &branch))
    return 2;
  for (int32_t i = 0; i < depth; i++)
    all *= branch;
  if (all > LEAVES_MAX)
    {
      fprintf (stderr, "sleep: a tree of depth %d and %d branches has more than %d leaves\n", depth,
               branch, LEAVES_MAX);
      return 2;
    }
  if (!satin_root (run, nap, &leaves, depth, branch, ms))
    return satin_stopped (run);
  printf ("leaves %" PRId64 "\n", leaves);
  return 0;
}

SATIN_APP ("sleep", "MS [--depth N] [--branch N]", sleep_main)
