/* SPDX-License-Identifier: BSD-3-Clause */
/* One node of a run as a pure state machine: an event in, effects out. No clock, sockets, threads,
 * files or random numbers of its own: time and seed are arguments, so the same events give the same
 * effects, under the real driver (satin/node) and under the simulator (tests/sim). The node reaches
 * the engine only through effects and events, which mirror the calls of engine/exchange.h one to
 * one. node.c only routes. Each part has one struct and one file: roster, loans (jobs that this
 * node lent), held (jobs that it runs for others), saves, constants, stop, … */
#pragma once

#include "digest.h"
#include "loan.h"
#include "node-id.h"
#include "path.h"
#include "plan.h"
#include "shared.h"

/* The contract with whoever drives, beyond what stands at each event and effect:
 *  1. The first step, whatever its event, starts the node: give it a NODE_EVENT_TIMER right after
 * node_new. A founder answers with JOINED, COORDINATOR (with a checkpoint), MASTER; a joiner waits
 * for NODE_EVENT_JOIN.
 *  2. Numbers. Links are numbered by the driver, never 0, never twice. Dials and held jobs are
 * numbered here, from 1. Loans are numbered by the engine, from 1 and never twice; below
 * LOANS_ROOT, where the numbers of main's roots begin (loans.h).
 *  3. Every LEND is answered by one LENT, even an empty one, before any other event. A RUN that the
 * engine refuses is answered by UNRUN. NODE_EFFECT_UNRUN is answered by NODE_EVENT_UNRUN when the
 * job was dropped or has stopped, after the ABORTED of all that was lent for it or of the job
 * itself, or by DONE if it was faster. ABORTED comes after the LENT or ADOPT of its loan; a PUT or
 * BACK that crosses it is lost, and that is right.
 *  4. IDLE replaces the last count; 0 says that no seat is idle.
 *  5. CLOSE lets out what was sent before it, if that is easy; nothing that arrives on the link
 * later is wanted.
 *  6. One TIMER wish stands at a time; a timer event that nobody asked for does no harm. A timer
 * event that is late by more than a heartbeat tells the node that it slept itself, and that the
 * others are not to blame.
 *  7. Constants: NODE_EVENT_CONSTANT with `text` NULL says "that was all" and is answered by START,
 * so that main can make a root's digest; ROOT says the same when nobody did. Elsewhere START
 * comes when a new set has been stored.
 *  8. DEPOSED ends main's wait for a root; MASTER may come again later: main then runs once more,
 * from its first root. Main raises ROOT, under the path of the next root, when it has the RESULT of
 * the one before, and FINISH after the last.
 * FINISH from a main that was deposed is not to be raised (it is ignored where this node is not
 * master).
 *  9. SAVE may come before OPENED. RESTORED may come in any number of events, before OPENED and,
 * after SALVAGE, later.
 * 10. After END, LEAVE and REFUSED there are no more effects, whatever the event.
 * 11. A node is a member from JOINED on. A joiner that was never a member does not start a run of
 * its own: when every member died before it was welcomed it goes on trying the addresses it knows.
 * 12. HALT: the engine's last ROWS come before HALTED.
 * 13. All texts are UTF-8: a name of an input that is not must be escaped before it comes here. */
/* Exit codes of a run that did not come to its answer, but as people wished. */
#define NODE_END_NO_STORE 4
#define NODE_END_FAILED 6   /* a job ends every process that runs it */
#define NODE_CRASH_REPORT 3 /* from three processes about one job, that is */
#define NODE_END_CANCELLED 7
#define NODE_END_SUSPENDED 75 /* run me again */

typedef struct Node Node;

/* How far a held job is that has not ended: `risk_us` as in NODE_EVENT_DONE, up to now; how many
 * seats work for it. */
typedef struct
{
  guint64 held, risk_us;
  guint32 busy;
} NodeProgress;

/* Signs of life, see NodeConfig. */
#define NODE_HEARTBEAT_US (5 * G_USEC_PER_SEC)
#define NODE_SILENCE_US (28 * G_USEC_PER_SEC) /* known to all within half a minute */
#define NODE_SILENCE_HEARTBEATS 3             /* silence is at least so many */

