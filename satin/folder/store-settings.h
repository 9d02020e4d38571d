/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the environment for stores, sent to nodes on other hosts: trusted certificates,
 * region, endpoint and profile. Secrets are not among them: each host has its own. */
#pragma once

#include <glib.h>

/* A line "NAME=VALUE" for each setting that is set here. (transfer full) */
char *store_settings_write (void);
/* Puts the settings in `text` into this process's environment, except those that are set here
 * already and files that do not exist here. Ignores other lines. Call this before other threads
 * exist. */
void store_settings_take (const char *text);
