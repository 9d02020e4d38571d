/* SPDX-License-Identifier: BSD-3-Clause */
/* Which build of a program this process runs. Results of one build are not taken for those of
 * another: a checkpoint and a greeting carry this text. Any thread. */
#pragma once

#include <glib.h>

/* A version that the program states itself (SATIN_APP_VERSION), as "version N". Else 32 hexadecimal
 * digits: a digest of the GNU build-id of the executable and of those of the loaded shared objects,
 * without those of the system: below /lib, /lib32, /lib64, /libx32, or /usr without /usr/local,
 * unless they are below the executable's folder, and without what LD_PRELOAD names. A file without
 * a build-id counts by its content.
 * (transfer full) (nullable): there is a file that has no build-id and cannot be read. */
char *build_of_program (void);
