/* SPDX-License-Identifier: BSD-3-Clause */
/* The local launcher. It only starts and watches: what it knows of the run it reads from the run's
 * folder, and its own death changes nothing there. One thread; forks all nodes before GLib makes a
 * thread. */
#include "launch.h"
#include "command.h"
#include "figures.h"
#include "key.h"
#include "launch-words.h"
#include "live.h"
#include "start.h"

#include "net/timeline-file.h"

#include "storage/place.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 50
/* A node program has told where it listens long before this; another kind of program never does. */
#define JOIN_LIMIT_US (10 * G_USEC_PER_SEC)
/* After the run has ended its nodes have this long to write their figures and go. */
#define LEAVE_LIMIT_US (5 * G_USEC_PER_SEC)
/* Nobody may listen yet when suspension is asked for. */
#define ASK_AGAIN_MS 300

typedef enum
{
  GOING,
  SUSPENDING, /* asked for, not there yet */
  ENDED,      /* `end` is written; the nodes are leaving */
  GIVEN_UP    /* we killed them: no Satin program, or a second Ctrl-C */
} State;

typedef struct
{
  pid_t pid;
  gboolean gone;
  int status; /* of waitpid, once gone */
} Node;

/* Invariant: `code` and `answered` are set exactly when state is ENDED. n_live counts the nodes not
 * gone. */
typedef struct
{
  FolderRun *run;
  char *path;
  const LaunchWish *wish;
  GMainLoop *loop;
  GArray *nodes; /* of Node; the first is the founder */
  guint n_live, n_crashed;
  State state;
  gint64 started_us, ended_us;
  int code;
  Live *live;
  gboolean refused; /* the founder ended before it had joined */
  gboolean joined;  /* some node has said where it listens */
} Launch;

static void
kill_all (Launch *launch)
{
  for (guint i = 0; i < launch->nodes->len; i++)
    {
      Node *node = &g_array_index (launch->nodes, Node, i);

      /* Not gone means not yet reaped, so the number still is this process's. */
      if (!node->gone)
        kill (node->pid, SIGKILL);
    }
}

/* Copies what the run left in `file` to `fd`, once. */
static gboolean
copy_out (const char *path, const char *file, int fd)
{
  g_autoptr (GBytes) bytes = folder_bytes (path, file, NULL);
  gsize size = 0, done = 0;
  const char *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &size);

  while (done < size)
    {
      ssize_t n = write (fd, data + done, size - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      done += (gsize)n;
    }
  return TRUE;
}

/* The words of main were held back like its answer. If it has left none, and fails, a sentence or
 * the logs tell why. */
static void
show_words (const Launch *launch, const char *sentence)
{
  g_autofree char *said = g_build_filename (launch->path, "answer.err", NULL);
  struct stat info;

  if (stat (said, &info) == 0 && info.st_size > 0)
    copy_out (launch->path, "answer.err", STDERR_FILENO);
  else if (sentence == NULL && launch->code != COMMAND_DONE && launch->code != COMMAND_SUSPENDED)
    launch_words_last (launch->path);
  if (sentence != NULL)
    command_say ("%s",
                 g_str_has_prefix (sentence, "satin: ") ? sentence + strlen ("satin: ") : sentence);
}

static gboolean
look_for_end (Launch *launch)
{
  g_autofree char *sentence = NULL;
  int code;

  if (launch->state >= ENDED || !folder_has_ended (launch->path, &code, &sentence))
    return launch->state == ENDED;
  launch->state = ENDED;
  launch->code = code;
  launch->ended_us = g_get_monotonic_time ();
  g_clear_pointer (&launch->live, live_free);
  if (!folder_claim (launch->path, "shown"))
    return TRUE;
  show_words (launch, sentence);
  if (!copy_out (launch->path, "answer", STDOUT_FILENO))
    {
      command_say ("cannot write the answer to standard output: %s", g_strerror (errno));
      launch->code = COMMAND_ERROR;
    }
  return TRUE;
}

static void
give_up (Launch *launch)
{
  launch->state = GIVEN_UP;
  g_clear_pointer (&launch->live, live_free);
  kill_all (launch);
}

static gboolean
look_for_founder (Launch *launch)
{
  g_autoptr (GArray) members = launch->joined ? NULL : folder_pids (launch->path, "address");

  launch->joined = launch->joined || members->len > 0;
  return launch->joined;
}

