/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for a reader that tell what happens in a world of sessions. */
#pragma once

#include "session-world.h"

/* 'A' for the first member. */
char session_say_name (guint member);
/* Adds one line if the world has a story. */
void session_say (World *world, const char *format, ...) G_GNUC_PRINTF (2, 3);
void session_say_frame (World *world, guint from, guint to, const WorldConnection *connection,
                        GBytes *bytes, const char *note);
