/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the encoding share: pieces of header types, and the prelude. Included by
 * message.c (reads) and message-write.c (writes) only. */
#pragma once

#include "message.h"

#include "value/buffer.h"
#include "value/pack.h"

#define T_DIGEST "(tt)"
#define T_ID "(uuu)"
#define T_TERM "(u(uuu))"
#define T_MEMBERS "a((uuu)sssuu)"
#define T_SPEAKS "a(u(tt)t)"
#define T_ROW "(su" T_DIGEST "dt" T_ID "us)"

/* The first attachment begins at a multiple of this, so that what is large need not be copied for
 * the program that reads it. */
#define ATTACHMENT_ALIGN BUFFER_ALIGN
#define PRELUDE_WORDS 4 /* kind, size of the header, attachments, zero; each 32 bits */

/* The GVariant type of this kind's header. */
const char *message_type (MessageKind kind);
gboolean message_takes_attachments (MessageKind kind);
