/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to people that are no errors: a line on standard error. In a program with a main of its
 * own the library prints nothing. There messages go to GLib's log, domain "Satin", level info,
 * which is shown only on request (G_MESSAGES_DEBUG, g_log_set_handler). Any thread. */
#pragma once

#include <glib.h>

#define SAY_DOMAIN "Satin"

/* `format`: one sentence without a newline. */
void say_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* TRUE: messages go to the log from now on. FALSE, the default: to standard error. */
void say_to_log (gboolean to_log);
