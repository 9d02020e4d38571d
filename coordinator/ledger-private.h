/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by ledger.c (the work file) and ledger-target.c (the file at the target). */
#pragma once

#include "coordinator/ledger.h"
#include "coordinator/pair.h"
#include "coordinator/proof.h"
#include "coordinator/stamp.h"

/* Rows that are collected for a batch. */
typedef struct
{
  Ledger *ledger;
  LedgerBatch batch;
  gpointer data;
  const char *top; /* (nullable) only rows at or below it */
  GPtrArray *rows; /* of Row */
  gsize bytes;
  char node_text[NODE_ID_TEXT_MAX]; /* the last row's node, as text and parsed */
  NodeId node;
} LedgerLoad;

struct Ledger
{
  char *target, *delta, *name,
      *run; /* delta: its path; name (nullable): of the target, for people */
  char *(*keep_aside) (gpointer data, const char *path, const char *word, GError **error);
  gpointer data;
  char **job_names, **job_types, **job_args; /* job_args: nullable */
  guint n_jobs;
  Stems *stems;
  Identity identity; /* only app, schema, argv, identity and build: to compare with */
  Sql *sql;
  Sql *ahead; /* (nullable) the file that is read while there is no work file yet */
  Results *results;
  Stamp stamp, delta_stamp; /* of target and delta when they were last known to be ours */
  guint64 noted;            /* the generation whose publication stands in the table `event` */
  guint64 numbered;         /* the generation in the work file; 0: not known */
  gboolean has_changed;
  gboolean goes_on; /* continues a life of the run that other nodes have begun */
  char *damage;     /* (nullable) a sentence that was not yet taken */
  LedgerStats stats;
  gint64 sweep_us;  /* no sweep of unused shared bytes before then */
  LedgerLoad *load; /* (nullable) at the beginning: the receiver of the rows that are taken over */
  gboolean has_told_all; /* all rows were reported then, and not again since */

  guint64 delta_from; /* a base of this many bytes may have a delta */
  guint64 base_bytes; /* size of our base at the target, which has all rows but those in the changes
                         of `sql`; 0: another file stands there, or the base is too small */
  guint64 base_generation;
  gboolean has_delta;  /* a delta of this run stands there, and the work file has all its rows */
  gboolean is_blocked; /* the file with the delta's name is not of this run */
  gboolean is_stalled; /* of publish_lock: another process keeps its lock */
};

static inline gint64
ledger_now_s (void)
{
  return g_get_real_time () / G_USEC_PER_SEC;
}

/* Makes the rows of `sql` this run's. */
static inline void
ledger_seal (const Ledger *ledger, Sql *sql)
{
  Identity own = ledger->identity;
  own.run = ledger->run;
  proof_seal (sql, &own);
}

/* Rolls back a transaction in which an error occurred. Returns FALSE. */
gboolean ledger_give_up (Ledger *ledger, GError *reason, GError **error);
void ledger_note_totals (Ledger *ledger);
gboolean ledger_write_generation (Ledger *ledger, GError **error);

/* TRUE: the row has the shared bytes that it refers to; then ledger_write_shares writes them with
 * the row. */
gboolean ledger_has_shares (const Row *row);
gboolean ledger_write_shares (Ledger *ledger, const Row *row, GError **error);
/* Gives the row the shared bytes that it refers to, by the type of its value. FALSE: they are not
 * there, so the row is of no use; or an error. */
gboolean ledger_load_shares (Ledger *ledger, const char *type, Row *row, GError **error);
/* After rows were written: removes shared bytes that no row refers to. After a slow sweep the next
 * calls do nothing for a while, except at the run's end. */
gboolean ledger_sweep_shares (Ledger *ledger, gboolean is_end, GError **error);

void ledger_load_begin (LedgerLoad *load, Ledger *ledger, LedgerBatch batch, gpointer data);
/* ResultsEach and KeepsEach of a LedgerLoad: rows of other programs are skipped. */
gboolean ledger_load_row (const Result *result, gpointer load, GError **error);
gboolean ledger_load_keep (const Keep *keep, gpointer load, GError **error);
/* Passes on the remaining rows. Without rows it calls the batch only if `final`. */
void ledger_load_end (LedgerLoad *load, gboolean final);

/* Opens the file at the target, if it is of our identity; `found` gets its run's id. TRUE without a
 * base: there is no file. FALSE: it is not ours. The stamps become those of the opened files. */
gboolean ledger_open_target (Ledger *ledger, Pair *pair, gboolean is_front, Identity *found,
                             GError **error);
/* Makes the base at the target, of which only the front was proved, the work file, without a
 * transaction: proves and reports its rows while another thread checks its pages. FALSE: the file
 * is damaged; then it has to be opened again as a whole. */
gboolean ledger_begin_ahead (Ledger *ledger, const char *work_path, const char *identity,
                             const Pair *pair);
/* From now on `takeover` reports the rows that it takes over. */
static inline void
ledger_tell (const Ledger *ledger, Takeover *takeover)
{
  if (ledger->load == NULL)
    return;
  takeover->each = ledger_load_row;
  takeover->each_keep = ledger_load_keep;
  takeover->data = ledger->load;
}
/* In a transaction: takes the pair over, or only the delta, if the base was taken over before. */
gboolean ledger_take_over (Ledger *ledger, const Pair *pair, gboolean has_base, GError **error);
/* A base of this many bytes is at the target and contains all rows of the work file. */
void ledger_know_base (Ledger *ledger, guint64 bytes, guint64 generation);
