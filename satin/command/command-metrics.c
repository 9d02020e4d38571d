/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin metrics`: a run's figures for monitoring. One thread and those of gather.h.
 * Tests: metrics.sh, test-metrics */
#include "ask.h"
#include "command.h"
#include "metrics.h"

#include "folder/control.h"

int
command_metrics (int argc, char **argv)
{
  gboolean plain = FALSE;
  const GOptionEntry entries[]
      = { { "prometheus", 0, 0, G_OPTION_ARG_NONE, &plain,
            "Prometheus' own text format, as its node exporter and promtool read it", NULL },
          { NULL, 0, 0, 0, NULL, NULL, NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("RUN");
  g_autoptr (GError) error = NULL;
  g_autoptr (Gather) gather = NULL;
  g_autofree char *name = NULL, *reply = NULL, *text = NULL;
  g_auto (AskRun) ask = { 0 };

  g_option_context_set_summary (context, "Prints the figures of RUN as OpenMetrics text.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!command_parse_one (context, "metrics", argc, argv, &name))
    return COMMAND_USAGE;
  if (name == NULL)
    return command_usage ("metrics ", "missing run");
  if (!ask_find (name, &ask))
    return COMMAND_ERROR;
  reply = ask_node (&ask, "status", "cannot ask"); /* it may just begin */
  if (reply == NULL)
    return COMMAND_ERROR;
  gather = gather_new (ask.path, &error);
  if (gather == NULL)
    return command_say ("cannot ask '%s': %s", name, error->message), COMMAND_ERROR;
  gather_ask (gather, CONTROL_FIGURES);
  text = metrics_text (gather, plain ? METRICS_PROMETHEUS : METRICS_OPEN);
  g_print ("%s", text);
  return COMMAND_DONE;
}