static gboolean
on_tick (gpointer data)
{
  Launch *launch = data;
  gint64 now_us = g_get_monotonic_time ();

  if (look_for_end (launch))
    {
      const Node *founder = &g_array_index (launch->nodes, Node, 0);

      /* A founder that refused leaves the others waiting for somebody to join. */
      if (now_us - launch->ended_us > LEAVE_LIMIT_US
          || (founder->gone && !look_for_founder (launch)))
        kill_all (launch);
      return G_SOURCE_CONTINUE;
    }
  if (look_for_founder (launch) || launch->state == GIVEN_UP)
    return G_SOURCE_CONTINUE;
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

/* A node is gone though the run has not ended. */
static void
count_crash (Launch *launch, const Node *node, gboolean founder)
{
  launch->n_crashed++;
  /* One that was killed refused nothing: another node founds the run in its place. */
  if (look_for_founder (launch) || WIFSIGNALED (node->status))
    launch_words_gone (launch->path, node->pid, node->status, launch->n_live);
  else if (founder)
    {
      /* The others would wait for a run that was never founded. */
      launch->refused = TRUE;
      kill_all (launch);
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
      if (!look_for_end (launch) && launch->state != GIVEN_UP && !launch->refused)
        count_crash (launch, node, i == 0);
    }
  if (launch->n_live == 0)
    g_main_loop_quit (launch->loop);
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
  launch->state = SUSPENDING;
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
  for (int i = 0; i < launch->run->nodes; i++)
    {
      g_autoptr (GError) error = NULL;
      Node node = { .pid = start_node (launch->run, launch->path, i == 0, &error) };

      if (node.pid < 0)
        {
          command_say ("%s", error->message);
          kill_all (launch);
          for (guint k = 0; k < launch->nodes->len; k++)
            waitpid (g_array_index (launch->nodes, Node, k).pid, NULL, 0);
          return FALSE;
        }
      g_array_append_val (launch->nodes, node);
      launch->n_live++;
    }
  return TRUE;
}

static void
watch (Launch *launch)
{
  gboolean terminal = isatty (STDERR_FILENO);
  guint sources[4];

  launch->loop = g_main_loop_new (NULL, FALSE);
  for (guint i = 0; i < launch->nodes->len; i++)
    g_child_watch_add (g_array_index (launch->nodes, Node, i).pid, on_gone, launch);
  sources[0] = g_unix_signal_add (SIGINT, on_interrupt, launch);
  sources[1] = g_unix_signal_add (SIGTERM, on_warning, launch);
  sources[2] = g_unix_signal_add (SIGUSR1, on_warning, launch);
  sources[3] = g_timeout_add (TICK_MS, on_tick, launch);
  if (terminal || launch->wish->live)
    launch->live = live_new (launch->path, terminal);
  g_main_loop_run (launch->loop);
  look_for_end (launch);
  g_clear_pointer (&launch->live, live_free);
  for (gsize i = 0; i < G_N_ELEMENTS (sources); i++)
    g_source_remove (sources[i]);
  g_main_loop_unref (launch->loop);
}

/* All nodes are gone and none wrote `end`. */
static int
judge (Launch *launch)
{
  const Node *founder = &g_array_index (launch->nodes, Node, 0);

  if (launch->state == GIVEN_UP)
    return COMMAND_ERROR;
  if (launch->refused)
    return launch_words_never_joined (launch->run, launch->path, founder->pid, founder->status);
  command_say ("all nodes are gone before the run had ended");
  return COMMAND_ERROR;
}

static void
write_figures (const Launch *launch, gboolean show)
{
  FiguresSeen seen
      = { .wall_s = (double)(g_get_monotonic_time () - launch->started_us) / G_USEC_PER_SEC,
          .nodes = launch->nodes->len,
          .crashes = launch->n_crashed };
  g_autoptr (GError) error = NULL;

  if (show)
    {
      g_autofree char *summary = figures_summary (launch->path, &seen);

      command_say ("%s", summary);
    }
  if (launch->wish->stats != NULL)
    {
      g_autofree char *json = figures_json (launch->path, &seen);

      if (!g_file_set_contents (launch->wish->stats, json, -1, &error))
        command_say ("cannot write the figures: %s", error->message);
    }
}

/* The folder goes when there is nothing in it that the user was not told. */
static void
clean_up (const Launch *launch, gboolean ended)
{
  gboolean trouble = ended ? launch->code == COMMAND_JOB : launch->joined;
  g_autoptr (GError) error = NULL;

  if (trouble)
    command_say ("the logs of the nodes are in '%s'", launch->path);
  else if (!folder_leave (launch->path, &error))
    command_say ("%s", error->message);
}

static gboolean
make_key (const char *path, GError **error)
{
  g_autoptr (GBytes) key = key_make (error);

  return key != NULL && folder_write (path, FOLDER_KEY_FILE, key, error);
}

static char *
make_folder (FolderRun *run, const LaunchWish *wish)
{
  g_autoptr (GError) error = NULL;
  char *path = folder_create (run, &error);

  if (path == NULL && wish->any_name && g_error_matches (error, FOLDER_ERROR, FOLDER_ERROR_TAKEN))
    {
      g_clear_error (&error);
      g_clear_pointer (&run->name, g_free);
      path = folder_create (run, &error);
    }
  if (path != NULL && !make_key (path, &error))
    {
      folder_remove (path, NULL);
      g_clear_pointer (&path, g_free);
    }
  if (path == NULL)
    command_say ("%s", error->message);
  else if (wish->copy != NULL)
    {
      g_autofree char *to = g_build_filename (path, FOLDER_COPY, NULL);

      place_move_copy (wish->copy, to);
    }
  return path;
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
  launch.path = make_folder (run, wish);
  if (launch.path == NULL)
    return COMMAND_ERROR;
  if (run->trace != NULL && !begin_trace (&launch))
    return COMMAND_ERROR;
  launch.nodes = g_array_new (FALSE, FALSE, sizeof (Node));
  if (start_all (&launch))
    {
      watch (&launch);
      ended = launch.state == ENDED;
      code = ended ? launch.code : judge (&launch);
      if (run->trace != NULL)
        timeline_file_end (run->trace);
      write_figures (&launch, ended && (wish->live || isatty (STDERR_FILENO)));
      if (ended ? code == COMMAND_SUSPENDED : launch.joined)
        launch_words_next (run, code);
      clean_up (&launch, ended);
    }
  else
    folder_remove (launch.path, NULL);
  g_array_unref (launch.nodes);
  g_free (launch.path);
  return code;
}
