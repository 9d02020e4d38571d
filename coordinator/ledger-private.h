/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by ledger.c (the work file) and ledger-target.c (the file at the target). */
#pragma once

#include "coordinator/ledger.h"
#include "coordinator/pair.h"
#include "coordinator/proof.h"
#include "coordinator/stamp.h"

/* Rows on their way to a batch. */
typedef struct
{
  Ledger *ledger;
  LedgerBatch batch;
  gpointer data;
  const char *top; /* (nullable) only what lies at or below it */
  GPtrArray *rows; /* of Row */
  gsize bytes;
  char node_text[NODE_ID_TEXT_MAX]; /* the last row's node, as text and read */
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
  Sql *ahead; /* (nullable) what is read while there is no work file yet */
  Results *results;
  Stamp stamp, delta_stamp; /* of target and delta when they were last ours */
  guint64 noted;            /* the generation whose publication stands in the table `event` */
  guint64 numbered;         /* the generation that stands in the work file; 0: not known */
  gboolean has_changed;
  gboolean goes_on; /* with a life of the run that others have begun */
  char *damage;     /* (nullable) a sentence that nobody took yet */
  LedgerStats stats;
  gint64 sweep_us;  /* not before is looked for shared bytes that nothing speaks of */
  LedgerLoad *load; /* (nullable) at the beginning: who is told of the rows that are taken over */
  gboolean has_told_all; /* all rows were told then, and not since */

  guint64 delta_from; /* a base of so many bytes may have a delta */
  guint64 base_bytes; /* of what stands at the target, which has all that the changes of `sql`
                         do not tell of; 0: something else does, or it is too small */
  guint64 base_generation;
  gboolean has_delta;  /* one of this run stands there, and all of it is in the work file */
  gboolean is_blocked; /* what stands there is not of this run */
  gboolean is_stalled; /* publish_lock's: another process keeps its lock */
};

static inline gint64
ledger_now_s (void)
{
  return g_get_real_time () / G_USEC_PER_SEC;
}

/* Rows of `sql` are to be this run's. */
static inline void
ledger_seal (const Ledger *ledger, Sql *sql)
{
  Identity own = ledger->identity;
  own.run = ledger->run;
  proof_seal (sql, &own);
}

/* Ends a transaction that went wrong at some point inside. Returns FALSE. */
gboolean ledger_give_up (Ledger *ledger, GError *reason, GError **error);
void ledger_note_totals (Ledger *ledger);
gboolean ledger_write_generation (Ledger *ledger, GError **error);

/* Can what the row speaks of be written? Is it written, with the row. */
gboolean ledger_has_shares (const Row *row);
gboolean ledger_write_shares (Ledger *ledger, const Row *row, GError **error);
/* Gives the row what it speaks of, by the type of its value. FALSE: that is not there, and the row
 * is of no use; or an error. */
gboolean ledger_load_shares (Ledger *ledger, const char *type, Row *row, GError **error);
/* After rows were written: removes what nothing speaks of. A sweep that was slow is followed by a
 * rest, in which the next ones do nothing, but for the one of the run's end. */
gboolean ledger_sweep_shares (Ledger *ledger, gboolean is_end, GError **error);

void ledger_load_begin (LedgerLoad *load, Ledger *ledger, LedgerBatch batch, gpointer data);
/* ResultsEach and KeepsEach of a LedgerLoad: rows of other programs are passed over. */
gboolean ledger_load_row (const Result *result, gpointer load, GError **error);
gboolean ledger_load_keep (const Keep *keep, gpointer load, GError **error);
/* Hands over what is left, with the word `final` or, if there is nothing, not at all. */
void ledger_load_end (LedgerLoad *load, gboolean final);

/* What stands at the target, if it is of our identity; its run's id is in `found`. TRUE without a
 * base: nothing does. FALSE: not ours. The stamps become those of what was opened. */
gboolean ledger_open_target (Ledger *ledger, Pair *pair, gboolean is_front, Identity *found,
                             GError **error);
/* Makes the base that stands at the target, of which only the front was proved, the work file,
 * without a transaction: its rows are proved and told while its pages are looked at.
 * FALSE: it is not all in order; then it has to be opened again, wholly. */
gboolean ledger_begin_ahead (Ledger *ledger, const char *work_path, const char *identity,
                             const Pair *pair);
/* From now on the reader of the rows that are taken over is told of them by `takeover`. */
static inline void
ledger_tell (const Ledger *ledger, Takeover *takeover)
{
  if (ledger->load == NULL)
    return;
  takeover->each = ledger_load_row;
  takeover->each_keep = ledger_load_keep;
  takeover->data = ledger->load;
}
/* In a transaction: takes all of it over, or only the delta, when the base was. */
gboolean ledger_take_over (Ledger *ledger, const Pair *pair, gboolean has_base, GError **error);
/* A base of so many bytes stands at the target and holds all of the work file. */
void ledger_know_base (Ledger *ledger, guint64 bytes, guint64 generation);
