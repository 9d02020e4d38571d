/* SPDX-License-Identifier: BSD-3-Clause */
/* See gather.h. The threads of a pool each wait for a node. Tests: jobs.sh. */
#include "gather.h"

#include "command.h"

#include "folder/control.h"

#include "text/fields.h"

#include <gio/gio.h>

/* A silent node occupies a thread for some seconds. */
#define THREADS_MAX 32

static void
node_clear (gpointer data)
{
  GatherNode *node = data;

  g_free (node->id);
  g_free (node->site);
  g_free (node->host);
  g_free (node->address);
  g_free (node->state);
  g_free (node->reply);
}

static void
add_node (Gather *gather, GVariant *object)
{
  GatherNode node = { .id = g_strdup (fields_text (object, "id")),
                      .site = g_strdup (fields_text (object, "site")),
                      .host = g_strdup (fields_text (object, "host")),
                      .address = g_strdup (fields_text (object, "address")),
                      .state = g_strdup (fields_text (object, "state")),
                      .pid = (guint)fields_count (object, "pid"),
                      .workers = (guint)fields_count (object, "workers"),
                      .master = fields_has (object, "roles", "master"),
                      .coordinator = fields_has (object, "roles", "coordinator"),
                      .at_risk_s = fields_number (object, "at_risk_s") };

  g_array_append_val (gather->nodes, node);
}

Gather *
gather_new (const char *path, GError **error)
{
  g_autofree char *reply = ask_status (path, error);
  GVariant *status = fields_read (reply);
  Gather *gather;
  g_autoptr (GPtrArray) nodes = NULL;

  if (reply != NULL && status == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "a node sent an invalid reply");
  if (status == NULL)
    return NULL;
  gather = g_new0 (Gather, 1);
  gather->path = g_strdup (path);
  gather->status = status;
  gather->nodes = g_array_new (FALSE, FALSE, sizeof (GatherNode));
  g_array_set_clear_func (gather->nodes, node_clear);
  nodes = fields_objects (status, "nodes");
  for (guint i = 0; i < nodes->len; i++)
    add_node (gather, nodes->pdata[i]);
  return gather;
}

Gather *
gather_run (const AskRun *ask)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *reply = ask_node (ask, "status", "cannot ask");
  Gather *gather = reply != NULL ? gather_new (ask->path, &error) : NULL;

  if (error != NULL)
    command_say ("cannot ask '%s': %s", ask->run.name, error->message);
  return gather;
}

void
gather_free (Gather *gather)
{
  if (gather == NULL)
    return;
  g_free (gather->path);
  g_variant_unref (gather->status);
  g_array_unref (gather->nodes);
  g_free (gather);
}

typedef struct
{
  const char *path, *request;
} Question;

static void
ask_one (gpointer data, gpointer user_data)
{
  GatherNode *node = data;
  const Question *question = user_data;

  node->reply = control_ask_at (question->path, node->address, question->request);
  node->silent = node->reply == NULL;
}

void
gather_ask (Gather *gather, const char *request)
{
  Question question = { gather->path, request };
  GThreadPool *pool = g_thread_pool_new (ask_one, &question, THREADS_MAX, FALSE, NULL);

  for (guint i = 0; i < gather->nodes->len; i++)
    {
      GatherNode *node = &g_array_index (gather->nodes, GatherNode, i);

      g_clear_pointer (&node->reply, g_free);
      if (!node->silent)
        g_thread_pool_push (pool, node, NULL);
    }
  g_thread_pool_free (pool, FALSE, TRUE);
}
