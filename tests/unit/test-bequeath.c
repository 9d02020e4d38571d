/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a node whose launcher is gone stays for clients that ask for the end of the run. Tests
 * driver-end.c alone: the test plays the relay and the rest of the driver. */
#include "node/driver-private.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include <string.h>

static RelayState state;

RelayState
relay_state (void)
{
  return state;
}

void
relay_end (void)
{
}

void
keeper_close (Driver *driver G_GNUC_UNUSED)
{
}

void
mesh_close (Driver *driver G_GNUC_UNUSED)
{
}

void
report_stats (Driver *driver G_GNUC_UNUSED, gboolean final G_GNUC_UNUSED)
{
}

void
report_timeline (Driver *driver G_GNUC_UNUSED, gboolean final G_GNUC_UNUSED)
{
}

void
driver_say (Driver *driver G_GNUC_UNUSED, const char *format G_GNUC_UNUSED, ...)
{
}

void
driver_set_ended (Driver *driver G_GNUC_UNUSED, DriverPartEvent event G_GNUC_UNUSED,
                  int code G_GNUC_UNUSED, const char *sentence G_GNUC_UNUSED)
{
}

static guint n_halts;

void
engine_halt (Engine *engine G_GNUC_UNUSED, gboolean leaving)
{
  g_assert_false (leaving);
  n_halts++;
}

#define SECOND G_USEC_PER_SEC

/* A node stays while the launcher fetches its result, and ends when the launcher has all. If the
 * launcher is gone, others may ask: for a minute if the answer is nowhere else. */
static void
a_node_stays_for_those_who_ask (void)
{
  static const struct
  {
    RelayState state;
    gboolean has_answer, has_checkpoint, is_left, is_taken;
    gint64 since_us; /* since when it waits; 0: not yet */
    gboolean stays;
  } cases[] = {
    { RELAY_SENT, TRUE, FALSE, FALSE, FALSE, 0, FALSE },
    { RELAY_SENDING, TRUE, FALSE, FALSE, FALSE, 0, TRUE },
    { RELAY_SENDING, TRUE, FALSE, FALSE, FALSE, 100 * SECOND, TRUE },
    { RELAY_SENDING, TRUE, FALSE, FALSE, TRUE, 0, FALSE },
    { RELAY_CUT, TRUE, FALSE, FALSE, FALSE, 0, TRUE },
    { RELAY_CUT, TRUE, FALSE, TRUE, FALSE, 0, FALSE },
    { RELAY_CUT, TRUE, FALSE, FALSE, TRUE, 0, FALSE },
    { RELAY_CUT, TRUE, FALSE, FALSE, FALSE, 50 * SECOND, TRUE },
    { RELAY_CUT, TRUE, FALSE, FALSE, FALSE, 61 * SECOND, FALSE },
    { RELAY_CUT, TRUE, TRUE, FALSE, FALSE, 1, TRUE },
    { RELAY_CUT, TRUE, TRUE, FALSE, FALSE, 4 * SECOND, FALSE },
    { RELAY_CUT, FALSE, FALSE, FALSE, FALSE, 4 * SECOND, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_dir_make_tmp ("satin-bequeath-XXXXXX", NULL);
      gint64 now_us = g_get_monotonic_time ();
      gint64 asked_us = cases[i].since_us > 0 ? now_us - cases[i].since_us : 0;
      Driver driver = { .config.folder = folder,
                        .config.checkpoint = cases[i].has_checkpoint ? "/c" : NULL,
                        .end_is_taken = cases[i].is_taken,
                        .asked_us = asked_us,
                        .part = cases[i].is_left ? PART_LEFT : PART_FINISHED };

      state = cases[i].state;
      if (cases[i].has_answer)
        g_assert_true (folder_claim (folder, FOLDER_FILE_ANSWER));
      if (driver_serves_final_result (&driver) != cases[i].stays)
        g_error ("case %u", i);
      if (asked_us != 0)
        g_assert_cmpint (driver.asked_us, ==, asked_us); /* a request for status prolongs nothing */
      else
        g_assert_cmpint (driver.asked_us != 0, ==, cases[i].stays && state == RELAY_CUT);
      g_assert_true (folder_remove (folder, NULL));
    }
}

/* While main still ends, no job of a stopped run goes on. After an answer there is none. */
static void
the_jobs_of_a_stopped_run_halt (void)
{
  static const int codes[] = { NODE_END_CANCELLED, NODE_END_SUSPENDED, NODE_END_FAILED };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    for (gboolean finished = FALSE; finished <= TRUE; finished++)
      {
        Driver driver = { .config.solo = TRUE };
        n_halts = 0;
        driver_end (&driver, codes[i], finished, NULL);
        g_assert_cmpuint (n_halts, ==, !finished);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bequeath/a-node-stays-for-those-who-ask", a_node_stays_for_those_who_ask);
  g_test_add_func ("/bequeath/the-jobs-of-a-stopped-run-halt", the_jobs_of_a_stopped_run_halt);
  return g_test_run ();
}
