/* SPDX-License-Identifier: BSD-3-Clause */
/* The local launcher. It only starts and watches: what it knows of the run it reads from the run's
 * folder, and its own death changes nothing there. One thread; forks all nodes before GLib makes a
 * thread. Tests: launcher.sh. */
#include "launch.h"
#include "command.h"
#include "launch-folder.h"
#include "launch-words.h"
#include "live.h"
#include "spread.h"
#include "start.h"
#include "trouble.h"

#include "net/timeline-file.h"

#include "storage/place.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 50
#define TROUBLE_TICKS 10
/* A node program has told where it listens long before this; another kind of program never does. */
#define JOIN_LIMIT_US (10 * G_USEC_PER_SEC)
/* After the run has ended its nodes have this long to write their figures and go; that of a main
 * that says how far it came somewhat longer than it waits for that itself. */
#define LEAVE_LIMIT_US (5 * G_USEC_PER_SEC)
#define PARTING_LIMIT_US (35 * G_USEC_PER_SEC)
/* An answer from another host may be so late after the end. */
#define ANSWER_LIMIT_US (10 * G_USEC_PER_SEC)
/* Nobody may listen yet when suspension is asked for. */
#define ASK_AGAIN_MS 300

typedef enum
{
  GOING,
  SUSPENDING, /* asked for, not there yet */
  ENDED,      /* `end` is written; the nodes are leaving */
  GIVEN_UP    /* we killed them: no Satin program, or a second Ctrl-C */
} State;

typedef Started Node;

/* Invariant: `code` and `answered` are set exactly when state is ENDED. n_live counts the nodes not
 * gone. */
typedef struct
{
  FolderRun *run;
  char *path;
  const LaunchWish *wish;
  GMainLoop *loop;
  GArray *places; /* of Spot; those up to `next` were tried */
  guint next;
  GArray *nodes; /* of Node */
  guint founder; /* its place among them */
  GBytes *copy;  /* (nullable) the program, for other hosts */
  guint n_live, n_crashed;
  char *said;       /* (nullable) why a node was not started last */
  gboolean parting; /* main says how far it came, when it knows of the end */
  State state;
  gint64 started_us, ended_us;
  gint64 answer_us; /* when the end was seen first without its answer, or some of that came */
  int code;
  Live *live;
  Trouble *trouble;
  guint signals[3]; /* sources */
  guint ticks;
  gboolean refused;    /* the founder ended before it had joined */
  gboolean joined;     /* some node has said where it listens */
  gboolean unkept;     /* the answer has not come from another host, or cannot be written here */
  gboolean cut_off;    /* the checkpoint that this process brings did not come … */
  gboolean broken_off; /* … because we were interrupted */
} Launch;

static void
kill_all (Launch *launch, gboolean but_main)
{
  for (guint i = 0; i < launch->nodes->len; i++)
    {
      Node *node = &g_array_index (launch->nodes, Node, i);

      /* Not gone means not yet reaped, so the number still is this process's. */
      if (!node->gone && !(but_main && launch_words_main_is_at (launch->path, node->pid))
          && (node->far == NULL || !far_quit (node->far)))
        start_kill (node->pid);
    }
}

/* The end may be known here before the answer has come from another host. */
static gboolean
answer_is_under_way (Launch *launch, int code)
{
  gint64 now_us = g_get_monotonic_time ();
  gboolean live;
  if (folder_size (launch->path, "answer") >= 0 || launch_words_are_late (code))
    return FALSE;
  if (spread_brings (launch->nodes, &live, &launch->unkept) || launch->answer_us == 0)
    launch->answer_us = now_us;
  return live && !launch->unkept && now_us - launch->answer_us < ANSWER_LIMIT_US;
}

static gboolean
look_for_end (Launch *launch)
{
  g_autofree char *sentence = NULL;
  int code;

  if (launch->state >= ENDED || !folder_has_ended (launch->path, &code, &sentence))
    return launch->state == ENDED;
  if (answer_is_under_way (launch, code))
    return FALSE;
  launch->state = ENDED;
  launch->code = code;
  launch->unkept = folder_lacks_answer (launch->path, code);
  launch->ended_us = g_get_monotonic_time ();
  g_clear_pointer (&launch->live, live_free);
  if (!folder_claim (launch->path, "shown"))
    return TRUE;
  trouble_show (launch->trouble);
  launch->parting = launch_words_are_late (launch->code);
  launch_words_end (launch->path, launch->code,
                    trouble_has_said (launch->trouble, sentence) ? NULL : sentence,
                    launch->code == COMMAND_STORE && trouble_has_said (launch->trouble, NULL));
  launch->code = launch_words_answer (launch->path, launch->code);
  return TRUE;
}

