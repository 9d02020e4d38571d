/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out the Node's effects: in the engine, to main, to the scribe, and over the links.
 * Tests: test-driver-effects, test-carried-out. */
#include "driver-private.h"

#include "engine/constant.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A node that has so many bytes unread gets no more work. */
#define QUEUED_MAX (8 * 1024 * 1024)

/* NODE_EFFECT_STAYED. If a signal asked the node to leave, and it is the last one, the run is
 * suspended. */
static void
stay (Driver *driver, const NodeEffect *effect)
{
  driver_say (driver, "cannot leave: %s", effect->text);
  if (driver->warned)
    driver_suspend (driver, 0);
}

static void
lend (Driver *driver, const NodeEffect *effect)
{
  DriverPending *pending = g_new0 (DriverPending, 1);
  GPtrArray *loans = g_ptr_array_new_full (effect->count, (GDestroyNotify)loan_free);
  gboolean clogged = mesh_queued (driver, effect->link) > QUEUED_MAX;
  for (guint i = 0; i < effect->count && !clogged; i++)
    {
      Loan *loan = g_new (Loan, 1);
      *loan = (Loan){ 0 };
      if (!engine_lend (driver->engine, loan))
        {
          g_free (loan);
          break;
        }
      g_ptr_array_add (loans, loan);
    }
  *pending
      = (DriverPending){ .event = { .kind = NODE_EVENT_LENT, .node = effect->node, .loans = loans },
                         .loans = loans };
  g_queue_push_tail (&driver->pending, pending);
}

static void
push_unrun (Driver *driver, guint64 held)
{
  DriverPending *pending = g_new0 (DriverPending, 1);
  pending->event = (NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held };
  g_queue_push_tail (&driver->pending, pending);
}

static void
run (Driver *driver, const NodeEffect *effect)
{
  if (engine_run (driver->engine, effect->held, effect->job))
    return;
  driver_say (driver, "cannot run job '%s': another program or other constants", effect->job->path);
  push_unrun (driver, effect->held);
}

/* Two results of one job differ: the run ends as if the job had called satin_fail. */
static void
end_differing (Driver *driver, const NodeEffect *effect)
{
  DriverPending *pending = g_new0 (DriverPending, 1);
  pending->path = g_strdup (effect->job->path);
  pending->text = report_difference (driver, effect);
  pending->event = (NodeEvent){
    .kind = NODE_EVENT_CRASH_REPORT, .path = pending->path, .text = pending->text, .final = TRUE
  };
  g_queue_push_tail (&driver->pending, pending);
}

static void
become_master (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  driver->master = TRUE;
  driver->masterships++;
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
  if (!driver->config.solo)
    driver_say (driver, "this node is master");
}

static void
be_deposed (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  driver->master = FALSE;
  g_clear_pointer (&driver->result, g_bytes_unref);
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
}

static void
take_result (Driver *driver, GBytes *value)
{
  g_mutex_lock (&driver->mutex);
  g_clear_pointer (&driver->result, g_bytes_unref);
  driver->result = g_bytes_ref (value);
  g_cond_broadcast (&driver->cond);
  g_mutex_unlock (&driver->mutex);
}

static void
take_constant (Driver *driver, const char *name, GBytes *bytes)
{
  g_mutex_lock (&driver->mutex);
  g_hash_table_replace (driver->constants, g_strdup (name), g_bytes_ref (bytes));
  g_mutex_unlock (&driver->mutex);
  if (g_str_has_prefix (name, "const/"))
    {
      g_autoptr (GError) error = NULL;
      SatinConst_ *constant = constant_find (name + 6);
      if (constant != NULL && !constant_set_encoded (constant, bytes, &error))
        driver_say (driver, "constant '%s': %s", name + 6, error->message);
    }
  keeper_constant (driver, name, bytes);
}

/* For members only: a joiner asks the nodes whose address is in the folder. */
static gboolean
write_address (Driver *driver, GError **error)
{
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);
  g_autofree char *text = g_strjoinv ("\n", (char **)listener_addresses (driver->mesh.listener));
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  return folder_write (driver->config.folder, file, bytes, error);
}

void
driver_show_address (Driver *driver)
{
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);
  g_autofree char *path = g_build_filename (driver->config.folder, file, NULL);
  if (driver->part == PART_MEMBER && driver->mesh.listener != NULL && access (path, F_OK) != 0
      && errno == ENOENT)
    (void)write_address (driver, NULL); /* the folder may be gone, too */
}

