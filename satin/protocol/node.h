/* SPDX-License-Identifier: BSD-3-Clause */
/* One node of a run as a pure state machine: an event in, effects out. No clock, sockets, threads,
 * files or random numbers of its own: time and seed are arguments, so the same events give the same
 * effects, under the real driver (satin/node) and under the simulator (tests/sim). The node reaches
 * the engine only through effects and events, which mirror the calls of engine/exchange.h one to
 * one. node.c only routes. Each part has one struct and one header: roster, loans (jobs that this
 * node lent or adopted), held (jobs that it runs for others), saves, constants, stop, … */
#pragma once

#include "digest.h"
#include "loan.h"
#include "node-id.h"
#include "path.h"
#include "plan.h"
#include "shared.h"

/* The contract with the driver, beyond the comments at each event and effect:
 *  1. The first step, whatever its event, starts the node: give it a NODE_EVENT_TIMER right after
 * node_new. A founder answers with JOINED, COORDINATOR (with a checkpoint), MASTER; a joiner waits
 * for NODE_EVENT_JOIN.
 *  2. Numbers. The driver numbers links, never 0, never twice. The node numbers dials and held
 * jobs, from 1. The engine numbers loans, from 1, never twice, and below LOANS_ROOT, where the
 * numbers of main's roots begin (loans.h).
 *  3. Every LEND is answered by one LENT, even an empty one, before any other event. A RUN that the
 * engine refuses is answered by UNRUN. NODE_EFFECT_UNRUN is answered by NODE_EVENT_UNRUN when the
 * job was dropped or has stopped, after the ABORTED of all loans for it and of the job itself, or
 * by DONE if that was faster. ABORTED comes after the LENT or ADOPT of its loan; a PUT or BACK that
 * crosses it is lost, as it should be.
 *  4. IDLE replaces the last count; 0: no seat is idle.
 *  5. CLOSE sends messages that were queued before it, if that is easy. Messages that arrive on the
 * link later are ignored.
 *  6. One TIMER wish stands at a time; an unrequested timer event does no harm. A timer event that
 * is late by more than a heartbeat tells the node that it stood still itself, and that the others
 * were not silent.
 *  7. Constants: NODE_EVENT_CONSTANT with `text` NULL means "that was all" and is answered by
 * START, so that main can make a root's digest. If it did not come, ROOT means the same. On other
 * nodes START comes when a new set has been stored.
 *  8. DEPOSED ends main's wait for a root; MASTER may come again later: main then runs once more,
 * from its first root. Main raises ROOT, under the path of the next root, when it has the RESULT of
 * the one before, and FINISH after the last. A main that was deposed must not raise FINISH (it is
 * ignored where this node is not master).
 *  9. SAVE may come before OPENED. RESTORED may come in any number of events, before OPENED and,
 * after SALVAGE, later.
 * 10. After END, LEAVE and REFUSED there are no more effects, whatever the event.
 * 11. A node is a member from JOINED on. A joiner that was never a member does not start a run of
 * its own: if all members died before it was welcomed, it goes on trying the addresses it knows.
 * 12. HALT: the engine's last ROWS come before HALTED.
 * 13. All texts are UTF-8: the name of an input that is not must be escaped before it comes here.
 */
/* Exit codes of a run that ended without its answer. */
#define NODE_END_NO_STORE 4
#define NODE_END_FAILED 6   /* a job ends every process that runs it */
#define NODE_CRASH_REPORT 3 /* from three processes about one job, that is */
#define NODE_END_CANCELLED 7
#define NODE_END_SUSPENDED 75 /* resume the run */

typedef struct Node Node;

/* The progress of a held job that has not ended: `risk_us` as in NODE_EVENT_DONE, up to now; how
 * many seats work for it. */
typedef struct
{
  guint64 held, risk_us;
  guint32 busy;
} NodeProgress;

/* Signs of life, see NodeConfig. */
#define NODE_HEARTBEAT_US (5 * G_USEC_PER_SEC)
#define NODE_SILENCE_US (28 * G_USEC_PER_SEC) /* known to all within half a minute */
#define NODE_SILENCE_HEARTBEATS 3             /* silence is at least this many heartbeats */

