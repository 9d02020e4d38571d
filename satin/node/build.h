/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies the build of the program that this process runs. Checkpoints and greetings carry this
 * text, since the results of one build do not count for another. Any thread. */
#pragma once

#include <glib.h>

/* "version N" if the program states SATIN_APP_VERSION. Else 32 hexadecimal digits: a digest of the
 * GNU build-ids of the executable and of the loaded shared objects. Shared objects of the system do
 * not count: those below /lib, /lib32, /lib64, /libx32, or /usr without /usr/local, unless they are
 * below the executable's folder. Nor do those that LD_PRELOAD names. A file without a build-id
 * counts by its content.
 * (transfer full) (nullable): some file has no build-id and cannot be read. */
char *build_of_program (void);
