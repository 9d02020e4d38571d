/* SPDX-License-Identifier: BSD-3-Clause */
/* See orders.h. A request is a word. `suspend`, `save` and `leave` may have a number of seconds
 * after it. */
#include "orders.h"

#include "folder/control.h"
#include "folder/folder.h"
#include "folder/relay.h"

#include "host/whole.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest time in a request: a day. */
#define PATIENCE_MAX_S 86400.0

/* TRUE: `request` is `word` alone (then *patience_us is 0), or `word` and seconds, as `suspend 2.5`
 * (then it is at least 1). */
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
  if (request[length] != ' ' || !g_ascii_isdigit (request[length + 1]))
    return FALSE;
  double seconds = g_ascii_strtod (request + length, &end);
  if (*end != '\0' || !(seconds >= 0 && seconds <= PATIENCE_MAX_S))
    return FALSE;
  *patience_us = (guint64)(seconds * G_USEC_PER_SEC) + 1;
  return TRUE;
}

static char *
saved (Driver *driver)
{
  return g_strdup_printf ("{\"rounds\":%" G_GUINT64_FORMAT
                          ",\"failed\":%s,\"generation\":%" G_GUINT64_FORMAT ",\"missing\":\"%s\"}",
                          driver->saved.rounds, driver->saved.failed ? "true" : "false",
                          driver->generation,
                          driver->saved.missing == NULL ? "" : driver->saved.missing);
}

/* Reads `leave 1.2` or `leave 1.2 SECONDS` into *event. NULL, or an error as JSON. (transfer
 * full) */
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

/* Reads `checkpoint PLACE`, where PLACE is C-escaped, into *event. NULL, or an error as JSON.
 * (transfer full) */
static char *
read_checkpoint (const Driver *driver, const char *request, NodeEvent *event)
{
  const char *text = request + strlen (CONTROL_CHECKPOINT);
  g_autofree char *place = g_strcompress (text);
  event->kind = NODE_EVENT_CHECKPOINT;
  event->text = text;
  if (driver->config.checkpoint != NULL && strcmp (driver->config.checkpoint, place) != 0)
    return g_strdup ("{\"error\":\"the run has a checkpoint already\"}");
  if (plan_knobs (driver->config.protect).drops_orphans)
    return g_strdup_printf ("{\"error\":\"the run was started with --protect %s\"}",
                            plan_name (driver->config.protect));
  return strlen (text) <= MESSAGE_TEXT_MAX ? NULL
                                           : g_strdup ("{\"error\":\"its name is too long\"}");
}

/* The line "file NAME SIZE", SIZE being that of the whole file, and at most CONTROL_PIECE of its
 * bytes from `offset`. (transfer full) NULL: there is no such file. */
static GBytes *
piece_of (const char *folder, const char *name, guint64 offset)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat (fd, &info) != 0)
    {
      if (fd >= 0)
        close (fd);
      return NULL;
    }
  g_autofree char *header = relay_header (name, (gsize)info.st_size);
  gsize head = strlen (header),
        size = (guint64)info.st_size > offset
                   ? (gsize)MIN ((guint64)info.st_size - offset, CONTROL_PIECE)
                   : 0;
  char *all = g_malloc (head + size);
  memcpy (all, header, head);
  gssize n = whole_read_at (fd, all + head, size, offset);
  close (fd);
  return g_bytes_new_take (all, head + (gsize)MAX (n, 0));
}

/* The reply to "NAME" or "NAME OFFSET"; NULL: NAME is no file of the end, or the run has not ended.
 * (transfer full) */
static GBytes *
file_of (Driver *driver, const char *words)
{
  g_auto (GStrv) word = g_strsplit (words, " ", 3);
  guint64 offset = 0;
  if (!driver_has_ended (driver) || word[0] == NULL
      || !g_strv_contains (control_files_of_end, word[0])
      || (word[1] != NULL
          && !g_ascii_string_to_unsigned (word[1], 10, 0, G_MAXINT64, &offset, NULL))
      || (word[1] != NULL && word[2] != NULL))
    return NULL;
  if (driver->asked_us != 0)
    driver->asked_us = g_get_monotonic_time (); /* the process stays during the transfer */
  return piece_of (driver->config.folder, word[0], offset);
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
  else if (g_str_has_prefix (request, "leave ") || g_str_has_prefix (request, CONTROL_CHECKPOINT))
    {
      char *wrong = *request == 'l' ? read_leave (driver, request, event)
                                    : read_checkpoint (driver, request, event);
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
  if (strcmp (request, CONTROL_FIGURES) == 0)
    return report_figures (driver);
  if (strcmp (request, CONTROL_TOP) == 0)
    return report_top (driver);
  if (strcmp (request, CONTROL_LOOK) == 0)
    {
      engine_look_ask (driver->engine);
      return g_strdup ("{\"ok\":true}");
    }
  if (strcmp (request, CONTROL_JOBS) == 0)
    return report_jobs (driver);
  return g_strdup ("{\"error\":\"unknown request\"}");
}
