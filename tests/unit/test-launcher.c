/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher does (launch/launch.c) when nodes join, end or stay, when the end comes before
 * its answer, and when people interrupt it. launcher-rig.h says what a scenario is. */
#include "launcher-rig.h"

/* Plays a run. `wanted`: what the launcher does. Its messages end where a path begins. */
static void
plays (const char *scenario, int code, const char *wanted)
{
  const char *none[] = { NULL };
  g_auto (FolderRun) run = { .name = g_strdup ("launched"),
                             .program = g_strdup ("/bin/fib"),
                             .argv = g_strdupv ((char **)none),
                             .folder = g_strdup ("/"),
                             .checkpoint = g_strdup (has_no_checkpoint ? NULL : "/c"),
                             .nodes = 2,
                             .workers = 1 };
  const LaunchWish wish = { .live = FALSE };
  g_auto (GStrv) split = g_strsplit (scenario, " ", -1);
  g_autofree char *path = NULL;

  words = split;
  at = n_handlers = 0;
  tick = NULL;
  now_us = 1000;
  int got = launch_run (&run, &wish);
  path = folder_find ("launched", NULL);
  if (path != NULL)
    note ("the folder stays");
  if (path != NULL)
    (void)__real_folder_remove (path, NULL);
  if (strcmp (called->str, wanted) != 0 || got != code)
    g_error ("%s: code %d\n%s", scenario, got, called->str);
  g_string_truncate (called, 0);
  fails = is_bringing = more_came = is_mute = is_told = has_lost_answer = main_is_at_101 = FALSE;
  has_no_checkpoint = FALSE;
}

#define LEFT(crashes) "figures, " #crashes " crashes\nleave the folder\n"

static void
the_end_is_told_once (void)
{
  plays ("joined answer=42 end=0 gone", 0, "end 0 -\nanswer\nwait for the others\n" LEFT (0));
  plays ("joined shown answer=42 end=3 gone", 3, "wait for the others\n" LEFT (0));
  plays ("joined error=why end=3 gone", 3, "end 3 why\nanswer\nwait for the others\n" LEFT (0));
  is_told = TRUE;
  plays ("joined error=told end=4 gone", 4,
         "end 4 -, told\nanswer\nwait for the others\n" LEFT (0));
  is_told = TRUE;
  plays ("joined error=why end=1 gone", 1, "end 1 why\nanswer\nwait for the others\n" LEFT (0));
  has_lost_answer = TRUE;
  plays ("joined answer=42 end=0 gone", 1, "end 0 -\nanswer\nwait for the others\n" LEFT (0));
  plays ("joined gone answer=42 end=0", 1,
         "say all nodes are gone, and the run had not ended\nfigures, 0 crashes\nnext, after 1\n"
         "say the logs of the nodes are in \nthe folder stays\n");
}

/* The folder stays if it tells more than the user was told. */
static void
logs_of_crashes_stay (void)
{
  plays ("joined crashed answer=42 end=0 gone", 0,
         "end 0 -\nanswer\nwait for the others\nfigures, 1 crashes\n"
         "say the logs of the nodes are in \nthe folder stays\n");
  plays ("joined end=6 gone", 6,
         "end 6 -\nanswer\nwait for the others\nfigures, 0 crashes\nreplay\n"
         "say the logs of the nodes are in \nthe folder stays\n");
  plays ("crashed end=3 gone", 3, "end 3 -\nanswer\nwait for the others\n" LEFT (1));
}

static void
nodes_that_stay_are_killed (void)
{
  plays ("joined answer=42 end=0 4.7s - gone", 0,
         "end 0 -\nanswer\nwait for the others\n" LEFT (0));
  plays ("joined answer=42 end=0 5s gone", 0,
         "end 0 -\nanswer\nkill 101\nkill 102\nwait for the others\n" LEFT (0));
  plays ("far joined answer=42 end=0 5s gone", 0, /* the way to a node of another host stays */
         "end 0 -\nanswer\nquit the far node\nkill 102\nwait for the others\n" LEFT (0));
  plays ("founder-gone end=3 - gone", 3,
         "end 3 -\nanswer\nkill 102\nwait for the others\n" LEFT (0));
  main_is_at_101 = TRUE; /* it may still tell how far it came */
  plays ("joined end=75 5s 29s gone", 75,
         "end 75 -\nanswer\nkill 102\nthe words of main\nwait for the others\nfigures, 0 crashes\n"
         "next, after 75\nleave the folder\n");
  main_is_at_101 = TRUE;
  plays ("joined end=75 5s 31s gone", 75,
         "end 75 -\nanswer\nkill 102\nkill 101\nthe words of main\nwait for the others\n"
         "figures, 0 crashes\nnext, after 75\nleave the folder\n");
  main_is_at_101 = TRUE;
  plays ("joined answer=42 end=0 5s gone", 0,
         "end 0 -\nanswer\nkill 101\nkill 102\nwait for the others\n" LEFT (0));
}

