/* SPDX-License-Identifier: BSD-3-Clause */
/* N protocol Nodes in virtual time, each with a model engine, a main and a scribe. A run is a pure
 * function of its Plan: the same plan gives the same steps, and a hash over all steps proves it.
 * The Sim owns time, links and faults; check.c contains what must hold; swarm.c and enumerate.c
 * contain what is tried. */
#pragma once

#include "model.h"
#include "rng.h"
#include "store.h"

#ifndef SIM_NODES_MAX    /* sim-scale has more. */
#define SIM_NODES_MAX 24 /* Processes started in one run. */
#define SIM_SITES_MAX 4
#endif
#define SIM_FAULTS_MAX 8
#define SIM_SAID_MAX 96 /* Kinds of messages. */
#define SIM_SECOND G_GUINT64_CONSTANT (1000000)

typedef enum
{
  FAULT_NONE,
  FAULT_CRASH,   /* The process dies: its links break, dials are refused. */
  FAULT_VANISH,  /* The machine dies: its links fall silent, dials time out. */
  FAULT_PAUSE,   /* The process gets nothing for a while. */
  FAULT_CLOG,    /* All links of the process stall for a while. */
  FAULT_APART,   /* Its links to one other process stall for a while. */
  FAULT_HALF,    /* Its present links swallow everything, and no end is told when one is closed. */
  FAULT_RESET,   /* One of its links breaks; what is under way is lost from some point on. */
  FAULT_JOIN,    /* A new process joins. */
  FAULT_TOTAL,   /* Every process dies; `count` new ones go on from the checkpoint. */
  FAULT_SAVE,    /* The user asks the run to save now. */
  FAULT_SUSPEND, /* The user suspends the run; after its end `count` new processes resume it. */
  FAULT_SLOW,    /* Its commits take long for a while. */
  FAULT_HEAD,    /* The present coordinator crashes. */
  FAULT_LEAVE,   /* The process is asked to leave within for_us (0: the usual time); an even count:
                  * by a signal, so that the run is suspended if the process cannot leave. */
  FAULT_POISON,  /* From the start the job `count` (modulo the number of jobs) ends every process
                  * that runs it. */
  FAULT_WALL,    /* Between its site and another one nothing passes for a while: links break, dials
                  * fail. */
  FAULT_KINDS
} FaultKind;

typedef struct
{
  FaultKind kind;
  guint node;  /* The victim is living process number `node`, modulo their number. */
  guint every; /* FAULT_CRASH, if not 0: of each `every` processes, `count` die at once, from `node`
                * on. */
  guint count;
  guint64 at_us;      /* The fault strikes at this time … */
  guint64 at_message; /* … or, if not 0, before the delivery of this message. */
  guint64 for_us;
} Fault;

/* What becomes of a dial from one site to another. */
typedef enum
{
  WAY_OPEN,
  WAY_REFUSES, /* Something on the way refuses, as if no process were there. */
  WAY_DROPS    /* There is no answer. */
} Way;

/* Is called during a run. Borrowed by the plan. */
typedef struct SimWatch SimWatch;
struct SimWatch
{
  /* The `number`-th message arrives. */
  void (*message) (SimWatch *watch, guint64 number, guint from, guint to, GBytes *bytes);
  /* A job is executed, perhaps not for the first time. */
  void (*started) (SimWatch *watch, guint process, guint32 job);
};

/* Whether rows are also sent to other members, and to which. */
typedef enum
{
  SIM_NO_BUDDIES, /* FALSE. */
  SIM_BUDDIES,    /* TRUE: as in plan `auto`. */
  SIM_RING,       /* As in plan `buddy`. */
  SIM_THEFT,      /* The same, and thefts wait for them: plan `theft`. */
  SIM_CUT,        /* Not to members, but to the coordinator in its epochs: plan `cut`. */
  SIM_MIRROR      /* Results go to their lenders' keepers; nothing waits: plan `mirror`. */
} SimBuddies;

