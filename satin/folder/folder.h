/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a run, `$XDG_STATE_HOME/satin/runs/NAME/`, mode 0700: where the launcher, the nodes
 * of one host and the `satin` command find each other. Blocking calls on a local disk, any thread,
 * nothing kept in memory. Knows names and bytes of files, not what a node, a socket or a checkpoint
 * is. */
#pragma once

#include "folder-names.h"

#include "protocol/plan.h"

#include <gio/gio.h>

/* The longest name of a run, and the longest path that a Unix socket takes (without the final NUL).
 */
#define FOLDER_NODES_MAX 1024 /* of a run; the protocol has no room for more */
#define FOLDER_WORKERS_MAX 1024 /* of a node: as many as an engine takes */
#define FOLDER_NAME_MAX 64
#define FOLDER_SOCKET_MAX 107
/* Seconds between two publications of the checkpoint when nobody says otherwise: so much of each
 * lost node's work is done again, and one costs some milliseconds. */
#define FOLDER_INTERVAL_AUTO_S (-1.0) /* Satin chooses: see folder_interval_us */
#define FOLDER_INTERVAL_MIN_S 0.05
#define FOLDER_INTERVAL_MAX_S (7.0 * 24 * 3600)
/* Seconds: something is said over each link so often, and who says nothing for so long counts as
 * dead, when nobody says otherwise; and their limits. */
#define FOLDER_HEARTBEAT_DEFAULT_S 5.0
#define FOLDER_HEARTBEAT_MIN_S 0.05
#define FOLDER_SILENCE_DEFAULT_S 28.0
#define FOLDER_SILENCE_MAX_S (7.0 * 24 * 3600)
#define FOLDER_SILENCE_HEARTBEATS 3 /* silence is at least so many */
/* A node process learns its run by these. The second is set for the one node that founds the run.
 */
#define FOLDER_ENV "SATIN_RUN_FOLDER"
#define FOLDER_ENV_FOUNDER "SATIN_FOUNDER"
/* Set for nodes that `satin add --mended` starts: the build of the run that they count as. */
#define FOLDER_ENV_BUILD "SATIN_BUILD"
/* Set for the nodes that the launcher of the run starts itself. */
#define FOLDER_ENV_INVITED "SATIN_INVITED"
/* Workers of one node, where nodes have different numbers. */
#define FOLDER_ENV_WORKERS "SATIN_WORKERS"
/* The site of a node of the launcher's host, when the run has sites. */
#define FOLDER_ENV_SITE "SATIN_SITE"
/* A node has a thread for each job that waits and any of them may carry messages, so what a thread
 * may keep of what it has freed is bounded: GLib's own store of it is left out (newer GLib has
 * none), glibc's is for small pieces. A user who has set these knows better. */
#define FOLDER_ENV_SLICES "G_SLICE"
#define FOLDER_SLICES "always-malloc"
#define FOLDER_ENV_MALLOC "GLIBC_TUNABLES"
#define FOLDER_MALLOC "glibc.malloc.tcache_max=256"
/* `parted` in the last figures of a node that ended before the run: why. */
#define FOLDER_PARTED_ASKED "asked"     /* by `satin leave` */
#define FOLDER_PARTED_SIGNAL "signal"   /* by SIGTERM */
#define FOLDER_PARTED_REFUSED "refused" /* the run does not want it */
/* The node is to find out itself at which address of its host others reach it. */
#define FOLDER_LISTEN_OWN "own"

#define FOLDER_ERROR (folder_error_quark ())
GQuark folder_error_quark (void);
typedef enum
{
  FOLDER_ERROR_NAME,   /* not a name that a run may have: choose another */
  FOLDER_ERROR_TAKEN,  /* a run of this name lives: choose another */
  FOLDER_ERROR_ABSENT, /* there is no such run, or no such file in it */
  FOLDER_ERROR_FAILED  /* the disk refused, or the folder holds what we did not write */
} FolderError;

/* What `run` in the folder says, so that a node process needs nothing else. Strings are arbitrary
 * bytes without NUL (paths and arguments need not be UTF-8). Clear it with folder_run_clear. */
