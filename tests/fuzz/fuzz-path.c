/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: a canonical path is written as the same text. */
#include "fuzz.h"

#include "path.h"

#include <string.h>

const char fuzz_name[] = "path";

GBytes *
fuzz_seed (guint n)
{
  static const char *const seeds[] = {
    "", "/0", "/0/3/1", "/4294967295/0", "~0123456789abcdef/1/2", "/00", "/1/2/3/4/5/6/7", "12:/0/3"
  };
  return n < G_N_ELEMENTS (seeds) ? g_bytes_new_static (seeds[n], strlen (seeds[n])) : NULL;
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup (size > 0 ? (const char *)data : "", size);
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  char id[17];
  guint32 root;
  gboolean is_canonical = path_is_canonical (text);
  (void)stems_add (stems, "0123456789abcdef", text);
  (void)path_stem (text, id);
  (void)path_is_below (stems, text, "/0");
  gboolean has_numbers = path_to_numbers (stems, text, &root, numbers);
  g_assert (is_canonical || !has_numbers);
  if (!has_numbers)
    return;
  g_autofree char *start = path_of_root (root);
  g_autofree char *again
      = path_extend (stems, start, (const guint32 *)(void *)numbers->data, numbers->len);
  g_assert_cmpstr (again, ==, text);
}
