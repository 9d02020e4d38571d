/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver's dealings with the scribe: taking the checkpoint over (in a thread of its own, since
 * the disk may be slow), what the scribe says, what is told to it. Driver's thread but where said.
 */
#include "driver-private.h"

#include "engine/best.h"
#include "engine/constant.h"
#include "record.h"

#include <string.h>
#include <unistd.h>

/* The names that the checkpoint shows for the job table. */
typedef struct
{
  Driver *driver;
  Scribe *scribe;
  GError *error;
  char **names, **types;
  char *work_path;
} Opening;

typedef struct
{
  Driver *driver;
  GPtrArray *rows;
  ScribeNewsKind kind;
  gboolean final;
  guint64 generation, ticket;
  char *trouble;
} News;

/* A row tells who computed it, not in whose stack it is needed now: after an adoption that is
 * another. So at a departure all rows are looked at that no member computed; those still held are
 * answered by "covered". */
static void
keep_rows_of_departed (Driver *driver, GPtrArray *rows)
{
  g_autoptr (GArray) members = node_members (driver->node);
  for (guint i = rows->len; i-- > 0;)
    for (guint k = 0; k < members->len; k++)
      if (node_id_equal (&g_array_index (members, NodeMember, k).id,
                         &((const Row *)rows->pdata[i])->node))
        {
          g_ptr_array_remove_index_fast (rows, i);
          break;
        }
}

static gboolean
on_news (gpointer data)
{
  News *news = data;
  Driver *driver = news->driver;
  if (news->rows != NULL && driver->opened)
    keep_rows_of_departed (driver, news->rows);
  if (news->rows != NULL)
    driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = news->rows });
  if (news->kind == SCRIBE_RESTORED && news->final && !driver->opened)
    {
      driver->opened = TRUE;
      driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
    }
  if (news->kind == SCRIBE_PUBLISHED)
    timeline_mark (driver->lane, "published", "generation", news->generation);
  if (news->kind == SCRIBE_PUBLISHED || (news->kind == SCRIBE_TROUBLE && news->final))
    driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                                       .number = news->generation,
                                       .saved = news->ticket,
                                       .final = news->final,
                                       .failed = news->kind == SCRIBE_TROUBLE });
  if (news->trouble != NULL)
    driver_say (driver, "%s", news->trouble);
  g_clear_pointer (&news->rows, g_ptr_array_unref);
  g_free (news->trouble);
  g_free (news);
  return G_SOURCE_REMOVE;
}

/* In the scribe's thread. */
static void
notify (const ScribeNews *said, void *data)
{
  News *news = g_new0 (News, 1);
  news->driver = data;
  news->kind = said->kind;
  news->final = said->final;
  news->generation = said->generation;
  news->ticket = said->ticket;
  if (said->rows != NULL)
    news->rows = g_ptr_array_ref (said->rows);
  if (said->kind == SCRIBE_TROUBLE && said->error != NULL)
    news->trouble = g_strdup (said->error->message);
  driver_post (news->driver, on_news, news);
}

static void
opening_free (Opening *opening)
{
  g_strfreev (opening->names);
  g_strfreev (opening->types);
  g_free (opening->work_path);
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
}

static void
tell_elected (Driver *driver)
{
  NodeId self = node_self (driver->node);
  g_autofree char *detail = g_strdup_printf ("coordinator in term %u", node_term (driver->node));
  scribe_event (driver->scribe, "elected", &self, NULL, 0, detail);
}

