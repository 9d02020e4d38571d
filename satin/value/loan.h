/* SPDX-License-Identifier: BSD-3-Clause */
/* The values that rooms exchange: a job that leaves a stack, and a result to be saved. The owner of
 * a struct owns everything in it. */
#pragma once

#include "digest.h"
#include "node-id.h"

/* A job that has left a job stack. `loan` is the lender's number for the slot; with the lender's
 * node id it is the return address. A loan with several holders is not changed any more. */
typedef struct
{
  guint64 loan;
  char *path;  /* canonical text; loan_new puts it behind the struct, other memory is freed with the
                * loan */
  guint32 job; /* index in the program's job table */
  Digest digest; /* of job, schema, arguments and constants */
  double weight; /* share of the whole tree, by Knuth's estimate: the root has 1 */
  GBytes *args;  /* GVariant bytes of the argument record */
  gboolean again; /* it is, or is part of, a second computation */
  guint64 held;   /* not 0: the number of a held job that has not begun, see engine_lend; it has no
                   * slot */
  gint others;    /* atomic: number of holders besides the first */
} Loan;

Loan *loan_new (guint64 number, const char *path, guint32 job, const Digest *digest, double weight,
                GBytes *args);
Loan *loan_copy (const Loan *loan);
/* Adds a holder. Any thread. (transfer full) */
Loan *loan_ref (Loan *loan);
/* Frees the arguments, which are not needed any more. Keeps them if there are other holders, or if
 * they are short, for the job's row. */
void loan_drop_args (Loan *loan);
void loan_free (Loan *loan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Loan, loan_free)

/* A row of a frontier: the result of a finished job that is still needed. If `children` is above 0,
 * the state that the unfinished job `path` kept, which replaces the results of its first `children`
 * children. The digest of a kept state differs from that of its job's result. */
typedef struct
{
  const char *path; /* stands behind the struct, since there may be millions of rows */
  guint32 children; /* 0: a result */
  guint32 job;
  Digest digest;
  double weight;
  guint64 work_us;   /* computing time behind this row */
  guint64 began_ms;  /* results only: when the job began, in ms since 1970; 0: not known */
  guint64 took_ms;   /* results only: its duration in ms */
  char *args;        /* (nullable) the arguments, see loan_show_args */
  NodeId node;       /* the node that computed it; none until the protocol fills it in */
  char *type;        /* kept states only: GVariant type string of the value */
  GBytes *value;     /* GVariant bytes of the result or state */
  GPtrArray *shares; /* (nullable) of SatinShared: the shared bytes that the value refers to; the
                      * row holds references */
} Row;

Row *row_new (const char *path, guint32 job, const Digest *digest, double weight, guint64 work_us,
              GBytes *value);
/* A kept state; `children` is above 0. */
Row *row_new_kept (const char *path, guint32 children, guint32 job, const Digest *digest,
                   double weight, const char *type, GBytes *value);
Row *row_copy (const Row *row);
/* loan_show_args: encoded arguments of at most LOAN_SHOWN_MAX bytes as base64, for people; NULL if
 * they are longer or empty. loan_read_args: the bytes of such a text. (transfer full) (nullable) */
#define LOAN_SHOWN_MAX 64
char *loan_show_args (GBytes *args);
GBytes *loan_read_args (const char *text);
void row_free (Row *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Row, row_free)

/* A kept state as it is sent to nodes: the number of children, 4 bytes little-endian, 4 zero bytes,
 * then the state. (transfer full) */
GBytes *row_pack_kept (const Row *row);
/* The state in such bytes. (transfer full) (nullable): NULL: they are no kept state. */
GBytes *row_unpack_kept (GBytes *packed, guint32 *children);
