/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-1 of one block, which is all that the trees of the Unbalanced Tree Search need. Pure. */
#pragma once

#include <stdint.h>

/* The digest of a message of at most 55 bytes: `block` is the padded message as 16 big-endian
 * words, `digest` gets 5 words. They may overlap. */
void sha1_block (const uint32_t block[16], uint32_t digest[5]);
