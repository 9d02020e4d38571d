/* SPDX-License-Identifier: BSD-3-Clause */
/* The future events of a simulated run, ordered by time; events of the same time keep the order in
 * which they were added. Pure. */
#pragma once

#include "node-id.h"

#include <glib.h>

typedef struct
{
  guint64 at_us, order;
  guint kind, node;
  guint64 number, link;
  gboolean flag;
  gboolean queued; /* TRUE: the process is about to handle it. */
  NodeId id;
  GBytes *bytes; /* Owned. */
} Happen;

/* An entry of the heap: the key holds time and order in one number, so that a comparison is one
 * step; `place` is the index of the Happen. */
typedef struct
{
  guint64 key; /* at_us and order. */
  guint32 place;
} AgendaEntry;

#ifndef AGENDA_ORDER_BITS    /* sim-scale has longer agendas and defines its own value. */
#define AGENDA_ORDER_BITS 24 /* With 24 bits the times reach twelve days. */
#endif

typedef struct
{
  AgendaEntry *heap;
  Happen *places;
  guint32 *free; /* Indices of the free places: the last `room - n` entries. */
  guint n, room;
} Agenda;

void agenda_init (Agenda *agenda);
void agenda_clear (Agenda *agenda);
/* Adds a copy of `happen` and takes over what it owns. Returns the copy, borrowed, valid until the
 * next call. */
Happen *agenda_add (Agenda *agenda, const Happen *happen);
/* Removes the next event and returns it (transfer full). The agenda must not be empty. */
Happen agenda_take (Agenda *agenda);
