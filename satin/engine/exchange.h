/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of the engine. The driver (satin/node, or a test) calls engine_*() from one thread,
 * the driver's, and reads events of the workers from a mailbox. Nothing else talks to the workers.
 * The engine knows jobs, stacks and paths; it must not know nodes (an id is only a key), sockets or
 * files. */
#pragma once

#include "satin.h"

#include "loan.h"
#include "os/timeline.h"
#include "path.h"

typedef struct Engine Engine;

typedef struct
{
  const SatinJob *const *jobs; /* the job table, NULL-terminated; index = Loan.job */
  guint workers;               /* seats, 1 … ENGINE_WORKERS_MAX */
  gsize stack_bytes; /* C stack of each stack; 0: the default (reserved, committed as used) */
  guint stacks_max;  /* all stacks, running and parked, except one for the root; 0: the default */
  guint surplus_ms;  /* a thread without a seat ends after it has slept so long; 0: the default */
  Stems *stems;      /* borrowed */
  guint64 seed;
  void (*wake) (void *data); /* wakes the driver, and does nothing else. Called from any thread,
                                also with locks held, when the mailbox is no longer empty, and when
                                engine_is_roused becomes TRUE */
  void (*wake_late) (void *data); /* (nullable): the same if some milliseconds do not matter */
  /* (nullable): a worker without work calls it on its own thread in place of sleeping. It drives,
   * that is makes the calls below, until engine_is_roused, for at most look_us unless that is 0.
   * FALSE: it cannot drive now, and the worker sleeps. One worker at a time. */
  gboolean (*idle) (void *data, gint64 look_us);
  void *data;         /* of all three */
  Timeline *timeline; /* borrowed; NULL: there is no --trace */
  TimelineLane *lane; /* the driver's; NULL: there is no --trace */
  double twice;       /* this share of the work is to be computed twice: for this share of the paths
                         (path_is_drawn) ENGINE_ADOPT has the whole job, and a scan raises
                         ENGINE_FINISHED; 0: none */
} EngineConfig;

#define ENGINE_WORKERS_MAX 1024

typedef enum
{
  ENGINE_HUNGRY,  /* `seats` seats are idle, and nothing is left to run or steal here. Raised once
                     for each change; again after each engine_run that does not feed all, and after
                     engine_lend or a finished job leaves seats idle */
  ENGINE_DONE,    /* the job given by engine_run under `held` finished: value, work_us, risk_us,
                     began_ms, took_ms */
  ENGINE_UNRUN,   /* the job given by engine_run under `held` goes back unrun, because every seat
                     waits, or it stopped or was dropped after engine_unrun */
  ENGINE_ADOPT,   /* slot `loan` (path, digest) waits for what `holder` is said to hold: ask it.
                     Answer with engine_put, or with engine_back after engine_forget of that holder.
                     If `path` is a job that runs here, it recalls a state that it had kept, and the
                     value to put is that of row_pack_kept */
  ENGINE_WANT,    /* a job, which runs for the held job `held`, waits for the `length` shared bytes
                     `digest` under the number `loan`: fetch them. Answer with engine_put, whose
                     value is the bytes; engine_back asks again */
  ENGINE_ABORTED, /* the lent or adopted slot `loan` is not awaited any more: its holder is to stop.
                     Comes after the ADOPT of that number, or after engine_lend has returned it */
  ENGINE_COVERED, /* the job here with path `path` is finished, or was aborted: other nodes that
                     hold it or something below it can drop that, except under loan numbers that
                     this engine still awaits */
  ENGINE_UNMATCHED, /* the result known for `path` is of another job than the one that ran there, or
                       no job was spawned there. Raised once, for the first such path */
  ENGINE_ROWS,      /* `rows`: finished children of unfinished jobs, and states that these have
                       kept, if not reported before; once saved, `risk_us` less is at risk */
  ENGINE_FINISHED,  /* a scan has just reported the finished child `whole` with the result `value`;
                       `shared`: what its arguments refer to. See EngineConfig.twice */
  ENGINE_SCANNED,   /* every stack has served engine_scan number `scan` (the first is 1) and those
                       before it; work_us: its cost for each seat */
  ENGINE_SHARED,    /* after engine_request_work: there is something to lend */
  ENGINE_HALTED,    /* after engine_halt: no job runs any more and every stack was scanned */
  ENGINE_CRASH_REPORT, /* the job at `at`, or (unless `innermost`) one below it, ends this process:
                          `job` with arguments `value`, for the reason `cause`. This stack took it
                          from elsewhere as the job at `path`, or as a part of that job. Tell
                          others, then call engine_crash_reported */
  ENGINE_FAILED,       /* the job at `at` (`path` too), or (unless `innermost`) one below it, called
                          satin_fail, or broke a rule of satin.h: `job` with arguments `value`, for
                          the reason `cause`, which stays. The job waits for the end of the run */
  ENGINE_IMPROVED      /* satin_improve changed BEST number `best`: `value` is its encoding */
} EngineEventKind;

