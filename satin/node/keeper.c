/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver and its scribe: opens the checkpoint (in a thread, since the disk may be slow), passes
 * on the scribe's news, sends it rows and events, closes it; makes bids. A node may be coordinator
 * more than once, and news of an earlier time is dropped. Driving thread, unless stated otherwise.
 * Tests: elect.sh, later.sh. */
#include "driver-private.h"

#include "coordinator/bid.h"

#include "engine/best.h"
#include "engine/constant.h"
#include "record.h"

#include "folder/folder.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* How many batches of rows may wait: the scribe reads faster than the Node takes them. */
#define RESTORING_MAX 16
/* How long a bid is waited for at the end. */
#define LAST_BID_US (2 * G_USEC_PER_SEC)

/* A scribe that a thread opens, or ends. */
typedef struct
{
  KeeperTerm *term;
  Identity identity; /* `run` is owned, the rest borrowed */
  guint64 least;
  guint number; /* the run's term */
  gboolean goes_on; /* see ScribeConfig: settled when the term begins, not when the thread runs */
  Scribe *scribe;
  GError *error;
  char **names, **types, **args;
} Opening;

/* One time as coordinator. */
struct KeeperTerm
{
  Driver *driver;
  char *work_path;
};

typedef struct
{
  KeeperTerm *term;
  GPtrArray *rows;
  ScribeNewsKind kind;
  gboolean final, failed;
  guint64 generation, ticket, commit_us, rest_us;
  char *trouble, *path;
} News;

/* Rows of the file. `path`: they answer SALVAGE; NULL: they are of the first load. */
static void
hear_restored (Driver *driver, GPtrArray *rows, const char *path, gboolean final)
{
  g_autoptr (GPtrArray) used = driver->config.replay != NULL
                                   ? run_replay_filter (driver->config.replay, rows)
                                   : g_ptr_array_ref (rows);
  if (path != NULL || driver->whole)
    driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_RESTORED,
                                       .rows = used,
                                       .path = path,
                                       .final = final && path != NULL });
  if (!final || path != NULL)
    return;
  ScribeStats stats;
  scribe_stats (driver->scribe, &stats);
  driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = stats.generation });
}

static void
count_restored (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  driver->restoring--;
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
}

static gboolean
on_news (gpointer data)
{
  News *news = data;
  Driver *driver = news->term->driver;
  gboolean counts = news->term == driver->term && driver->scribe != NULL;
  /* The first batches come before the scribe is open here. */
  if (news->rows != NULL && news->term == driver->term && (counts || !news->final))
    hear_restored (driver, news->rows, news->path, news->final);
  if (news->rows != NULL)
    count_restored (driver);
  if (news->kind == SCRIBE_PUBLISHED)
    timeline_mark (driver->lane, "published", "generation", news->generation);
  if (news->trouble != NULL)
    report_trouble (driver, news->trouble);
  if (news->final && news->kind != SCRIBE_RESTORED)
    {
      g_free (driver->unpublished);
      driver->unpublished = g_strdup (news->trouble);
    }
  if (counts && (news->kind == SCRIBE_PUBLISHED || news->kind == SCRIBE_FAILED || news->failed))
    driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                                       .number = news->generation,
                                       .saved = news->ticket,
                                       .work_us = news->commit_us,
                                       .rest_us = news->rest_us,
                                       .final = news->final,
                                       .failed = news->kind != SCRIBE_PUBLISHED,
                                       .text = news->trouble });
  g_clear_pointer (&news->rows, g_ptr_array_unref);
  g_free (news->trouble);
  g_free (news->path);
  g_free (news);
  return G_SOURCE_REMOVE;
}

/* In the scribe's or the opening thread: waits until there is room for another batch, and counts
 * it. */
static void
wait_to_restore (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  while (driver->restores && driver->restoring >= RESTORING_MAX)
    g_cond_wait (&driver->cond, &driver->mutex);
  driver->restoring++;
  g_mutex_unlock (&driver->mutex);
}

static void
set_restores (Driver *driver, gboolean restores)
{
  g_mutex_lock (&driver->mutex);
  driver->restores = restores;
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
}

