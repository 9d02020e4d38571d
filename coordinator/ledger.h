/* SPDX-License-Identifier: BSD-3-Clause */
/* The checkpoint as the scribe sees it: the work file, the take-over into it, a batch written, a
 * copy published. Owned by one thread at a time; blocks on the disk; has no queue, and no clock but
 * wall time. */
#pragma once

#include "coordinator/identity.h"
#include "coordinator/inbox.h"
#include "coordinator/left.h"

#include "path.h"

typedef struct Ledger Ledger;

/* `rows`: of Row. */
typedef void (*LedgerBatch) (GPtrArray *rows, gboolean final, gpointer data);

typedef struct
{
  const char *work_path, *target;                  /* target "": nothing is ever published */
  const char *name;                                /* (nullable) what messages call the target */
  const char *const *job_names, *const *job_types; /* NULL-terminated; copied */
  const char *const *job_args; /* (nullable) the same, types of arguments: rows tell some, then */
  Stems *stems;                                    /* borrowed */
  /* (nullable) keeps a damaged target, or its delta, under another name: aside_keep, if it is not
   * given. */
  char *(*keep_aside) (gpointer data, const char *path, const char *word, GError **error);
  gpointer data;
  gboolean goes_on;     /* see scribe.h */
  guint64 delta_from;   /* a base of so many bytes may have a delta beside it; 0: 16 MiB */
  gboolean reads_only;  /* what stands at the target is taken over; it is not changed or locked */
  gboolean is_unmarked; /* nobody would look for a delta beside what stands at the target now */
  /* (nullable) told of all rows while they are taken over, by whoever calls ledger_new, and never
   * with `final`; they are proved, whatever comes of the rest of the file. */
  LedgerBatch batch;
  gpointer batch_data;
} LedgerConfig;

/* See scribe_new. Errors are of COORDINATOR_ERROR, here and below. */
Ledger *ledger_new (const LedgerConfig *config, Identity *identity, GError **error);
void ledger_free (Ledger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Ledger, ledger_free)

/* Writes all of `inbox` in one transaction. FALSE: write it again; nothing of it is written, or all
 * when only the end of the commit failed. */
gboolean ledger_write (Ledger *ledger, const Inbox *inbox, GError **error);
typedef struct
{
  guint64 generation;
  gboolean is_delta;      /* only "TARGET-delta" was made; else a new base stands at the target */
  gboolean may_get_delta; /* a later publication may do so for this base */
  gboolean takes_delta;   /* this base holds the delta that stood there, which is to go */
} Publication;

/* Publishes: a base with everything, or, while a large one of ours stands at the target, the delta
 * beside it with all that came since. `final`: a base, and no delta. What stands at the target and
 * was not written by this ledger is united with ours first, or, when it is of another run, left
 * alone. */
gboolean ledger_publish (Ledger *ledger, gboolean final, Publication *made, GError **error);
/* The last publication did not get where it should: there is something to be published.
 * `lost_base`: and no base of ours may stand there. */
void ledger_touch (Ledger *ledger, gboolean lost_base);
/* Publishes to `path`, in a folder of this machine, for somebody to find. */
gboolean ledger_keep (Ledger *ledger, const char *path, GError **error);
/* TRUE: something was written since the last publication; `final`: or there is a delta, which a
 * last publication does away with. */
gboolean ledger_has_changed (const Ledger *ledger, gboolean final);

/* (transfer none): what messages call the target. */
const char *ledger_name (const Ledger *ledger);
/* (transfer full) (nullable): once, what was wrong with a file that was taken over. */
char *ledger_take_damage (Ledger *ledger);

/* Calls `batch` with arrays of Row, the last time with `final`, whatever happens: the rows and kept
 * states at or below `path`, NULL: all. The first time that all are asked for, those that were told
 * while they were taken over are not told again. */
gboolean ledger_load (Ledger *ledger, const char *path, LedgerBatch batch, gpointer data,
                      GError **error);
/* TRUE: then everybody is told nothing but the end. */
gboolean ledger_has_told_all (const Ledger *ledger);

/* One look at all saved rows. FALSE, nothing looked at: they are too many or too large, the file
 * cannot be read now, or a job has kept phases, of which nobody knows how many follow. */
gboolean ledger_look (Ledger *ledger, Left *left);

typedef struct
{
  guint64 saves, rows, saved_rows, generation, bytes;
  double done;
} LedgerStats;
LedgerStats ledger_stats (const Ledger *ledger);
