/* SPDX-License-Identifier: BSD-3-Clause */
/* See batch.h. The job's standard input and output are the files `to` and `from` in a 0700 folder
 * in that of the run. What the launcher sends goes into `to`; new bytes of `from` go to the
 * launcher. The job is submitted when the launcher has sent all that a node needs to begin. That
 * contains the run's key, and the disk is shared. So `to` is written when the job has begun, and
 * truncated when the node has read it. Main loop, one thread.
 * Tests: test-batch, sites.sh, slurm.sh. */
#include "batch.h"
#include "tasks.h"

#include "command-words.h"

#include "folder/control.h"
#include "folder/folder-file.h"
#include "folder/folder.h"
#include "folder/relay.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_MS 200
#define ASK_TICKS 25 /* each so many ticks, squeue is asked whether the job exists */
#define READ_SIZE 65536
#define READY_TRIES 300 /* 0.2 s each, a minute: then the process here is gone */
#define WORDS_MAX 65536
/* After the end of the run the job has this long to end by itself. */
#define LEAVE_US (3 * G_USEC_PER_SEC)

typedef struct
{
  const char *run;  /* the run's folder */
  const char *line; /* shell command */
  char **options;   /* of sbatch */
  int task;         /* number of a task of this step; 0: a job is submitted */
  char *place;      /* the folder of this job's files */
  char *job;        /* its number at Slurm; NULL: not submitted yet */
  guint64 skip;     /* bytes from the launcher that are not parsed */
  GString *head;    /* the beginning of a line from the launcher */
  GByteArray *said; /* all bytes from the launcher; NULL: they are in the file `to` */
  GString *reply;   /* the beginning of a line of `from`; NULL: the node has spoken */
  int from;         /* descriptor of the file `from` */
  guint reads;      /* GSource id; 0: the launcher is gone */
  guint ticks;
  gint64 ended_us; /* since when the run has ended and the job has written nothing; 0: it has not
                      ended */
  GMainLoop *loop;
  int code;
} Batch;

static char *
file_of (const Batch *batch, const char *name)
{
  return g_build_filename (batch->place, name, NULL);
}

/* Runs a command of Slurm. Returns its output (transfer full) (nullable). NULL: it failed, or is
 * not installed; *words (out, nullable) tells why. */
static char *
ask (char **argv, char **words)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;
  int status;

  if (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &said, words, &status,
                    &error)
      && g_spawn_check_wait_status (status, NULL))
    return g_steal_pointer (&said);
  if (error != NULL && words != NULL)
    *words = g_strdup (error->message);
  return NULL;
}

/* ---- the job ---- */

static gboolean
write_script (const Batch *batch, const char *script, GError **error)
{
  g_autofree char *place = g_shell_quote (batch->place), *line = g_shell_quote (batch->line);
  /* When a job's time is over, Slurm sends SIGTERM to all its processes, and SIGKILL to those that
   * are left when the script has ended. So the script survives SIGTERM, and the node has time to
   * leave. `ls` makes a shared disk look for new files. */
  g_autofree char *text = g_strdup_printf ("#!/bin/sh\nb=%s\n: >\"$b/begun\"\nn=0\n"
                                           "while [ ! -e \"$b/ready\" ]; do\n"
                                           "  n=$((n + 1))\n"
                                           "  [ $n -lt %d ] && ls \"$b\" >/dev/null || exit 1\n"
                                           "  sleep 0.2\n"
                                           "done\n"
                                           "trap : TERM\n"
                                           "sh -c %s <\"$b/to\"\nc=$?\n"
                                           "echo $c >\"$b/done\"\nexit $c\n",
                                           place, READY_TRIES, line);

  return g_file_set_contents (script, text, -1, error);
}

