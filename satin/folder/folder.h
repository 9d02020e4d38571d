/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a run, `$XDG_STATE_HOME/satin/runs/NAME/`, mode 0700. There the launcher, the nodes
 * of one host and the `satin` command find each other. Blocking calls on a local disk; any thread;
 * nothing is kept in memory. Knows names and bytes of files, but not nodes, sockets and
 * checkpoints. */
#pragma once

#include "folder-names.h"

#include "protocol/plan.h"

#include <glib.h>

#define FOLDER_NODES_MAX 1024   /* of a run; the protocol allows no more */
#define FOLDER_WORKERS_MAX 1024 /* of a node; the engine allows no more */
#define FOLDER_NAME_MAX 64      /* letters of a run's name */
#define FOLDER_SOCKET_MAX 107   /* bytes of a Unix socket's path, without its NUL */
/* Seconds between two publications of the checkpoint: the value that stands for "Satin chooses"
 * (see folder_interval_us), and the limits. */
#define FOLDER_INTERVAL_AUTO_S (-1.0)
#define FOLDER_INTERVAL_MIN_S 0.05
#define FOLDER_INTERVAL_MAX_S (7.0 * 24 * 3600)
/* Seconds between two messages over each link, and seconds of silence after which a node counts as
 * dead: defaults and limits. */
#define FOLDER_HEARTBEAT_DEFAULT_S 5.0
#define FOLDER_HEARTBEAT_MIN_S 0.05
#define FOLDER_SILENCE_DEFAULT_S 28.0
#define FOLDER_SILENCE_MAX_S (7.0 * 24 * 3600)
#define FOLDER_SILENCE_HEARTBEATS 3 /* the silence is at least so many heartbeats */
/* Tells a node process its run's folder. The second is set only for the node that founds the
 * run. */
#define FOLDER_ENV "SATIN_RUN_FOLDER"
#define FOLDER_ENV_FOUNDER "SATIN_FOUNDER"
/* The build of the run. Set for nodes that `satin add --mended` starts, which count as this
 * build. */
#define FOLDER_ENV_BUILD "SATIN_BUILD"
/* Set for the nodes that the launcher of the run starts itself. */
#define FOLDER_ENV_INVITED "SATIN_INVITED"
/* The workers of one node; set if nodes have different numbers. */
#define FOLDER_ENV_WORKERS "SATIN_WORKERS"
/* The site of a node on the launcher's host; set if the run has sites. */
#define FOLDER_ENV_SITE "SATIN_SITE"
/* A node has a thread for each waiting job, and any of them may carry messages. So the memory that
 * a thread keeps after free must be bounded. These settings turn off GLib's own cache (newer GLib
 * has none) and limit glibc's to small pieces. A setting of the user stays. */
#define FOLDER_ENV_SLICES "G_SLICE"
#define FOLDER_SLICES "always-malloc"
#define FOLDER_ENV_MALLOC "GLIBC_TUNABLES"
#define FOLDER_MALLOC "glibc.malloc.tcache_max=256"
/* `parted` in the last figures of a node that ended before the run: the reason. */
#define FOLDER_PARTED_ASKED "asked"     /* by `satin leave` */
#define FOLDER_PARTED_SIGNAL "signal"   /* by SIGTERM */
#define FOLDER_PARTED_REFUSED "refused" /* the run does not admit it */
/* The node chooses itself an address of its host at which others reach it. */
#define FOLDER_LISTEN_OWN "own"

#define FOLDER_ERROR (folder_error_quark ())
GQuark folder_error_quark (void);
typedef enum
{
  FOLDER_ERROR_NAME,   /* not a valid name of a run */
  FOLDER_ERROR_TAKEN,  /* a live run has this name */
  FOLDER_ERROR_ABSENT, /* there is no such run, or no such file in its folder */
  FOLDER_ERROR_FAILED  /* the disk refused, or a file in the folder is invalid */
} FolderError;

/* The contents of the file `run`: all that a node process needs. Strings are arbitrary bytes
 * without NUL, since paths and arguments need not be UTF-8. Clear it with folder_run_clear. */
