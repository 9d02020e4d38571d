/* SPDX-License-Identifier: BSD-3-Clause */
/* For the test of launch/launch.c: plays the nodes, the clock and the rest of the room. A scenario
 * is a row of words, one for each tick of the launcher. Only one source of a program may include
 * it. */
#pragma once

#include "called.h"

#include "launch/command-words.h"
#include "launch/launch-folder.h"
#include "launch/launch-private.h"
#include "launch/launch-words.h"
#include "launch/start.h"

#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#define TICK_US (50 * 1000)

typedef struct
{
  int number;
  GSourceFunc function;
  gpointer data;
} Handler;

static Launch *launch;
static gint64 now_us;
static char **words; /* of the scenario ... */
static guint at;     /* ... and the number of the next */
static GSourceFunc tick;
static Handler handlers[3];
static guint n_handlers;
static gboolean fails, is_bringing, more_came, is_mute, is_told, has_lost_answer, main_is_at_101,
    has_no_checkpoint;

/* ---- the nodes and the rest of the room, played here ---- */

static void
put (const char *file, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  g_assert_true (folder_write (launch->path, file, bytes, NULL));
}

static void
all_gone (void)
{
  for (guint i = 0; i < launch->nodes->len; i++)
    g_array_index (launch->nodes, Started, i).gone = TRUE;
  launch->n_live = 0;
}

static void
happen (const char *word)
{
  char *end;
  double seconds = g_ascii_strtod (word, &end);

  if (end != word && *end == 's')
    now_us += (gint64)(seconds * G_USEC_PER_SEC);
  else if (strcmp (word, "joined") == 0)
    launch->joined = TRUE;
  else if (strcmp (word, "gone") == 0)
    all_gone ();
  else if (strcmp (word, "founder-gone") == 0)
    {
      g_array_index (launch->nodes, Started, 0).gone = TRUE;
      launch->n_live--;
    }
  else if (strcmp (word, "crashed") == 0)
    launch->n_crashed++;
  else if (strcmp (word, "refused") == 0)
    launch->refused = TRUE;
  else if (strcmp (word, "far") == 0)
    g_array_index (launch->nodes, Started, 0).far = (Far *)&launch;
  else if (strcmp (word, "more") == 0)
    more_came = is_bringing = TRUE;
  else if (strcmp (word, "cut-off") == 0)
    is_bringing = FALSE;
  else if (strcmp (word, "shown") == 0)
    g_assert_true (folder_claim (launch->path, FOLDER_FILE_SHOWN));
  else if (g_str_has_prefix (word, "end="))
    put (FOLDER_FILE_END, word + 4);
  else if (strchr (word, '=') != NULL)
    {
      g_auto (GStrv) parts = g_strsplit (word, "=", 2);
      put (parts[0], parts[1]);
    }
  for (guint i = 0; i < n_handlers; i++)
    if ((strcmp (word, "interrupt") == 0 && handlers[i].number == SIGINT)
        || (strcmp (word, "terminate") == 0 && handlers[i].number == SIGTERM)
        || (strcmp (word, "warn") == 0 && handlers[i].number == SIGUSR1))
      g_assert_true (handlers[i].function (handlers[i].data));
}

static gboolean
on_our_tick (gpointer data)
{
  now_us += TICK_US;
  if (words[at] != NULL)
    happen (words[at]);
  else if (at++ > g_strv_length (words) + 12)
    {
      note ("it goes on");
      g_main_loop_quit (launch->loop);
      return G_SOURCE_CONTINUE;
    }
  at += words[MIN (at, g_strv_length (words))] != NULL;
  return tick (data);
}

/* The linker wraps what GLib's own libraries call, too, so these are seen from outside. */
#define SEEN __attribute__ ((visibility ("default")))
SEEN gint64 __wrap_g_get_monotonic_time (void);
SEEN guint __wrap_g_timeout_add (guint ms, GSourceFunc function, gpointer data);
guint __real_g_timeout_add (guint ms, GSourceFunc function, gpointer data);
SEEN guint __wrap_g_unix_signal_add (gint number, GSourceFunc function, gpointer data);
gboolean __wrap_folder_leave (const char *path, GError **error);
gboolean __wrap_folder_remove (const char *path, GError **error);
gboolean __real_folder_remove (const char *path, GError **error);
int __wrap_isatty (int fd);

gint64
__wrap_g_get_monotonic_time (void)
{
  return now_us;
}

guint
__wrap_g_timeout_add (guint ms, GSourceFunc function, gpointer data)
{
  if (tick != NULL)
    return __real_g_timeout_add (1, function, data);
  g_assert_cmpuint (ms * 1000, ==, TICK_US);
  tick = function;
  return __real_g_timeout_add (1, on_our_tick, data);
}

guint
__wrap_g_unix_signal_add (gint number, GSourceFunc function, gpointer data)
{
  handlers[n_handlers++] = (Handler){ number, function, data };
  return g_timeout_add_seconds (1000, function, data);
}

gboolean
__wrap_folder_leave (const char *path, GError **error)
{
  note ("leave the folder");
  return __real_folder_remove (path, error);
}

gboolean
__wrap_folder_remove (const char *path, GError **error)
{
  note ("remove the folder");
  return __real_folder_remove (path, error);
}

int
__wrap_isatty (int fd)
{
  (void)fd;
  return 0;
}

void
command_say (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *line = g_strdup_vprintf (format, list);
  va_end (list);
  line[strcspn (line, "'")] = '\0'; /* a path follows */
  note ("say %s", line);
}

