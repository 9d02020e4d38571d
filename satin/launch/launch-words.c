/* SPDX-License-Identifier: BSD-3-Clause */
/* See launch-words.h. Tests: test-launch-words, launcher.sh. */
#include "launch-words.h"

#include "command-words.h"

#include "host/outlet.h"

#include "storage/places/place.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN "satin: "
/* Bytes that are read from the end of a log, and lines of these that are shown. */
#define LOG_TAIL_MAX 8192
#define LINES_MAX 10
/* Lines that are shown of a node that ended while others go on. */
#define WORDS_MAX 3

static char *
describe_end (int status)
{
  if (WIFSIGNALED (status))
    return g_strdup_printf ("died (signal %d)", WTERMSIG (status));
  if (WEXITSTATUS (status) == COMMAND_DONE || WEXITSTATUS (status) == COMMAND_SUSPENDED)
    return g_strdup ("left");
  return g_strdup_printf ("ended (exit code %d)", WEXITSTATUS (status));
}

/* TRUE: a line of a backtrace, which stays in the log. */
static gboolean
is_frame (const char *line)
{
  return g_str_has_suffix (line, "]") && strstr (line, "[0x") != NULL;
}

/* The last lines of a log as UTF-8, oldest first, without empty lines and backtraces. (transfer
 * full) */
static GPtrArray *
read_tail (const char *path, const char *file)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GBytes) bytes = folder_bytes (path, file, NULL);
  gsize size = 0;
  const char *data = bytes == NULL ? NULL : g_bytes_get_data (bytes, &size);
  gsize skip = size > LOG_TAIL_MAX ? size - LOG_TAIL_MAX : 0;
  g_autofree char *text = size == 0 ? NULL : g_utf8_make_valid (data + skip, (gssize)(size - skip));
  g_auto (GStrv) all = g_strsplit (text == NULL ? "" : text, "\n", -1);

  for (int i = 0; all[i] != NULL; i++)
    if (*g_strchomp (all[i]) != '\0' && !is_frame (all[i]))
      g_ptr_array_add (lines, g_strdup (all[i]));
  if (lines->len > LINES_MAX)
    g_ptr_array_remove_range (lines, 0, lines->len - LINES_MAX);
  return lines;
}

/* TRUE: an entry of the node's log, "[1.234] ...", which explains no end. */
static gboolean
is_note (const char *line)
{
  return line[0] == '[' && g_ascii_isdigit (line[1]);
}

static const char *
last_line (const GPtrArray *lines)
{
  return lines->len == 0 ? NULL : lines->pdata[lines->len - 1];
}

/* The members that live, also those that `satin add` started. */
static guint
count_members (const char *path, gint64 except)
{
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_ADDRESS);
  guint n = 0;

  for (guint i = 0; i < pids->len; i++)
    {
      gint64 pid = g_array_index (pids, gint64, i);
      n += pid != except && folder_pid_is_live (path, pid);
    }
  return n;
}

/* Drops log entries, and all but the last WORDS_MAX other lines. */
static void
keep_words (GPtrArray *lines)
{
  for (guint i = lines->len; i > 0; i--)
    if (is_note (lines->pdata[i - 1]))
      g_ptr_array_remove_index (lines, i - 1);
  if (lines->len > WORDS_MAX)
    g_ptr_array_remove_range (lines, 0, lines->len - WORDS_MAX);
}

static const char *
without_own (const char *line)
{
  return g_str_has_prefix (line, OWN) ? line + strlen (OWN) : line;
}

gboolean
launch_words_main_is_at (const char *path, gint64 pid)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_ERR);

  return folder_size (path, file) >= 0;
}

