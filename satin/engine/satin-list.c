/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_list and satin_text: lists and texts that the running job owns. Any thread.
 * Tests: test-lists, e2e/lists.sh. */
#include "config.h"

#include "list.h"
#include "record.h"

#include <satin.h>

#include <stdarg.h>

void
satin_list_fill_ (const SatinType *item, const void *items, uint64_t n, void *list)
{
  SatinList_ made = { NULL, n, NULL };

  if (n > 0)
    {
      made.held = satin_bytes (list_copy (item, items, n));
      made.at = g_bytes_get_data (made.held, NULL);
    }
  memcpy (list, &made, sizeof made);
}

void
satin_list_join_ (const SatinType *item, const void *a, const void *b, void *list)
{
  const SatinList_ parts[] = { list_at (a), list_at (b) };
  gsize at = 0;
  char *to;

  satin_list_fill_ (item, NULL, parts[0].n + parts[1].n, list);
  to = (char *)list_at (list).at;
  for (guint p = 0; p < G_N_ELEMENTS (parts); at += (gsize)parts[p++].n * item->size)
    {
      gsize size = (gsize)parts[p].n * item->size;

      if (size > 0)
        memcpy (to + at, parts[p].at, size);
      for (gsize k = 0; record_holds (item) && k < size; k += item->size)
        record_ref (item, to + at + k);
    }
}

void
satin_list_set_ (const SatinType *item, void *to, const void *from)
{
  record_copy (item, to, from);
}

SatinText
satin_text (const char *format, ...)
{
  g_autofree char *raw = NULL, *mended = NULL;
  const char *valid;
  SatinText made;
  va_list values;

  va_start (values, format);
  raw = g_strdup_vprintf (format, values);
  va_end (values);
  valid = list_valid_text (raw, &mended);
  made.held = satin_bytes (g_bytes_new (valid, strlen (valid) + 1));
  made.text = g_bytes_get_data (made.held, NULL);
  return made;
}
