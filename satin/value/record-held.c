/* SPDX-License-Identifier: BSD-3-Clause */
/* The references that records hold: counting, releasing and listing them. Pure. Any thread.
 * Tests: test-record, test-shared. */
#include "config.h"

#include "list.h"
#include "record.h"
#include "shared.h"

#include <string.h>

/* TRUE: a value of this kind is or contains a reference. */
static gboolean
is_held (const SatinType *type)
{
  return type->kind == SATIN_KIND_BYTES || type->kind == SATIN_KIND_SHARED
         || type->kind == SATIN_KIND_LIST || type->kind == SATIN_KIND_TEXT;
}

gboolean
record_holds (const SatinType *type)
{
  if (is_held (type))
    return TRUE;
  for (guint i = 0; type->kind == SATIN_KIND_RECORD && i < type->n_fields; i++)
    if (record_holds (type->fields[i].type))
      return TRUE;
  return FALSE;
}

typedef void (*Each) (const SatinType *type, void *at, gpointer data);

/* Calls `each` for each reference in the value at `at`. */
static void
each_held (const SatinType *type, guint8 *at, Each each, gpointer data)
{
  if (is_held (type))
    each (type, at, data);
  for (guint i = 0; type->kind == SATIN_KIND_RECORD && i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];
      gsize count = MAX (field->count, 1);

      if (!record_holds (field->type))
        continue;
      for (gsize k = 0; k < count; k++)
        each_held (field->type, at + field->offset + k * field->type->size, each, data);
    }
}

static void
ref_held (const SatinType *type, void *at, gpointer data)
{
  (void)data;
  if (type->kind == SATIN_KIND_SHARED)
    (void)shared_ref (*(SatinShared *)at);
  else if (type->kind != SATIN_KIND_BYTES)
    list_hold (type, at);
  else if (*(GBytes **)at != NULL)
    g_bytes_ref (*(GBytes **)at);
}

static void
clear_held (const SatinType *type, void *at, gpointer data)
{
  (void)data;
  if (type->kind == SATIN_KIND_SHARED)
    g_clear_pointer ((SatinShared *)at, shared_unref);
  else if (type->kind != SATIN_KIND_BYTES)
    list_clear (type, at);
  else
    g_clear_pointer ((GBytes **)at, g_bytes_unref);
}

void
record_copy (const SatinType *type, void *to, const void *from)
{
  memcpy (to, from, type->size);
  record_ref (type, to);
}

void
record_ref (const SatinType *type, void *data)
{
  each_held (type, data, ref_held, NULL);
}

void
record_clear (const SatinType *type, void *data)
{
  each_held (type, data, clear_held, NULL);
}

static void
list_shared (const SatinType *type, void *at, gpointer data)
{
  GPtrArray **list = data;
  SatinShared shared;

  if (type->kind == SATIN_KIND_LIST && record_holds (type->fields[0].type))
    {
      const SatinType *item = type->fields[0].type;
      SatinList_ items = list_at (at);
      for (guint64 i = 0; i < items.n; i++)
        each_held (item, (guint8 *)items.at + i * item->size, list_shared, data);
    }
  if (type->kind != SATIN_KIND_SHARED || (shared = *(SatinShared *)at) == NULL)
    return;
  if (*list == NULL)
    *list = shared_list_new ();
  g_ptr_array_add (*list, shared_ref (shared));
}

GPtrArray *
record_list_shared (const SatinType *type, const void *data)
{
  GPtrArray *list = NULL;

  each_held (type, (void *)data, list_shared, &list);
  return list;
}

static void
list_in_value (GVariant *value, GArray **list)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE (SATIN_SHARED_SIGNATURE)))
    {
      const guint8 *data = g_variant_get_data (value);
      RecordShared item;

      if (g_variant_get_size (value) != RECORD_SHARED_BYTES)
        return;
      memcpy (item.digest.bytes, data, sizeof item.digest.bytes);
      memcpy (&item.length, data + sizeof item.digest.bytes, sizeof item.length);
      item.length = GUINT64_FROM_LE (item.length);
      if (*list == NULL)
        *list = g_array_new (FALSE, FALSE, sizeof (RecordShared));
      if (!digest_is_zero (&item.digest))
        g_array_append_val (*list, item);
      return;
    }
  if (!g_variant_is_container (value) || strchr (g_variant_get_type_string (value), 'h') == NULL)
    return;
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);
      list_in_value (child, list);
    }
}

GArray *
record_find_shared (const char *signature, GBytes *bytes)
{
  GArray *list = NULL;

  if (signature == NULL || strchr (signature, 'h') == NULL
      || !g_variant_type_string_is_valid (signature))
    return NULL;
  g_autoptr (GVariant) value
      = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (signature), bytes, FALSE));
  list_in_value (value, &list);
  return list;
}
