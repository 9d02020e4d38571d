/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-1 of one block: all that a tree of the Unbalanced Tree Search needs. A pure function. */
#pragma once

#include <stdint.h>

/* The digest of a message of at most 55 bytes: `block` is the padded message as 16 big-endian
 * words, `digest` gets 5 words. They may overlap. */
void sha1_block (const uint32_t block[16], uint32_t digest[5]);
