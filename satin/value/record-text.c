/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that describe a type: GVariant's signature, and the schema with the names of members. Pure.
 * Any thread. Tests: test-record. */
#include "config.h"

#include "record.h"

#include "shared.h"

static const struct
{
  const char *signature;
  const char *schema;
} names[] = {
  [SATIN_KIND_INT8] = { "n", "int8" },  [SATIN_KIND_UINT8] = { "y", "y" },
  [SATIN_KIND_INT16] = { "n", "n" },    [SATIN_KIND_UINT16] = { "q", "q" },
  [SATIN_KIND_INT32] = { "i", "i" },    [SATIN_KIND_UINT32] = { "u", "u" },
  [SATIN_KIND_INT64] = { "x", "x" },    [SATIN_KIND_UINT64] = { "t", "t" },
  [SATIN_KIND_DOUBLE] = { "d", "d" },   [SATIN_KIND_BYTES] = { "ay", "ay" },
  [SATIN_KIND_RECORD] = { NULL, NULL }, [SATIN_KIND_SHARED] = { SATIN_SHARED_SIGNATURE, "shared" },
  [SATIN_KIND_LIST] = { NULL, NULL },   [SATIN_KIND_TEXT] = { "s", "s" },
};

static void
append_text (GString *text, const SatinType *type, gboolean schema, int depth)
{
  g_assert (depth < RECORD_DEPTH_MAX);
  if (type->kind == SATIN_KIND_LIST)
    {
      g_string_append (text, schema ? "a*" : "a");
      append_text (text, type->fields[0].type, schema, depth + 1);
      return;
    }
  if (type->kind != SATIN_KIND_RECORD)
    {
      g_string_append (text, schema ? names[type->kind].schema : names[type->kind].signature);
      return;
    }
  g_string_append_c (text, '(');
  for (guint i = 0; i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];

      if (schema)
        g_string_append_printf (text, "%s%s:", i > 0 ? "," : "", field->name);
      if (field->count > 0)
        g_string_append_c (text, 'a');
      if (schema && field->count > 0)
        g_string_append_printf (text, "%" G_GUINT32_FORMAT "*", field->count);
      append_text (text, field->type, schema, depth + 1);
    }
  g_string_append_c (text, ')');
}

char *
record_signature (const SatinType *type)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_text (text, type, FALSE, 0);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
record_schema (const SatinType *type)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_text (text, type, TRUE, 0);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
