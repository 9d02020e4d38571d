/* SPDX-License-Identifier: BSD-3-Clause */
/* See constants.h.
 * Tests: test-shares, sim, laws.sh. */
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

  core_pointers (node, &constants->all, constant_free);
  core_pointers (node, &constants->own, unref_bytes);
  core_pointers (node, &constants->heard, unref_bytes);
  g_ptr_array_set_size (constants->own, (gint)node->config.n_bests);
  g_ptr_array_set_size (constants->heard, (gint)node->config.n_bests);
  core_owns (node, &constants->set, (GDestroyNotify)g_bytes_unref);
}

gboolean
constants_started (Node *node)
{
  const Member *master = roster_master (node);

  return master != NULL && node_id_equal (&node->constants.started_by, &master->id);
}

/* The constant with this name, or the place where it belongs. (nullable) */
static Constant *
find (const GPtrArray *all, const char *name, guint *place)
{
  for (*place = 0; *place < all->len; (*place)++)
    {
      Constant *constant = all->pdata[*place];
      int order = strcmp (constant->name, name);
      if (order >= 0)
        return order == 0 ? constant : NULL;
    }
  return NULL;
}

static void
enter (GPtrArray *all, const char *name, GBytes *value)
{
  guint place;
  Constant *constant = find (all, name, &place);

  if (constant == NULL)
    {
      constant = g_new0 (Constant, 1);
      constant->name = g_strdup (name);
      g_ptr_array_insert (all, (gint)place, constant);
    }
  g_bytes_ref (value); /* it may be the present one */
  unref_bytes (constant->value);
  constant->value = value;
}

static Digest
digest_all (const GPtrArray *all)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  for (guint i = 0; i < all->len; i++)
    {
      const Constant *constant = all->pdata[i];
      g_ptr_array_add (parts, g_bytes_new (constant->name, strlen (constant->name)));
      g_ptr_array_add (parts, g_bytes_ref (constant->value));
    }
  return digest_of ((const GBytes *const *)parts->pdata, parts->len);
}

static const Digest *
sum (Constants *constants)
{
  if (digest_is_zero (&constants->digest))
    constants->digest = digest_all (constants->all);
  return &constants->digest;
}

/* ---- the set as one value: a GVariant a{sv}, which aligns each constant for the program ---- */

GBytes *
constants_bytes (Node *node, const Digest *digest)
{
  Constants *constants = &node->constants;
  GVariantBuilder builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);

  if (!digest_equal (sum (constants), digest))
    return NULL;
  for (guint i = 0; constants->set == NULL && i < constants->all->len; i++)
    {
      const Constant *constant = constants->all->pdata[i];
      g_variant_builder_add (
          &builder, "{sv}", constant->name,
          g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, constant->value, TRUE));
    }
  g_autoptr (GVariant) set = g_variant_ref_sink (g_variant_builder_end (&builder));
  if (constants->set == NULL)
    constants->set = g_variant_get_data_as_bytes (set);
  return g_bytes_ref (constants->set);
}

/* (transfer full): nothing but what is well formed. */
static GPtrArray *
read_set (GBytes *bytes)
{
  g_autoptr (GVariant) set
      = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_VARDICT, bytes, FALSE));
  GPtrArray *all = g_ptr_array_new_with_free_func (constant_free);
  gsize n = g_variant_is_normal_form (set) ? g_variant_n_children (set) : 0;

  for (gsize i = 0; i < MIN (n, CONSTANTS_MAX); i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *name;
      g_variant_get_child (set, i, "{&sv}", &name, &value);
      g_autoptr (GBytes) content = g_variant_get_data_as_bytes (value);
      enter (all, name, content);
    }
  return all;
}

void
constants_publish (Node *node, const char *name, GBytes *value)
{
  Constants *constants = &node->constants;

  g_assert (g_utf8_validate (name, -1, NULL));
  if (constants->all->len >= CONSTANTS_MAX || strlen (name) > MESSAGE_TEXT_MAX)
    return;
  enter (constants->all, name, value);
  constants->digest = (Digest){ 0 };
  g_clear_pointer (&constants->set, g_bytes_unref);
}

static void
tell_engine (Node *node)
{
  Constants *constants = &node->constants;

  constants->told = *sum (constants);
  core_emit (node, NODE_EFFECT_START)->digest = constants->told;
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
  if (!digest_equal (&constants->told, sum (constants)))
    tell_engine (node);
}

void
constants_on_start (Node *node, const NodeId *from, const Message *m)
{
  node->constants.wanted = m->digest;
  if (digest_equal (sum (&node->constants), &m->digest))
    accept (node, from);
  else
    (void)member_send (node, from, &(Message){ .kind = MESSAGE_FETCH, .digest = m->digest });
}

gboolean
constants_on_bytes (Node *node, const NodeId *from, const Message *m)
{
  Constants *constants = &node->constants;

  if (!digest_equal (&m->digest, &constants->wanted))
    return FALSE;
  g_autoptr (GPtrArray) all = read_set (m->value);
  Digest digest = digest_all (all);
  guint place;
  if (roster_is_master (node) || !digest_equal (&digest, &m->digest))
    return TRUE; /* the master has no such set any more: another START is on its way */
  for (guint i = 0; i < all->len; i++)
    {
      const Constant *constant = all->pdata[i],
                     *before = find (constants->all, constant->name, &place);
      if (before != NULL && g_bytes_equal (before->value, constant->value))
        continue;
      NodeEffect *effect = core_emit (node, NODE_EFFECT_CONSTANT);
      effect->text = g_strdup (constant->name);
      effect->bytes = g_bytes_ref (constant->value);
    }
  g_ptr_array_unref (constants->all); /* of an earlier master */
  constants->all = g_steal_pointer (&all);
  constants->digest = digest;
  g_clear_pointer (&constants->set, g_bytes_unref);
  constants->set = g_bytes_ref (m->value);
  accept (node, from);
  return TRUE;
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
