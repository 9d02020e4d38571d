/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-model.h. view-model-json.c writes the JSON. Tests: test-view-model. */
#include "view-model-private.h"

#include "text/fields.h"
#include "text/json.h"

#include <math.h>
#include <string.h>

#define STEP_US G_USEC_PER_SEC
/* The most letters of all lanes together: with many nodes, fewer moments are kept. */
#define LETTERS_MAX 40000
#define MOMENTS_MIN 30
#define TEXT_MAX 80

static void
lane_free (gpointer data)
{
  Lane *lane = data;

  g_free (lane->id);
  g_free (lane->host);
  g_free (lane->site);
  g_free (lane->roles);
  g_string_free (lane->did, TRUE);
  g_free (lane);
}

static void
seen_free (gpointer data)
{
  Seen *seen = data;

  g_free (seen->kind);
  g_free (seen->node);
  g_free (seen->detail);
  g_free (seen);
}

ViewModel *
view_model_new (const char *name, const char *facts)
{
  ViewModel *model = g_new0 (ViewModel, 1);

  model->name = g_strdup (name);
  model->facts = g_strdup (facts);
  model->lanes = g_ptr_array_new_with_free_func (lane_free);
  model->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  model->moments = g_array_new (FALSE, FALSE, sizeof (Moment));
  model->seen = g_ptr_array_new_with_free_func (seen_free);
  model->step_us = STEP_US;
  model->is_changed = TRUE;
  return model;
}

void
view_model_free (ViewModel *model)
{
  if (model == NULL)
    return;
  g_hash_table_unref (model->by_id);
  g_ptr_array_unref (model->lanes);
  g_array_unref (model->moments);
  g_ptr_array_unref (model->seen);
  g_free (model->name);
  g_free (model->facts);
  g_free (model->sentence);
  g_free (model->left);
  g_free (model->master);
  g_free (model->coordinator);
  g_free (model);
}

ViewState
view_model_state (const ViewModel *model)
{
  return model->state;
}

guint
view_model_nodes (const ViewModel *model)
{
  const GArray *moments = model->moments;

  return moments->len == 0 ? 0 : (guint)g_array_index (moments, Moment, moments->len - 1).up;
}

static void
note (ViewModel *model, const char *kind, const char *node, const char *detail)
{
  Seen *seen = g_new0 (Seen, 1);

  seen->at_us = model->now_us;
  seen->kind = g_strdup (kind);
  seen->node = g_strdup (node);
  seen->detail = g_strdup (detail);
  g_ptr_array_add (model->seen, seen);
  model->n_seen++;
  if (model->seen->len > VIEW_MODEL_EVENTS_MAX)
    g_ptr_array_remove_index (model->seen, 0);
  model->is_changed = TRUE;
}

static double
number (GVariant *object, const char *key, double otherwise)
{
  g_variant_lookup (object, key, "d", &otherwise);
  return otherwise;
}

/* A text member, cut to what a page has room for. (transfer full) */
static char *
text (GVariant *object, const char *key)
{
  const char *value = fields_text (object, key);

  if (g_utf8_strlen (value, -1) <= TEXT_MAX)
    return g_strdup (value);
  g_autofree char *start = g_utf8_substring (value, 0, TEXT_MAX - 1);
  return g_strconcat (start, "…", NULL);
}

/* "m": master, "c": coordinator, "l": leaving, "s": silent, which the other nodes report. (transfer
 * full) */
static char *
roles_of (GVariant *node)
{
  g_autoptr (GString) letters = g_string_new (NULL);

  if (fields_has (node, "roles", "master"))
    g_string_append_c (letters, 'm');
  if (fields_has (node, "roles", "coordinator"))
    g_string_append_c (letters, 'c');
  if (strcmp (fields_text (node, "state"), "leaving") == 0)
    g_string_append_c (letters, 'l');
  if (fields_flag (node, "silent"))
    g_string_append_c (letters, 's');
  return g_strdup (letters->str);
}

static void
take_letters (ViewModel *model, Lane *lane, const char *roles)
{
  gboolean was_silent = strchr (lane->roles, 's') != NULL, is_now = strchr (roles, 's') != NULL;

  if (strcmp (roles, lane->roles) == 0)
    return;
  if (strchr (roles, 'l') != NULL && strchr (lane->roles, 'l') == NULL)
    note (model, "leaving", lane->id, NULL);
  if (is_now != was_silent)
    note (model, is_now ? "silent" : "answers", lane->id, NULL);
  g_free (lane->roles);
  lane->roles = g_strdup (roles);
  model->is_changed = TRUE;
}

