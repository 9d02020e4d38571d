/* SPDX-License-Identifier: BSD-3-Clause */
/* See constants.h.
 * Tests: sim, laws.sh. */
#include "../core.h"

#include <string.h>

static void
constant_free (gpointer data)
{
  Constant *constant = data;

  g_free (constant->name);
  g_bytes_unref (constant->value);
  g_free (constant);
}

static void
unref_bytes (gpointer data)
{
  if (data != NULL)
    g_bytes_unref (data);
}

void
constants_init (Node *node)
{
  Constants *constants = &node->constants;

  constants->all = g_ptr_array_new_with_free_func (constant_free);
  constants->own = g_ptr_array_new_with_free_func (unref_bytes);
  constants->heard = g_ptr_array_new_with_free_func (unref_bytes);
  g_ptr_array_set_size (constants->own, (gint)node->config.n_bests);
  g_ptr_array_set_size (constants->heard, (gint)node->config.n_bests);
}

void
constants_done (Node *node)
{
  Constants *constants = &node->constants;

  g_ptr_array_unref (constants->all);
  g_ptr_array_unref (constants->own);
  g_ptr_array_unref (constants->heard);
}

gboolean
constants_started (Node *node)
{
  const Member *master = roster_master (node);

  return master != NULL && node_id_equal (&node->constants.started_by, &master->id);
}

/* FALSE: the constant has this value already. */
static gboolean
enter (Constants *constants, const char *name, GBytes *value)
{
  guint place = 0;

  for (; place < constants->all->len; place++)
    {
      Constant *present = constants->all->pdata[place];
      int order = strcmp (present->name, name);
      if (order == 0 && g_bytes_equal (present->value, value))
        return FALSE;
      if (order == 0)
        {
          g_bytes_unref (present->value);
          present->value = g_bytes_ref (value);
          constants->summed = FALSE;
          return TRUE;
        }
      if (order > 0)
        break;
    }
  Constant *constant = g_new0 (Constant, 1);
  constant->name = g_strdup (name);
  constant->value = g_bytes_ref (value);
  g_ptr_array_insert (constants->all, (gint)place, constant);
  constants->summed = FALSE;
  return TRUE;
}

static const Digest *
sum (Constants *constants)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  if (constants->summed)
    return &constants->digest;
  for (guint i = 0; i < constants->all->len; i++)
    {
      const Constant *constant = constants->all->pdata[i];
      g_ptr_array_add (parts, g_bytes_new (constant->name, strlen (constant->name)));
      g_ptr_array_add (parts, g_bytes_ref (constant->value));
    }
  constants->digest = digest_of ((const GBytes *const *)parts->pdata, parts->len);
  constants->summed = TRUE;
  return &constants->digest;
}

void
constants_publish (Node *node, const char *name, GBytes *value)
{
  g_assert (g_utf8_validate (name, -1, NULL));
  if (node->constants.all->len < CONSTANTS_MAX && strlen (name) <= MESSAGE_TEXT_MAX)
    (void)enter (&node->constants, name, value);
}

static void
tell_engine (Node *node)
{
  Constants *constants = &node->constants;

  constants->told = TRUE;
  constants->told_digest = *sum (constants);
  core_emit (node, NODE_EFFECT_START)->digest = constants->told_digest;
}

void
constants_complete (Node *node)
{
  if (!roster_is_master (node))
    return;
  node->constants.started_by = node->self;
  tell_engine (node);
  constants_renew (node);
}

void
constants_renew (Node *node)
{
  if (roster_is_master (node) && constants_started (node))
    member_send_all (node, &(Message){ .kind = MESSAGE_START, .digest = *sum (&node->constants) });
}

void
constants_deposed (Node *node)
{
  node->constants.started_by = NODE_ID_NONE;
}

void
constants_greet (Node *node, const NodeId *to)
{
  Constants *constants = &node->constants;

  if (roster_is_master (node) && constants_started (node))
    (void)member_send (node, to, &(Message){ .kind = MESSAGE_START, .digest = *sum (constants) });
  for (guint i = 0; i < constants->own->len; i++)
    {
      GBytes *both[] = { constants->heard->pdata[i], constants->own->pdata[i] };
      for (guint j = 0; j < G_N_ELEMENTS (both); j++)
        if (both[j] != NULL)
          (void)member_send (node, to,
                             &(Message){ .kind = MESSAGE_BEST, .count = i, .value = both[j] });
    }
}

static void
accept (Node *node, const NodeId *master)
{
  Constants *constants = &node->constants;

  constants->started_by = *master;
  if (!constants->told || !digest_equal (&constants->told_digest, sum (constants)))
    tell_engine (node);
}

void
constants_on_start (Node *node, const NodeId *from, const Message *m)
{
  if (digest_equal (sum (&node->constants), &m->digest))
    accept (node, from);
  else
    (void)member_send (node, from, &(Message){ .kind = MESSAGE_WANT });
}

void
constants_on_want (Node *node, const NodeId *from)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (MessageConstant));

  if (!constants_started (node))
    return;
  for (guint i = 0; i < node->constants.all->len; i++)
    {
      const Constant *constant = node->constants.all->pdata[i];
      MessageConstant item = { constant->name, constant->value };
      g_array_append_val (all, item);
    }
  (void)member_send (
      node, from,
      &(Message){ .kind = MESSAGE_CONSTANTS, .digest = *sum (&node->constants), .constants = all });
}

static gboolean
is_named (const Message *m, const char *name)
{
  for (guint i = 0; i < m->constants->len; i++)
    if (g_str_equal (g_array_index (m->constants, MessageConstant, i).name, name))
      return TRUE;
  return FALSE;
}

void
constants_on_set (Node *node, const NodeId *from, const Message *m)
{
  Constants *constants = &node->constants;

  if (m->constants->len > CONSTANTS_MAX || roster_is_master (node))
    return;
  for (guint i = constants->all->len; i > 0; i--) /* constants of an earlier master */
    if (!is_named (m, ((Constant *)constants->all->pdata[i - 1])->name))
      {
        g_ptr_array_remove_index (constants->all, i - 1);
        constants->summed = FALSE;
      }
  for (guint i = 0; i < m->constants->len; i++)
    {
      const MessageConstant *item = &g_array_index (m->constants, MessageConstant, i);
      if (!enter (constants, item->name, item->value))
        continue;
      NodeEffect *effect = core_emit (node, NODE_EFFECT_CONSTANT);
      effect->text = g_strdup (item->name);
      effect->bytes = g_bytes_ref (item->value);
    }
  if (digest_equal (sum (constants), &m->digest))
    accept (node, from);
}

static void
keep (GPtrArray *values, guint64 number, GBytes *value)
{
  unref_bytes (values->pdata[number]);
  values->pdata[number] = g_bytes_ref (value);
}

void
constants_improved (Node *node, guint64 number, GBytes *value)
{
  if (number >= node->constants.own->len)
    return;
  keep (node->constants.own, number, value);
  member_send_all (node,
                   &(Message){ .kind = MESSAGE_BEST, .count = (guint32)number, .value = value });
}

void
constants_on_best (Node *node, const NodeId *from, const Message *m)
{
  if (m->count >= node->constants.heard->len)
    return;
  keep (node->constants.heard, m->count, m->value);
  contacts_pass_on (node, from, m);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_BEST);
  effect->number = m->count;
  effect->bytes = g_bytes_ref (m->value);
}
