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
  SHELF_REFUSES, /* The request is not carried out, as if no server listened. */
  SHELF_LOSES,   /* The request is carried out, and the connection ends before the answer. */
  SHELF_TEARS, /* Half of the request is carried out; the client notices that if the protocol allows
                  it. */
  SHELF_ANSWERS, /* The request is not carried out. http: answers the status of shelf_answer with a
                    page; else its code. */
  SHELF_SILENT,    /* The store is silent until the client gives up. */
  SHELF_NO_HANDLE, /* No memory for a handle … */
  SHELF_NO_SETTING, /* … an option … */
  SHELF_NO_LIST     /* … a line of a list: counted in calls, not in requests. */
} ShelfFault;

/* Empties the store. Requests no longer fail and count from 1. */
void shelf_clear (void);
/* Requests number `first` to `last` fail in this way. */
void shelf_fail (ShelfFault fault, guint first, guint last);
void shelf_answer (long status, int curl_code);
/* TRUE: one of these requests has been made since shelf_fail. */
gboolean shelf_has_failed (void);
guint shelf_requests (void);
/* TRUE: a request is in progress, and a jump of the clock would end it. */
gboolean shelf_is_busy (void);
/* Calls `act` before request number `at` (0: before each one), without any lock. Requests that
 * `act` makes are not counted and do not fail. NULL: no call. */
void shelf_between (guint at, void (*act) (gpointer data), gpointer data);
/* Calls `act` once, without any lock, after a reader has received this many bytes of one file. */
void shelf_during (gsize after, void (*act) (gpointer data), gpointer data);

/* Calls `act` before each part of a file that is sent or received; NULL: no call. */
void shelf_each_chunk (void (*act) (void));
/* (transfer full) (nullable): what the last request set for an option of libcurl: a number or a
 * text; of CURLOPT_HTTPHEADER all lines. NULL: nothing. */
char *shelf_option (int option);

/* These change the store without a request. */
void shelf_put (const char *path, const void *bytes, gsize size);
void shelf_make_folder (const char *path);
void shelf_remove (const char *path);
/* (transfer full) (nullable) */
GBytes *shelf_get (const char *path);
/* (transfer full) The names of all files and folders below "/files", sorted. */
char *shelf_names (void);
/* sftp: with FALSE a file cannot be renamed onto an existing one, as with OpenSSH. */
void shelf_renames_over (gboolean is_so);
/* With TRUE no folders can be made below "/files". */
void shelf_makes_no_folders (gboolean is_so);
/* http: with TRUE HEAD, GET and PUT give no ETag, and conditions are ignored. */
void shelf_knows_no_tags (gboolean is_so);
/* s3: with TRUE a PUT gives no ETag. */
void shelf_puts_tell_no_tags (gboolean is_so);
/* http: tags are weak, as those of files that have just been written. No condition accepts them. */
void shelf_tags_are_weak (gboolean is_so);