/* In the scribe's or the opening thread: posts the news to the driving thread. */
static void
notify (const ScribeNews *said, void *data)
{
  News *news = g_new0 (News, 1);
  news->term = data;
  news->kind = said->kind;
  news->final = said->final;
  news->generation = said->generation;
  news->ticket = said->ticket;
  news->commit_us = said->commit_us;
  news->rest_us = said->rest_us;
  news->failed = said->failed;
  if (said->rows != NULL)
    {
      news->rows = g_ptr_array_ref (said->rows);
      news->path = g_strdup (said->path);
      wait_to_restore (news->term->driver);
    }
  if (said->kind == SCRIBE_TROUBLE && said->error != NULL)
    news->trouble = g_strdup (said->error->message);
  driver_post (news->term->driver, on_news, news);
}

static void
opening_free (Opening *opening)
{
  g_strfreev (opening->names);
  g_strfreev (opening->types);
  g_strfreev (opening->args);
  g_free (opening->identity.run);
  g_clear_error (&opening->error);
  g_free (opening);
}

static void
tell_all (Driver *driver)
{
  GHashTableIter iter;
  gpointer name, bytes;
  g_autoptr (GArray) members = node_members (driver->node);
  for (guint i = 0; i < members->len; i++)
    {
      NodeMember *member = &g_array_index (members, NodeMember, i);
      scribe_joined (driver->scribe, &member->id, member->host, member->site, member->address);
    }
  g_mutex_lock (&driver->mutex);
  g_hash_table_iter_init (&iter, driver->constants);
  while (g_hash_table_iter_next (&iter, &name, &bytes))
    keeper_constant (driver, name, bytes);
  g_mutex_unlock (&driver->mutex);
  /* BEST values that were found since the last publication of the previous coordinator. */
  gboolean has_begun = driver->terms > 1 || !driver->config.founder || driver->given != NULL;
  for (guint i = 0; i < best_count () && has_begun; i++)
    keeper_best (driver, i);
}

static void
tell_elected (Driver *driver)
{
  NodeId self = node_self (driver->node);
  g_autofree char *detail = g_strdup_printf ("coordinator in term %u", node_term (driver->node));
  scribe_event (driver->scribe, "elected", &self, NULL, 0, detail);
}

/* Ends a scribe that is no longer needed; in a thread, since it publishes what it has. */
static gpointer
end_scribe (gpointer data)
{
  Opening *opening = data;
  scribe_finish (opening->scribe);
  scribe_free (opening->scribe);
  (void)g_unlink (opening->term->work_path);
  opening_free (opening);
  return NULL;
}

static void
fail_opening (Driver *driver, Opening *opening)
{
  /* A founder is alone when it begins, so an error of the checkpoint ends the run. */
  if (driver->config.founder && driver->terms == 1 && driver->given == NULL
      && (driver->config.solo || opening->error->code != COORDINATOR_ERROR_STORE))
    {
      driver_fail (driver, opening->error->code, opening->error->message);
      return; /* embedded */
    }
  driver_say (driver, "%s", opening->error->message);
  driver_step (
      driver,
      &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = opening->error->message });
}

static gboolean
on_opened (gpointer data)
{
  Opening *opening = data;
  Driver *driver = opening->term->driver;
  driver->openings--;
  if (opening->term != driver->term) /* another node was elected meanwhile */
    {
      if (opening->scribe != NULL)
        g_thread_unref (g_thread_new ("satin-retire", end_scribe, opening));
      else
        opening_free (opening);
      return G_SOURCE_REMOVE;
    }
  if (opening->scribe == NULL)
    fail_opening (driver, opening);
  else
    {
      driver->scribe = g_steal_pointer (&opening->scribe);
      g_free (driver->checkpoint_run);
      driver->checkpoint_run = g_steal_pointer (&opening->identity.run);
      tell_all (driver);
      tell_elected (driver);
      scribe_load (driver->scribe, NULL);
    }
  opening_free (opening);
  return G_SOURCE_REMOVE;
}

