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

/* Sentences about a status; what a node sends is printed without control characters. */
static void
statuses_are_told (void)
{
  g_autoptr (GVariant) none = fields_read ("{\"best\":[],\"root\":0,\"huge\":1e19}");
  g_autoptr (GVariant) some
      = fields_read ("{\"best\":[{\"name\":\"a\",\"text\":\"1\\u001b[m\"},{\"name\":\"b\","
                     "\"text\":\"2\"}],\"root\":3,\"left_s\":65,\"left_low_s\":9,"
                     "\"left_high_s\":99}");
  g_autofree char *best = fields_best (some), *root = fields_root (some);
  g_autofree char *left = fields_left (some), *unknown = fields_left (none);

  g_assert_cmpstr (best, ==, "a 1?[m, b 2");
  g_assert_cmpstr (root, ==, "root 3");
  g_assert_cmpstr (left, ==, "about 65 s left (9.0 s to 99 s)");
  g_assert_cmpstr (unknown, ==, "time left not yet known");
  g_assert_null (fields_best (none));
  g_assert_null (fields_root (none));
  g_assert_cmpuint (fields_count (none, "huge"), ==, 0); /* more than a number of things */
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
  g_test_add_func ("/fields/statuses", statuses_are_told);
  g_test_add_func ("/fields/no-object", what_is_no_object_is_refused);
  return g_test_run ();
}
