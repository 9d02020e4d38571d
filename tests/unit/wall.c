/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked with all objects of one room and the archives of the rooms below it, and nothing else: a
 * room that uses a room above it cannot be linked. */
#include <stdio.h>

int
main (void)
{
  puts ("1..1\nok 1 - the room needs nothing above it");
  return 0;
}
