/* SPDX-License-Identifier: BSD-3-Clause */
/* N protocol Nodes, each with a model engine, a main and a scribe, in virtual time. A run is a pure
 * function of its Plan: the same plan gives the same steps, and a hash over every step proves it.
 * The Sim owns time, links and faults; what must hold is in check.c; what is tried is in swarm.c
 * and enumerate.c. */
#pragma once

#include "model.h"
#include "rng.h"
#include "store.h"

#ifndef SIM_NODES_MAX    /* sim-scale has more */
#define SIM_NODES_MAX 24 /* processes ever started in one run */
#define SIM_SITES_MAX 4
#endif
#define SIM_FAULTS_MAX 8
#define SIM_SAID_MAX 96 /* kinds of messages */
#define SIM_SECOND G_GUINT64_CONSTANT (1000000)

typedef enum
{
  FAULT_NONE,
  FAULT_CRASH,   /* the process dies: its links break, dials are refused */
  FAULT_VANISH,  /* the machine dies: silence, dials time out */
  FAULT_PAUSE,   /* the process gets nothing for a while */
  FAULT_CLOG,    /* all its links stall for a while */
  FAULT_APART,   /* its links to one other process stall for a while */
  FAULT_HALF,    /* its links of now swallow everything, and nobody is told when one is closed */
  FAULT_RESET,   /* one of its links breaks, what is under way is lost from some point on */
  FAULT_JOIN,    /* a fresh process joins */
  FAULT_TOTAL,   /* every process dies; `count` fresh ones go on from the checkpoint */
  FAULT_SAVE,    /* people have the run save now */
  FAULT_SUSPEND, /* people suspend the run; once it has ended `count` fresh processes resume it */
  FAULT_SLOW,    /* its commits take long for a while */
  FAULT_HEAD,    /* the coordinator crashes, whoever that is */
  FAULT_LEAVE,   /* the process is asked to leave within for_us (0: some time); an even count: by a
                    signal, so that the run is suspended if it cannot */
  FAULT_POISON,  /* the job `count` (counted round) ends every process that runs it, from the start
                  */
  FAULT_WALL,    /* between its site and another nothing is let through for a while: links break,
                    dials fail */
  FAULT_KINDS
} FaultKind;

typedef struct
{
  FaultKind kind;
  guint node;  /* the victim is the node-th living process, counted round */
  guint every; /* FAULT_CRASH: not 0: the `count` processes from `node` on of each so many die at
                  once */
  guint count;
  guint64 at_us;      /* … at this time */
  guint64 at_message; /* … or, when not 0, before the delivery of this message */
  guint64 for_us;
} Fault;

/* What becomes of a dial from one site to another. */
typedef enum
{
  WAY_OPEN,
  WAY_REFUSES, /* something on the way says that nobody is there */
  WAY_DROPS    /* nothing comes back */
} Way;

/* Is told of a run while it goes on. Borrowed by the plan. */
typedef struct SimWatch SimWatch;
struct SimWatch
{
  /* The `number`-th message arrives. */
  void (*message) (SimWatch *watch, guint64 number, guint from, guint to, GBytes *bytes);
  /* A job is executed, perhaps not for the first time. */
  void (*started) (SimWatch *watch, guint process, guint32 job);
};

/* Whether rows go to other members, too, and to which. */
typedef enum
{
  SIM_NO_BUDDIES, /* FALSE */
  SIM_BUDDIES,    /* TRUE: as plan `auto` has it */
  SIM_RING,       /* as plan `buddy` has it */
  SIM_THEFT,      /* the same, and thefts wait for them: plan `theft` */
  SIM_CUT,        /* no: to the coordinator in its epochs, as plan `cut` has it */
  SIM_MIRROR      /* results go to their lenders' keepers, and nothing waits: plan `mirror` */
} SimBuddies;