static gboolean
submit (Batch *batch)
{
  g_autofree char *script = file_of (batch, BATCH_SCRIPT), *to = file_of (batch, "to");
  g_autofree char *from = file_of (batch, "from"), *log = file_of (batch, "log");
  g_autofree char *input = g_strconcat ("--input=", to, NULL);
  g_autofree char *output = g_strconcat ("--output=", from, NULL);
  g_autofree char *errors = g_strconcat ("--error=", log, NULL);
  g_autoptr (GStrvBuilder) argv = g_strv_builder_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *words = NULL;

  if (!write_script (batch, script, &error))
    return command_say ("%s", error->message), FALSE;
  if (batch->task > 0)
    {
      batch->job = g_strdup_printf ("task %d", batch->task);
      return TRUE;
    }
  g_strv_builder_add_many (argv, "sbatch", "--parsable", "--nodes=1", "--ntasks=1",
                           "--job-name=satin", "--open-mode=append", "--no-requeue", input, output,
                           errors, NULL);
  g_strv_builder_addv (argv, (const char **)batch->options);
  g_strv_builder_add (argv, script);
  g_auto (GStrv) all = g_strv_builder_end (argv);
  g_autofree char *said = ask (all, &words);
  if (said == NULL)
    return command_say ("sbatch: %s", words != NULL ? g_strstrip (words) : "it failed"), FALSE;
  /* sbatch prints "NUMBER" or "NUMBER;CLUSTER" */
  batch->job = g_strndup (said, strspn (said, "0123456789"));
  return batch->job[0] != '\0'
         || (command_say ("sbatch said no number: %s", g_strchomp (said)), FALSE);
}

static void
cancel (const Batch *batch)
{
  char *argv[] = { (char *)"scancel", batch->job, NULL };

  if (batch->job != NULL && batch->task == 0)
    g_free (ask (argv, NULL));
}

/* TRUE: Slurm says that there is no such job any more. */
static gboolean
is_gone (const Batch *batch)
{
  char *argv[] = { (char *)"squeue", (char *)"-h", (char *)"-o", (char *)"%t",
                   (char *)"-j",     batch->job,   NULL };
  g_autofree char *words = NULL;
  g_autofree char *said = batch->task == 0 ? ask (argv, &words) : NULL;

  if (said != NULL)
    return g_strstrip (said)[0] == '\0';
  return words != NULL && strstr (words, "Invalid job id") != NULL;
}

/* Slurm's state of a job that has ended, while Slurm remembers it: ": TIMEOUT", ": PREEMPTED", ":
 * NODE_FAIL", ...; else "". (transfer full) */
static char *
end_at_slurm (const Batch *batch)
{
  char *argv[] = { (char *)"squeue", (char *)"-h", (char *)"-t", (char *)"all", (char *)"-o",
                   (char *)"%T",     (char *)"-j", batch->job,   NULL };
  g_autofree char *said = ask (argv, NULL);
  const char *state = said != NULL ? g_strstrip (said) : "";

  return g_strdup_printf ("%s%s", state[0] != '\0' ? ": " : "", state);
}

/* ---- the bytes of launcher and node ---- */

/* Looks for the first frame of the node; lines before it are a shell's. The frame shows that the
 * node has read all of `to`, so `to` is truncated. */
static void
look_for_word (Batch *batch, const char *bytes, gsize size)
{
  for (gsize i = 0; batch->reply != NULL && i < size; i++)
    {
      g_autofree char *name = NULL, *to = NULL;
      gsize length;

      if (bytes[i] != '\n')
        {
          if (batch->reply->len < RELAY_LINE_MAX)
            g_string_append_c (batch->reply, bytes[i]);
          continue;
        }
      if (relay_parse (batch->reply->str, &name, &length) == RELAY_FILE)
        {
          to = file_of (batch, "to");
          (void)!truncate (to, 0);
          g_string_free (g_steal_pointer (&batch->reply), TRUE);
          return;
        }
      g_string_truncate (batch->reply, 0);
    }
}

/* Copies new bytes of `from` to the launcher. TRUE: there were some. */
static gboolean
pass_on (Batch *batch)
{
  char bytes[READ_SIZE];
  gboolean some = FALSE;
  ssize_t n;

  for (; (n = whole_read_some (batch->from, bytes, sizeof bytes)) > 0; some = TRUE)
    {
      look_for_word (batch, bytes, (gsize)n);
      (void)whole_write (STDOUT_FILENO, bytes, (gsize)n);
    }
  return some;
}

/* If the job has begun: writes `to`, and `ready`, for which the script waits. Nobody reads what the
 * launcher sends later. */
static void
hand_over (Batch *batch)
{
  g_autofree char *begun = file_of (batch, "begun"), *to = file_of (batch, "to");
  g_autofree char *ready = file_of (batch, "ready");

  if (batch->said == NULL || g_access (begun, F_OK) != 0)
    return;
  int fd = open (to, O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0 || !whole_write (fd, (const char *)batch->said->data, batch->said->len)
      || close (fd) != 0 || !g_file_set_contents (ready, "", 0, NULL))
    command_say ("cannot write in '%s': %s", batch->place, g_strerror (errno));
  g_byte_array_unref (g_steal_pointer (&batch->said));
}

/* Parses what the launcher sends. *quit (out): the node is no longer wanted. TRUE: the node may
 * begin. */
