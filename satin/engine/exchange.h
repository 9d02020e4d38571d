/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's one door. Whoever drives (the driver of net, a test) calls engine_*() from one
 * thread, the driver's, and reads what the workers want to say from a mailbox. Nobody else talks to
 * the workers. The engine knows jobs, stacks and paths; it must not know nodes (an id is only a
 * key), sockets or files. */
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
  guint stacks_max;  /* stacks in all, running and parked, but for the root; 0: the default */
  guint surplus_ms;  /* a thread that nobody has a seat for ends when it has slept so long; 0: the
                        default */
  Stems *stems;      /* borrowed */
  guint64 seed;
  void (*wake) (void *data); /* called from any thread, locks held, when the mailbox stops being
                                empty, and when engine_is_roused becomes TRUE: may only wake */
  void (*wake_late) (void *data); /* NULL, or the same, where some milliseconds do not matter */
  /* NULL, or what a worker without work does in place of sleeping, on its own thread: drive, that
   * is make the calls below, until engine_is_roused; for look_us at most if that is not 0. FALSE:
   * it cannot now, and the worker sleeps. One worker at a time. */
  gboolean (*idle) (void *data, gint64 look_us);
  void *data;         /* of all three */
  Timeline *timeline; /* borrowed; NULL: nothing is noted */
  TimelineLane *lane; /* of whoever drives; NULL: nothing is noted */
  double twice;       /* this share of work is to be computed twice: ENGINE_ADOPT tells the job of
                         so many paths (path_is_drawn), and ENGINE_FINISHED comes for so much of
                         what scans report; 0: none */
} EngineConfig;

#define ENGINE_WORKERS_MAX 1024

