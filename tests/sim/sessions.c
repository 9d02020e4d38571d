/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sessions of the mesh (satin/mesh) over connections that break, fall silent, arrive twice,
 * or bring frames late. Without arguments it is a test of `make check` in TAP. */
#include "config.h"

#include "session-world.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK_SEEDS 10000
#define DRAIN_STEPS 20000
#define ROUNDS 3  /* Of an enumerated exchange. */
#define RARE 1000 /* The unit of rare chances: one in this many. */

typedef struct
{
  guint64 runs, delivered, refused, steps;
} Sum;

/* What a seed determines. */
typedef struct
{
  SessionConfig config;
  guint members, steps, size_max;
  guint send, fault, dial_ok, relay, death; /* death: of RARE; the others in percent. */
} Plan;

static void
draw_plan (Rng *rng, Plan *plan)
{
  *plan = (Plan){
    .config = { .fragment = rng_between (rng, 1, 24),
                .flight_max = rng_between (rng, 1, 100),
                .room_max = rng_between (rng, 1, 4000),
                .message_max = 200,
                .ack_us = 20 * 1000,
                .idle_us = rng_between (rng, 30, 2000) * 1000,
                .greet_us = rng_between (rng, 30, 500) * 1000,
                .stall_us = rng_between (rng, 50, 1000) * 1000 },
    .members = rng_chance (rng, 80) ? 2 : 3,
    .steps = rng_between (rng, 30, 200),
    .size_max = rng_below (rng, 150),
    .send = rng_between (rng, 2, 30),
    .fault = rng_below (rng, 15),
    .dial_ok = rng_between (rng, 20, 100),
    .relay = rng_chance (rng, 50) ? rng_below (rng, 101) : 0,
    .death = rng_chance (rng, 20) ? 30 : 0,
  };
}

/* ---- faults ---- */

static WorldConnection *
any_connection (World *world, Rng *rng)
{
  return world->connections->len == 0
             ? NULL
             : world->connections->pdata[rng_below (rng, world->connections->len)];
}

/* Injects frames that no process sends that keeps the rules. */
static void
inject (World *world, Rng *rng)
{
  WorldConnection *connection = any_connection (world, rng);
  guint8 noise[64];
  gsize size = rng_below (rng, sizeof noise);
  SessionFrame frame = { .kind = SESSION_FRAME_DATA, .stream = rng_below (rng, SESSION_STREAMS) };
  g_autoptr (GBytes) bytes = NULL;

  if (connection == NULL)
    return;
  for (gsize i = 0; i < size; i++)
    noise[i] = (guint8)rng_next (rng);
  switch (rng_below (rng, 5))
    {
    case 0:
      bytes = g_bytes_new (noise, size);
      break;
    case 1: /* A fragment that is not due yet. */
      frame.number = G_GUINT64_CONSTANT (1) << 40;
      bytes = session_frame_encode (&frame);
      break;
    case 2: /* Acknowledges a fragment that was never sent. */
      frame.kind = SESSION_FRAME_ACK;
      frame.received[SESSION_BULK] = G_GUINT64_CONSTANT (1) << 40;
      bytes = session_frame_encode (&frame);
      break;
    case 3: /* From another process, or a second HELLO. */
      frame.kind = SESSION_FRAME_HELLO;
      frame.from = (NodeId){ 7, 7, 7 };
      bytes = session_frame_encode (&frame);
      break;
    default: /* The very first fragment again, late, with another content. */
      frame.number = 1;
      bytes = session_frame_encode (&frame);
      if (world->ends[connection->member[1]][connection->member[0]].delivered[frame.stream] == 0
          || world->ends[connection->member[0]][connection->member[1]].delivered[frame.stream] == 0)
        return;
      break;
    }
  world_inject (world, connection, (guint)rng_below (rng, 2), bytes);
}

static void
strike (World *world, const Plan *plan, Rng *rng)
{
  WorldConnection *connection = any_connection (world, rng);
  guint a = (guint)rng_below (rng, world->n), b = (a + 1) % world->n;

  if (rng_below (rng, RARE) < plan->death)
    {
      if (rng_chance (rng, 50))
        world_crash (world, a);
      else
        world_evict (world, a);
      return;
    }
  switch (rng_below (rng, 8))
    {
    case 0:
      if (world->ends[a][b].session != NULL && !world->evicted[a])
        (void)world_connect (world, a, b, rng_chance (rng, plan->relay));
      break;
    case 1:
      if (connection != NULL)
        connection->deaf[rng_below (rng, 2)] = TRUE;
      break;
    case 2:
      inject (world, rng);
      break;
    default:
      if (connection != NULL && !connection->broken)
        world_break (world, connection, (guint)rng_below (rng, 4), (guint)rng_below (rng, 4));
      break;
    }
}

