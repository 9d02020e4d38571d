/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of one simulated run share: sim.c (time, events, steps), links.c (links and their
 * faults), process.c (what stands around a Node: engine, main, scribe), check.c (what must hold).
 */
#pragma once

#include "agenda.h"
#include "mesh/session-frame.h"
#include "sim.h"

#define SIM_SLOW_FACTOR 8 /* a slow node computes so much longer */
#define SIM_PID 100       /* of the first process; it tells which process a member is */

typedef struct Sim Sim;

typedef enum
{
  HAPPEN_START, /* the process starts */
  HAPPEN_MESSAGE,
  HAPPEN_LINK_UP,
  HAPPEN_LINK_DOWN,
  HAPPEN_DIAL_FAILED,
  HAPPEN_TIMER,
  HAPPEN_WAKE,     /* a stack's segment is over */
  HAPPEN_MAIL,     /* the engine's mailbox is read */
  HAPPEN_MAIN,     /* main starts */
  HAPPEN_MAIN_END, /* main returns */
  HAPPEN_OPENED,   /* the scribe has read what there was */
  HAPPEN_PUBLISH,  /* it looks at what stands there, and begins to write */
  HAPPEN_PUT,      /* … and replaces it */
  HAPPEN_BID,      /* a timed commit is over */
  HAPPEN_SALVAGED,
  HAPPEN_TELL,   /* the driver tells what the engine did */
  HAPPEN_JOIN,   /* the joiner is told an address */
  HAPPEN_POISON, /* a job ends its process */
  HAPPEN_FAULT,
  HAPPEN_RESUME, /* fresh processes go on from the checkpoint */
  HAPPEN_LOOK    /* it is looked at who has noticed a fault */
} HappenKind;

typedef struct
{
  guint node[2];
  gboolean open[2];
  guint64 urgent_us[2]; /* when the newest urgent message arrives */
  guint64 sent_us[2];   /* when something that is not urgent was sent last … */
  guint64 begin_us[2];  /* … and when the first that was sent then arrives: urgent ones pass it */
  guint64 last_us[2];   /* when the newest of what is under way to this side arrives */
  guint64 cut_us[2];    /* what would arrive from then on is lost; 0: nothing */
  gboolean half;        /* nothing arrives, not even that it was closed */
} Link;

/* The coordinator's thread, in a process that has one. */
typedef struct
{
  Store *work;         /* NULL: there is none */
  guint64 life;        /* counts the times that it was begun */
  gboolean whole;      /* all rows are to be told of when it has opened … */
  guint64 required;    /* … and finds at least this generation */
  guint64 saves;       /* orders to it */
  gboolean putting;    /* a publication is under way: … */
  Store *put, *looked; /* … this, in place of that; NULL: none was ever begun */
  guint64 put_saves, looked_tag;
  gboolean put_final; /* it answers FINAL or PUBLISH */
  gboolean final_due; /* one that does is to follow */
  gboolean retiring;  /* it is to be the last */
} SimScribe;

/* A row that a process sent to the coordinator of this number. When so much of what it sent counts
 * as published (NodeStats), the row must be. */
typedef struct
{
  guint32 job, children, lease, renewed;
  guint64 mark_us;
} SimSent;

/* A row of the ledger that a process keeps until it is published. */
typedef struct
{
  guint64 number, name;
  char kind[16];
  NodeId id;
} SimKept;

/* What a process sent in its session with another, under these names. */
typedef struct
{
  NodeId self, other;
  guint64 sent[SESSION_STREAMS]; /* the highest number of a fragment */
} SimSession;

