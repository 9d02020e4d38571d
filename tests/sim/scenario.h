/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of scenarios: commands and the conversation that they lead to (tests/scenarios/README). */
#pragma once

#include <glib.h>

/* Runs the scenario in `text`; `name` stands in messages. (transfer full): the text with the
 * conversation of this run. NULL: `error` says which line is wrong, or which rule the run broke. */
char *scenario_run (const char *name, const char *text, GError **error);

#define SCENARIO_ERROR (scenario_error_quark ())
GQuark scenario_error_quark (void);
