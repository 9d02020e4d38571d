/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of outside.c, compiled as C++. With two arguments a job throws an exception that its
 * parent would catch; with three many jobs throw at once; with four main throws. */
#include <satin.h>

#include <stdexcept>
#include <stdlib.h>

SATIN_JOB (sum, int64_t, (int32_t, low), (int32_t, high))
{
  if (high - low == 1)
    return low;

  int64_t x, y;
  satin_spawn (sum, &x, low, (low + high) / 2);
  satin_spawn (sum, &y, (low + high) / 2, high);
  satin_sync ();
  return x + y;
}

SATIN_JOB (thrower, int64_t, (int32_t, low))
{
  if (low > 0)
    throw std::runtime_error ("thrown by a job");
  return low;
}

SATIN_JOB (catcher, int64_t, (int32_t, low))
{
  int64_t x = 0;

  try
    {
      satin_spawn (thrower, &x, low);
      satin_sync ();
    }
  catch (const std::runtime_error &)
    {
      x = -1;
    }
  return x;
}

SATIN_JOB (throwers, int64_t, (int32_t, n))
{
  int64_t x, y;

  if (n == 0)
    return satin_call (thrower, 1);
  satin_spawn (throwers, &x, n - 1);
  satin_spawn (throwers, &y, n - 1);
  satin_sync ();
  return x + y;
}

static int
sum_main (SatinRun *run, int argc, char **argv)
{
  int64_t result;

  if (argc == 5)
    throw std::runtime_error ("thrown by main");
  if (argc == 4)
    return satin_root (run, throwers, &result, 10) ? 0 : satin_stopped (run);
  if (argc == 3)
    {
      if (!satin_root (run, catcher, &result, atoi (argv[2])))
        return satin_stopped (run);
      g_print ("%" G_GINT64_FORMAT "\n", result);
      return 0;
    }
  if (argc != 2)
    {
      g_printerr ("usage: sum N\n");
      return 2;
    }
  if (!satin_root (run, sum, &result, 0, atoi (argv[1])))
    return satin_stopped (run);
  g_print ("%" G_GINT64_FORMAT "\n", result);
  return 0;
}

SATIN_APP ("sum", "N", sum_main)