typedef struct
{
  Sim *sim;
  guint number;
  gboolean founder, bidding;
  gboolean stranger;  /* nobody wants it, so a closed run refuses it */
  gboolean replaced;  /* another has its address now */
  gboolean leaves;    /* it was asked to … */
  guint64 leave_us;   /* … then */
  gboolean by_signal; /* … in this way */
  gboolean stays;     /* … and it could not, so the run is to be suspended after this step */
  gboolean left;      /* its scribe publishes what it has, though it is not alive */
  gboolean alive, silent, member, told_to_start, mail_due;
  gboolean tell; /* it wants to hear what is at risk */
  char address[16];
  Node *node;
  Model *model;
  gpointer keeper; /* of keeper.c or real-keeper.c (nullable) */
  Stems *stems;
  SharedStore *shared;
  GArray *links; /* numbers of all that it ever had */
  guint64 timer, paused_us, clogged_us;
  guint64 busy_us;     /* it handles what came before until then (Plan.cost_us) … */
  guint queued;        /* … and so many messages wait for that */
  guint64 main;        /* counts the starts of main; 0 or stopped: none runs */
  gboolean main_waits; /* in satin_root */
  guint root;          /* for this root, or it is about to ask for it */
  guint64 last_dial;
  SimScribe scribe;
  guint64 commit_us, slow_us; /* a commit takes so long, and much longer until then */
  guint64 n_constants;
  Digest constants;
  guint64 rosters;       /* as many as were looked at */
  guint64 saw, missed;   /* bits of Sim.ids: members that were here with it; of them those that are
                            not any more */
  GArray *sent;          /* of SimSent: rows that do not count as published here */
  guint64 mark_us;       /* of the last of all that it sent */
  GArray *kept;          /* of SimKept, by number */
  guint64 events;        /* as many as it had to tell when that was looked at, */
  guint64 events_before; /* … before main returned or a suspend was asked for */
  guint n_bids;          /* in this life */
  guint64 epochs_begun, epochs_ended; /* that it led, as far as was looked */
  GPtrArray *lents;                   /* answers to LEND that are to be stepped */
  NodeId lent_to;
  SimSession sessions[SIM_NODES_MAX]; /* with each of the others */
  NodeId leavers[SIM_NODES_MAX]; /* the names under which others have told it that they leave */
} Process;

struct Sim
{
  const Plan *plan;
  Outcome *outcome;
  SimMakes makes;
  Story *story; /* nullable */
  guint64 now_us, order, deadline_us, last_fault_us;
  Agenda agenda; /* each kind is a HappenKind */
  GArray *links;
  guint n_processes;
  guint n_members; /* processes that live and are members */
  Process *processes[SIM_NODES_MAX];
  GHashTable *addresses; /* address to the newest process that has it */
  gboolean counting;     /* between the start of the root and its answer */
  guint n_victims;       /* processes that a fault with `every` ended */
  guint64 n_repairs;     /* at the last look */
  guint64 wall_us[SIM_SITES_MAX]
                 [SIM_SITES_MAX];         /* nothing gets from one site to another until then */
  Way wall[SIM_SITES_MAX][SIM_SITES_MAX]; /* … and what becomes of dials */
  guint64 apart_us[SIM_NODES_MAX][SIM_NODES_MAX]; /* the two do not hear each other until then */
  Rng links_rng, world_rng;
  Store published;
  gpointer place;                      /* of real-keeper.c: where the file of that stands */
  guint64 tag;                         /* of what is published: another one each time */
  gboolean calm;                       /* this life has no faults ahead and even delays */
  gboolean restored[TREE_JOBS_MAX];    /* covered when this life began */
  gboolean safe[TREE_JOBS_MAX];        /* covered when a process crashed; see check_crash */
  guint64 finished_us[TREE_JOBS_MAX];  /* first in this life; 0: not yet */
  guint8 finished[TREE_JOBS_MAX];      /* in this life */
  guint32 finished_by[TREE_JOBS_MAX];  /* … by the processes of these bits */
  gboolean handed[TREE_JOBS_MAX];      /* a process that had its result has left */
  guint64 forgotten_us[TREE_JOBS_MAX]; /* when it was aborted first in this life; 0: was not */
  guint n_answers, n_codes;
  guint32 poison;            /* the job that ends every process, counted from 1; 0: none */
  guint n_poisoned, n_words; /* processes that it ended in this life; those that said so */
  guint32 outlived;          /* these lived when the last member gave the run up */
  gboolean left_some;        /* somebody left and could not hand over everything to all */
  gboolean left_early;       /* … while somebody had not heard yet that it was a member */
  gboolean suspended, resuming, founded;
  gboolean closing;           /* in this life main has returned, or somebody wants it suspended */
  guint64 closing_us;         /* … then; 0: not yet */
  guint64 asked_us, lease_us; /* somebody began to wait for a round of saving then (0: nobody
                                  does); somebody became coordinator */
  guint asker;                /* it waits */
  guint64 begun_at;           /* this generation stood there when this life began */
  guint64 suspended_us;       /* somebody wanted it suspended then */
  guint n_deaths, n_causes;   /* in this life: processes that ended or lost their names without
                                 leaving; what may bring an election */
  guint n_ids;
  NodeId ids[STORE_MEMBERS_MAX]; /* of all members ever */
  gboolean unsaved;              /* this life was ended since nobody could write the checkpoint */
  gboolean lives_left;           /* a lost run could still be taken up again */
  guint resume_count;
  guint next_message_fault;
  GArray *effects, *progress;   /* of NodeEffect, NodeProgress */
  GBytes *heard; /* (nullable) borrowed: the message that the present step is about */
  gboolean looked_united;       /* this has been looked at, since the last fault */
  gboolean asked;               /* somebody waits for a round of saving … */
  guint8 wanted[TREE_JOBS_MAX]; /* … that saves these */
  guint8 epoch[TREE_JOBS_MAX];  /* finished when the last epoch began … */
  guint64 epoch_at;             /* … and this was published */
};

