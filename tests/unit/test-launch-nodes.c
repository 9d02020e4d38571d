/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes the launcher starts when, and what it makes of the end of each
 * (launch/launch-nodes.c). The test plays the processes and the rest of the room. */
#include "called.h"

#include "launch/command-words.h"
#include "launch/launch-folder.h"
#include "launch/launch-private.h"
#include "launch/launch-words.h"
#include "launch/start.h"

#include <string.h>
#include <sys/wait.h>

#define EXITED(code) ((code) << 8) /* as waitpid tells it */
#define KILLED 9
#define FIRST_PID 100

static Launch launch;
static FolderRun run;
static const char *failing; /* digits: the places at which no node can be started */
static AgainEnd its_end;
static gboolean has_members, has_log, ended, wants, deserted;
static GChildWatchFunc on_gone;

/* ---- the rest of the room, played here ---- */

/* The linker wraps what GLib's own libraries call, too, so this is seen from outside. */
__attribute__ ((visibility ("default"))) guint
__wrap_g_child_watch_add (GPid pid, GChildWatchFunc function, gpointer data);

guint
__wrap_g_child_watch_add (GPid pid, GChildWatchFunc function, gpointer data)
{
  g_assert_true (data == &launch);
  on_gone = function;
  note ("watch %d", (int)pid - FIRST_PID);
  return 1;
}

void
command_say (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *line = g_strdup_vprintf (format, list);
  va_end (list);
  note ("say %s", line);
}

GArray *
folder_pids (const char *path, const char *suffix)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 pid = 1;

  g_assert_cmpstr (path, ==, "f");
  g_assert_cmpstr (suffix, ==, FOLDER_NODE_ADDRESS);
  if (has_members)
    g_array_append_val (pids, pid);
  return pids;
}

gboolean
launch_folder_lives (const char *path, const char *suffix)
{
  g_assert_cmpstr (path, ==, "f");
  return strcmp (suffix, FOLDER_NODE_LOG) == 0 ? has_log : has_members;
}

gboolean
spot_is_far (const Spot *place)
{
  return place->host != NULL;
}

gboolean
spread_start (const Spot *place, const FolderRun *its, const char *path, gboolean founder,
              GBytes *copy, Started *started, GError **error)
{
  g_assert_true (its == &run && copy == NULL);
  g_assert_cmpstr (path, ==, "f");
  if (failing != NULL && strchr (failing, '0' + place->number) != NULL)
    {
      g_set_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED, "no %s",
                   place->number < 5 ? "room" : "program");
      return FALSE;
    }
  note ("start %d%s", place->number, founder ? ", founder" : "");
  *started = (Started){ .pid = FIRST_PID + place->number,
                        .far = place->host != NULL ? (Far *)place : NULL,
                        .site = "s" };
  return TRUE;
}

GQuark
folder_error_quark (void)
{
  return g_quark_from_static_string ("folder");
}

char *
spread_peers (const char *path)
{
  (void)path;
  return g_strdup ("peers");
}

void
far_drain (Far *far)
{
  note ("drain %d", ((Spot *)far)->number);
}

void
far_tell (Far *far, const char *peers)
{
  note ("tell %d %s", ((Spot *)far)->number, peers);
}

char *
far_name (const Far *far)
{
  return g_strdup_printf ("host %s", ((const Spot *)far)->host);
}

void
start_kill (pid_t pid)
{
  note ("kill %d", (int)pid - FIRST_PID);
}

void
launch_words_gone (const char *path, gint64 pid, int status, guint n_live)
{
  (void)path;
  note ("gone %d (%d), %u live", (int)pid - FIRST_PID, status, n_live);
}

void
launch_words_left_out (const char *path, gint64 pid, int status, const char *name)
{
  (void)path, (void)status;
  note ("left out %d, %s", (int)pid - FIRST_PID, name);
}

gboolean
launch_look_for_end (Launch *its)
{
  g_assert_true (its == &launch);
  return ended;
}

void
launch_kill_all (Launch *its, gboolean but_main)
{
  g_assert_true (its == &launch && !but_main);
  note ("kill all");
}

void
launch_give_up (Launch *its, LaunchEvent why)
{
  g_assert_true (its == &launch && why == LAUNCH_ON_GIVE_UP);
  note ("give up");
}

Replace *
replace_new (const char *path, const GArray *places, const GArray *nodes, ReplaceStart start,
             gpointer data)
{
  g_assert_true (places == launch.places && nodes == launch.nodes && data == &launch);
  g_assert_nonnull (start);
  (void)path;
  return NULL;
}

gboolean
replace_wants (const Replace *replace, guint place)
{
  (void)replace, (void)place;
  return wants;
}

AgainEnd
replace_end (const char *path, const Started *node)
{
  g_assert_true (node->gone);
  (void)path;
  return its_end;
}

void
replace_started (Replace *replace, guint place)
{
  (void)replace, (void)place;
}

void
replace_plan (Replace *replace, guint place, AgainEnd end)
{
  (void)replace;
  note ("plan %u%s", place, end == AGAIN_NEVER ? ", never joined" : "");
}

