/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver as main's thread sees it. Requests are posted to the driver's thread; the answers come
 * by the condition.
 * Tests: test-driver-main, run.sh, roots.sh, test-drive. */
#include "driver-private.h"

#include "engine/best.h"

#include "folder/folder.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SERVE_PERIOD_MS 20 /* period in which driver_serves_final_result is asked */

DriverNews
driver_wait_master (Driver *driver, int *code)
{
  g_mutex_lock (&driver->mutex);
  while (!driver->master && !driver_has_ended (driver))
    g_cond_wait (&driver->cond, &driver->mutex);
  gboolean ended = driver_has_ended (driver);
  driver->mains = driver->masterships;
  *code = driver->end_code;
  g_mutex_unlock (&driver->mutex);
  return ended ? DRIVER_ENDED : DRIVER_MASTER;
}

/* TRUE: this process is master, and has been without a break since main began. Under the mutex. */
static gboolean
main_counts (const Driver *driver)
{
  return driver->master && driver->masterships == driver->mains;
}

/* The same in the driving thread. If another node is or was master meanwhile, what main says is no
 * answer. */
static gboolean
main_still_counts (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  gboolean counts = main_counts (driver);
  g_mutex_unlock (&driver->mutex);
  return counts;
}

/* What main's thread asks of the driving thread. */
typedef struct
{
  Driver *driver;
  NodeEvent event;
  Loan *job;
  char *text;
  GBytes *bytes, *said;
  gboolean keep;
} Request;

static void
request_free (Request *request)
{
  g_clear_pointer (&request->job, loan_free);
  g_clear_pointer (&request->bytes, g_bytes_unref);
  g_clear_pointer (&request->said, g_bytes_unref);
  g_free (request->text);
  g_free (request);
}

static gboolean
on_root (gpointer data)
{
  Request *request = data;
  Driver *driver = request->driver;
  if (!main_still_counts (driver))
    {
      request_free (request);
      return G_SOURCE_REMOVE;
    }
  /* "That was all": START follows, with the constants on which the digests of all roots depend. */
  if (path_root (request->job->path) == 0)
    driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_CONSTANT });
  request->job->digest = engine_digest (driver->engine, request->job->job, request->job->args);
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_ROOT, .job = request->job });
  request_free (request);
  return G_SOURCE_REMOVE;
}

DriverNews
driver_root (Driver *driver, guint32 root, guint32 job, GBytes *args, GBytes **value, int *code)
{
  g_autofree char *path = path_of_root (root);
  Digest none = { { 0 } };
  Request *request = g_new0 (Request, 1);
  DriverNews news;
  request->driver = driver;
  request->job = loan_new (0, path, job, &none, 1.0, args);
  g_mutex_lock (&driver->mutex);
  g_clear_pointer (&driver->result, g_bytes_unref);
  driver->in_root = TRUE;
  driver_post (driver, on_root, request);
  while (main_counts (driver) && !driver_has_ended (driver) && driver->result == NULL)
    g_cond_wait (&driver->cond, &driver->mutex);
  if (driver->result != NULL && main_counts (driver))
    {
      *value = g_steal_pointer (&driver->result);
      news = DRIVER_RESULT;
    }
  else
    news = driver_has_ended (driver) ? DRIVER_ENDED : DRIVER_DEPOSED;
  driver->in_root = news == DRIVER_ENDED;
  *code = driver->end_code;
  g_mutex_unlock (&driver->mutex);
  return news;
}

