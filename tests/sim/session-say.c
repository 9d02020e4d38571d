/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-say.h. */
#include "config.h"

#include "session-say.h"

#include <stdarg.h>

char
session_say_name (guint member)
{
  return (char)('A' + member);
}

void
session_say (World *world, const char *format, ...)
{
  va_list arguments;

  if (world->story == NULL)
    return;
  g_string_append_printf (world->story, "%8.1f  ", (double)world->now_us / 1e3);
  va_start (arguments, format);
  g_string_append_vprintf (world->story, format, arguments);
  va_end (arguments);
  g_string_append_c (world->story, '\n');
}

void
session_say_frame (World *world, guint from, guint to, const WorldConnection *connection,
                   GBytes *bytes, const char *note)
{
  static const char *const streams[] = { "urgent", "bulk" };
  SessionFrame frame;
  g_autoptr (GString) text = g_string_new (NULL);

  if (world->story == NULL || session_frame_decode (bytes, &frame) != NULL)
    return;
  if (frame.kind == SESSION_FRAME_DATA)
    g_string_append_printf (
        text, "DATA %s %" G_GUINT64_FORMAT " (%" G_GSIZE_FORMAT " of %" G_GUINT64_FORMAT " bytes)",
        streams[frame.stream], frame.number, frame.payload, frame.total);
  else
    g_string_append (text, frame.kind == SESSION_FRAME_HELLO ? "HELLO"
                           : frame.kind == SESSION_FRAME_ACK ? "ACK"
                                                             : "BYE");
  for (guint i = 0; i < SESSION_STREAMS; i++)
    if (frame.received[i] > 0)
      g_string_append_printf (text, "  has %s %" G_GUINT64_FORMAT, streams[i], frame.received[i]);
  session_say (world, "%c -> %c  c%" G_GUINT64_FORMAT "  %s%s", session_say_name (from),
               session_say_name (to), connection->number, text->str, note);
}
