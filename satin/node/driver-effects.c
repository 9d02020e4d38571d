/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out what the Node decided: into the engine, to main, to the scribe, over the links, and
 * to the world when this process ends. */
#include "driver-private.h"

#include "engine/constant.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define QUEUED_MAX (8 * 1024 * 1024) /* who has not read so much gets no more work */
/* For who asks for the end: longer, when the answer stands nowhere else. */
#define BEQUEATH_US (3 * G_USEC_PER_SEC)
#define BEQUEATH_ANSWER_US (60 * G_USEC_PER_SEC)
#define LAST_BREATH_MS 2000 /* for main to return after the run has ended elsewhere */
/* … if satin_root has told it to, or is about to: it says how far it came. */
#define PARTING_US (30 * G_USEC_PER_SEC)

static gint64
patience (Driver *driver)
{
  g_autofree char *answer = g_build_filename (driver->config.folder, FOLDER_FILE_ANSWER, NULL);
  gboolean is_only_here
      = driver->config.checkpoint == NULL && g_file_test (answer, G_FILE_TEST_EXISTS);
  return is_only_here ? BEQUEATH_ANSWER_US : BEQUEATH_US;
}

gboolean
driver_bequeaths (Driver *driver)
{
  gint64 now_us = g_get_monotonic_time ();
  RelayState state = relay_state ();
  if (driver->parting.left || driver->end_is_taken || state == RELAY_SENT)
    return FALSE;
  if (state == RELAY_SENDING)
    return TRUE; /* its launcher may die before it has all */
  if (driver->asked_us == 0)
    driver->asked_us = now_us;
  return now_us - driver->asked_us < patience (driver);
}

/* The process ends as soon as main returns, so only a main that does not can be cut off. */
static gboolean
main_is_parting (Driver *driver)
{
  g_mutex_lock (&driver->mutex);
  gboolean is_told = driver->in_root && !driver->finished;
  g_mutex_unlock (&driver->mutex);
  return is_told && !driver->parting.left
         && g_get_monotonic_time () < driver->ended_us + PARTING_US;
}

static gboolean
on_last_breath (gpointer data)
{
  Driver *driver = data;
  if (driver_bequeaths (driver) || main_is_parting (driver))
    return G_SOURCE_CONTINUE;
  if (driver->parting.left)
    keeper_close (driver);
  report_stats (driver, TRUE);
  report_timeline (driver, TRUE);
  mesh_close (driver);
  relay_end ();
  _exit (driver->end_code);
}

/* Main may be anywhere: it is not waited for much longer, unless it is on its way. */
static void
breathe_last (Driver *driver)
{
  driver->ended_us = g_get_monotonic_time ();
  g_autoptr (GSource) source = g_timeout_source_new (LAST_BREATH_MS);
  g_source_set_callback (source, on_last_breath, driver, NULL);
  g_source_attach (source, driver->context);
}

/* A master that wrote an answer and died before the run had ended so has not shown it: a run that
 * was stopped has none, but for a suspended one of which is known what main returned
 * (folder_has_ended). So it goes before the end stands there, since whoever sees that shows it. */
static gboolean
set_answer_aside (const char *folder, int code, const char *answer, const char *aside)
{
  int stands;

  return !folder_has_ended (folder, &stands, NULL)
         && !(code == NODE_END_SUSPENDED && folder_size (folder, FOLDER_FILE_ANSWER_CODE) >= 0)
         && g_rename (answer, aside) == 0;
}

/* The other half of a split may have ended first, with that answer. */
static gboolean
end_without_answer (const char *folder, int code, const char *sentence, GError **error)
{
  g_autofree char *answer = g_build_filename (folder, FOLDER_FILE_ANSWER, NULL);
  g_autofree char *aside = g_strdup_printf ("%s.aside-%d", answer, (int)getpid ());
  gboolean is_aside = set_answer_aside (folder, code, answer, aside);
  gboolean well = folder_end (folder, code, sentence, error);
  int stands;

  if (folder_has_ended (folder, &stands, NULL) && stands == code)
    (void)g_unlink (is_aside ? aside : answer);
  else if (is_aside)
    (void)g_rename (aside, answer);
  return well;
}