/* ---- runs ---- */

/* Does one action, or lets time pass until one is due. FALSE: nothing can happen any more. */
static gboolean
go_on (World *world, Rng *rng, guint dial_ok, guint relay)
{
  Action actions[WORLD_ACTIONS_MAX];
  guint n = world_actions (world, actions);

  if (n > 0)
    {
      const Action *action = &actions[rng_below (rng, n)];
      world_act (world, action, rng_chance (rng, dial_ok), rng_chance (rng, relay));
      return TRUE;
    }
  guint64 due = world_due (world);
  if (due == G_MAXUINT64)
    return FALSE;
  world->now_us = MAX (world->now_us, due);
  return TRUE;
}

static gboolean
run_seed (guint64 seed, GString *story, Sum *sum, char failure[256])
{
  Rng rng = { seed * 2 + 1 };
  Plan plan;
  World world;
  guint step;

  draw_plan (&rng, &plan);
  world_init (&world, &plan.config, plan.members, plan.size_max);
  world.story = story;
  for (step = 0; step < plan.steps && world.failure[0] == '\0'; step++)
    {
      guint a = (guint)rng_below (&rng, world.n), b = (a + 1) % world.n;
      world.now_us += rng_below (&rng, 3000);
      if (rng_below (&rng, 200) == 0)
        world.now_us += plan.config.idle_us;
      if (rng_chance (&rng, plan.send))
        (void)world_send (&world, a, b, rng_below (&rng, SESSION_STREAMS));
      else if (rng_chance (&rng, plan.fault))
        strike (&world, &plan, &rng);
      else
        (void)go_on (&world, &rng, plan.dial_ok, plan.relay);
    }
  for (step = 0; step < DRAIN_STEPS && world.failure[0] == '\0'; step++)
    if (!go_on (&world, &rng, 100, plan.relay))
      break;
  if (step == DRAIN_STEPS)
    world_fail (&world, "it does not come to rest");
  else
    world_check_end (&world);
  sum->runs++;
  sum->steps += plan.steps + step;
  sum->delivered += world.delivered;
  sum->refused += world.refused;
  g_strlcpy (failure, world.failure, 256);
  world_clear (&world);
  return failure[0] == '\0';
}

static gboolean
run_seeds (guint64 from, guint64 n, Sum *sum)
{
  for (guint64 seed = from; seed < from + n; seed++)
    {
      char failure[256];
      if (!run_seed (seed, NULL, sum, failure))
        {
          printf ("# seed %" G_GUINT64_FORMAT ": %s\n", seed, failure);
          return FALSE;
        }
    }
  return TRUE;
}

/* ---- every single fault and every pair of faults in a small exchange ---- */

typedef enum
{
  STRIKE_NONE,
  STRIKE_BREAK_ALL,  /* The connections break, and everything under way is lost … */
  STRIKE_BREAK_NONE, /* … nothing is lost */
  STRIKE_BREAK_TO_A, /* … only what is under way to A, or to B, is lost */
  STRIKE_BREAK_TO_B,
  STRIKE_BREAK_BUT_ONE,
  STRIKE_SEND_A, /* A has something to send. */
  STRIKE_SEND_B,
  STRIKE_DIAL_A, /* A makes one more connection. */
  STRIKE_DIAL_B,
  STRIKE_DEAF_A, /* What is sent to A is lost from now on. */
  STRIKE_DEAF_B,
  STRIKES
} Strike;

typedef struct
{
  Strike strike;
  guint step;
} Blow;

static void
deliver_blow (World *world, Strike strike)
{
  static const guint kept[][2] = { [STRIKE_BREAK_ALL] = { 0, 0 },
                                   [STRIKE_BREAK_NONE] = { 99, 99 },
                                   [STRIKE_BREAK_TO_A] = { 0, 99 },
                                   [STRIKE_BREAK_TO_B] = { 99, 0 },
                                   [STRIKE_BREAK_BUT_ONE] = { 1, 1 } };

  if (strike == STRIKE_SEND_A || strike == STRIKE_SEND_B)
    (void)world_send (world, strike == STRIKE_SEND_B, strike == STRIKE_SEND_A, SESSION_BULK);
  else if (strike == STRIKE_DIAL_A || strike == STRIKE_DIAL_B)
    (void)world_connect (world, strike == STRIKE_DIAL_B, strike == STRIKE_DIAL_A, FALSE);
  for (guint i = 0; i < world->connections->len; i++)
    {
      WorldConnection *one = world->connections->pdata[i];
      guint a = one->member[0] == 0 ? 0 : 1; /* The end at which A is. */
      if (strike >= STRIKE_BREAK_ALL && strike <= STRIKE_BREAK_BUT_ONE && !one->broken)
        world_break (world, one, kept[strike][a], kept[strike][!a]);
      else if (strike == STRIKE_DEAF_A || strike == STRIKE_DEAF_B)
        one->deaf[strike == STRIKE_DEAF_A ? a : !a] = TRUE;
    }
}