static gboolean
look_for_go (Batch *batch, const char *data, gsize size, gboolean *quit)
{
  gboolean go = FALSE;

  *quit = FALSE;
  while (size > 0)
    {
      gsize n = (gsize)MIN (batch->skip, size);
      g_autofree char *name = NULL;
      gsize length = 0;

      batch->skip -= n;
      data += n;
      size -= n;
      if (size == 0)
        break;
      size--;
      if (*data++ != '\n')
        {
          g_string_append_c (batch->head, data[-1]);
          continue;
        }
      RelayKind kind = relay_parse (batch->head->str, &name, &length);
      go = go || kind == RELAY_GO;
      *quit = *quit || kind == RELAY_QUIT;
      batch->skip = length;
      g_string_truncate (batch->head, 0);
    }
  return go;
}

static void
finish (Batch *batch, int code)
{
  batch->code = code;
  g_main_loop_quit (batch->loop);
}

static gboolean
on_said (gint fd, GIOCondition condition G_GNUC_UNUSED, gpointer data)
{
  Batch *batch = data;
  char bytes[READ_SIZE];
  ssize_t n = read (fd, bytes, sizeof bytes);
  gboolean quit;

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return G_SOURCE_CONTINUE;
  if (n > 0)
    {
      if (batch->said != NULL)
        g_byte_array_append (batch->said, (const guint8 *)bytes, (guint)n);
      gboolean go = look_for_go (batch, bytes, (gsize)n, &quit);
      if (quit || (go && batch->job == NULL && !submit (batch)))
        finish (batch, COMMAND_ERROR);
      return G_SOURCE_CONTINUE;
    }
  batch->reads = 0; /* the launcher is gone; its nodes go on */
  if (batch->job == NULL)
    finish (batch, COMMAND_ERROR);
  return G_SOURCE_REMOVE;
}

/* ---- watching the job ---- */

/* TRUE: the job has ended with *code. */
static gboolean
is_done (const Batch *batch, int *code)
{
  g_autofree char *done = file_of (batch, "done");
  g_autofree char *text = NULL;

  if (!g_file_get_contents (done, &text, NULL, NULL) || strchr (text, '\n') == NULL)
    return FALSE;
  *code = atoi (text);
  return TRUE;
}

/* TRUE: the job has written something, so it does not wait in the queue. */
static gboolean
has_begun (const Batch *batch)
{
  GStatBuf info;
  g_autofree char *from = file_of (batch, "from");

  return g_stat (from, &info) == 0 && info.st_size > 0;
}

static gboolean
on_tick (gpointer data)
{
  Batch *batch = data;
  gint64 now_us = g_get_monotonic_time ();
  int code;

  if (batch->job != NULL)
    hand_over (batch);
  if (pass_on (batch) && batch->ended_us != 0)
    batch->ended_us = now_us; /* a large answer is arriving */
  if (batch->ended_us == 0
      && (folder_has_ended (batch->run, &code, NULL) || g_access (batch->run, F_OK) != 0))
    batch->ended_us = now_us;
  if (batch->job != NULL && is_done (batch, &code))
    finish (batch, code);
  else if (batch->ended_us != 0 && (!has_begun (batch) || now_us - batch->ended_us > LEAVE_US))
    finish (batch, COMMAND_ERROR);
  else if (batch->job != NULL && ++batch->ticks % ASK_TICKS == 0 && is_gone (batch)
           && !is_done (batch, &code))
    {
      g_autofree char *state = end_at_slurm (batch);

      command_say ("batch job %s is gone from Slurm%s", batch->job, state);
      finish (batch, COMMAND_ERROR);
    }
  return G_SOURCE_CONTINUE;
}

static gboolean
on_signal (gpointer data)
{
  finish (data, COMMAND_ERROR);
  return G_SOURCE_CONTINUE;
}