static void
end (Driver *driver, int code, gboolean finished, const char *sentence)
{
  g_autoptr (GError) error = NULL;
  if (driver->ended)
    return;
  if (code == NODE_END_CANCELLED && !finished)
    sentence = "the run was cancelled";
  else if (driver->unpublished != NULL && (sentence == NULL || code == NODE_END_NO_STORE))
    sentence = driver->unpublished;
  if (code == NODE_END_SUSPENDED && !finished && driver->unpublished != NULL)
    code = NODE_END_NO_STORE;
  if (finished && driver->unkept != NULL)
    {
      sentence = driver->unkept;
      code = code == 0 ? 1 : code;
    }
  if (sentence != NULL && sentence != driver->unpublished && driver->config.solo)
    driver_say (driver, "%s", sentence);
  if (driver->config.folder != NULL
      && !(finished ? folder_end : end_without_answer) (driver->config.folder, code, sentence,
                                                        &error))
    driver_say (driver, "%s", error->message);
  driver_set_ended (driver, code, finished, sentence);
  if (driver->config.solo)
    return;
  breathe_last (driver);
}

/* This process has left; the run goes on. */
static void
depart (Driver *driver, const NodeEffect *effect)
{
  g_autofree char *file = folder_node_file (getpid (), FOLDER_NODE_ADDRESS);
  g_autofree char *path = g_build_filename (driver->config.folder, file, NULL);

  driver->parting.left = TRUE;
  driver->parting.lost_us = effect->work_us;
  driver->parting.why = driver->warned ? FOLDER_PARTED_SIGNAL : FOLDER_PARTED_ASKED;
  driver_say (driver, "this node has left; %.1f s of work lost", (double)effect->work_us / 1e6);
  if (effect->count > 0)
    driver_say (driver, "nobody took %u finished results in time", effect->count);
  if (effect->failed)
    driver_say (driver, "jobs still ran when the time was over");
  (void)g_unlink (path);
  driver_set_ended (driver, 0, FALSE, NULL);
  breathe_last (driver);
}

/* Asked by a signal to leave the run as the last of its nodes: then the run is suspended. */
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
  DriverPending *pending = g_new (DriverPending, 1);
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

static void
set_timer (Driver *driver, guint64 at_us)
{
  drive_set_timer (driver->drive, at_us == 0 ? -1 : (gint64)at_us);
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

/* Members only: whoever joins asks those whose address stands in the folder. */
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
  if (driver->joined && !driver->parting.left && driver->mesh.listener != NULL
      && access (path, F_OK) != 0 && errno == ENOENT)
    (void)write_address (driver, NULL); /* the folder may be gone, too */
}

static void
become_member (Driver *driver, const NodeEffect *effect)
{
  char id[NODE_ID_TEXT_MAX];
  gboolean first = !driver->joined;
  g_autoptr (GError) error = NULL;
  driver->joined = TRUE;
  g_array_append_val (driver->names, effect->node);
  if (!driver->config.solo)
    driver_say (driver, "joined as node %s", node_id_show (&effect->node, id));
  if (!first)
    return;
  report_stats (driver, FALSE); /* a reader of the address looks there for the node's name */
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
    case NODE_EFFECT_BEST:
      engine_improve (driver->engine, (guint)effect->number, effect->bytes);
      keeper_best (driver, (guint)effect->number);
      break;
    case NODE_EFFECT_TELL:
      driver->tell = TRUE; /* when all effects have reached the engine */
      break;
    case NODE_EFFECT_SEND ... NODE_EFFECT_TIMER:
    case NODE_EFFECT_WARN ... NODE_EFFECT_LOG:
    case NODE_EFFECT_JOINED ... NODE_EFFECT_END:
    case NODE_EFFECT_COORDINATOR ... NODE_EFFECT_CHECKPOINT:
      g_assert_not_reached ();
    }
}

/* A row of the file's table of nodes. */
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
      depart (driver, effect);
      break;
    case NODE_EFFECT_STAYED:
      stay (driver, effect);
      break;
    case NODE_EFFECT_REFUSED:
      mesh_refused (driver, effect->text);
      break;
    case NODE_EFFECT_END:
      end (driver, (int)effect->number, effect->finished, effect->text);
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
      set_timer (driver, effect->at_us);
      break;
    case NODE_EFFECT_WARN:
      report_trouble (driver, effect->text);
      break;
    case NODE_EFFECT_LOG:
      if (!driver->config.solo)
        driver_say (driver, "%s", effect->text);
      if (!driver->joined)
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