/* Three rounds: A asks and B answers; B alone sends; both send at once. Each begins when all is
 * quiet. */
static gboolean
begin_round (World *world, guint round)
{
  static const SessionStream streams[] = { SESSION_BULK, SESSION_URGENT, SESSION_BULK };

  if (round >= ROUNDS)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    {
      if (round != 1)
        (void)world_send (world, 0, 1, streams[i]);
      if (round > 0)
        (void)world_send (world, 1, 0, streams[i]);
    }
  return TRUE;
}

/* If every connection either works or breaks visibly for both ends, no end loses patience with a
 * connection, and connections are only dialled if needed: two for each round, since both ends may
 * dial, and for each blow. */
static void
check_economy (World *world, const Blow *blows, guint n_blows)
{
  for (guint i = 0; i < n_blows; i++)
    if (blows[i].strike == STRIKE_DEAF_A || blows[i].strike == STRIKE_DEAF_B)
      return;
  if (world->refused > 0)
    world_fail (world, "a connection was closed for a fault that it has not");
  if (world->numbers > 2 * (ROUNDS + n_blows))
    world_fail (world, "%" G_GUINT64_FORMAT " connections were dialled", world->numbers);
}

/* `last`: the last of the possible actions comes first. Returns the number of steps. */
static guint
run_case (const Blow *blows, guint n_blows, gboolean last, GString *story, char failure[256])
{
  SessionConfig config = { .fragment = 8, .flight_max = 40, .room_max = 100000, .message_max = 60 };
  World world;
  guint round = 0, step;

  world_init (&world, &config, 2, 30);
  world.config.message_max = 60;
  world.story = story;
  for (step = 0; step < DRAIN_STEPS && world.failure[0] == '\0'; step++)
    {
      Action actions[WORLD_ACTIONS_MAX];
      for (guint i = 0; i < n_blows; i++)
        if (blows[i].step == step)
          deliver_blow (&world, blows[i].strike);
      guint n = world_actions (&world, actions);
      world.now_us += 1000;
      if (n > 0)
        world_act (&world, &actions[last ? n - 1 : 0], TRUE, FALSE);
      else if (world_due (&world) < G_MAXUINT64)
        world.now_us = MAX (world.now_us, world_due (&world));
      else if (!begin_round (&world, round++))
        break;
    }
  if (step == DRAIN_STEPS)
    world_fail (&world, "it does not come to rest");
  else
    world_check_end (&world);
  if (!last) /* Otherwise some news arrives only after a time limit. */
    check_economy (&world, blows, n_blows);
  g_strlcpy (failure, world.failure, 256);
  world_clear (&world);
  return step;
}

static gboolean
try_case (const Blow *blows, guint n_blows, gboolean last, Sum *sum)
{
  char failure[256];

  sum->steps += run_case (blows, n_blows, last, NULL, failure);
  sum->runs++;
  if (failure[0] == '\0')
    return TRUE;
  printf ("# case %d,%d@%u", last, blows[0].strike, blows[0].step);
  for (guint i = 1; i < n_blows; i++)
    printf (",%d@%u", blows[i].strike, blows[i].step);
  printf (": %s\n", failure);
  return FALSE;
}

/* Tries every single blow; `pairs`: every pair, the second at most `apart` steps after the
 * first. */
static gboolean
enumerate (gboolean last, gboolean pairs, guint apart, Sum *sum)
{
  char failure[256];
  Blow blows[2] = { 0 };
  guint steps = run_case (blows, 0, last, NULL, failure);

  if (failure[0] != '\0')
    return try_case (blows, 1, last, sum);
  for (blows[0].step = 0; blows[0].step < steps; blows[0].step++)
    for (blows[0].strike = STRIKE_BREAK_ALL; blows[0].strike < STRIKES; blows[0].strike++)
      {
        if (!pairs && !try_case (blows, 1, last, sum))
          return FALSE;
        for (guint i = 0; pairs && i < apart; i++)
          for (blows[1].strike = STRIKE_BREAK_ALL; blows[1].strike < STRIKES; blows[1].strike++)
            {
              blows[1].step = blows[0].step + i;
              if (!try_case (blows, 2, last, sum))
                return FALSE;
            }
      }
  return TRUE;
}

