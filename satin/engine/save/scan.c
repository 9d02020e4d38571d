/* SPDX-License-Identifier: BSD-3-Clause */
/* The job stack is the checkpoint. A scan reads it from bottom to top: the finished children of the
 * spine's jobs are the rows. A started child that is not on the spine is finished. Called by the
 * owner, at a sync or in a wait. */
#include "config.h"

#include "scan.h"

#include "../door/share.h"
#include "../sched/seat.h"
#include "../tree/trace.h"
#include "clock.h"
#include "keep.h"

/* The budget of a stack: so many rows at once, then so many for each second. A row costs about 10
 * us from here to the disk, so that is 0.12 % of the time. The shallow rows come first; the others
 * stay at risk. */
#define SCAN_ROWS_AT_ONCE 300.0
#define SCAN_ROWS_PER_S 120.0
/* The rows of one scan end when their values have so many bytes. The scan of a halt has no limit.
 */
#define SCAN_BYTES_MAX ((gsize)64 << 20)

/* A finished job that may be computed twice. */
typedef struct
{
  Loan *loan;        /* owned */
  GBytes *value;     /* owned: its result */
  GPtrArray *shares; /* owned (nullable): the shared bytes to which its arguments refer */
  guint line;        /* index of its line in the bill of its account */
  double new_share;  /* the share of its work that stands in no earlier row */
} Twice;

typedef struct
{
  Stack *stack;
  gboolean whole;
  guint rows_max;
  gsize bytes, bytes_max;
  char *path;      /* of a job of the spine */
  GArray *numbers; /* of guint32: the way from that job to the one whose children are read */
  GPtrArray *rows;
  Origin *origin;   /* of the account that is read, NULL: none yet */
  GArray *lines;    /* of Bill: the bill of that account */
  guint64 less_us;  /* how much less is at risk after the accounts before it */
  GArray *twice;    /* of Twice */
  guint n_shared;   /* how many of them are of the accounts before it */
  double finished;  /* weight of all finished jobs here */
  gboolean aborted; /* the rest lies below an aborted job, and nothing of that may leave the node */
} Scan;

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
  add_line (scan, (Bill){ .slot = slot, .kind = BILL_BEGUN });
  slot_set_parent (slot, slot_parent (slot) | PARENT_SPINE);
}

/* The path of the job whose children are read. It is made only when it is needed: most jobs have
 * nothing new. */
static const char *
path_now (Scan *scan)
{
  char *path;

  if (scan->numbers->len == 0)
    return scan->path;
  path = path_extend (scan->stack->engine->config.stems, scan->path,
                      (const guint32 *)(const void *)scan->numbers->data, scan->numbers->len);
  g_array_set_size (scan->numbers, 0);
  g_free (scan->path);
  return scan->path = path;
}

static gboolean
is_full (const Scan *scan)
{
  return scan->rows->len >= scan->rows_max || scan->bytes >= scan->bytes_max;
}

static Row *
new_row (Scan *scan, SatinSlot_ *slot, guint32 number, double weight)
{
  Engine *engine = scan->stack->engine;
  g_autofree char *path = path_child (engine->config.stems, path_now (scan), number);
  g_autoptr (GBytes) value = record_encode (slot->job->result, slot_result (slot));
  g_autofree char *args = NULL;
  Digest digest = slot_digest (engine, slot, &args);
  Row *row = row_new (path, engine_job_index (engine, slot->job), &digest, weight, 0, value);

  row->args = g_steal_pointer (&args);
  row->shares = share_list (slot->job, slot_result (slot));
  scan->bytes += g_bytes_get_size (value);
  g_ptr_array_add (scan->rows, row);
  return row;
}

static void
add_twice (Scan *scan, SatinSlot_ *slot, const Row *row)
{
  Twice twice = { .line = scan->lines->len };

  if (scan->stack->engine->config.twice <= 0
      || !path_is_drawn (row->path, scan->stack->engine->config.twice))
    return;
  g_autoptr (GBytes) args = slot_encode_args (slot);
  twice.loan = loan_new (0, row->path, row->job, &row->digest, row->weight, args);
  twice.value = g_bytes_ref (row->value);
  twice.shares = record_list_shared (slot->job->args, slot_payload (slot));
  g_array_append_val (scan->twice, twice);
}

