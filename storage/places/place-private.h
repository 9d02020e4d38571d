/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files place*.c. */
#pragma once

#include "storage/places/place.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* What is used of libcurl. */
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
/* (nullable): what place_leave_open left of a connection there, in one's own hands now. */
CURL *place_take_open (const char *origin);

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
  /* Makes the folder `suffix` and in it the folder `owner`. FALSE: somebody has it, or it is not
   * possible. */
  gboolean (*lock) (Place *place, const char *suffix, const char *owner);
  /* `owner` (nullable): only that one's. FALSE: it was not, or cannot be done. */
  gboolean (*unlock) (Place *place, const char *suffix, const char *owner);
  /* (nullable) what stands in the folder request->url, into its body, as the store says it. */
  gboolean (*list) (Place *place, PlaceRequest *request, GError **error);
  /* (nullable) what a request that reads has to have before it is run. */
  void (*prepare) (Place *place, PlaceRequest *request);
  /* In a listing, what is said of a file ends with the entry_ends-th of these behind its name. */
  const char *entry_end;
  guint entry_ends;
} PlaceKind;

extern const PlaceKind place_kind_rename, place_kind_dav, place_kind_s3;

struct Place
{
  const PlaceKind *kind;
  char *scheme;
  char *name;   /* for people */
  char *url;    /* what libcurl is given: with user, without suffix */
  char *origin; /* url up to the path */
  char *path;   /* rename: as in a command, not escaped; dav: the URL's path, escaped */
  char *user;   /* (nullable) */
  char *token;  /* makes names of temporary files */
  gboolean had_no_lock;    /* the last was waited for in vain: the next is not */
  gboolean has_locked[2]; /* the base, the delta: at least once */
  char *lock_owner;       /* (nullable) what this writer's lock says */
  char *run;              /* (nullable) place_set_writer's */
  guint term;
  guint made;            /* temporary files so far */
  guint key;             /* sftp: which of the keys that are there is tried */
  gboolean starts_tls;   /* ftps: by AUTH TLS; else from the first byte … */
  gboolean knows_tls;    /* … as was seen */
  GHashTable *leftovers; /* (nullable) place-sweep.c's */
  GPtrArray *unremoved;  /* temporary files of this place that could not be removed */
  char *region;          /* s3 from here */
  char *aws_key, *aws_token;

  CURL *curl;
  CURLcode set_code; /* of the settings of the running request */
  gint64 limit_us;
  gint stopped, patience_s; /* atomic */
  gboolean asks_all;  /* sftp: hosts are looked for among those that all of this machine know */
  gboolean is_silent; /* it said nothing for so long that it is not asked again */
  gint64 moved_us;    /* when the running request last sent or received something */
  curl_off_t moved;
  guint64 sent, received;
  char message[CURL_ERROR_SIZE];
};

/* A list that lacks something must not be sent: it may be the condition. */
typedef struct
{
  struct curl_slist *first;
  gboolean is_broken;
} PlaceList;

/* One request. Set what is needed, run it, read what came, clear it. */
struct PlaceRequest
{
  const char *method; /* NULL: libcurl's own for what is done */
  char *url;
  PlaceList headers, commands; /* commands: sftp, ftp */
  const char *from;            /* file to send */
  const char *to;              /* file to write what comes; NULL: kept in `body` */
  guint64 size_max;            /* of what comes; 0: 64 KiB */
  const char *range;
  gboolean head_only;
  gboolean no_path; /* only the commands matter */

  /* what came */
  CURLcode code;
  long status; /* http */
  GByteArray *body;
  char *etag;
  guint64 size;                 /* bytes that came … */
  guint8 head[PLACE_TAG_BYTES]; /* … and the first of them */
  Place *place;
  int fd;
  gboolean too_large, enough;
  int local_errno;
};

gboolean place_s3_prepare (Place *place, gboolean insecure,
                           GError **error); /* endpoint, region, keys */
/* Tags of stores that give none which a writer knows beforehand: the file's first bytes, in which
 * SQLite's header holds a number that the writer of a checkpoint draws anew each time (publish.c).
 * (transfer full) */
char *place_tag (const guint8 *bytes, gsize size);
/* What place_mark says in them. */
void place_read_mark (PlaceState *state, const guint8 *bytes, gsize size);
/* The same of a file here. */
gboolean place_mark_of_file (const Place *place, const char *path, PlaceState *state,
                             GError **error);
gboolean place_tag_of_file (const Place *place, const char *path, char **tag, GError **error);
/* A folder "NAME.lock", which only one can make, keeps two of us from comparing and replacing at
 * the same time. One whose owner is known to be dead is taken over at once: a process of this host
 * that is gone, or who was deposed by this writer's run. So is one that nobody gave back within ten
 * seconds. FALSE: this store has no locks for us (remembered), or the limit is over: go on
 * without. */
gboolean place_is_given_up (const Place *place);
gboolean place_lock (Place *place, const char *suffix);
void place_unlock (Place *place, const char *suffix);
/* (transfer full): the URL of what stands at `suffix`. */
char *place_url (const Place *place, const char *suffix);
/* Behind the headers or commands of a request. */
void place_add (PlaceList *list, const char *text);
/* TRUE: the request ran and libcurl found nothing wrong; http: whatever the status. Else a sentence
 * in `error`, PLACE_ERROR_DOWN, DENIED, LOCAL or STOPPED; `verb`: "read", "write". */
gboolean place_run (Place *place, PlaceRequest *request, const char *verb, GError **error);
void place_sweep_end (Place *place);
void place_request_clear (PlaceRequest *request);
/* Sets error from an http status. Returns FALSE. */
gboolean place_refused (const Place *place, const PlaceRequest *request, const char *verb,
                        GError **error);
G_GNUC_PRINTF (4, 5)
gboolean place_fail (const Place *place, PlaceError code, GError **error, const char *format, ...);
