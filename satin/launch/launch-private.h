/* SPDX-License-Identifier: BSD-3-Clause */
/* What launch.c (watches the run) and launch-nodes.c (starts the nodes, notices their ends) share.
 * One thread. */
#pragma once

#include "launch-state.h"
#include "launch.h"
#include "live.h"
#include "replace.h"
#include "spread.h"
#include "trouble.h"

/* Invariant: `code` is set if and only if state is LAUNCH_ENDED. n_live counts the nodes that are
 * not gone. */
typedef struct
{
  FolderRun *run;
  char *path;
  const LaunchWish *wish;
  GMainLoop *loop;
  GArray *places; /* of Spot; `next` is the first at which no start was tried */
  guint next;
  GArray *nodes;      /* of Started */
  guint founder;      /* index of the founder in `nodes` */
  Replace *replace;   /* (nullable) replaces nodes that ended */
  GBytes *copy;       /* (nullable) the program, to send to other hosts */
  guint n_live, n_crashed;
  char *said;        /* (nullable) the last message about a node that could not be started */
  gboolean parting;  /* suspended or cancelled: main may still print how far it came */
  LaunchState state; /* changed by launch.c only */
  gint64 started_us, ended_us;
  gint64 answer_us; /* when the end was first seen without its answer, or more of the answer came;
                       0: neither */
  int code;
  Live *live;
  Trouble *trouble;
  guint signals[3]; /* GSource ids */
  guint ticks;
  gboolean refused; /* the founder ended before it had joined */
  gboolean joined;  /* some node's address was in the run's folder */
  gboolean unkept;  /* the answer has not arrived from another host, or cannot be written here */
} Launch;

/* In launch.c. TRUE: the run has ended, and its end was printed. */
gboolean launch_look_for_end (Launch *launch);
/* In launch.c. Kills all nodes, so that the main loop ends. */
void launch_give_up (Launch *launch, LaunchEvent why);
/* TRUE: launch_give_up was called. */
static inline gboolean
launch_has_given_up (const Launch *launch)
{
  return launch->state > LAUNCH_ENDED;
}
/* In launch.c. Kills all nodes; a node of another host is first told to quit. `but_main`: not a
 * node whose main may still print. */
void launch_kill_all (Launch *launch, gboolean but_main);

/* TRUE: some node is or was a member. */
gboolean launch_nodes_have_joined (Launch *launch);
/* Starts the nodes of this host; if there are none, the first node of another host. FALSE: a
 * message was printed, and no process is left. */
gboolean launch_nodes_begin (Launch *launch);
/* Once launch->loop exists: watches for the ends of the nodes that launch_nodes_begin started on
 * this host. */
void launch_nodes_watch (Launch *launch);
/* Once there are members: starts all other nodes, and sends the members' addresses to the nodes of
 * other hosts. */
void launch_nodes_spread (Launch *launch);
/* To be called repeatedly: at sites with `again = yes`, replaces nodes that have ended, while the
 * run goes on. */
void launch_nodes_renew (Launch *launch);
/* Ends the main loop if no node is left that could carry the run on. */
void launch_nodes_quit_if_none (Launch *launch);
