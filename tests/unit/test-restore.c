/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint.h"
int
main (void)
{
  return 0;
}
