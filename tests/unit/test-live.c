/* SPDX-License-Identifier: BSD-3-Clause */
/* The live line, for each part that a status may have or lack. */
#include "launch/live.h"
#include "text/fields.h"

static void
test_lines (void)
{
  static const struct
  {
    const char *status, *line;
  } cases[] = {
    { "{\"nodes\": []}", "satin: 3 s, 0 nodes" },
    { "{\"nodes\": [{\"state\": \"up\"}]}", "satin: 3 s, 1 node" },
    /* Nodes that left or died do not count, not even as silent ones. */
    { "{\"nodes\": [{\"state\": \"up\"}, {\"state\": \"left\"}, {\"state\": \"dead\", \"silent\": "
      "true},"
      " {\"state\": \"up\", \"silent\": false}]}",
      "satin: 3 s, 2 nodes" },
    { "{\"nodes\": [{\"state\": \"up\"}, {\"state\": \"up\", \"silent\": true}]}",
      "satin: 3 s, 2 nodes (1 silent)" },
    { "{\"nodes\": [{\"state\": \"up\", \"silent\": true}, {\"state\": \"up\", \"silent\": true},"
      " {\"state\": \"up\"}]}",
      "satin: 3 s, 3 nodes (2 silent)" },
    { "{\"nodes\": [{\"state\": \"up\"}], \"at_risk_s\": 0.26}",
      "satin: 3 s, 1 node, 0.3 s at risk" },
    { "{\"nodes\": [{\"state\": \"up\"}], \"best\": [{\"name\": \"tour\", \"text\": \"2085\"},"
      " {\"name\": \"bound\", \"text\": \"7\"}]}",
      "satin: 3 s, tour 2085, bound 7, 1 node" },
    { "{\"nodes\": [{\"state\": \"up\"}], \"root\": 2}", "satin: root 2, 3 s, 1 node" },
    { "{\"nodes\": [], \"root\": 2, \"done\": 0.256, \"best\": [{\"name\": \"tour\", \"text\": "
      "\"9\"}],"
      " \"at_risk_s\": 12, \"left_s\": 65, \"left_low_s\": 9, \"left_high_s\": 125.4}",
      "satin: root 2, 25.6 % done in 3 s, about 65 s left (9.0 s to 2 min 05 s), tour 9, 0 nodes,"
      " 12.0 s at risk" },
    /* A share beyond its bounds is a rounding error. */
    { "{\"nodes\": [], \"done\": 1.0000001}",
      "satin: 100.0 % done in 3 s, time left not yet known, 0 nodes" },
    { "{\"nodes\": [], \"done\": -0.0000001}",
      "satin: 0.0 % done in 3 s, time left not yet known, 0 nodes" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GVariant) status = fields_read (cases[i].status);
      g_assert_nonnull (status);
      g_autofree char *line = live_line (status, 3.2);

      g_assert_cmpstr (line, ==, cases[i].line);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/live/lines", test_lines);
  return g_test_run ();
}