static void
give_up (Launch *launch)
{
  launch->state = GIVEN_UP;
  g_clear_pointer (&launch->live, live_free);
  kill_all (launch, FALSE);
}

static gboolean
look_for_founder (Launch *launch)
{
  g_autoptr (GArray) members = launch->joined ? NULL : folder_pids (launch->path, "address");

  launch->joined = launch->joined || members->len > 0;
  return launch->joined;
}

static void on_gone (GPid pid, int status, gpointer data);
static void suspend (Launch *launch);
static void quit_if_alone (Launch *launch);

/* Starts the next place. FALSE: it cannot be, and it was said. */
static gboolean
start_next (Launch *launch, gboolean founder)
{
  const Spot *place = &g_array_index (launch->places, Spot, launch->next++);
  g_autoptr (GError) error = NULL;
  Node node;

  if (!spread_start (place, launch->run, launch->path, founder, launch->copy, &node, &error))
    {
      if (g_strcmp0 (error->message, launch->said) != 0)
        command_say ("%s", error->message);
      g_free (launch->said);
      launch->said = g_strdup (error->message);
      return FALSE;
    }
  if (founder)
    launch->founder = launch->nodes->len;
  g_array_append_val (launch->nodes, node);
  launch->n_live++;
  if (node.far != NULL)
    g_child_watch_add (node.pid, on_gone, launch);
  return TRUE;
}

/* There are members: all the other nodes may come, and those of other hosts learn where to. */
static void
spread_on (Launch *launch)
{
  g_autofree char *peers = NULL;

  while (launch->next < launch->places->len)
    (void)start_next (launch, FALSE);
  if (!launch->run->tcp)
    return;
  peers = spread_peers (launch->path);
  for (guint i = 0; i < launch->nodes->len; i++)
    {
      const Node *node = &g_array_index (launch->nodes, Node, i);
      if (node->far != NULL && !node->gone)
        far_tell (node->far, peers);
    }
}

/* A node of another host that has not joined yet would try for long. */
static void
tell_too_late (Launch *launch, const Node *node)
{
  g_auto (GStrv) addresses
      = node->far != NULL && !node->gone ? folder_addresses (launch->path, node->pid) : NULL;

  if (node->far != NULL && !node->gone && addresses == NULL)
    (void)far_quit (node->far);
}

/* The nodes wait for what this process brings. TRUE: it will not come, and it was said. */
static gboolean
look_for_checkpoint (Launch *launch)
{
  g_autofree char *failure = launch->state < ENDED ? place_bring_failure () : NULL;

  if (failure == NULL)
    return FALSE;
  launch->cut_off = TRUE;
  give_up (launch);
  command_say ("%s", failure);
  return TRUE;
}

/* Nobody else can be asked yet. */
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
    }
  if (!launch->joined)
    look_for_wish (launch);
  if (launch->n_live == 0)
    {
      look_for_end (launch);
      quit_if_alone (launch);
      return G_SOURCE_CONTINUE;
    }
  if (look_for_end (launch))
    {
      const Node *founder = &g_array_index (launch->nodes, Node, launch->founder);

      for (guint i = 0; i < launch->nodes->len; i++)
        tell_too_late (launch, &g_array_index (launch->nodes, Node, i));
      /* A founder that refused leaves the others waiting for somebody to join. */
      gboolean late = now_us - launch->ended_us > LEAVE_LIMIT_US;
      if (late && launch->unkept) /* a node has to stay */
        g_main_loop_quit (launch->loop);
      else if (late || (founder->gone && !look_for_founder (launch)))
        kill_all (launch, launch->parting && now_us <= launch->ended_us + PARTING_LIMIT_US);
      return G_SOURCE_CONTINUE;
    }
  if (look_for_checkpoint (launch))
    return G_SOURCE_CONTINUE;
  if (launch->state == GIVEN_UP)
    kill_all (launch, FALSE);
  else if (look_for_founder (launch))
    spread_on (launch);
  if (launch->joined || launch->state == GIVEN_UP)
    return G_SOURCE_CONTINUE;
  const Node *first = &g_array_index (launch->nodes, Node, launch->founder);
  if (first->far != NULL)
    {
      if (!first->gone)
        far_expect (first->far, launch->next < launch->places->len);
      return G_SOURCE_CONTINUE;
    }
  /* A founder that has claimed the run may be reading a large checkpoint. */
  g_autoptr (GBytes) claim = folder_bytes (launch->path, "founder-0", NULL);
  if (now_us - launch->started_us > JOIN_LIMIT_US && claim == NULL)
    {
      command_say ("'%s' is not a Satin program: it did not join the run within %d seconds",
                   launch->run->program, (int)(JOIN_LIMIT_US / G_USEC_PER_SEC));
      give_up (launch);
    }
  return G_SOURCE_CONTINUE;
}

