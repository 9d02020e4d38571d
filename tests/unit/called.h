/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions that a test plays were called with, a line each, in order. Each test program
 * includes it once, and makes `called`. */
#pragma once

#include <glib.h>

static GString *called;

static void G_GNUC_PRINTF (1, 2) note (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_string_append_vprintf (called, format, list);
  g_string_append_c (called, '\n');
  va_end (list);
}

static inline void
noted (const char *wanted)
{
  g_assert_cmpstr (called->str, ==, wanted);
  g_string_truncate (called, 0);
}
