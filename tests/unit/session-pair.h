/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of one session; the test carries the frames. */
#pragma once

#include "mesh/session.h"

#define FRAGMENT 16
#define FLIGHT 64
#define ROOM 2000
#define MESSAGE 4096
#define SECOND G_USEC_PER_SEC

typedef struct
{
  Session *session;
  GArray *effects;
  GPtrArray *got; /* Of GBytes: messages. */
  guint wants, byes, refused, sent, acks;
} End;

typedef struct
{
  End end[2]; /* 0 is the elder. */
  guint64 now_us;
} Pair;

extern const NodeId pair_ids[2];

void pair_init (Pair *pair);
void pair_init_with (Pair *pair, const SessionConfig *config);
void pair_forget_effects (End *end);
void pair_clear (Pair *pair);
GBytes *pair_join (const GPtrArray *parts);
/* (transfer full) */
SessionEffect pair_take (End *end);
SessionFrameKind pair_kind_of (const SessionEffect *effect);
/* Carries the effects of end `i` to the other end, but only the first `frames` of its frames. */
void pair_carry (Pair *pair, guint i, guint frames);
void pair_settle (Pair *pair);
/* Lets time pass until the session of `i` is due and has acted. */
void pair_wait_for (Pair *pair, guint i);
/* End `i` dials. */
void pair_link_up (Pair *pair, guint64 number, guint i, gboolean relayed);
void pair_link_down (Pair *pair, guint64 number);
/* (transfer full) One part, with room for a header before these bytes. */
GPtrArray *pair_parts (const void *data, gsize size);
void pair_send_bytes (Pair *pair, guint i, SessionStream stream, const void *data, gsize size);
void pair_send_text (Pair *pair, guint i, SessionStream stream, const char *text);
void pair_assert_got (const End *end, guint n, const char *last);
