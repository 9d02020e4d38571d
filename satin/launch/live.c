/* SPDX-License-Identifier: BSD-3-Clause */
/* See live.h. */
#include "live.h"

#include "command-words.h"
#include "folder/ask-status.h"

#include "folder/control.h"

#include "text/fields.h"
#include "text/shown.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ASK_MS 500
/* Without a terminal no line is overwritten, so there are fewer. */
#define ASK_PLAIN_MS 1000

struct Live
{
  char *path;
  gboolean terminal, asking, freed;
  gint64 started_us;
  guint timer;
};

static void
ask_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  char **question = data;
  GError *error = NULL;
  char *reply = strcmp (question[1], "status") == 0
                    ? ask_status (question[0], &error)
                    : control_ask (question[0], question[1], &error);

  (void)source, (void)cancellable;
  if (reply == NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, reply, g_free);
}

void
live_ask (const char *path, const char *request, GAsyncReadyCallback ready, gpointer data)
{
  const char *question[] = { path, request, NULL };
  g_autoptr (GTask) task = g_task_new (NULL, NULL, ready, data);

  g_task_set_task_data (task, g_strdupv ((char **)question), (GDestroyNotify)g_strfreev);
  g_task_run_in_thread (task, ask_in_thread);
}

char *
live_reply (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/* How many nodes are in state `up`. *silent (out): how many of these have not been heard from for a
 * while. */
static guint
count_up (GVariant *status, guint *silent)
{
  g_autoptr (GPtrArray) nodes = fields_objects (status, "nodes");
  guint up = 0;

  *silent = 0;
  for (guint i = 0; i < nodes->len; i++)
    if (strcmp (fields_text (nodes->pdata[i], "state"), "up") == 0)
      {
        up++;
        *silent += fields_flag (nodes->pdata[i], "silent");
      }
  return up;
}

char *
live_line (GVariant *status, double elapsed_s)
{
  g_autoptr (GString) line = g_string_new ("satin: ");
  g_autofree char *best = fields_best (status), *root = fields_root (status);
  guint silent, up = count_up (status, &silent);
  double number;

  if (root != NULL)
    g_string_append_printf (line, "%s, ", root);
  if (g_variant_lookup (status, "done", "d", &number))
    {
      g_autofree char *left = fields_left (status);

      g_string_append_printf (line, "%.1f %% done in %.0f s, %s, ", CLAMP (number, 0.0, 1.0) * 100,
                              elapsed_s, left);
    }
  else
    g_string_append_printf (line, "%.0f s, ", elapsed_s);
  if (best != NULL)
    g_string_append_printf (line, "%s, ", best);
  g_string_append_printf (line, "%u node%s", up, up == 1 ? "" : "s");
  if (silent > 0)
    g_string_append_printf (line, " (%u silent)", silent);
  if (g_variant_lookup (status, "at_risk_s", "d", &number))
    g_string_append_printf (line, ", %.1f s at risk", number);
  return g_strdup (line->str);
}

/* A line wider than the terminal would wrap, and could not be overwritten. (transfer full) */
static char *
cut_to_terminal (const char *line)
{
  struct winsize size;

  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
    return g_strdup (line);
  return shown_cut (line, size.ws_col - 1u);
}

static void
really_free (Live *live)
{
  g_free (live->path);
  g_free (live);
}

static void
on_status (GObject *source, GAsyncResult *result, gpointer data)
{
  Live *live = data;
  g_autofree char *reply = live_reply (result, NULL);
  g_autoptr (GVariant) status = fields_read (reply);

  (void)source;
  live->asking = FALSE;
  if (live->freed)
    {
      really_free (live);
      return;
    }
  if (status != NULL)
    {
      g_autofree char *line = live_line (
          status, (double)(g_get_monotonic_time () - live->started_us) / G_USEC_PER_SEC);

      g_autofree char *cut = live->terminal ? cut_to_terminal (line) : g_strdup (line);

      command_show (cut, live->terminal);
    }
}

static gboolean
on_timer (gpointer data)
{
  Live *live = data;

  if (!live->asking)
    {
      live->asking = TRUE;
      live_ask (live->path, "status", on_status, live);
    }
  return G_SOURCE_CONTINUE;
}

Live *
live_new (const char *path, gboolean terminal)
{
  Live *live = g_new0 (Live, 1);

  live->path = g_strdup (path);
  live->terminal = terminal;
  live->started_us = g_get_monotonic_time ();
  live->timer = g_timeout_add (terminal ? ASK_MS : ASK_PLAIN_MS, on_timer, live);
  return live;
}

void
live_free (Live *live)
{
  if (live == NULL)
    return;
  g_source_remove (live->timer);
  command_show (NULL, live->terminal);
  live->freed = TRUE;
  /* If a question is under way, on_status frees `live`. If the main loop has ended, nothing does,
   * but then the process exits soon. */
  if (!live->asking)
    really_free (live);
}
