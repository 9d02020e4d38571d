/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a checkpoint, and the errors of this room. A file with another identity, schema,
 * constant or input is refused. Plain values; any thread. */
#pragma once

#include "digest.h"

#include <glib.h>

typedef struct Sql Sql; /* storage/sql.h; code that only compares identities does not need it */

#define COORDINATOR_ERROR (coordinator_error_quark ())
GQuark coordinator_error_quark (void);
typedef enum
{
  COORDINATOR_ERROR_UNUSABLE
  = 3, /* foreign, another program, newer format, beyond repair: exit code 3 */
  COORDINATOR_ERROR_STORE = 4, /* the place cannot be read or written: exit code 4 */
  COORDINATOR_ERROR_IN_USE = 5 /* a live run is at work on it: exit code 5 */
} CoordinatorError;            /* the values are the exit codes of the run */

typedef struct
{
  char *run;       /* id, made with the checkpoint, kept over resumes */
  char *name;      /* of the run */
  char *app;       /* program name from SATIN_APP */
  char *program;   /* path of the program */
  char *folder;    /* working directory */
  char **argv;     /* arguments without Satin's own */
  char *options;   /* launch options, for resume: a GKeyFile text */
  char *version;   /* of Satin */
  char *build;     /* of the program: see node/build.h; NULL in a wanted identity: any build */
  char *mark;      /* see coordinator/mark.h; NULL: none */
  gboolean mended; /* in a wanted identity: rows of another build are used, too */
  Digest schema;   /* of the job table */
  Digest identity; /* of app, schema and argv */
} Identity;

void identity_clear (Identity *identity);

/* Writes it into the table run, inside a transaction. An id that is there stays. */
gboolean identity_save (Sql *sql, const Identity *identity, GError **error);
/* Fills `identity` from a file; values that the file has lost are NULL. FALSE:
 * COORDINATOR_ERROR. */
gboolean identity_load (Sql *sql, const char *target, Identity *identity, GError **error);
/* FALSE: `found` and `wanted` differ, or another build of the program made `found` (and `wanted` is
 * not mended); the message says in what they differ. */
gboolean identity_matches (const Identity *found, const Identity *wanted, const char *target,
                           GError **error);
/* A build for messages: its first digits, or the version that the program states. (transfer
 * full) */
char *identity_show_build (const char *build);
/* For an error about a copy: replaces `from`, the name of the copy in the message, by `to`, the
 * name of the original. (nullable): then does nothing. */
void identity_rename_error (GError *error, const char *from, const char *to);
/* Turns an error of storage into one of this room. (transfer full: from) */
void identity_take_error (GError **error, GError *from);