static gpointer
open_scribe (gpointer data)
{
  Opening *opening = data;
  Driver *driver = opening->term->driver;
  const DriverConfig *config = &driver->config;
  gboolean reads_only = config->replay != NULL;
  g_autofree char *copy = reads_only ? NULL : g_build_filename (config->folder, FOLDER_COPY, NULL);
  g_autofree char *spare = reads_only ? NULL : folder_spare (config->folder);
  ScribeConfig scribe = { .work_path = opening->term->work_path,
                          .target = config->checkpoint,
                          .copy = config->founder && config->kept ? copy : NULL,
                          .spare = spare,
                          .interval_us = folder_interval_us (config->interval_s),
                          .is_thrifty = config->interval_s == FOLDER_INTERVAL_AUTO_S,
                          .term = opening->number,
                          .least = opening->least,
                          .job_names = (const char *const *)opening->names,
                          .job_types = (const char *const *)opening->types,
                          .job_args = (const char *const *)opening->args,
                          .stems = driver->stems,
                          .loads = TRUE,
                          .goes_on = opening->goes_on,
                          .reads_only = reads_only,
                          .notify = notify,
                          .data = opening->term };
  opening->scribe = scribe_new (&scribe, &opening->identity, &opening->error);
  driver_post (driver, on_opened, opening);
  return NULL;
}

/* The folder of the work file. (transfer none) */
static const char *
work_folder (const DriverConfig *config)
{
  return config->replay != NULL ? run_replay_folder (config->replay) : config->folder;
}

/* The configuration's identity with the run's id as it is known now; `run` is owned. */
static Identity
identity_now (Driver *driver)
{
  Identity identity = driver->config.identity;
  identity.run
      = g_strdup (driver->checkpoint_run != NULL ? driver->checkpoint_run : driver->config.run.id);
  return identity;
}

void
keeper_open (Driver *driver, const NodeEffect *effect)
{
  guint n = 0;
  if (driver->config.checkpoint == NULL)
    return;
  Opening *opening = g_new0 (Opening, 1);
  KeeperTerm *term = g_new0 (KeeperTerm, 1); /* its news may come until the process ends */
  while (driver->config.jobs[n] != NULL)
    n++;
  opening->term = driver->term = term;
  opening->least = effect->number;
  opening->number = node_term (driver->node);
  opening->names = g_new0 (char *, n + 1);
  opening->types = g_new0 (char *, n + 1);
  opening->args = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      opening->names[i] = g_strdup (driver->config.jobs[i]->name);
      opening->types[i] = record_signature (driver->config.jobs[i]->result);
      opening->args[i] = record_signature (driver->config.jobs[i]->args);
    }
  opening->identity = identity_now (driver);
  term->driver = driver;
  term->work_path = g_strdup_printf ("%s/checkpoint-%d-%u.work", work_folder (&driver->config),
                                     (int)getpid (), ++driver->terms);
  opening->goes_on = !driver->config.founder || driver->terms > 1;
  driver->whole = effect->whole;
  set_restores (driver, TRUE);
  driver->openings++;
  g_thread_unref (g_thread_new ("satin-restore", open_scribe, opening));
}

void
keeper_retire (Driver *driver)
{
  Opening *ending = g_new0 (Opening, 1);
  ending->term = driver->term;
  ending->scribe = g_steal_pointer (&driver->scribe);
  driver->term = NULL;
  if (ending->scribe == NULL) /* it is not open yet; on_opened ends it */
    {
      opening_free (ending);
      return;
    }
  scribe_stats (ending->scribe, &driver->written);
  driver_say (driver, "this node is no longer coordinator");
  g_clear_pointer (&driver->retiring, g_thread_unref);
  driver->retiring = g_thread_new ("satin-retire", end_scribe, ending);
}

/* ---- bids ---- */

typedef struct
{
  Driver *driver;
  Identity identity; /* `run` is owned, the rest borrowed */
  BidResult result;
  GError *error;
} Bidding;

static gboolean
on_bid (gpointer data)
{
  Bidding *bidding = data;
  driver_step (bidding->driver,
               &(NodeEvent){ .kind = NODE_EVENT_BID,
                             .work_us = MAX (bidding->result.commit_us, 1),
                             .number = bidding->result.generation,
                             .failed = bidding->error != NULL,
                             .text = bidding->error != NULL ? bidding->error->message : NULL });
  g_clear_error (&bidding->error);
  g_free (bidding->identity.run);
  g_free (bidding);
  return G_SOURCE_REMOVE;
}

static gpointer
make_bid (gpointer data)
{
  Bidding *bidding = data;
  Driver *driver = bidding->driver;
  (void)bid_make (driver->config.checkpoint, &bidding->identity, &bidding->result, &bidding->error);
  driver_post (driver, on_bid, bidding);
  g_mutex_lock (&driver->mutex);
  driver->bidding--;
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
  return NULL;
}