typedef struct
{
  EngineEventKind kind;
  guint seats;
  guint64 held;
  guint64 loan;
  char *path;
  Digest digest;
  NodeId holder;
  guint64 work_us, risk_us, scan, length;
  guint64 began_ms; /* ENGINE_DONE: beginning of the job, unix time */
  guint64 took_ms;  /* ENGINE_DONE: time from its beginning to its end */
  GBytes *value;
  GPtrArray *shared; /* ENGINE_DONE (nullable): of SatinShared: those to which `value` refers; their
                        bytes are here */
  GPtrArray *rows;   /* of Row */
  Loan *whole;       /* ENGINE_ADOPT (nullable), ENGINE_FINISHED: the job itself */
  guint best;
  const SatinJob *job;
  const char *cause;
  char *at;
  gboolean innermost;
} EngineEvent;

void engine_event_clear (EngineEvent *event);

/* Starts the worker threads. NULL: no memory or threads for this many. */
Engine *engine_new (const EngineConfig *config, GError **error);
/* Ends all threads, at any moment, and frees everything. It waits for running jobs, unless
 * engine_halt came before. (A process may also exit without this.) */
void engine_free (Engine *engine);

/* The digest of a job of the table with these encoded arguments, under the constants as they are
 * now. */
Digest engine_digest (Engine *engine, guint32 job, GBytes *args);
/* Sets the digest of all published constants, which is part of every job's digest. Call it before
 * any job runs; again with the same digest at any time. */
void engine_set_constants (Engine *engine, const Digest *digest);

/* Takes the oldest ready public job, as a thief does, without a question to its busy owner. FALSE:
 * there is none now; owners with private ready jobs have been asked to share some, so try again
 * later. The caller owns *loan's members. The slot waits until engine_put or engine_back names
 * loan->loan. If there are only jobs of engine_run that no worker has begun, loan->held is the
 * number of one and nothing else is filled in: as after ENGINE_UNRUN, the job is no longer here and
 * goes back to its lender. */
gboolean engine_lend (Engine *engine, Loan *loan);
/* `thieves` thieves on other nodes wait for work. ENGINE_SHARED comes once, as soon as there is
 * something to lend. Owners make that many jobs public, since they may not look again for long. */
void engine_request_work (Engine *engine, guint thieves);
/* The result of a lent or adopted slot. The engine keeps the shared bytes to which it refers.
 * FALSE: this loan is not awaited (any more), or the bytes are not of its result type; nothing is
 * taken. `work_us`: its cost; `risk_us`: the part of the cost that stands in no saved row. */
gboolean engine_put (Engine *engine, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us);
/* A lent or adopted slot becomes ready again here. FALSE: not awaited. */
gboolean engine_back (Engine *engine, guint64 loan);
/* TRUE: the slot still waits for another node. */
gboolean engine_awaits (Engine *engine, guint64 loan);

/* Runs a job here. ENGINE_DONE or ENGINE_UNRUN names `held` later. FALSE: unknown job, args not of
 * its type, or another digest. TRUE: the engine keeps a reference to the loan. */
gboolean engine_run (Engine *engine, guint64 held, Loan *loan);
/* The result is not wanted. A job that has not started is dropped at once; one that runs stops at
 * its next spawn, sync or poll. ENGINE_UNRUN will come, after ENGINE_ABORTED for all that was lent
 * for it and for the job itself; or ENGINE_DONE if the job is faster. Nothing comes if `held` is
 * unknown. */
void engine_unrun (Engine *engine, guint64 held);

/* `holder` holds the job at `path` with this digest. `finished`: 0: it runs there; 1: its result is
 * there; a kept state: 1 and the number of children for which it stands. Of several the most
 * finished is taken, then the lowest id. A job that runs here for another lender may be entered,
 * too. Running stacks read their spines again. */
void engine_known (Engine *engine, const char *path, const Digest *digest, const NodeId *holder,
                   guint32 finished);
/* `holder` no longer holds `path` (NULL: anything). Slots that wait for it are not touched. */
void engine_forget (Engine *engine, const char *path, const NodeId *holder);

/* Reports of a job that runs again alone. The calls come from its thread, with no lock held; their
 * arguments are borrowed. The thread stands still after `ended` or `missed`: these end the process
 * or have it ended. */
typedef struct
{
  void (*begins) (void *data, const SatinJob *job, const Digest *digest, GBytes *args);
  /* The job depends on other ones, which run first: children `first` to `last` of a job above it.
   * Called once. */
  void (*waits) (void *data, guint32 first, guint32 last);
  void (*ended) (void *data, GBytes *value, guint64 took_us);
  /* The job above it on the path has returned and spawned no child `number`. */
  void (*missed) (void *data, guint32 number);
  void *data;
} EngineReplay;
/* Before any job runs, once: only the job at `path` is wanted. The jobs above it use known results
 * and run only the jobs on which it depends. FALSE: the path is not canonical, or a stem of it is
 * unknown. */
gboolean engine_replay (Engine *engine, const char *path, const EngineReplay *calls);

/* Every stack reports the rows that it has not reported yet (`whole`: all rows) at its next sync;
 * ENGINE_ROWS for each stack, then ENGINE_SCANNED. Each stack gives only as many rows as cost next
 * to nothing, the shallowest first; ENGINE_SCAN_ROWS_MAX if `whole`; all at engine_halt. */
