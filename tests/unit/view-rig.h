/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of command/command-view.c: plays the run, the model, the checkpoint and the server, and
 * notes what is called. */
#pragma once

#include "called.h"

#include "command/arguments.h"
#include "command/ask.h"
#include "command/command-inspect.h"
#include "command/command.h"
#include "command/ended.h"
#include "command/view-metrics.h"
#include "command/view-model.h"
#include "command/view-page.h"
#include "command/view-server.h"
#include "command/view-tree.h"

#include "folder/folder-ended.h"

#include "host/temporary.h"

#include "launch/live.h"

#include "storage/places/place.h"

#include "text/json.h"

#include <string.h>

#define DUMMY(type) ((type *)(void *)&state)

static const ViewServerCalls *server;
static gpointer view;
static GSourceFunc on_tick;
static GAsyncReadyCallback on_status;
static gpointer status_data;
static ViewState state;
static gint64 now_us;
static guint n_nodes, n_streams, n_reads;
static gboolean tick_is_known, has_checkpoint, is_new, lives;
static const char *reply; /* NULL: no node replies */
static int ends;          /* the exit code in the run's folder; -1: it has not ended */
static int ended;         /* the same in the record of a run whose folder is gone */
static void (*scenario) (void);

/* ---- GLib ---- */

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

guint
g_timeout_add (guint ms, GSourceFunc function, gpointer data)
{
  g_assert_cmpuint (ms, ==, 1000);
  g_assert_true (data == view);
  on_tick = function;
  return 1;
}

void
g_main_loop_run (GMainLoop *loop G_GNUC_UNUSED)
{
  scenario ();
}

void
g_task_run_in_thread (GTask *task, GTaskThreadFunc function)
{
  function (task, NULL, g_task_get_task_data (task), NULL);
}

/* ---- the run ---- */

gboolean
arguments_read_run (Arguments *arguments, const ArgumentsVerb *verb G_GNUC_UNUSED,
                    int argc G_GNUC_UNUSED, char **argv)
{
  *arguments = (Arguments){ .words = g_strdupv (argv) };
  return TRUE;
}

void
arguments_clear (Arguments *arguments)
{
  g_strfreev (arguments->words);
}

char *
arguments_target (const char *word G_GNUC_UNUSED, gboolean insecure G_GNUC_UNUSED)
{
  return g_strdup ("/c");
}

char *
ask_ended (const char *word G_GNUC_UNUSED)
{
  return NULL;
}

gboolean
place_is_remote (const char *text G_GNUC_UNUSED)
{
  return FALSE;
}

char *
ask_folder (const char *word G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return NULL;
}

gboolean
ask_look (const char *name, AskRun *ask, GError **error G_GNUC_UNUSED)
{
  ask->path = g_strdup ("/run");
  ask->run.name = g_strdup (name);
  ask->run.checkpoint = has_checkpoint ? g_strdup ("/c") : NULL;
  return TRUE;
}

void
ask_run_clear (AskRun *ask)
{
  g_clear_pointer (&ask->path, g_free);
  g_clear_pointer (&ask->run.name, g_free);
  g_clear_pointer (&ask->run.checkpoint, g_free);
}

char *
ask_status (const char *path G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return NULL;
}

int
command_inspect_failed (const char *target, const GError *error G_GNUC_UNUSED)
{
  note ("cannot read %s", target);
  return 3;
}

void
command_say (const char *format G_GNUC_UNUSED, ...)
{
}

void
ended_append_facts (GString *text, const FolderRun *run G_GNUC_UNUSED, gint64 unused G_GNUC_UNUSED)
{
  g_string_append (text, ",\"a\":1");
}

void
json_append_member (GString *to G_GNUC_UNUSED, const char *key G_GNUC_UNUSED,
                    const char *text G_GNUC_UNUSED)
{
}

char *
folder_ended_find (const char *name G_GNUC_UNUSED)
{
  return ended >= 0 ? g_strdup ("/record") : NULL;
}

gboolean
folder_has_ended (const char *path, int *code, char **sentence G_GNUC_UNUSED)
{
  int end = strcmp (path, "/run") == 0 ? ends : ended;

  *code = end;
  return end >= 0;
}

gboolean
folder_is_live (const char *path G_GNUC_UNUSED)
{
  return lives;
}

gboolean
folder_read (const char *path G_GNUC_UNUSED, FolderRun *run G_GNUC_UNUSED,
             GError **error G_GNUC_UNUSED)
{
  return FALSE;
}

void
folder_run_clear (FolderRun *run G_GNUC_UNUSED)
{
}

void
temporary_watch_signals (void)
{
}

void
live_ask (const char *path, const char *request, GAsyncReadyCallback ready, gpointer data)
{
  g_assert_null (on_status);
  note ("ask %s for %s", path, request);
  on_status = ready;
  status_data = data;
}

char *
live_reply (GAsyncResult *result G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return g_strdup (reply);
}

/* ---- the model and the checkpoint ---- */

