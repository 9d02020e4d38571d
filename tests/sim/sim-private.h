/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of one simulated run: sim.c (time, events, steps), links.c (links and their
 * faults), process.c (what surrounds a Node: engine, main, scribe), check.c (what must hold). */
#pragma once

#include "agenda.h"
#include "mesh/session-frame.h"
#include "sim.h"

#define SIM_SLOW_FACTOR 8 /* A slow node computes this many times longer. */
#define SIM_PID 100       /* The pid of the first process; the pid of a member tells its process. */

typedef struct Sim Sim;

typedef enum
{
  HAPPEN_START, /* The process starts. */
  HAPPEN_MESSAGE,
  HAPPEN_LINK_UP,
  HAPPEN_LINK_DOWN,
  HAPPEN_DIAL_FAILED,
  HAPPEN_TIMER,
  HAPPEN_WAKE,     /* The segment of a stack ends. */
  HAPPEN_MAIL,     /* The engine's mailbox is read. */
  HAPPEN_MAIN,     /* main starts. */
  HAPPEN_MAIN_END, /* main returns. */
  HAPPEN_OPENED,   /* The scribe has read the checkpoint. */
  HAPPEN_PUBLISH,  /* The scribe reads the published file and begins to write. */
  HAPPEN_PUT,      /* It replaces the published file. */
  HAPPEN_DECLINED, /* It says that publishing is not worth its cost. */
  HAPPEN_BID,      /* A timed commit ends. */
  HAPPEN_SALVAGED,
  HAPPEN_TELL,   /* The driver reports the work of the engine. */
  HAPPEN_JOIN,   /* The joiner gets an address. */
  HAPPEN_POISON, /* A job ends its process. */
  HAPPEN_FAULT,
  HAPPEN_RESUME, /* New processes go on from the checkpoint. */
  HAPPEN_LOOK    /* Looks which processes have noticed a fault. */
} HappenKind;

typedef struct
{
  guint node[2];
  gboolean open[2];
  guint64 urgent_us[2]; /* When the last urgent message arrives. */
  guint64 sent_us[2];   /* When the last message that is not urgent was sent. */
  guint64 begin_us[2];  /* When the first message of that time arrives: urgent ones pass it. */
  guint64 last_us[2];   /* When the last message under way to this side arrives. */
  guint64 cut_us[2];    /* What would arrive later is lost; 0: nothing is. */
  gboolean half;        /* Nothing arrives, not even the end of the link. */
} Link;

/* The scribe of a process that is coordinator. */
typedef struct
{
  Store *work;         /* NULL: there is no scribe. */
  guint64 life;        /* The number of the present term. */
  gboolean whole;      /* All rows are to be reported when it has opened. */
  guint64 required;    /* The file must have at least this generation. */
  guint64 saves;       /* The number of orders to save. */
  gboolean putting;    /* TRUE: a publication is under way. */
  Store *put, *looked; /* Of that publication: the united rows, and the file that it read; NULL
                        * before the first one. */
  guint64 put_saves, looked_tag;
  guint64 told_saves, told_generation; /* Of the last publication that ended. */
  gboolean declined;  /* The last PUBLISH_IF_WORTH was answered without a publication. */
  gboolean put_final; /* The publication answers FINAL or PUBLISH. */
  gboolean final_due; /* A publication that does is to follow. */
  gboolean retiring;  /* The publication is to be the last. */
} SimScribe;

/* A row that a process sent to the coordinator of this lease. When the published mark (NodeStats)
 * reaches `mark_us`, the row must be published. */
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

/* What a process sent in its session with another process, under these ids. */
typedef struct
{
  NodeId self, other;
  guint64 sent[SESSION_STREAMS]; /* The highest number of a fragment. */
} SimSession;

