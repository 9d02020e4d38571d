/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-pair.h. */
#include "config.h"

#include "session-pair.h"

#include <string.h>

const NodeId pair_ids[2] = { { 1, 1, 11 }, { 1, 2, 22 } };

void
pair_init (Pair *pair)
{
  static const SessionConfig config
      = { .fragment = FRAGMENT, .flight_max = FLIGHT, .room_max = ROOM, .message_max = MESSAGE };

  pair_init_with (pair, &config);
}

void
pair_init_with (Pair *pair, const SessionConfig *config)
{
  pair->now_us = SECOND;
  for (guint i = 0; i < 2; i++)
    {
      End *end = &pair->end[i];
      *end = (End){ .effects = g_array_new (FALSE, FALSE, sizeof (SessionEffect)) };
      end->got = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
      end->session = session_new (config, &pair_ids[i], &pair_ids[!i], end->effects);
    }
}

void
pair_forget_effects (End *end)
{
  for (guint i = 0; i < end->effects->len; i++)
    session_effect_clear (&g_array_index (end->effects, SessionEffect, i));
  g_array_set_size (end->effects, 0);
}

void
pair_clear (Pair *pair)
{
  for (guint i = 0; i < 2; i++)
    {
      pair_forget_effects (&pair->end[i]);
      session_free (pair->end[i].session);
      g_array_unref (pair->end[i].effects);
      g_ptr_array_unref (pair->end[i].got);
    }
}

GBytes *
pair_join (const GPtrArray *parts)
{
  GByteArray *all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  return g_byte_array_free_to_bytes (all);
}

SessionEffect
pair_take (End *end)
{
  SessionEffect effect = g_array_index (end->effects, SessionEffect, 0);

  g_array_remove_index (end->effects, 0);
  return effect;
}

SessionFrameKind
pair_kind_of (const SessionEffect *effect)
{
  g_autoptr (GBytes) bytes = pair_join (effect->parts);
  SessionFrame frame;

  g_assert_null (session_frame_decode (bytes, &frame));
  return frame.kind;
}

void
pair_carry (Pair *pair, guint i, guint frames)
{
  End *end = &pair->end[i], *other = &pair->end[!i];

  while (end->effects->len > 0)
    {
      SessionEffect effect = pair_take (end);
      if (effect.kind == SESSION_EFFECT_SEND)
        {
          g_autoptr (GBytes) bytes = pair_join (effect.parts);
          SessionFrameKind kind = pair_kind_of (&effect);
          end->sent++;
          end->byes += kind == SESSION_FRAME_BYE;
          end->acks += kind == SESSION_FRAME_ACK;
          if (frames > 0)
            session_hear (other->session, pair->now_us, effect.connection, bytes);
          frames -= frames > 0;
        }
      else if (effect.kind == SESSION_EFFECT_DELIVER)
        g_ptr_array_add (end->got,
                         g_bytes_new_from_bytes (effect.message, effect.start,
                                                 g_bytes_get_size (effect.message) - effect.start));
      else if (effect.kind == SESSION_EFFECT_WANT)
        end->wants++;
      else if (effect.why != NULL)
        end->refused++;
      if (effect.kind == SESSION_EFFECT_CLOSE)
        session_connection_down (other->session, pair->now_us, effect.connection);
      session_effect_clear (&effect);
    }
}

void
pair_settle (Pair *pair)
{
  while (pair->end[0].effects->len > 0 || pair->end[1].effects->len > 0)
    {
      pair_carry (pair, 0, G_MAXUINT);
      pair_carry (pair, 1, G_MAXUINT);
    }
}

void
pair_wait_for (Pair *pair, guint i)
{
  g_assert_cmpuint (session_due (pair->end[i].session), <, G_MAXUINT64);
  pair->now_us = MAX (pair->now_us, session_due (pair->end[i].session));
  session_tick (pair->end[i].session, pair->now_us);
}

void
pair_link_up (Pair *pair, guint64 number, guint i, gboolean relayed)
{
  session_connection_up (pair->end[i].session, pair->now_us, number, TRUE, relayed);
  session_connection_up (pair->end[!i].session, pair->now_us, number, FALSE, relayed);
}

void
pair_link_down (Pair *pair, guint64 number)
{
  for (guint i = 0; i < 2; i++)
    {
      pair_forget_effects (&pair->end[i]);
      session_connection_down (pair->end[i].session, pair->now_us, number);
    }
}

GPtrArray *
pair_parts (const void *data, gsize size)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  guint8 *all = g_malloc0 (SESSION_FRAME_DATA_HEAD + size);

  if (size > 0)
    memcpy (all + SESSION_FRAME_DATA_HEAD, data, size);
  g_ptr_array_add (parts, g_bytes_new_take (all, SESSION_FRAME_DATA_HEAD + size));
  return parts;
}

void
pair_send_bytes (Pair *pair, guint i, SessionStream stream, const void *data, gsize size)
{
  g_autoptr (GPtrArray) parts = pair_parts (data, size);

  g_assert_true (session_send (pair->end[i].session, pair->now_us, stream, parts));
}

void
pair_send_text (Pair *pair, guint i, SessionStream stream, const char *text)
{
  pair_send_bytes (pair, i, stream, text, strlen (text));
}

void
pair_assert_got (const End *end, guint n, const char *last)
{
  g_assert_cmpuint (end->got->len, ==, n);
  GBytes *bytes = end->got->pdata[n - 1];
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), last, strlen (last));
}