/* ---- the command line ---- */

static gint64 option_seeds, option_from = 1, option_seed = -1;
static gboolean option_pairs;
static char *option_case;

static const GOptionEntry options[]
    = { { "seeds", 0, 0, G_OPTION_ARG_INT64, &option_seeds, "Run this many seeds", "N" },
        { "from", 0, 0, G_OPTION_ARG_INT64, &option_from, "The first of them", "SEED" },
        { "seed", 0, 0, G_OPTION_ARG_INT64, &option_seed, "Run one and print it", "SEED" },
        { "pairs", 0, 0, G_OPTION_ARG_NONE, &option_pairs, "Try every pair of faults", NULL },
        { "case", 0, 0, G_OPTION_ARG_STRING, &option_case, "Run one enumerated case and print it",
          "LAST,FAULT@STEP…" },
        G_OPTION_ENTRY_NULL };

static gboolean
report (guint number, gboolean well, const char *what, const Sum *sum, gint64 start_us)
{
  printf ("%sok %u - %s (%" G_GUINT64_FORMAT " runs, %.1f s)\n", well ? "" : "not ", number, what,
          sum->runs, (double)(g_get_monotonic_time () - start_us) / 1e6);
  fflush (stdout);
  return well;
}

static gboolean
check (void)
{
  Sum seeds = { 0 }, singles = { 0 }, pairs = { 0 };
  gint64 start_us = g_get_monotonic_time ();
  gboolean well;

  printf ("1..4\n");
  well = report (1, run_seeds (1, CHECK_SEEDS, &seeds), "random connections", &seeds, start_us);
  well &= report (2, seeds.delivered > 10 * seeds.runs && seeds.refused > seeds.runs / 10,
                  "messages came, and bad frames", &seeds, start_us);
  start_us = g_get_monotonic_time ();
  well &= report (3, enumerate (FALSE, FALSE, 0, &singles) && enumerate (TRUE, FALSE, 0, &singles),
                  "every single fault of a small exchange", &singles, start_us);
  start_us = g_get_monotonic_time ();
  well &= report (4, enumerate (FALSE, TRUE, 3, &pairs), "every pair within three steps", &pairs,
                  start_us);
  return well;
}

static gboolean
show_seed (guint64 seed)
{
  g_autoptr (GString) story = g_string_new (NULL);
  char failure[256];
  Sum sum = { 0 };
  gboolean well = run_seed (seed, story, &sum, failure);

  printf ("%sseed %" G_GUINT64_FORMAT ": %s\n", story->str, seed, well ? "well" : failure);
  return well;
}

static gboolean
show_case (const char *text)
{
  g_autoptr (GString) story = g_string_new (NULL);
  g_auto (GStrv) words = g_strsplit (text, ",", 3);
  guint n = g_strv_length (words);
  Blow blows[2];
  char failure[256];

  for (guint i = 1; i < n; i++)
    if (sscanf (words[i], "%u@%u", &blows[i - 1].strike, &blows[i - 1].step) != 2)
      n = 0;
  if (n < 2)
    {
      fprintf (stderr, "sessions: '%s' is no case\n", text);
      return FALSE;
    }
  run_case (blows, n - 1, words[0][0] == '1', story, failure);
  printf ("%scase %s: %s\n", story->str, text, failure[0] == '\0' ? "well" : failure);
  return failure[0] == '\0';
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  Sum sum = { 0 };
  gint64 start_us = g_get_monotonic_time ();
  gboolean well;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      fprintf (stderr, "sessions: %s\n", error->message);
      return 2;
    }
  if (option_seed >= 0)
    well = show_seed ((guint64)option_seed);
  else if (option_case != NULL)
    well = show_case (option_case);
  else if (option_seeds > 0)
    {
      well = run_seeds ((guint64)option_from, (guint64)option_seeds, &sum);
      printf ("%" G_GUINT64_FORMAT " runs, %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT
              " steps, %.1f s\n",
              sum.runs, sum.delivered, sum.steps,
              (double)(g_get_monotonic_time () - start_us) / 1e6);
    }
  else if (option_pairs)
    well = enumerate (FALSE, TRUE, G_MAXUINT, &sum) && enumerate (TRUE, TRUE, G_MAXUINT, &sum);
  else
    well = check ();
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
