/* SPDX-License-Identifier: BSD-3-Clause */
/* See launch.h. All that the launcher knows of the run it reads from the run's folder.
 * launch-nodes.c has its nodes. Tests: test-launcher, launcher.sh. */
#include "launch.h"
#include "launch-folder.h"
#include "launch-private.h"
#include "launch-words.h"
#include "start.h"

#include "command-words.h"

#include "folder/timeline-file.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 50
#define TROUBLE_TICKS 10
/* A Satin program has written its address long before this; another program never does. */
#define JOIN_LIMIT_US (10 * G_USEC_PER_SEC)
/* After the end the nodes have this long to write their figures and exit. A node whose main may
 * still print has longer, a little more than the node itself gives main. */
#define LEAVE_LIMIT_US (5 * G_USEC_PER_SEC)
#define PARTING_LIMIT_US (35 * G_USEC_PER_SEC)
/* After the end the launcher waits this long for an answer from another host, as long as no more of
 * it comes. */
#define ANSWER_LIMIT_US (10 * G_USEC_PER_SEC)
/* Pause before `suspend` is sent again, since no node may listen yet. */
#define ASK_AGAIN_MS 300

static void
move (Launch *launch, LaunchEvent event)
{
  LaunchState to = launch_state_after (launch->state, event);

  g_assert (to != LAUNCH_NONE);
  launch->state = to;
}

void
launch_kill_all (Launch *launch, gboolean but_main)
{
  for (guint i = 0; i < launch->nodes->len; i++)
    {
      Started *node = &g_array_index (launch->nodes, Started, i);

      /* A node that is not gone is not reaped, so the number is still its own. */
      if (!node->gone && !(but_main && launch_words_main_is_at (launch->path, node->pid))
          && (node->far == NULL || !far_quit (node->far)))
        start_kill (node->pid);
    }
}

/* TRUE: the end is here, and the answer is still coming from another host. */
static gboolean
answer_is_under_way (Launch *launch, int code)
{
  gint64 now_us = g_get_monotonic_time ();
  gboolean live;
  if (folder_size (launch->path, FOLDER_FILE_ANSWER) >= 0 || launch_words_are_late (code))
    return FALSE;
  if (spread_brings (launch->nodes, &live, &launch->unkept) || launch->answer_us == 0)
    launch->answer_us = now_us;
  return live && !launch->unkept && now_us - launch->answer_us < ANSWER_LIMIT_US;
}

gboolean
launch_look_for_end (Launch *launch)
{
  g_autofree char *sentence = NULL;
  int code;

  if (launch->state >= LAUNCH_ENDED || !folder_has_ended (launch->path, &code, &sentence))
    return launch->state == LAUNCH_ENDED;
  if (answer_is_under_way (launch, code))
    return FALSE;
  move (launch, LAUNCH_ON_END);
  launch->code = code;
  launch->unkept = folder_lacks_answer (launch->path, code);
  launch->ended_us = g_get_monotonic_time ();
  g_clear_pointer (&launch->live, live_free);
  if (!folder_claim (launch->path, FOLDER_FILE_SHOWN))
    return TRUE;
  trouble_show (launch->trouble);
  launch->parting = launch_words_are_late (launch->code);
  launch_words_end (launch->path, launch->code,
                    trouble_has_said (launch->trouble, sentence) ? NULL : sentence,
                    launch->code == COMMAND_STORE && trouble_has_said (launch->trouble, NULL));
  launch->code = launch_words_answer (launch->path, launch->code);
  return TRUE;
}

void
launch_give_up (Launch *launch, LaunchEvent why)
{
  move (launch, why);
  g_clear_pointer (&launch->live, live_free);
  launch_kill_all (launch, FALSE);
}

static void suspend (Launch *launch);
/* A node of another host that has not joined would go on trying: tells it to end. */
static void
tell_too_late (Launch *launch, const Started *node)
{
  g_auto (GStrv) addresses
      = node->far != NULL && !node->gone ? folder_addresses (launch->path, node->pid) : NULL;

  if (node->far != NULL && !node->gone && addresses == NULL)
    (void)far_quit (node->far);
}

/* Suspends if `suspend` is in the run's folder. Before a node has joined, only the launcher can do
 * so. */
static void
look_for_wish (Launch *launch)
{
  g_autoptr (GBytes) wish = folder_bytes (launch->path, FOLDER_SUSPEND, NULL);

  if (wish != NULL)
    suspend (launch);
}