typedef struct
{
  Sim *sim;
  guint number;
  gboolean founder, bidding;
  gboolean stranger;  /* A closed run does not want it and refuses it. */
  gboolean replaced;  /* Another process has its address now. */
  gboolean leaves;    /* It was asked to leave … */
  guint64 leave_us;   /* … at this time */
  gboolean by_signal; /* … by a signal. */
  gboolean stays;     /* It was asked by a signal and could not leave, so the run is to be suspended
                       * after this step. */
  gboolean left;      /* It has ended, but its scribe still publishes. */
  gboolean alive, silent, member, told_to_start, mail_due;
  gboolean tell; /* Its node asks for a report of the work at risk. */
  char address[16];
  Node *node;
  Model *model;
  gpointer keeper; /* (nullable) Data of keeper.c or real-keeper.c. */
  Stems *stems;
  SharedStore *shared;
  GArray *links; /* The numbers of all links that it ever had. */
  guint64 timer, paused_us, clogged_us;
  guint64 busy_us;     /* Until then it is busy with earlier messages (Plan.cost_us). */
  guint queued;        /* The messages that wait for that. */
  guint64 main;        /* Counts the starts of main; 0, or stopped: main does not run. */
  gboolean main_waits; /* main is in satin_root. */
  guint root;          /* The root that main waits for, or asks for next. */
  guint64 last_dial;
  SimScribe scribe;
  guint64 commit_us, slow_us; /* The duration of a commit; until slow_us it is much longer. */
  guint64 n_constants;
  Digest constants;
  guint64 rosters;       /* The number of roster changes that were checked. */
  guint64 saw, missed;   /* Bits of Sim.ids: members that this process saw; those of them that are
                          * gone now. */
  GArray *sent;          /* Of SimSent: rows that do not count as published here. */
  guint64 mark_us;       /* The mark of the last row sent. */
  GArray *kept;          /* Of SimKept, by number. */
  guint64 events;        /* The number of events to report when that was last checked … */
  guint64 events_before; /* … and before main returned or a suspend was requested. */
  guint n_bids;          /* In this life. */
  guint64 epochs_begun, epochs_ended; /* Epochs that it led, as far as checked. */
  GPtrArray *lents;                   /* Answers to LEND that are not stepped yet. */
  NodeId lent_to;
  SimSession sessions[SIM_NODES_MAX]; /* Indexed by the number of the other process. */
  guint64
      vain_us[SIM_NODES_MAX]; /* Since then it has rows of a member that needs it no more; 0: no. */
  guint64 owed_us[TREE_JOBS_MAX];     /* By job: since then it has a result for another node. */
  NodeId leavers[SIM_NODES_MAX];      /* The ids under which others have told it that they leave. */
} Process;

struct Sim
{
  const Plan *plan;
  Outcome *outcome;
  SimMakes makes;
  Story *story; /* (nullable) */
  guint64 now_us, order, deadline_us, last_fault_us;
  Agenda agenda; /* Each kind is a HappenKind. */
  GArray *links;
  guint n_processes;
  guint n_members; /* Living processes that are members. */
  Process *processes[SIM_NODES_MAX];
  GHashTable *addresses; /* Address to the newest process with that address. */
  gboolean counting;     /* TRUE: between the start of the root and its answer. */
  guint n_victims;       /* Processes that a fault with `every` ended. */
  guint64 n_repairs;     /* At the last check. */
  guint64 wall_us[SIM_SITES_MAX][SIM_SITES_MAX];  /* Until then nothing passes. */
  Way wall[SIM_SITES_MAX][SIM_SITES_MAX];         /* What becomes of dials meanwhile. */
  guint64 apart_us[SIM_NODES_MAX][SIM_NODES_MAX]; /* Until then they do not hear each other. */
  Rng links_rng, world_rng;
  Store published;
  gpointer place;                      /* Of real-keeper.c: the place of the file. */
  guint64 tag;                         /* Of the published file: new each time. */
  gboolean calm;                       /* This life has no further faults, and even delays. */
  gboolean restored[TREE_JOBS_MAX];    /* Covered when this life began. */
  gboolean safe[TREE_JOBS_MAX];        /* Covered when a process crashed; see check_crash. */
  guint64 finished_us[TREE_JOBS_MAX];  /* The first time in this life; 0: not yet. */
  guint8 finished[TREE_JOBS_MAX];      /* In this life: how often. */
  guint32 finished_by[TREE_JOBS_MAX];  /* The processes that finished it, as bits. */
  gboolean handed[TREE_JOBS_MAX];      /* A process that had its result has left. */
  guint64 forgotten_us[TREE_JOBS_MAX]; /* When it was first aborted in this life; 0: never. */
  guint n_answers, n_codes;
  guint32 poison;            /* The job that ends every process, counted from 1; 0: none. */
  guint n_poisoned, n_words; /* In this life: processes that it ended; those that reported it. */
  guint32 outlived;          /* The processes that lived when the last member gave up the run. */
  gboolean left_some;        /* A process left and could not hand over everything to all … */
  gboolean left_early;       /* … while a process did not know yet that it was a member. */
  gboolean suspended, resuming, founded;
  gboolean closing;           /* In this life main has returned, or a suspend was requested. */
  guint64 closing_us;         /* When that happened; 0: not yet. */
  guint64 asked_us, lease_us; /* When a process began to wait for a round of saving (0: none waits);
                               * when a process became coordinator. */
  guint asker;                /* The process that waits. */
  guint64 begun_at;           /* The published generation when this life began. */
  guint64 suspended_us;       /* When the suspend was requested. */
  guint n_deaths, n_causes;   /* In this life: processes that ended or lost their ids without
                               * leaving; events that may cause an election. */
  guint n_ids;
  NodeId ids[STORE_MEMBERS_MAX]; /* Of all members so far. */
  gboolean unsaved;              /* This life was ended because no process could write the
                                  * checkpoint. */
  gboolean lives_left;           /* A lost run can still be resumed. */
  guint resume_count;
  guint next_message_fault;
  GArray *effects, *progress;   /* Of NodeEffect, of NodeProgress. */
  GBytes *heard;                /* (nullable) Borrowed: the message of the present step. */
  gboolean looked_united;       /* Checked since the last fault. */
  gboolean asked;               /* A process waits for a round of saving … */
  guint8 wanted[TREE_JOBS_MAX]; /* … that saves these jobs. */
  guint8 epoch[TREE_JOBS_MAX];  /* Finished when the last epoch began … */
  guint64 epoch_at;             /* … and this generation was published. */
};