#define NODE_DENSE 32

/* A message waits at most this long for a keeper (work/holdback.h). */
#define NODE_HOLDBACK_US G_USEC_PER_SEC
/* The row_byte_ns of a run whose interval Satin chooses: a sender waits so long for each byte of
 * its rows. The coordinator needs about 15 ns for a byte, so all of a sender's rows take it at most
 * 1 % of that time. */
#define NODE_ROW_BYTE_NS 1500

/* Which nodes a node asks for work. */
typedef enum
{
  NODE_STEAL_CRS, /* its own site, one after the other, and when all refuse also one node of another
                     site */
  NODE_STEAL_RS,  /* any node, at random */
  NODE_STEAL_MW   /* the master only */
} NodeSteal;

/* With a checkpoint the run needs a coordinator. A run may get one later (NODE_EVENT_CHECKPOINT).
 */
typedef enum
{
  NODE_CHECKPOINT_NONE,
  NODE_CHECKPOINT_NEW,
  NODE_CHECKPOINT_KEPT /* founder: a publication of this run stands there already */
} NodeCheckpoint;

typedef struct
{
  gboolean founder;    /* TRUE: start a run; FALSE: join the one at `addresses` */
  const char *address; /* where others reach this node; NULL: the program runs alone (solo) */
  const char *host;
  const char *site;
  guint32 pid;
  guint32 workers;
  gboolean closed;     /* only nodes that are wanted or were members may join; the same on all
                          nodes */
  gboolean invited;    /* this node is wanted */
  guint32 n_bests;     /* BEST values of the program */
  Digest program;      /* of program name, job table, arguments: the same on every node */
  const char *build;   /* of the program, the same on every node; NULL: "" */
  NodeCheckpoint checkpoint;
  NodeSteal steal;
  guint dense;     /* up to so many members each pair has a link: contacts.h; 0: NODE_DENSE */
  double verify;   /* this share of results is computed twice (verify.h); 0: none */
  PlanKnobs plan;  /* the plan of protection; the same on all nodes */
  guint64 copy_us; /* the time between two copies of rows to the keeper; 0: BUDDY_SCAN_US */
  guint64 heartbeat_us; /* the time between two signs of life over each link, longer where there are
                           many links; 0: NODE_HEARTBEAT_US */
  guint64 silence_us;   /* a member that is silent for so long counts as dead, and is dialled after
                           half of it; the same on all nodes; 0: NODE_SILENCE_US */
  guint64 save_interval_us;
  /* A node without a keeper and with one worker waits so long for each byte of the rows that it
   * sent to the coordinator before it scans again; one with more workers, a part of it. */
  guint64 row_byte_ns;
  guint64 settle_us;   /* from a join to the election that it causes, and between elections without
                          an urgent cause; 0: as in elect.h */
  Stems *stems;        /* borrowed */
  SharedStore *shared; /* borrowed: the shared bytes of this node; NULL: one of its own */
  guint64 seed;
} NodeConfig;

/* How a dial failed. */
typedef enum
{
  NODE_DIAL_UNKNOWN,
  NODE_DIAL_REFUSED, /* by that host or by something on the way */
  NODE_DIAL_DEAD     /* no process listens at that address, as only its own host can tell */
} NodeDialFailure;