typedef enum
{
  ENGINE_HUNGRY,  /* seats are idle and nothing is left to run or steal here: `seats` of them. Said
                     once  per change; said again after each engine_run that did not feed all, and
                     after  engine_lend or a finished job left them idle again. */
  ENGINE_DONE,    /* the job given by engine_run under `held` finished: value, work_us, risk_us,
                     began_ms, took_ms */
  ENGINE_UNRUN,   /* the job given by engine_run under `held` goes back unrun, because every seat
                     waits, or has stopped or was dropped after engine_unrun */
  ENGINE_ADOPT,   /* slot `loan` (path, digest) waits for `holder`, who is said to hold it: ask it.
                     Answer with engine_put, or with engine_back after engine_forget of that holder.
                      When `path` is a job that runs here it recalls what it had kept, and the value
                      to put is that of row_pack_kept. */
  ENGINE_WANT,    /* a job waits for the shared bytes `digest`, `length` of them, under the number
                     `loan`: fetch them. It runs for the held job `held`. Answer with engine_put,
                     whose value is the bytes; engine_back asks again */
  ENGINE_ABORTED, /* the lent or adopted slot `loan` is not awaited any more: whoever runs it is to
                      stop. Comes after the ADOPT, or the end of the engine_lend, that it is about
                   */
  ENGINE_COVERED, /* a job here whose path is `path` is finished, or was aborted: whoever holds it
                      or something below it holds it in vain, except under the loan numbers that
                     this engine still awaits */
  ENGINE_UNMATCHED, /* what is known to be finished at `path` is of another job than the one that
                       ran there, or no job was spawned there. Once: the first such path */
  ENGINE_ROWS,      /* finished children of unfinished jobs, and what these have kept, as far as not
                        yet reported: `rows`; once they are saved `risk_us` less is at risk */
  ENGINE_FINISHED,  /* a finished child, which a scan has just reported, is `whole`, and its result
                       is `value`; shared: what its arguments speak of. See EngineConfig.twice */
  ENGINE_SCANNED,   /* every stack has served engine_scan number `scan`, counted from 1, and those
                       before it; work_us: what that cost each seat */
  ENGINE_SHARED,    /* after engine_request_work: there is something to lend */
  ENGINE_HALTED,    /* after engine_halt: no job runs any more and every stack was scanned */
  ENGINE_CRASH_REPORT, /* what the job at `at`, or (unless `innermost`) one below it, does ends this
                        process: `job` with arguments `value`, and why: `cause`. It was taken from
                        elsewhere as the job at `path`, or a part of that. Tell others, then call
                        engine_words_heard */
  ENGINE_FAILED, /* the job at `at` (`path` too), or (unless `innermost`) one below it, `job` with
                    arguments `value`, said by satin_fail that the run cannot go on, or broke
                    a rule of satin.h: `cause`, which stays. It waits for the end of the run */
  ENGINE_IMPROVED /* satin_improve changed BEST number `best`: `value` is its encoding */
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
  guint64 began_ms; /* of ENGINE_DONE: when the job began, unix time, … */
  guint64 took_ms;  /* … and how long it took */
  GBytes *value;
  GPtrArray *shared; /* of SatinShared (nullable): what `value` of ENGINE_DONE speaks of; it is here
                      */
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
/* Ends all threads, wherever they are, and frees everything. A job that runs is waited for, unless
 * engine_halt came before it; the process may also just exit. */
void engine_free (Engine *engine);

/* The digest of a job of the table with these encoded arguments, under the constants as they are
 * now. */
Digest engine_digest (Engine *engine, guint32 job, GBytes *args);
/* The digest of all published constants; part of every job's digest. Before any job
 * runs; the same may be said again while jobs run. */
void engine_set_constants (Engine *engine, const Digest *digest);

/* Takes the oldest public job that is ready, as a thief would, without asking its busy owner.
 * FALSE: none now (owners with private ready jobs have been asked to share; try again in a while).
 * The caller owns *loan's members. The slot then waits until engine_put or engine_back names
 * loan->loan. Where there are only jobs of engine_run that no worker has begun, loan->held names
 * one, and nothing else is filled in: it is not here any more, as after ENGINE_UNRUN, and goes back
 * to its lender. */
gboolean engine_lend (Engine *engine, Loan *loan);
/* So many thieves elsewhere wait for work: ENGINE_SHARED comes once, as soon as there is something
 * to lend, and owners make so many jobs public, since they may not look again for long. */
void engine_request_work (Engine *engine, guint thieves);
/* The result of a lent or adopted slot; the shared bytes that it speaks of are kept here. FALSE:
 * this loan is not awaited (any more), or the bytes are not of its result type; nothing is taken
 * in. `work_us`: what it cost; `risk_us`: of it, what no saved row stands for. */
gboolean engine_put (Engine *engine, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us);
/* A lent or adopted slot becomes ready again here. FALSE: not awaited. */
gboolean engine_back (Engine *engine, guint64 loan);
/* Is this slot still awaited from elsewhere? */
gboolean engine_awaits (Engine *engine, guint64 loan);

/* A job to run here. ENGINE_DONE or ENGINE_UNRUN names `held` later. FALSE: unknown job, args not
 * of its type, or another digest. TRUE: it keeps hold of the loan. */
gboolean engine_run (Engine *engine, guint64 held, Loan *loan);
/* Nobody wants its result. What had not started is gone at once; what runs stops
 * at its next spawn, sync or poll. ENGINE_UNRUN will come, after the ENGINE_ABORTED of all that was
 * lent for it or of the job itself, or ENGINE_DONE if it was faster. Nothing comes if it is
 * unknown. */
void engine_unrun (Engine *engine, guint64 held);

/* News: `holder` holds path with this digest. `finished`: 0, it runs; 1, a result; a kept state: 1
 * and the children it stands for. The most finished is taken, then the lowest id; `self` jobs
 * (running here for another lender) may be entered too. Running stacks re-read their spines.
 */
void engine_known (Engine *engine, const char *path, const Digest *digest, const NodeId *holder,
                   guint32 finished);
/* `holder` does not hold `path` (NULL: anything) any more. Slots that wait for it are not touched.
 */
void engine_forget (Engine *engine, const char *path, const NodeId *holder);

/* What becomes of a job that runs again alone. The calls come from its thread, with no lock held,
 * and all they get is borrowed. The thread stands still after `ended` or `missed`, which end the
 * process or have it ended. */
typedef struct
{
  void (*begins) (void *data, const SatinJob *job, const Digest *digest, GBytes *args);
  /* The job depends on other ones, which run first: children `first` to `last` of a job above it.
   * Said once. */
  void (*waits) (void *data, guint32 first, guint32 last);
  void (*ended) (void *data, GBytes *value, guint64 took_us);
  /* The job above it that would lead there has returned and spawned no child `number`. */
  void (*missed) (void *data, guint32 number);
  void *data;
} EngineReplay;
/* Before any job runs, once: only the job at `path` is wanted. Those above it run what it depends
 * on, take what is known of that, and nothing else. FALSE: the path is not canonical, or a stem of
 * it is unknown. */
gboolean engine_replay (Engine *engine, const char *path, const EngineReplay *calls);

/* Every stack reports the rows that it has not reported yet (`whole`: all rows) at its next sync;
 * ENGINE_ROWS per stack, then ENGINE_SCANNED. Budget: each stack gives so many rows that they cost
 * next to nothing, shallowest first; ENGINE_SCAN_ROWS_MAX when `whole`; all at engine_halt. */
void engine_scan (Engine *engine, gboolean whole);
#define ENGINE_SCAN_ROWS_MAX 20000
/* Nothing new starts; every stack stops at its next sync and is scanned; ENGINE_HALTED. Final, but
 * scans are served still. `leaving`: the scans are of all rows, and jobs that have not started come
 * back by ENGINE_UNRUN. The first call says whether the node leaves. */
void engine_halt (Engine *engine, gboolean leaving);

/* A value of BEST number `best` from elsewhere; merged. FALSE: malformed or no such number. */
gboolean engine_improve (Engine *engine, guint best, GBytes *value);
/* (transfer full): the present encoding of BEST `best`. */
GBytes *engine_best (Engine *engine, guint best);

/* The worker that is in config.idle has something else to do. */
gboolean engine_is_roused (Engine *engine);
/* A seat is free. FALSE: all run jobs, and the worker in config.idle is one too many. */
gboolean engine_is_hungry (Engine *engine);

/* Takes the oldest event out of the mailbox. FALSE: empty. Clear it with engine_event_clear. */
gboolean engine_next_event (Engine *engine, EngineEvent *event);

/* After ENGINE_CRASH_REPORT: the process may die. `end`: with exit code 6, since the run has ended
 * by them; else as if nobody had listened. Returns when the backtrace is written, or cannot be. */
void engine_words_heard (gboolean end);

/* While the process exits, on the thread that called exit () or quick_exit (): if a job did, that
 * is as if it had aborted; the same words are said and this does not return. Else nothing. */
void engine_exit_by_job (void);

typedef struct
{
  guint64 jobs;         /* jobs executed here; of aborted ones not all */
  guint64 jobs_reused;  /* slots filled by known results instead of being executed here */
  guint64 unmatched;    /* saved results known here that fit no job: ENGINE_UNMATCHED */
  guint64 steals_local; /* between stacks of this node */
  guint64 lent;         /* taken by engine_lend */
  guint64 parked_max;   /* most stacks parked at one time */
  guint64 work_us;      /* time in jobs, all seats */
  guint64 scan_us;      /* CPU of the scans, all stacks */
  guint64 risk_us;      /* of what was done for the jobs here, what no reported row stands for */
  guint busy;           /* seats that run a job */
} EngineStats;

/* How far a held job is that runs here: at risk of what was done for it so far, on this engine's
 * stacks; seats that work for it. */
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
  ENGINE_NOW_LOAN,   /* … for `child`, which somebody else holds under the number `loan` */
  ENGINE_NOW_ANY,    /* … for whichever of its children is finished first */
  ENGINE_NOW_SHARED, /* … for shared bytes under the number `loan` */
  ENGINE_NOW_KEPT,   /* … for what it had kept, under the number `loan` */
  ENGINE_NOW_ABORT   /* … until stack `thief` has left a child that was aborted */
} EngineNowKind;
/* A job on one stack. */
typedef struct
{
  guint stack;         /* its number */
  EngineNowKind kind;  /* where `deepest` is FALSE: ENGINE_NOW_RUNS, unless a seat is missing */
  gboolean deepest;    /* the deepest job, as the stack said at said_us; FALSE: the job that it took
                          from elsewhere, or one below that */
  gboolean asked;      /* it has not reached a sync since it was asked last */
  char *path;          /* owned */
  const SatinJob *job; /* borrowed */
  GBytes *args;        /* owned: encoded */
  char *child;         /* owned (nullable) */
  guint thief;         /* G_MAXUINT: none; the child is on its way to another node */
  guint64 loan;
  guint64 for_us;  /* since it took the job that this one is, or is below */
  guint64 said_us; /* monotonic time; 0: it has not said anything of this job */
  guint below;     /* other jobs on the stack that wait under this one */
} EngineNow;
/* Driver: asks every stack that has a job to say at its next sync what it runs. Never waits. */
void engine_look_ask (Engine *engine);
/* Driver: (transfer full): of EngineNow, one for each stack that has a job, those that took theirs
 * first before others; at most `max`, *more: how many were left out. What a stack was asked less
 * than a moment ago it may not have said yet. Takes microseconds for each of them; no stack waits
 * for longer. */
GPtrArray *engine_look (Engine *engine, guint max, guint *more);

/* May be called at any time; exact once nothing runs. */
void engine_stats (Engine *engine, EngineStats *stats);
/* Finished share of the whole tree as far as this engine's stacks tell, from the last scan: 0 … 1.
 */
double engine_share (Engine *engine);
