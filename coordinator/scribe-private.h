/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by scribe.c (the thread, and the disk of this machine) and scribe-far.c (places
 * elsewhere). */
#pragma once

#include "coordinator/courier.h"
#include "coordinator/inbox.h"
#include "coordinator/ledger.h"
#include "coordinator/pace.h"
#include "coordinator/scribe.h"

#include <pthread.h>

/* After a failure the next try comes after the interval, but at most after this time. */
#define RETRY_MAX_US (5 * G_USEC_PER_SEC)

typedef struct
{
  gboolean is_everything;
  char path[PATH_TEXT_MAX];
} ScribeRequest;

/* For a place elsewhere: whether scribe_finish waits for its answer. */
typedef enum
{
  SCRIBE_FINISH_NONE,
  SCRIBE_FINISH_OWED,    /* an upload under way, if any, began before scribe_finish was called */
  SCRIBE_FINISH_SENDING, /* the upload under way began after it */
  SCRIBE_FINISH_STATES
} ScribeFinish;

typedef enum
{
  SCRIBE_ON_FINISH, /* scribe_finish */
  SCRIBE_ON_SEND,   /* the upload of a publication begins */
  SCRIBE_ON_ANSWER, /* scribe_finish is answered: published, or failed */
  SCRIBE_FINISH_EVENTS
} ScribeFinishEvent;

ScribeFinish scribe_finish_after (ScribeFinish from, ScribeFinishEvent event);

/* What the other thread wants published. */
typedef enum
{
  SCRIBE_ASKED_NOTHING,
  SCRIBE_ASKED_IF_WORTH, /* scribe_offer */
  SCRIBE_ASKED_NOW       /* scribe_finish */
} ScribeAsked;

struct Scribe
{
  guint64 interval_us;
  gboolean is_thrifty;
  gboolean reads_only; /* there are no ticks */
  void (*notify) (const ScribeNews *news, void *data);
  void *data;
  GThread *thread;

  pthread_mutex_t lock; /* guards what follows, up to the blank line */
  pthread_cond_t wake;
  Inbox *inbox;
  GQueue requests; /* of ScribeRequest */
  ScribeAsked asked;
  gboolean is_ending, is_delivered;
  ScribeStats stats;

  Ledger *ledger; /* the thread's own, from here on */
  gint64 tick_us; /* when to write and publish next */
  gint64 trouble_us;
  const ScribeRequest *answering; /* (nullable) */
  gboolean has_told_trouble;
  guint64 written, told; /* tickets: of the work file; of the last publication */
  gboolean is_failing;   /* the last round failed: the next one comes at its time */
  char *spare;
  guint64 stretched_us; /* the interval as it was last reported */
  guint64 took_us[2];   /* the last publication of a base, and of a delta; 0: there was none */
  Publication made;     /* the last publication, or the one under way */
  Pace pace;
  gboolean gets_offers; /* scribe_offer was called */
  guint64 paid_us; /* the thread's processor time at the last publication */

  Left *left;
  gint64 look_us; /* when to read the rows again */

  Courier *courier;             /* NULL: the target is a path; what follows is of use with it */
  guint64 sending;              /* the ticket that is under way */
  gint64 began_us;              /* when that publication began */
  ScribeFinish finish;
  guint n_failed, n_changed;
};

/* What one round of the thread has to do, taken out from under the lock. */
typedef struct
{
  Inbox *inbox;
  GQueue requests;
  gboolean is_finishing, is_tick;
} ScribeRound;

void scribe_tell (Scribe *scribe, const ScribeNews *news);
void scribe_finish_move (Scribe *scribe, ScribeFinishEvent event);
void scribe_tell_damage (Scribe *scribe);
/* Everything up to `ticket` stands at the target; `took_us`: how long publishing took, 0: it stood
 * there already. `final`: this answers scribe_finish. */
void scribe_tell_published (Scribe *scribe, guint64 ticket, guint64 took_us, gboolean final);
/* The pause after a publication that took `took_us`: the interval, or longer, so that publishing
 * takes at most a tenth of the time. Reports when the pause becomes longer than the interval, and
 * when it has doubled since. */
guint64 scribe_rest_after (Scribe *scribe, guint64 took_us);
void scribe_note_stats (Scribe *scribe, gboolean published);
/* Reads the rows and records how much work is left, if that is due. */
void scribe_look (Scribe *scribe);

/* Makes scribe->courier, which downloads the file at the URI to the stage, and the ledger of the
 * stage. `place`: the other settings of the ledger. (transfer full) (nullable):
 * COORDINATOR_ERROR. */
Ledger *scribe_far_begin (Scribe *scribe, const ScribeConfig *config, LedgerConfig *place,
                          Identity *identity, GError **error);
/* Takes the result of an upload under way, and begins the next one if it is due; sets
 * scribe->tick_us. `written`: the inbox was written. FALSE with an error: writing, publishing or
 * sending failed. */
gboolean scribe_far_round (Scribe *scribe, const ScribeRound *round, gboolean written,
                           GError **error);