static gboolean
on_finish (gpointer data)
{
  Request *request = data;
  Driver *driver = request->driver;
  g_autoptr (GError) error = NULL;
  if (!main_still_counts (driver))
    {
      request_free (request);
      return G_SOURCE_REMOVE;
    }
  if (driver->config.folder != NULL && !driver->config.solo)
    {
      g_autofree char *text = g_strdup_printf ("%d\n", (int)request->event.number);
      g_autoptr (GBytes) code = g_bytes_new (text, strlen (text));
      if (!folder_write_first (driver->config.folder, FOLDER_FILE_ANSWER_CODE, code, &error)
          || !folder_write_first (driver->config.folder, FOLDER_FILE_ANSWER, request->bytes, &error)
          || (request->said != NULL
              && !folder_write_first (driver->config.folder, FOLDER_FILE_ANSWER_ERR, request->said,
                                      &error)))
        {
          driver->unkept = g_strdup_printf ("the answer is lost: %s", error->message);
          driver_say (driver, "%s", driver->unkept);
        }
    }
  request->event.bytes = request->keep ? request->bytes : NULL;
  driver_step (driver, &request->event);
  request_free (request);
  return G_SOURCE_REMOVE;
}

DriverNews
driver_finish (Driver *driver, int main_code, GBytes *answer, GBytes *said, gboolean keep,
               int *code)
{
  Request *request = g_new0 (Request, 1);
  request->driver = driver;
  request->event = (NodeEvent){ .kind = NODE_EVENT_FINISH, .number = (guint64)main_code };
  request->bytes = g_bytes_ref (answer);
  request->said = said != NULL ? g_bytes_ref (said) : NULL;
  request->keep = keep;
  g_mutex_lock (&driver->mutex);
  driver_post (driver, on_finish, request);
  while (main_counts (driver) && !driver_has_ended (driver))
    g_cond_wait (&driver->cond, &driver->mutex);
  DriverNews news = !driver_has_ended (driver)      ? DRIVER_DEPOSED
                    : driver->part == PART_FINISHED ? DRIVER_FINISHED
                                                    : DRIVER_ENDED;
  *code = driver->end_code;
  g_mutex_unlock (&driver->mutex);
  return news;
}

GBytes *
driver_constant (Driver *driver, const char *name)
{
  g_mutex_lock (&driver->mutex);
  GBytes *bytes = g_hash_table_lookup (driver->constants, name);
  if (bytes != NULL)
    g_bytes_ref (bytes);
  g_mutex_unlock (&driver->mutex);
  return bytes;
}

static gboolean
on_constant (gpointer data)
{
  Request *request = data;
  keeper_constant (request->driver, request->text, request->bytes);
  driver_step (
      request->driver,
      &(NodeEvent){ .kind = NODE_EVENT_CONSTANT, .text = request->text, .bytes = request->bytes });
  request_free (request);
  return G_SOURCE_REMOVE;
}

void
driver_set_constant (Driver *driver, const char *name, GBytes *bytes, gboolean publish)
{
  g_mutex_lock (&driver->mutex);
  g_hash_table_replace (driver->constants, g_strdup (name), g_bytes_ref (bytes));
  g_mutex_unlock (&driver->mutex);
  if (!publish)
    return;
  Request *request = g_new0 (Request, 1);
  request->driver = driver;
  request->text = g_strdup (name);
  request->bytes = g_bytes_ref (bytes);
  driver_post (driver, on_constant, request);
}

gboolean
driver_publish_again (Driver *driver, GHashTable *said)
{
  GHashTableIter iter;
  gpointer name, bytes;
  g_hash_table_iter_init (&iter, said);
  while (g_hash_table_iter_next (&iter, &name, &bytes))
    {
      g_autoptr (GBytes) now = driver_constant (driver, name);
      if (now != NULL && !g_bytes_equal (now, bytes))
        return FALSE;
      driver_set_constant (driver, name, bytes, TRUE);
    }
  return TRUE;
}

static gboolean
on_best (gpointer data)
{
  Request *request = data;
  for (guint i = 0; i < best_count (); i++)
    if (strcmp (best_get (i)->name, request->text) == 0
        && engine_improve (request->driver->engine, i, request->bytes))
      driver_step (
          request->driver,
          &(NodeEvent){ .kind = NODE_EVENT_IMPROVED, .number = i, .bytes = request->bytes });
  request_free (request);
  return G_SOURCE_REMOVE;
}

