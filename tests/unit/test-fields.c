/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of objects from nodes: a missing member, or one of another type, reads as nothing. */
#include "text/fields.h"

#include <math.h>

static void
members_are_read (void)
{
  g_autoptr (GVariant) object
      = fields_read ("{\"text\":\"é\",\"number\":2.5,\"whole\":7,\"yes\":true,\"none\":null,"
                     "\"list\":[{\"a\":1},3,{\"a\":2}],\"roles\":[\"master\"],\"minus\":-1}");
  g_autoptr (GPtrArray) list = NULL;

  g_assert_nonnull (object);
  g_assert_cmpstr (fields_text (object, "text"), ==, "é");
  g_assert_cmpstr (fields_text (object, "number"), ==, "");
  g_assert_cmpstr (fields_text (object, "none"), ==, "");
  g_assert_cmpstr (fields_text (object, "absent"), ==, "");
  g_assert_cmpfloat (fields_number (object, "number"), ==, 2.5);
  g_assert_true (isnan (fields_number (object, "text")));
  g_assert_true (isnan (fields_number (object, "none")));
  g_assert_cmpuint (fields_count (object, "whole"), ==, 7);
  g_assert_cmpuint (fields_count (object, "minus"), ==, 0);
  g_assert_cmpuint (fields_count (object, "absent"), ==, 0);
  g_assert_true (fields_flag (object, "yes"));
  g_assert_false (fields_flag (object, "text"));
  g_assert_true (fields_has (object, "roles", "master"));
  g_assert_false (fields_has (object, "roles", "coordinator"));
  g_assert_false (fields_has (object, "list", "master"));
  list = fields_objects (object, "list");
  g_assert_cmpuint (list->len, ==, 2);
  g_assert_cmpfloat (fields_number (list->pdata[1], "a"), ==, 2);
}

static void
what_is_no_object_is_refused (void)
{
  static const char *const others[] = { "", "3", "[{}]", "{", "null", "\"x\"" };

  g_assert_null (fields_read (NULL));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_null (fields_read (others[i]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fields/members", members_are_read);
  g_test_add_func ("/fields/no-object", what_is_no_object_is_refused);
  return g_test_run ();
}
