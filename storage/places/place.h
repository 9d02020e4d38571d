/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a checkpoint that is not on this machine's disk: one URI, by libcurl. A file there
 * is replaced whole, so that a reader at any moment finds a complete file: at the URI, or, with
 * stores that cannot replace in one step (sftp, ftp), between two renames at "URI~".
 *
 * Every call but place_stop blocks, for as long as the limits below allow. One thread at a time
 * uses a Place; place_stop may come from any. */
#pragma once

#include <glib.h>

typedef struct Place Place;

#define PLACE_ERROR (place_error_quark ())
GQuark place_error_quark (void);
typedef enum
{
  PLACE_ERROR_URI,     /* not a URI that can be used */
  PLACE_ERROR_DENIED,  /* the store answers, but not to us: credentials, host key, certificate,
                          rights */
  PLACE_ERROR_DOWN,    /* not reached, too slow, full, or in trouble of its own: try again later */
  PLACE_ERROR_CHANGED, /* place_put: what stands there is not what was expected */
  PLACE_ERROR_LOCAL,   /* a file on this machine cannot be read or written */
  PLACE_ERROR_STOPPED  /* place_stop was called, or the time limit is over */
} PlaceError;

/* The schemes, as a person reads them. */
#define PLACE_SCHEMES "file, sftp, ftp, ftps, http, https and s3"

/* TRUE: `text` has a scheme ("sftp:…") other than file. */
gboolean place_is_remote (const char *text);
/* (transfer full): the path meant by a path or a file: URI; NULL with PLACE_ERROR_URI. */
char *place_local_path (const char *text, GError **error);

/* NULL: PLACE_ERROR_URI, in one sentence that never holds a password. `insecure`: plain ftp and
 * http are allowed. Does not connect. */
Place *place_new (const char *uri, gboolean insecure, GError **error);
void place_free (Place *place);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Place, place_free)
/* As place_free, but its connection stays open for the next Place of this process at the same host:
 * to be made anew costs several ways there and back. For who knows that one comes soon; one
 * connection is kept. */
void place_leave_open (Place *place);

/* Of a text that passed the check below: what it allowed is allowed. */
Place *place_open (const char *target, GError **error);
/* What a user wrote as the place of a checkpoint, a path or a URI, as it is kept and handed on: an
 * absolute path, or the URI. Each verb and each program calls this once, with its own --insecure,
 * before anything is read or written there: later calls allow what it allowed. (transfer full)
 * NULL: PLACE_ERROR_URI in one sentence without password. Does not connect. */
char *place_check (const char *text, gboolean insecure, GError **error);
/* The same text unchecked: only to compare it with the place of a run. (transfer full) NULL:
 * PLACE_ERROR_URI. */
char *place_text (const char *text, GError **error);

/* (transfer none): the URI without user and password, for messages. */
const char *place_name (const Place *place);
/* Any thread, also while a request runs: requests give up when nothing is sent or received for so
 * many seconds (60 at first). */
void place_set_patience (Place *place, int seconds);
/* A place that was silent for so long is not asked again, so that nobody waits for each request of
 * a replacement and of what cleans up after it; but now it is. */
void place_ask_again (Place *place);
/* Requests give up at this time of g_get_monotonic_time; 0: only when the store is too slow or
 * silent (15 s to connect, 60 s with less than 1 kB/s). */
void place_set_limit (Place *place, gint64 monotonic_us);
/* Any thread: the running request and all later ones fail with PLACE_ERROR_STOPPED soon. */
void place_stop (Place *place);

/* What stands at a place. `tag` changes whenever the file is replaced by another checkpoint. */
typedef struct
{
  gboolean exists;
  char *tag;
  gboolean empty;     /* a file of no bytes: it counts as none, and may be replaced as none; only
                         of place_look */
  guint32 number;     /* place_mark's; only of place_look */
  gboolean has_delta; /* the same: a delta may stand beside it */
  guint64 bytes;      /* the same: how large the checkpoint says it is; 0: it does not */
} PlaceState;
void place_state_clear (PlaceState *state);
/* TRUE: the same file, or twice none. */
gboolean place_state_equal (const PlaceState *a, const PlaceState *b);

