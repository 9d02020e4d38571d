/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes a run begins with, and where each is started. One thread. */
#pragma once

#include "far.h"

typedef struct
{
  const Site *site; /* NULL: this host, and no sites were named */
  const char *host; /* (nullable) */
  int number;       /* in its site, from 1 on */
  int here;         /* nodes on its host */
  int workers;      /* of each; 0: as the run says */
} Spot;

/* A node that was started. */
typedef struct
{
  pid_t pid;
  gboolean gone;
  int status;       /* of waitpid, once gone */
  Far *far;         /* NULL: a process of this host */
  const char *site; /* (nullable) its name; the Spot's */
  guint place;      /* the caller's: its Spot's number */
} Started;

/* Reads the file of --sites (nullable: none) into *sites and *text (out, nullable, transfer full),
 * and says in `run` how many nodes there are and where they listen. 0, or an exit code: said.
 * `workers`: each node's, as was said for all; 0: nobody did. */
int spread_read (FolderRun *run, const char *file, int workers, GPtrArray **sites, char **text);
/* Writes the text of --sites (nullable: none) into the run's folder `path`, for later nodes. */
gboolean spread_keep (const char *text, const char *path, GError **error);
/* The nodes to start, those of this host first, since the founder is best where the launcher is.
 * `sites` NULL: run->nodes of them here, with `workers` each (0: as the run says). (transfer full;
 * of Spot, which point into `sites`) */
GArray *spread_places (const FolderRun *run, const GPtrArray *sites, int workers);
/* Prints the nodes that spread_places names, and the command that starts each; `copy`: the program
 * is sent to other hosts. Starts nothing. */
void spread_show (const FolderRun *run, const GPtrArray *sites, int workers, gboolean copy);
gboolean spot_is_far (const Spot *place);
/* The program, for other hosts. (transfer full) (nullable): so large a one cannot be read into
 * memory, and is not sent. */
GBytes *spread_program (const FolderRun *run);
/* Starts it; `copy` (nullable): the program, for other hosts. FALSE: no process is left. */
gboolean spread_start (const Spot *place, const FolderRun *run, const char *path, gboolean founder,
                       GBytes *copy, Started *started, GError **error);
/* (transfer full): for those that are started, of Started; it frees what each has. */
GArray *spread_nodes (void);
/* TRUE: a file comes from a node of another host. *live (out): some of these live. *unkept is set
 * to TRUE if one of them has an answer that could not be written here. */
gboolean spread_brings (const GArray *nodes, gboolean *live, gboolean *unkept);
/* The addresses of all members that are alive, one a line. (transfer full) */
char *spread_peers (const char *path);
/* The process numbers of these (of Started), as gint64. (transfer full) */
GArray *spread_pids (const GArray *nodes);
/* How many workers each of `nodes` nodes gets when nobody says: the cores of this machine, shared
 * out. */
int spread_workers (int nodes);
