/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of all files in a run's folder. Each name is defined only here; the table in
 * folder-names.c says who writes and who reads the file. Pure. */
#pragma once

#include <glib.h>

/* Files of the run. */
#define FOLDER_RUN_FILE "run"
#define FOLDER_FILE_CREDENTIAL "credential"
#define FOLDER_KEY_FILE "key.pem"
#define FOLDER_SITES "sites"
#define FOLDER_COPY "checkpoint.copy"
#define FOLDER_FILE_ID "id"
#define FOLDER_BUILD "build"
#define FOLDER_SUSPEND "suspend"
#define FOLDER_FILE_ANSWER "answer"
#define FOLDER_FILE_ANSWER_CODE "answer.code"
#define FOLDER_FILE_ANSWER_ERR "answer.err"
#define FOLDER_FILE_ERROR "error"
#define FOLDER_FILE_END "end"
#define FOLDER_FILE_SHOWN "shown"

/* Files in the folder that a node on another host has for itself (relay.h). */
#define RELAY_PEERS "peers"
#define RELAY_FOUNDER "founder"
#define RELAY_STORES "stores"

/* Beginnings of names; a number or letters follow. */
#define FOLDER_FOUNDER "founder-"
#define FOLDER_BATCH "batch-"

/* Files of one process, node-PID.SUFFIX (folder_node_file): the suffixes. */
#define FOLDER_NODE "node-"
#define FOLDER_NODE_PROCESS "process"
#define FOLDER_NODE_STAYS "stays"
#define FOLDER_NODE_ADDRESS "address"
#define FOLDER_NODE_SOCKET "socket"
#define FOLDER_NODE_LOG "log"
#define FOLDER_NODE_ERR "err"
#define FOLDER_NODE_STATS "stats"
#define FOLDER_NODE_TROUBLE "trouble"
#define FOLDER_NODE_UNFIT "unfit"

typedef enum
{
  FOLDER_NAME_WHOLE, /* the file has this name */
  FOLDER_NAME_STEM,  /* the name begins with this */
  FOLDER_NAME_SUFFIX /* node-PID.SUFFIX */
} FolderNameKind;

/* Flags. */
typedef enum
{
  FOLDER_BY_NOBODY = 0,
  FOLDER_BY_LAUNCHER = 1 << 0, /* satin run, resume and add; a program without a launcher */
  FOLDER_BY_NODE = 1 << 1,
  FOLDER_BY_VERB = 1 << 2 /* any other verb of the command */
} FolderParty;

/* Which way the file is copied, between the run's folder and the folder of a node on another
 * host. */
typedef enum
{
  FOLDER_STAYS_HERE,
  FOLDER_TO_FAR,      /* the launcher sends it to the node */
  FOLDER_FROM_FAR,    /* the node sends it to the launcher; of the run's files the first copy
                       * stays */
  FOLDER_FROM_FOUNDER /* as FOLDER_FROM_FAR, but the copy of a later founder replaces it */
} FolderTravel;

typedef struct
{
  const char *name;
  FolderNameKind kind;
  FolderParty writers, readers;
  FolderTravel travel;
  const char *what; /* the contents */
} FolderName;

/* All rows; *n (out): their number. (transfer none) */
const FolderName *folder_names (guint *n);
/* The row for a file such as "end", "founder-2" or "node-12.stats". (nullable): NULL: Satin writes
 * no such file. (transfer none) */
const FolderName *folder_names_find (const char *file);
