/* SPDX-License-Identifier: BSD-3-Clause */
/* The coordinator's thread. It owns the work file (SQLite, in the run's folder), appends rows in
 * one transaction for each batch, with compaction in it, and at each interval publishes a verified
 * copy to the target (temporary file beside it, fsync, rename, fsync of the folder). All calls
 * return at once, from any one thread; the scribe reports by `notify`, which it calls in its own
 * thread. */
#pragma once

#include "coordinator/identity.h" /* Identity, COORDINATOR_ERROR */
#include "coordinator/left.h"

#include "loan.h"
#include "path.h"

#include <glib.h>

typedef struct Scribe Scribe;

typedef enum
{
  SCRIBE_RESTORED,  /* rows: a batch of saved rows; `final` on the last batch of the request */
  SCRIBE_PUBLISHED, /* generation; final: it answers scribe_finish or scribe_offer */
  /* error: writing or publishing failed, reported at most once a minute; the scribe tries again.
   * Also once for a damaged file that was taken over: what was kept of it, and under which name.
   * With `final` (always reported): it answers scribe_finish, the saved rows stay unpublished, and
   * the sentence says where they are kept. Also when publishing takes so long that the interval is
   * lengthened. */
  SCRIBE_TROUBLE,
  SCRIBE_FAILED /* the same, without an error, because one was reported a moment ago */
} ScribeNewsKind;

typedef struct
{
  ScribeNewsKind kind;
  GPtrArray *rows;  /* of Row; not touched after the call, so that a reference may be kept */
  const char *path; /* restored, with `final`: the path that scribe_load asked for (nullable) */
  gboolean final;
  gboolean failed; /* trouble: something could not be written, read or published */
  guint64 generation;
  guint64 ticket;      /* published: everything up to this one (scribe_ticket) */
  guint64 commit_us;   /* published: how long it took, as for a file of a bid's size; 0: nothing was
                          to be published */
  guint64 rest_us;     /* published: not before so long is the next publication worth its cost */
  const GError *error; /* of COORDINATOR_ERROR; a whole sentence that names the file */
} ScribeNews;          /* borrowed for the call */

typedef struct
{
  const char *work_path; /* created anew */
  const char *target; /* the published file, a path or a URI; "" : work file only (no publishing) */
  const char *copy;   /* (nullable) the copy that restore_look_for made of the file at the URI; used
                         up */
  const char *spare;  /* (nullable) where the checkpoint is kept when the last publication fails;
                         its folder need not exist */
  guint64 interval_us;
  gboolean is_thrifty; /* the interval is longer if publishing is not worth its cost (pace.h) */
  guint64 delta_from; /* a published file of this many bytes may be followed by deltas; 0: the
                         default (ledger.h) */
  guint term;         /* of this coordinator in the run; coordinators of earlier terms are
                         deposed */
  gboolean goes_on;   /* continues a life of the run in which other nodes were coordinators: the
                         scribe is told which nodes have left. Else all in the file have left */
  guint64 least;      /* the lowest generation that may stand at the target; 0: any, or no file */
  const char *const *job_names; /* the job table, NULL-terminated, for the `job` column */
  const char *const *job_types; /* GVariant type strings of the results, same order */
  const char *const *job_args;  /* … and of the arguments; NULL: no row tells any */
  Stems *stems;                 /* borrowed */
  /* Reports all rows, by SCRIBE_RESTORED without `final`, while scribe_new takes them over and in
   * the caller's thread. The first scribe_load of all rows then reports only the end. */
  gboolean loads;
  /* The file at the target, a path, is taken over and stays as it is: nothing is published, and
   * another process may be its coordinator. The thread only answers requests. */
  gboolean reads_only;
  void (*notify) (const ScribeNews *news, void *data);
  void *data;
} ScribeConfig;

