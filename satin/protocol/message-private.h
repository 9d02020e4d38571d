/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the encoding share: pieces of header types, and the prelude. Included by
 * message.c (reads) and message-write.c (writes) only. */
#pragma once

#include "message.h"

#include "value/pack.h"

#define T_DIGEST "(tt)"
#define T_ID "(uuu)"
#define T_TERM "(u(uuu))"
#define T_MEMBERS "a((uuu)sssuu)"
#define T_SPEAKS "a(u(tt)t)"
#define T_ROW "(su" T_DIGEST "dt" T_ID "us)"

#define PRELUDE_WORDS 4 /* kind, size of the header, attachments, zero; each 32 bits */

#define MESSAGE_TYPICAL_BYTES 256 /* room for most headers */

/* The GVariant type of this kind's header. */
const char *message_type (MessageKind kind);