typedef enum
{
  /* the world */
  NODE_EVENT_JOIN,        /* text: an address of a live node to try (joiners; may come again) */
  NODE_EVENT_LINK_UP,     /* link; dial: the dial that made it, 0 if the other side dialled */
  NODE_EVENT_LINK_DOWN,   /* link: broken or closed by the other side */
  NODE_EVENT_DIAL_FAILED, /* dial, failure */
  NODE_EVENT_MESSAGE,     /* link, bytes: one whole message, in order within a link */
  NODE_EVENT_TIMER,       /* the requested time has come */
  /* the engine */
  NODE_EVENT_IDLE,    /* count: idle seats */
  NODE_EVENT_LENT,    /* answer to NODE_EFFECT_LEND: node, loans (may be empty); one whose
                         `held` is not 0 is that held job, unrun as after UNRUN */
  NODE_EVENT_DONE,    /* held, bytes, shares, work_us; risk_us: the part of it that no reported row
                         stands for; began_ms, took_ms: for its row */
  NODE_EVENT_UNRUN,   /* held */
  NODE_EVENT_ADOPT,   /* loan, path, digest, node: the slot waits for that holder; job (nullable):
                         the job, if its result may be computed twice */
  NODE_EVENT_WANT,    /* loan, held: a job of that held job waits under this loan number for the
                         shared bytes `digest`, of which there are `number`. Answered by PUT with
                         the bytes, however long that takes, unless ABORTED ends the wait */
  NODE_EVENT_ABORTED, /* loan: its slot no longer waits */
  NODE_EVENT_COVERED, /* path */
  NODE_EVENT_UNMATCHED, /* path: the saved result there fits no job */
  NODE_EVENT_ROWS,      /* rows; risk_us: so much less is at risk once they are published */
  NODE_EVENT_FINISHED,  /* job, bytes: a job that finished here, and its result, which may be
                           computed twice; shares (nullable): the shared bytes that its arguments
                           refer to */
  NODE_EVENT_SHARED,    /* after NODE_EFFECT_REQUEST */
  NODE_EVENT_SERVED,    /* number: every stack has served the scans up to this SCAN effect, counted
                           from 1; its ROWS came before. work_us: the time that each seat spent */
  NODE_EVENT_WORK, /* work_us: spent in jobs here so far; risk_us: the part of the work for the jobs
                      here that no reported row stands for; count: busy seats; progress. Every
                      second or so, after SERVED, and after NODE_EFFECT_TELL */
  NODE_EVENT_HALTED,
  NODE_EVENT_CRASH_REPORT, /* path: a job that runs here, as it was taken from elsewhere ("": the
                              root); text: a description of the job and its fault. The job ends this
                              process, which is gone after this step and its effects, unless
                              `final`: the job called satin_fail, and waits for the end of the
                              run */
  NODE_EVENT_IMPROVED,     /* number, bytes */
  /* main */
  NODE_EVENT_CONSTANT, /* text: name ("const/…" or "input/…"), bytes: main published it (before
                          ROOT); text NULL: there are no more */
  NODE_EVENT_ROOT,     /* job (Loan without path): main wants its result */
  NODE_EVENT_FINISH,   /* number: main returned this exit code; bytes (nullable): its answer, to be
                          kept in the checkpoint */
  /* the scribe */
  NODE_EVENT_RESTORED, /* rows of the checkpoint: all of them at take-over (COORDINATOR, whole); or
                          those that answer a SALVAGE. final: these were the last, path: of that
                          SALVAGE */
  NODE_EVENT_OPENED,   /* the scribe has taken over the checkpoint; ROOT waits for this. number: the
                          generation that stands there, 0: none. failed: the scribe could not, text:
                          why */
  NODE_EVENT_PUBLISHED, /* number: generation; saved: the last SAVE that is in it; work_us: how long
                           the commit took (0: unknown); rest_us: not before so long is the next one
                           worth its cost; final: it answers NODE_EFFECT_FINAL or
                           _PUBLISH; failed: it did not succeed, text (nullable): why, for people */
  NODE_EVENT_BID, /* work_us: how long the commit took; number: the generation of this run that
                     stands there, 0: none; failed, text: why the node cannot bid */
  /* people */
  NODE_EVENT_SUSPEND, /* number: how long to wait for jobs that run, in us; 0: STOP_DRAIN_US */
  NODE_EVENT_CANCEL,
  NODE_EVENT_LEAVE, /* node (none: this one) is to leave; number: the same patience, 0:
                       LEAVE_PATIENCE_US. Answered there by LEAVE, STAYED or the end of the run */
  NODE_EVENT_SAVE,  /* number: the same patience, 0: ROUND_PATIENCE_US; answered by SAVED */
  /* text (UTF-8): a place where the run gets a checkpoint, if it has none and goes on; answered by
   * CHECKPOINT at all nodes */
  NODE_EVENT_CHECKPOINT
} NodeEventKind;