typedef struct
{
  char *id; /* 32 hex digits, drawn at this launch; a resumed run uses the older id in its
             * checkpoint */
  char *name;                    /* of the run, and of its folder */
  char *program;                 /* absolute path */
  char **argv;                   /* arguments of the program, without the launcher's own */
  char *folder;                  /* working directory of the nodes, absolute */
  char *checkpoint;              /* (nullable) absolute path or URI */
  char *trace;                   /* (nullable) absolute path: the nodes write their trace there */
  double interval_s;             /* between publications; FOLDER_INTERVAL_AUTO_S */
  double keep_s;                 /* between copies to another node; 0: the default */
  double heartbeat_s, silence_s; /* see above; 0: the default */
  int workers;                   /* per node; 0: the host's cores, divided among `nodes` */
  guint64 stack;         /* bytes of C stack of each thread that runs jobs; 0: the default */
  guint64 shared_memory; /* of each node, for shared bytes that it fetched; 0: the default */
  int nodes;             /* started by the launcher; 0: a solo program */
  gboolean tcp;          /* the nodes use only TCP */
  char *listen;          /* (nullable) the address of this host for TCP; NULL: loopback; or
                          * FOLDER_LISTEN_OWN */
  PlanName protect;
  double verify; /* --verify: the share of results that are computed twice */
  gboolean
      resume; /* started by `satin resume`: the checkpoint must exist, and inputs come from it */
  gboolean mended;          /* --mended: rows of another build of the program are accepted */
  gboolean trust;           /* --trust: rows of other users are accepted */
  char *token, *rows_token; /* (nullable) see mark.h */
  char *build;              /* (nullable) the build that added nodes count as, whatever their own
                             * is */
  int steal;                /* from whom nodes steal: one of protocol's NodeSteal */
  gboolean closed;          /* only nodes that the launcher starts may join */
  gboolean invited;         /* this node was started by the launcher; never set in the run's own
                             * folder */
  gint64 launcher_pid;
  char *host;                /* (nullable) the host on which the run was launched … */
  gint64 started_us;         /* … and the time, in microseconds since 1970; 0: not known */
  char *site;                /* (nullable) the node's site, if the run has sites */
  int port_first, port_last; /* the range of ports to listen at; 0: any free port */
  char *sockets; /* the folder of the node-PID.socket files: the run's folder, or one with a shorter
                  * path, 0700 */
} FolderRun;

void folder_run_clear (FolderRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FolderRun, folder_run_clear)

/* TRUE: these times are within their limits and fit each other. */
gboolean folder_patience_fits (double heartbeat_s, double silence_s);
/* Reads the value of --interval: "auto" (FOLDER_INTERVAL_AUTO_S), or the seconds between two
 * publications, or these and, after a comma, the seconds between two copies to another node, which
 * are not more. *keep_s 0: the default. FALSE: `text` is invalid, and both stay unchanged. Pure. */
gboolean folder_interval_read (const char *text, double *interval_s, double *keep_s);
/* The time between two publications in microseconds; with FOLDER_INTERVAL_AUTO_S the shortest:
 * 2 s. Pure. */
guint64 folder_interval_us (double interval_s);
#define FOLDER_INTERVAL_WORDS \
  "auto, or seconds from 0.05 to 604800, or two of these like 10,0.5: between two publications, " \
  "and, not more, between two copies to another node"

/* Reads crs, rs or mw into *steal. FALSE: `text` (nullable) is another word. */
gboolean folder_steal_read (const char *text, int *steal);

/* The launch options alone (nodes, workers, interval, heartbeat, silence, tcp, steal, stack,
 * shared-memory) as a GKeyFile text: what a checkpoint keeps in Identity.options so that `satin
 * resume` starts as before. (transfer full) */
char *folder_options_write (const FolderRun *run);
/* Sets the members of `run` that `text` names with valid values; ignores everything else. */
void folder_options_read (const char *text, FolderRun *run);

/* The folder of all runs of this user; it may not exist. (transfer full) */
char *folder_root (void);
/* The file for a checkpoint that could not be published, named after the run's folder and this
 * process. (transfer full) */
char *folder_spare (const char *path);
/* TRUE: at most FOLDER_NAME_MAX letters, digits, `.`, `_` and `-`, the first of them a letter or
 * digit. */
gboolean folder_name_is_valid (const char *name);
/* The path of the run `name`. FOLDER_ERROR_NAME or _ABSENT when there is none. (transfer full) */
char *folder_find (const char *name, GError **error);
/* The names of all runs that have a folder, sorted, live or not. (transfer full, elements too) */
GPtrArray *folder_list (void);

/* Makes the folder with a new credential and `run`. Sets run->id, run->sockets and, if it is NULL,
 * run->name (like `fib-3f2a`). Replaces a folder of that name whose processes are all dead.
 * FOLDER_ERROR_TAKEN: a live run has this name. Returns the folder's path. (transfer full) */
