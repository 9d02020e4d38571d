/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user's key proves of a checkpoint. The mark: this user started the program that the file
 * names, with these arguments, in this folder. `satin resume FILE` starts no program that only an
 * unmarked file names. The proofs of rows: nodes of this user's run wrote them
 * (coordinator/proof.h).
 *
 * The user's key, 32 random bytes, stands in `satin/key` in the user's configuration folder, with
 * mode 0600. It never leaves this host: the launcher makes two tokens from it for one command line.
 * The nodes get the tokens and make from one the mark and from the other the seal of rows, each
 * with the program's identity, the seal also with the run's id. With its token a malicious node can
 * forge rows for these arguments, but no mark of another program. Blocks on the disk; any
 * thread. */
#pragma once

#include "coordinator/identity.h"

/* HMAC-SHA256 of the command line under the user's key, in hexadecimal digits. Makes the key at its
 * first use. `argv`: without Satin's own options, NULL-terminated. (transfer full) (nullable):
 * there is no key, and none can be made. */
char *mark_token (const char *program, const char *folder, char *const *argv);
/* The token for proofs of rows: HMAC-SHA256 of the arguments alone, since a program at another path
 * may continue a checkpoint. Otherwise as mark_token. */
char *mark_rows_token (char *const *argv);
/* TRUE: there is a key; makes it at its first use. */
gboolean mark_has_key (void);
/* HMAC-SHA256 of format and identity under a token. `token` (nullable): then NULL. (transfer full)
 */
char *mark_make (const char *token, const Digest *identity);
/* Does a checkpoint with this identity bear this user's mark? Makes no key. FALSE: *reason
 * (transfer full) says why in a few words. */
gboolean mark_is_right (const Identity *found, char **reason);
/* From now on this process checks who wrote the rows of checkpoints, and proves the rows that it
 * writes. To be called before a thread opens a checkpoint. `trusts`: --trust was given. A process
 * of a run has the tokens (nullable, copied) of that run and reads the user's key for files of
 * format 1 alone; a command makes the token for each file from the key. */
void mark_prove_run (const char *token, const char *rows_token, gboolean trusts);
void mark_prove_files (gboolean trusts);
