/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in a world of sessions, as lines for a reader. */
#pragma once

#include "session-world.h"

/* 'A' for the first member. */
char session_say_name (guint member);
/* One line, if the world has a story. */
void session_say (World *world, const char *format, ...) G_GNUC_PRINTF (2, 3);
void session_say_frame (World *world, guint from, guint to, const WorldConnection *connection,
                        GBytes *bytes, const char *note);
