/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a node whose launcher is gone stays for clients that ask for the end of the run. Tests
 * driver-end.c alone: the test plays the relay and the rest of the driver. */
#include "entries.h"

#include "node/driver-private.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

static int told_code; /* what main is told of the end ... */
static char *told;    /* ... and the sentence (nullable) */

void
driver_set_ended (Driver *driver G_GNUC_UNUSED, DriverPartEvent event G_GNUC_UNUSED, int code,
                  const char *sentence)
{
  told_code = code;
  g_free (told);
  told = g_strdup (sentence);
}

static const char *ends_first; /* (nullable) the code with which another node ends the run first */

/* Replaces the C library's function. */
int
link (const char *from, const char *to)
{
  if (ends_first != NULL && g_str_has_suffix (to, "/" FOLDER_FILE_END))
    g_assert_true (g_file_set_contents (to, ends_first, -1, NULL));
  return linkat (AT_FDCWD, from, AT_FDCWD, to, 0);
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

/* The code and the sentence of an end. A suspended run that could not publish has no place; an
 * answer that could not be kept is none. */
static void
an_end_says_why (void)
{
  static const struct
  {
    int code;
    gboolean finished;
    const char *sentence, *unpublished, *unkept;
    int wanted_code;
    const char *wanted;
  } cases[] = {
    { 0, TRUE, NULL, NULL, NULL, 0, NULL },
    { 3, TRUE, NULL, NULL, NULL, 3, NULL },
    { 0, TRUE, NULL, NULL, "lost", 1, "lost" },
    { 3, TRUE, NULL, NULL, "lost", 3, "lost" },
    { NODE_END_CANCELLED, FALSE, NULL, "full", NULL, NODE_END_CANCELLED, "the run was cancelled" },
    { NODE_END_CANCELLED, TRUE, NULL, NULL, NULL, NODE_END_CANCELLED, NULL }, /* main's own code */
    { NODE_END_SUSPENDED, FALSE, NULL, NULL, NULL, NODE_END_SUSPENDED, NULL },
    { NODE_END_SUSPENDED, FALSE, NULL, "full", NULL, NODE_END_NO_STORE, "full" },
    { NODE_END_SUSPENDED, TRUE, NULL, "full", NULL, NODE_END_SUSPENDED, "full" },
    { NODE_END_NO_STORE, FALSE, "s", "full", NULL, NODE_END_NO_STORE, "full" },
    { NODE_END_FAILED, FALSE, "s", "full", NULL, NODE_END_FAILED, "s" },
    { NODE_END_FAILED, FALSE, "s", NULL, "lost", NODE_END_FAILED, "s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_dir_make_tmp ("satin-bequeath-XXXXXX", NULL), *said = NULL;
      Driver driver = { .config = { .folder = folder, .solo = TRUE },
                        .unpublished = (char *)cases[i].unpublished,
                        .unkept = (char *)cases[i].unkept };
      int code;

      driver_end (&driver, cases[i].code, cases[i].finished, cases[i].sentence);
      g_assert_true (folder_has_ended (folder, &code, &said));
      if (code != cases[i].wanted_code || told_code != code
          || g_strcmp0 (said, cases[i].wanted) != 0 || g_strcmp0 (told, said) != 0)
        g_error ("case %u: %d, %d: %s, %s", i, code, told_code, said, told);
      driver.part = PART_STOPPED; /* an end is for good */
      told_code = -1;
      driver_end (&driver, 9, TRUE, "late");
      g_assert_cmpint (told_code, ==, -1);
      g_assert_true (folder_remove (folder, NULL));
    }
}

/* A master wrote an answer and died before the end: nobody has seen that answer, so it goes, unless
 * the run is suspended and it is known what main returned. If the other half of a split run ended
 * it first, that end and its answer stand. */
static void
an_answer_without_an_end_goes (void)
{
  for (int other = 0; other <= 1; other++)
    for (int is_known = 0; is_known <= 1; is_known++)
      {
        g_autofree char *folder = g_dir_make_tmp ("satin-bequeath-XXXXXX", NULL);
        g_autoptr (GBytes) answer = g_bytes_new ("42", 2), zero = g_bytes_new ("0", 1);
        Driver driver = { .config = { .folder = folder, .solo = TRUE } };
        int code;

        g_assert_true (folder_write (folder, FOLDER_FILE_ANSWER, answer, NULL));
        if (is_known) /* what main returned: the answer is complete */
          g_assert_true (folder_write (folder, FOLDER_FILE_ANSWER_CODE, zero, NULL));
        ends_first = other ? "0" : NULL;
        driver_end (&driver, is_known ? NODE_END_SUSPENDED : NODE_END_FAILED, FALSE, NULL);
        ends_first = NULL;
        gboolean stays = other || is_known;
        g_assert_true (folder_has_ended (folder, &code, NULL));
        g_assert_cmpint (folder_size (folder, FOLDER_FILE_ANSWER), ==, stays ? 2 : -1);
        g_assert_cmpuint (entries (folder), ==, 1u + (guint)stays + (guint)is_known);
        g_assert_true (folder_remove (folder, NULL));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bequeath/a-node-stays-for-those-who-ask", a_node_stays_for_those_who_ask);
  g_test_add_func ("/bequeath/the-jobs-of-a-stopped-run-halt", the_jobs_of_a_stopped_run_halt);
  g_test_add_func ("/bequeath/an-end-says-why", an_end_says_why);
  g_test_add_func ("/bequeath/an-answer-without-an-end-goes", an_answer_without_an_end_goes);
  return g_test_run ();
}