static void
become_member (Driver *driver, const NodeEffect *effect)
{
  char id[NODE_ID_TEXT_MAX];
  gboolean first = driver->part == PART_JOINING;
  g_autoptr (GError) error = NULL;
  g_mutex_lock (&driver->mutex);
  driver->part = driver_part_after (driver->part, PART_ON_JOIN);
  g_mutex_unlock (&driver->mutex);
  g_array_append_val (driver->names, effect->node);
  if (!driver->config.solo)
    driver_say (driver, "joined as node %s", node_id_show (&effect->node, id));
  if (!first)
    return;
  report_stats (driver, FALSE); /* a reader of the address reads the node's name there */
  if (driver->mesh.listener != NULL && !write_address (driver, &error))
    driver_fail (driver, 1, error->message);
}

static void
carry_to_engine (Driver *driver, const NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_LEND:
      lend (driver, effect);
      break;
    case NODE_EFFECT_RUN:
      run (driver, effect);
      break;
    case NODE_EFFECT_UNRUN:
      engine_unrun (driver->engine, effect->held);
      break;
    case NODE_EFFECT_REQUEST:
      engine_request_work (driver->engine, effect->count);
      break;
    case NODE_EFFECT_PUT:
      engine_put (driver->engine, effect->loan, effect->bytes, effect->work_us, effect->risk_us);
      break;
    case NODE_EFFECT_BACK:
      if (effect->failed)
        timeline_mark (driver->lane, "lost", "loan", effect->loan);
      engine_back (driver->engine, effect->loan);
      break;
    case NODE_EFFECT_KNOWN:
      engine_known (driver->engine, effect->path, &effect->digest, &effect->node, effect->count);
      break;
    case NODE_EFFECT_FORGET:
      engine_forget (driver->engine, effect->path, &effect->node);
      driver->missed = driver->missed || effect->path == NULL;
      if (effect->path == NULL && driver->departed_us == 0)
        driver->departed_us = g_get_monotonic_time ();
      break;
    case NODE_EFFECT_SCAN:
      engine_scan (driver->engine, effect->whole);
      break;
    case NODE_EFFECT_HALT:
      engine_halt (driver->engine, effect->whole);
      break;
    case NODE_EFFECT_DIFFERS:
      end_differing (driver, effect);
      break;
    case NODE_EFFECT_BEST:
      engine_improve (driver->engine, (guint)effect->number, effect->bytes);
      keeper_best (driver, (guint)effect->number);
      break;
    case NODE_EFFECT_TELL:
      driver->tell = TRUE; /* the Node is told after all effects have reached the engine */
      break;
    case NODE_EFFECT_SEND ... NODE_EFFECT_TIMER:
    case NODE_EFFECT_WARN ... NODE_EFFECT_LOG:
    case NODE_EFFECT_JOINED ... NODE_EFFECT_END:
    case NODE_EFFECT_COORDINATOR ... NODE_EFFECT_CHECKPOINT:
      g_assert_not_reached ();
    }
}

/* Adds a row to the file's table of nodes. */
static void
enter_member (Driver *driver, const NodeEffect *effect)
{
  g_autoptr (GArray) members = node_members (driver->node);
  const char *site = "";

  for (guint i = 0; i < members->len; i++)
    if (node_id_equal (&g_array_index (members, NodeMember, i).id, &effect->node))
      site = g_array_index (members, NodeMember, i).site;
  scribe_joined (driver->scribe, &effect->node, effect->text2, site, effect->text);
}

static void
hear_member (Driver *driver, const NodeEffect *effect)
{
  char id[NODE_ID_TEXT_MAX];

  if (!driver->config.solo)
    driver_say (driver, "node %s joined: %s pid %" G_GUINT64_FORMAT,
                node_id_show (&effect->node, id), effect->text2, effect->number);
  if (driver->scribe != NULL)
    enter_member (driver, effect);
}

static void
note_saved (Driver *driver, const NodeEffect *effect)
{
  driver->saved.rounds++;
  driver->saved.failed = effect->failed;
  g_free (driver->saved.missing);
  driver->saved.missing = g_strdup (effect->text);
  driver->generation = MAX (driver->generation, effect->number);
}