void
launch_words_gone (const char *path, gint64 pid, int status, guint n_live)
{
  g_autofree char *how = describe_end (status);
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_LOG);
  g_autofree char *of_main = folder_node_file (pid, FOLDER_NODE_ERR);
  g_autoptr (GPtrArray) lines = read_tail (path, file);
  g_autoptr (GPtrArray) more = read_tail (path, of_main);
  g_autoptr (GString) text = g_string_new (how);

  g_ptr_array_extend_and_steal (lines, g_steal_pointer (&more));
  keep_words (lines);
  /* A node that was killed, or left, wrote no reason before its end. */
  if ((WIFSIGNALED (status) && (WTERMSIG (status) == SIGKILL || WTERMSIG (status) == SIGTERM))
      || (WIFEXITED (status) && WEXITSTATUS (status) == COMMAND_DONE))
    g_ptr_array_set_size (lines, 0);
  if (lines->len == 1)
    g_string_append_printf (text, ": %s", without_own (lines->pdata[0]));
  n_live = MAX (n_live, count_members (path, pid));
  if (n_live > 0)
    g_string_append_printf (text, "; %u go%s on", n_live, n_live == 1 ? "es" : "");
  command_say ("node %" G_GINT64_FORMAT " %s%s", pid, text->str,
               lines->len > 1 ? "; its last messages:" : "");
  for (guint i = 0; lines->len > 1 && i < lines->len; i++)
    command_say ("  %s", without_own (lines->pdata[i]));
}

void
launch_words_left_out (const char *path, gint64 pid, int status, const char *name)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_LOG);
  g_autoptr (GPtrArray) lines = read_tail (path, file);
  g_autofree char *how = describe_end (status);
  const char *last = last_line (lines);

  if (last != NULL)
    last = without_own (last);
  if (last == NULL || is_note (last))
    last = WIFEXITED (status) && WEXITSTATUS (status) == COMMAND_DONE
               ? "it ended before it was a node"
               : NULL;
  /* Many nodes of one host fail alike: one message is enough. */
  static GHashTable *said;
  g_autofree char *sentence
      = g_strdup_printf ("%s is left out: %s", name, last != NULL ? last : how);

  if (said == NULL)
    said = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (g_hash_table_add (said, g_strdup (sentence)))
    command_say ("%s", sentence);
}

int
launch_words_never_joined (const FolderRun *run, const char *path, gint64 pid, int status)
{
  g_autofree char *file = folder_node_file (pid, FOLDER_NODE_LOG);
  g_autoptr (GPtrArray) lines = read_tail (path, file);
  g_autofree char *how = NULL;
  const char *last = last_line (lines);

  if (last != NULL && g_str_has_prefix (last, OWN) && WIFEXITED (status)
      && WEXITSTATUS (status) != 0)
    {
      command_say ("%s", last + strlen (OWN));
      return WEXITSTATUS (status);
    }
  how = describe_end (status);
  command_say ("'%s' is not a Satin program, or broke before it could join the run: it %s%s%s",
               run->program, how,
               last == NULL ? "" : "; its last message: ", last == NULL ? "" : last);
  return COMMAND_ERROR;
}

/* Prints the end of the newest log. FALSE: it has log entries only. */
static gboolean
show_last_log (const char *path)
{
  g_autoptr (GArray) pids = folder_pids (path, FOLDER_NODE_LOG);
  g_autoptr (GPtrArray) lines = NULL;
  struct timespec newest = { 0 };
  gboolean shown = FALSE;

  for (guint i = 0; i < pids->len; i++)
    {
      g_autofree char *file = folder_node_file (g_array_index (pids, gint64, i), FOLDER_NODE_LOG);
      g_autofree char *name = g_build_filename (path, file, NULL);
      struct stat info;

      if (stat (name, &info) != 0 || info.st_size == 0)
        continue;
      if (info.st_mtim.tv_sec < newest.tv_sec
          || (info.st_mtim.tv_sec == newest.tv_sec && info.st_mtim.tv_nsec < newest.tv_nsec))
        continue;
      newest = info.st_mtim;
      g_clear_pointer (&lines, g_ptr_array_unref);
      lines = read_tail (path, file);
    }
  for (guint i = 0; lines != NULL && i < lines->len; i++)
    if (!is_note (lines->pdata[i]))
      {
        g_printerr ("%s\n", (const char *)lines->pdata[i]);
        shown = TRUE;
      }
  return shown;
}

gboolean
launch_words_are_late (int code)
{
  return code == COMMAND_SUSPENDED || code == COMMAND_CANCELLED;
}