typedef struct
{
  NodeEventKind kind;
  guint64 link, dial, held, loan, number, work_us, risk_us, rest_us, saved, began_ms, took_ms;
  guint32 count;
  NodeDialFailure failure;
  gboolean final, failed;
  NodeId node;
  Digest digest;
  const char *text, *path;
  GBytes *bytes;
  const Loan *job;
  GPtrArray *loans;  /* of Loan, borrowed */
  GPtrArray *rows;   /* of Row, borrowed */
  GPtrArray *shares; /* of SatinShared (nullable): the shared bytes that `bytes` refers to, kept */
  GArray *progress;  /* of NodeProgress, borrowed */
} NodeEvent;         /* everything in it is borrowed for the call */

typedef enum
{
  /* the world */
  NODE_EFFECT_SEND,  /* link, parts: GBytes that make one message together; urgent: it may pass
                        earlier messages that are not urgent; awaited: a worker at the other end
                        waits for it */
  NODE_EFFECT_DIAL,  /* dial, text: address. Answered by LINK_UP or DIAL_FAILED */
  NODE_EFFECT_CLOSE, /* link: no LINK_DOWN follows */
  NODE_EFFECT_TIMER, /* at_us: step me with NODE_EVENT_TIMER then (replaces the last wish) */
  /* the engine */
  NODE_EFFECT_LEND,    /* node, link, count: take up to count of the oldest jobs; answer
                          NODE_EVENT_LENT at once */
  NODE_EFFECT_REQUEST, /* count thieves wait: raise SHARED once, when there is a job to lend */
  NODE_EFFECT_RUN,     /* held, job */
  NODE_EFFECT_UNRUN,   /* held: no node wants the job. Drop it, or stop it if it runs; answered by
                          NODE_EVENT_UNRUN */
  NODE_EFFECT_PUT,   /* loan, bytes, shares, work_us, risk_us. No event follows, even if unwanted */
  NODE_EFFECT_BACK,  /* loan; failed: its holder is gone */
  NODE_EFFECT_KNOWN, /* path, digest, node, finished; count: how much, for engine_known */
  NODE_EFFECT_FORGET, /* path (NULL: all), node */
  NODE_EFFECT_SCAN,   /* whole */
  NODE_EFFECT_HALT,   /* engine_halt, answered by NODE_EVENT_HALTED; whole: this node leaves, so all
                         rows are reported and jobs that have not started come back by UNRUN */
  NODE_EFFECT_DIFFERS, /* job, node: the job's result of that node, the first of `parts`, differs
                          from the one computed here, the second; failed: the result was a row, so
                          that node may be of an earlier start, or none, if it is unknown.
                          CRASH_REPORT, final, has to follow */
  NODE_EFFECT_BEST,    /* number, bytes: merge it */
  NODE_EFFECT_TELL,    /* the work at risk here has changed: raise NODE_EVENT_WORK now */
  /* main */
  NODE_EFFECT_JOINED,  /* node: this node's id, now a member; again after a rejoin under a new id */
  NODE_EFFECT_MASTER,  /* call main (again): this node is master now */
  NODE_EFFECT_DEPOSED, /* an elder master lives: satin_root returns FALSE here */
  NODE_EFFECT_CONSTANT, /* text, bytes: store it */
  NODE_EFFECT_START,    /* all constants are here; digest: of them all, for engine_set_constants */
  NODE_EFFECT_RESULT,   /* bytes: of the root */
  NODE_EFFECT_LEAVE, /* this process is to end, with 0, and the run goes on. work_us: the work lost
                        with it; count: results that no node took; failed: jobs still ran */
  NODE_EFFECT_REFUSED, /* this process is to end, with 1, and the run goes on without it. text: the
                          run's build, which differs; NULL: the run is closed (NodeConfig) */
  NODE_EFFECT_STAYED,  /* this node cannot leave; text: why */
  NODE_EFFECT_END,     /* number: exit code of the run; this process is to end. finished: main
                          returned the code. text (nullable): the sentence for people */
  /* the scribe */
  NODE_EFFECT_COORDINATOR, /* open the checkpoint and take it over: answered by RESTORED…, OPENED.
                              number: the lowest generation that may stand there (0: any); with a
                              lower one it is another place. whole: report all rows; else none,
                              since the coordinator before lives and offers them */
  NODE_EFFECT_RETIRE,      /* another node is coordinator: publish all rows, close the checkpoint */
  NODE_EFFECT_BID,         /* time a commit of realistic size at the checkpoint's place; answered by
                            * NODE_EVENT_BID. One at a time */
  NODE_EFFECT_ANSWER,      /* bytes, number (exit code): the answer, to be kept */
  NODE_EFFECT_SAVE,        /* rows, number: counts these effects from 1, with EVENT */
  NODE_EFFECT_SALVAGE, /* path: this job is to run again. Answered by RESTORED with all rows at or
                          below it, whichever node computed them: of the file, and of the SAVE
                          effects before */
  NODE_EFFECT_MEMBER,  /* node, text (address), text2 (host), number (pid): a node joined, for the
                          file's `node` table */
  NODE_EFFECT_EVENT,   /* a row of the ledger: text (kind), node, path, work_us, text2 (detail),
                          at_us; number: counts these effects and SAVE together. The event may come
                          more than once: equal events are one row. Nodes that joined or left are
                          such events */
  NODE_EFFECT_FINAL,   /* publish all saved rows; answered by PUBLISHED with final */
  NODE_EFFECT_PUBLISH, /* the same, and the run goes on; one of this and the next at a time */
  NODE_EFFECT_PUBLISH_IF_WORTH, /* the same, if it is worth its cost; else answered by number and
                                   saved of the last publication, and rest_us */
  NODE_EFFECT_SAVED, /* a round of saving is over: number (generation), failed. text (nullable):
                        these members did not scan in time, so their results may not be saved */
  NODE_EFFECT_CHECKPOINT, /* text: the run, which had no checkpoint, has one there from now on */
  NODE_EFFECT_WARN,       /* text: a warning for people */
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
  guint64 told_us, work_us, risk_us; /* its last report, at told_us; 0: none */
  guint64 alone_us;                  /* the part of risk_us that the death of this node alone would
                                        lose */
  guint32 busy;                      /* its busy seats then; while it has none it sends no
                                        reports */
  gboolean master, coordinator, self, leaving;
  gboolean silent; /* it has sent nothing for longer than usual */
} NodeMember;

