/* SPDX-License-Identifier: BSD-3-Clause */
/* See process.h. */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *
read_line (const char *path)
{
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? g_strchomp (text) : g_strdup ("");
}

static const char *
boot_id (void)
{
  static char *id;

  if (g_once_init_enter (&id))
    g_once_init_leave (&id, read_line ("/proc/sys/kernel/random/boot_id"));
  return id;
}

static guint32
digest_of (const char *text)
{
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);

  sum[PROCESS_HOST_LENGTH] = '\0';
  return (guint32)strtoul (sum, NULL, 16);
}

const char *
process_host (void)
{
  static char *digits;

  if (g_once_init_enter (&digits))
    {
      g_autofree char *machine = read_line ("/etc/machine-id");
      g_autofree char *processes = g_file_read_link ("/proc/self/ns/pid", NULL);
      /* Two machines without an id may share a name, but not a boot id. */
      g_autofree char *text
          = g_strjoin ("\n", g_get_host_name (), machine[0] != '\0' ? machine : boot_id (),
                       processes != NULL ? processes : "", NULL);
      g_once_init_leave (&digits, g_strdup_printf ("%08x", digest_of (text)));
    }
  return digits;
}

/* FALSE: /proc belongs to another PID namespace, so its numbers mean other processes. */
static gboolean
proc_is_ours (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self", NULL);

  return self != NULL && g_ascii_strtoll (self, NULL, 10) == getpid ();
}

/* FALSE: there is no such process, or it is a zombie. `birth` (out): 0 if it cannot be known. */
static gboolean
look (gint64 pid, guint32 *birth)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/stat", pid), *text = NULL;
  const char *end;
  char state;
  int threads;
  guint64 start;

  *birth = 0;
  if (pid <= 0 || pid > G_MAXINT32 || (kill ((pid_t)pid, 0) != 0 && errno == ESRCH))
    return FALSE;
  if (!proc_is_ours () || !g_file_get_contents (path, &text, NULL, NULL)
      || (end = strrchr (text, ')')) == NULL
      || sscanf (end + 1,
                 " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                 " %d %*s %" G_GUINT64_FORMAT,
                 &state, &threads, &start)
             != 3)
    return TRUE;
  g_autofree char *born = g_strdup_printf ("%s\n%" G_GUINT64_FORMAT, boot_id (), start);
  *birth = MAX (digest_of (born), 1);
  /* A zombie may stay if nobody reaps it. But the state of a process is that of its first thread,
   * which is also a zombie if it ended before others or another thread is executing a program. */
  return (state != 'Z' && state != 'X') || threads > 1;
}

char *
process_mark (gint64 pid)
{
  guint32 birth;

  (void)look (pid, &birth);
  return g_strdup_printf ("%s-%" G_GINT64_FORMAT "-%u", process_host (), pid, birth);
}

/* Accepts only digits, as process_mark writes them. */
static gboolean
read_number (const char **at, gint64 most, gint64 *number)
{
  char *end;

  if (!g_ascii_isdigit (**at))
    return FALSE;
  *number = g_ascii_strtoll (*at, &end, 10);
  *at = end;
  return *number <= most;
}

gsize
process_read_mark (const char *text, ProcessMark *mark)
{
  const char *at = text + PROCESS_HOST_LENGTH;
  gint64 birth;

  if (strspn (text, G_CSET_DIGITS "abcdef") != PROCESS_HOST_LENGTH || *at++ != '-'
      || !read_number (&at, G_MAXINT32, &mark->pid) || *at++ != '-'
      || !read_number (&at, G_MAXUINT32, &birth))
    return 0;
  g_strlcpy (mark->host, text, sizeof mark->host);
  mark->birth = (guint32)birth;
  return mark->pid > 0 ? (gsize)(at - text) : 0;
}

ProcessState
process_state (const ProcessMark *mark)
{
  guint32 birth;

  if (strcmp (mark->host, process_host ()) != 0)
    return PROCESS_ELSEWHERE;
  if (!look (mark->pid, &birth))
    return PROCESS_DEAD;
  return birth == 0 || mark->birth == 0 || birth == mark->birth ? PROCESS_ALIVE : PROCESS_DEAD;
}

gboolean
process_is_alive (gint64 pid)
{
  guint32 birth;

  return look (pid, &birth);
}
