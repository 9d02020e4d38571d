/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates and frees loans and rows. Any thread, but one value belongs to one thread at a time.
 * Does not interpret the bytes. */
#include "config.h"

#include "loan.h"

#include <string.h>

#define PACKED_HEAD_BYTES 8 /* so that the state behind it is aligned */

Loan *
loan_new (guint64 number, const char *path, guint32 job, const Digest *digest, double weight,
          GBytes *args)
{
  gsize size = strlen (path) + 1;
  Loan *loan = g_malloc (sizeof *loan + size);

  *loan = (Loan){ .path = memcpy (loan + 1, path, size) };
  loan->loan = number;
  loan->job = job;
  loan->digest = *digest;
  loan->weight = weight;
  loan->args = args == NULL ? NULL : g_bytes_ref (args);
  return loan;
}

Loan *
loan_copy (const Loan *loan)
{
  Loan *copy
      = loan_new (loan->loan, loan->path, loan->job, &loan->digest, loan->weight, loan->args);

  copy->held = loan->held;
  copy->again = loan->again;
  return copy;
}

Loan *
loan_ref (Loan *loan)
{
  g_atomic_int_inc (&loan->others);
  return loan;
}

void
loan_drop_args (Loan *loan)
{
  if (g_atomic_int_get (&loan->others) == 0 && loan->args != NULL
      && g_bytes_get_size (loan->args) > LOAN_SHOWN_MAX)
    g_clear_pointer (&loan->args, g_bytes_unref);
}

void
loan_free (Loan *loan)
{
  if (loan == NULL || g_atomic_int_add (&loan->others, -1) > 0)
    return;
  if (loan->path != (char *)(loan + 1))
    g_free (loan->path);
  g_clear_pointer (&loan->args, g_bytes_unref);
  g_free (loan);
}

Row *
row_new (const char *path, guint32 job, const Digest *digest, double weight, guint64 work_us,
         GBytes *value)
{
  gsize size = strlen (path) + 1;
  Row *row = g_malloc (sizeof *row + size);

  *row = (Row){ .path = memcpy (row + 1, path, size),
                .job = job,
                .digest = *digest,
                .weight = weight,
                .work_us = work_us,
                .node = NODE_ID_NONE,
                .value = value == NULL ? NULL : g_bytes_ref (value) };
  return row;
}

Row *
row_new_kept (const char *path, guint32 children, guint32 job, const Digest *digest, double weight,
              const char *type, GBytes *value)
{
  Row *row = row_new (path, job, digest, weight, 0, value);

  g_assert (children > 0 && type != NULL);
  row->children = children;
  row->type = g_strdup (type);
  return row;
}

Row *
row_copy (const Row *row)
{
  Row *copy = row_new (row->path, row->job, &row->digest, row->weight, row->work_us, row->value);

  copy->node = row->node;
  copy->children = row->children;
  copy->began_ms = row->began_ms;
  copy->took_ms = row->took_ms;
  copy->args = g_strdup (row->args);
  copy->type = g_strdup (row->type);
  copy->shares = row->shares == NULL ? NULL : g_ptr_array_ref (row->shares);
  return copy;
}

char *
loan_show_args (GBytes *args)
{
  gsize size = args != NULL ? g_bytes_get_size (args) : 0;

  if (size == 0 || size > LOAN_SHOWN_MAX)
    return NULL;
  return g_base64_encode (g_bytes_get_data (args, NULL), size);
}

GBytes *
loan_read_args (const char *text)
{
  gsize size;

  if (text == NULL || text[0] == '\0')
    return NULL;
  guchar *bytes = g_base64_decode (text, &size);
  return g_bytes_new_take (bytes, size);
}

void
row_free (Row *row)
{
  if (row == NULL)
    return;
  g_free (row->args);
  g_free (row->type);
  g_clear_pointer (&row->value, g_bytes_unref);
  g_clear_pointer (&row->shares, g_ptr_array_unref);
  g_free (row);
}

GBytes *
row_pack_kept (const Row *row)
{
  guint32 head[] = { GUINT32_TO_LE (row->children), 0 };
  gsize size;
  const void *state = g_bytes_get_data (row->value, &size);
  guint8 *packed = g_malloc (PACKED_HEAD_BYTES + size);

  G_STATIC_ASSERT (sizeof head == PACKED_HEAD_BYTES);
  memcpy (packed, head, sizeof head);
  if (size > 0)
    memcpy (packed + PACKED_HEAD_BYTES, state, size);
  return g_bytes_new_take (packed, PACKED_HEAD_BYTES + size);
}

GBytes *
row_unpack_kept (GBytes *packed, guint32 *children)
{
  guint32 head[2];
  gsize size;
  const void *data = g_bytes_get_data (packed, &size);

  if (size < sizeof head)
    return NULL;
  memcpy (head, data, sizeof head);
  if (head[0] == 0 || head[1] != 0)
    return NULL;
  *children = GUINT32_FROM_LE (head[0]);
  return g_bytes_new_from_bytes (packed, sizeof head, size - sizeof head);
}