typedef struct
{
  char *id; /* 32 hex digits of this launch; the checkpoint's run id may be older and wins there */
  char *name;                    /* of the run, and of its folder */
  char *program;                 /* absolute path */
  char **argv;                   /* arguments after the program, without the launcher's own */
  char *folder;                  /* working directory of the nodes, absolute */
  char *checkpoint;              /* (nullable) absolute path or URI */
  char *trace;                   /* (nullable) absolute path: where all nodes note what they do */
  double interval_s;             /* between publications; FOLDER_INTERVAL_AUTO_S */
  double keep_s;                 /* between copies to another node; 0: the default */
  double heartbeat_s, silence_s; /* see above; 0: the default */
  int workers;                   /* per node; 0: the cores of its host, shared out among `nodes` */
  guint64 stack;         /* bytes of C stack of each thread that runs jobs; 0: the default */
  guint64 shared_memory; /* of each node, for shared bytes that it fetched; 0: the default */
  int nodes;             /* started by the launcher; 0: a solo program */
  gboolean tcp;          /* the nodes talk over TCP only */
  char
      *listen; /* (nullable) the address of this host for that; NULL: loopback; FOLDER_LISTEN_OWN */
  PlanName protect;
  double verify; /* --verify: this share of results is computed twice */
  gboolean
      resume; /* started by `satin resume`: the checkpoint must be there, inputs come from it */
  gboolean mended;          /* --mended: rows of another build of the program are used */
  gboolean trust;           /* --trust: rows of others are used */
  char *token, *rows_token; /* (nullable) see mark.h */
  char *build;              /* (nullable) added nodes count as of this build, whatever theirs is */
  int steal;                /* whom nodes ask for work: one of protocol's NodeSteal */
  gboolean closed;          /* no nodes are to join but those that the launcher starts */
  gboolean invited;         /* of this one node: it is such; never so in the run's own folder */
  gint64 launcher_pid;
  char *host;                /* (nullable) where it was launched … */
  gint64 started_us;         /* … and when, since 1970; 0: nobody said */
  char *site;                /* (nullable) of which site the node is, when the run has sites */
  int port_first, port_last; /* where to listen; 0: at any free port */
  char *sockets; /* where node-PID.socket files go: the run's folder, or a short 0700 folder */
} FolderRun;

void folder_run_clear (FolderRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FolderRun, folder_run_clear)

/* Whether such a heartbeat and such a silence can be had together. */
gboolean folder_patience_fits (double heartbeat_s, double silence_s);
/* What --interval takes: "auto" (FOLDER_INTERVAL_AUTO_S), or the seconds between two publications,
 * or these and, behind a comma, those between two copies to another node, which are not more.
 * *keep_s 0: the default. FALSE: it is wrong, and both stay. Pure. */
gboolean folder_interval_read (const char *text, double *interval_s, double *keep_s);
/* The time between two publications in microseconds; with FOLDER_INTERVAL_AUTO_S the shortest:
 * 2 s. Pure. */
guint64 folder_interval_us (double interval_s);
#define FOLDER_INTERVAL_WORDS \
  "auto, or seconds from 0.05 to 604800, or two of these like 10,0.5: between two publications, " \
  "and, not more, between two copies to another node"

/* Sets *steal to the number of the way crs, rs or mw. FALSE: `text` (nullable) is none of them. */
gboolean folder_steal_read (const char *text, int *steal);

/* The launch options alone (nodes, workers, interval, heartbeat, silence, tcp, steal, stack,
 * shared-memory) as a GKeyFile text: what a checkpoint keeps in Identity.options so that `satin
 * resume` starts as before. (transfer full) */
char *folder_options_write (const FolderRun *run);
/* Fills those members of `run` that `text` names and that make sense; ignores everything else. */
void folder_options_read (const char *text, FolderRun *run);

/* The folder that holds all runs of this user; not made yet. (transfer full) */
char *folder_root (void);
/* Where a checkpoint that could not be published is kept, named after the run's folder and this
 * process. (transfer full) */
char *folder_spare (const char *path);
/* A run's name: letters, digits, `.`, `_`, `-`, beginning with a letter or digit, at most
 * FOLDER_NAME_MAX. */
gboolean folder_name_is_valid (const char *name);
/* The path of the run `name`. FOLDER_ERROR_NAME or _ABSENT when there is none. (transfer full) */
char *folder_find (const char *name, GError **error);
/* The names of all runs that have a folder, sorted, live or not. (transfer full, elements too) */
GPtrArray *folder_list (void);

/* Makes the folder with a fresh credential and `run`. Fills run->id, run->sockets, and run->name
 * when it is NULL (like `fib-3f2a`). A folder of that name whose processes are all gone is
 * replaced; a live one gives FOLDER_ERROR_TAKEN. Returns the folder's path. (transfer full) */
