/* SPDX-License-Identifier: BSD-3-Clause */
/* See own-fds.h. A plain table of bits: a forked process may read it at any moment. */
#include "own-fds.h"

#include <glib.h>
#include <pthread.h>
#include <unistd.h>

#define FDS_MAX 65536 /* greater descriptors are inherited */
#define BITS 32

static guint own_bits[FDS_MAX / BITS]; /* atomic */

static void
on_forked (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (own_bits); i++)
    for (guint left = g_atomic_int_get (&own_bits[i]); left != 0; left &= left - 1)
      (void)close ((int)(i * BITS) + __builtin_ctz (left));
}

void
own_fds_add (int fd)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      (void)pthread_atfork (NULL, NULL, on_forked);
      g_once_init_leave (&once, 1);
    }
  if (fd >= 0 && fd < FDS_MAX)
    (void)g_atomic_int_or (&own_bits[fd / BITS], 1u << fd % BITS);
}

void
own_fds_remove (int fd)
{
  if (fd >= 0 && fd < FDS_MAX)
    (void)g_atomic_int_and (&own_bits[fd / BITS], ~(1u << fd % BITS));
}