#define NODE_DENSE 32

/* A message waits at most so long for a keeper (work/holdback.h). */
#define NODE_HOLDBACK_US G_USEC_PER_SEC

/* Whom a node asks for work. */
typedef enum
{
  NODE_STEAL_CRS, /* its own site, one after the other, and when they refuse one node of another */
  NODE_STEAL_RS,  /* anybody, at random */
  NODE_STEAL_MW   /* the master only */
} NodeSteal;

typedef struct
{
  gboolean founder;    /* TRUE: start a run; FALSE: join the one at `addresses` */
  const char *address; /* where others reach this node; NULL: alone for ever (solo) */
  const char *host;
  const char *site;
  guint32 pid;
  guint32 workers;
  gboolean closed;     /* none may join but who is wanted, or was a member; the same on all nodes */
  gboolean invited;    /* this one is wanted */
  guint32 n_bests;     /* BEST values of the program */
  Digest program;      /* of program name, job table, arguments: the same on every node */
  const char *build;   /* of the program, the same on every node; NULL: "" */
  gboolean checkpoint; /* somebody should be coordinator; becomes so by CHECKPOINT, too */
  gboolean kept;       /* founder: something of this run stands there already */
  NodeSteal steal;
  guint dense;     /* so many members are all linked to each other: contacts.h; 0: NODE_DENSE */
  double verify;   /* this share of results is computed twice (verify.h); 0: none */
  PlanKnobs plan;  /* what survives a crash; the same on all nodes */
  guint64 copy_us; /* rows go to the keeper so often; 0: BUDDY_SCAN_US */
  guint64 heartbeat_us; /* something is said over each link so often, or more seldom
                           where there are many links; 0: NODE_HEARTBEAT_US */
  guint64 silence_us;   /* who says nothing for so long counts as dead, and is looked for after half
                           of it; the same on all nodes; 0: NODE_SILENCE_US */
  guint64 save_interval_us;
  guint64 settle_us;   /* from a join to the election that it brings, and between elections that
                          nothing forces; 0: as elect.h says */
  Stems *stems;        /* borrowed */
  SharedStore *shared; /* borrowed: the shared bytes of this node; NULL: one of its own */
  guint64 seed;
} NodeConfig;