/* sim.c */
void sim_fail (Sim *sim, const char *format, ...) G_GNUC_PRINTF (2, 3);
void sim_say (Sim *sim, const char *format, ...) G_GNUC_PRINTF (2, 3);
Happen *sim_expect (Sim *sim, guint64 at_us, HappenKind kind,
                    guint node); /* Valid until the next call. */
void sim_step (Sim *sim, Process *process, const NodeEvent *event);
/* The driver reports the work of the engine. */
void sim_tell_work (Sim *sim, Process *process);

/* links.c */
void links_dial (Sim *sim, Process *process, guint64 dial, const char *address);
/* An urgent message may pass large ones. */
void links_send (Sim *sim, Process *process, guint64 number, GPtrArray *parts, gboolean urgent);
void links_close (Sim *sim, Process *process, guint64 number);
/* The process has ended: orderly (all that it sent arrives), suddenly, or silently. */
void links_lose (Sim *sim, Process *process, FaultKind how);
void links_reset (Sim *sim, Process *process);
/* What becomes of a dial now. */
Way links_way (const Sim *sim, const Process *from, const Process *to);
guint links_site (const Sim *sim, const Process *process);
/* Until then nothing passes between these two sites. */
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
/* TRUE: a process lives. */
gboolean sim_lives (const Sim *sim);

/* keeper.c */
void keeper_open (Sim *sim, Process *process, const NodeEffect *effect);
void keeper_retire (Sim *sim, Process *process);
void keeper_answer (Sim *sim, Process *process, GBytes *answer);
/* `final`: the run ends. */
void keeper_finish (Sim *sim, Process *process, NodeEffectKind kind);
void keeper_bid (Sim *sim, Process *process);
gboolean keeper_can_write (const Process *process);
/* A while later reports the saved rows of this job and of all jobs below it. */
void keeper_salvage (Sim *sim, Process *process, const char *path);
void keeper_save (Sim *sim, Process *process, GPtrArray *rows, guint64 ticket);
/* A member has joined. */
void keeper_member (Sim *sim, Process *process, const NodeEffect *effect);
/* Adds a row to the ledger. */
void keeper_note (Sim *sim, Process *process, const NodeEffect *effect);
void keeper_happen (Sim *sim, Process *process, const Happen *happen);
/* The process has ended. */
void keeper_gone (Sim *sim, Process *process);
void keeper_free (Process *process);
/* Called before and after a run. */
void keeper_begin (Sim *sim);
void keeper_end (Sim *sim);
/* All processes have ended, and perhaps the machine with the store. */
void keeper_all_gone (Sim *sim);

/* figures.c */
/* The root starts; the root has its answer. */
void figures_begin (Sim *sim);
void figures_answer (Sim *sim);
/* This message is sent. */
void figures_sent (Sim *sim, GBytes *bytes);
/* A fault strikes. */
void figures_struck (Sim *sim);
/* Looks which processes have noticed the fault. */
void figures_look (Sim *sim);