/* The chance of a row is in proportion to the part of its work that stands in no earlier row. So a
 * job whose parts have rows is drawn less often, and all second computations together cost
 * config.twice of the work. */
static void
tell_twice (Scan *scan)
{
  Engine *engine = scan->stack->engine;

  for (guint i = 0; i < scan->twice->len; i++)
    {
      Twice *twice = &g_array_index (scan->twice, Twice, i);
      double share = engine->config.twice * twice->new_share;
      EngineEvent event = { .kind = ENGINE_FINISHED,
                            .whole = twice->loan,
                            .value = twice->value,
                            .shared = twice->shares };

      if (path_is_drawn (twice->loan->path, share))
        mailbox_raise (engine, &event);
      else
        engine_event_clear (&event);
    }
  g_array_unref (scan->twice);
}

/* A finished child. */
static void
add_row (Scan *scan, SatinSlot_ *slot, guint32 number, double weight)
{
  gboolean reported = (slot_parent (slot) & PARENT_REPORTED) != 0;
  Bill line = { .slot = slot, .share = reported ? 0 : weight };

  if (!reported && (scan->aborted || is_full (scan)))
    return;
#ifdef SATIN_PLANT_WHOLE_IS_NEW
  if (!scan->aborted && !reported && !is_full (scan))
#else
  if (!scan->aborted && (scan->whole || !reported) && !is_full (scan))
#endif
    line.row = new_row (scan, slot, number, weight);
  if (line.row != NULL && !reported)
    add_twice (scan, slot, line.row);
  add_line (scan, line);
  slot_set_parent (slot, (slot_parent (slot) & ~PARENT_MARKS) | PARENT_REPORTED);
}

/* A job of the spine and its part of the stack: the state that it has kept, if any, then its
 * children. */
typedef struct
{
  SatinSlot_ *job, *base, *end;
  SatinSlot_ *running; /* the child that is on the spine, NULL: none */
  SatinSlot_ *first;   /* the first child */
  guint32 number;      /* … and its number */
  double weight;       /* of each child */
} Family;

/* Phases that were kept since the last scan get their share of the time, by their number of
 * children. */
static void
add_kept (Scan *scan, const Family *family)
{
  Bill line = { .slot = family->base, .kind = BILL_KEPT };
  guint32 reported;
  gboolean is_new;

  if (family->number == 0) /* the driver may be filling it in */
    return;
  reported = keep_reported (line.slot);
  is_new = family->number > reported;
  if (is_new && is_full (scan))
    return;
  if ((scan->whole || is_new) && !is_full (scan))
    {
      line.row = keep_row (scan->stack->engine, line.slot, family->job, path_now (scan));
      scan->bytes += g_bytes_get_size (line.row->value);
      g_ptr_array_add (scan->rows, line.row);
    }
  line.share = family->weight * (family->number - reported);
  add_line (scan, line);
  slot_set_parent (line.slot, slot_parent (line.slot) | PARENT_REPORTED);
  keep_set_reported (line.slot);
}

static void
scan_family (Scan *scan, const Family *family)
{
  if (family->first != family->base)
    add_kept (scan, family);
  for (SatinSlot_ *slot = family->first; slot < family->end; slot++)
    {
      guint32 state = SLOT_STATE (slot_state (slot));

      if (slot == family->running)
        add_spine (scan, slot);
      if (slot == family->running || (state != SLOT_STARTED && state != SLOT_DONE))
        continue;
      scan->finished += family->weight;
      add_row (scan, slot, family->number + (guint32)(slot - family->first), family->weight);
    }
}

/* All lines of the present account are read: divides the time. The account of `above` is next,
 * NULL: none. */
static void
bill (Scan *scan, const Origin *above)
{
  if (scan->origin == NULL)
    return;
  scan->less_us += clock_bill (scan->stack, scan->origin, above, scan->lines);
  for (; scan->n_shared < scan->twice->len; scan->n_shared++)
    {
      Twice *twice = &g_array_index (scan->twice, Twice, scan->n_shared);

      twice->new_share = clock_new_share (&g_array_index (scan->lines, Bill, twice->line));
    }
}