typedef enum
{
  /* the world */
  NODE_EVENT_JOIN,        /* text: an address of a live node to try (joiners; may come again) */
  NODE_EVENT_LINK_UP,     /* link; dial: the dial that made it, 0 if the other side dialled */
  NODE_EVENT_LINK_DOWN,   /* link: broken or closed by the other side */
  NODE_EVENT_DIAL_FAILED, /* dial; dead: nobody lives at that address, as only its own host can
                             say; refused: by that host or by something on the way; else unknown */
  NODE_EVENT_MESSAGE,     /* link, bytes: one whole message, in order within a link */
  NODE_EVENT_TIMER,       /* the time asked for has come */
  /* the engine */
  NODE_EVENT_IDLE,    /* count: idle seats */
  NODE_EVENT_LENT,    /* answer to NODE_EFFECT_LEND: node, loans (may be empty); one whose
                         `held` is not 0 is that held job, unrun as after UNRUN */
  NODE_EVENT_DONE,    /* held, bytes, shares, work_us; risk_us: of it, what no reported row stands
                         for; began_ms, took_ms: for its row */
  NODE_EVENT_UNRUN,   /* held */
  NODE_EVENT_ADOPT,   /* loan, path, digest, node: the slot waits for that holder; job (nullable):
                         where its result may be computed twice */
  NODE_EVENT_WANT,    /* loan, held: a job for that one waits under this number for the shared bytes
                         `digest`, of which there are `number`. Answered by PUT with the bytes,
                         however long that takes, unless ABORTED says that it waits no more */
  NODE_EVENT_ABORTED, /* loan: its slot waits no more */
  NODE_EVENT_COVERED, /* path */
  NODE_EVENT_UNMATCHED, /* path: what is saved there fits no job */
  NODE_EVENT_ROWS,      /* rows; risk_us: so much less is at risk once they are published */
  NODE_EVENT_FINISHED,  /* job, bytes: a job that finished here, and its result, which may be
                           computed twice; shares (nullable): what its arguments speak of */
  NODE_EVENT_SHARED,    /* after NODE_EFFECT_REQUEST */
  NODE_EVENT_SERVED,    /* number: every stack has served the scans up to this SCAN effect, counted
                           from 1; its ROWS came before. work_us: the time that each seat spent */
  NODE_EVENT_WORK, /* work_us: spent in jobs here so far; risk_us: of what was done for the jobs
                      here, what no reported row stands for; count: busy seats; progress. Every
                      second or so, after SERVED, and after NODE_EFFECT_TELL */
  NODE_EVENT_HALTED,
  NODE_EVENT_CRASH_REPORT, /* path: a job that runs here, as it was taken from elsewhere ("": the
                            root); text: what it is and does. It ends this process, which is gone
                            after this step and its effects, unless `final`: the job stated that
                            the run cannot go on, and waits for its end */
  NODE_EVENT_IMPROVED,     /* number, bytes */
  /* main */
  NODE_EVENT_CONSTANT, /* text: name ("const/…" or "input/…"), bytes: main published it (before
                          ROOT); text NULL: that was all */
  NODE_EVENT_ROOT,     /* job (Loan without path): main wants its result */
  NODE_EVENT_FINISH,   /* number: main returned with this exit code; bytes (nullable): its answer,
                          to be kept in the checkpoint */
  /* the scribe */
  NODE_EVENT_RESTORED, /* rows of the checkpoint: all of it at take-over (COORDINATOR, whole); or
                          those that answer a SALVAGE. final: that was the last of them, path: of
                          which SALVAGE */
  NODE_EVENT_OPENED,   /* the scribe has taken over the checkpoint; ROOT waits for this. number: the
                          generation that stands there, 0: none. failed: it could not, text: why */
  NODE_EVENT_PUBLISHED, /* number: generation; saved: the last SAVE that is in it; work_us: how long
                           the commit took (0: unknown); final: it was the one asked for by
                           NODE_EFFECT_FINAL or _PUBLISH; failed: it did not succeed, text
                           (nullable): why, for people */
  NODE_EVENT_BID, /* work_us: how long the commit took; number: the generation of this run that
                     stands there, 0: none; failed, text: why it cannot */
  /* people */
  NODE_EVENT_SUSPEND, /* number: how long to wait for jobs that run, in us; 0: STOP_DRAIN_US */
  NODE_EVENT_CANCEL,
  NODE_EVENT_LEAVE, /* node (none: this one) is to leave; number: the same patience, 0:
                       LEAVE_PATIENCE_US. Answered there by LEAVE, STAYED or the end of the run */
  NODE_EVENT_SAVE,  /* number: the same patience, 0: ROUND_PATIENCE_US; answered by SAVED */
  /* text (UTF-8): the run gets a checkpoint there, if it has none and goes on; answered by
   * CHECKPOINT at all nodes */
  NODE_EVENT_CHECKPOINT
} NodeEventKind;

typedef struct
{
  NodeEventKind kind;
  guint64 link, dial, held, loan, number, work_us, risk_us, saved, began_ms, took_ms;
  guint32 count;
  gboolean dead, refused, final, failed;
  NodeId node;
  Digest digest;
  const char *text, *path;
  GBytes *bytes;
  const Loan *job;
  GPtrArray *loans;  /* of Loan, borrowed */
  GPtrArray *rows;   /* of Row, borrowed */
  GPtrArray *shares; /* of SatinShared (nullable): what bytes speak of, kept */
  GArray *progress;  /* of NodeProgress, borrowed */
} NodeEvent;         /* everything in it is borrowed for the call */