/* The roster as this node sees it, eldest first: NodeMember structs. (transfer container) */
GArray *node_members (Node *node);
NodeId node_self (Node *node);
/* The number of the present term. */
guint32 node_term (Node *node);
/* TRUE: the run is being suspended or cancelled, or is about to end. */
gboolean node_stops (Node *node);
/* The number of the root that is under way or was finished last, as far as this node knows; -1:
 * none. */
gint64 node_root (Node *node);

/* The purpose of a message from one member to another. */
typedef enum
{
  NODE_SENT_OTHER,   /* constants, BEST, figures, rows of the ledger, orders */
  NODE_SENT_JOBS,    /* requests for jobs, jobs, and those that are returned or cancelled */
  NODE_SENT_RESULTS, /* to lenders, and their acknowledgements */
  NODE_SENT_KEEPERS, /* rows and results to those that keep them in memory, and their answers */
  NODE_SENT_SAVES,   /* rows to the coordinator, its answers, rounds and epochs */
  NODE_SENT_OFFERS,  /* offers, above all at departures, and results that are handed over */
  NODE_SENT_SHARED,  /* shared bytes, whatever refers to them */
  NODE_SENT_USES
} NodeSent;

typedef struct
{
  guint64 steals_remote; /* jobs got from other nodes */
  guint32 lease;         /* the number of the present coordinator's lease … */
  guint64 published_us;  /* … which has published this much of the sent work, in all */
  guint32 renewed;       /* how often all unpublished rows had to be sent again */
  guint64 rosters;       /* how often the roster changed */
  guint64 events;        /* rows of the ledger that this node had to tell so far, */
  guint64 events_kept;   /* and those of them that do not count as published */
  guint64 crashes;       /* members that left without saying so */
  guint64 silenced;      /* members that counted as dead because they were silent */
  guint64 expired;       /* waits that a time limit ended: for a round, the rows of a suspend, the
                            others at a leave, an answer to RERUN, rows of the ledger, a message
                            that was held back (holdback.h) */
  guint64 waits;         /* messages that were held back (holdback.h), */
  guint64 waited_us;     /* and how long they waited in all */
  guint64 verified;      /* results that were computed twice, and are the same */
  guint64 copied_bytes;  /* of values that went to keepers, in COPY and MIRROR */
  guint64 kept_bytes;    /* the most memory that rows kept for others took up here at any time */
  guint64 sent_bytes[NODE_SENT_USES]; /* in messages to other members */
  guint64 rows_sent, rows_saved;
  guint64 generation; /* the newest publication known */
  guint64 orphans_adopted;
  guint64 jobs_lost;         /* loans that came back because their holder left */
  guint64 held, lent, known; /* sizes now */
  guint64 steal_age_us;      /* how long this node has waited for the answer to a steal; 0: it does
                                not wait */
  guint64 lost_us;           /* work lost with departed nodes, as far as this node had lent it */
  guint64 salvaged_us;       /* work of results of nodes that are gone that were used in place of
                                computing them again, beyond those in node_taken */
  guint64 unpublished_us; /* work at risk here, besides what the engine says: if all nodes died */
  guint64 alone_us;       /* … and if only this one did */
  guint64 answer_us;      /* work that the roots' results stand for; 0: this node saw none */
  guint64 restored_us;    /* the same of an earlier life of the run */
  guint64 shared_fetched; /* times that shared bytes came here, */
  guint64 shared_bytes;   /* and how many */
} NodeStats;
void node_stats (Node *node, NodeStats *stats);