static void
scan_spine (Scan *scan, SatinSlot_ *self, SatinSlot_ *top)
{
  Stack *stack = scan->stack;
  Stems *stems = stack->engine->config.stems;
  g_autoptr (GPtrArray) spine = trace_spine (stack, self);
  SatinSlot_ *base = stack->memory.slots, *end;
  double weight = 1;

  for (guint i = spine->len; i > 0; i--, base = end)
    {
      SatinSlot_ *job = spine->pdata[i - 1], *next = i > 1 ? spine->pdata[i - 2] : NULL;
      Family family;

      if (slot_parent (job) & PARENT_ORIGIN)
        {
          Trace trace;

          trace_init (&trace, stack, job);
          g_free (scan->path);
          scan->path = trace_path (&trace, stems);
          g_array_set_size (scan->numbers, 0);
          weight = trace.weight;
          trace_clear (&trace);
          scan->aborted = scan->aborted || trace.aborted;
          bill (scan, slot_origin (job - 1));
          scan->origin = slot_origin (job - 1);
          scan->lines = g_array_new (FALSE, FALSE, sizeof (Bill));
          add_spine (scan, job);
          base = job + 1;
        }
      end = base;
      while (end < top && slot_has_parent (end, job))
        end++;
      family = (Family){ .job = job, .base = base, .end = end, .running = next };
      family.first = keep_first (base, end, &family.number);
      family.weight = weight / (double)MAX (end - family.first, 1);
      scan_family (scan, &family);
      if (next != NULL && next >= family.first && next < end)
        {
          guint32 number = family.number + (guint32)(next - family.first);

          g_array_append_val (scan->numbers, number);
          weight = family.weight;
        }
    }
  bill (scan, NULL);
}

/* The most rows that this scan may give. */
static guint
budget (Stack *stack, ScanKind kind)
{
  gint64 now_us = g_get_monotonic_time ();
  double more = (double)(now_us - stack->own.rows.last_us) * SCAN_ROWS_PER_S / G_USEC_PER_SEC;

  stack->own.rows.left = MIN (stack->own.rows.left + more, SCAN_ROWS_AT_ONCE);
  stack->own.rows.last_us = now_us;
  if (kind == SCAN_LAST || kind == SCAN_LEAVE)
    return G_MAXUINT;
  return kind == SCAN_WHOLE ? ENGINE_SCAN_ROWS_MAX : (guint)MAX (stack->own.rows.left, 0);
}

void
scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, ScanKind kind)
{
  Engine *engine = stack->engine;
  EngineEvent event = { .kind = ENGINE_ROWS };
  Scan scan = { .stack = stack,
                .whole = kind == SCAN_WHOLE || kind == SCAN_LEAVE,
                .bytes_max = kind == SCAN_LAST || kind == SCAN_LEAVE ? G_MAXSIZE : SCAN_BYTES_MAX };
  guint64 began_ns = clock_thread_ns ();

  timeline_begin (stack->own.lane, "scan", NULL, 0);
  scan.rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  scan.twice = g_array_new (FALSE, FALSE, sizeof (Twice));
  scan.rows_max = budget (stack, kind);
  scan.numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  clock_begin_scan (stack);
  scan_spine (&scan, self, top);
  stack->own.rows.left -= scan.rows->len;
  g_array_unref (scan.numbers);
  g_free (scan.path);
  event.risk_us = scan.less_us;
  figure_put (&stack->shared.share_ppb, (guint64)(scan.finished * 1e9));
  event.rows = scan.rows;
  timeline_mark (stack->own.lane, "scanned", "rows", scan.rows->len);
  timeline_end (stack->own.lane);
  mailbox_raise (engine, &event);
  tell_twice (&scan);
  figure_add (&engine->figures.scan_ns, clock_thread_ns () - began_ns);
  pthread_mutex_lock (&engine->lock);
  seat_scan_served (stack);
  pthread_mutex_unlock (&engine->lock);
}
