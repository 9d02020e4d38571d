/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to happen in a simulated run, in the order of (time, the order in which it was foreseen).
 * Pure. */
#pragma once

#include "node-id.h"

#include <glib.h>

typedef struct
{
  guint64 at_us, order;
  guint kind, node;
  guint64 number, link;
  gboolean flag;
  gboolean queued; /* its process is about to handle it */
  NodeId id;
  GBytes *bytes; /* owned */
} Happen;

/* When it happens, as one number that is soon compared, and where it stands among the places. */
typedef struct
{
  guint64 key; /* at_us and order */
  guint32 place;
} AgendaEntry;

#ifndef AGENDA_ORDER_BITS    /* sim-scale has longer agendas */
#define AGENDA_ORDER_BITS 24 /* the others are enough for twelve days */
#endif

typedef struct
{
  AgendaEntry *heap;
  Happen *places;
  guint32 *free; /* places where nothing is: the last room - n of them */
  guint n, room;
} Agenda;

void agenda_init (Agenda *agenda);
void agenda_clear (Agenda *agenda);
/* Takes a copy and what it owns; returns it (borrowed until the next call). */
Happen *agenda_add (Agenda *agenda, const Happen *happen);
/* (transfer full): the next; there must be one. */
Happen agenda_take (Agenda *agenda);