void
driver_set_best (Driver *driver, const char *name, GBytes *value)
{
  Request *request = g_new0 (Request, 1);
  request->driver = driver;
  request->text = g_strdup (name);
  request->bytes = g_bytes_ref (value);
  driver_post (driver, on_best, request);
}

gboolean
driver_is_stopping (Driver *driver, int *code)
{
  g_mutex_lock (&driver->mutex);
  gboolean ended = driver_has_ended (driver);
  *code = driver->end_code;
  g_mutex_unlock (&driver->mutex);
  return ended;
}

char *
driver_reason (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  char *reason = g_strdup (driver->reason);
  g_mutex_unlock (&driver->mutex);
  return reason;
}

static gboolean
on_suspend (gpointer data)
{
  Request *request = data;
  driver_step (request->driver, &request->event);
  request_free (request);
  return G_SOURCE_REMOVE;
}

void
driver_suspend (Driver *driver, guint64 within_us)
{
  Request *request = g_new0 (Request, 1);
  request->driver = driver;
  request->event = (NodeEvent){ .kind = NODE_EVENT_SUSPEND, .number = within_us };
  driver_post (driver, on_suspend, request);
}

/* A batch system may warn twice, and then send SIGTERM. */
static gboolean
on_warning (gpointer data)
{
  Driver *driver = data;
  if (!driver->warned)
    fprintf (stderr, "satin: suspending; interrupt to quit at once\n");
  driver->warned = TRUE;
  driver_suspend (driver, 0);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_interrupt (gpointer data)
{
  if (((Driver *)data)->warned)
    _exit (1);
  return on_warning (data);
}

static gboolean
on_leave (gpointer data)
{
  Driver *driver = data;
  driver->warned = TRUE;
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  return G_SOURCE_CONTINUE;
}

static void
watch_signal (Driver *driver, int number, GSourceFunc on_signal)
{
  g_autoptr (GSource) source = g_unix_signal_source_new (number);
  g_source_set_callback (source, on_signal, driver, NULL);
  g_source_attach (source, driver->context);
}

void
driver_watch_signals (Driver *driver)
{
  struct sigaction hangup;
  if (driver->config.replay != NULL)
    {
      run_replay_watch_signals (driver->config.replay, driver->context);
      return;
    }
  if (sigaction (SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    watch_signal (driver, SIGHUP, on_warning);
  watch_signal (driver, SIGINT, on_interrupt);
  watch_signal (driver, SIGTERM, on_warning);
  watch_signal (driver, SIGUSR1, on_warning);
}

void
driver_leave_at_signal (Driver *driver)
{
  watch_signal (driver, SIGTERM, on_leave);
}

static gboolean
on_serve_timer (gpointer data)
{
  Driver *driver = data;
  if (driver_serves_final_result (driver))
    return G_SOURCE_CONTINUE;
  mesh_close (driver);
  drive_quit (driver->drive);
  return G_SOURCE_REMOVE;
}

static void
end_driving (Driver *driver)
{
  keeper_close (driver);
  report_stats (driver, TRUE);
  report_timeline (driver, TRUE);
  if (on_serve_timer (driver) == G_SOURCE_CONTINUE)
    driver_every (driver, SERVE_PERIOD_MS, on_serve_timer);
}

static gboolean
on_opening (gpointer data)
{
  Driver *driver = data;
  if (driver->openings > 0)
    return G_SOURCE_CONTINUE;
  end_driving (driver);
  return G_SOURCE_REMOVE;
}

static gboolean
on_stop (gpointer data)
{
  Driver *driver = data;
  /* If the process goes on, no thread may be left that uses what will be freed. */
  if (driver->config.embedded && driver->openings > 0)
    driver_every (driver, SERVE_PERIOD_MS, on_opening);
  else
    end_driving (driver);
  return G_SOURCE_REMOVE;
}

void
driver_stop (Driver *driver)
{
  driver_post (driver, on_stop, driver);
  g_thread_join (driver->thread);
}
