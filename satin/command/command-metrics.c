/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin metrics`: a run's figures for monitoring. Main thread, and the threads of gather.h.
 * Tests: metrics.sh, test-metrics */
#include "arguments.h"
#include "ask.h"
#include "command.h"
#include "metrics.h"

#include "folder/control.h"

int
command_metrics (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "metrics", "RUN", "Prints the figures of RUN as OpenMetrics text.", ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_autoptr (Gather) gather = NULL;
  g_autofree char *text = NULL;
  g_auto (AskRun) ask = { 0 };

  if (!arguments_read_run (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  if (!ask_find (said.words[0], &ask))
    return COMMAND_ERROR;
  gather = gather_run (&ask);
  if (gather == NULL)
    return COMMAND_ERROR;
  gather_ask (gather, CONTROL_FIGURES);
  text = metrics_text (gather, said.prometheus ? METRICS_PROMETHEUS : METRICS_OPEN);
  g_print ("%s", text);
  return COMMAND_DONE;
}