gboolean
replace_look (Replace *replace)
{
  (void)replace;
  return !deserted;
}

/* ---- the rig ---- */

/* `places`: a letter for each: h is here, f is on another host. */
static void
set_up (const char *places)
{
  static const Site site = { .name = (char *)"s" };

  g_clear_pointer (&launch.places, g_array_unref);
  g_clear_pointer (&launch.nodes, g_array_unref);
  g_clear_pointer (&launch.loop, g_main_loop_unref);
  g_free (launch.said);
  run = (FolderRun){ .tcp = FALSE };
  launch = (Launch){ .run = &run,
                     .path = (char *)"f",
                     .places = g_array_new (FALSE, FALSE, sizeof (Spot)),
                     .nodes = g_array_new (FALSE, TRUE, sizeof (Started)),
                     .state = LAUNCH_GOING };
  failing = NULL;
  has_members = has_log = ended = wants = deserted = FALSE;
  for (int i = 0; places[i] != '\0'; i++)
    {
      Spot spot = { .site = &site, .host = places[i] == 'f' ? "h" : NULL, .number = i };
      g_array_append_val (launch.places, spot);
    }
}

/* All nodes run. */
static void
begin (const char *places)
{
  set_up (places);
  g_assert_true (launch_nodes_begin (&launch));
  launch.loop = g_main_loop_new (NULL, TRUE);
  launch_nodes_watch (&launch);
  g_string_truncate (called, 0);
}

static void
goes (guint n, int status, AgainEnd end, const char *wanted)
{
  its_end = end;
  on_gone (FIRST_PID + (GPid)n, status, &launch);
  noted (wanted);
}

static gboolean
is_over (void)
{
  return !g_main_loop_is_running (launch.loop);
}

/* ---- starts ---- */

/* Nodes of other hosts start when the founder has joined, since they need its address; but a
 * founder may itself be on another host. */
static void
nodes_start_in_order (void)
{
  set_up ("hhh");
  g_assert_true (launch_nodes_begin (&launch));
  noted ("start 0, founder\nstart 1\nstart 2\n");
  launch.loop = g_main_loop_new (NULL, TRUE);
  launch_nodes_watch (&launch);
  noted ("watch 0\nwatch 1\nwatch 2\n");
  g_assert_cmpuint (launch.n_live, ==, 3);
  launch_nodes_spread (&launch);
  noted ("");

  set_up ("fhfhf");
  run.tcp = TRUE;
  g_assert_true (launch_nodes_begin (&launch));
  noted ("start 0, founder\nwatch 0\nstart 1\n");
  launch.loop = g_main_loop_new (NULL, TRUE);
  launch_nodes_watch (&launch);
  noted ("watch 1\n");
  launch_nodes_spread (&launch);
  noted ("start 2\nwatch 2\nstart 3\nwatch 3\nstart 4\nwatch 4\n"
         "tell 0 peers\ntell 2 peers\ntell 4 peers\n");
  g_array_index (launch.nodes, Started, 2).gone = TRUE;
  launch_nodes_spread (&launch);
  noted ("tell 0 peers\ntell 4 peers\n");
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (g_array_index (launch.nodes, Started, i).place, ==, i);
}

/* Without all nodes of the beginning there is no run. Later ones may fail. */
static void
a_node_that_cannot_start (void)
{
  set_up ("hhh");
  failing = "2";
  g_assert_false (launch_nodes_begin (&launch));
  noted ("start 0, founder\nstart 1\nsay no room\nkill 0\nkill 1\n");

  set_up ("hffffff");
  g_assert_true (launch_nodes_begin (&launch));
  launch.loop = g_main_loop_new (NULL, TRUE);
  g_string_truncate (called, 0);
  failing = "12456";
  launch_nodes_spread (&launch);
  noted ("say no room\nstart 3\nwatch 3\nsay no program\n");
  set_up ("hff");
  g_assert_true (launch_nodes_begin (&launch));
  g_string_truncate (called, 0);
  failing = "12";
  launch.joined = TRUE;
  launch_nodes_spread (&launch);
  noted ("say no room\nplan 1, never joined\nplan 2, never joined\n");
}

/* ---- ends ---- */

static void
a_founder_that_refuses_ends_all (void)
{
  begin ("hhh");
  goes (1, EXITED (1), AGAIN_NEVER, "plan 1, never joined\n");
  g_assert_false (launch.refused);
  goes (0, EXITED (3), AGAIN_NEVER, "kill all\nplan 0, never joined\n");
  g_assert_true (launch.refused);
  goes (2, KILLED, AGAIN_NEVER, ""); /* for the same reason */
  g_assert_true (is_over ());
  begin ("hh");
  wants = TRUE; /* also where nodes are replaced */
  goes (0, EXITED (3), AGAIN_NEVER, "kill all\nplan 0, never joined\n");
  begin ("hh");
  goes (0, KILLED, AGAIN_NEVER, "gone 0 (9), 1 live\nplan 0, never joined\n");
  g_assert_false (launch.refused);
}