static gboolean
on_tick (gpointer data)
{
  Launch *launch = data;
  gint64 now_us = g_get_monotonic_time ();

  if (++launch->ticks % TROUBLE_TICKS == 0)
    {
      trouble_show (launch->trouble);
      folder_sign (launch->path);
      launch_nodes_renew (launch);
    }
  if (!launch->joined)
    look_for_wish (launch);
  if (launch->n_live == 0)
    {
      launch_look_for_end (launch);
      launch_nodes_quit_if_none (launch);
      return G_SOURCE_CONTINUE;
    }
  if (launch_look_for_end (launch))
    {
      const Started *founder = &g_array_index (launch->nodes, Started, launch->founder);

      for (guint i = 0; i < launch->nodes->len; i++)
        tell_too_late (launch, &g_array_index (launch->nodes, Started, i));
      /* If the founder refused the run, the other nodes would wait for a member. */
      gboolean late = now_us - launch->ended_us > LEAVE_LIMIT_US;
      if (late && launch->unkept) /* the node stays, since only it has the answer */
        g_main_loop_quit (launch->loop);
      else if (late || (founder->gone && !launch_nodes_have_joined (launch)))
        launch_kill_all (launch, launch->parting && now_us <= launch->ended_us + PARTING_LIMIT_US);
      return G_SOURCE_CONTINUE;
    }
  if (launch_has_given_up (launch))
    launch_kill_all (launch, FALSE);
  else if (launch_nodes_have_joined (launch))
    launch_nodes_spread (launch);
  if (launch->joined || launch_has_given_up (launch))
    return G_SOURCE_CONTINUE;
  const Started *first = &g_array_index (launch->nodes, Started, launch->founder);
  if (first->far != NULL)
    {
      if (!first->gone)
        far_expect (first->far, launch->next < launch->places->len);
      return G_SOURCE_CONTINUE;
    }
  /* A founder that has claimed the run may take long to read a large checkpoint. */
  g_autoptr (GBytes) claim = folder_bytes (launch->path, FOLDER_FOUNDER "0", NULL);
  if (now_us - launch->started_us > JOIN_LIMIT_US && claim == NULL)
    {
      command_say ("'%s' is not a Satin program: it did not join the run within %d seconds",
                   launch->run->program, (int)(JOIN_LIMIT_US / G_USEC_PER_SEC));
      launch_give_up (launch, LAUNCH_ON_GIVE_UP);
    }
  return G_SOURCE_CONTINUE;
}

static void on_asked (GObject *source, GAsyncResult *result, gpointer data);

static gboolean
ask_for_suspension (gpointer data)
{
  Launch *launch = data;

  if (launch->state == LAUNCH_SUSPENDING)
    live_ask (launch->path, "suspend", on_asked, launch);
  return G_SOURCE_REMOVE;
}

static void
on_asked (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *reply = live_reply (result, NULL);

  (void)source;
  if (reply == NULL)
    g_timeout_add (ASK_AGAIN_MS, ask_for_suspension, data);
}

static void
suspend (Launch *launch)
{
  if (launch->state != LAUNCH_GOING)
    return;
  /* Without a member no job can have begun. */
  if (!launch_nodes_have_joined (launch))
    {
      launch_give_up (launch, LAUNCH_ON_SUSPEND_UNJOINED);
      return;
    }
  move (launch, LAUNCH_ON_SUSPEND);
  launch_folder_refresh (launch->run, launch->path);
  command_say ("suspending%s; interrupt to quit at once",
               launch->run->checkpoint == NULL ? " without a checkpoint, nothing is kept" : "");
  ask_for_suspension (launch);
}

/* SIGTERM, and SIGUSR1 with which a batch system warns before the end of the time. Either may come
 * twice. */