/* An answer from another host is waited for, as long as more of it comes. */
static void
an_answer_that_is_late_is_waited_for (void)
{
  plays ("joined far more end=0 9s more 9s more 9s answer=42 gone", 0,
         "end 0 -\nanswer\nquit the far node\nwait for the others\n" LEFT (0));
  plays ("joined more end=0 9s cut-off gone", 0,
         "end 0 -\nanswer\nfigures, 0 crashes\nthe folder stays\n");
  plays ("joined more end=0 10s 5s - -", 0,
         "end 0 -\nanswer\nfigures, 0 crashes\nthe folder stays\n");
  plays ("joined more end=75 gone", 75,
         "end 75 -\nanswer\nthe words of main\nwait for the others\nfigures, 0 crashes\n"
         "next, after 75\nleave the folder\n");
}

static void
a_program_that_does_not_join (void)
{
  plays ("9s - gone", 1, "say all nodes are gone, and the run had not ended\n" LEFT (0));
  plays ("11s - gone", 1, "say \nkill 101\nkill 102\n" LEFT (0));
  plays ("founder-0=101 11s - gone", 1,
         "say all nodes are gone, and the run had not ended\n" LEFT (0));
  plays ("joined 11s - gone", 1,
         "say all nodes are gone, and the run had not ended\nfigures, 0 crashes\nnext, after 1\n"
         "say the logs of the nodes are in \nthe folder stays\n");
  plays ("far 11s - gone", 1, "say all nodes are gone, and the run had not ended\n" LEFT (0));
  plays ("refused gone", 9, "101 never joined\n" LEFT (0));
  plays ("far refused gone", 1, "say no host started a node: the run has not begun\n" LEFT (0));
  fails = TRUE;
  plays ("", 1, "remove the folder\n");
}

#define SUSPENDING "say suspending; interrupt to quit at once\nask to suspend\n"
#define SUSPENDED \
  "end 75 -\nanswer\nthe words of main\nwait for the others\nfigures, 0 crashes\n" \
  "next, after 75\nleave the folder\n"

static void
people_stop_a_run (void)
{
  static const char *const ways[] = { "interrupt", "terminate", "warn" };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *once = g_strdup_printf ("joined %s end=75 gone", ways[i]);
      g_autofree char *early = g_strdup_printf ("%s gone", ways[i]);
      plays (once, 75, SUSPENDING SUSPENDED);
      plays (early, 75, "kill 101\nkill 102\nnot begun\n" LEFT (0));
    }
  plays ("suspend=1 gone", 75, "kill 101\nkill 102\nnot begun\n" LEFT (0));
  plays ("joined terminate warn terminate end=75 gone", 75, SUSPENDING SUSPENDED);
  plays ("joined terminate interrupt gone", 1,
         SUSPENDING "say killed\nkill 101\nkill 102\nfigures, 0 crashes\nnext, after 1\n"
                    "say the logs of the nodes are in \nthe folder stays\n");
  plays ("joined suspend=1 - end=75 gone", 75, SUSPENDED); /* the nodes look for it */
}

/* No node may listen yet: the request is made again. */
static void
a_request_that_nobody_hears_is_made_again (void)
{
  g_autoptr (GString) scenario = g_string_new ("joined interrupt");

  for (int i = 0; i < 200; i++)
    g_string_append (scenario, " -");
  is_mute = TRUE;
  plays (g_string_append (scenario, " end=75 gone")->str, 75,
         SUSPENDING "ask to suspend\n" SUSPENDED);
}

/* `satin save --to` may give a running run a checkpoint. The launcher then says how to go on from
 * it. */
static void
a_run_may_get_a_checkpoint (void)
{
#define ENDED \
  "end 75 -\nanswer\nthe words of main\nwait for the others\nfigures, 0 crashes\nnext, after 75"
#define NOTHING "say suspending without a checkpoint, nothing is kept; interrupt to quit at once\n"
  static const struct
  {
    const char *scenario, *does;
  } cases[] = {
    { "joined end=75 gone", ENDED ", without a checkpoint\nleave the folder\n" },
    { "joined given=/d end=75 gone", ENDED "\nleave the folder\n" },
    { "joined interrupt end=75 gone",
      NOTHING "ask to suspend\n" ENDED ", without a checkpoint\nleave the folder\n" },
    { "joined interrupt given=/d end=75 gone",
      NOTHING "ask to suspend\n" ENDED "\nleave the folder\n" },
    { "joined given=/d interrupt end=75 gone", SUSPENDING ENDED "\nleave the folder\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      has_no_checkpoint = TRUE;
      plays (cases[i].scenario, 75, cases[i].does);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *state = g_dir_make_tmp ("satin-launcher-XXXXXX", NULL);

  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  called = g_string_new (NULL);
  g_test_add_func ("/launcher/end", the_end_is_told_once);
  g_test_add_func ("/launcher/logs", logs_of_crashes_stay);
  g_test_add_func ("/launcher/stay", nodes_that_stay_are_killed);
  g_test_add_func ("/launcher/late-answer", an_answer_that_is_late_is_waited_for);
  g_test_add_func ("/launcher/never-joined", a_program_that_does_not_join);
  g_test_add_func ("/launcher/stopped", people_stop_a_run);
  g_test_add_func ("/launcher/unheard", a_request_that_nobody_hears_is_made_again);
  g_test_add_func ("/launcher/checkpoint", a_run_may_get_a_checkpoint);
  int result = g_test_run ();
  g_autofree char *above = g_build_filename (state, "satin", NULL), *runs = folder_root ();
  g_rmdir (runs);
  g_rmdir (above);
  g_rmdir (state);
  return result;
}
