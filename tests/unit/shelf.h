/* SPDX-License-Identifier: BSD-3-Clause */
/* A store in memory that replaces libcurl: sftp, ftp and ftps, http (WebDAV) and s3, as far as
 * storage/places uses them. Requests can fail, and other clients can act between two requests. A
 * program that links shelf.c uses it instead of libcurl. Paths begin with "/"; the folder "/files"
 * exists. With SHELF_LOG=1 in the environment all requests are printed. */
#pragma once

#include <glib.h>

typedef enum
{
  SHELF_SOUND,
  SHELF_REFUSES,    /* nothing is done, as if nobody listened */
  SHELF_LOSES,      /* all is done, and the connection ends before the answer */
  SHELF_TEARS,      /* half of it is done; where the protocol can notice that, the client is told */
  SHELF_ANSWERS,    /* nothing is done; http: shelf_answer's status, else its code */
  SHELF_SILENT,     /* the store says nothing until the client gives up */
  SHELF_NO_HANDLE,  /* no memory for a handle … */
  SHELF_NO_SETTING, /* … an option … */
  SHELF_NO_LIST     /* … a line of a list: counted in calls, not in requests */
} ShelfFault;

/* Empties the store; nothing fails any more, and requests count from 1. */
void shelf_clear (void);
/* Requests number `first` to `last` fail so. */
void shelf_fail (ShelfFault fault, guint first, guint last);
void shelf_answer (long status, int curl_code);
/* TRUE: since shelf_fail one of them was reached. */
gboolean shelf_has_failed (void);
guint shelf_requests (void);
/* TRUE: a request is being made, so that a clock that jumps now would end it. */
gboolean shelf_is_busy (void);
/* Called before request number `at`, 0: before each, without any lock; requests that it makes are
 * neither counted nor fail. NULL: nobody comes between. */
void shelf_between (guint at, void (*act) (gpointer data), gpointer data);
/* Called once, without any lock, when a reader was given so many bytes of one file. */
void shelf_during (gsize after, void (*act) (gpointer data), gpointer data);

/* What stands there, not by a request. */
void shelf_put (const char *path, const void *bytes, gsize size);
void shelf_make_folder (const char *path);
void shelf_remove (const char *path);
/* (transfer full) (nullable) */
GBytes *shelf_get (const char *path);
/* (transfer full): the names of all files and folders below "/files", in order. */
char *shelf_names (void);
/* sftp: `is_posix` FALSE: nothing is renamed onto a file that exists, as with OpenSSH. */
void shelf_renames_over (gboolean is_so);
/* No folders can be made below "/files". */
void shelf_makes_no_folders (gboolean is_so);
/* http: HEAD, GET and PUT tell no ETag, and no condition is looked at. */
void shelf_knows_no_tags (gboolean is_so);
