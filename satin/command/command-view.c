/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin view`: a page that shows a run, served on this host to its own user, or written to a file.
 * This process asks the run as `satin status` does and reads its checkpoint as `satin inspect`
 * does; the nodes need no other way in. Main loop; a GTask thread reads the checkpoint, one at a
 * time. Tests: test-view, view.sh, view-browser.sh. */
#include "arguments.h"
#include "ask.h"
#include "command-inspect.h"
#include "command.h"
#include "ended.h"
#include "view-metrics.h"
#include "view-model.h"
#include "view-page.h"
#include "view-server.h"
#include "view-tree.h"

#include "coordinator/identity.h"

#include "folder/folder-ended.h"

#include "host/temporary.h"

#include "launch/live.h"

#include "storage/places/place.h"

#include "text/json.h"

#include <gio/gio.h>
#include <string.h>
#include <time.h>

#define TICK_MS 1000
/* After reading the checkpoint, pauses 50 times the processor time that this took, so that it costs
 * 2 % of a core; and at least so many seconds. */
#define READ_EVERY_S 3
#define READ_SHARE 50
/* A stream without an event for so many ticks gets an empty one, so that a closed one is
 * noticed. */
#define PING_TICKS 15
/* At least so many ticks lie between two whole models. */
#define WHOLE_TICKS 3
/* A run whose processes are gone may need so many ticks to show how it ended. */
#define END_TICKS 3

typedef struct
{
  AskRun ask; /* path NULL: there is no live run, only a checkpoint */
  char *name;
  ViewModel *model;
  ViewTree *tree; /* NULL: there is no checkpoint */
  ViewServer *server;
  char *ledger; /* (nullable) JSON: the last one that was read */
  char *boxes;  /* (nullable) JSON: the boxes of the root */
  ViewMetrics metrics;
  gboolean is_asking, is_reading, wants_whole, wants_read;
  gint64 read_after_us;
  guint since_whole, since_sent, since_asked, unanswered;
} View;

/* What the thread has read from the checkpoint. */
typedef struct
{
  char *ledger, *boxes;
  double cpu_s;
  gboolean is_new;
} Reading;

static void
view_clear (View *view)
{
  g_clear_pointer (&view->server, view_server_free);
  view_model_free (view->model);
  view_tree_free (view->tree);
  ask_run_clear (&view->ask);
  g_free (view->name);
  g_free (view->ledger);
  g_free (view->boxes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (View, view_clear)

static void
reading_free (gpointer data)
{
  Reading *reading = data;

  g_free (reading->ledger);
  g_free (reading->boxes);
  g_free (reading);
}

static double
thread_cpu_s (void)
{
  struct timespec used;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Reads the checkpoint. An error counts as nothing new, since a run first publishes its checkpoint
 * a while after it began. (transfer full) */
static Reading *
read_tree (ViewTree *tree, GError **error)
{
  Reading *reading = g_new0 (Reading, 1);
  double began_s = thread_cpu_s ();

  if (view_tree_read (tree, &reading->is_new, error) && reading->is_new)
    {
      reading->ledger = view_tree_ledger (tree, error);
      if (reading->ledger != NULL)
        reading->boxes = view_tree_boxes (tree, "/", 1, error);
    }
  reading->cpu_s = thread_cpu_s () - began_s;
  return reading;
}

static void
take_reading (View *view, Reading *reading)
{
  if (reading->ledger != NULL && reading->boxes != NULL)
    {
      g_free (view->ledger);
      g_free (view->boxes);
      view->ledger = g_steal_pointer (&reading->ledger);
      view->boxes = g_steal_pointer (&reading->boxes);
    }
}

static GBytes *
event_of (const char *first, const char *second)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "data: %s\n\n", first);
  if (second != NULL)
    g_string_append_printf (text, "data: %s\n\n", second);
  return g_string_free_to_bytes (text);
}

static GBytes *
whole (gpointer data)
{
  View *view = data;
  g_autofree char *json = view_model_whole (view->model);

  return event_of (json, view->ledger);
}

static void
publish (View *view, GBytes *event)
{
  view->since_sent = 0;
  view_server_publish (view->server, event);
}

static void
read_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  (void)source, (void)cancellable;
  g_task_return_pointer (task, read_tree (data, NULL), reading_free);
}

static void
on_reading (GObject *source, GAsyncResult *result, gpointer data)
{
  View *view = data;
  Reading *reading = g_task_propagate_pointer (G_TASK (result), NULL);
  gint64 pause_us = (gint64)(reading->cpu_s * READ_SHARE * G_USEC_PER_SEC);

  (void)source;
  view->is_reading = FALSE;
  view->read_after_us = g_get_monotonic_time () + MAX (pause_us, READ_EVERY_S * G_USEC_PER_SEC);
  take_reading (view, reading);
  if (reading->is_new && view->ledger != NULL && view->server != NULL)
    {
      g_autoptr (GBytes) event = event_of (view->ledger, NULL);

      publish (view, event);
    }
  reading_free (reading);
}

static void
begin_reading (View *view)
{
  g_autoptr (GTask) task = NULL;

  if (view->tree == NULL || view->is_reading)
    return;
  view->is_reading = TRUE;
  view->wants_read = FALSE;
  task = g_task_new (NULL, NULL, on_reading, view);
  g_task_set_task_data (task, view->tree, NULL);
  g_task_run_in_thread (task, read_in_thread);
}

/* Reads the checkpoint while a browser looks, as often as the pause allows, and once at the end. */
static void
look_at_tree (View *view)
{
  gboolean lives = view_model_state (view->model) != VIEW_STATE_OVER;

  if (view->wants_read
      || (lives && view_server_streams (view->server) > 0
          && g_get_monotonic_time () >= view->read_after_us))
    begin_reading (view);
}

static char *
end_words (int code)
{
  switch (code)
    {
    case COMMAND_DONE:
      return g_strdup ("finished");
    case COMMAND_SUSPENDED:
      return g_strdup ("suspended; `satin resume` continues it");
    case COMMAND_CANCELLED:
      return g_strdup ("cancelled");
    case COMMAND_JOB:
      return g_strdup ("ended: a job failed");
    default:
      return g_strdup_printf ("ended with exit code %d", code);
    }
}

/* How the run ended, and *code (out; -1: its processes are gone); NULL: it has not ended. (transfer
 * full) (nullable) */
static char *
find_end (const View *view, int *code)
{
  g_autofree char *record = NULL;

  if (folder_has_ended (view->ask.path, code, NULL))
    return end_words (*code);
  record = folder_ended_find (view->ask.run.name);
  if (record != NULL && folder_has_ended (record, code, NULL))
    return end_words (*code);
  if (!folder_is_live (view->ask.path))
    {
      *code = -1;
      return g_strdup ("not running: its processes are gone");
    }
  return NULL;
}

static void
look_for_end (View *view)
{
  int code = 0;
  g_autofree char *words = find_end (view, &code);
  gint64 now_us = g_get_real_time ();

  if (words != NULL && (code != -1 || ++view->unanswered >= END_TICKS))
    {
      view_model_end (view->model, now_us, words, code == COMMAND_DONE ? 1 : -1);
      view->wants_read = TRUE;
    }
  else if (words == NULL)
    view_model_silence (view->model, now_us);
}

static void
send_state (View *view)
{
  g_autofree char *tick = view_model_tick (view->model);
  g_autoptr (GBytes) event = NULL;

  view->since_whole++;
  view->since_sent++;
  if (tick == NULL)
    view->wants_whole = TRUE;
  if (view->wants_whole && view->since_whole >= WHOLE_TICKS)
    {
      event = whole (view);
      view->wants_whole = FALSE;
      view->since_whole = 0;
    }
  else if (!view->wants_whole && view_model_state (view->model) != VIEW_STATE_OVER)
    event = event_of (tick, NULL);
  else if (view->since_sent >= PING_TICKS)
    event = g_bytes_new_static (": \n\n", 4);
  if (event != NULL)
    publish (view, event);
}

static void
on_status (GObject *source, GAsyncResult *result, gpointer data)
{
  View *view = data;
  g_autofree char *reply = live_reply (result, NULL);

  (void)source;
  view->is_asking = FALSE;
  if (reply != NULL && view_model_status (view->model, g_get_real_time (), reply))
    view->unanswered = 0;
  else
    look_for_end (view);
  send_state (view);
}

static gboolean
on_tick (gpointer data)
{
  View *view = data;

  look_at_tree (view);
  if (view_model_state (view->model) == VIEW_STATE_OVER)
    send_state (view);
  else if (!view->is_asking
           && ++view->since_asked > view_model_nodes (view->model) / VIEW_MODEL_NODES_A_SECOND)
    {
      view->since_asked = 0;
      view->is_asking = TRUE;
      live_ask (view->ask.path, "status", on_status, view);
    }
  return G_SOURCE_CONTINUE;
}

/* A request for the boxes of a job other than the root. */
typedef struct
{
  ViewTree *tree;
  char *path;
  double weight;
} Wanted;

static void
wanted_free (gpointer data)
{
  Wanted *wanted = data;

  g_free (wanted->path);
  g_free (wanted);
}

static void
boxes_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Wanted *wanted = data;
  GError *error = NULL;
  char *json = view_tree_boxes (wanted->tree, wanted->path, wanted->weight, &error);

  (void)source, (void)cancellable;
  if (json != NULL)
    g_task_return_pointer (task, json, g_free);
  else
    g_task_return_error (task, error);
}

static void
reply_json (ViewCall *call, ViewHttpStatus status, const char *json)
{
  g_autoptr (GBytes) body = g_bytes_new (json, strlen (json));

  view_server_reply (call, status, "application/json", body);
}

static void
on_boxes (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *json = g_task_propagate_pointer (G_TASK (result), NULL);

  (void)source;
  reply_json (data, json != NULL ? VIEW_HTTP_OK : VIEW_HTTP_NOT_FOUND, json != NULL ? json : "{}");
}

static void
get_boxes (View *view, ViewCall *call, const ViewHttpRequest *request)
{
  g_autofree char *path = view_http_value (request, "path");
  g_autofree char *weight = view_http_value (request, "w");
  g_autoptr (GTask) task = NULL;
  Wanted *wanted;

  if (view->boxes != NULL && (path == NULL || strcmp (path, "/") == 0))
    {
      reply_json (call, VIEW_HTTP_OK, view->boxes);
      return;
    }
  if (view->boxes == NULL || path == NULL)
    {
      reply_json (call, VIEW_HTTP_NOT_FOUND, "{}");
      return;
    }
  wanted = g_new0 (Wanted, 1);
  wanted->tree = view->tree;
  wanted->path = g_steal_pointer (&path);
  wanted->weight = weight != NULL ? CLAMP (g_ascii_strtod (weight, NULL), 0, 1) : 0;
  task = g_task_new (NULL, NULL, on_boxes, call);
  g_task_set_task_data (task, wanted, wanted_free);
  g_task_run_in_thread (task, boxes_in_thread);
}

static void
get_part (ViewCall *call, const char *name, const char *type)
{
  g_autoptr (GBytes) body = view_page_part (name);

  view_server_reply (call, VIEW_HTTP_OK, type, body);
}

static void
get (ViewCall *call, const ViewHttpRequest *request, gpointer data)
{
  View *view = data;

  if (strcmp (request->path, "/") == 0)
    {
      g_autofree char *page = view_page_live (view->name);
      g_autoptr (GBytes) body = g_bytes_new (page, strlen (page));

      view_server_reply (call, VIEW_HTTP_OK, "text/html; charset=utf-8", body);
    }
  else if (strcmp (request->path, "/page.css") == 0)
    get_part (call, "page.css", "text/css; charset=utf-8");
  else if (strcmp (request->path, "/page.js") == 0)
    get_part (call, "page.js", "text/javascript; charset=utf-8");
  else if (strcmp (request->path, "/boxes") == 0)
    get_boxes (view, call, request);
  else if (strcmp (request->path, "/metrics") == 0)
    view_metrics_get (&view->metrics, call, view->ask.path);
  else if (strcmp (request->path, "/events") == 0)
    (void)view_server_stream (call);
  else
    view_server_reply (call, VIEW_HTTP_NOT_FOUND, "text/plain", NULL);
}

/* The facts that `satin status` adds from the run's folder: members of a JSON object, without a
 * comma first. (transfer full) */
static char *
facts_of (const FolderRun *run)
{
  g_autoptr (GString) json = g_string_new (NULL);

  ended_append_facts (json, run, 0);
  json_append_member (json, "checkpoint", run->checkpoint);
  return g_strdup (json->str + 1);
}

/* Finds a live run of this host. FALSE: there is none of this name. */
static gboolean
find_run (View *view, const char *word)
{
  g_autofree char *facts = NULL;

  if (!ask_look (word, &view->ask, NULL) || !folder_is_live (view->ask.path))
    {
      ask_run_clear (&view->ask);
      return FALSE;
    }
  view->name = g_strdup (view->ask.run.name);
  facts = facts_of (&view->ask.run);
  view->model = view_model_new (view->name, facts);
  if (view->ask.run.checkpoint != NULL)
    view->tree = view_tree_new (view->ask.run.checkpoint);
  return TRUE;
}

/* Finds the checkpoint of a run that is over, by the run's name or by its place. Returns 0, or an
 * exit code after a message. */
static int
find_checkpoint (View *view, const char *word, gboolean insecure)
{
  g_autofree char *record = ask_ended (word), *folder = ask_folder (word, NULL);
  g_auto (FolderRun) run = { 0 };
  g_autofree char *target = NULL, *facts = NULL, *state = NULL;
  g_autoptr (GError) error = NULL;
  double done;

  if ((folder != NULL && folder_read (folder, &run, NULL))
      || (record != NULL && folder_read (record, &run, NULL)))
    {
      if (run.checkpoint == NULL)
        return command_say ("run '%s' is over and had no checkpoint", run.name), COMMAND_ERROR;
      target = g_strdup (run.checkpoint);
    }
  else
    target = arguments_target (word, insecure);
  if (target == NULL)
    return COMMAND_STORE;
  /* A bare word is probably the name of a run. */
  if (run.checkpoint == NULL && strpbrk (word, "/:") == NULL
      && !g_file_test (word, G_FILE_TEST_EXISTS))
    return command_say ("there is no run '%s' here (`satin status` lists them), and no checkpoint"
                        " at '%s'",
                        word, target),
           COMMAND_ERROR;
  view->tree = view_tree_new (target);
  Reading *reading = read_tree (view->tree, &error);
  take_reading (view, reading);
  reading_free (reading);
  if (error != NULL)
    return command_inspect_failed (target, error);
  view->name = view_tree_name (view->tree);
  facts = view_tree_facts (view->tree);
  state = view_tree_state (view->tree, &done);
  view->model = view_model_new (view->name, facts);
  view_model_end (view->model, g_get_real_time (), state, done);
  return COMMAND_DONE;
}

static int
write_file (View *view, const char *file)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *reply = view->ask.path != NULL ? ask_status (view->ask.path, NULL) : NULL;
  g_autofree char *json = NULL, *data = NULL, *page = NULL;

  if (reply != NULL)
    (void)view_model_status (view->model, g_get_real_time (), reply);
  if (view->ask.path != NULL && view->tree != NULL)
    {
      Reading *reading = read_tree (view->tree, NULL);

      take_reading (view, reading);
      reading_free (reading);
    }
  json = view_model_whole (view->model);
  data = g_strdup_printf ("{\"whole\":%s,\"ledger\":%s,\"boxes\":%s}", json,
                          view->ledger != NULL ? view->ledger : "null",
                          view->boxes != NULL ? view->boxes : "null");
  page = view_page_file (view->name, data);
  if (g_file_set_contents (file, page, -1, &error))
    return COMMAND_DONE;
  command_say ("cannot write '%s': %s", file, error->message);
  return COMMAND_ERROR;
}

static int
serve (View *view)
{
  static const ViewServerCalls calls = { .get = get, .whole = whole };
  g_autoptr (GError) error = NULL;
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autofree char *url = NULL;
  guint port;

  view->server = view_server_new (&calls, view, &error);
  if (view->server == NULL)
    return command_say ("cannot serve the page: %s", error->message), COMMAND_ERROR;
  url = view_server_url (view->server);
  port = view_server_port (view->server);
  g_print ("%s\n", url);
  command_say ("open this address in a browser of this host; Ctrl-C ends the view, not the run");
  command_say ("from another host: ssh -N -L %u:127.0.0.1:%u %s, then open the same address there",
               port, port, g_get_host_name ());
  if (view->ask.path == NULL)
    view->wants_read = FALSE;
  g_timeout_add (TICK_MS, on_tick, view);
  (void)on_tick (view);
  g_main_loop_run (loop); /* until a signal ends the process */
  return COMMAND_DONE;
}

int
command_view (int argc, char **argv)
{
  g_auto (View) view = { 0 };
  static const ArgumentsVerb verb
      = { "view", "RUN",
          "Shows RUN, or the checkpoint at a path or URI, on a page that a browser of this\n"
          "host opens at the address that is printed.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  int code;

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  const char *word = said.words[0];
  /* A plain URI needs --insecure, also if a run of it was started with that option. */
  g_autofree char *uri = place_is_remote (word) ? arguments_target (word, said.own.insecure) : NULL;
  if (place_is_remote (word) && uri == NULL)
    return COMMAND_STORE;
  temporary_watch_signals ();
  if (!find_run (&view, word))
    {
      code = find_checkpoint (&view, word, said.own.insecure);
      if (code != COMMAND_DONE)
        return code;
    }
  return said.html != NULL ? write_file (&view, said.html) : serve (&view);
}
