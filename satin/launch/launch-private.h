/* SPDX-License-Identifier: BSD-3-Clause */
/* What launch.c, which watches a run, shares with launch-nodes.c, which starts its nodes and sees
 * them go. One thread. */
#pragma once

#include "launch-state.h"
#include "launch.h"
#include "live.h"
#include "replace.h"
#include "spread.h"
#include "trouble.h"

/* Invariant: `code` is set exactly when state is LAUNCH_ENDED. n_live counts the nodes not gone. */
typedef struct
{
  FolderRun *run;
  char *path;
  const LaunchWish *wish;
  GMainLoop *loop;
  GArray *places; /* of Spot; those up to `next` were tried */
  guint next;
  GArray *nodes;      /* of Started */
  guint founder;      /* its place among them */
  Replace *replace;   /* (nullable) the places whose nodes are started anew */
  GBytes *copy;       /* (nullable) the program, for other hosts */
  guint n_live, n_crashed;
  char *said;       /* (nullable) why a node was not started last */
  gboolean parting; /* main says how far it came, when it knows of the end */
  LaunchState state; /* launch.c moves it */
  gint64 started_us, ended_us;
  gint64 answer_us; /* when the end was seen first without its answer, or some of that came */
  int code;
  Live *live;
  Trouble *trouble;
  guint signals[3]; /* sources */
  guint ticks;
  gboolean refused; /* the founder ended before it had joined */
  gboolean joined;  /* some node has said where it listens */
  gboolean unkept;  /* the answer has not come from another host, or cannot be written here */
} Launch;

/* launch.c: TRUE: the run has ended, which was said. */
gboolean launch_look_for_end (Launch *launch);
/* launch.c: kills all nodes, so that the main loop ends. */
void launch_give_up (Launch *launch, LaunchEvent why);
/* TRUE: it did so. */
static inline gboolean
launch_has_given_up (const Launch *launch)
{
  return launch->state > LAUNCH_ENDED;
}
/* launch.c: kill -9 to all nodes that are here; `but_main`: not to one whose main says how far it
 * came. */
void launch_kill_all (Launch *launch, gboolean but_main);

/* TRUE: some node has been a member. */
gboolean launch_nodes_have_joined (Launch *launch);
/* Starts the nodes that are of this host, or the first one. FALSE: it cannot be, which was said; no
 * process is left. */
gboolean launch_nodes_begin (Launch *launch);
/* launch->loop is there: hears of the end of those that were started before. */
void launch_nodes_watch (Launch *launch);
/* There are members: starts all the other nodes, and tells those of other hosts where to join. */
void launch_nodes_spread (Launch *launch);
/* At each tick: starts nodes in place of those that have ended, at sites that want that, as long as
 * the run goes on. */
void launch_nodes_renew (Launch *launch);
/* Ends the main loop where no node is left that could carry the run on. */
void launch_nodes_quit_if_none (Launch *launch);