ViewModel *
view_model_new (const char *name G_GNUC_UNUSED, const char *facts G_GNUC_UNUSED)
{
  return DUMMY (ViewModel);
}

void
view_model_free (ViewModel *model G_GNUC_UNUSED)
{
}

gboolean
view_model_status (ViewModel *model G_GNUC_UNUSED, gint64 at_us G_GNUC_UNUSED, const char *text)
{
  state = VIEW_STATE_RUNNING;
  return strcmp (text, "wrong") != 0;
}

void
view_model_silence (ViewModel *model G_GNUC_UNUSED, gint64 at_us G_GNUC_UNUSED)
{
  note ("silence");
}

void
view_model_end (ViewModel *model G_GNUC_UNUSED, gint64 at_us G_GNUC_UNUSED, const char *sentence,
                double done)
{
  state = VIEW_STATE_OVER;
  note ("end %s, %g", sentence, done);
}

ViewState
view_model_state (const ViewModel *model G_GNUC_UNUSED)
{
  return state;
}

guint
view_model_nodes (const ViewModel *model G_GNUC_UNUSED)
{
  return n_nodes;
}

char *
view_model_whole (const ViewModel *model G_GNUC_UNUSED)
{
  return g_strdup ("WHOLE");
}

char *
view_model_tick (ViewModel *model G_GNUC_UNUSED)
{
  gboolean is_known = tick_is_known;

  tick_is_known = TRUE;
  return is_known ? g_strdup ("TICK") : NULL;
}

ViewTree *
view_tree_new (const char *target)
{
  g_assert_cmpstr (target, ==, "/c");
  return DUMMY (ViewTree);
}

void
view_tree_free (ViewTree *tree G_GNUC_UNUSED)
{
}

gboolean
view_tree_read (ViewTree *tree G_GNUC_UNUSED, gboolean *its_new, GError **error G_GNUC_UNUSED)
{
  n_reads++;
  *its_new = is_new;
  return TRUE;
}

char *
view_tree_name (ViewTree *tree G_GNUC_UNUSED)
{
  return g_strdup ("tour");
}

char *
view_tree_facts (ViewTree *tree G_GNUC_UNUSED)
{
  return g_strdup ("");
}

char *
view_tree_state (ViewTree *tree G_GNUC_UNUSED, double *done)
{
  *done = 0.5;
  return g_strdup ("not finished");
}

char *
view_tree_ledger (ViewTree *tree G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return g_strdup_printf ("LEDGER %u", n_reads);
}

char *
view_tree_boxes (ViewTree *tree G_GNUC_UNUSED, const char *path, double weight, GError **error)
{
  if (strcmp (path, "/9") != 0)
    return g_strdup_printf ("boxes %s %g", path, weight);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "no such job");
  return NULL;
}

/* ---- the server ---- */

struct ViewCall
{
  ViewHttpStatus status;
};

ViewServer *
view_server_new (const ViewServerCalls *calls, gpointer data, GError **error G_GNUC_UNUSED)
{
  server = calls;
  view = data;
  return DUMMY (ViewServer);
}

void
view_server_free (ViewServer *unused G_GNUC_UNUSED)
{
}

guint
view_server_port (const ViewServer *unused G_GNUC_UNUSED)
{
  return 7;
}

char *
view_server_url (const ViewServer *unused G_GNUC_UNUSED)
{
  return g_strdup ("http://x");
}

guint
view_server_streams (const ViewServer *unused G_GNUC_UNUSED)
{
  return n_streams;
}

gboolean
view_server_stream (ViewCall *call G_GNUC_UNUSED)
{
  note ("stream");
  return TRUE;
}

void
view_server_reply (ViewCall *call, ViewHttpStatus status, const char *type, GBytes *body)
{
  call->status = status;
  note ("%d %s: %.*s", (int)status, type, body != NULL ? (int)g_bytes_get_size (body) : 0,
        body != NULL ? (const char *)g_bytes_get_data (body, NULL) : "");
}

void
view_server_publish (ViewServer *unused G_GNUC_UNUSED, GBytes *event)
{
  g_autofree char *text = g_strndup (g_bytes_get_data (event, NULL), g_bytes_get_size (event));
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n\n", -1);
  g_autofree char *line = g_strjoinv (" | ", lines);

  note ("publish %s", line);
}

char *
view_http_value (const ViewHttpRequest *request, const char *key)
{
  const char *found = request->query != NULL ? strstr (request->query, key) : NULL;

  return found != NULL
             ? g_strndup (found + strlen (key) + 1, strcspn (found, "&") - strlen (key) - 1)
             : NULL;
}

void
view_metrics_get (ViewMetrics *metrics G_GNUC_UNUSED, ViewCall *call G_GNUC_UNUSED,
                  const char *path)
{
  note ("metrics of %s", path);
}

char *
view_page_live (const char *title)
{
  return g_strdup_printf ("page of %s", title);
}

char *
view_page_file (const char *title, const char *data)
{
  return g_strdup_printf ("file of %s: %s", title, data);
}

GBytes *
view_page_part (const char *name)
{
  return g_bytes_new (name, strlen (name));
}