gboolean
launch_words_of_main (const char *path)
{
  g_autoptr (GBytes) words = folder_bytes (path, FOLDER_FILE_ANSWER_ERR, NULL);
  gsize size = 0;
  const char *data = words == NULL ? NULL : g_bytes_get_data (words, &size);

  if (size > 0)
    fwrite (data, 1, size, stderr);
  return size > 0;
}

int
launch_words_answer (const char *path, int code)
{
  g_auto (FolderRun) run = { 0 };

  /* The answer may still be with a node of another host, after its launcher has gone. */
  if (folder_lacks_answer (path, code) && folder_read (path, &run, NULL))
    {
      g_autofree char *quoted = run.checkpoint != NULL ? command_quote (run.checkpoint) : NULL;
      command_say ("the run is done, but its answer has not come here: `satin %s %s` %s",
                   quoted != NULL ? "resume" : "wait", quoted != NULL ? quoted : run.name,
                   quoted != NULL ? "shows it" : "within a minute asks the other hosts again");
      folder_disclaim (path, FOLDER_FILE_SHOWN);
      return COMMAND_ERROR;
    }
  if (folder_show (path, FOLDER_FILE_ANSWER, STDOUT_FILENO))
    return code;
  command_say ("cannot write the answer to standard output: %s", g_strerror (errno));
  return COMMAND_ERROR;
}

void
launch_words_end (const char *path, int code, const char *sentence, gboolean is_told)
{
  if (!launch_words_are_late (code) && !launch_words_of_main (path) && sentence == NULL && !is_told
      && code != COMMAND_DONE && folder_size (path, FOLDER_FILE_ANSWER) <= 0
      && !show_last_log (path))
    command_say ("the program ended with exit code %d and said nothing", code);
  if (sentence != NULL)
    command_say ("%s", without_own (sentence));
}

void
launch_words_next (const FolderRun *run, int code)
{
  g_autofree char *quoted = NULL;

  /* Before the first publication there is no file to resume from. The same command begins again. */
  if (run->checkpoint == NULL)
    {
      if (code == COMMAND_SUSPENDED)
        command_say ("stopped; without --checkpoint nothing is kept");
      return;
    }
  quoted = command_quote (run->checkpoint);
  if (code == COMMAND_SUSPENDED)
    command_say ("suspended: `satin resume %s` goes on", quoted);
  else if (place_is_remote (run->checkpoint) || g_file_test (run->checkpoint, G_FILE_TEST_EXISTS))
    command_say ("`satin resume %s` goes on from what was saved", quoted);
}

void
launch_words_replay (const FolderRun *run)
{
  g_autofree char *quoted = NULL;

  if (run->checkpoint == NULL)
    return;
  quoted = command_quote (run->checkpoint);
  if (place_is_remote (run->checkpoint) || g_file_test (run->checkpoint, G_FILE_TEST_EXISTS))
    command_say ("`satin replay %s PATH` runs the job at PATH again, alone", quoted);
  else
    command_say ("nothing was published before that, so there is nothing to resume or replay: run "
                 "the program alone, as in gdb, to see the job");
}

int
launch_words_not_begun (const FolderRun *run, const char *path)
{
  static const char *const words = "it had not begun; the same command begins again";

  gboolean is_known = run->resume || run->checkpoint == NULL;

  (void)!folder_end (path, COMMAND_SUSPENDED, is_known ? NULL : words, NULL);
  if (is_known)
    launch_words_next (run, COMMAND_SUSPENDED);
  else
    command_say ("suspended: %s", words);
  return COMMAND_SUSPENDED;
}

void
launch_words_figures (const char *path, const FiguresSeen *seen, const char *stats, gboolean show)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *summary = show ? figures_summary (path, seen) : NULL;
  g_autofree char *json = stats != NULL ? figures_json (path, seen) : NULL;

  if (summary != NULL)
    command_say ("%s", summary);
  if (json != NULL && !outlet_write (stats, json, &error))
    command_say ("cannot write the figures: %s", error->message);
}