/* Makes the work file and starts the thread. When a file stands at the target it must pass the
 * checks of restore.h against `identity` (whose `run` is then replaced by the file's), and
 * everything in it is taken over before this returns: it blocks on the disk, the only call here
 * that does. Fails before anything at the target is changed: not writable folder, foreign file,
 * another identity, newer format. Nothing in `config` but stems, notify and data is needed after
 * the call. */
Scribe *scribe_new (const ScribeConfig *config, Identity *identity, GError **error);
/* Ends the thread after the queue is written (not published). */
void scribe_free (Scribe *scribe);

/* Rows of a frontier. (transfer full: array and rows) A row below a saved one is dropped; rows
 * below a new one are removed; its work_us includes theirs. Same path and digest: the first stays,
 * of kept states the one that stands for most children; other digest: the newer stays. */
void scribe_save (Scribe *scribe, GPtrArray *rows);
/* All rows and values given so far bear this number, which grows; SCRIBE_PUBLISHED returns it. */
void scribe_ticket (Scribe *scribe, guint64 ticket);
/* The other tables: constant, best, node. */
void scribe_constant (Scribe *scribe, const char *name, const char *type, GBytes *value);
/* `text` (nullable): the value as people see it, for an event. */
void scribe_best (Scribe *scribe, const char *name, const char *type, GBytes *value,
                  const char *text);
/* A member of the run. After scribe_new the driver calls this for all present members. */
void scribe_joined (Scribe *scribe, const NodeId *id, const char *host, const char *site,
                    const char *address);
/* One row of the ledger. path, detail (nullable). The scribe itself adds an event for each
 * publication. */
void scribe_event (Scribe *scribe, const char *kind, const NodeId *node, const char *path,
                   guint64 work_us, const char *detail);
/* The same for an event of that age, which the table may already have: then it does not become
 * another row. An event of kind "joined" (detail: the host) or "left" (detail: why) also goes into
 * the table `node`. */
void scribe_told (Scribe *scribe, const char *kind, const NodeId *node, const char *path,
                  guint64 work_us, const char *detail, gint64 age_us);
/* This life of the run ends with these nodes (of NodeId): all others in the file have left. */
void scribe_present (Scribe *scribe, const GArray *ids);
/* The first answer stays: stdout bytes and exit code of main. */
void scribe_answer (Scribe *scribe, GBytes *answer, int exit_code);

/* Asks for the saved rows and kept states of the job at `path` and of all below it; NULL: for all.
 * Answered by SCRIBE_RESTORED batches, in the order of the requests. They include all rows that
 * were saved before, published or not. */
void scribe_load (Scribe *scribe, const char *path);
/* Writes and publishes now, and answers with `final`: SCRIBE_PUBLISHED, or SCRIBE_TROUBLE with the
 * error when it failed. When nothing changed since the last publication it answers at once with
 * that generation. */
void scribe_finish (Scribe *scribe);
/* The same if it is worth its cost (pace.h). Else the rows wait in the inbox, and the answer tells
 * the generation and the ticket of the last publication, and the time until it is worth it. After
 * the first such call the scribe waits longer before it publishes by itself: the next call is
 * expected first. */
void scribe_offer (Scribe *scribe);

typedef struct
{
  guint64 saves;       /* batches written */
  guint64 rows;        /* rows in the work file */
  guint64 saved_rows;  /* rows ever written */
  guint64 generation;  /* last published; 0: none */
  gint64 published_us; /* g_get_monotonic_time of the last publication */
  guint64 bytes;       /* size of the last published file */
  guint64 sent;        /* bytes of files sent to a URI until then; 0: to a path */
  guint64 cpu_us;      /* CPU of the scribe's thread */
  double done;         /* sum of the weights of the rows: share of the whole tree, 0 … 1 */
  LeftRange left;      /* seconds of work that the rows lack; valid if left_us is not 0 */
  gint64 left_us;      /* g_get_monotonic_time at which the rows were read for it; 0: too little is
                          known */
} ScribeStats;
void scribe_stats (Scribe *scribe, ScribeStats *stats);
