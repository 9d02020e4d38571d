/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files place*.c. */
#pragma once

#include "storage/places/place.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* The functions of libcurl that are used. */
typedef struct
{
  __typeof__ (curl_global_init) *global_init;
  __typeof__ (curl_easy_init) *init;
  __typeof__ (curl_easy_cleanup) *cleanup;
  __typeof__ (curl_easy_reset) *reset;
  CURLcode (*setopt) (CURL *curl, CURLoption option, ...);
  __typeof__ (curl_easy_perform) *perform;
  CURLcode (*getinfo) (CURL *curl, CURLINFO info, ...);
  __typeof__ (curl_easy_strerror) *message;
  __typeof__ (curl_slist_append) *list_append;
  __typeof__ (curl_slist_free_all) *list_free;
} Curl;
/* NULL: there is no libcurl on this machine. Any thread. */
const Curl *place_curl (void);

#define PLACE_TAG_BYTES 100
#define PLACE_TAG_RANGE "0-99"

typedef struct PlaceRequest PlaceRequest;
typedef struct
{
  gboolean (*look) (Place *place, const char *suffix, PlaceState *state, GError **error);
  gboolean (*get) (Place *place, const char *suffix, const char *to, guint64 size_max,
                   PlaceState *state, GError **error);
  gboolean (*put) (Place *place, const char *suffix, const char *from, const PlaceState *expected,
                   PlaceState *state, GError **error);
  gboolean (*remove) (Place *place, const char *suffix, GError **error);
  /* Makes the folder `suffix`, and the folder `owner` in it. FALSE: it exists, or cannot be
   * made. */
  gboolean (*lock) (Place *place, const char *suffix, const char *owner);
  /* `owner` (nullable): only if this is the owner. FALSE: it is not, or the lock cannot be
   * removed. */
  gboolean (*unlock) (Place *place, const char *suffix, const char *owner);
  /* (nullable) reads the listing of the folder request->url into the request's body, in the store's
   * form. */
  gboolean (*list) (Place *place, PlaceRequest *request, GError **error);
  /* (nullable) completes a request that reads, before it runs. */
  void (*prepare) (Place *place, PlaceRequest *request);
  /* In a listing, the entry of a file ends with the entry_ends-th of these marks after its name. */
  const char *entry_end;
  guint entry_ends;
} PlaceKind;

extern const PlaceKind place_kind_rename, place_kind_dav, place_kind_s3;

struct Place
{
  const PlaceKind *kind;
  char *scheme;
  char *name;   /* in messages */
  char *url;    /* the URL for libcurl: with user, without suffix */
  char *origin; /* url up to the path */
  char *path;   /* rename: as in commands, not escaped; dav: the URL's path, escaped */
  char *user;   /* (nullable) */
  char *token;  /* for names of temporary files */
  gboolean had_no_lock;   /* the last wait for a lock was in vain: the next is skipped */
  gboolean has_locked[2]; /* the base, the delta: locked at least once */
  char *lock_owner;       /* (nullable) the owner's name in this writer's lock */
  char *run;              /* (nullable) from place_set_writer */
  guint term;
  guint made;            /* number of temporary files so far */
  guint key;             /* sftp: index of the key file that is tried */
  gboolean starts_tls;   /* ftps: by AUTH TLS; otherwise from the first byte … */
  gboolean knows_tls;    /* … as the server has shown */
  GHashTable *leftovers; /* (nullable) of place-sweep.c */
  GPtrArray *unremoved;  /* temporary files of this place that could not be removed */
  char *region;          /* s3, from here on */
  char *aws_key, *aws_token;

  CURL *curl;
  CURLcode set_code; /* from setting the options of the running request */
  gint64 limit_us;
  gint stopped, patience_s; /* atomic */
  gboolean asks_all;        /* sftp: host keys are looked up in the machine's own list */
  gboolean is_silent;       /* it was silent for too long, and is not asked again */
  gint64 moved_us;          /* when the running request last sent or received bytes */
  curl_off_t moved;
  guint64 sent, received;
  char message[CURL_ERROR_SIZE];
};

/* A list with a missing entry must not be sent: the missing header may be the condition. */
typedef struct
{
  struct curl_slist *first;
  gboolean is_broken;
} PlaceList;

/* One request. Set the fields, run it, read the answer, clear it. */
struct PlaceRequest
{
  const char *method; /* NULL: libcurl's default */
  char *url;
  PlaceList headers, commands; /* commands: sftp, ftp */
  const char *from;            /* file to send */
  const char *to;              /* file for the answer; NULL: kept in `body` */
  guint64 size_max;            /* of the answer; 0: 64 KiB */
  const char *range;
  gboolean head_only;
  gboolean no_path; /* only the commands matter */

  /* the answer: */
  CURLcode code;
  long status; /* http */
  GByteArray *body;
  char *etag;
  guint64 size;                 /* bytes received … */
  guint8 head[PLACE_TAG_BYTES]; /* … and the first of them */
  Place *place;
  int fd;
  gboolean too_large, enough;
  int local_errno;
};

gboolean place_s3_prepare (Place *place, gboolean insecure,
                           GError **error); /* endpoint, region, keys */
/* The tag for stores whose own tags are not known to a writer in advance: the digest of the file's
 * first bytes. SQLite's header there contains a number that the writer of a checkpoint draws anew
 * each time (publish.c). (transfer full) */
char *place_tag (const guint8 *bytes, gsize size);
/* Reads the mark of place_mark from these bytes. */
void place_read_mark (PlaceState *state, const guint8 *bytes, gsize size);
/* The same for a file on this machine. */
gboolean place_mark_of_file (const Place *place, const char *path, PlaceState *state,
                             GError **error);
gboolean place_tag_of_file (const Place *place, const char *path, char **tag, GError **error);
/* TRUE: place_stop was called, or the time limit is over. */
gboolean place_is_given_up (const Place *place);
/* A lock (a folder "NAME.lock", which only one writer can make) keeps two of our writers from
 * comparing and replacing at the same time. A lock is taken over at once if its owner is dead: a
 * process of this host that is gone, or a writer that this writer's run has deposed. Any other lock
 * is taken over after ten seconds. FALSE: this store has no locks for us (remembered), or the time
 * limit is over: continue without. */
gboolean place_lock (Place *place, const char *suffix);
void place_unlock (Place *place, const char *suffix);
/* (transfer full): the URL of the file at `suffix`. */
char *place_url (const Place *place, const char *suffix);
/* Appends to the headers or commands of a request. */
void place_add (PlaceList *list, const char *text);
/* TRUE: the request ran and libcurl reports no error; http: with any status. FALSE: `error` is a
 * sentence, PLACE_ERROR_DOWN, DENIED, LOCAL or STOPPED; `verb`: "read", "write". */
gboolean place_run (Place *place, PlaceRequest *request, const char *verb, GError **error);
void place_sweep_end (Place *place);
void place_request_clear (PlaceRequest *request);
/* Sets error from an http status. Returns FALSE. */
gboolean place_refused (const Place *place, const PlaceRequest *request, const char *verb,
                        GError **error);
G_GNUC_PRINTF (4, 5)
gboolean place_fail (const Place *place, PlaceError code, GError **error, const char *format, ...);
