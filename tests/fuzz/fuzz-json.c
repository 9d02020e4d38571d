/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON: an accepted text has only the values that json.h describes, and they are the same after
 * writing and reading. */
#include "fuzz.h"

#include "text/json.h"

#include <string.h>

const char fuzz_name[] = "json";

GBytes *
fuzz_seed (guint n)
{
  static const char *const seeds[] = {
    "{\"node\": \"1.1.00000001\", \"workers\": 2, \"busy\": [true, false, null], \"\": {}}",
    "[-1.5e-7, 0, 1e308, 18446744073709551615, 0.1]",
    "\"\\u00e9 \\ud83d\\ude00 \\ud800 \\\"\\\\\\/\\b\\f\\n\\r\\t \xc3\xa9\"",
    "{\"a\": {\"a\": [[[[[[[[]]]]]]]]}, \"b\" : \"x\"}",
  };
  return n < G_N_ELEMENTS (seeds) ? g_bytes_new_static (seeds[n], strlen (seeds[n])) : NULL;
}

static void write_value (GString *to, GVariant *value);

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

/* A GVariantDict does not keep the order of members. */
static void
write_object (GString *to, GVariant *value)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  gsize n = g_variant_n_children (value);

  for (gsize i = 0; i < n; i++)
    {
      char *key;
      g_variant_get_child (value, i, "{sv}", &key, NULL);
      g_ptr_array_add (keys, key);
    }
  g_ptr_array_sort (keys, by_text);
  g_string_append_c (to, '{');
  for (guint i = 0; i < keys->len; i++)
    {
      g_autoptr (GVariant) child = g_variant_lookup_value (value, keys->pdata[i], NULL);
      g_string_append (to, i > 0 ? "," : "");
      json_append_string (to, keys->pdata[i]);
      g_string_append_c (to, ':');
      write_value (to, child);
    }
  g_string_append_c (to, '}');
}

static void
write_array (GString *to, GVariant *value)
{
  gsize n = g_variant_n_children (value);

  g_string_append_c (to, '[');
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) child = NULL;
      g_variant_get_child (value, i, "v", &child);
      g_string_append (to, i > 0 ? "," : "");
      write_value (to, child);
    }
  g_string_append_c (to, ']');
}

static void
write_value (GString *to, GVariant *value)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    write_object (to, value);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE ("av")))
    write_array (to, value);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    json_append_string (to, g_variant_get_string (value, NULL));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_DOUBLE))
    json_append_number (to, g_variant_get_double (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    g_string_append (to, g_variant_get_boolean (value) ? "true" : "false");
  else
    {
      g_assert (g_variant_is_of_type (value, G_VARIANT_TYPE ("mv")));
      g_string_append (to, "null");
    }
}

void
fuzz_one (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup (size > 0 ? (const char *)data : "", size);
  g_autoptr (GVariant) value = json_read (text);
  g_autoptr (GString) once = g_string_new (NULL), twice = g_string_new (NULL);

  if (value == NULL)
    return;
  g_assert (g_utf8_validate (text, -1, NULL));
  write_value (once, value);
  g_autoptr (GVariant) again = json_read (once->str);
  g_assert (again != NULL);
  write_value (twice, again);
  g_assert_cmpstr (once->str, ==, twice->str);
}
