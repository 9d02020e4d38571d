/* SPDX-License-Identifier: BSD-3-Clause */
/* design.md 4: the job stack is the checkpoint. Read from bottom to top, the children of the
 * spine's jobs that are finished are the rows; started and not on the spine means finished. Owner
 * threads, at a sync or in a wait. */
#include "config.h"

#include "scan.h"

#include "clock.h"
#include "seat.h"
#include "trace.h"

typedef struct
{
  Stack *stack;
  gboolean whole;
  GPtrArray *rows;
  GArray *lines;      /* of Bill, in the order of the slots */
  GPtrArray *origins; /* of SatinSlot_, bottom first */
  double finished;    /* weight of all that is finished here */
} Scan;

static void
mark (SatinSlot_ *slot, guint32 parent)
{
  __atomic_store_n (&slot->parent, parent, __ATOMIC_RELAXED);
}

static void
add_line (Scan *scan, Bill line)
{
  line.known = (slot_parent (line.slot) & PARENT_MARKS) != 0;
  g_array_append_val (scan->lines, line);
}

/* A job that has not ended. */
static void
add_spine (Scan *scan, SatinSlot_ *slot)
{
  add_line (scan, (Bill){ .slot = slot, .spine = TRUE });
  mark (slot, slot_parent (slot) | PARENT_SPINE);
}

static Row *
new_row (Scan *scan, SatinSlot_ *slot, const char *parent_path, guint32 number, double weight)
{
  Engine *engine = scan->stack->engine;
  g_autofree char *path = path_child (engine->config.stems, parent_path, number);
  g_autoptr (GBytes) value = record_encode (slot->job->result, slot_result (slot));
  Digest digest = slot_digest (engine, slot);
  Row *row = row_new (path, engine_job_index (engine, slot->job), &digest, weight, 0, value);

  g_ptr_array_add (scan->rows, row);
  return row;
}

/* A finished child. */
static void
add_row (Scan *scan, SatinSlot_ *slot, const char *parent_path, guint32 number, double weight)
{
  gboolean reported = (slot_parent (slot) & PARENT_REPORTED) != 0;
  Bill line = { .slot = slot };

  if (!reported && scan->rows->len >= ENGINE_SCAN_ROWS_MAX)
    return;
  if ((scan->whole || !reported) && scan->rows->len < ENGINE_SCAN_ROWS_MAX)
    line.row = new_row (scan, slot, parent_path, number, weight);
  if (!reported && SLOT_KIND (slot_state (slot)) == SLOT_STARTED)
    line.share = weight;
  add_line (scan, line);
  mark (slot, (slot_parent (slot) & ~PARENT_MARKS) | PARENT_REPORTED);
}

/* The children of one job of the spine: [base, end). `running` is the one that is on the spine. */
static void
scan_children (Scan *scan, SatinSlot_ *base, SatinSlot_ *end, SatinSlot_ *running, const char *path,
               double weight)
{
  double share = weight / (double)MAX (end - base, 1);

  for (SatinSlot_ *slot = base; slot < end; slot++)
    {
      guint32 kind = SLOT_KIND (slot_state (slot));

      if (slot == running)
        add_spine (scan, slot);
      if (slot == running || (kind != SLOT_STARTED && kind != SLOT_RETURNED))
        continue;
      scan->finished += share;
      add_row (scan, slot, path, (guint32)(slot - base), share);
    }
}

static void
scan_spine (Scan *scan, SatinSlot_ *self, SatinSlot_ *top)
{
  Stack *stack = scan->stack;
  Stems *stems = stack->engine->config.stems;
  g_autoptr (GPtrArray) spine = trace_spine (stack, self);
  g_autofree char *path = NULL;
  SatinSlot_ *base = stack->slots, *end;
  double weight = 1;

  for (guint i = spine->len; i > 0; i--, base = end)
    {
      SatinSlot_ *job = spine->pdata[i - 1], *next = i > 1 ? spine->pdata[i - 2] : NULL;

      if (slot_parent (job) & PARENT_ORIGIN)
        {
          Trace trace;

          trace_init (&trace, stack, job);
          g_free (path);
          path = trace_path (&trace, stems);
          weight = trace.weight;
          trace_clear (&trace);
          g_ptr_array_add (scan->origins, job - 1);
          add_spine (scan, job);
          base = job + 1;
        }
      end = base;
      while (end < top && slot_has_parent (end, job))
        end++;
      scan_children (scan, base, end, next, path, weight);
      if (next != NULL && next >= base && next < end)
        {
          char *child = path_child (stems, path, (guint32)(next - base));

          g_free (path);
          path = child;
          weight /= (double)(end - base);
        }
    }
}

void
scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole)
{
  Engine *engine = stack->engine;
  EngineEvent event = { .kind = ENGINE_ROWS };
  g_autoptr (GPtrArray) origins = g_ptr_array_new ();
  Scan scan = { .stack = stack, .whole = whole, .origins = origins };
  guint64 began_ns = clock_thread_ns ();
  gboolean last;

  timeline_begin (stack->lane, "scan", NULL, 0);
  scan.rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  scan.lines = g_array_new (FALSE, FALSE, sizeof (Bill));
  scan_spine (&scan, self, top);
  event.risk_us = clock_bill (stack, scan.lines, origins);
  __atomic_store_n (&stack->share_ppb, (guint64)(scan.finished * 1e9), __ATOMIC_RELAXED);
  event.rows = scan.rows;
  timeline_mark (stack->lane, "scanned", "rows", scan.rows->len);
  timeline_end (stack->lane);
  mailbox_raise (engine, &event);
  __atomic_fetch_add (&engine->scan_ns, clock_thread_ns () - began_ns, __ATOMIC_RELAXED);
  pthread_mutex_lock (&engine->lock);
  last = seat_scan_served (stack);
  pthread_mutex_unlock (&engine->lock);
  if (last)
    seat_say_scanned (engine);
}