typedef struct
{
  const Tree *tree;
  guint64 seed;
  guint aborts;     /* of a fixed plan: percent of jobs that do not want all their children */
  gboolean lasting; /* of a fixed plan: its jobs last long */
  guint n_nodes, seats, stacks_extra, shy;
  guint64 drowsy_us;
  guint64 scan_us;    /* engines are so slow to look at what scans and halts ask for */
  guint large;        /* percent of the messages that may are large: urgent ones pass them */
  guint n_bests;      /* 0 or 1 */
  gboolean terse;     /* the engine does not say that it is fed */
  gboolean late_mail; /* the engine's mailbox is read a while later */
  gboolean slow_node; /* one node computes slowly */
  gboolean checkpoint;
  guint64 shared_memory;            /* for shared bytes that were fetched */
  guint dense;                      /* so many nodes are all linked to each other; 0: as usual */
  SimBuddies buddies;               /* rows go to other members, too … */
  guint64 copy_us;                  /* … so often; 0: as usual */
  gboolean naive;                   /* orphans are dropped */
  double verify;                    /* this share of results is computed twice */
  gboolean solo;                    /* one node without an address */
  gboolean one_way;                 /* a stalled process hears, but is not heard */
  gboolean closed;                  /* nobody joins who is not wanted … */
  guint strangers;                  /* … and so many of 100 that come later are not */
  gboolean old_ports;               /* a fresh process may get the address of a dead one */
  gboolean heavy;                   /* that job ends only a process that has others at work too, and
                                       none of them can say so */
  gboolean mute;                    /* a process that a job ends may not be able to say so */
  gboolean sudden;                  /* a crash also takes what it had sent last */
  gboolean swings;                  /* links are much slower at times */
  guint64 main_us;                  /* main begins so late … */
  guint64 between_us;               /* … and needs so long between two roots */
  guint64 poll_us;                  /* what computes hears so late of an abort; 0: at once */
  guint64 wan_us;                   /* as much more between two sites */
  guint64 heartbeat_us, silence_us; /* 0: as usual */
  NodeSteal steal;                  /* whom thieves ask */
  gboolean far_hosts;               /* a refused dial may be the word of something on the way */
  guint n_sites;                    /* 0: as if 1; process N is at site N modulo this */
  Way ways[SIM_SITES_MAX][SIM_SITES_MAX]; /* from, to */
  guint64 delay_us;                       /* the typical delay of a link */
  gboolean even_delays;                   /* … always exactly that */
  guint64 save_us, publish_us;
  guint64 settle_us;   /* from a join to the election that it brings */
  guint64 commit_us;   /* the slowest path to the checkpoint; 0: no time at all */
  gboolean swaps;      /* the store compares before it replaces */
  guint unable;        /* of a hundred processes cannot write there … */
  guint elsewhere;     /* … or have another place of that name */
  guint fast;          /* this process has the fast path, counted from 1; 0: at random */
  guint64 tell_us;     /* how often work is told */
  guint64 join_us;     /* the others start within this time */
  guint64 patience_us; /* from the last fault to the end */
  guint64 united_us;   /* … and to the time when all have one roster; 0: that is not looked at */
  guint64 cost_us;     /* a process needs so long for each message that it sends or hears, one
                          after the other */
  guint64 look_us;     /* after a fault, so often it is looked at who has noticed; 0: never */
  gboolean unwatched;  /* nothing but the answer is checked */
  SimWatch *watch;     /* (nullable) */
  guint n_faults;
  Fault faults[SIM_FAULTS_MAX];
} Plan;

/* Messages by kind, and the bytes of all. */
typedef struct
{
  guint64 said[SIM_SAID_MAX], bytes;
} SimSaid;

/* What a run costs, from the root's start to its answer (figures.c). */
typedef struct
{
  guint64 begun_us, answered_us;
  guint64 joined_us;                     /* the last process became a member */
  SimSaid before, run;                   /* before the root starts, and then */
  guint queue_most;                      /* messages that waited for one process at once */
  guint links_most;                      /* links of one process at the answer … */
  guint64 links;                         /* … and of all processes together */
  guint64 struck_us;                     /* the first fault */
  guint64 noticed_us, noticed_by_all_us; /* a survivor, all survivors know of all deaths */
  guint64 repaired_us; /* the last time that a slot came back or an orphan was adopted */
} SimFigures;

typedef struct
{
  char failure[400]; /* empty: all is well */
  gboolean answered;
  guint64 hash; /* over every step, if that was wanted */
  guint64 end_us, steps, messages, deliveries, executed, jobs_lent, lives, generations;
  guint64 steals_remote, adopted, lost, forgotten;
  guint64 lost_us;      /* work, by the nodes' own account … */
  guint64 lost_true_us; /* … and by what was in the processes that crashed */
  guint64 work_us, answer_us;
  guint64 recalled, fetched;
  guint64 routed;         /* jobs lent to a process that cannot be dialled from here nor dial */
  guint64 accused;        /* members taken for dead, as the processes that ended say */
  guint n_idle;           /* processes that ended and had done nothing */
  guint64 elected, moved; /* coordinators; of them while the one before lived */
  guint64 silenced;       /* times that a member was taken for dead because it was silent */
  guint64 refused;        /* processes that a closed run did not want */
  guint64 left;           /* processes that left and handed over all they had */
  guint64 sent[SIM_NODES_MAX]; /* messages, by process */
  guint64 races; /* coordinators; publications that went over one that was not looked at */
  guint64 leapfrogs, wholes; /* sim-real: jobs on top of a wait; scans of all rows */
  guint64 power_lost;        /* times that the store lost what was not synced */
  guint64 condemned;         /* 1: ended by a job that no process survives */
  guint64 poisoned;          /* processes that such a job ended */
  guint bids_most;           /* at once */
  guint coordinator;         /* at the end: its process, counted from 1 */
  guint alone;               /* suspicious jobs that were given to a node that had nothing to do */
  guint deposed;             /* masters that found an elder one */
  guint64 united;            /* looks at all that lived, some time after the last fault */
  guint64 epochs;            /* that were begun */
  SimFigures figures;
} Outcome;

/* What is made of every step besides. */
typedef enum
{
  SIM_NOTHING,
  SIM_HASH, /* Outcome.hash */
  SIM_LINE  /* it is printed too */
} SimMakes;

/* Runs the plan to its end. */
void sim_run (const Plan *plan, SimMakes makes, Outcome *outcome);
/* The same; what is said and done is written into the story, whose commands bring the plan's faults
 * (story.h). */
typedef struct Story Story;
void sim_run_story (const Plan *plan, SimMakes makes, Story *story, Outcome *outcome);
