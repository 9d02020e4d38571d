/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a checkpoint that is not on this machine's disk: one URI, by libcurl. Files are
 * replaced as a whole, so a reader finds a complete file at any moment: at the URI or, at stores
 * that cannot replace in one step (sftp, ftp), between two renames at "URI~".
 *
 * Every call except place_stop blocks, as long as the limits below allow. One thread at a time uses
 * a Place; place_stop may come from any thread. */
#pragma once

#include <glib.h>

typedef struct Place Place;

#define PLACE_ERROR (place_error_quark ())
GQuark place_error_quark (void);
typedef enum
{
  PLACE_ERROR_URI,     /* not a URI that can be used */
  PLACE_ERROR_DENIED,  /* the store refuses us: credentials, host key, certificate, rights */
  PLACE_ERROR_DOWN,    /* not reached, too slow, full, or an error of the store: try again later */
  PLACE_ERROR_CHANGED, /* place_put: the file there is not the expected one */
  PLACE_ERROR_LOCAL,   /* a file on this machine cannot be read or written */
  PLACE_ERROR_STOPPED  /* place_stop was called, or the time limit is over */
} PlaceError;

/* The schemes, for messages. */
#define PLACE_SCHEMES "file, sftp, ftp, ftps, http, https and s3"

/* TRUE: `text` has a scheme ("sftp:…") other than file. */
gboolean place_is_remote (const char *text);
/* The path of a path or a file: URI. (transfer full) NULL: PLACE_ERROR_URI. */
char *place_local_path (const char *text, GError **error);

/* NULL: PLACE_ERROR_URI, in one sentence without the password. `insecure`: plain ftp and http are
 * allowed. Does not connect. */
Place *place_new (const char *uri, gboolean insecure, GError **error);
void place_free (Place *place);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Place, place_free)
/* As place_free, but its connection stays open for the next Place of this process at the same host:
 * a new connection costs several round trips. For a caller that will soon open another Place; one
 * connection is kept. */
void place_leave_open (Place *place);

/* Opens a text that passed place_check, which decided whether plain ftp and http are allowed. */
Place *place_open (const char *target, GError **error);
/* Turns the place that a user wrote, a path or a URI, into the form that is stored and passed on:
 * an absolute path, or the URI. Each verb and each program calls this once, with its own
 * --insecure, before it reads or writes there: later calls allow what this call allowed. (transfer
 * full) NULL: PLACE_ERROR_URI in one sentence without the password. Does not connect. */
char *place_check (const char *text, gboolean insecure, GError **error);
/* The same text without checks, only for comparing it with the place of a run. (transfer full)
 * NULL: PLACE_ERROR_URI. */
char *place_text (const char *text, GError **error);

/* (transfer none): the URI without user and password, for messages. */
const char *place_name (const Place *place);
/* Requests give up if nothing is sent or received for so many seconds (60 by default). Any thread,
 * also while a request runs. */
void place_set_patience (Place *place, int seconds);
/* A place that was silent for that long is not asked again, so that a caller does not wait for each
 * request of a replacement and of its clean-up. After this call it is asked again. */
void place_ask_again (Place *place);
/* Requests give up at this time of g_get_monotonic_time; 0: only if the store is too slow or silent
 * (15 s to connect, 60 s with less than 1 kB/s). */
void place_set_limit (Place *place, gint64 monotonic_us);
/* The running request and all later ones soon fail with PLACE_ERROR_STOPPED. Any thread. */
void place_stop (Place *place);

/* The file at a place. `tag` changes whenever the file is replaced by another checkpoint. */
typedef struct
{
  gboolean exists;
  char *tag;
  gboolean empty;     /* a file of no bytes, which counts as no file and may be replaced; only set
                       * by place_look */
  guint32 number;     /* of place_mark; only set by place_look */
  gboolean has_delta; /* the same: a delta may stand beside the file */
  guint64 bytes;      /* the same: the size by the checkpoint's header; 0: unknown */
} PlaceState;
void place_state_clear (PlaceState *state);
/* TRUE: the same file, or no file in both. */
gboolean place_state_equal (const PlaceState *a, const PlaceState *b);

