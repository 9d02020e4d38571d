/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of scenarios: commands and the resulting conversation (tests/scenarios/README). */
#pragma once

#include <glib.h>

/* Runs the scenario in `text`; messages contain `name`. Returns (transfer full) the text with the
 * conversation of this run. NULL: `error` names the wrong line, or the rule that the run broke. */
char *scenario_run (const char *name, const char *text, GError **error);

#define SCENARIO_ERROR (scenario_error_quark ())
GQuark scenario_error_quark (void);
