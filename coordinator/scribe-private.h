/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by scribe.c (the thread, and the disk of this machine) and scribe-far.c (places
 * elsewhere). */
#pragma once

#include "coordinator/courier.h"
#include "coordinator/inbox.h"
#include "coordinator/ledger.h"
#include "coordinator/scribe.h"

#include <pthread.h>

/* After a failure the next try comes after the interval, but not later than this. */
#define RETRY_MAX_US (5 * G_USEC_PER_SEC)

typedef struct
{
  gboolean is_everything;
  char path[PATH_TEXT_MAX];
} ScribeRequest;

/* Of a place elsewhere: whether scribe_finish waits for its answer. */
typedef enum
{
  SCRIBE_FINISH_NONE,
  SCRIBE_FINISH_OWED,    /* what is under way, if anything, began before it was called */
  SCRIBE_FINISH_SENDING, /* what is under way began after it */
  SCRIBE_FINISH_STATES
} ScribeFinish;

typedef enum
{
  SCRIBE_ON_FINISH, /* scribe_finish */
  SCRIBE_ON_SEND,   /* a publication begins its way */
  SCRIBE_ON_ANSWER, /* scribe_finish is answered: published, or failed */
  SCRIBE_FINISH_EVENTS
} ScribeFinishEvent;

ScribeFinish scribe_finish_after (ScribeFinish from, ScribeFinishEvent event);

struct Scribe
{
  guint64 interval_us;
  gboolean reads_only; /* there are no ticks */
  void (*notify) (const ScribeNews *news, void *data);
  void *data;
  GThread *thread;

  pthread_mutex_t lock; /* guards what follows, up to the blank line */
  pthread_cond_t wake;
  Inbox *inbox;
  GQueue requests; /* of ScribeRequest */
  gboolean is_finishing, is_ending, is_delivered;
  ScribeStats stats;

  Ledger *ledger; /* the thread's own, from here on */
  gint64 tick_us; /* when to write and publish next */
  gint64 trouble_us;
  const ScribeRequest *answering; /* (nullable) */
  gboolean has_told_trouble;
  guint64 written, told; /* tickets: of what is in the work file; of what is published */
  gboolean is_failing;   /* the last round failed: the next one waits for its time */
  char *spare;
  guint64 stretched_us; /* the interval as it was last said */
  guint64 took_us[2];   /* the last publication of a base, and of a delta; 0: there was none */
  Publication made;     /* what was published last, or is under way */

  Left *left;
  gint64 look_us; /* when to look at the rows again */

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
/* All that bears numbers up to `ticket` stands at the target; bringing it there took so long, 0: it
 * stood there already. `final`: it answers scribe_finish. */
void scribe_tell_published (Scribe *scribe, guint64 ticket, guint64 took_us, gboolean final);
/* How long nothing is published after a publication that took so long: the interval, or longer, so
 * that it takes at most a tenth of the time. Says so when that begins, and when it became twice as
 * much. */
guint64 scribe_rest_after (Scribe *scribe, guint64 took_us);
void scribe_note_stats (Scribe *scribe, gboolean published);
/* Looks at the rows and notes how much work is left, if that is due. */
void scribe_look (Scribe *scribe);

/* Makes scribe->courier, which brings what stands at the URI, and the ledger of that; once more if
 * it was another process that brought it, and died. `place`: what the ledger is else to be of.
 * (transfer full) (nullable): COORDINATOR_ERROR. */
Ledger *scribe_far_begin (Scribe *scribe, const ScribeConfig *config, LedgerConfig *place,
                          Identity *identity, GError **error);
/* Sees to what is under way and sends what is due; sets scribe->tick_us. `written`: the inbox was.
 * FALSE with an error: writing, publishing or sending failed. */
gboolean scribe_far_round (Scribe *scribe, const ScribeRound *round, gboolean written,
                           GError **error);