typedef struct
{
  const Tree *tree;
  guint64 seed;
  guint aborts;     /* Of a fixed plan: percent of jobs that do not want all their children. */
  gboolean lasting; /* Of a fixed plan: its jobs last long. */
  guint n_nodes, seats, stacks_extra, shy;
  guint64 drowsy_us;
  guint64 scan_us;    /* The longest delay before an engine serves scans and halts. */
  guint large;        /* Percent: how many messages are large, of those that may be; urgent messages
                       * pass them. */
  guint n_bests;      /* 0 or 1. */
  gboolean terse;     /* The engine does not report that no seat is idle any more. */
  gboolean late_mail; /* The engine's mailbox is read a while later. */
  gboolean slow_node; /* One node computes slowly. */
  gboolean checkpoint;
  guint64 shared_memory;            /* The limit for shared bytes that were fetched. */
  guint dense;                      /* Up to this number all nodes are linked; 0: the default. */
  SimBuddies buddies;               /* Whether rows are also sent to other members … */
  guint64 copy_us;                  /* … and at which interval; 0: the default. */
  gboolean naive;                   /* Orphans are dropped. */
  double verify;                    /* The fraction of results that are computed twice. */
  gboolean solo;                    /* One node without an address. */
  gboolean one_way;                 /* A stalled process receives, but its messages stall. */
  gboolean closed;                  /* Only invited processes may join … */
  guint strangers;                  /* … and this percentage of later ones is not. */
  gboolean old_ports;               /* A new process may get the address of a dead one. */
  gboolean heavy;                   /* The poisonous job ends only processes that run other jobs
                                     * too, and none of them can report it. */
  gboolean mute;                    /* A process that a job ends may be unable to report it. */
  gboolean sudden;                  /* A crash also takes what the process sent last. */
  gboolean swings;                  /* Links are much slower at times. */
  guint64 main_us;                  /* The delay before main begins … */
  guint64 between_us;               /* … and the time that it needs between two roots. */
  guint64 poll_us;                  /* The interval of looks for an abort; 0: at once. */
  guint64 wan_us;                   /* The additional delay between two sites. */
  guint64 heartbeat_us, silence_us; /* 0: the defaults. */
  NodeSteal steal;                  /* Which nodes thieves ask. */
  gboolean far_hosts;               /* A refused dial may be the answer of something on the way. */
  guint n_sites;                    /* 0: as 1. Process N is at site N modulo this. */
  Way ways[SIM_SITES_MAX][SIM_SITES_MAX]; /* From, to. */
  guint64 delay_us;                       /* The typical delay of a link … */
  gboolean even_delays;                   /* … or always exactly that. */
  guint64 save_us, publish_us;
  guint64 settle_us;   /* From a join to the election that it causes. */
  guint64 commit_us;   /* The slowest path to the checkpoint; 0: writing takes no time. */
  gboolean swaps;      /* The store compares before it replaces. */
  guint unable;        /* Percent of processes that cannot write the checkpoint … */
  guint elsewhere;     /* … or that see another place of that name. */
  guint fast;          /* The process with the fast path, counted from 1; 0: chosen at random. */
  guint64 tell_us;     /* The interval at which work is reported. */
  guint64 join_us;     /* The other processes start within this time. */
  guint64 patience_us; /* From the last fault to the end. */
  guint64 united_us;   /* From the last fault until all have one roster; 0: not checked. */
  guint64 cost_us;     /* The time that a process needs for each message that it sends or receives,
                        * one after the other. */
  guint64 look_us;     /* After a fault, the interval at which is checked which processes have
                        * noticed it; 0: never. */
  gboolean unwatched;  /* Only the answer is checked. */
  SimWatch *watch;     /* (nullable) */
  guint n_faults;
  Fault faults[SIM_FAULTS_MAX];
} Plan;

/* Messages by kind, and their bytes in all. */
typedef struct
{
  guint64 said[SIM_SAID_MAX], bytes;
} SimSaid;

/* The cost of a run, from the root's start to its answer (figures.c). */
typedef struct
{
  guint64 begun_us, answered_us;
  guint64 joined_us;                     /* When the last process became a member. */
  SimSaid before, run;                   /* Before the root starts, and from then on. */
  guint queue_most;                      /* The longest queue of one process. */
  guint links_most;                      /* The most links of one process at the answer … */
  guint64 links;                         /* … and the links of all processes. */
  guint64 struck_us;                     /* The time of the first fault. */
  guint64 noticed_us, noticed_by_all_us; /* When a survivor, and when all survivors, knew of all
                                          * deaths. */
  guint64 repaired_us; /* The last time that a slot came back or an orphan was adopted. */
} SimFigures;

typedef struct
{
  char failure[400]; /* Empty: all is well. */
  gboolean answered;
  guint64 hash; /* Over every step, if SimMakes asks for it. */
  guint64 end_us, steps, messages, deliveries, executed, jobs_lent, lives, generations;
  guint64 steals_remote, adopted, lost, forgotten;
  guint64 lost_us;      /* Lost work as the nodes report it … */
  guint64 lost_true_us; /* … and what the crashed processes had in fact. */
  guint64 work_us, answer_us;
  guint64 recalled, fetched;
  guint64 routed;         /* Jobs lent to a process that cannot be linked directly. */
  guint64 accused;        /* Members taken for dead, as reported by the processes that ended. */
  guint n_idle;           /* Processes that ended without having done anything. */
  guint64 elected, moved; /* Coordinators; those elected while the one before lived. */
  guint64 silenced;       /* How often a member was taken for dead because of its silence. */
  guint64 refused;        /* Processes that a closed run refused. */
  guint64 left;           /* Processes that left and handed over all that they had. */
  guint64 sent[SIM_NODES_MAX]; /* Messages, by process. */
  guint64 races; /* Coordinators; publications that replaced one that they had not read. */
  guint64 leapfrogs, wholes; /* sim-real: jobs on top of a wait; scans of all rows. */
  guint64 power_lost;        /* How often the store lost what was not synced. */
  guint64 condemned;         /* 1: the run ended because of a job that no process survives. */
  guint64 poisoned;          /* Processes that such a job ended. */
  guint bids_most;           /* The most bids at once. */
  guint coordinator;         /* The process that was coordinator at the end, counted from 1. */
  guint alone;               /* Suspicious jobs that were given to an idle node. */
  guint deposed;             /* Masters that found an elder master. */
  guint64 united;            /* Comparisons of all rosters, some time after the last fault. */
  guint64 epochs;            /* Epochs that began. */
  guint n_victims;           /* How many processes the last fault could strike, by its node. */
  SimFigures figures;
} Outcome;

/* What else a run makes of every step. */
typedef enum
{
  SIM_NOTHING,
  SIM_HASH, /* Outcome.hash. */
  SIM_LINE  /* The hash, and a printed line. */
} SimMakes;

/* Runs the plan to its end. */
void sim_run (const Plan *plan, SimMakes makes, Outcome *outcome);
/* The same, but writes into the story what is said and done; the commands of the story strike the
 * plan's faults (story.h). */
typedef struct Story Story;
void sim_run_story (const Plan *plan, SimMakes makes, Story *story, Outcome *outcome);