typedef enum
{
  /* the world */
  NODE_EFFECT_SEND,  /* link, parts: GBytes that make one message together; urgent: it may pass
                        earlier ones that are not, but no urgent one; awaited: a worker at the
                        other end has nothing else to do */
  NODE_EFFECT_DIAL,  /* dial, text: address. Answered by LINK_UP or DIAL_FAILED */
  NODE_EFFECT_CLOSE, /* link: no LINK_DOWN follows */
  NODE_EFFECT_TIMER, /* at_us: step me with NODE_EVENT_TIMER then (replaces the last wish) */
  /* the engine */
  NODE_EFFECT_LEND,    /* node, link, count: take up to count of the oldest jobs; answer
                          NODE_EVENT_LENT at once */
  NODE_EFFECT_REQUEST, /* count thieves wait: say SHARED once, as soon as there is something to lend
                        */
  NODE_EFFECT_RUN,     /* held, job */
  NODE_EFFECT_UNRUN,   /* held: nobody wants it. Drop it, or stop it if it runs; answered by
                          NODE_EVENT_UNRUN */
  NODE_EFFECT_PUT,     /* loan, bytes, shares, work_us, risk_us. If the engine takes it not in,
                        * NODE_EVENT_… is    not needed */
  NODE_EFFECT_BACK,    /* loan; failed: its holder is gone */
  NODE_EFFECT_KNOWN,   /* path, digest, node, finished; count: how much, for engine_known */
  NODE_EFFECT_FORGET,  /* path (NULL: all), node */
  NODE_EFFECT_SCAN,    /* whole */
  NODE_EFFECT_HALT, /* engine_halt, answered by NODE_EVENT_HALTED; whole: this node leaves, so all
                     * rows are told and what has not started comes back by UNRUN */
  NODE_EFFECT_DIFFERS, /* job, node: its result there, the first of `parts`, is not the one that was
                          computed here, the second; failed: its result was a row, so that node may
                          be of an earlier start, or none, if nobody knows it. CRASH_REPORT, final,
                          is to follow */
  NODE_EFFECT_BEST,    /* number, bytes: merge it */
  NODE_EFFECT_TELL,    /* what is at risk here has changed: NODE_EVENT_WORK is wanted now */
  /* main */
  NODE_EFFECT_JOINED,  /* node: this node's id, now a member; again after a rejoin under a new id */
  NODE_EFFECT_MASTER,  /* call main (again): this node is master now */
  NODE_EFFECT_DEPOSED, /* an elder master lives: satin_root returns FALSE here */
  NODE_EFFECT_CONSTANT, /* text, bytes: store it */
  NODE_EFFECT_START,    /* all constants are here; digest: of them all, for engine_set_constants */
  NODE_EFFECT_RESULT,   /* bytes: of the root */
  NODE_EFFECT_LEAVE, /* this process is to end, with 0, and the run goes on. work_us: what was lost
                        with it; count: results that nobody took; failed: jobs still ran */
  NODE_EFFECT_REFUSED, /* this process is to end, with 1, and the run goes on without it. text: the
                          build of the run, which is another; NULL: the run is closed (NodeConfig)
                          */
  NODE_EFFECT_STAYED,  /* it cannot leave; text: why */
  NODE_EFFECT_END,     /* number: exit code of the run; this process is to end. finished: it is what
                          main returned. text (nullable): the sentence for people */
  /* the scribe */
  NODE_EFFECT_COORDINATOR, /* open the checkpoint and take it over: answered by RESTORED…, OPENED.
                            * number: the generation that must at least stand there (0: any), else
                            * it is another place. whole: tell of all rows; else of none, since the
                            * coordinator before lives and offers them */
  NODE_EFFECT_RETIRE,      /* another is coordinator: publish what there is, and let go */
  NODE_EFFECT_BID,         /* time a commit of realistic size at the checkpoint's place; answered by
                            * NODE_EVENT_BID. One at a time */
  NODE_EFFECT_ANSWER,      /* bytes, number (exit code): the answer, to be kept */
  NODE_EFFECT_SAVE,        /* rows, number: counts these effects from 1, with EVENT */
  NODE_EFFECT_SALVAGE, /* path: this job is to run again. Answered by RESTORED with all rows at or
                          below it, whoever computed them: of the file, and of the SAVE effects
                          before */
  NODE_EFFECT_MEMBER,  /* node, text (address), text2 (host), number (pid): a node joined, for the
                          file's `node` table */
  NODE_EFFECT_EVENT,   /* a row of the ledger: text (kind), node, path, work_us, text2 (detail),
                        * at_us; number: counts these effects and SAVE together. Perhaps not for the
                        * first time: what says the same is the same row. Nodes that joined and left
                        * are told so */
  NODE_EFFECT_FINAL,   /* publish all that was saved; answered by PUBLISHED with final */
  NODE_EFFECT_PUBLISH, /* the same, and the run goes on; never two of these at a time */
  NODE_EFFECT_SAVED,   /* a round of saving is over: number (generation), failed. text (nullable):
                          these members did not scan in time, so what they had finished may not be
                          saved */
  NODE_EFFECT_CHECKPOINT, /* text: the run, which had no checkpoint, has one there from now on */
  NODE_EFFECT_WARN,       /* text: people should know this now */
  NODE_EFFECT_LOG         /* text: one line for the node's log */
} NodeEffectKind;

