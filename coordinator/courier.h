/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries published files between this machine's disk and a URI. The coordinator publishes to a
 * *stage*, a file on its own disk, as it would to any path. The courier uploads the stage in a
 * thread of its own, so that a place that is slow, down or hanging holds up no other thread. If
 * another file than the courier's last one stands at the URI, the courier downloads that file to
 * the stage instead, where the next publication unites it. The delta of a large checkpoint lies
 * beside the stage, and is carried in the same way to the name beside the URI. Calls come from one
 * thread. */
#pragma once

#include "coordinator/ledger.h"

typedef struct Courier Courier;

typedef enum
{
  COURIER_NONE,    /* no state: there is no such move */
  COURIER_TRYING,  /* whether the place can be written: until courier_is_ready */
  COURIER_IDLE,    /* nothing was sent that was not told of */
  COURIER_BUSY,    /* the stage is not to be touched */
  COURIER_SENT,    /* it stands at the place */
  COURIER_CHANGED, /* the stage is now what stood there, if anything did: publish a base and send
                      that */
  COURIER_FAILED,  /* try again later */
  COURIER_STATES
} CourierState;

typedef enum
{
  COURIER_ON_TRIED,
  COURIER_ON_SEND,
  COURIER_ON_SENT, /* in the courier's thread, as the next two */
  COURIER_ON_CHANGED,
  COURIER_ON_FAILED,
  COURIER_ON_TAKE,
  COURIER_EVENTS
} CourierEvent;

/* COURIER_NONE: that cannot happen there. */
CourierState courier_state_after (CourierState from, CourierEvent event);

/* Brings what stands at `uri` to `stage` (nothing: no file) and tries that the place can be
 * written; blocks. `copy` (nullable): where somebody may have brought it before, or brings it now
 * (place_refresh); used up. `done` is called in the courier's thread at the end
 * of each courier_send. NULL: COORDINATOR_ERROR, one sentence that names the URI. */
Courier *courier_new (const char *uri, const char *stage, const char *copy,
                      void (*done) (void *data), void *data, GError **error);
/* To be called before anything is sent (courier_keep_aside does so itself): waits for the end of
 * the trial, which takes eight seconds at most. FALSE: the place cannot be written,
 * COORDINATOR_ERROR. As soon as that is known nobody waits any more for a stage that is still
 * coming. */
gboolean courier_is_ready (Courier *courier, GError **error);
/* See place_set_writer. */
void courier_set_writer (Courier *courier, const char *run, guint term);
/* Gives up what is under way, and removes the stage. */
void courier_free (Courier *courier);
/* (transfer none): what messages call the place. */
const char *courier_name (const Courier *courier);

/* TRUE: readers of what stands at the place would look for a delta beside it. */
gboolean courier_is_marked (const Courier *courier);
/* Takes what was published at the stage to the place, where it bears the number of its generation
 * for bids to see (place_look). After a base that takes the delta with it that one is removed, when
 * the base was read back; should that fail, it stays, and does no harm. The courier must be idle.
 */
void courier_send (Courier *courier, const Publication *made);
/* Bytes of files sent so far. */
guint64 courier_sent (const Courier *courier);
/* What became of it: IDLE, BUSY, or SENT, CHANGED or FAILED, which are told once. The place was
 * tried. */
CourierState courier_take (Courier *courier, GError **error);
/* The end is waited for: a place that is silent for so long is given up. */
void courier_hurry (Courier *courier, int seconds);

/* (transfer full): keeps the stage, or the delta beside it (`path` says which), at the place under
 * a second name, as aside_keep does with a file: that name. NULL: COORDINATOR_ERROR. Blocks; not
 * while it is busy. */
char *courier_keep_aside (Courier *courier, const char *path, const char *word, GError **error);