char *
launch_folder_make (FolderRun *run, const LaunchWish *wish)
{
  (void)wish;
  g_assert_cmpuint (n_handlers, ==, 3); /* no signal is lost */
  return folder_create (run, NULL);
}

/* The file "given" stands for a checkpoint that the run got while it went on. */
void
launch_folder_refresh (FolderRun *run, const char *path)
{
  g_autofree char *file = g_build_filename (path, "given", NULL);

  if (run->checkpoint == NULL)
    (void)g_file_get_contents (file, &run->checkpoint, NULL, NULL);
}

void
launch_folder_wait (const char *path)
{
  (void)path;
  note ("wait for the others");
}

gboolean
launch_nodes_begin (Launch *its)
{
  launch = its;
  g_assert_true (its->run->invited);
  for (int i = 0; i < 2; i++)
    {
      Started node = { .pid = 101 + i };
      g_array_append_val (its->nodes, node);
      its->n_live++;
    }
  return !fails;
}

void
launch_nodes_watch (Launch *its)
{
  g_assert_true (its == launch);
}

gboolean
launch_nodes_have_joined (Launch *its)
{
  return its->joined;
}

void
launch_nodes_spread (Launch *its)
{
  g_assert_true (its->joined);
}

void
launch_nodes_renew (Launch *its)
{
  g_assert_true (its == launch);
}

void
launch_nodes_quit_if_none (Launch *its)
{
  if (its->n_live == 0)
    g_main_loop_quit (its->loop);
}

GArray *
spread_nodes (void)
{
  return g_array_new (FALSE, TRUE, sizeof (Started));
}

GArray *
spread_places (const FolderRun *run, const GPtrArray *sites, int workers)
{
  (void)run, (void)sites, (void)workers;
  return g_array_new (FALSE, FALSE, sizeof (Spot));
}

GBytes *
spread_program (const FolderRun *run)
{
  (void)run;
  return NULL;
}

GArray *
spread_pids (const GArray *nodes)
{
  (void)nodes;
  return g_array_new (FALSE, FALSE, sizeof (gint64));
}

gboolean
spread_brings (const GArray *nodes, gboolean *live, gboolean *unkept)
{
  gboolean came = more_came;

  (void)nodes, (void)unkept;
  *live = is_bringing;
  more_came = FALSE;
  return came;
}

/* Notes it once: a node is told until it is gone. */
static void
note_once (const char *line)
{
  if (strstr (called->str, line) == NULL)
    note ("%s", line);
}

gboolean
far_quit (Far *far)
{
  (void)far;
  note_once ("quit the far node");
  return TRUE;
}

void
far_expect (Far *far, gboolean others)
{
  (void)far, (void)others;
}

void
start_kill (pid_t pid)
{
  g_autofree char *line = g_strdup_printf ("kill %d", (int)pid);

  note_once (line);
}

void
replace_free (Replace *replace)
{
  g_assert_null (replace);
}

Live *
live_new (const char *path, gboolean terminal)
{
  (void)path, (void)terminal;
  g_assert_not_reached ();
}

void
live_free (Live *live)
{
  (void)live;
}

void
live_ask (const char *path, const char *request, GAsyncReadyCallback ready, gpointer data)
{
  (void)path;
  note ("ask to %s", request);
  ready (NULL, NULL, data);
}

char *
live_reply (GAsyncResult *result, GError **error)
{
  gboolean was_mute = is_mute;

  (void)result, (void)error;
  is_mute = FALSE;
  return was_mute ? NULL : g_strdup ("yes");
}

Trouble *
trouble_new (const char *path)
{
  (void)path;
  return (Trouble *)&launch;
}

void
trouble_free (Trouble *trouble)
{
  (void)trouble;
}

void
trouble_show (Trouble *trouble)
{
  (void)trouble;
}

gboolean
trouble_has_said (const Trouble *trouble, const char *sentence)
{
  (void)trouble;
  return is_told && (sentence == NULL || strcmp (sentence, "told") == 0);
}

int
launch_words_never_joined (const FolderRun *run, const char *path, gint64 pid, int status)
{
  (void)run, (void)path, (void)status;
  note ("%d never joined", (int)pid);
  return 9;
}

gboolean
launch_words_are_late (int code)
{
  return code == COMMAND_SUSPENDED || code == COMMAND_CANCELLED;
}

gboolean
launch_words_main_is_at (const char *path, gint64 pid)
{
  (void)path;
  return main_is_at_101 && pid == 101;
}

gboolean
launch_words_of_main (const char *path)
{
  (void)path;
  note ("the words of main");
  return TRUE;
}

int
launch_words_answer (const char *path, int code)
{
  (void)path;
  note ("answer");
  return has_lost_answer ? COMMAND_ERROR : code;
}

void
launch_words_end (const char *path, int code, const char *sentence, gboolean its_told)
{
  (void)path;
  note ("end %d %s%s", code, sentence != NULL ? sentence : "-", its_told ? ", told" : "");
}

int
launch_words_not_begun (const FolderRun *run, const char *path)
{
  (void)run, (void)path;
  note ("not begun");
  return COMMAND_SUSPENDED;
}

void
launch_words_next (const FolderRun *run, int code)
{
  note ("next, after %d%s", code, run->checkpoint == NULL ? ", without a checkpoint" : "");
}

void
launch_words_replay (const FolderRun *run)
{
  (void)run;
  note ("replay");
}

void
launch_words_figures (const char *path, const FiguresSeen *seen, const char *stats, gboolean show)
{
  (void)path, (void)stats;
  note ("figures, %u crashes%s", seen->crashes, show ? ", shown" : "");
}