/* A node that was told to go has not crashed, whatever its code. */
static void
crashes_are_counted (void)
{
  begin ("hhhhh");
  has_members = TRUE;
  goes (0, KILLED, AGAIN_LOST, "gone 0 (9), 4 live\nplan 0\n");
  g_assert_cmpuint (launch.n_crashed, ==, 1);
  goes (1, EXITED (0), AGAIN_LEFT, "gone 1 (0), 3 live\nplan 1\n");
  goes (2, EXITED (1), AGAIN_LEFT, "gone 2 (256), 2 live\nplan 2\n");
  goes (3, KILLED, AGAIN_TOLD, "gone 3 (9), 1 live\nplan 3\n");
  g_assert_cmpuint (launch.n_crashed, ==, 1);
  goes (4, EXITED (1), AGAIN_REFUSED, "gone 4 (256), 0 live\nplan 4\n");
  g_assert_cmpuint (launch.n_crashed, ==, 2);
  g_assert_true (launch.joined);
}

/* A host that starts no node is left out. The next place founds the run then. */
static void
hosts_are_left_out (void)
{
  begin ("fff");
  goes (0, EXITED (255), AGAIN_NEVER,
        "drain 0\nleft out 0, host h\nstart 1, founder\nwatch 1\nplan 0, never joined\n");
  g_assert_false (launch.refused || is_over ());
  failing = "2";
  goes (1, EXITED (255), AGAIN_REFUSED, "drain 1\nleft out 1, host h\nsay no room\nplan 1\n");
  g_assert_true (launch.refused && is_over ());
  g_assert_cmpuint (launch.n_crashed, ==, 0);

  begin ("hff");
  has_members = TRUE;
  launch_nodes_spread (&launch);
  g_string_truncate (called, 0);
  goes (1, EXITED (255), AGAIN_NEVER, "drain 1\nleft out 1, host h\nplan 1, never joined\n");
  launch.joined = wants = TRUE;
  goes (0, EXITED (1), AGAIN_NEVER, "left out 0, a node of site 's'\nplan 0, never joined\n");
  g_assert_false (launch.refused);
}

/* After the end of the run, nodes are meant to end. */
static void
ends_after_the_end_are_no_news (void)
{
  begin ("hhhhh");
  has_members = TRUE;
  ended = TRUE;
  goes (0, KILLED, AGAIN_LOST, "");
  ended = FALSE;
  launch.answer_us = 1;
  goes (1, KILLED, AGAIN_LOST, "");
  launch.answer_us = 0;
  launch.state = LAUNCH_GIVEN_UP;
  goes (2, KILLED, AGAIN_LOST, "");
  launch.state = LAUNCH_SUSPENDING; /* no other node starts */
  goes (3, KILLED, AGAIN_LOST, "gone 3 (9), 1 live\n");
  g_assert_cmpuint (launch.n_live, ==, 1);
  launch.state = LAUNCH_GOING;
  goes (77, KILLED, AGAIN_LOST, "");
  g_assert_cmpuint (launch.n_live, ==, 1);
}

/* Nodes that others have added may carry the run on. */
static void
the_launcher_stays_while_nodes_live (void)
{
  for (int i = 0; i < 4; i++)
    {
      begin ("h");
      launch.joined = TRUE;
      has_members = i == 1;
      has_log = i == 2;
      goes (0, KILLED, AGAIN_LOST, "gone 0 (9), 0 live\nplan 0\n");
      g_assert_cmpint (is_over (), ==, i == 0 || i == 3);
    }
  begin ("h");
  has_members = TRUE;
  launch.state = LAUNCH_ENDED;
  launch_nodes_quit_if_none (&launch);
  g_assert_false (is_over ()); /* its own node still lives */
  launch.n_live = 0;
  launch_nodes_quit_if_none (&launch);
  g_assert_true (is_over ());
}

static void
a_run_without_members_is_given_up (void)
{
  begin ("h");
  deserted = TRUE;
  launch_nodes_renew (&launch);
  noted ("");
  launch.joined = TRUE;
  launch.state = LAUNCH_SUSPENDING;
  launch_nodes_renew (&launch);
  noted ("");
  launch.state = LAUNCH_GOING;
  launch_nodes_renew (&launch);
  noted ("give up\n");
  deserted = FALSE;
  launch_nodes_renew (&launch);
  noted ("");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  called = g_string_new (NULL);
  g_test_add_func ("/launch-nodes/order", nodes_start_in_order);
  g_test_add_func ("/launch-nodes/cannot-start", a_node_that_cannot_start);
  g_test_add_func ("/launch-nodes/founder", a_founder_that_refuses_ends_all);
  g_test_add_func ("/launch-nodes/crashes", crashes_are_counted);
  g_test_add_func ("/launch-nodes/left-out", hosts_are_left_out);
  g_test_add_func ("/launch-nodes/after-the-end", ends_after_the_end_are_no_news);
  g_test_add_func ("/launch-nodes/others", the_launcher_stays_while_nodes_live);
  g_test_add_func ("/launch-nodes/deserted", a_run_without_members_is_given_up);
  return g_test_run ();
}
