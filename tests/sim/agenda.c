/* SPDX-License-Identifier: BSD-3-Clause */
/* See agenda.h. The heap holds small entries; the Happen itself is not moved. */
#include "config.h"

#include "agenda.h"

#define AGENDA_ROOM 128 /* Initial number of places. */

static void
make_room (Agenda *agenda, guint room)
{
  agenda->heap = g_renew (AgendaEntry, agenda->heap, room);
  agenda->places = g_renew (Happen, agenda->places, room);
  agenda->free = g_renew (guint32, agenda->free, room);
  for (guint i = agenda->room; i < room; i++)
    agenda->free[i] = i;
  agenda->room = room;
}

void
agenda_init (Agenda *agenda)
{
  *agenda = (Agenda){ 0 };
  make_room (agenda, AGENDA_ROOM);
}

void
agenda_clear (Agenda *agenda)
{
  for (guint i = 0; i < agenda->n; i++)
    g_clear_pointer (&agenda->places[agenda->heap[i].place].bytes, g_bytes_unref);
  g_free (agenda->heap);
  g_free (agenda->places);
  g_free (agenda->free);
}

static guint64
key_of (const Happen *happen)
{
  g_assert (happen->order >> AGENDA_ORDER_BITS == 0
            && happen->at_us >> (64 - AGENDA_ORDER_BITS) == 0);
  return happen->at_us << AGENDA_ORDER_BITS | happen->order;
}

Happen *
agenda_add (Agenda *agenda, const Happen *happen)
{
  if (agenda->n == agenda->room)
    make_room (agenda, 2 * agenda->room);

  AgendaEntry *heap = agenda->heap, entry = { key_of (happen), agenda->free[agenda->n] };
  guint at = agenda->n++;
  for (; at > 0 && entry.key < heap[(at - 1) / 2].key; at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = entry;
  agenda->places[entry.place] = *happen;
  return &agenda->places[entry.place];
}

Happen
agenda_take (Agenda *agenda)
{
  g_assert (agenda->n > 0);
  AgendaEntry *heap = agenda->heap, first = heap[0], last = heap[--agenda->n];
  guint at = 0;

  while (2 * at + 1 < agenda->n)
    {
      guint child = 2 * at + 1;
      child += child + 1 < agenda->n && heap[child + 1].key < heap[child].key;
      if (heap[child].key >= last.key)
        break;
      heap[at] = heap[child];
      at = child;
    }
  heap[at] = last;
  agenda->free[agenda->n] = first.place;
  return agenda->places[first.place];
}
