/* SPDX-License-Identifier: BSD-3-Clause */
/* The mark of a checkpoint: proof that this user started the program that the file names, with
 * these arguments, in this folder. `satin resume FILE` starts nothing that bears no such proof.
 *
 * The user's key, 32 random bytes, stands in `satin/key` in the user's configuration folder, with
 * mode 0600. It never leaves this host: the launcher makes a token of it for one command line, the
 * nodes get the token and make the mark of that and the program's identity. Blocks on the disk; any
 * thread. */
#pragma once

#include "coordinator/identity.h"

/* HMAC-SHA256 of the command line under the user's key, in hexadecimal digits. Makes the key at its
 * first use. `argv`: without Satin's own options, NULL-terminated. (transfer full) (nullable):
 * there is no key, and none can be made. */
char *mark_token (const char *program, const char *folder, char *const *argv);
/* HMAC-SHA256 of the identity under a token. `token` (nullable): then NULL. (transfer full) */
char *mark_make (const char *token, const Digest *identity);
/* Does what stands in a checkpoint bear this user's mark? Makes no key. FALSE: *reason (transfer
 * full) says why in a few words. */
gboolean mark_is_right (const Identity *found, char **reason);
