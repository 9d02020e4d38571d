/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-metrics.h. Tests: test-view-metrics, metrics.sh. */
#include "view-metrics.h"

#include "metrics.h"

#include "folder/control.h"

#include <gio/gio.h>
#include <string.h>

#define TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

typedef struct
{
  ViewMetrics *metrics;
  ViewCall *call;
} Asking;

static void
ask_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Gather) gather = gather_new (data, &error);

  (void)source, (void)cancellable;
  if (gather == NULL)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  gather_ask (gather, CONTROL_FIGURES);
  g_task_return_pointer (task, metrics_text (gather, METRICS_OPEN), g_free);
}

static void
on_text (GObject *source, GAsyncResult *result, gpointer data)
{
  Asking *asking = data;
  g_autofree char *text = g_task_propagate_pointer (G_TASK (result), NULL);
  g_autoptr (GBytes) body = text != NULL ? g_bytes_new (text, strlen (text)) : NULL;

  (void)source;
  asking->metrics->is_asking = FALSE;
  if (body != NULL)
    view_server_reply (asking->call, VIEW_HTTP_OK, TYPE, body);
  else
    view_server_reply (asking->call, VIEW_HTTP_UNAVAILABLE, "text/plain", NULL);
  g_free (asking);
}

void
view_metrics_get (ViewMetrics *metrics, ViewCall *call, const char *path)
{
  g_autoptr (GTask) task = NULL;
  Asking *asking;

  if (path == NULL || metrics->is_asking)
    {
      view_server_reply (call, path == NULL ? VIEW_HTTP_NOT_FOUND : VIEW_HTTP_UNAVAILABLE,
                         "text/plain", NULL);
      return;
    }
  metrics->is_asking = TRUE;
  asking = g_new (Asking, 1);
  *asking = (Asking){ metrics, call };
  task = g_task_new (NULL, NULL, on_text, asking);
  g_task_set_task_data (task, g_strdup (path), g_free);
  g_task_run_in_thread (task, ask_in_thread);
}