/* A member that died: the work that it had done, as far as this node was told. Its lenders and the
 * master know most; of several figures the greatest counts. */
typedef struct
{
  NodeId id;
  guint64 work_us;
} NodeDeparted;
/* (transfer none): NodeDeparted structs. */
const GArray *node_departed (Node *node);

/* A result of a member that is gone, which this node used. `children`: the number that a kept state
 * stands for; 0: a result. */
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

/* What a slot waits for that this node lent or adopted. */
typedef enum
{
  NODE_WAITS_NOWHERE, /* this node awaits no such loan */
  NODE_WAITS_NODE,    /* *holder has the job */
  NODE_WAITS_RERUN    /* its holder is gone; the coordinator was asked whether a result is saved */
} NodeWaits;
/* For people. `holder`: set for NODE_WAITS_NODE. Driver's thread. */
NodeWaits node_waits (Node *node, guint64 loan, NodeId *holder);

/* TRUE: this node holds the result of the job at `path` until its lender acknowledges it, or is
 * about to offer it. For tests. */
gboolean node_owes_result (Node *node, const char *path);

/* The member that has all rows of this one in memory; none: there is none. For tests. */
NodeId node_keeper (Node *node);
/* (nullable, transfer none): the path of a result that `node` takes for kept by its keeper
 * `keeper`, but `keeper` does not have it, though `node` is a member for it. For tests. */
const char *node_not_kept (Node *node, Node *keeper);
/* TRUE: this node has the result of this path for another node that has not acknowledged it. For
 * tests. */
gboolean node_owes_lender (Node *node, const char *path);
/* TRUE: `node` has rows of the member `ward`, which has another keeper and will not ask for them.
 * For tests. */
gboolean node_keeps_in_vain (Node *node, Node *ward);
/* When this node's oldest copy of a result for a lender came (mirror.h); 0: it has none. For
 * tests. */
guint64 node_oldest_copy_us (Node *node);
/* How many epochs this node has begun as coordinator, and how many of them are over. For tests. */
void node_epochs (Node *node, guint64 *begun, guint64 *ended);

/* A row of the ledger that does not count as published here, with its number. */
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