void engine_scan (Engine *engine, gboolean whole);
#define ENGINE_SCAN_ROWS_MAX 20000
/* Nothing new starts; every stack stops at its next sync and is scanned; then ENGINE_HALTED. Final,
 * but later scans are served. `leaving`: the scans are of all rows, and jobs that have not started
 * come back by ENGINE_UNRUN. The first call decides about `leaving`. */
void engine_halt (Engine *engine, gboolean leaving);

/* Merges a value of BEST number `best` from elsewhere. FALSE: malformed or no such number. */
gboolean engine_improve (Engine *engine, guint best, GBytes *value);
/* (transfer full): the present encoding of BEST `best`. */
GBytes *engine_best (Engine *engine, guint best);

/* TRUE: the worker that is in config.idle has something else to do. */
gboolean engine_is_roused (Engine *engine);
/* TRUE: a seat is free. FALSE: all run jobs, and the worker in config.idle is one too many. */
gboolean engine_is_hungry (Engine *engine);

/* Takes the oldest event out of the mailbox. FALSE: empty. Clear it with engine_event_clear. */
gboolean engine_next_event (Engine *engine, EngineEvent *event);

/* After ENGINE_CRASH_REPORT: the process may end. `end`: with exit code 6, since this report has
 * ended the run; else as if there were no crash report. Returns when the backtrace is written, or
 * cannot be. */
void engine_crash_reported (gboolean end);

/* While the process exits, on the thread that called exit () or quick_exit (). If that is a job, it
 * counts as a crash: a report goes out, and this does not return. Else it does nothing. */
void engine_exit_by_job (void);

typedef struct
{
  guint64 jobs;         /* jobs executed here; of aborted ones not all */
  guint64 jobs_reused;  /* slots filled by known results instead of being executed here */
  guint64 unmatched;    /* results known here that fit no job: ENGINE_UNMATCHED */
  guint64 steals_local; /* between stacks of this node */
  guint64 lent;         /* taken by engine_lend */
  guint64 parked_max;   /* most stacks parked at one time */
  guint64 work_us;      /* time in jobs, all seats */
  guint64 scan_us;      /* CPU of the scans, all stacks */
  guint64 risk_us;      /* work done for the jobs here that stands in no reported row */
  guint busy;           /* seats that run a job */
} EngineStats;

/* A held job that runs here: work at risk, of all that this engine's stacks did for it; seats that
 * work for it now. */
typedef struct
{
  guint64 held, risk_us;
  guint busy;
} EngineProgress;
/* (transfer full): of EngineProgress. */
GArray *engine_progress (Engine *engine);

/* What a stack does now. */
typedef enum
{
  ENGINE_NOW_RUNS,   /* it runs the job */
  ENGINE_NOW_SEAT,   /* the job can go on and waits for a worker's seat */
  ENGINE_NOW_CHILD,  /* the job waits for `child`, which stack `thief` of this engine runs */
  ENGINE_NOW_LOAN,   /* … for `child`, which another node holds under the number `loan` */
  ENGINE_NOW_ANY,    /* … for the first of its children to be finished */
  ENGINE_NOW_SHARED, /* … for shared bytes under the number `loan` */
  ENGINE_NOW_KEPT,   /* … for a state that it had kept, under the number `loan` */
  ENGINE_NOW_ABORT   /* … until stack `thief` has left a child that was aborted */
} EngineNowKind;
/* A job on one stack. */
typedef struct
{
  guint stack;         /* its number */
  EngineNowKind kind;  /* if not `deepest`: ENGINE_NOW_RUNS, or ENGINE_NOW_SEAT */
  gboolean deepest;    /* TRUE: the deepest job, as the stack reported at said_us. FALSE: the job
                          that the stack took from elsewhere, or one below that */
  gboolean asked;      /* it has not reached a sync since engine_look_ask */
  char *path;          /* owned */
  const SatinJob *job; /* borrowed */
  GBytes *args;        /* owned: encoded */
  char *child;         /* owned (nullable) */
  guint thief;         /* G_MAXUINT: none; the child is on its way to another node */
  guint64 loan;
  guint64 for_us;  /* time since it took this job, or the job above it */
  guint64 said_us; /* monotonic time of its report; 0: it has not reported this job */
  guint below;     /* other jobs on the stack that wait under this one */
} EngineNow;
/* Driver: asks every stack that has a job to report at its next sync what it runs. Never waits. */
void engine_look_ask (Engine *engine);
/* Driver: (transfer full): of EngineNow, one for each stack that has a job, the one that took its
 * job first before others; at most `max`; *more: how many were left out. A stack that was asked a
 * moment ago may not have reported yet. Takes microseconds for each stack; no stack waits for
 * longer. */
GPtrArray *engine_look (Engine *engine, guint max, guint *more);

/* May be called at any time; exact once nothing runs. */
void engine_stats (Engine *engine, EngineStats *stats);
/* The finished share of the whole tree, 0 … 1, as far as this engine's stacks know it from the last
 * scan. */
double engine_share (Engine *engine);
