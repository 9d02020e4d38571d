/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the file of --sites: where nodes start, and how. Starts nothing. One thread. */
#pragma once

#include <glib.h>

typedef enum
{
  SITE_LOCAL, /* processes on this host, which share the run's folder */
  SITE_SSH,
  SITE_SLURM,  /* a batch job for each node; inside an allocation, srun */
  SITE_TASKS,  /* the other tasks of this step (tasks.h) */
  SITE_COMMAND /* the command line in `command` */
} SiteLauncher;

typedef struct
{
  char *name; /* (nullable): this host, or one that Slurm or the command chooses */
  int nodes;
} SiteHost;

typedef struct
{
  char *name;
  SiteLauncher launcher;
  GArray *hosts;             /* of SiteHost */
  char **options;            /* (nullable) of ssh, sbatch or srun */
  char **command;            /* (nullable) its words; {node} and {run} are replaced */
  int workers;               /* of each node; 0: not given */
  char *folder;              /* (nullable) working directory of the nodes */
  char *setup;               /* (nullable) shell commands that run before the program */
  char *program;             /* (nullable) path of the program on the site's hosts */
  char *listen;              /* (nullable) a numeric address */
  int port_first, port_last; /* 0: any */
  gboolean again;            /* nodes that end before the run are replaced (again.h) */
} Site;

/* The sites, of Site, in the order of the file. The file is read once, since it may be a pipe.
 * *text (out, transfer full; may be NULL): its text. (transfer full) NULL: G_FILE_ERROR, or
 * G_KEY_FILE_ERROR with one sentence that names file and site. */
GPtrArray *sites_read (const char *file, char **text, GError **error);
/* The number of nodes of all sites. */
guint sites_nodes (const GPtrArray *sites);
/* The command line that runs the shell command `line` on `host` (nullable) of `site`. `number`: of
 * this node in the site, from 1. `path`: the run's folder. `copied`: as for site_line. (transfer
 * full) */
char **site_argv (const Site *site, const char *path, const char *host, int number,
                  const char *line, gsize copied);
/* The shell command that becomes a node on the site's host. `copied`: size of the program, if its
 * bytes come first on standard input; 0: it is already there. (transfer full) */
char *site_line (const Site *site, const char *program, char **argv, const char *folder,
                 gsize copied);
