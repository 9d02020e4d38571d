/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of small entries; what happens itself is not moved. */
#include "config.h"

#include "agenda.h"

#define AGENDA_ROOM 128 /* at first */

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

static inline gboolean
comes_before (const AgendaEntry *a, const AgendaEntry *b)
{
  return a->at_us < b->at_us || (a->at_us == b->at_us && a->order < b->order);
}

Happen *
agenda_add (Agenda *agenda, const Happen *happen)
{
  if (agenda->n == agenda->room)
    make_room (agenda, 2 * agenda->room);

  AgendaEntry *heap = agenda->heap,
              entry = { happen->at_us, happen->order, agenda->free[agenda->n] };
  guint at = agenda->n++;
  for (; at > 0 && comes_before (&entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
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
      if (child + 1 < agenda->n && comes_before (&heap[child + 1], &heap[child]))
        child++;
      if (!comes_before (&heap[child], &last))
        break;
      heap[at] = heap[child];
      at = child;
    }
  heap[at] = last;
  agenda->free[agenda->n] = first.place;
  return agenda->places[first.place];
}