static gboolean
on_warning (gpointer data)
{
  suspend (data);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_interrupt (gpointer data)
{
  Launch *launch = data;

  if (launch->state != LAUNCH_SUSPENDING)
    suspend (launch);
  else
    {
      command_say ("killed");
      launch_give_up (launch, LAUNCH_ON_GIVE_UP);
    }
  return G_SOURCE_CONTINUE;
}

/* Called before the folder is made. The main loop handles signals that come before it runs. */
static void
hear_signals (Launch *launch)
{
  launch->signals[0] = g_unix_signal_add (SIGINT, on_interrupt, launch);
  launch->signals[1] = g_unix_signal_add (SIGTERM, on_warning, launch);
  launch->signals[2] = g_unix_signal_add (SIGUSR1, on_warning, launch);
}

static void
watch (Launch *launch)
{
  gboolean terminal = isatty (STDERR_FILENO);
  guint tick;

  launch->loop = g_main_loop_new (NULL, FALSE);
  launch->trouble = trouble_new (launch->path);
  launch_nodes_watch (launch);
  tick = g_timeout_add (TICK_MS, on_tick, launch);
  if (terminal || launch->wish->live)
    launch->live = live_new (launch->path, terminal);
  g_main_loop_run (launch->loop);
  launch_look_for_end (launch);
  trouble_show (launch->trouble);
  g_clear_pointer (&launch->trouble, trouble_free);
  g_clear_pointer (&launch->live, live_free);
  folder_ended ();
  for (gsize i = 0; i < G_N_ELEMENTS (launch->signals); i++)
    g_source_remove (launch->signals[i]);
  g_source_remove (tick);
  g_main_loop_unref (launch->loop);
}

/* All nodes are gone, and none wrote `end`: the exit code. */
static int
judge (Launch *launch)
{
  const Started *founder = &g_array_index (launch->nodes, Started, launch->founder);

  switch (launch->state)
    {
    case LAUNCH_NOT_JOINED:
      return launch_words_not_begun (launch->run, launch->path);
    case LAUNCH_GIVEN_UP:
      return COMMAND_ERROR;
    case LAUNCH_GOING:
    case LAUNCH_SUSPENDING:
      break;
    case LAUNCH_NONE:
    case LAUNCH_ENDED:
    case LAUNCH_STATES:
      g_assert_not_reached ();
    }
  if (launch->refused && founder->far != NULL)
    return command_say ("no host started a node: the run has not begun"), COMMAND_ERROR;
  if (launch->refused)
    return launch_words_never_joined (launch->run, launch->path, founder->pid, founder->status);
  command_say ("all nodes are gone, and the run had not ended");
  return COMMAND_ERROR;
}

static void
write_figures (const Launch *launch, gboolean show)
{
  g_autoptr (GArray) own = spread_pids (launch->nodes);
  FiguresSeen seen
      = { .wall_s = (double)(g_get_monotonic_time () - launch->started_us) / G_USEC_PER_SEC,
          .own = own,
          .crashes = launch->n_crashed };

  launch_words_figures (launch->path, &seen, launch->wish->stats, show);
}

/* Removes the folder unless it holds something that the user was not told. If no node joined, the
 * founder's reason was printed, and the other nodes ended for the same reason. */
static void
clean_up (Launch *launch, gboolean ended)
{
  gboolean crashed = launch->n_crashed > 0 && launch_nodes_have_joined (launch);
  gboolean trouble = ended ? launch->code == COMMAND_JOB || crashed : launch->joined;
  g_autoptr (GError) error = NULL;

  if (launch->unkept)
    return; /* `satin wait` may still fetch the answer */
  if (trouble)
    command_say ("the logs of the nodes are in '%s'", launch->path);
  else if (!folder_leave (launch->path, &error))
    command_say ("%s", error->message);
}

/* FALSE: a message was printed, and the folder is removed. */
static gboolean
begin_trace (Launch *launch)
{
  g_autoptr (GError) error = NULL;

  if (timeline_file_begin (launch->run->trace, &error))
    return TRUE;
  command_say ("%s", error->message);
  folder_remove (launch->path, NULL);
  g_clear_pointer (&launch->path, g_free);
  return FALSE;
}

int
launch_run (FolderRun *run, const LaunchWish *wish)
{
  Launch launch
      = { .run = run, .wish = wish, .state = LAUNCH_GOING, .started_us = g_get_monotonic_time () };
  gboolean ended;
  int code = COMMAND_ERROR;

  g_assert (run->nodes > 0 && run->workers > 0);
  run->launcher_pid = getpid ();
  signal (SIGPIPE, SIG_IGN); /* the local process of a node on another host may end at any time */
  hear_signals (&launch);
  launch.path = launch_folder_make (run, wish);
  if (launch.path == NULL)
    return COMMAND_ERROR;
  if (run->trace != NULL && !begin_trace (&launch))
    return COMMAND_ERROR;
  run->invited = TRUE; /* only nodes that this launcher starts are invited */
  launch.nodes = spread_nodes ();
  launch.places = spread_places (run, wish->sites, 0);
  launch.copy = wish->send_program ? spread_program (run) : NULL;
  if (launch_nodes_begin (&launch))
    {
      watch (&launch);
      launch_folder_refresh (run, launch.path);
      ended = launch.state == LAUNCH_ENDED;
      if (launch.parting)
        (void)launch_words_of_main (launch.path);
      if (ended && !launch.unkept)
        launch_folder_wait (launch.path);
      code = ended ? launch.code : judge (&launch);
      if (run->trace != NULL)
        timeline_file_end (run->trace);
      write_figures (&launch, ended && (wish->live || isatty (STDERR_FILENO)));
      if ((code == COMMAND_SUSPENDED && launch.state != LAUNCH_NOT_JOINED)
          || (!ended && launch.joined))
        launch_words_next (run, code);
      if (ended && code == COMMAND_JOB)
        launch_words_replay (run);
      clean_up (&launch, ended);
    }
  else
    folder_remove (launch.path, NULL);
  g_clear_pointer (&launch.copy, g_bytes_unref);
  replace_free (launch.replace);
  g_array_unref (launch.places);
  g_array_unref (launch.nodes);
  g_free (launch.path);
  g_free (launch.said);
  return code;
}
