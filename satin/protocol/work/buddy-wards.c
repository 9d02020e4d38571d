/* SPDX-License-Identifier: BSD-3-Clause */
/* The keeper's end of buddy.h: rows of the members whose buddy this node is.
 *
 * Tests: test-buddy, test-rerun */
#include "../core.h"

/* `before`: the rows of the last whole scan and later ones, while another whole scan comes. */
typedef struct
{
  NodeId id;
  GPtrArray *rows, *before;  /* of Row; before: nullable */
  gsize bytes, bytes_before; /* sizes of these rows */
} BuddyWard;

static GPtrArray *
new_rows (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
}

static void
ward_free (gpointer data)
{
  BuddyWard *ward = data;

  g_ptr_array_unref (ward->rows);
  g_clear_pointer (&ward->before, g_ptr_array_unref);
  g_free (ward);
}

void
buddy_wards_init (Node *node)
{
  core_pointers (node, &node->buddy.wards, ward_free);
}

/* (nullable) */
static BuddyWard *
find_ward (Node *node, const NodeId *id, guint *place)
{
  GPtrArray *wards = node->buddy.wards;

  for (*place = 0; *place < wards->len; (*place)++)
    {
      BuddyWard *ward = wards->pdata[*place];
      if (node_id_equal (&ward->id, id))
        return ward;
    }
  return NULL;
}

static BuddyWard *
add_ward (Node *node, const NodeId *id)
{
  BuddyWard *ward = g_new0 (BuddyWard, 1);

  ward->id = *id;
  ward->rows = new_rows ();
  g_ptr_array_add (node->buddy.wards, ward);
  return ward;
}

static void
begin_again (BuddyWard *ward)
{
  if (ward->before == NULL)
    {
      ward->before = g_steal_pointer (&ward->rows);
      ward->bytes_before = ward->bytes;
    }
  else /* a whole scan that was not completed */
    g_ptr_array_unref (ward->rows);
  ward->rows = new_rows ();
  ward->bytes = 0;
}

gsize
buddy_kept_bytes (Node *node)
{
  gsize bytes = mirror_kept_bytes (node);

  for (guint i = 0; i < node->buddy.wards->len; i++)
    {
      const BuddyWard *ward = node->buddy.wards->pdata[i];
      bytes += ward->bytes + ward->bytes_before;
    }
  return bytes;
}

static gboolean
has_row (const GPtrArray *rows, const char *path, const Digest *digest)
{
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      if (row->children == 0 && g_str_equal (row->path, path)
          && digest_equal (&row->digest, digest))
        return TRUE;
    }
  return FALSE;
}

gboolean
buddy_keeps (Node *node, const NodeId *id, const char *path, const Digest *digest)
{
  guint place;
  const BuddyWard *ward = find_ward (node, id, &place);

  return ward != NULL
         && (has_row (ward->rows, path, digest) || has_row (ward->before, path, digest));
}

gboolean
buddy_has_rows_of (Node *node, const NodeId *id)
{
  guint place;

  return find_ward (node, id, &place) != NULL;
}

static void
keep (Node *node, const NodeId *from, const Message *m)
{
  guint place;
  BuddyWard *ward = find_ward (node, from, &place);

  if (ward == NULL)
    ward = add_ward (node, from);
  if (m->count == BUDDY_BEGIN)
    begin_again (ward);
  for (guint i = 0; i < m->rows->len; i++)
    {
      g_ptr_array_add (ward->rows, row_copy (m->rows->pdata[i]));
      ward->bytes += rows_bytes (m->rows->pdata[i]);
    }
  node->stats.kept_bytes = MAX (node->stats.kept_bytes, buddy_kept_bytes (node));
  if (m->count == BUDDY_WHOLE)
    {
      g_clear_pointer (&ward->before, g_ptr_array_unref);
      ward->bytes_before = 0;
    }
}

static void
drop (Node *node, const NodeId *from)
{
  guint place;

  if (find_ward (node, from, &place) != NULL)
    g_ptr_array_remove_index_fast (node->buddy.wards, place);
  mirror_forget (node, from);
}

static void
take_over (Node *node, const Row *row)
{
  node->control->adopt_row (node, row);
  orphans_archive (node, row);
}

static void
offer (Node *node, const GPtrArray *rows)
{
#ifdef SATIN_PLANT_COPIES_NOT_OFFERED
  return;
#endif
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    take_over (node, rows->pdata[i]);
}

/* Rows of a member that leaves. */
static void
inherit (Node *node, const Message *m)
{
  gboolean in_transit = epoch_hears (node, (guint32)m->work_us);

  for (guint i = 0; i < m->rows->len; i++)
    take_over (node, m->rows->pdata[i]);
  if (in_transit)
    node->control->flush (node);
  orphans_flush (node);
}

void
buddy_on_copy (Node *node, const NodeId *from, const Message *m)
{
  if (m->count == BUDDY_HAND && stop_halts (node))
    return; /* the leaver hears that this node leaves, too, or that all halt */
  for (guint i = 0; i < m->ids->len && i < m->numbers->len; i++)
    mirror_trim (node, from, &g_array_index (m->ids, NodeId, i),
                 g_array_index (m->numbers, guint64, i));
  if (m->count == BUDDY_DROP)
    drop (node, from);
  else if (m->count == BUDDY_HAND)
    inherit (node, m);
  else if (!node_id_is_none (&m->id))
    mirror_on_copy (node, from, m);
  else if (m->ids->len == 0)
    keep (node, from, m);
  if (m->number > 0)
    (void)member_send (node, from, &(Message){ .kind = MESSAGE_COPIED, .number = m->number });
}

void
buddy_wards_offer (Node *node, const NodeId *gone)
{
  guint place;
  const BuddyWard *ward = find_ward (node, gone, &place);

  if (ward == NULL)
    return;
  offer (node, ward->before); /* a member that was leaving may have died before its heir had all
                               * rows */
  offer (node, ward->rows);
  g_ptr_array_remove_index_fast (node->buddy.wards, place);
}

static gsize
sum_bytes (const GPtrArray *rows)
{
  gsize bytes = 0;

  for (guint i = 0; rows != NULL && i < rows->len; i++)
    bytes += rows_bytes (rows->pdata[i]);
  return bytes;
}

void
buddy_wards_check (Node *node)
{
  const GPtrArray *wards = node->buddy.wards;

  for (guint i = 0; i < wards->len; i++)
    {
      const BuddyWard *ward = wards->pdata[i];
      g_assert (roster_find (node, &ward->id) != NULL);
      g_assert (ward->bytes == sum_bytes (ward->rows)
                && ward->bytes_before == sum_bytes (ward->before));
    }
}