/* A large checkpoint is a *base* and, beside it, a *delta* with the later rows. The delta's name is
 * that of the base followed by this, at a place as on a disk. */
#define PLACE_DELTA "-delta"
typedef struct
{
  PlaceState base, delta;
} PlacePair;
void place_pair_clear (PlacePair *pair);

/* Names the run and term in this writer's lock, so that a writer of a later term of the same run
 * takes the lock over at once. Without this call the lock is of no run. */
void place_set_writer (Place *place, const char *run, guint term);

/* `suffix` is appended to the URI's path; "": the checkpoint itself. */

gboolean place_look (Place *place, const char *suffix, PlaceState *state, GError **error);
/* Downloads the file to a new file `to` (mode 0600; replaces an existing one). If there is none:
 * TRUE with !state->exists and no file. `size_max`: larger files are refused. */
gboolean place_get (Place *place, const char *suffix, const char *to, guint64 size_max,
                    PlaceState *state, GError **error);
/* Replaces the file there by the file `from`. `expected` (nullable): fail with PLACE_ERROR_CHANGED
 * if another file is there; without exists: if any file is. At s3 and http stores the store
 * compares in the same step; at sftp, ftp and http there is a lock among our writers. `state`
 * (nullable) (out): of the new file. */
gboolean place_put (Place *place, const char *suffix, const char *from, const PlaceState *expected,
                    PlaceState *state, GError **error);
/* TRUE also when there is no file. `expected` (nullable): as for place_put. */
gboolean place_remove (Place *place, const char *suffix, const PlaceState *expected,
                       GError **error);
/* Reads the file there back. `is_same`: it is the file `path`, byte for byte. `by_way_of`: a
 * temporary file for that. */
gboolean place_holds (Place *place, const char *suffix, const char *path, const char *by_way_of,
                      gboolean *is_same, GError **error);

/* Makes the file `to` a copy of the file at the place, and "TO-delta" a copy of the delta beside
 * it, unless they already are (made by this function, in any process). If there is no file, an
 * earlier copy stays, and may be all that is left. The delta is read first: if both change
 * meanwhile, a later base contains it. The limit applies to place_look; downloads have none. */
gboolean place_refresh (Place *place, const char *to, PlacePair *pair, GError **error);
/* TRUE: `to` is a complete copy of a base, even if the place has another file now; *state gets its
 * marks. */
gboolean place_has_copy (const Place *place, const char *to, PlaceState *state);
/* Measures how long it takes to put a file of this size beside the one there; removes it again. */
gboolean place_trial (Place *place, gsize bytes, guint64 *us, GError **error);
/* Call this after place_put. Removes temporary files of writers that died while sending: files with
 * our temporary names that have not changed for `old_us` between sweeps of this Place. FALSE: the
 * store gives no listing. */
gboolean place_sweep (Place *place, gint64 old_us, GError **error);

/* Moves a copy of place_refresh with its delta, if possible. */
void place_move_copy (const char *from, const char *to);
/* Removes such a copy with its delta. */
void place_forget_copy (const char *to);
/* Call this before another function writes `to`: from now on it is no copy. */
void place_change_copy (const char *to);

/* The mark of a checkpoint that place_look reads: a number, of which the lower 31 bits are kept,
 * and whether a delta may stand beside the file. It takes the four bytes of SQLite's header for the
 * change counter that belongs to the size. (If they differ from the change counter, SQLite asks the
 * system for the file's size.) */
#define PLACE_MARK_AT 92
guint32 place_mark (guint64 number, gboolean has_delta);

/* For the figures: bytes of files sent and received so far. */
void place_traffic (const Place *place, guint64 *sent, guint64 *received);
