/* SPDX-License-Identifier: BSD-3-Clause */
/* The files in a run's folder: each name is written here and nowhere else, and folder-names.c says
 * of each who writes and who reads it. Pure. */
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

/* Files of the folder that a node of another host has for itself (relay.h). */
#define RELAY_PEERS "peers"
#define RELAY_FOUNDER "founder"
#define RELAY_STORES "stores"

/* Names that a number or other letters follow. */
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
  FOLDER_NAME_STEM,  /* the name begins so */
  FOLDER_NAME_SUFFIX /* node-PID.SUFFIX */
} FolderNameKind;

/* Flags. */
typedef enum
{
  FOLDER_BY_NOBODY = 0,
  FOLDER_BY_LAUNCHER = 1 << 0, /* satin run, resume and add; where none is, the program alone */
  FOLDER_BY_NODE = 1 << 1,
  FOLDER_BY_VERB = 1 << 2 /* any other verb of the command */
} FolderParty;

/* Between the run's folder and that of a node on another host. */
typedef enum
{
  FOLDER_STAYS_HERE,
  FOLDER_TO_FAR,      /* the launcher sends it */
  FOLDER_FROM_FAR,    /* the node sends it; of the files of the run the first one stays */
  FOLDER_FROM_FOUNDER /* likewise, and that of a later founder takes its place */
} FolderTravel;

typedef struct
{
  const char *name;
  FolderNameKind kind;
  FolderParty writers, readers;
  FolderTravel travel;
  const char *what; /* what it says */
} FolderName;

/* The table; *n (out): its rows. (transfer none) */
const FolderName *folder_names (guint *n);
/* The row of a file with this name, such as "end", "founder-2" or "node-12.stats". (nullable):
 * Satin writes no such file. (transfer none) */
const FolderName *folder_names_find (const char *file);
