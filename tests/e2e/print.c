/* SPDX-License-Identifier: BSD-3-Clause */
/* An answer of any size. print MB [GATE]: when the file GATE exists, main prints MB million bytes
 * of numbered lines. Looking at a file breaks the first law on purpose: the test decides when the
 * answer begins. */
#include <satin.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

SATIN_JOB (half, int32_t, (int32_t, n))
{
  return n / 2;
}

static int
print_main (SatinRun *run, int argc, char **argv)
{
  struct timespec rest = { 0, 20 * 1000 * 1000 };
  int32_t result;

  if (argc < 2 || !satin_root (run, half, &result, atoi (argv[1])))
    return argc < 2 ? 2 : satin_stopped (run);
  while (argc > 2 && access (argv[2], F_OK) != 0)
    nanosleep (&rest, NULL);
  for (long i = 0; i < atol (argv[1]) * 10000; i++)
    printf ("%099ld\n", i); /* 100 bytes */
  return 0;
}

SATIN_APP ("print", "MB [GATE]", print_main)
