/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs for the tests of the engine, and the same computations without it. */
#include "config.h"

#include "engine-jobs.h"

#include <sched.h>

int engine_test_leaf_spins;
static int gate = -1, leaves; /* atomic */

void
engine_test_gate (int n)
{
  __atomic_store_n (&leaves, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n (&gate, n, __ATOMIC_SEQ_CST);
}

gboolean
engine_test_gate_reached (void)
{
  return __atomic_load_n (&leaves, __ATOMIC_SEQ_CST) >= __atomic_load_n (&gate, __ATOMIC_SEQ_CST);
}

SATIN_JOB_DEFINE (fib, int64_t, (int32_t, n))
{
  int64_t x, y;

  if (n < 2)
    return n;
  satin_spawn (fib, &x, n - 1);
  satin_spawn (fib, &y, n - 2);
  satin_sync ();
  return x + y;
}

int64_t
serial_fib (int32_t n)
{
  return n < 2 ? n : serial_fib (n - 1) + serial_fib (n - 2);
}

static gboolean
is_free (const Board *board, int column)
{
  for (int row = 0; row < board->row; row++)
    {
      int other = board->columns[row], distance = board->row - row;

      if (other == column || other - column == distance || column - other == distance)
        return FALSE;
    }
  return TRUE;
}

static Board
with_queen (Board board, int column)
{
  board.columns[board.row++] = (int8_t)column;
  return board;
}

SATIN_JOB_DEFINE (queens, int64_t, (Board, board))
{
  int64_t counts[16], sum = 0;
  int n = 0;

  if (board.row == board.n)
    return 1;
  for (int column = 0; column < board.n; column++)
    if (is_free (&board, column))
      satin_spawn (queens, &counts[n++], with_queen (board, column));
  satin_sync ();
  for (int i = 0; i < n; i++)
    sum += counts[i];
  return sum;
}

int64_t
serial_queens (Board board)
{
  int64_t sum = 0;

  if (board.row == board.n)
    return 1;
  for (int column = 0; column < board.n; column++)
    if (is_free (&board, column))
      sum += serial_queens (with_queen (board, column));
  return sum;
}

static int64_t
phase_leaf (int32_t seed)
{
  volatile int spins = engine_test_leaf_spins;

  while (spins > 0)
    spins = spins - 1;
  __atomic_fetch_add (&leaves, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n (&gate, __ATOMIC_SEQ_CST) >= 0 && engine_test_gate_reached ())
    sched_yield ();
  return seed % 97;
}

/* The second phase's arguments depend on the first's results. */
SATIN_JOB_DEFINE (phases, int64_t, (int32_t, depth), (int32_t, seed))
{
  int64_t a, b, c, d;

  if (depth == 0)
    return phase_leaf (seed);
  satin_spawn (phases, &a, depth - 1, seed + 1);
  satin_spawn (phases, &b, depth - 1, seed * 3 % 1009);
  satin_sync ();
  satin_spawn (phases, &c, depth - 1, (int32_t)(a % 1009));
  satin_spawn (phases, &d, depth - 1, (int32_t)(b % 1009));
  satin_sync ();
  return (a + 2 * b + 3 * c + 4 * d) % 1000003;
}

int64_t
serial_phases (int32_t depth, int32_t seed)
{
  int64_t a, b, c, d;

  if (depth == 0)
    return seed % 97;
  a = serial_phases (depth - 1, seed + 1);
  b = serial_phases (depth - 1, seed * 3 % 1009);
  c = serial_phases (depth - 1, (int32_t)(a % 1009));
  d = serial_phases (depth - 1, (int32_t)(b % 1009));
  return (a + 2 * b + 3 * c + 4 * d) % 1000003;
}

static Wide
widen (Wide a, Wide b)
{
  a.pair.low = (a.pair.low + b.pair.high) % 1000003;
  a.pair.high ^= b.pair.low;
  for (int i = 0; i < 64; i++)
    a.numbers[i] = (a.numbers[i] * 31 + b.numbers[63 - i]) % 1000003;
  return a;
}

static Wide
seeded (Wide in, int i)
{
  in.numbers[i]++;
  in.pair.high += i;
  return in;
}

SATIN_JOB_DEFINE (wide, Wide, (int32_t, depth), (Wide, in))
{
  Wide x, y, z;

  if (depth == 0)
    return widen (in, in);
  satin_spawn (wide, &x, depth - 1, seeded (in, 1));
  satin_spawn (wide, &y, depth - 1, seeded (in, 2));
  satin_sync ();
  satin_spawn (wide, &z, depth - 1, seeded (x, 3));
  satin_sync ();
  return widen (widen (x, y), z);
}

Wide
serial_wide (int32_t depth, Wide in)
{
  Wide x, y, z;

  if (depth == 0)
    return widen (in, in);
  x = serial_wide (depth - 1, seeded (in, 1));
  y = serial_wide (depth - 1, seeded (in, 2));
  z = serial_wide (depth - 1, seeded (x, 3));
  return widen (widen (x, y), z);
}

static SatinBytes
as_bytes (char *text)
{
  return satin_bytes (g_bytes_new_take (text, strlen (text)));
}

static char *
join (const char *a, gsize na, const char *b, gsize nb, char between)
{
  return g_strdup_printf ("%.*s%c%.*s", (int)na, a, between, (int)nb, b);
}

SATIN_JOB_DEFINE (text, SatinBytes, (int32_t, depth), (SatinBytes, prefix))
{
  SatinBytes x, y;
  gsize n, nx, ny;
  const char *p = g_bytes_get_data (prefix, &n), *px, *py;

  if (depth == 0)
    return prefix;
  satin_spawn (text, &x, depth - 1, as_bytes (join (p, n, "l", 1, '.')));
  satin_spawn (text, &y, depth - 1, as_bytes (join (p, n, "r", 1, '.')));
  satin_sync ();
  px = g_bytes_get_data (x, &nx);
  py = g_bytes_get_data (y, &ny);
  return as_bytes (join (px, nx, py, ny, ','));
}

char *
serial_text (int32_t depth, const char *prefix)
{
  g_autofree char *l = NULL, *r = NULL, *x = NULL, *y = NULL;

  if (depth == 0)
    return g_strdup (prefix);
  l = g_strdup_printf ("%s.l", prefix);
  r = g_strdup_printf ("%s.r", prefix);
  x = serial_text (depth - 1, l);
  y = serial_text (depth - 1, r);
  return g_strdup_printf ("%s,%s", x, y);
}

/* Calls before, between and after spawns. */
SATIN_JOB_DEFINE (calls, int64_t, (int32_t, n))
{
  int64_t a, b, c, d, e;

  if (n < 3)
    return n;
  a = satin_call (calls, n - 3);
  satin_spawn (calls, &b, n - 2);
  c = satin_call (fib, n - 3);
  satin_spawn (calls, &d, n - 3);
  satin_sync ();
  e = satin_call (calls, n - 3);
  return (a + 3 * b + 5 * c + 7 * d + 11 * e) % 1000003;
}

int64_t
serial_calls (int32_t n)
{
  if (n < 3)
    return n;
  return (serial_calls (n - 3) + 3 * serial_calls (n - 2) + 5 * serial_fib (n - 3)
          + 7 * serial_calls (n - 3) + 11 * serial_calls (n - 3))
         % 1000003;
}

SATIN_JOB_DEFINE (is_even, uint8_t, (int32_t, n))
{
  uint8_t odd;

  if (n == 0)
    return 1;
  satin_spawn (is_odd, &odd, n - 1);
  satin_sync ();
  return odd;
}

SATIN_JOB_DEFINE (is_odd, uint8_t, (int32_t, n))
{
  uint8_t even;

  if (n == 0)
    return 0;
  satin_spawn (is_even, &even, n - 1);
  satin_sync ();
  return even;
}

/* A long spine with a leaf at each level. */
SATIN_JOB_DEFINE (comb, int64_t, (int32_t, depth))
{
  int64_t x, y;

  if (depth == 0)
    return 0;
  satin_spawn (phases, &x, 0, depth);
  satin_spawn (comb, &y, depth - 1);
  satin_sync ();
  return x + y;
}

int64_t
serial_comb (int32_t depth)
{
  int64_t sum = 0;

  for (; depth > 0; depth--)
    sum += depth % 97;
  return sum;
}

/* Jobs that want only some of their children, in five ways. The results do not depend on which
 * other children were faster. Children 0 … 3 are spawned at first, 4 and 5 later. */
enum
{
  RACE_FIRST = 4,
  RACE_KINDS = 5
};

static int32_t
race_seed (int32_t seed, int32_t child)
{
  return (int32_t)(((int64_t)seed * 31 + child * 17 + 5) % 10007);
}

static int64_t
race_leaf (int32_t seed)
{
  return seed % 89 + 1;
}

/* Takes finished children until the wanted one comes (-1: all), and checks that each comes once. */
#define RACE_TAKE(wanted) \
  do \
    { \
      gboolean seen[RACE_FIRST] = { FALSE }; \
      int32_t number; \
      while ((number = satin_sync_next ()) >= 0) \
        { \
          g_assert_cmpint (number, <, RACE_FIRST); \
          g_assert_false (seen[number]); \
          g_assert_cmpint (x[number], >, 0); \
          seen[number] = TRUE; \
          if (number == (wanted)) \
            break; \
        } \
      g_assert_cmpint (number, ==, (wanted)); \
      for (int i = 0; (wanted) < 0 && i < RACE_FIRST; i++) \
        g_assert_true (seen[i]); \
    } \
  while (0)

SATIN_JOB_DEFINE (race, int64_t, (int32_t, depth), (int32_t, seed))
{
  int64_t x[RACE_FIRST] = { 0 }, later = 0, last = 0;
  int32_t wanted = seed % RACE_FIRST;

  if (depth == 0)
    {
      for (int spins = 0; spins < engine_test_leaf_spins; spins++)
        satin_aborted ();
      return race_leaf (seed);
    }
  for (int32_t i = 0; i < RACE_FIRST; i++)
    satin_spawn (race, &x[i], depth - 1, race_seed (seed, i));
  switch (seed % RACE_KINDS)
    {
    case 0:
      satin_sync ();
      break;
    case 1:
      RACE_TAKE (-1);
      break;
    case 2:
      RACE_TAKE (wanted);
      satin_abort ();
      break;
    case 3:
      satin_abort ();
      break;
    default:
      RACE_TAKE (wanted);
      satin_sync ();
      break;
    }
  satin_spawn (race, &later, depth - 1, race_seed (seed, RACE_FIRST));
  last = satin_call (race, depth - 1, race_seed (seed, RACE_FIRST + 1));
  satin_sync ();
  if (seed % RACE_KINDS == 2)
    return 1 + (x[wanted] + later * 3 + last * 5) % 1000003;
  if (seed % RACE_KINDS == 3)
    return 1 + (later * 3 + last * 5) % 1000003;
  return 1 + (x[0] + x[1] * 7 + x[2] * 11 + x[3] * 13 + later * 3 + last * 5) % 1000003;
}

int64_t
serial_race (int32_t depth, int32_t seed)
{
  int64_t x[RACE_FIRST + 2];
  int32_t kind = seed % RACE_KINDS, wanted = seed % RACE_FIRST;

  if (depth == 0)
    return race_leaf (seed);
  for (int32_t i = 0; i < RACE_FIRST + 2; i++)
    if (i >= RACE_FIRST || (kind != 3 && (kind != 2 || i == wanted)))
      x[i] = serial_race (depth - 1, race_seed (seed, i));
  if (kind == 2)
    return 1 + (x[wanted] + x[4] * 3 + x[5] * 5) % 1000003;
  if (kind == 3)
    return 1 + (x[4] * 3 + x[5] * 5) % 1000003;
  return 1 + (x[0] + x[1] * 7 + x[2] * 11 + x[3] * 13 + x[4] * 3 + x[5] * 5) % 1000003;
}

SATIN_JOB_DEFINE (eight, int64_t, (int8_t, a), (uint8_t, b), (int16_t, c), (uint16_t, d),
                  (int32_t, e), (uint32_t, f), (int64_t, g), (double, h))
{
  int64_t x;

  if (a == 0)
    return b + c + d + e + f + g + (int64_t)h;
  satin_spawn (eight, &x, (int8_t)(a - 1), b, c, d, e, f, g, h + 0.5);
  satin_sync ();
  return x;
}

static int32_t
step_seed (const Progress *now, int child)
{
  return (int32_t)(child == 0 ? now->sum % 1009 : (now->sum * 3 + now->step) % 1013);
}

static Progress
next_step (const Progress *now, int64_t a, int64_t b)
{
  return (Progress){ now->step + 1, (now->sum * 31 + a + 2 * b) % 1000003 };
}

/* Phases of two children each, whose arguments depend on the kept state. */
SATIN_JOB_DEFINE (steps, int64_t, (int32_t, depth), (int32_t, n), (int32_t, seed))
{
  SATIN_KEEPS (Progress);
  Progress now = { 0, seed };
  int64_t a, b;

  if (depth == 0)
    return phase_leaf (seed);
  satin_recall (&now);
  while (now.step < n)
    {
      satin_spawn (steps, &a, depth - 1, n, step_seed (&now, 0));
      satin_spawn (steps, &b, depth - 1, n, step_seed (&now, 1));
      satin_sync ();
      now = next_step (&now, a, b);
      satin_keep (&now);
    }
  return now.sum;
}

Progress
serial_progress (int32_t depth, int32_t n, int32_t seed, int32_t step)
{
  Progress now = { 0, seed };

  while (now.step < step)
    {
      int64_t result[2];

      for (int i = 0; i < 2; i++)
        result[i] = depth == 1 ? step_seed (&now, i) % 97
                               : serial_progress (depth - 1, n, step_seed (&now, i), n).sum;
      now = next_step (&now, result[0], result[1]);
    }
  return now;
}

/* A state with bytes, too large for a slot. The bytes pass from phase to phase. */
static char *
next_text (const char *a, gsize na, const char *b, gsize nb)
{
  g_autofree char *both = join (a, na, b, nb, ';');
  gsize n = strlen (both);

  return g_strdup (both + (n > 40 ? n - 40 : 0));
}

SATIN_JOB_DEFINE (story, SatinBytes, (int32_t, n))
{
  SATIN_KEEPS (Story);
  Story now = { .step = 0 };
  SatinBytes a, b, step;

  satin_recall (&now);
  while (now.step < n)
    {
      gsize na, nb;
      const char *pa, *pb;

      step = as_bytes (g_strdup_printf ("%d", now.step));
      satin_spawn (text, &a, 1, step);
      satin_spawn (text, &b, 0, now.text != NULL ? now.text : step);
      satin_sync ();
      pa = g_bytes_get_data (a, &na);
      pb = g_bytes_get_data (b, &nb);
      now.text = as_bytes (next_text (pa, na, pb, nb));
      now.marks[now.step++ % 20] += (int64_t)g_bytes_get_size (now.text);
      satin_keep (&now);
    }
  return as_bytes (g_strdup_printf ("%.*s %d", (int)g_bytes_get_size (now.text),
                                    (const char *)g_bytes_get_data (now.text, NULL),
                                    (int)now.marks[7]));
}

char *
serial_story (int32_t n)
{
  g_autofree char *now = NULL;
  int64_t mark = 0;

  for (int32_t i = 0; i < n; i++)
    {
      g_autofree char *step = g_strdup_printf ("%d", i), *a = serial_text (1, step);
      const char *b = now != NULL ? now : step;
      char *next = next_text (a, strlen (a), b, strlen (b));

      g_free (now);
      now = next;
      mark += i % 20 == 7 ? (int64_t)strlen (now) : 0;
    }
  return g_strdup_printf ("%s %d", now, (int)mark);
}

const SatinJob *const engine_test_jobs[]
    = { &fib_job,    &queens_job, &phases_job, &wide_job,  &text_job,  &calls_job, &is_even_job,
        &is_odd_job, &comb_job,   &eight_job,  &steps_job, &story_job, &race_job,  NULL };

/* The arguments of child `number`. The jobs through which tests descend spawn only themselves,
 * except the comb, which has leaves. */
static void
descend (guint32 *job, void *data, guint32 number)
{
  satin_args_fib *fib_args = data;
  satin_args_phases *args = data;
  satin_args_race *race_args = data;
  Board *board = data;

  switch (*job)
    {
    case JOB_RACE:
      *race_args
          = (satin_args_race){ race_args->depth - 1, race_seed (race_args->seed, (int32_t)number) };
      return;
    case JOB_FIB:
      fib_args->n -= number == 0 ? 1 : 2;
      return;
    case JOB_CALLS: /* all these have an n */
      fib_args->n -= number == 1 ? 2 : 3;
      *job = number == 2 ? JOB_FIB : JOB_CALLS;
      return;
    case JOB_COMB:
      if (number == 0)
        {
          *job = JOB_PHASES;
          *args = (satin_args_phases){ 0, fib_args->n };
        }
      else
        fib_args->n--;
      return;
    case JOB_STEPS:
      {
        satin_args_steps *a = data;
        Progress now = serial_progress (a->depth, a->n, a->seed, (int32_t)number / 2);

        a->depth--;
        a->seed = step_seed (&now, (int)number % 2);
        return;
      }
    case JOB_PHASES:
      args->depth--;
      args->seed = number == 0   ? args->seed + 1
                   : number == 1 ? args->seed * 3 % 1009
                   : number == 2
                       ? (int32_t)(serial_phases (args->depth, args->seed + 1) % 1009)
                       : (int32_t)(serial_phases (args->depth, args->seed * 3 % 1009) % 1009);
      return;
    default:
      g_assert_cmpuint (*job, ==, JOB_QUEENS);
      for (int column = 0; column < board->n; column++)
        if (is_free (board, column) && number-- == 0)
          {
            *board = with_queen (*board, column);
            return;
          }
      g_assert_not_reached ();
    }
}

GBytes *
serial_args_at (guint32 root, GBytes *bytes, const guint32 *numbers, guint n, guint32 *job)
{
  g_autofree char *args = g_malloc0 (sizeof (Board));

  *job = root;
  g_assert_true (record_decode (engine_test_jobs[root]->args, bytes, args, NULL));
  for (guint i = 0; i < n; i++)
    descend (job, args, numbers[i]);
  return record_encode (engine_test_jobs[*job]->args, args);
}
