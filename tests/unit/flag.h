/* SPDX-License-Identifier: BSD-3-Clause */
/* A flag that one thread of a test sets and others read. */
#pragma once

#include <glib.h>

static inline gboolean
is_set (const gboolean *flag)
{
  return __atomic_load_n (flag, __ATOMIC_SEQ_CST);
}

static inline void
set (gboolean *flag, gboolean to)
{
  __atomic_store_n (flag, to, __ATOMIC_SEQ_CST);
}