/* Added nodes may carry the run on. One that has not joined founds it anew: it has only a log. */
static void
quit_if_alone (Launch *launch)
{
  gboolean others = launch->state < ENDED
                    && (launch_folder_lives (launch->path, "address")
                        || launch_folder_lives (launch->path, "log"));

  if (launch->n_live == 0 && !others)
    g_main_loop_quit (launch->loop);
}

/* A node of another host that never was a member. TRUE: it was one such, and it was said. */
static gboolean
leave_out (Launch *launch, const Node *node, gboolean founder)
{
  g_auto (GStrv) addresses = folder_addresses (launch->path, node->pid);
  g_autofree char *name = node->far == NULL ? NULL : far_name (node->far);

  if (name == NULL || addresses != NULL)
    return FALSE;
  launch_words_left_out (launch->path, node->pid, node->status, name);
  while (founder && !launch->joined && launch->next < launch->places->len)
    if (start_next (launch, TRUE))
      return TRUE;
  launch->refused = launch->n_live == 0 && !launch->joined;
  return TRUE;
}

/* A node is gone though the run has not ended: it left, or it crashed. */
static void
count_gone (Launch *launch, const Node *node, gboolean founder)
{
  gboolean left = WIFEXITED (node->status) && WEXITSTATUS (node->status) == COMMAND_DONE;

  launch->n_crashed += left ? 0 : 1;
  /* One that was killed refused nothing: another node founds the run in its place. */
  if (look_for_founder (launch) || WIFSIGNALED (node->status))
    launch_words_gone (launch->path, node->pid, node->status, launch->n_live);
  else if (founder)
    {
      /* The others would wait for a run that was never founded. */
      launch->refused = TRUE;
      kill_all (launch, FALSE);
    }
}

static void
on_gone (GPid pid, int status, gpointer data)
{
  Launch *launch = data;

  for (guint i = 0; i < launch->nodes->len; i++)
    {
      Node *node = &g_array_index (launch->nodes, Node, i);

      if (node->pid != pid)
        continue;
      node->gone = TRUE;
      node->status = status;
      launch->n_live--;
      if (node->far != NULL)
        far_drain (node->far);
      gboolean over = look_for_end (launch) || launch->answer_us != 0 || launch->state == GIVEN_UP;
      if (!over && !launch->refused)
        {
          Node gone = *node; /* another may be started */
          if (!leave_out (launch, &gone, i == launch->founder))
            count_gone (launch, &gone, i == launch->founder);
        }
      break;
    }
  quit_if_alone (launch);
}

static void on_asked (GObject *source, GAsyncResult *result, gpointer data);

static gboolean
ask_for_suspension (gpointer data)
{
  Launch *launch = data;

  if (launch->state == SUSPENDING)
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
  if (launch->state != GOING)
    return;
  /* Without all of it, or without a member, nothing can have begun. */
  launch->cut_off = place_bring_break ();
  launch->broken_off = launch->cut_off || !look_for_founder (launch);
  if (launch->broken_off)
    {
      give_up (launch);
      return;
    }
  launch->state = SUSPENDING;
  launch_folder_refresh (launch->run, launch->path);
  command_say ("suspending%s; interrupt to quit at once",
               launch->run->checkpoint == NULL ? " without a checkpoint, nothing is kept" : "");
  ask_for_suspension (launch);
}

/* SIGTERM, and SIGUSR1, by which a batch system warns of the end of the time: they may come twice.
 */
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

  if (launch->state != SUSPENDING)
    suspend (launch);
  else
    {
      command_say ("killed");
      give_up (launch);
    }
  return G_SOURCE_CONTINUE;
}

/* FALSE: said; no process is left. */
static gboolean
start_all (Launch *launch)
{
  /* Where nobody is of this host the first one alone begins, and the others follow. */
  do
    if (!start_next (launch, launch->nodes->len == 0))
      {
        for (guint k = 0; k < launch->nodes->len; k++)
          {
            start_kill (g_array_index (launch->nodes, Node, k).pid);
            waitpid (g_array_index (launch->nodes, Node, k).pid, NULL, 0);
          }
        return FALSE;
      }
  while (launch->next < launch->places->len
         && !spot_is_far (&g_array_index (launch->places, Spot, launch->next)));
  return TRUE;
}