void
keeper_bid (Driver *driver)
{
  Bidding *bidding = g_new0 (Bidding, 1);
  bidding->driver = driver;
  bidding->identity = identity_now (driver);
  g_mutex_lock (&driver->mutex);
  driver->bidding++;
  g_mutex_unlock (&driver->mutex);
  g_thread_unref (g_thread_new ("satin-bid", make_bid, bidding));
}

void
keeper_save (Driver *driver, GPtrArray *rows, guint64 ticket)
{
  timeline_mark (driver->lane, "save", "rows", rows->len);
  if (driver->scribe == NULL)
    {
      g_ptr_array_unref (rows);
      return;
    }
  scribe_save (driver->scribe, rows);
  scribe_ticket (driver->scribe, ticket);
}

void
keeper_answer (Driver *driver, GBytes *answer, int code)
{
  if (driver->scribe != NULL)
    scribe_answer (driver->scribe, answer, code);
}

void
keeper_event (Driver *driver, const NodeEffect *effect)
{
  gint64 age_us = g_get_monotonic_time () - (gint64)effect->at_us;

  if (driver->scribe == NULL)
    return;
  scribe_told (driver->scribe, effect->text, &effect->node, effect->path, effect->work_us,
               effect->text2, MAX (age_us, 0));
  scribe_ticket (driver->scribe, effect->number);
}

/* A bid removes its files beside the checkpoint: waits for that, if the place is fast enough. */
static void
wait_for_bids (Driver *driver)
{
  gint64 until_us = g_get_monotonic_time () + LAST_BID_US;
  g_mutex_lock (&driver->mutex);
  while (driver->bidding > 0 && g_cond_wait_until (&driver->cond, &driver->mutex, until_us))
    ;
  g_mutex_unlock (&driver->mutex);
}

void
keeper_close (Driver *driver)
{
  set_restores (driver, FALSE); /* the scribe may wait for this thread to take rows */
  if (driver->scribe != NULL)
    scribe_stats (driver->scribe, &driver->written);
  g_clear_pointer (&driver->scribe, scribe_free);
  if (driver->part == PART_LEFT
      && driver->retiring != NULL) /* what this node saved must not be lost with it */
    g_thread_join (g_steal_pointer (&driver->retiring));
  wait_for_bids (driver);
}

void
keeper_free (Driver *driver)
{
  if (driver->term == NULL || driver->openings > 0) /* an opening thread still uses it */
    return;
  g_free (driver->term->work_path);
  g_clear_pointer (&driver->term, g_free);
}

void
keeper_salvage (Driver *driver, const char *path)
{
  if (driver->scribe != NULL)
    scribe_load (driver->scribe, path);
}

static gboolean
on_nothing_to_publish (gpointer data)
{
  driver_step (data, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .final = TRUE });
  return G_SOURCE_REMOVE;
}

static void
ask (Driver *driver, void (*to_publish) (Scribe *))
{
  if (driver->scribe != NULL)
    to_publish (driver->scribe);
  else
    driver_post (driver, on_nothing_to_publish, driver);
}

void
keeper_publish (Driver *driver)
{
  ask (driver, scribe_finish);
}

void
keeper_offer (Driver *driver)
{
  ask (driver, scribe_offer);
}

void
keeper_final (Driver *driver)
{
  if (driver->scribe != NULL)
    {
      g_autoptr (GArray) members = node_members (driver->node);
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));
      for (guint i = 0; i < members->len; i++)
        g_array_append_val (ids, g_array_index (members, NodeMember, i).id);
      scribe_present (driver->scribe, ids);
    }
  keeper_publish (driver);
}

void
keeper_best (Driver *driver, guint best)
{
  if (driver->scribe == NULL)
    return;
  g_autoptr (GBytes) value = engine_best (driver->engine, best);
  g_autofree char *type = record_signature (best_get (best)->type);
  g_autofree char *text = best_show (best_get (best));
  scribe_best (driver->scribe, best_get (best)->name, type, value, text);
}

void
keeper_constant (Driver *driver, const char *name, GBytes *bytes)
{
  if (driver->scribe == NULL)
    return;
  g_autofree char *type = NULL;
  SatinConst_ *constant = g_str_has_prefix (name, "const/") ? constant_find (name + 6) : NULL;
  if (constant != NULL)
    type = record_signature (constant->type);
  scribe_constant (driver->scribe, name, type != NULL ? type : "ay", bytes);
}
