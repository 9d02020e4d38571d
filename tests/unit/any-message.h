/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of every kind with random contents that keep all rules, made from the schema. */
#pragma once

#include "satin/protocol/messages/message-fields.h"

typedef struct
{
  Message message;
  GRand *rand;
  GPtrArray *texts; /* The data that the message borrows. */
} AnyMessage;

/* `rand` is borrowed. */
void any_message_init (AnyMessage *any, MessageKind kind, GRand *rand);
void any_message_clear (AnyMessage *any);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AnyMessage, any_message_clear)
/* Joins the parts of an encoded message (transfer full) and unrefs them. */
GBytes *any_message_join (GPtrArray *parts);