/* Before there is a folder: what comes meanwhile is heard when all nodes are started. */
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
  for (guint i = 0; i < launch->nodes->len; i++)
    if (g_array_index (launch->nodes, Node, i).far == NULL)
      g_child_watch_add (g_array_index (launch->nodes, Node, i).pid, on_gone, launch);
  tick = g_timeout_add (TICK_MS, on_tick, launch);
  if (terminal || launch->wish->live)
    launch->live = live_new (launch->path, terminal);
  g_main_loop_run (launch->loop);
  look_for_end (launch);
  trouble_show (launch->trouble);
  g_clear_pointer (&launch->trouble, trouble_free);
  g_clear_pointer (&launch->live, live_free);
  folder_ended ();
  for (gsize i = 0; i < G_N_ELEMENTS (launch->signals); i++)
    g_source_remove (launch->signals[i]);
  g_source_remove (tick);
  g_main_loop_unref (launch->loop);
}

/* All nodes are gone and none wrote `end`. */
static int
judge (Launch *launch)
{
  const Node *founder = &g_array_index (launch->nodes, Node, launch->founder);

  if (launch->broken_off)
    return launch_words_not_begun (launch->run, launch->path, launch->cut_off);
  if (launch->state == GIVEN_UP)
    return launch->cut_off ? COMMAND_STORE : COMMAND_ERROR;
  if (launch->refused && founder->far != NULL)
    return command_say ("no host gave a node: the run has not begun"), COMMAND_ERROR;
  if (launch->refused)
    return launch_words_never_joined (launch->run, launch->path, founder->pid, founder->status);
  command_say ("all nodes are gone before the run had ended");
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

/* The folder goes when there is nothing in it that the user was not told. Where nobody has joined,
 * the founder has said why, and the other nodes were gone for the same reason. */
static void
clean_up (Launch *launch, gboolean ended)
{
  gboolean crashed = launch->n_crashed > 0 && look_for_founder (launch);
  gboolean trouble = ended ? launch->code == COMMAND_JOB || crashed
                           : launch->joined && !launch->cut_off;
  g_autoptr (GError) error = NULL;

  if (launch->unkept)
    return; /* `satin wait` may bring it */
  if (trouble)
    command_say ("the logs of the nodes are in '%s'", launch->path);
  else if (!folder_leave (launch->path, &error))
    command_say ("%s", error->message);
}

/* FALSE: said on stderr, and the folder is gone. */
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
  Launch launch = { .run = run, .wish = wish, .started_us = g_get_monotonic_time () };
  gboolean ended;
  int code = COMMAND_ERROR;

  g_assert (run->nodes > 0 && run->workers > 0);
  run->launcher_pid = getpid ();
  signal (SIGPIPE, SIG_IGN); /* what leads to other hosts may end at any time */
  hear_signals (&launch);
  launch.path = launch_folder_make (run, wish);
  if (launch.path == NULL)
    return COMMAND_ERROR;
  if (run->trace != NULL && !begin_trace (&launch))
    return COMMAND_ERROR;
  run->invited = TRUE; /* said to those alone who are started here */
  launch.nodes = spread_nodes ();
  launch.places = spread_places (run, wish->sites, 0);
  launch.copy = wish->send_program ? spread_program (run) : NULL;
  if (start_all (&launch))
    {
      watch (&launch);
      launch_folder_refresh (run, launch.path);
      ended = launch.state == ENDED;
      if (launch.parting)
        (void)launch_words_of_main (launch.path);
      if (ended && !launch.unkept)
        launch_folder_wait (launch.path);
      code = ended ? launch.code : judge (&launch);
      if (run->trace != NULL)
        timeline_file_end (run->trace);
      write_figures (&launch, ended && (wish->live || isatty (STDERR_FILENO)));
      if ((code == COMMAND_SUSPENDED && !launch.broken_off)
          || (!ended && launch.joined && !launch.cut_off))
        launch_words_next (run, code);
      clean_up (&launch, ended);
    }
  else
    folder_remove (launch.path, NULL);
  g_clear_pointer (&launch.copy, g_bytes_unref);
  g_array_unref (launch.places);
  g_array_unref (launch.nodes);
  g_free (launch.path);
  g_free (launch.said);
  return code;
}