/* Removes a lane that is gone if there are too many. FALSE: none is gone. */
static gboolean
make_room (ViewModel *model)
{
  if (model->lanes->len < VIEW_MODEL_LANES_MAX)
    return TRUE;
  for (guint i = 0; i < model->lanes->len; i++)
    {
      Lane *lane = model->lanes->pdata[i];

      if (!lane->is_gone)
        continue;
      g_hash_table_remove (model->by_id, lane->id);
      g_ptr_array_remove_index (model->lanes, i);
      return TRUE;
    }
  return FALSE;
}

static Lane *
find_lane (ViewModel *model, GVariant *node)
{
  g_autofree char *id = text (node, "id");
  Lane *lane = g_hash_table_lookup (model->by_id, id);

  if (lane != NULL || !make_room (model))
    return lane;
  lane = g_new0 (Lane, 1);
  lane->id = g_steal_pointer (&id);
  lane->host = text (node, "host");
  lane->site = text (node, "site");
  lane->roles = g_strdup ("");
  lane->pid = number (node, "pid", 0);
  lane->did = g_string_new (NULL);
  for (guint i = 1; i < model->moments->len; i++)
    g_string_append_c (lane->did, DID_NOT_EXIST);
  g_ptr_array_add (model->lanes, lane);
  g_hash_table_insert (model->by_id, lane->id, lane);
  note (model, "joined", lane->id, lane->host);
  return lane;
}

static void
take_role (ViewModel *model, char **holder, const Lane *lane, const char *kind)
{
  if (g_strcmp0 (*holder, lane->id) == 0)
    return;
  if (*holder != NULL || strcmp (kind, "elected") == 0)
    note (model, kind, lane->id, strcmp (kind, "elected") == 0 ? "coordinator" : "is master now");
  g_free (*holder);
  *holder = g_strdup (lane->id);
}

static void
add_node (ViewModel *model, Moment *moment, GVariant *node)
{
  Lane *lane = find_lane (model, node);
  double workers = number (node, "workers", 0);
  double busy = fields_flag (node, "silent") ? -1 : number (node, "busy", -1);
  g_autofree char *roles = roles_of (node);

  moment->up += 1;
  moment->workers += workers;
  if (busy >= 0)
    moment->busy = (isnan (moment->busy) ? 0 : moment->busy) + busy;
  if (lane == NULL)
    {
      model->more++;
      return;
    }
  lane->workers = workers;
  lane->busy = busy;
  lane->risk_s = number (node, "at_risk_s", -1);
  lane->is_seen = TRUE;
  if (lane->is_gone)
    note (model, "joined", lane->id, "is back");
  lane->is_gone = FALSE;
  take_letters (model, lane, roles);
  if (strchr (roles, 'm') != NULL)
    take_role (model, &model->master, lane, "master");
  if (strchr (roles, 'c') != NULL)
    take_role (model, &model->coordinator, lane, "elected");
}

static void
find_gone (ViewModel *model)
{
  for (guint i = 0; i < model->lanes->len; i++)
    {
      Lane *lane = model->lanes->pdata[i];

      if (lane->is_seen || lane->is_gone)
        continue;
      lane->is_gone = TRUE;
      lane->left_us = model->now_us;
      note (model, "gone", lane->id, strchr (lane->roles, 'l') != NULL ? "left" : "gone");
    }
}

static char
did (const Lane *lane)
{
  if (lane->is_gone)
    return DID_GO;
  if (lane->busy < 0 || lane->workers <= 0)
    return DID_NOT_TELL;
  double share = CLAMP (lane->busy / lane->workers, 0, 1);
  return (char)(DID_IDLE + (int)ceil (share * (DID_WORK - DID_IDLE)));
}

static guint
moments_max (const ViewModel *model)
{
  guint lanes = MAX (model->lanes->len, 1);

  return CLAMP (LETTERS_MAX / lanes, MOMENTS_MIN, VIEW_MODEL_MOMENTS_MAX);
}

/* Merges moments in pairs: the later one stays, and of each node the busier letter. */
static void
halve (ViewModel *model)
{
  guint n = model->moments->len / 2;

  for (guint i = 0; i < n; i++)
    g_array_index (model->moments, Moment, i) = g_array_index (model->moments, Moment, 2 * i + 1);
  g_array_set_size (model->moments, n);
  for (guint i = 0; i < model->lanes->len; i++)
    {
      GString *letters = ((Lane *)model->lanes->pdata[i])->did;

      for (guint k = 0; k < n; k++)
        letters->str[k] = MAX (letters->str[2 * k], letters->str[2 * k + 1]);
      g_string_truncate (letters, n);
    }
  model->step_us *= 2;
  model->is_changed = TRUE;
}

