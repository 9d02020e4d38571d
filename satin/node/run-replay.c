/* SPDX-License-Identifier: BSD-3-Clause */
/* See run-replay.h. Tests: test-replayed, replay.sh. */
#include "config.h"

#include "run-replay.h"

#include "engine/best.h"

#include "coordinator/readable.h"
#include "coordinator/restore.h"

#include "host/say.h"
#include "host/temporary.h"
#include "host/whole.h"

#include "record.h"

#include "storage/places/place.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit codes of a replay. If the job fails, the code is the run's, 6. */
enum
{
  REPLAY_SAME = 0, /* or there is no saved result */
  REPLAY_DIFFERS = 1,
  REPLAY_NO_JOB = 2
};

struct RunReplay
{
  pid_t pid;
  char *text;   /* the path as the user wrote it ... */
  char *path;   /* ... and as the engine writes it */
  char *folder; /* (nullable) made by temporary_make */
  Stems *stems; /* borrowed */
  GArray *numbers;
  /* Used by the driver's thread until the job begins, then by the job's thread. */
  Row *saved; /* (nullable) the job's row */
  Row *above; /* (nullable) the row, or the kept state, of a job above it */
  const SatinJob *job;
  Digest digest;
  char *args; /* readable */
};

static gboolean
take_flag (const char *name)
{
  gboolean is_set = g_getenv (name) != NULL;
  g_unsetenv (name);
  return is_set;
}

static const char *
shown (const char *path)
{
  return path[0] != '\0' ? path : "/";
}

/* A second caller waits until the folder is removed, since the process may end right after this
 * call. */
void
run_replay_forget (RunReplay *replay)
{
  static GMutex removing;

  g_mutex_lock (&removing);
  if (replay != NULL)
    temporary_remove (g_steal_pointer (&replay->folder));
  g_mutex_unlock (&removing);
}

static void end (RunReplay *replay, int code) G_GNUC_NORETURN;

static void
end (RunReplay *replay, int code)
{
  fflush (NULL);
  run_replay_forget (replay);
  _exit (code);
}

typedef struct
{
  RunReplay *replay;
  int number;
} Signal;

static gboolean
on_signal (gpointer data)
{
  const Signal *said = data;
  run_replay_forget (said->replay);
  signal (said->number, SIG_DFL);
  (void)kill (getpid (), said->number);
  return G_SOURCE_CONTINUE;
}

void
run_replay_watch_signals (RunReplay *replay, GMainContext *context)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  static Signal signals[G_N_ELEMENTS (numbers)];
  struct sigaction now;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      if (sigaction (numbers[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL)
        continue;
      g_autoptr (GSource) source = g_unix_signal_source_new (numbers[i]);
      signals[i] = (Signal){ replay, numbers[i] };
      g_source_set_callback (source, on_signal, &signals[i], NULL);
      g_source_attach (source, context);
    }
}

/* main has ended, and the job did not run. */
static void
on_process_exit (int status, void *data)
{
  RunReplay *replay = data;
  if (getpid () != replay->pid)
    return;
  say_line ("there is no job at '%s': main has ended with exit code %d and did not ask for it",
            replay->text, status & 0xff);
  end (replay, REPLAY_NO_JOB);
}

RunReplay *
run_replay_new (Options *options)
{
  if (g_getenv (RUN_REPLAY_ENV) == NULL || g_getenv (RUN_REPLAY_ENV_CHECKPOINT) == NULL)
    return NULL;
  RunReplay *replay = g_new0 (RunReplay, 1);
  replay->pid = getpid ();
  replay->text = g_strdup (g_getenv (RUN_REPLAY_ENV));
  replay->numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_free (options->checkpoint);
  options->checkpoint = g_strdup (g_getenv (RUN_REPLAY_ENV_CHECKPOINT));
  options->workers = 1;
  options->mended = take_flag (RUN_REPLAY_ENV_MENDED);
  options->trust = take_flag (RUN_REPLAY_ENV_TRUST);
  g_unsetenv (RUN_REPLAY_ENV);
  g_unsetenv (RUN_REPLAY_ENV_CHECKPOINT);
  on_exit (on_process_exit, replay);
  return replay;
}

gboolean
run_replay_open (RunReplay *replay, char **target, GError **error)
{
  GError *reason = NULL;
  replay->folder = temporary_make (&reason);
  if (replay->folder == NULL)
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  if (!place_is_remote (*target))
    return TRUE;
  char *copy = g_build_filename (replay->folder, "checkpoint", NULL);
  gboolean good = restore_copy (*target, copy, error);
  g_free (*target);
  *target = copy;
  return good;
}

const char *
run_replay_folder (const RunReplay *replay)
{
  return replay->folder;
}

/* ---- rows ---- */

/* TRUE: the kept state `row` stands for the child through which the path leads to the job. It
 * stands for children below `row->children`. */
static gboolean
stands_for_the_job (const RunReplay *replay, const Row *row)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 root;
  return !path_to_numbers (replay->stems, row->path, &root, numbers)
         || numbers->len >= replay->numbers->len
         || g_array_index (replay->numbers, guint32, numbers->len) < row->children;
}

static gboolean
may_be_used (const RunReplay *replay, const Row *row)
{
  if (strcmp (row->path, replay->path) == 0
      || path_is_below (replay->stems, row->path, replay->path))
    return FALSE;
  return !path_is_below (replay->stems, replay->path, row->path)
         || (row->children > 0 && !stands_for_the_job (replay, row));
}