static gboolean
make_place (Batch *batch)
{
  g_autofree char *to = NULL, *from = NULL, *line = NULL;

  batch->place = batch->task > 0 ? tasks_place (batch->task)
                                 : g_build_filename (batch->run, FOLDER_BATCH "XXXXXX", NULL);
  if (batch->task > 0 ? g_mkdir (batch->place, 0700) != 0 : g_mkdtemp (batch->place) == NULL)
    return FALSE;
  to = file_of (batch, "to");
  from = file_of (batch, "from");
  line = file_of (batch, BATCH_LINE);
  batch->from = open (from, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  return batch->from >= 0
         && g_file_set_contents_full (to, "", 0, G_FILE_SET_CONTENTS_NONE, 0600, NULL)
         && (batch->task == 0 || g_file_set_contents (line, batch->line, -1, NULL));
}

/* Reads a file `name` of `size` bytes, and keeps it if it is one of the end and not in the run's
 * folder yet. FALSE: it could not be kept; this was printed. */
static gboolean
keep_file (const Batch *batch, FILE *from, const char *name, gsize size)
{
  gboolean wanted
      = g_strv_contains (control_files_of_end, name) && folder_size (batch->run, name) < 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (FolderFile) file = wanted ? folder_file_begin (batch->run, name, &error) : NULL;
  char bytes[READ_SIZE];
  gsize n = 1;

  for (; size > 0 && n > 0 && error == NULL; size -= n)
    {
      n = fread (bytes, 1, MIN (size, sizeof bytes), from);
      if (file != NULL)
        (void)!folder_file_add (file, bytes, n, &error);
    }
  if (file != NULL && size == 0 && error == NULL)
    (void)!folder_file_end (g_steal_pointer (&file), FOLDER_FILE_FIRST_SAFE, &error);
  if (error != NULL)
    command_say ("'%s' stays in '%s': %s", name, batch->place, error->message);
  return error == NULL;
}

/* The launcher is gone: copies the files of the end from `from` to the run's folder, `end` last.
 * FALSE: some could not be kept. */
static gboolean
keep_end (const Batch *batch)
{
  g_autofree char *path = file_of (batch, "from");
  FILE *from = fopen (path, "re");
  char line[RELAY_LINE_MAX];
  gboolean kept = TRUE;

  while (from != NULL && kept && fgets (line, sizeof line, from) != NULL)
    {
      g_autofree char *name = NULL;
      gsize size;

      if (relay_parse (g_strchomp (line), &name, &size) == RELAY_FILE)
        kept = keep_file (batch, from, name, size);
    }
  if (from != NULL)
    fclose (from);
  return kept;
}

/* Copies the end of the job's log to the log of this process, and removes the job's folder. If
 * files of the end could not be kept, the folder stays. */
static void
clean_up (Batch *batch)
{
  static const char *const files[]
      = { BATCH_LINE, "to", "from", "log", BATCH_SCRIPT, "begun", "ready", "done" };
  g_autofree char *log = file_of (batch, "log");
  g_autofree char *words = NULL;
  gsize size = 0;

  (void)pass_on (batch);
  if (g_file_get_contents (log, &words, &size, NULL))
    (void)whole_write (STDERR_FILENO, words + (size > WORDS_MAX ? size - WORDS_MAX : 0),
                       MIN (size, WORDS_MAX));
  if (batch->reads == 0 && !keep_end (batch))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *file = file_of (batch, files[i]);
      (void)g_unlink (file);
    }
  (void)g_rmdir (batch->place);
}

int
command_batch (int argc, char **argv)
{
  Batch batch = { .from = -1, .code = COMMAND_ERROR };
  int code;

  if (argc < 4)
    return command_usage ("", "%s is for the launcher", BATCH_VERB);
  batch.run = argv[1];
  batch.skip = g_ascii_strtoull (argv[2], NULL, 10);
  batch.line = argv[3];
  batch.options = argv + 4;
  if (argc == 5 && g_str_has_prefix (argv[4], BATCH_TASK))
    batch.task = atoi (argv[4] + strlen (BATCH_TASK));
  if (!make_place (&batch))
    return command_say ("cannot make a folder for a batch job: %s", g_strerror (errno)),
           COMMAND_ERROR;
  signal (SIGPIPE, SIG_IGN);
  batch.head = g_string_new (NULL);
  batch.reply = g_string_new (NULL);
  batch.said = g_byte_array_new ();
  batch.loop = g_main_loop_new (NULL, FALSE);
  batch.reads = g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_said, &batch);
  g_timeout_add (TICK_MS, on_tick, &batch);
  g_unix_signal_add (SIGTERM, on_signal, &batch);
  g_unix_signal_add (SIGINT, on_signal, &batch);
  g_main_loop_run (batch.loop);
  if (!is_done (&batch, &code))
    cancel (&batch);
  clean_up (&batch);
  g_main_loop_unref (batch.loop);
  g_string_free (batch.head, TRUE);
  if (batch.reply != NULL)
    g_string_free (batch.reply, TRUE);
  g_clear_pointer (&batch.said, g_byte_array_unref);
  g_free (batch.place);
  g_free (batch.job);
  return batch.code;
}