/* faults.c */
void faults_schedule (Sim *sim);
void faults_strike (Sim *sim, const Fault *fault);
void faults_start_life (Sim *sim, guint n);
void faults_start_process (Sim *sim, gboolean founder, gboolean late);
/* This process runs the job that ends it, unless the job was aborted meanwhile. */
void faults_poison (Sim *sim, Process *process);
/* The user suspends the run; it is to go on with `count` processes. */
void faults_suspend (Sim *sim, Process *process, guint count);
/* Strikes the fault that was planned for this delivery. */
void faults_before (Sim *sim, const Happen *happen);
/* Ends the run, or starts new processes if none can go on. */
void faults_look_after (Sim *sim);

/* check.c */
void check_started (Sim *sim, Process *process, guint32 job, gboolean from_elsewhere);
void check_finished (Sim *sim, const Process *process, guint32 job);
void check_forgotten (Sim *sim, guint32 job);
void check_after_step (Sim *sim, Process *process);
void check_answer (Sim *sim, guint root, GBytes *value);
/* Called before a process crashes: what the published file covers now is never executed again. */
gboolean check_one_crash (const Sim *sim);
void check_crash (Sim *sim);
/* After a step, I27: the keeper of this process has the rows that the process takes for kept. */
void check_kept (Sim *sim, Process *process);
void check_trimmed (Sim *sim, const Process *process);
void check_owed (Sim *sim, Process *process);
void check_dropped (Sim *sim, Process *process);
void check_epochs (Sim *sim, Process *process);
void check_ended (Sim *sim, Process *process, guint64 code, gboolean finished);
/* All that `before` covers is still covered. */
void check_published (Sim *sim, const Store *before);
/* One more bid is under way. */
void check_bids (Sim *sim);
/* This process takes over a place that is another one. */
void check_place (Sim *sim, Process *process, guint64 required);
/* A round of saving ends at this process. */
void check_saved (Sim *sim, const Process *process, const NodeEffect *effect);
/* A job has ended one more process. */
void check_poisoned (Sim *sim);
/* A job ends this process, which has reported it. If it was the last member, the living processes
 * may be told that the run is over. */
void check_crash_report (Sim *sim, const Process *process);
/* Some time after the last fault all living processes have the same roster. */
void check_united (Sim *sim);
void check_stands_still (Sim *sim);
void check_at_the_end (Sim *sim);

/* TRUE: the job or an ancestor was aborted. */
gboolean check_is_forgotten (const Sim *sim, guint32 job);
/* TRUE: the roster of the process has this id. */
gboolean check_is_on_roster (const Process *process, const NodeId *id);

/* check-leave.c */
/* This process has left. */
void check_left (Sim *sim, Process *process, const NodeEffect *effect);
/* These bytes are sent. After a MESSAGE_HEARD, which confirms that `to` leaves, `to` gets no
 * work. */
void check_given (Sim *sim, Process *process, const Process *to, GBytes *bytes);
/* The engine of this process is asked for jobs for that thief. */
void check_lent (Sim *sim, const Process *process, const NodeId *thief);

/* check-time.c */
/* TRUE: the plan has only these faults, and every process can write the checkpoint. */
gboolean check_has_only (const Sim *sim, guint32 kinds);
/* This process ends. If nothing went wrong, no time limit has ended one of its waits. */
void check_expired (Sim *sim, const Process *process, const NodeStats *stats);
gboolean check_has_expired (const Sim *sim);
/* After a step: no wait lasts longer than it may. */
void check_times (Sim *sim, const Process *process);

/* check-saved.c */
/* The roster of this process may have changed: what a member sees of the others before the end of
 * the run must be in the ledger. */
void check_roster (Sim *sim, Process *process, guint64 rosters);
/* This message is sent: remembers the rows of a MESSAGE_SAVE. */
void check_sent (Sim *sim, Process *process, GPtrArray *parts);
/* After a step: the rows that count as published are published. */
void check_acknowledged (Sim *sim, Process *process, const NodeStats *stats);
/* After a step: the events that the process no longer keeps for the next coordinator are in the
 * ledger. */
void check_noted (Sim *sim, Process *process, const NodeStats *stats);
/* The run ends and is saved: the events that living processes kept are in the ledger, too. */
void check_told (Sim *sim, const Process *ender);
/* The run ends suspended by the decision of this process: what living members hold is saved. */
void check_closed (Sim *sim, const Process *process);
/* A job is given to a process to run alone, or the user is warned of it. */
void check_quarantine (Sim *sim, const Process *process);
/* This process is to bid once more. */
void check_election (Sim *sim, Process *process);
/* If nothing was lost, nothing is done twice. */
void check_redone (Sim *sim);
/* The run ends and is saved: whichever node wrote the ledger, and whichever died, it contains what
 * a living process saw. */
void check_ledger (Sim *sim, const Process *ender);
