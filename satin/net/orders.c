/* SPDX-License-Identifier: BSD-3-Clause */
/* See orders.h. A request is a word, and for some a number of seconds after it. */
#include "orders.h"

#include "control.h"
#include "folder.h"
#include "relay.h"

#include <string.h>

/* Longer than anybody waits. */
#define PATIENCE_MAX_S 86400.0

/* `suspend` alone, or `suspend 2.5`: then *patience_us is at least 1. */
static gboolean
reads (const char *request, const char *word, guint64 *patience_us)
{
  gsize length = strlen (word);
  char *end;
  *patience_us = 0;
  if (strncmp (request, word, length) != 0)
    return FALSE;
  if (request[length] == '\0')
    return TRUE;
  double seconds = g_ascii_strtod (request + length, &end);
  if (request[length] != ' ' || *end != '\0' || !(seconds >= 0 && seconds <= PATIENCE_MAX_S))
    return FALSE;
  *patience_us = (guint64)(seconds * G_USEC_PER_SEC) + 1;
  return TRUE;
}

static char *
saved (Driver *driver)
{
  return g_strdup_printf (
      "{\"rounds\":%" G_GUINT64_FORMAT ",\"failed\":%s,\"generation\":%" G_GUINT64_FORMAT "}",
      driver->saved_rounds, driver->save_failed ? "true" : "false", driver->generation);
}

/* `leave 1.2`, or with seconds behind it: the member of that name. NULL, or (transfer full) what is
 * wrong. */
static char *
read_leave (Driver *driver, const char *request, NodeEvent *event)
{
  g_autoptr (GArray) members = node_members (driver->node);
  g_auto (GStrv) words = g_strsplit (request, " ", 3);
  char id[NODE_ID_TEXT_MAX];
  event->kind = NODE_EVENT_LEAVE;
  if (words[1] == NULL
      || (words[2] != NULL
          && !reads (request + strlen ("leave ") + strlen (words[1]), "", &event->number)))
    return g_strdup ("{\"error\":\"unknown request\"}");
  for (guint i = 0; i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      if (strcmp (node_id_show (&member->id, id), words[1]) != 0)
        continue;
      event->node = member->id;
      return NULL;
    }
  return g_strdup ("{\"error\":\"no such node\"}");
}

/* A file of the end, "file NAME SIZE" and its bytes. NULL: there is none yet. */
static GBytes *
file_of (Driver *driver, const char *name)
{
  gsize size;
  g_autoptr (GBytes) bytes = driver->ended && g_strv_contains (control_files_of_end, name)
                                 ? folder_bytes (driver->config.folder, name, NULL)
                                 : NULL;
  if (bytes == NULL)
    return NULL;
  g_autofree char *header = relay_header (name, g_bytes_get_size (bytes));
  GByteArray *all = g_byte_array_new ();
  g_byte_array_append (all, (const guint8 *)header, (guint)strlen (header));
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_byte_array_append (all, data, (guint)size);
  return g_byte_array_free_to_bytes (all);
}

GBytes *
orders_file (Driver *driver, const char *request)
{
  GBytes *file = g_str_has_prefix (request, CONTROL_FILE)
                     ? file_of (driver, request + strlen (CONTROL_FILE))
                     : NULL;
  if (strcmp (request, CONTROL_TAKEN) == 0)
    driver->end_is_taken = TRUE;
  return file;
}

char *
orders_answer (Driver *driver, const char *request, NodeEvent *event, gboolean *has_event)
{
  guint64 patience_us = 0;
  *has_event = TRUE;
  *event = (NodeEvent){ 0 };
  if (reads (request, "suspend", &patience_us))
    event->kind = NODE_EVENT_SUSPEND;
  else if (strcmp (request, "cancel") == 0)
    event->kind = NODE_EVENT_CANCEL;
  else if (g_str_has_prefix (request, "leave "))
    {
      char *wrong = read_leave (driver, request, event);
      *has_event = wrong == NULL;
      return wrong != NULL ? wrong : g_strdup ("{\"ok\":true}");
    }
  else if (reads (request, "save", &patience_us) && driver->config.checkpoint == NULL)
    {
      *has_event = FALSE;
      return g_strdup ("{\"error\":\"the run has no checkpoint\"}");
    }
  else if (reads (request, "save", &patience_us))
    event->kind = NODE_EVENT_SAVE;
  else
    *has_event = FALSE;
  event->number = patience_us;
  if (*has_event && event->kind != NODE_EVENT_SAVE)
    return g_strdup ("{\"ok\":true}");
  if (*has_event || strcmp (request, "saved") == 0)
    return saved (driver);
  if (strcmp (request, CONTROL_TAKEN) == 0)
    return g_strdup ("{\"ok\":true}");
  if (strcmp (request, "status") == 0)
    return report_status (driver);
  return g_strdup ("{\"error\":\"unknown request\"}");
}
