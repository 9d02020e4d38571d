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
  const char *const *job_args; /* (nullable) the same, types of arguments: rows then have short
                                  arguments as text */
  Stems *stems;                                    /* borrowed */
  /* (nullable) keeps a damaged target, or its delta, under another name: aside_keep, if it is not
   * given. */
  char *(*keep_aside) (gpointer data, const char *path, const char *word, GError **error);
  gpointer data;
  gboolean goes_on;     /* see scribe.h */
  guint64 delta_from;   /* a base of this many bytes may have a delta beside it; 0: 16 MiB */
  gboolean reads_only;  /* the file at the target is taken over; it is not changed or locked */
  gboolean is_unmarked; /* no reader would look for a delta beside the file at the target now */
  /* (nullable) called with all rows while they are taken over, in the thread that calls ledger_new,
   * and never with `final`; the rows are proved, even if the rest of the file fails. */
  LedgerBatch batch;
  gpointer batch_data;
} LedgerConfig;

/* See scribe_new. Errors are of COORDINATOR_ERROR, here and below. */
Ledger *ledger_new (const LedgerConfig *config, Identity *identity, GError **error);
void ledger_free (Ledger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Ledger, ledger_free)

/* Writes all of `inbox` in one transaction. FALSE: write the inbox again; nothing of it is written,
 * or all of it if only the end of the commit failed. The last batch of a run (`present`) is synced
 * by its publication alone. */
gboolean ledger_write (Ledger *ledger, const Inbox *inbox, GError **error);
typedef struct
{
  guint64 generation;
  gboolean is_delta;      /* only "TARGET-delta" was made; else a new base stands at the target */
  gboolean may_get_delta; /* a later publication may do so for this base */
  gboolean takes_delta;   /* this base contains the delta that stood there, which is to be
                             removed */
} Publication;

/* Publishes: a base with all rows, or, while a large base of ours stands at the target, the delta
 * beside it with all rows since. `final`: a base, and no delta. If another writer's file stands at
 * the target, it is united with ours first, or, if it is of another run, left alone. */
gboolean ledger_publish (Ledger *ledger, gboolean final, Publication *made, GError **error);
/* The last publication did not reach its place, so there is something to be published. `lost_base`:
 * perhaps no base of ours stands there. */
void ledger_touch (Ledger *ledger, gboolean lost_base);
/* Publishes to `path`, in a folder of this machine, for a person to find. */
gboolean ledger_keep (Ledger *ledger, const char *path, GError **error);
/* TRUE: something was written since the last publication; `final`: or there is a delta, which a
 * last publication removes. */
gboolean ledger_has_changed (const Ledger *ledger, gboolean final);

/* (transfer none): the name of the target in messages. */
const char *ledger_name (const Ledger *ledger);
/* (transfer full) (nullable): once, what was wrong with a file that was taken over. */
char *ledger_take_damage (Ledger *ledger);

/* Calls `batch` with arrays of Row, the last time with `final`, whatever happens: the rows and kept
 * states at or below `path`, NULL: all. The first request for all rows leaves out those that were
 * reported while they were taken over. */
gboolean ledger_load (Ledger *ledger, const char *path, LedgerBatch batch, gpointer data,
                      GError **error);
/* TRUE: the first request for all rows then reports only the end. */
gboolean ledger_has_told_all (const Ledger *ledger);

/* Reads all saved rows once. FALSE, and none read: they are too many or too large, the file cannot
 * be read now, or a job has kept phases, since nobody knows how many follow. */
gboolean ledger_look (Ledger *ledger, Left *left);

typedef struct
{
  guint64 saves, rows, saved_rows, generation, bytes;
  double done;
} LedgerStats;
LedgerStats ledger_stats (const Ledger *ledger);