/* A large checkpoint is a *base* and, beside it, a *delta*: what came since. Its name is that of
 * the base with this behind it, at a place as on a disk. */
#define PLACE_DELTA "-delta"
typedef struct
{
  PlaceState base, delta;
} PlacePair;
void place_pair_clear (PlacePair *pair);

/* Whose lock this writer makes, so that whoever deposes it in a later term of the same run takes it
 * over at once. Without this it is of no run. */
void place_set_writer (Place *place, const char *run, guint term);

/* In all of these `suffix` is put behind the URI's path: "" for the checkpoint itself. */

gboolean place_look (Place *place, const char *suffix, PlaceState *state, GError **error);
/* Brings what stands there into a new file at `to` (mode 0600; what was there is replaced). Nothing
 * there: TRUE with !state->exists and no file. `size_max`: larger ones are refused. */
gboolean place_get (Place *place, const char *suffix, const char *to, guint64 size_max,
                    PlaceState *state, GError **error);
/* Replaces what stands there by the file `from`. `expected` (nullable): fail with
 * PLACE_ERROR_CHANGED when something else stands there; without exists: when anything does. With
 * s3 and http the store compares in the same step; with sftp, ftp and http there is a lock among
 * writers of this kind. `state` (nullable): of the new file. */
gboolean place_put (Place *place, const char *suffix, const char *from, const PlaceState *expected,
                    PlaceState *state, GError **error);
/* TRUE also when nothing is there. `expected` (nullable): as for place_put. */
gboolean place_remove (Place *place, const char *suffix, const PlaceState *expected,
                       GError **error);
/* `is_same`: what stands there was read back and is the file `path`, byte for byte. `by_way_of`: a
 * file that is made for that and removed. */
gboolean place_holds (Place *place, const char *suffix, const char *path, const char *by_way_of,
                      gboolean *is_same, GError **error);

/* Makes the file `to` a copy of the file at the place, and "TO-delta" a copy of the delta beside
 * it, unless they already are (made by this function, in any process). If there is no file, an
 * earlier copy stays as it is, and may be all that is left. The delta is read first: if both change
 * meanwhile, a later base contains it. The limit holds for place_look; reading has none. */
gboolean place_refresh (Place *place, const char *to, PlacePair *pair, GError **error);
/* TRUE: `to` is a whole copy of a base, whatever stands at the place now; *state gets its marks. */
gboolean place_has_copy (const Place *place, const char *to, PlaceState *state);
/* How long a file of so many bytes takes to be put beside what stands there; it is removed again.
 */
gboolean place_trial (Place *place, gsize bytes, guint64 *us, GError **error);
/* For who has just put something there. Removes what writers left behind that died while sending:
 * files of our names for that, which are as they were for `old_us` of this place's earlier sweeps.
 * FALSE: the store does not say what is there. */
gboolean place_sweep (Place *place, gint64 old_us, GError **error);

/* Moves such a copy with its delta, if it can be moved. */
void place_move_copy (const char *from, const char *to);
/* Removes such a copy with its delta. */
void place_forget_copy (const char *to);
/* Before `to` is made anew by others: it is no copy any more. */
void place_change_copy (const char *to);

/* What a checkpoint says of itself to place_look, in four bytes of SQLite's header where the change
 * counter that goes with the size stands (when that is not the change counter SQLite asks for the
 * file's size instead): a number, of which the lower 31 bits are kept, and whether a delta may come
 * to stand beside it. */
#define PLACE_MARK_AT 92
guint32 place_mark (guint64 number, gboolean has_delta);

/* For the figures: bytes of files sent and received so far. */
void place_traffic (const Place *place, guint64 *sent, guint64 *received);
