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
  COURIER_NONE,    /* no state: there is no such transition */
  COURIER_TRYING,  /* tests whether the place can be written, until courier_is_ready */
  COURIER_IDLE,    /* every upload was reported */
  COURIER_BUSY,    /* uploads the stage, which must not be touched */
  COURIER_SENT,    /* the stage's file stands at the place */
  COURIER_CHANGED, /* the stage is now the file that stood there, if there was one: publish a base
                      and send that */
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

/* Tests whether the place can be written, and downloads the file at `uri` to `stage` (if there is
 * one); blocks. `copy` (nullable): a copy of the file that may have been made before
 * (place_refresh); used up. `done` is called in the courier's thread at the end of each
 * courier_send. NULL: COORDINATOR_ERROR, one sentence that names the URI. */
Courier *courier_new (const char *uri, const char *stage, const char *copy,
                      void (*done) (void *data), void *data, GError **error);
/* To be called before anything is sent (courier_keep_aside does so itself): waits for the end of
 * the trial, which takes eight seconds at most. FALSE: the place cannot be written,
 * COORDINATOR_ERROR. */
gboolean courier_is_ready (Courier *courier, GError **error);
/* See place_set_writer. */
void courier_set_writer (Courier *courier, const char *run, guint term);
/* Gives up an upload under way, and removes the stage. */
void courier_free (Courier *courier);
/* (transfer none): the name of the place in messages. */
const char *courier_name (const Courier *courier);

/* TRUE: readers of the file at the place would look for a delta beside it. */
gboolean courier_is_marked (const Courier *courier);
/* Uploads the publication at the stage to the place, with the number of its generation, which bids
 * read (place_look). If the publication is a base that contains the delta, the delta is removed
 * after the base was read back; if the removal fails, the delta stays and does no harm. The courier
 * must be idle. */
void courier_send (Courier *courier, const Publication *made);
/* Bytes of files sent so far. */
guint64 courier_sent (const Courier *courier);
/* The result of the upload: IDLE, BUSY, or SENT, CHANGED or FAILED, which are returned once. Only
 * after courier_is_ready. */
CourierState courier_take (Courier *courier, GError **error);
/* Somebody waits for the end: from now on a place that is silent for so long is given up. */
void courier_hurry (Courier *courier, int seconds);

/* (transfer full): keeps the stage, or the delta beside it (`path` says which), at the place under
 * a second name, as aside_keep does with a file: that name. NULL: COORDINATOR_ERROR. Blocks; not
 * while it is busy. */
char *courier_keep_aside (Courier *courier, const char *path, const char *word, GError **error);