/* sim.c */
void sim_fail (Sim *sim, const char *format, ...) G_GNUC_PRINTF (2, 3);
void sim_say (Sim *sim, const char *format, ...) G_GNUC_PRINTF (2, 3);
Happen *sim_expect (Sim *sim, guint64 at_us, HappenKind kind,
                    guint node); /* valid until the next call */
void sim_step (Sim *sim, Process *process, const NodeEvent *event);
/* The driver tells what the engine did. */
void sim_tell_work (Sim *sim, Process *process);

/* links.c */
void links_dial (Sim *sim, Process *process, guint64 dial, const char *address);
/* An urgent message may pass large ones. */
void links_send (Sim *sim, Process *process, guint64 number, GPtrArray *parts, gboolean urgent);
void links_close (Sim *sim, Process *process, guint64 number);
/* The process is gone: politely (all it sent arrives), suddenly, or silently. */
void links_lose (Sim *sim, Process *process, FaultKind how);
void links_reset (Sim *sim, Process *process);
/* What becomes of a dial now. */
Way links_way (const Sim *sim, const Process *from, const Process *to);
guint links_site (const Sim *sim, const Process *process);
/* Between these two sites nothing gets through until then. */
void links_wall (Sim *sim, guint site, guint other, guint64 until_us);
void links_half_open (Sim *sim, const Process *process);
void links_happen (Sim *sim, const Happen *happen);

/* process.c */
Process *process_start (Sim *sim, gboolean founder, gboolean stranger);
void process_end (Sim *sim, Process *process, FaultKind how);
void process_free (Process *process);
void process_carry_out (Sim *sim, Process *process, NodeEffect *effect);
void process_happen (Sim *sim, const Happen *happen);
guint sim_n_alive (const Sim *sim);
/* Does anybody? */
gboolean sim_lives (const Sim *sim);

/* keeper.c */
void keeper_open (Sim *sim, Process *process, const NodeEffect *effect);
void keeper_retire (Sim *sim, Process *process);
void keeper_answer (Sim *sim, Process *process, GBytes *answer);
/* `final`: the run ends. */
void keeper_finish (Sim *sim, Process *process, gboolean final);
void keeper_bid (Sim *sim, Process *process);
gboolean keeper_can_write (const Process *process);
/* Tells a while later what there is of this job and all below it. */
void keeper_salvage (Sim *sim, Process *process, const char *path);
void keeper_save (Sim *sim, Process *process, GPtrArray *rows, guint64 ticket);
/* A member joined. */
void keeper_member (Sim *sim, Process *process, const NodeEffect *effect);
/* A row of the ledger. */
void keeper_note (Sim *sim, Process *process, const NodeEffect *effect);
void keeper_happen (Sim *sim, Process *process, const Happen *happen);
/* The process has ended. */
void keeper_gone (Sim *sim, Process *process);
void keeper_free (Process *process);
/* Around a run. */
void keeper_begin (Sim *sim);
void keeper_end (Sim *sim);
/* All processes have ended, and perhaps the machine with the store, too. */
void keeper_all_gone (Sim *sim);

/* figures.c */
/* The root starts; it has its answer. */
void figures_begin (Sim *sim);
void figures_answer (Sim *sim);
/* This message is sent. */
void figures_sent (Sim *sim, GBytes *bytes);
/* A fault strikes. */
void figures_struck (Sim *sim);
/* Has some node noticed it? */
void figures_look (Sim *sim);

