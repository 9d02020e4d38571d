/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes and prints steps. */
#include "config.h"

#include "trace.h"

#include "rng.h"
#include "say.h"

#include <stdio.h>
#include <string.h>

static const char *const event_names[] = {
  "JOIN",         "LINK_UP",  "LINK_DOWN", "DIAL_FAILED", "MESSAGE", "TIMER",    "IDLE",
  "LENT",         "DONE",     "UNRUN",     "ADOPT",       "WANT",    "ABORTED",  "COVERED",
  "UNMATCHED",    "ROWS",     "FINISHED",  "SHARED",      "SERVED",  "WORK",     "HALTED",
  "CRASH_REPORT", "IMPROVED", "CONSTANT",  "ROOT",        "FINISH",  "RESTORED", "OPENED",
  "PUBLISHED",    "BID",      "SUSPEND",   "CANCEL",      "LEAVE",   "SAVE",     "CHECKPOINT"
};
G_STATIC_ASSERT (G_N_ELEMENTS (event_names) == NODE_EVENT_CHECKPOINT + 1);

static const char *const effect_names[] = { "SEND",     "DIAL",
                                            "CLOSE",    "TIMER",
                                            "LEND",     "REQUEST",
                                            "RUN",      "UNRUN",
                                            "PUT",      "BACK",
                                            "KNOWN",    "FORGET",
                                            "SCAN",     "HALT",
                                            "DIFFERS",  "BEST",
                                            "TELL",     "JOINED",
                                            "MASTER",   "DEPOSED",
                                            "CONSTANT", "START",
                                            "RESULT",   "LEAVE",
                                            "REFUSED",  "STAYED",
                                            "END",      "COORDINATOR",
                                            "RETIRE",   "BID",
                                            "ANSWER",   "SAVE",
                                            "SALVAGE",  "MEMBER",
                                            "EVENT",    "FINAL",
                                            "PUBLISH",  "PUBLISH_IF_WORTH",
                                            "SAVED",    "CHECKPOINT",
                                            "WARN",     "LOG" };
G_STATIC_ASSERT (G_N_ELEMENTS (effect_names) == NODE_EFFECT_LOG + 1);

/* One step of a multiplicative hash; sim.c spreads the bits of the whole. */
static inline guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static guint64
mix_data (guint64 hash, const void *data, gsize size)
{
  const guint8 *bytes = data;
  guint64 word;

  for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word)
    {
      memcpy (&word, bytes, sizeof word);
      hash = mix (hash, word);
    }
  word = size;
  if (size > 0)
    memcpy (&word, bytes, size);
  return mix (hash, word);
}

static inline guint64
mix_text (guint64 hash, const char *text)
{
  return text == NULL ? mix (hash, 1) : mix_data (hash, text, strlen (text));
}

static guint64
mix_bytes (guint64 hash, GBytes *bytes)
{
  gsize size;
  const void *data;

  if (bytes == NULL)
    return mix (hash, 2);
  data = g_bytes_get_data (bytes, &size);
  return mix_data (hash, data, size);
}

static inline guint64
mix_id (guint64 hash, const NodeId *id)
{
  return mix (mix (hash, ((guint64)id->term << 32) | id->number), id->random);
}

static guint64
mix_rows (guint64 hash, const GPtrArray *rows)
{
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      hash = mix_id (mix_text (mix (hash, row->work_us + row->children * 3U), row->path),
                     &row->node);
    }
  return hash;
}

guint64
trace_hash_event (const NodeEvent *event)
{
  guint64 hash = mix (event->kind, event->link);

  hash = mix (hash, event->dial + event->held * 3 + event->loan * 5 + event->number * 7);
  hash = mix (hash, event->work_us + event->count * 3U + (event->failure == NODE_DIAL_DEAD) * 5U
                        + event->final * 7U);
  hash = mix_id (hash, &event->node);
  hash = mix_text (mix_text (hash, event->text), event->path);
  hash = mix_bytes (hash, event->bytes);
  return mix_rows (hash, event->rows);
}

guint64
trace_hash_effect (const NodeEffect *effect)
{
  guint64 hash = mix (effect->kind, effect->link);

  hash = mix (hash, effect->dial + effect->held * 3 + effect->loan * 5 + effect->number * 7);
  hash
      = mix (hash, effect->at_us + effect->count * 3U + effect->finished * 5U + effect->whole * 7U);
  hash = mix_id (hash, &effect->node);
  hash = mix_text (mix_text (mix_text (hash, effect->text), effect->text2), effect->path);
  hash = mix_bytes (hash, effect->bytes);
  if (effect->parts != NULL) /* however it is cut */
    {
      g_autoptr (GBytes) all = say_join (effect->parts);
      hash = mix_bytes (hash, all);
    }
  return mix_rows (hash, effect->rows);
}

static void
print_id (const NodeId *id)
{
  char text[NODE_ID_TEXT_MAX];

  if (!node_id_is_none (id))
    printf (" node %s", node_id_show (id, text));
}

static void
print_number (const char *name, guint64 number)
{
  if (number != 0)
    printf (" %s %" G_GUINT64_FORMAT, name, number);
}

static void
print_message (GBytes *bytes)
{
  g_autofree char *text = g_bytes_get_size (bytes) > 0 ? say_frame (bytes) : g_strdup ("");

  printf (" %s", text);
}

static void
print_rows (const GPtrArray *rows)
{
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    printf (" '%s'", ((const Row *)rows->pdata[i])->path);
}

void
trace_print_event (guint64 now_us, guint process, const NodeEvent *event)
{
  printf ("# %11.6f p%u < %s", (double)now_us / 1e6, process, event_names[event->kind]);
  print_number ("link", event->link);
  print_number ("dial", event->dial);
  print_number ("held", event->held);
  print_number ("loan", event->loan);
  print_number ("number", event->number);
  print_number ("count", event->count);
  print_id (&event->node);
  if (event->failure == NODE_DIAL_DEAD || event->final)
    printf (" %s", event->failure == NODE_DIAL_DEAD ? "dead" : "final");
  if (event->text != NULL || event->path != NULL)
    printf (" '%s'", event->text != NULL ? event->text : event->path);
  if (event->kind == NODE_EVENT_MESSAGE)
    print_message (event->bytes);
  if (event->bytes != NULL)
    printf (" (%" G_GSIZE_FORMAT " bytes)", g_bytes_get_size (event->bytes));
  for (guint i = 0; event->loans != NULL && i < event->loans->len; i++)
    printf (" '%s'", ((const Loan *)event->loans->pdata[i])->path);
  print_rows (event->rows);
  printf ("\n");
}

void
trace_print_effect (guint64 now_us, guint process, const NodeEffect *effect)
{
  printf ("# %11.6f p%u     > %s", (double)now_us / 1e6, process, effect_names[effect->kind]);
  print_number ("link", effect->link);
  print_number ("dial", effect->dial);
  print_number ("held", effect->held);
  print_number ("loan", effect->loan);
  print_number ("number", effect->number);
  print_number ("count", effect->count);
  print_number ("at", effect->at_us);
  print_id (&effect->node);
  if (effect->finished || effect->whole)
    printf (" %s", effect->finished ? "finished" : "whole");
  if (effect->text != NULL)
    printf (" '%s'", effect->text);
  if (effect->path != NULL)
    printf (" '%s'", effect->path);
  if (effect->job != NULL)
    printf (" job '%s'", effect->job->path);
  if (effect->parts != NULL)
    {
      g_autoptr (GBytes) message = say_join (effect->parts);
      print_message (message);
    }
  print_rows (effect->rows);
  printf ("\n");
}