char *folder_create (FolderRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Reads `run` back into a cleared FolderRun. `run` is written only on success. */
gboolean folder_read (const char *path, FolderRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The run's credential, 64 hex digits. (transfer full) */
char *folder_credential (const char *path, GError **error);
/* The run's private key and certificate for TLS, in PEM; NULL: it has none. (transfer full) */
char *folder_key (const char *path);
/* Whether a process of the run lives: its launcher, or a node with an address file. Those of this
 * host and PID namespace are known for sure. Those of another one, which shares this home, count as
 * alive while they have given a sign of life within FOLDER_SIGN_LIMIT_S, or when they answer at the
 * address that they have left; asking takes three seconds at most. */
gboolean folder_is_live (const char *path);
/* The same of one process that has entered. */
gboolean folder_pid_is_live (const char *path, gint64 pid);
/* Process `pid` of this host, which has files in the folder, leaves its mark there. */
gboolean folder_enter (const char *path, gint64 pid, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* This process gives a sign of life; about once a second. */
#define FOLDER_SIGN_LIMIT_S 600
void folder_sign (const char *path);
/* The name of the host on which the run was launched, if that is not this one. (transfer full)
 * (nullable) */
char *folder_other_host (const char *path);
/* Removes the folder, all files in it, those of batch jobs and its short socket folder. Never
 * follows a link. */
gboolean folder_remove (const char *path, GError **error);

/* This process reads the folder until the run has ended: whoever else cleans up leaves that to it.
 */
gboolean folder_stay (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void folder_stay_no_more (const char *path);
/* Removes the folder, unless a living process stays. That the run has ended is recorded
 * (folder-ended.h). */
gboolean folder_leave (const char *path, GError **error);
/* Makes an empty file of this name. FALSE: somebody else did before, or it cannot be made. */
gboolean folder_claim (const char *path, const char *file);
/* Takes that back. */
void folder_disclaim (const char *path, const char *file);

/* Writes `file` in the folder, mode 0600, by a temporary file and rename: readers see all or
 * nothing. */
gboolean folder_write (const char *path, const char *file, GBytes *bytes,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same by link (), so that the first one to write stays; that it was not the first is no error.
 */
gboolean folder_write_first (const char *path, const char *file, GBytes *bytes,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* As folder_write, unseen by the witness: who is told of each file that is written here. Set it
 * before other threads write. */
gboolean folder_write_quietly (const char *path, const char *file, GBytes *bytes,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
typedef void (*FolderWitness) (const char *path, const char *file, GBytes *bytes);
void folder_set_witness (FolderWitness witness);
/* The bytes of `file`. FOLDER_ERROR_ABSENT when it is not there. (transfer full) */
GBytes *folder_bytes (const char *path, const char *file, GError **error);
/* Writes all that is in `file`, if it is there, to `fd`, in pieces. FALSE: it cannot be read or
 * written; errno. */
gboolean folder_show (const char *path, const char *file, int fd);
/* The bytes in `file`; -1: it is not there. */
gint64 folder_size (const char *path, const char *file);

/* Ends the run for everybody who looks: the exit code goes to `end`, the first stays. `sentence`
 * (nullable) goes to `error` before it: what the launcher shows the user. Write `answer` before
 * this. */
gboolean folder_end (const char *path, int code, const char *sentence,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Main thread, when the run has ended for this process: SIGTERM and SIGUSR1, by which it would have
 * been suspended, come too late from now on and do not change its exit code. */
void folder_ended (void);
/* TRUE when the run has ended; `code` (out) and `sentence` (out, optional, nullable, transfer full)
 * are set then. A node that writes "answer" writes before in "answer.code" what main returned: that
 * is the code of a run that others have suspended after it. */
gboolean folder_has_ended (const char *path, int *code, char **sentence);

/* Whether a run that has ended with `code` must have an answer, and it is not here. */
gboolean folder_lacks_answer (const char *path, int code);

/* `node-PID.SUFFIX`. (transfer full) */
char *folder_node_file (gint64 pid, const char *suffix);
/* The path of the socket of process `pid` in this run; at most FOLDER_SOCKET_MAX bytes. (transfer
 * full) */
char *folder_socket (const FolderRun *run, gint64 pid);
/* The processes that have a node-PID.SUFFIX, ascending. (transfer full; elements gint64) */
GArray *folder_pids (const char *path, const char *suffix);
/* The lines of node-PID.address, or NULL. (transfer full) */
char **folder_addresses (const char *path, gint64 pid);