typedef struct
{
  NodeEffectKind kind;
  guint64 link, dial, held, loan, number, at_us, work_us, risk_us;
  guint32 count;
  gboolean finished, whole, failed, urgent, awaited;
  NodeId node;
  Digest digest;
  char *text, *text2, *path;
  GBytes *bytes;
  Loan *job;
  GPtrArray *parts;  /* of GBytes */
  GPtrArray *rows;   /* of Row */
  GPtrArray *shares; /* of SatinShared (nullable): what bytes speak of */
} NodeEffect;        /* owns what it points to */

void node_effect_clear (NodeEffect *effect);

Node *node_new (const NodeConfig *config);
void node_free (Node *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Node, node_free)

/* One step. Appends NodeEffect structs to `effects` (element type NodeEffect, clear func
 * node_effect_clear), to be carried out in order. Events that a driver raises while it carries them
 * out (LENT) are stepped after. */
void node_step (Node *node, guint64 now_us, const NodeEvent *event, GArray *effects);

typedef struct
{
  NodeId id;
  char *address, *host, *site; /* borrowed from the node until its next step */
  guint32 pid, workers;
  guint64 told_us, work_us, risk_us; /* as it told of itself then; told_us 0: never */
  guint64 alone_us;                  /* of risk_us, what would be lost if only this node were */
  guint32 busy;                      /* its seats at work then; while there are none it is silent */
  gboolean master, coordinator, self, leaving;
  gboolean silent; /* it has said nothing for longer than it does as a rule */
} NodeMember;

/* The roster as this node sees it, eldest first: NodeMember structs. (transfer container) */
GArray *node_members (Node *node);
NodeId node_self (Node *node);
/* The number of the present term. */
guint32 node_term (Node *node);
/* The run is being suspended or cancelled, or is about to end. */
gboolean node_stops (Node *node);
/* Which root of main is under way or was finished last, as far as this node has heard; -1: none. */
gint64 node_root (Node *node);

/* What a message that one member sends another is for. */
typedef enum
{
  NODE_SENT_OTHER,   /* constants, BEST, figures, rows of the ledger, orders */
  NODE_SENT_JOBS,    /* requests for jobs, jobs, and those that are returned or cancelled */
  NODE_SENT_RESULTS, /* to lenders, and their acknowledgements */
  NODE_SENT_KEEPERS, /* rows and results to those that keep them in memory, and their answers */
  NODE_SENT_SAVES,   /* rows to the coordinator, its answers, rounds and epochs */
  NODE_SENT_OFFERS,  /* what is known of jobs, at departures above all, and what is handed over */
  NODE_SENT_SHARED,  /* shared bytes, for whatever speaks of them */
  NODE_SENT_USES
} NodeSent;

