/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --sites: where nodes are to be started, and how. One thread; starts nothing. */
#pragma once

#include <gio/gio.h>

typedef enum
{
  SITE_LOCAL, /* processes of this host, which share the run's folder */
  SITE_SSH,
  SITE_SLURM,  /* a batch job for each node; within an allocation one srun */
  SITE_TASKS,  /* the other tasks of this step of Slurm, see tasks.h */
  SITE_COMMAND /* whatever `command` says */
} SiteLauncher;

typedef struct
{
  char *name; /* (nullable): the launcher chooses one */
  int nodes;
} SiteHost;

typedef struct
{
  char *name;
  SiteLauncher launcher;
  GArray *hosts;             /* of SiteHost */
  char **options;            /* (nullable) of ssh, sbatch or srun */
  char **command;            /* (nullable) words, see site_argv */
  int workers;               /* of each node; 0: not said */
  char *folder;              /* (nullable) where nodes run */
  char *setup;               /* (nullable) shell commands before that */
  char *program;             /* (nullable) where the program is there */
  char *listen;              /* (nullable) address in figures */
  int port_first, port_last; /* 0: any */
  gboolean again;            /* a node that ends before the run does is replaced, see again.h */
} Site;

/* (transfer full): of Site, in the order of the file, which is read once, as it may be a pipe;
 * *text (out, transfer full; may be NULL): what stands there. NULL: one sentence that names file
 * and site. */
GPtrArray *sites_read (const char *file, char **text, GError **error);
/* How many nodes they have in all. */
guint sites_nodes (const GPtrArray *sites);
/* The words that run the shell command `line` on `host` (nullable) of `site`; `number` counts the
 * nodes of the site. `path`: the run's folder; `copied` as below. (transfer full) */
char **site_argv (const Site *site, const char *path, const char *host, int number,
                  const char *line, gsize copied);
/* The shell command that becomes a node there. `copied`: the program's size, when it is the first
 * thing on standard input; 0: it is there. (transfer full) */
char *site_line (const Site *site, const char *program, char **argv, const char *folder,
                 gsize copied);
