/* SPDX-License-Identifier: BSD-3-Clause */
/* What crosses between rooms: a job that leaves a stack, and a result that is to be saved. Plain
 * values, copied by pointer; the one who holds the struct owns what it points to. */
#pragma once

#include "digest.h"
#include "node-id.h"

/* A job as it leaves a job stack. `loan` is the lender's number for the slot; with the lender's
 * node id it is the return address. One that several hold is not changed any more. */
typedef struct
{
  guint64 loan;
  char *path;  /* canonical text; of loan_new it stands behind the loan, else it is freed with it */
  guint32 job; /* index in the program's job table */
  Digest digest; /* of job, schema, arguments and constants */
  double weight; /* share of the whole tree, by Knuth's estimate: the root has 1 */
  GBytes *args;  /* GVariant bytes of the argument record */
  gboolean again; /* it, or what it is part of, is computed for the second time */
  guint64 held;  /* not 0: of no slot, but this held job, which nobody has begun: see engine_lend */
  gint others;   /* atomic: how many hold it beside the first */
} Loan;

Loan *loan_new (guint64 number, const char *path, guint32 job, const Digest *digest, double weight,
                GBytes *args);
Loan *loan_copy (const Loan *loan);
/* (transfer full): the same one, for one holder more. Any thread. */
Loan *loan_ref (Loan *loan);
/* They are not needed any more, if nobody else holds it, except for its row, which tells short
 * ones.
 */
void loan_drop_args (Loan *loan);
void loan_free (Loan *loan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Loan, loan_free)

/* One row of a frontier: the result of a finished job that is still needed, or (`children` above 0)
 * the state that the unfinished job `path` kept, which stands for its first so many children. The
 * digest of a kept state is another than that of its job's result. */
typedef struct
{
  const char *path; /* stands behind the row, which may be one of millions */
  guint32 children; /* 0: a result */
  guint32 job;
  Digest digest;
  double weight;
  guint64 work_us;   /* computing time that this row stands for */
  guint64 began_ms;  /* results only: when the job began, unix time; 0: not known */
  guint64 took_ms;   /* … and how long it took from then on */
  char *args;        /* (nullable) the job's: see loan_show_args */
  NodeId node;       /* who computed it; none until the protocol fills it in */
  char *type;        /* kept states only: GVariant type string of the value */
  GBytes *value;     /* GVariant bytes of the result or state */
  GPtrArray *shares; /* of SatinShared: what the value speaks of, kept by the row; NULL: nothing */
} Row;

Row *row_new (const char *path, guint32 job, const Digest *digest, double weight, guint64 work_us,
              GBytes *value);
/* A kept state; `children` is above 0. */
Row *row_new_kept (const char *path, guint32 children, guint32 job, const Digest *digest,
                   double weight, const char *type, GBytes *value);
Row *row_copy (const Row *row);
/* For people alone: encoded arguments of up to LOAN_SHOWN_MAX bytes, in base64. (transfer full)
 * (nullable): NULL: they are longer. loan_read_args: (nullable): such a text's bytes. */
#define LOAN_SHOWN_MAX 64
char *loan_show_args (GBytes *args);
GBytes *loan_read_args (const char *text);
void row_free (Row *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Row, row_free)

/* How a kept state travels to whoever recalls it: the number of children, 4 bytes little-endian,
 * 4 zero bytes, then the state. (transfer full) */
GBytes *row_pack_kept (const Row *row);
/* (transfer full) (nullable): the state; NULL: these are not the bytes of a kept one. */
GBytes *row_unpack_kept (GBytes *packed, guint32 *children);
