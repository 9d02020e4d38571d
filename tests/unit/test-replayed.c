/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin replay` inside the program (node/run-replay.c): which rows of the checkpoint the job may
 * use, with which row its result is compared, and what is told. A replay ends its process, so each
 * one is a process of its own; the engine is played. */
#include "captured.h"

#include "node/run-replay.h"

#include "engine/best.h"

#include <string.h>
#include <sys/wait.h>

SATIN_JOB (square, int64_t, (int32_t, n))
{
  return (int64_t)n * n;
}

typedef struct
{
  const char *path;
  guint32 children; /* 0: a result; else a kept state */
  gint64 value;
  guint8 digest;
} Saved;

static EngineReplay calls;
static guint n_bests;

gboolean __wrap_engine_replay (Engine *engine, const char *path, const EngineReplay *its);
guint __wrap_best_count (void);

gboolean
__wrap_engine_replay (Engine *engine, const char *path, const EngineReplay *its)
{
  g_assert_null (engine);
  g_print ("engine: %s\n", path);
  calls = *its;
  return TRUE;
}

guint
__wrap_best_count (void)
{
  return n_bests;
}

static GBytes *
number (gint64 n)
{
  gint64 little = GINT64_TO_LE (n);

  return g_bytes_new (&little, sizeof little);
}

static Row *
row_of (const Saved *saved)
{
  Digest digest = { { saved->digest } };
  g_autoptr (GBytes) value = number (saved->value);
  Row *row = saved->children == 0
                 ? row_new (saved->path, 0, &digest, 0.5, 2750000, value)
                 : row_new_kept (saved->path, saved->children, 0, &digest, 0.5, "x", value);

  row->node = (NodeId){ 1, 2, 3 };
  return row;
}

/* What the process does. `path`: of the job; the number that it returns is 9, its digest 7. */
static void G_GNUC_NORETURN
replay (const char *path, const Saved *saved, guint n, const char *how)
{
  Options options = { .workers = 8, .checkpoint = g_strdup ("other.db") };
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  const Digest digest = { { 7 } };
  gint32 three = GINT32_TO_LE (3);
  g_autoptr (GBytes) args = g_bytes_new (&three, sizeof three), nine = number (9);
  g_autoptr (GError) error = NULL;

  g_setenv (RUN_REPLAY_ENV, path, TRUE);
  g_setenv (RUN_REPLAY_ENV_CHECKPOINT, "c.db", TRUE);
  g_setenv (RUN_REPLAY_ENV_TRUST, "1", TRUE);
  RunReplay *replayed = run_replay_new (&options);
  g_print ("%s, %d worker%s%s%s\n", options.checkpoint, options.workers,
           options.mended ? ", mended" : "", options.trust ? ", trusted" : "",
           run_replay_new (&options) == NULL ? "" : ", again"); /* its jobs' processes are none */
  if (!run_replay_begin (replayed, NULL, stems, &error))
    {
      g_print ("%s\n", error->message);
      fflush (stdout);
      _exit (error->code);
    }
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (rows, row_of (&saved[i]));
  g_autoptr (GPtrArray) used = run_replay_filter (replayed, rows);
  for (guint i = 0; i < used->len; i++)
    g_print ("use %s %u\n", ((const Row *)used->pdata[i])->path,
             ((const Row *)used->pdata[i])->children);
  if (strcmp (how, "none") == 0)
    exit (3);
  if (strcmp (how, "missed") == 0)
    calls.missed (calls.data, 4);
  calls.begins (calls.data, &square_job, &digest, args);
  calls.ended (calls.data, nine, 1500000);
  g_assert_not_reached ();
}

/* `wanted`: what is printed, behind the two lines that are always the same, then the messages. */
static void
prints (const char *path, const Saved *saved, guint n, const char *how, int code,
        const char *wanted)
{
  Captured err = captured_begin (STDERR_FILENO), out = captured_begin (STDOUT_FILENO);
  pid_t child = fork ();
  int status;

  if (child == 0)
    replay (path, saved, n, how);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_autofree char *text = captured_end (&out), *messages = captured_end (&err);
  g_autofree char *all = g_strconcat (text, messages, NULL);
  const char *start = "c.db, 1 worker, trusted\n";
  if (!g_str_has_prefix (all, start) || strcmp (all + strlen (start), wanted) != 0)
    g_error ("at %s, %s:\n%s", path, how, all);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, code);
}

#define JOB(path) "job       " path ", square (3)\nresult    9\n"
#define TOOK(path) "took      1.500 s\nsatin: the job at " path " runs: square (3)\n"

/* The job runs with all that it could use in its run, but not with its own result or with one that
 * stands for it. */
static void
the_job_uses_what_came_before_it (void)
{
  static const Saved rows[] = {
    { "", 0, 1, 7 },         { "/2", 0, 1, 7 },   { "/2/3", 0, 9, 7 },   { "/2/3/1", 0, 1, 7 },
    { "/2/3/1/0", 2, 1, 7 }, { "/2/3", 2, 1, 7 }, { "/2", 4, 1, 7 },     { "/2", 3, 1, 7 },
    { "", 3, 1, 7 },         { "", 2, 1, 7 },     { "/2/2", 0, 1, 7 },   { "/2/30", 0, 1, 7 },
    { "/2/4", 5, 1, 7 },     { "/3", 0, 1, 7 },   { "1:/2/3", 0, 1, 7 }, { "1:", 9, 1, 7 },
  };

  prints ("/2/3", rows, G_N_ELEMENTS (rows), "ends", 0,
          "engine: /2/3\nuse /2 3\nuse  2\nuse /2/2 0\nuse /2/30 0\nuse /2/4 5\nuse /3 0\n"
          "use 1:/2/3 0\nuse 1: 9\n" JOB ("/2/3") "saved     9 (node 1.2, 2.750 s of work)\n"
                                                  "verdict   the same as the saved one\n" TOOK (
                                                      "/2/3"));
}

static void
the_result_is_compared_with_the_saved_one (void)
{
  const struct
  {
    Saved rows[2];
    guint n;
    int code;
    const char *wanted;
  } cases[] = {
    { { { "/1", 0, 9, 7 } },
      0,
      0,
      "saved     nothing, neither of this job nor of one above it\n"
      "verdict   there is nothing to compare with\n" },
    { { { "/0/1", 0, 9 | 5 << 16, 7 } },
      1,
      1,
      "saved     327689 (node 1.2, 2.750 s of work)\n"
      "verdict   not the same as the saved one: byte 2 of 8 is the first that differs\n" },
    { { { "/0/1", 0, 9, 8 } },
      1,
      1,
      "saved     9 (node 1.2, 2.750 s of work)\n"
      "verdict   the saved result is of another job or of other arguments\n" },
    { { { "", 0, 1, 7 }, { "/0/1", 0, 9, 7 } },
      2,
      0,
      "saved     9 (node 1.2, 2.750 s of work)\n"
      "verdict   the same as the saved one\n" },
    { { { "/0", 0, 1, 7 } },
      1,
      0,
      "saved     nothing of this job: /0 is finished, and its result stands for it (node"
      " 1.2)\nverdict   there is nothing to compare with\n" },
    { { { "", 0, 1, 7 } },
      1,
      0,
      "saved     nothing of this job: / is finished, and its result stands for it (node"
      " 1.2)\nverdict   there is nothing to compare with\n" },
    { { { "/0/1/4", 0, 1, 7 }, { "/0", 2, 1, 7 } },
      2,
      0,
      "saved     nothing of this job: the state that /0 has kept stands for it\n"
      "verdict   there is nothing to compare with\n" },
    { { { "/0/1", 2, 1, 7 } }, /* the job's own state is no result */
      1,
      0,
      "saved     nothing, neither of this job nor of one above it\n"
      "verdict   there is nothing to compare with\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *wanted
          = g_strconcat ("engine: /0/1\n" JOB ("/0/1"), cases[i].wanted, TOOK ("/0/1"), NULL);
      prints ("/0/1", cases[i].rows, cases[i].n, "ends", cases[i].code, wanted);
    }
  const Saved differs = { "/0/1", 0, 8, 7 };
  n_bests = 1;
  prints (
      "/0/1", &differs, 1, "ends", 1,
      "engine: /0/1\n" JOB (
          "/0/1") "saved     8 (node 1.2, 2.750 s of work)\n"
                  "verdict   not the same as the saved one: byte 0 of 8 is the first that differs\n"
                  "note      the program has a SATIN_BEST: with another best value a job may "
                  "return another"
                  " result\n" TOOK ("/0/1"));
  n_bests = 0;
}

static void
a_job_that_is_not_there (void)
{
  prints ("/0/1", NULL, 0, "missed", 2,
          "engine: /0/1\nsatin: there is no job at '/0/1': a job above it has ended and did not"
          " spawn child 4\n");
  prints ("/0/1", NULL, 0, "none", 2,
          "engine: /0/1\nsatin: there is no job at '/0/1': main has ended with exit code 3 and did"
          " not ask for it\n");
  prints ("/0/01", NULL, 0, "ends", 2, "'/0/01' is not a path of a job\n");
  prints ("/", NULL, 0, "ends", 0,
          "engine: \n" JOB ("/") "saved     nothing, neither of this job nor of one above it\n"
                                 "verdict   there is nothing to compare with\n" TOOK ("/"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/replayed/used", the_job_uses_what_came_before_it);
  g_test_add_func ("/replayed/compared", the_result_is_compared_with_the_saved_one);
  g_test_add_func ("/replayed/absent", a_job_that_is_not_there);
  return g_test_run ();
}
