/* SPDX-License-Identifier: BSD-3-Clause */
/* What people are told beside errors: a line on standard error. In a program with a main of its own
 * the library prints nothing: there it goes to GLib's log, domain "Satin", level info, which nobody
 * sees who has not asked for it (G_MESSAGES_DEBUG, g_log_set_handler). Any thread. */
#pragma once

#include <glib.h>

#define SAY_DOMAIN "Satin"

/* `format`: one sentence, without an end of line. */
void say_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* From now on: to the log, or to standard error as at the start. */
void say_to_log (gboolean to_log);