static void
carry_to_keeper (Driver *driver, NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_COORDINATOR:
      keeper_open (driver, effect);
      break;
    case NODE_EFFECT_RETIRE:
      keeper_retire (driver);
      break;
    case NODE_EFFECT_MEMBER:
      hear_member (driver, effect);
      break;
    case NODE_EFFECT_SAVED:
      note_saved (driver, effect);
      break;
    case NODE_EFFECT_CHECKPOINT:
      driver->given = g_strcompress (effect->text);
      driver->config.checkpoint = driver->given;
      driver_say (driver, "the run has a checkpoint at '%s' from now on", driver->given);
      break;
    case NODE_EFFECT_BID:
      keeper_bid (driver);
      break;
    case NODE_EFFECT_ANSWER:
      keeper_answer (driver, effect->bytes, (int)effect->number);
      break;
    case NODE_EFFECT_SAVE:
      keeper_save (driver, g_steal_pointer (&effect->rows), effect->number);
      break;
    case NODE_EFFECT_SALVAGE:
      keeper_salvage (driver, effect->path);
      break;
    case NODE_EFFECT_EVENT:
      keeper_event (driver, effect);
      break;
    case NODE_EFFECT_PUBLISH:
      keeper_publish (driver);
      break;
    case NODE_EFFECT_PUBLISH_IF_WORTH:
      keeper_offer (driver);
      break;
    case NODE_EFFECT_FINAL:
      keeper_final (driver);
      break;
    case NODE_EFFECT_SEND ... NODE_EFFECT_TIMER:
    case NODE_EFFECT_WARN ... NODE_EFFECT_LOG:
    case NODE_EFFECT_LEND ... NODE_EFFECT_TELL:
    case NODE_EFFECT_JOINED ... NODE_EFFECT_END:
      g_assert_not_reached ();
    }
}

/* Effects that reach main, or end the process. */
static void
carry_to_main (Driver *driver, NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_JOINED:
      become_member (driver, effect);
      break;
    case NODE_EFFECT_MASTER:
      become_master (driver);
      break;
    case NODE_EFFECT_DEPOSED:
      be_deposed (driver);
      break;
    case NODE_EFFECT_CONSTANT:
      take_constant (driver, effect->text, effect->bytes);
      break;
    case NODE_EFFECT_RESULT:
      take_result (driver, effect->bytes);
      break;
    case NODE_EFFECT_START:
      engine_set_constants (driver->engine, &effect->digest);
      break;
    case NODE_EFFECT_LEAVE:
      driver_depart (driver, effect);
      break;
    case NODE_EFFECT_STAYED:
      stay (driver, effect);
      break;
    case NODE_EFFECT_REFUSED:
      mesh_refused (driver, effect->text);
      break;
    case NODE_EFFECT_END:
      driver_end (driver, (int)effect->number, effect->finished, effect->text);
      break;
    case NODE_EFFECT_SEND ... NODE_EFFECT_TIMER:
    case NODE_EFFECT_WARN ... NODE_EFFECT_LOG:
    case NODE_EFFECT_LEND ... NODE_EFFECT_TELL:
    case NODE_EFFECT_COORDINATOR ... NODE_EFFECT_CHECKPOINT:
      g_assert_not_reached ();
    }
}

/* The groups are those of the enum, so the compiler finds an effect that no function carries out.
 */
void
driver_carry_out (Driver *driver, NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_SEND:
      mesh_send (driver, effect);
      break;
    case NODE_EFFECT_DIAL:
      mesh_dial (driver, effect->dial, effect->text);
      break;
    case NODE_EFFECT_CLOSE:
      mesh_close_link (driver, effect->link);
      break;
    case NODE_EFFECT_TIMER:
      drive_set_timer (driver->drive, effect->at_us == 0 ? -1 : (gint64)effect->at_us);
      break;
    case NODE_EFFECT_WARN:
      report_trouble (driver, effect->text);
      break;
    case NODE_EFFECT_LOG:
      if (!driver->config.solo)
        driver_say (driver, "%s", effect->text);
      if (driver->part == PART_JOINING)
        {
          g_free (driver->outside);
          driver->outside = g_strdup (effect->text);
        }
      break;
    case NODE_EFFECT_LEND ... NODE_EFFECT_TELL:
      carry_to_engine (driver, effect);
      break;
    case NODE_EFFECT_JOINED ... NODE_EFFECT_END:
      carry_to_main (driver, effect);
      break;
    case NODE_EFFECT_COORDINATOR ... NODE_EFFECT_CHECKPOINT:
      carry_to_keeper (driver, effect);
      break;
    }
}