/* Remembers a row that may not be used, if it is the job's own or one above. */
static void
keep_to_compare (RunReplay *replay, const Row *row)
{
  gboolean is_own = strcmp (row->path, replay->path) == 0;
  Row **place = is_own ? &replay->saved : &replay->above;
  if (*place == NULL && !(is_own && row->children > 0)
      && !path_is_below (replay->stems, row->path, replay->path))
    *place = row_copy (row);
}

GPtrArray *
run_replay_filter (RunReplay *replay, GPtrArray *rows)
{
  GPtrArray *used = g_ptr_array_new_with_free_func ((GDestroyNotify)(void (*) (void))row_free);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      if (may_be_used (replay, row))
        g_ptr_array_add (used, row_copy (row));
      else
        keep_to_compare (replay, row);
    }
  return used;
}

/* ---- the job, on its thread ---- */

static void
begins (void *data, const SatinJob *job, const Digest *digest, GBytes *args)
{
  RunReplay *replay = data;
  g_autofree char *type = record_signature (job->args);
  replay->job = job;
  replay->digest = *digest;
  replay->args = readable_short (type, args);
  say_line ("the job at %s runs: %s %s", shown (replay->path), job->name, replay->args);
}

static void
waits (void *data, guint32 first, guint32 last)
{
  RunReplay *replay = data;
  say_line (
      "the job at %s depends on children %u to %u of a job above it: what is not saved of them "
      "is computed first",
      shown (replay->path), first, last);
}

static gsize
first_difference (GBytes *a, GBytes *b)
{
  gsize size_a, size_b, i = 0;
  const guint8 *one = g_bytes_get_data (a, &size_a), *other = g_bytes_get_data (b, &size_b);
  while (i < size_a && i < size_b && one[i] == other[i])
    i++;
  return i;
}

static void
tell_saved (const RunReplay *replay, GString *text)
{
  const Row *saved = replay->saved, *above = replay->above;
  char node[NODE_ID_TEXT_MAX];
  if (saved != NULL)
    {
      g_autofree char *type = record_signature (replay->job->result);
      g_autofree char *value = readable_short (type, saved->value);
      g_string_append_printf (text, "saved     %s (node %s, %.3f s of work)\n", value,
                              node_id_show (&saved->node, node),
                              (double)saved->work_us / G_USEC_PER_SEC);
    }
  else if (above == NULL)
    g_string_append (text, "saved     nothing, neither of this job nor of one above it\n");
  else if (above->children > 0)
    g_string_append_printf (
        text, "saved     nothing of this job: the state that %s has kept stands for it\n",
        shown (above->path));
  else
    g_string_append_printf (
        text,
        "saved     nothing of this job: %s is finished, and its result stands for it (node %s)\n",
        shown (above->path), node_id_show (&above->node, node));
}

/* Appends the verdict, and returns the exit code. */
static int
tell_verdict (const RunReplay *replay, GBytes *value, GString *text)
{
  const Row *saved = replay->saved;
  gboolean is_same_job = saved != NULL && digest_equal (&saved->digest, &replay->digest);
  if (saved == NULL)
    g_string_append (text, "verdict   there is nothing to compare with\n");
  else if (!is_same_job)
    g_string_append (text, "verdict   the saved result is of another job or of other arguments\n");
  else if (g_bytes_equal (saved->value, value))
    g_string_append (text, "verdict   the same as the saved one\n");
  else
    g_string_append_printf (text,
                            "verdict   not the same as the saved one: byte %" G_GSIZE_FORMAT
                            " of %" G_GSIZE_FORMAT " is the first that differs\n",
                            first_difference (saved->value, value), g_bytes_get_size (value));
  if (saved == NULL || (is_same_job && g_bytes_equal (saved->value, value)))
    return REPLAY_SAME;
  if (best_count () > 0)
    g_string_append (text,
                     "note      the program has a SATIN_BEST: with another best value a job may"
                     " return another result\n");
  return REPLAY_DIFFERS;
}

static void
ended (void *data, GBytes *value, guint64 took_us)
{
  RunReplay *replay = data;
  g_autofree char *type = record_signature (replay->job->result);
  g_autofree char *result = readable_short (type, value);
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (text, "job       %s, %s %s\nresult    %s\n", shown (replay->path),
                          replay->job->name, replay->args, result);
  tell_saved (replay, text);
  int code = tell_verdict (replay, value, text);
  g_string_append_printf (text, "took      %.3f s\n", (double)took_us / G_USEC_PER_SEC);
  fflush (NULL);
  if (!whole_write (STDOUT_FILENO, text->str, text->len))
    {
      say_line ("cannot write to standard output");
      code = REPLAY_DIFFERS;
    }
  end (replay, code);
}

static void
missed (void *data, guint32 number)
{
  RunReplay *replay = data;
  say_line ("there is no job at '%s': a job above it has ended and did not spawn child %u",
            replay->text, number);
  end (replay, REPLAY_NO_JOB);
}

gboolean
run_replay_begin (RunReplay *replay, Engine *engine, Stems *stems, GError **error)
{
  const EngineReplay calls
      = { .begins = begins, .waits = waits, .ended = ended, .missed = missed, .data = replay };
  guint32 root;
  replay->stems = stems;
  if (path_read (stems, replay->text, &root, replay->numbers))
    {
      g_autofree char *start = path_of_root (root);
      replay->path = path_extend (stems, start, (const guint32 *)(void *)replay->numbers->data,
                                  replay->numbers->len);
      if (engine_replay (engine, replay->path, &calls))
        return TRUE;
    }
  g_set_error (error, COORDINATOR_ERROR, REPLAY_NO_JOB, "'%s' is not a path of a job",
               replay->text);
  return FALSE;
}