char *folder_create (FolderRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Reads the file `run` into a cleared FolderRun. Changes `run` only on success. */
gboolean folder_read (const char *path, FolderRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The run's credential, 64 hex digits. (transfer full) */
char *folder_credential (const char *path, GError **error);
/* The run's private key and certificate for TLS, in PEM. (transfer full) (nullable): NULL: it has
 * none. */
char *folder_key (const char *path);
/* TRUE: the run's launcher lives, or a node with an address file. This is certain for processes of
 * this host and PID namespace. Processes of another one, which shares this home, count as alive if
 * they gave a sign of life within FOLDER_SIGN_LIMIT_S, or if they answer at their address. Asking
 * takes up to three seconds, or thirty while a connection is accepted but nothing comes over it. */
gboolean folder_is_live (const char *path);
/* The same for one process that has entered. */
gboolean folder_pid_is_live (const char *path, gint64 pid);
/* Writes the mark of process `pid` of this host into the folder. */
gboolean folder_enter (const char *path, gint64 pid, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives a sign of life of this process. Called about once a second. */
#define FOLDER_SIGN_LIMIT_S 600
void folder_sign (const char *path);
/* The name of the host that launched the run, if it is not this host. (transfer full) (nullable) */
char *folder_other_host (const char *path);
/* Removes the folder, all its files and those of batch jobs, and its short socket folder. Never
 * follows a link. */
gboolean folder_remove (const char *path, GError **error);

/* This process reads the folder until the run has ended, so others must not remove it. */
gboolean folder_stay (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void folder_stay_no_more (const char *path);
/* Records the end of the run (folder-ended.h) and removes the folder, unless a live process
 * stays. */
gboolean folder_leave (const char *path, GError **error);
/* Makes an empty file. FALSE: it exists already, or cannot be made. */
gboolean folder_claim (const char *path, const char *file);
/* Removes that file. */
void folder_disclaim (const char *path, const char *file);

/* Writes `file` in the folder, mode 0600, through a temporary file and rename, so readers see all
 * or nothing. */
gboolean folder_write (const char *path, const char *file, GBytes *bytes,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same, through folder_file_renew. */
gboolean folder_renew (const char *path, const char *file, GBytes *bytes,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* As folder_write, through link (): an earlier file stays, which is no error. */
gboolean folder_write_first (const char *path, const char *file, GBytes *bytes,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* As folder_write, but without a call of the witness. The witness is called for each other file
 * that this process writes; set it before other threads write. */
gboolean folder_write_quietly (const char *path, const char *file, GBytes *bytes,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
typedef void (*FolderWitness) (const char *path, const char *file, GBytes *bytes);
void folder_set_witness (FolderWitness witness);
/* The contents of `file`. FOLDER_ERROR_ABSENT if it does not exist. (transfer full) */
GBytes *folder_bytes (const char *path, const char *file, GError **error);
/* Copies `file`, if it exists, to `fd`, in pieces. FALSE: reading or writing failed; errno says
 * why. */
gboolean folder_show (const char *path, const char *file, int fd);
/* The size of `file` in bytes; -1: it does not exist. */
gint64 folder_size (const char *path, const char *file);

/* Ends the run: writes the exit code to `end`; an earlier end stays. Before that, `sentence`
 * (nullable), which the launcher shows to the user, goes to `error`. Write `answer` before this
 * call. */
gboolean folder_end (const char *path, int code, const char *sentence,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The run has ended for this process: from now on SIGTERM and SIGUSR1 do not suspend it or change
 * its exit code. Main thread. */
void folder_ended (void);
/* TRUE: the run has ended; sets `code` (out) and `sentence` (out, optional, nullable, transfer
 * full). Before a node writes "answer" it writes the result of main to "answer.code". If others
 * suspended the run after that, `code` is that result. */
gboolean folder_has_ended (const char *path, int *code, char **sentence);

/* TRUE: a run that ended with `code` must have an answer, but there is none here. */
gboolean folder_lacks_answer (const char *path, int code);

/* The name `node-PID.SUFFIX`. (transfer full) */
char *folder_node_file (gint64 pid, const char *suffix);
/* The path of the socket of process `pid`, at most FOLDER_SOCKET_MAX bytes. (transfer full) */
char *folder_socket (const FolderRun *run, gint64 pid);
/* The processes with a file node-PID.SUFFIX, ascending. (transfer full; elements gint64) */
GArray *folder_pids (const char *path, const char *suffix);
/* The lines of node-PID.address. (transfer full) (nullable): NULL: there is no such file. */
char **folder_addresses (const char *path, gint64 pid);