/* faults.c */
void faults_schedule (Sim *sim);
void faults_strike (Sim *sim, const Fault *fault);
void faults_start_life (Sim *sim, guint n);
void faults_start_process (Sim *sim, gboolean founder, gboolean late);
/* This process runs the job that ends it, if nobody has aborted it meanwhile. */
void faults_poison (Sim *sim, Process *process);
/* Somebody wants the run to be suspended, and to go on with so many. */
void faults_suspend (Sim *sim, Process *process, guint count);
/* Strikes the fault that was planned before this delivery. */
void faults_before (Sim *sim, const Happen *happen);
/* Is it over, or are fresh processes to start? */
void faults_look_after (Sim *sim);

/* check.c */
void check_started (Sim *sim, Process *process, guint32 job, gboolean from_elsewhere);
void check_finished (Sim *sim, const Process *process, guint32 job);
void check_forgotten (Sim *sim, guint32 job);
void check_after_step (Sim *sim, Process *process);
void check_answer (Sim *sim, guint root, GBytes *value);
/* A process is about to crash: what the published file covers now is never executed again. */
gboolean check_one_crash (const Sim *sim);
void check_crash (Sim *sim);
/* After a step: the rows that this process takes for kept stand at its keeper: I27. */
void check_kept (Sim *sim, Process *process);
void check_trimmed (Sim *sim, const Process *process);
void check_epochs (Sim *sim, Process *process);
void check_ended (Sim *sim, Process *process, guint64 code, gboolean finished);
/* What `before` covers is still covered. */
void check_published (Sim *sim, const Store *before);
/* One more bid is under way. */
void check_bids (Sim *sim);
/* This process takes over a place that is another one. */
void check_place (Sim *sim, Process *process, guint64 required);
/* A round of saving is over at this process. */
void check_saved (Sim *sim, const Process *process, const NodeEffect *effect);
/* A job has ended one more process. */
void check_poisoned (Sim *sim);
/* A job ends this process, which has said so. If it is the last member, whoever lives may hear that
 * the run is over. */
void check_crash_report (Sim *sim, const Process *process);
/* Some time after the last fault all that live know the same members. */
void check_united (Sim *sim);
void check_stands_still (Sim *sim);
void check_at_the_end (Sim *sim);

/* Was the job, or one that it lies below, aborted? */
gboolean check_is_forgotten (const Sim *sim, guint32 job);

/* check-leave.c */
/* This process left. */
void check_left (Sim *sim, Process *process, const NodeEffect *effect);
/* These bytes are sent: MESSAGE_HEARD says that `to` leaves, and then there is no work for it. */
void check_given (Sim *sim, Process *process, const Process *to, GBytes *bytes);
/* The engine of this process is asked for jobs for that node. */
void check_lent (Sim *sim, const Process *process, const NodeId *thief);

/* check-time.c */
/* Only these faults, and everybody can write the checkpoint. */
gboolean check_has_only (const Sim *sim, guint32 kinds);
/* This process ends: no time limit has ended a wait of it, where nothing went wrong. */
void check_expired (Sim *sim, const Process *process, const NodeStats *stats);
gboolean check_has_expired (const Sim *sim);
/* After a step: what somebody waits for takes no longer than it may. */
void check_times (Sim *sim, const Process *process);

/* check-saved.c */
/* The roster of this process may be another one: what a member sees of the others before the end of
 * the run is to stand in the ledger. */
void check_roster (Sim *sim, Process *process, guint64 rosters);
/* This message is sent: a MESSAGE_SAVE is kept in mind. */
void check_sent (Sim *sim, Process *process, GPtrArray *parts);
/* After a step: what counts as published is. */
void check_acknowledged (Sim *sim, Process *process, const NodeStats *stats);
/* After a step: what it no longer keeps to tell the next coordinator stands in the ledger. */
void check_noted (Sim *sim, Process *process, const NodeStats *stats);
/* The run ends, and is saved: what living ones kept to tell stands in the ledger, too. */
void check_told (Sim *sim, const Process *ender);
/* The run ends suspended, by the word of this process: what living members hold is saved. */
void check_closed (Sim *sim, const Process *process);
/* A job is given to run alone, or people are warned of it. */
void check_quarantine (Sim *sim, const Process *process);
/* This process is to bid once more. */
void check_election (Sim *sim, Process *process);
/* Nothing was lost, so nothing is done twice. */
void check_redone (Sim *sim);
/* The run ends, and is saved: whatever node wrote the ledger, and whichever died, what a living one
 * saw stands in it. */
void check_ledger (Sim *sim, const Process *ender);