/* Begins the current moment: replaces the last one while its step goes on, else adds one. */
static void
begin_moment (ViewModel *model)
{
  GArray *moments = model->moments;
  Moment empty = { .at_us = model->now_us };

  if (moments->len >= 2
      && model->now_us - g_array_index (moments, Moment, moments->len - 2).at_us
             < model->step_us + STEP_US / 2)
    g_array_set_size (moments, moments->len - 1);
  else
    while (moments->len >= moments_max (model))
      halve (model);
  g_array_append_val (moments, empty);
  for (guint i = 0; i < model->lanes->len; i++)
    g_string_truncate (((Lane *)model->lanes->pdata[i])->did, moments->len - 1);
}

static void
end_moment (ViewModel *model, const Moment *moment)
{
  GArray *moments = model->moments;

  g_array_index (moments, Moment, moments->len - 1) = *moment;
  for (guint i = 0; i < model->lanes->len; i++)
    {
      Lane *lane = model->lanes->pdata[i];

      g_string_append_c (lane->did, did (lane));
      lane->is_seen = FALSE;
    }
}

/* Takes the estimate of the time left from the reply. */
static void
take_left (ViewModel *model, GVariant *status)
{
  static const char *const keys[] = { "left_s", "left_low_s", "left_high_s" };
  g_autoptr (GString) json = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_string_append_printf (json, "%s\"%s\":", i > 0 ? "," : "", keys[i]);
      json_append_number (json, number (status, keys[i], NAN));
    }
  g_free (model->left);
  model->left = g_strdup (json->str);
}

static void
set_state (ViewModel *model, ViewState state)
{
  if (model->state == state)
    return;
  if (state == VIEW_STATE_SILENT)
    note (model, "silent", NULL, "no node answers");
  else if (model->state == VIEW_STATE_SILENT && state == VIEW_STATE_RUNNING)
    note (model, "answers", NULL, "a node answers again");
  model->state = state;
  model->is_changed = TRUE;
}

gboolean
view_model_status (ViewModel *model, gint64 now_us, const char *reply)
{
  g_autoptr (GVariant) status = fields_read (reply);
  g_autoptr (GVariant) list
      = status != NULL ? g_variant_lookup_value (status, "nodes", G_VARIANT_TYPE ("av")) : NULL;
  g_autoptr (GPtrArray) nodes = list != NULL ? fields_objects (status, "nodes") : NULL;
  Moment moment = { .at_us = now_us, .busy = NAN }; /* unless a node reports it */

  if (nodes == NULL || model->state == VIEW_STATE_OVER)
    return FALSE;
  model->now_us = now_us;
  model->more = 0;
  set_state (model, VIEW_STATE_RUNNING);
  begin_moment (model);
  for (guint i = 0; i < nodes->len; i++)
    add_node (model, &moment, nodes->pdata[i]);
  find_gone (model);
  moment.done = number (status, "done", NAN);
  moment.one_s = number (status, "at_risk_s", NAN);
  moment.all_s = number (status, "at_risk_all_s", NAN);
  take_left (model, status);
  end_moment (model, &moment);
  return TRUE;
}

void
view_model_silence (ViewModel *model, gint64 now_us)
{
  if (model->state == VIEW_STATE_OVER || model->state == VIEW_STATE_STARTING)
    return;
  model->now_us = now_us;
  set_state (model, VIEW_STATE_SILENT);
}

void
view_model_end (ViewModel *model, gint64 now_us, const char *sentence, double done)
{
  Moment moment = { .at_us = now_us, .done = done < 0 ? NAN : done };

  if (model->state == VIEW_STATE_OVER)
    return;
  model->now_us = now_us;
  for (guint i = 0; i < model->lanes->len; i++)
    {
      Lane *lane = model->lanes->pdata[i];

      lane->busy = 0; /* the node has not left: the run ended */
    }
  /* If no reply was seen, it is not known when the run ended. */
  if (model->moments->len > 0)
    {
      begin_moment (model);
      end_moment (model, &moment);
      note (model, "ended", NULL, sentence);
    }
  g_clear_pointer (&model->left, g_free);
  model->sentence = g_strdup (sentence);
  set_state (model, VIEW_STATE_OVER);
}
