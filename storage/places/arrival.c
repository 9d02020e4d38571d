/* SPDX-License-Identifier: BSD-3-Clause */
/* See arrival.h. What is said beside the file, in lines: the tag; how many bytes there will be;
 * from where on they are there already; how many are there from the first on; from where to where
 * some more are. At the end the tag alone, or an empty line and why it failed. A reader looks at it
 * a few hundred times a second while it waits: the other end of a lock tells nobody when it is
 * given back. Must not know what is in files. */

#include "storage/places/arrival.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define TEXT_BYTES 1024
#define NUMBER "%020" G_GUINT64_FORMAT "\n"
#define NUMBER_BYTES 21
#define NOTE_BYTES (128 * 1024) /* less is not worth a word */
#define LOOK_US 2000
#define LOCK_TRIES 500

static gint is_given_up; /* atomic */

struct Bringing
{
  int fd;
  gsize tag_bytes;
  guint64 noted;
};

struct Arrival
{
  int fd;
  char *tag;
  guint64 bytes, arrived;
  ArrivalPart parts[ARRIVAL_PARTS_MAX]; /* the first goes to the end */
  guint n_parts;
};

static int
open_tag (const char *path, int flags)
{
  g_autofree char *name = g_strconcat (path, ".tag", NULL);
  return open (name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static gboolean
write_at (int fd, const char *text, gsize at)
{
  return whole_write_at (fd, text, strlen (text), at);
}

/* Nobody else brings this file, but a reader that looks holds the lock for a moment. */
static gboolean
lock_tag (int fd)
{
  for (guint i = 0; i < LOCK_TRIES; i++)
    {
      if (flock (fd, LOCK_EX | LOCK_NB) == 0)
        return TRUE;
      if (errno != EWOULDBLOCK && errno != EINTR)
        return FALSE;
      g_usleep (LOOK_US);
    }
  return FALSE;
}

Bringing *
bringing_new (const char *path, const char *tag, guint64 bytes, const ArrivalPart *parts,
              guint n_parts)
{
  g_autoptr (GString) text = g_string_new (tag);
  g_assert (strchr (tag, '\n') == NULL && bytes > 0 && parts[0].to == bytes
            && n_parts <= ARRIVAL_PARTS_MAX);
  g_string_append_printf (text, "\n" NUMBER NUMBER NUMBER, bytes, parts[0].from,
                          G_GUINT64_CONSTANT (0));
  for (guint i = 1; i < n_parts; i++)
    g_string_append_printf (text, NUMBER NUMBER, parts[i].from, parts[i].to);

  int fd = open_tag (path, O_RDWR | O_CREAT | O_EXCL);
  /* Before anything stands in it. */
  if (fd < 0 || !lock_tag (fd) || !write_at (fd, text->str, 0))
    {
      if (fd >= 0)
        (void)close (fd);
      return NULL;
    }
  Bringing *bringing = g_new0 (Bringing, 1);
  bringing->fd = fd;
  bringing->tag_bytes = strlen (tag);
  return bringing;
}

void
bringing_note (Bringing *bringing, guint64 arrived)
{
  char text[NUMBER_BYTES + 1];
  if (arrived < bringing->noted + NOTE_BYTES)
    return;
  g_snprintf (text, sizeof text, NUMBER, arrived);
  if (write_at (bringing->fd, text, bringing->tag_bytes + 1 + 2 * NUMBER_BYTES))
    bringing->noted = arrived;
}

void
bringing_end (Bringing *bringing, const char *failure)
{
  g_autofree char *text = failure != NULL ? g_strconcat ("\n", failure, NULL) : NULL;
  int size = (int)(text != NULL ? MIN (strlen (text), TEXT_BYTES - 1) : bringing->tag_bytes);
  /* In this order it is never taken for whole when it is not. */
  if (text != NULL)
    (void)!write_at (bringing->fd, text, 0);
  (void)!ftruncate (bringing->fd, size);
  (void)close (bringing->fd);
  g_free (bringing);
}

/* (transfer full) (nullable) */
static char *
read_text (int fd)
{
  char text[TEXT_BYTES];
  gssize n = whole_read_at (fd, text, sizeof text - 1, 0);
  return n > 0 ? g_strndup (text, (gsize)n) : NULL;
}

/* `line`: the end of the one before. */
static gboolean
take_number (const char **line, guint64 *number)
{
  if (*line == NULL || strlen (*line + 1) < NUMBER_BYTES || (*line)[NUMBER_BYTES] != '\n')
    return FALSE;
  *number = g_ascii_strtoull (*line + 1, NULL, 10);
  *line += NUMBER_BYTES;
  return TRUE;
}

static gboolean
read_numbers (Arrival *arrival, const char *text)
{
  const char *line = strchr (text, '\n');
  ArrivalPart *parts = arrival->parts;
  guint n = 1;
  if (line == text || !take_number (&line, &arrival->bytes) || !take_number (&line, &parts[0].from)
      || !take_number (&line, &arrival->arrived))
    return FALSE;
  parts[0].to = arrival->bytes;
  while (n < ARRIVAL_PARTS_MAX && take_number (&line, &parts[n].from)
         && take_number (&line, &parts[n].to))
    n++;
  arrival->n_parts = n;
  return TRUE;
}

/* TRUE: somebody brings it, so that what is said will change. */
static gboolean
is_going_on (int fd)
{
  if (flock (fd, LOCK_SH | LOCK_NB) != 0)
    return TRUE;
  (void)flock (fd, LOCK_UN);
  return FALSE;
}

Arrival *
arrival_open (const char *path)
{
  g_autoptr (Arrival) arrival = g_new0 (Arrival, 1);
  arrival->fd = open_tag (path, O_RDONLY);
  if (arrival->fd < 0 || !is_going_on (arrival->fd))
    return NULL;
  g_autofree char *text = read_text (arrival->fd);
  if (text == NULL || !read_numbers (arrival, text))
    return NULL;
  arrival->tag = g_strndup (text, (gsize)(strchr (text, '\n') - text));
  return g_steal_pointer (&arrival);
}

void
arrival_free (Arrival *arrival)
{
  if (arrival->fd >= 0)
    (void)close (arrival->fd);
  g_free (arrival->tag);
  g_free (arrival);
}

const char *
arrival_tag (const Arrival *arrival)
{
  return arrival->tag;
}

guint64
arrival_bytes (const Arrival *arrival)
{
  return arrival->bytes;
}

guint64
arrival_reach (const Arrival *arrival, guint64 from)
{
  guint64 reach = MAX (arrival->arrived, from);
  for (guint i = 0; i < arrival->n_parts; i++)
    if (from >= arrival->parts[i].from && from < arrival->parts[i].to)
      reach = MAX (reach, arrival->parts[i].to);
  return reach;
}

gboolean
arrival_wait (Arrival *arrival, guint64 from, guint64 to)
{
  while (to > arrival_reach (arrival, from) && from < arrival->parts[0].from)
    {
      gboolean goes_on = is_going_on (arrival->fd);
      g_autofree char *text = read_text (arrival->fd);
      if (text != NULL && strcmp (text, arrival->tag) == 0)
        arrival->arrived = arrival->bytes;
      else if (text == NULL || !goes_on || !read_numbers (arrival, text)
               || g_atomic_int_get (&is_given_up))
        return FALSE;
      else if (to > arrival->arrived)
        g_usleep (LOOK_US);
    }
  return TRUE;
}

gboolean
arrival_wait_end (const char *path, char **failure)
{
  int fd = open_tag (path, O_RDONLY);
  *failure = NULL;
  if (fd < 0)
    return TRUE;
  while (is_going_on (fd) && !g_atomic_int_get (&is_given_up))
    g_usleep (LOOK_US);
  g_autofree char *text = read_text (fd);
  (void)close (fd);
  if (text != NULL && text[0] == '\n')
    *failure = g_strdup (text + 1);
  return text != NULL && strchr (text, '\n') == NULL;
}

void
arrival_give_up (gboolean is_so)
{
  g_atomic_int_set (&is_given_up, is_so);
}
