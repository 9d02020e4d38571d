/* SPDX-License-Identifier: BSD-3-Clause */
/* See fields.h. */
#include "fields.h"

#include "json.h"
#include "shown.h"

#include <math.h>
#include <string.h>

const char *
fields_text (GVariant *object, const char *name)
{
  const char *text = "";

  g_variant_lookup (object, name, "&s", &text);
  return text;
}

double
fields_number (GVariant *object, const char *name)
{
  double number;

  return g_variant_lookup (object, name, "d", &number) ? number : NAN;
}

guint64
fields_count (GVariant *object, const char *name)
{
  double number = fields_number (object, name);

  return number >= 0 && number < 0x1p63 ? (guint64)number : 0;
}

gboolean
fields_flag (GVariant *object, const char *name)
{
  gboolean flag = FALSE;

  g_variant_lookup (object, name, "b", &flag);
  return flag;
}

GPtrArray *
fields_objects (GVariant *object, const char *name)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify)g_variant_unref);
  g_autoptr (GVariant) list = g_variant_lookup_value (object, name, G_VARIANT_TYPE ("av"));

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) one = g_variant_get_variant (boxed);

      if (g_variant_is_of_type (one, G_VARIANT_TYPE_VARDICT))
        g_ptr_array_add (all, g_steal_pointer (&one));
    }
  return all;
}

char *
fields_left (GVariant *status)
{
  return shown_left (fields_number (status, "left_s"), fields_number (status, "left_low_s"),
                     fields_number (status, "left_high_s"));
}

char *
fields_root (GVariant *status)
{
  guint64 root = fields_count (status, "root");

  return root > 0 ? g_strdup_printf ("root %" G_GUINT64_FORMAT, root) : NULL;
}

char *
fields_best (GVariant *status)
{
  g_autoptr (GPtrArray) all = fields_objects (status, "best");
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < all->len; i++)
    g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", fields_text (all->pdata[i], "name"),
                            fields_text (all->pdata[i], "text"));
  return all->len > 0 ? shown_cut (text->str, G_MAXUINT) : NULL;
}

gboolean
fields_has (GVariant *object, const char *name, const char *text)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (object, name, G_VARIANT_TYPE ("av"));

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) one = g_variant_get_variant (boxed);

      if (g_variant_is_of_type (one, G_VARIANT_TYPE_STRING)
          && strcmp (g_variant_get_string (one, NULL), text) == 0)
        return TRUE;
    }
  return FALSE;
}

GVariant *
fields_read (const char *text)
{
  g_autoptr (GVariant) value = text != NULL ? json_read (text) : NULL;

  return value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT)
             ? g_steal_pointer (&value)
             : NULL;
}
