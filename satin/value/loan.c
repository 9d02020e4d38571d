/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the life of loans and rows, the two plain values that cross between rooms. Any thread, but
 * one value belongs to one thread at a time. Must not know what the bytes mean. */
#include "config.h"

#include "loan.h"

Loan *
loan_new (guint64 number, const char *path, guint32 job, const Digest *digest, double weight,
          GBytes *args)
{
  Loan *loan = g_new0 (Loan, 1);

  loan->loan = number;
  loan->path = g_strdup (path);
  loan->job = job;
  loan->digest = *digest;
  loan->weight = weight;
  loan->args = args == NULL ? NULL : g_bytes_ref (args);
  return loan;
}

Loan *
loan_copy (const Loan *loan)
{
  return loan_new (loan->loan, loan->path, loan->job, &loan->digest, loan->weight, loan->args);
}

void
loan_free (Loan *loan)
{
  if (loan == NULL)
    return;
  g_free (loan->path);
  g_clear_pointer (&loan->args, g_bytes_unref);
  g_free (loan);
}

Row *
row_new (const char *path, guint32 job, const Digest *digest, double weight, guint64 work_us,
         GBytes *value)
{
  Row *row = g_new0 (Row, 1);

  row->path = g_strdup (path);
  row->job = job;
  row->digest = *digest;
  row->weight = weight;
  row->work_us = work_us;
  row->node = NODE_ID_NONE;
  row->value = value == NULL ? NULL : g_bytes_ref (value);
  return row;
}

Row *
row_copy (const Row *row)
{
  Row *copy = row_new (row->path, row->job, &row->digest, row->weight, row->work_us, row->value);

  copy->node = row->node;
  return copy;
}

void
row_free (Row *row)
{
  if (row == NULL)
    return;
  g_free (row->path);
  g_clear_pointer (&row->value, g_bytes_unref);
  g_free (row);
}
