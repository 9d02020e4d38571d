/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches in each round a tree for the one leaf that holds the round's secret. The first result
 * ends the search on all nodes. The leaves that are not searched would take several times longer
 * than a test may. Some jobs also abort children whose results nobody wants. Prints "first right"
 * if every round found its leaf. */
#include <satin.h>

#include <stdlib.h>

#define BRANCHES 6

SATIN_RECORD (Place, (uint32_t, round), (uint64_t, number), (uint64_t, wanted))

static uint64_t
mix (uint64_t x)
{
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/* The work of a leaf, long enough to be aborted in the middle. */
static uint64_t
hash (uint64_t number, uint32_t turns)
{
  while (turns-- > 0)
    number = mix (number + 0x9e3779b97f4a7c15U);
  return number | 1;
}

/* Nobody wants the result of this job. It runs until it is aborted; a result that it returned would
 * be wrong. It ends after a while even so, because a thread that waits for a stolen sibling may run
 * it, and then nothing aborts it. */
SATIN_JOB (idle, uint64_t, (uint64_t, number))
{
  for (uint32_t i = 0; i < 50000 && !satin_aborted (); i++)
    number = hash (number, 1000);
  return number;
}

/* The hash of the wanted leaf if the leaf lies below this place, else 0. */
SATIN_JOB (search, uint64_t, (Place, place), (int32_t, depth), (uint32_t, turns))
{
  uint64_t found[BRANCHES] = { 0 }, never;
  int32_t number, before = 0;

  if (depth == 0)
    {
      uint64_t value = place.number;

      for (int i = 0; i < 16 && !satin_aborted (); i++)
        value = hash (value, turns);
      return place.number == place.wanted ? value : 0;
    }
  if (depth == 2 && place.number % 4 == 0)
    {
      satin_spawn (idle, &never, place.number); /* the oldest child, so thieves take it */
      before = 1;
    }
  for (uint32_t i = 0; i < BRANCHES; i++)
    {
      Place child = place;

      child.number = place.number * BRANCHES + i;
      satin_spawn (search, &found[i], child, depth - 1, turns);
    }
  for (int32_t left = BRANCHES; left > 0;)
    {
      number = satin_sync_next ();
      left -= number >= before;
      if (number >= before && found[number - before] != 0)
        break;
    }
  satin_abort ();
  for (uint32_t i = 0; i < BRANCHES; i++)
    if (found[i] != 0)
      return found[i];
  return 0;
}

/* Runs one round after the other and returns a checksum of the results. */
SATIN_JOB (rounds, uint64_t, (int32_t, n), (int32_t, depth), (uint32_t, turns))
{
  uint64_t sum = 0;

  for (int32_t round = 0; round < n; round++)
    {
      uint64_t places = 1, found;
      Place place = { (uint32_t)round, 0, 0 };

      for (int32_t i = 0; i < depth; i++)
        places *= BRANCHES;
      place.wanted = mix ((uint64_t)round) % places;
      satin_spawn (search, &found, place, depth, turns);
      satin_sync ();
      sum = sum * 31 + found;
    }
  return sum;
}

static int
first_main (SatinRun *run, int argc, char **argv)
{
  int32_t n = argc > 1 ? atoi (argv[1]) : 4, depth = argc > 2 ? atoi (argv[2]) : 5;
  uint32_t turns = argc > 3 ? (uint32_t)atoi (argv[3]) : 1000;
  uint64_t got, sum = 0;

  if (!satin_root (run, rounds, &got, n, depth, turns))
    return satin_stopped (run);
  for (int32_t round = 0; round < n; round++)
    {
      uint64_t places = 1, value;

      for (int32_t i = 0; i < depth; i++)
        places *= BRANCHES;
      value = mix ((uint64_t)round) % places;
      for (int i = 0; i < 16; i++)
        value = hash (value, turns);
      sum = sum * 31 + value;
    }
  printf ("first %s\n", got == sum ? "right" : "WRONG");
  return got != sum;
}

SATIN_APP ("first", "[ROUNDS [DEPTH [TURNS]]]", first_main)