typedef struct
{
  guint64 steals_remote; /* jobs got from other nodes */
  guint32 lease;         /* the number of the present coordinator's … */
  guint64 published_us;  /* … by whom so much of what was sent is published, in all */
  guint32 renewed;       /* how often all that is not published had to be sent again */
  guint64 rosters;       /* how often the roster was another one */
  guint64 events;        /* rows of the ledger that this node ever had to tell, */
  guint64 events_kept;   /* and those that do not count as published */
  guint64 crashes;       /* members that left without saying so */
  guint64 silenced;      /* members that counted as dead because they were silent */
  guint64 expired;       /* waits that their time limit ended: for a round, the rows of a suspend,
                          * the others at a leave, an answer to RERUN, rows of the ledger, a
                          * message that was held back (holdback.h) */
  guint64 waits;         /* messages that were held back (holdback.h), */
  guint64 waited_us;     /* and for how long in all */
  guint64 verified;      /* results that were computed twice, and are the same */
  guint64 copied_bytes;  /* of values that went to keepers, in COPY and MIRROR */
  guint64 kept_bytes;    /* the most that rows of others, kept for them, took up here at any time */
  guint64 sent_bytes[NODE_SENT_USES]; /* in messages to other members */
  guint64 rows_sent, rows_saved;
  guint64 generation; /* the newest publication known of */
  guint64 orphans_adopted;
  guint64 jobs_lost;         /* loans that came back because their holder left */
  guint64 held, lent, known; /* sizes now */
  guint64 steal_age_us;      /* how long the answer to a steal has been waited for; 0: it is not */
  guint64 lost_us;           /* work that departures took with them, as far as it was lent here */
  guint64 salvaged_us; /* work of results of nodes that are gone, put to use in place of computing
                        * them again: of those for which node_taken had no room */
  guint64 unpublished_us; /* work at risk here, besides what the engine says: if all nodes died */
  guint64 alone_us;       /* … and if only this one did */
  guint64 answer_us;      /* work that the roots' results stand for; 0: none was seen here */
  guint64 restored_us;    /* the same of an earlier life of the run */
  guint64 shared_fetched; /* times that shared bytes came here, */
  guint64 shared_bytes;   /* and how many */
} NodeStats;
void node_stats (Node *node, NodeStats *stats);

/* A member that left without saying so: what it had done by then, as far as this node was told. Who
 * lent it jobs, and the master, know most; of several the most counts. */
typedef struct
{
  NodeId id;
  guint64 work_us;
} NodeDeparted;
/* (transfer none): NodeDeparted structs. */
const GArray *node_departed (Node *node);

/* A result of a member that is gone, which was put to use from here. `children`: it is a kept state
 * that stands for so many; 0: a result. */
typedef struct
{
  char *path;
  guint32 children;
  NodeId author;
  guint64 work_us;
} NodeTaken;
/* (transfer none): NodeTaken structs, until the next event. Several nodes may name one result, and
 * one that contains another. Driver's thread. */
const GPtrArray *node_taken (Node *node);

/* With whom a slot waits that this node lent or adopted. */
typedef enum
{
  NODE_WAITS_NOWHERE, /* this node awaits no such loan */
  NODE_WAITS_NODE,    /* *holder has it */
  NODE_WAITS_RERUN    /* its holder is gone; the coordinator was asked whether a result is saved */
} NodeWaits;
/* For people. `holder`: set for NODE_WAITS_NODE. Driver's thread. */
NodeWaits node_waits (Node *node, guint64 loan, NodeId *holder);

/* Does this node hold the result of the job at `path` until its lender says that it has it, or is
 * it about to offer it? For tests. */
gboolean node_owes_result (Node *node, const char *path);

/* The member that has all rows of this one in memory; none: nobody has. For tests. */
NodeId node_keeper (Node *node);
/* (nullable, transfer none): the path of a result that `node` takes for kept by `keeper`, its
 * keeper, which has it not, though it is a member there. For tests. */
const char *node_not_kept (Node *node, Node *keeper);
/* When the oldest result came of which this node has a copy for its lender (mirror.h); 0: it has
 * none. For tests. */
guint64 node_oldest_copy_us (Node *node);
/* How many epochs this node has begun as coordinator, and how many of them are over. For tests. */
void node_epochs (Node *node, guint64 *begun, guint64 *ended);

/* A row of the ledger that does not count as published here; it has this number. */
typedef struct
{
  guint64 number;
  const char *kind, *path;
  NodeId id;
} NodeKept;
/* (transfer full): NodeKept structs by number, valid until the next event. For tests. */
GArray *node_kept (Node *node);

/* Aborts when an invariant does not hold; called by tests and by the simulator after every step. */
void node_check_invariants (Node *node);