static gboolean
on_opened (gpointer data)
{
  Opening *opening = data;
  Driver *driver = opening->driver;
  driver->scribe_opening = FALSE;
  if (opening->scribe == NULL && driver->config.founder && driver->masterships <= 1)
    driver_fail (driver, opening->error->code, opening->error->message);
  if (opening->scribe == NULL)
    {
      driver_say (driver, "goes on without checkpoint: %s", opening->error->message);
      driver->opened = TRUE;
      driver_step (driver, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
    }
  else
    {
      driver->scribe = g_steal_pointer (&opening->scribe);
      tell_all (driver);
      tell_elected (driver);
      for (guint i = 0; driver->early != NULL && i < driver->early->len; i++)
        scribe_save (driver->scribe, g_ptr_array_ref (driver->early->pdata[i]));
      scribe_ticket (driver->scribe, driver->early_ticket);
      g_clear_pointer (&driver->early, g_ptr_array_unref);
      scribe_load (driver->scribe, NULL);
    }
  opening_free (opening);
  return G_SOURCE_REMOVE;
}

static gpointer
open_scribe (gpointer data)
{
  Opening *opening = data;
  Driver *driver = opening->driver;
  const DriverConfig *config = &driver->config;
  ScribeConfig scribe = { .work_path = opening->work_path,
                          .target = config->checkpoint,
                          .interval_us = (guint64)(config->interval_s * 1e6),
                          .job_names = (const char *const *)opening->names,
                          .job_types = (const char *const *)opening->types,
                          .stems = driver->stems,
                          .notify = notify,
                          .data = driver };
  opening->scribe = scribe_new (&scribe, &driver->identity, &opening->error);
  driver_post (driver, on_opened, opening);
  return NULL;
}

void
keeper_open (Driver *driver)
{
  Opening *opening = g_new0 (Opening, 1);
  guint n = 0;
  if (driver->config.checkpoint == NULL || driver->scribe != NULL || driver->scribe_opening)
    {
      opening_free (opening);
      return;
    }
  while (driver->config.jobs[n] != NULL)
    n++;
  opening->driver = driver;
  opening->names = g_new0 (char *, n + 1);
  opening->types = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      opening->names[i] = g_strdup (driver->config.jobs[i]->name);
      opening->types[i] = record_signature (driver->config.jobs[i]->result);
    }
  opening->work_path
      = g_strdup_printf ("%s/checkpoint-%d.work", driver->config.folder, (int)getpid ());
  g_free (driver->identity.run);
  driver->identity = driver->config.identity;
  driver->identity.run = g_strdup (driver->config.run.id);
  driver->scribe_opening = TRUE;
  driver->opened = FALSE;
  g_thread_unref (g_thread_new ("satin-restore", open_scribe, opening));
}

void
keeper_save (Driver *driver, GPtrArray *rows, guint64 ticket)
{
  timeline_mark (driver->lane, "save", "rows", rows->len);
  if (driver->scribe != NULL)
    {
      scribe_save (driver->scribe, rows);
      scribe_ticket (driver->scribe, ticket);
      return;
    }
  if (driver->early == NULL)
    driver->early = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  driver->early_ticket = ticket;
  if (driver->scribe_opening)
    g_ptr_array_add (driver->early, rows);
  else
    g_ptr_array_unref (rows);
}

void
keeper_event (Driver *driver, const NodeEffect *effect)
{
  if (driver->scribe != NULL)
    scribe_event (driver->scribe, effect->text, &effect->node, effect->path, effect->work_us,
                  effect->text2);
}

void
keeper_close (Driver *driver)
{
  g_clear_pointer (&driver->early, g_ptr_array_unref);
  if (driver->scribe != NULL)
    scribe_stats (driver->scribe, &driver->written);
  g_clear_pointer (&driver->scribe, scribe_free);
}

void
keeper_salvage (Driver *driver)
{
  if (driver->scribe != NULL)
    scribe_load (driver->scribe, NULL);
}

static gboolean
on_nothing_to_publish (gpointer data)
{
  driver_step (data, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .final = TRUE });
  return G_SOURCE_REMOVE;
}

void
keeper_final (Driver *driver)
{
  if (driver->scribe != NULL)
    scribe_finish (driver->scribe);
  else
    driver_post (driver, on_nothing_to_publish, driver);
}

void
keeper_best (Driver *driver, guint best)
{
  if (driver->scribe == NULL)
    return;
  g_autoptr (GBytes) value = engine_best (driver->engine, best);
  g_autofree char *type = record_signature (best_get (best)->type);
  scribe_best (driver->scribe, best_get (best)->name, type, value);
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
