/* SPDX-License-Identifier: BSD-3-Clause */
/* What the verbs that ask a live run print, and what they ask for: of a run whose two nodes answer
 * as the test tells them. */
#include "captured.h"
#include "fake-node.h"
#include "folder-put.h"

#include "command/command.h"

#include "folder/folder-ended.h"
#include "folder/folder-run.h"

#include <glib/gstdio.h>
#include <utime.h>

#define NODES 2
#define ANSWERS_MAX 8
#define REPLIES_MAX 4

/* A request to a node and its replies, one after the other; the last one stays. "BOTH" and "ONE"
 * are statuses of a run with both nodes, and with the first one alone. */
typedef struct
{
  const char *request, *replies[REPLIES_MAX];
} Answer;

typedef struct
{
  char *path, *both, *one;
  FakeNode nodes[NODES];
  const Answer *answers[NODES]; /* up to one without a request */
  guint given[NODES][ANSWERS_MAX];
  GString *asked[NODES]; /* what each was asked, one request a line */
  const char *ends_at;   /* (nullable) the request that ends the run ... */
  int end_code;          /* ... with this code ... */
  const char *says;      /* ... and this message (nullable) */
} Fixture;

static char *state;
static Fixture *now;

/* The run ends, and its nodes go. */
static void
end_run (void)
{
  put (now->path, FOLDER_FILE_ANSWER, "42\n");
  g_assert_true (folder_end (now->path, now->end_code, now->says, NULL));
  for (guint n = 0; n < NODES; n++)
    {
      g_autofree char *file = folder_node_file (now->nodes[n].pid, FOLDER_NODE_ADDRESS);
      folder_disclaim (now->path, file);
    }
}

static gboolean
answer_as (guint n, const char *request, GString *reply)
{
  const Answer *all = now->answers[n];

  g_string_append_printf (now->asked[n], "%s\n", request);
  if (now->ends_at != NULL && strcmp (request, now->ends_at) == 0)
    end_run ();
  for (guint i = 0; all != NULL && all[i].request != NULL; i++)
    if (strcmp (all[i].request, request) == 0)
      {
        const char *text = all[i].replies[now->given[n][i]];

        if (now->given[n][i] + 1 < REPLIES_MAX && all[i].replies[now->given[n][i] + 1] != NULL)
          now->given[n][i]++;
        g_string_append (reply, strcmp (text, "BOTH") == 0  ? now->both
                                : strcmp (text, "ONE") == 0 ? now->one
                                                            : text);
        return TRUE;
      }
  return FALSE;
}

static gboolean
answer_first (gpointer data, const char *request, GString *reply)
{
  (void)data;
  return answer_as (0, request, reply);
}

static gboolean
answer_second (gpointer data, const char *request, GString *reply)
{
  (void)data;
  return answer_as (1, request, reply);
}

static char *
status_of (const Fixture *f, gboolean both)
{
  return g_strdup_printf (
      "{\"name\":\"tour\",\"term\":2,\"root\":1,\"done\":0.25,\"left_s\":90,\"left_low_s\":5,"
      "\"left_high_s\":4000,\"at_risk_s\":1.25,\"at_risk_all_s\":30,\"best\":[{\"name\":"
      "\"length\",\"text\":\"7\"}],\"nodes\":[{\"id\":\"1.1\",\"pid\":11,\"host\":\"h1\","
      "\"site\":\"here\",\"address\":\"%s\",\"state\":\"up\",\"workers\":4,\"at_risk_s\":0.5,"
      "\"roles\":[\"master\"]}%s%s%s]}",
      f->nodes[0].address,
      both ? ",{\"id\":\"1.2\",\"pid\":12,\"host\":\"h2\",\"site\":\"there\",\"address\":\"" : "",
      both ? f->nodes[1].address : "",
      both ? "\",\"state\":\"up\",\"silent\":true,\"workers\":2,\"at_risk_s\":null,"
             "\"roles\":[\"coordinator\"]}"
           : "");
}

static void
set_up (Fixture *f, gconstpointer checkpoint)
{
  const char *argv[] = { "8", "two words", NULL };
  g_auto (FolderRun) run = { .name = g_strdup ("tour"),
                             .program = g_strdup ("/opt/fib"),
                             .argv = g_strdupv ((char **)argv),
                             .folder = g_strdup ("/"),
                             .checkpoint = g_strdup (checkpoint),
                             .nodes = 2,
                             .host = g_strdup ("h"),
                             .started_us = G_GINT64_CONSTANT (1700000000000000) };

  *f = (Fixture){ .path = folder_create (&run, NULL),
                  .asked = { g_string_new (NULL), g_string_new (NULL) } };
  g_assert_nonnull (f->path);
  f->nodes[0].pid = MIN (getpid (), getppid ());
  f->nodes[1].pid = MAX (getpid (), getppid ());
  f->nodes[0].answer = answer_first;
  f->nodes[1].answer = answer_second;
  now = f;
  for (guint n = 0; n < NODES; n++)
    fake_node_begin (&f->nodes[n], f->path);
  f->one = status_of (f, FALSE);
  f->both = status_of (f, TRUE);
}

static void
tear_down (Fixture *f, gconstpointer checkpoint)
{
  (void)checkpoint;
  for (guint n = 0; n < NODES; n++)
    {
      fake_node_end (&f->nodes[n]);
      g_string_free (f->asked[n], TRUE);
    }
  (void)folder_remove (f->path, NULL);
  folder_ended_forget ("tour");
  g_free (f->path);
  g_free (f->one);
  g_free (f->both);
}

/* (transfer full): what the verb prints, then its messages. The host is HOST, the folder of the run
 * FOLDER; the time of the start is START, that since then E. */
static char *
printed (int (*verb) (int, char **), const char *words, int wanted)
{
  const char *const varied[][2] = { { "(elapsed |elapsed_s\":)[0-9.]+", "\\1E" },
                                    { "started [-0-9]+ [0-9:]+", "started START" },
                                    { "\"started\":\"[-0-9]+T[0-9:]+Z\"", "\"started\":\"START\"" },
                                    { "(host |host\":\")HERE", "\\1HOST" },
                                    { "unix:[^\"]*", "ADDRESS" } };
  g_auto (GStrv) argv = g_strsplit (words, " ", -1);
  Captured out = captured_begin (STDOUT_FILENO), err = captured_begin (STDERR_FILENO);
  int code = verb ((int)g_strv_length (argv), argv);
  g_autofree char *messages = captured_end (&err), *text = captured_end (&out);
  char *all = g_strconcat (text, messages, NULL);

  if (code != wanted)
    g_error ("'%s' returns %d and prints:\n%s", words, code, all);
  for (gsize i = 0; i < G_N_ELEMENTS (varied); i++)
    {
      g_auto (GStrv) parts = g_strsplit (varied[i][0], "HERE", -1);
      g_autofree char *pattern = g_strjoinv (g_get_host_name (), parts), *before = all;
      g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
      all = g_regex_replace (regex, before, -1, 0, varied[i][1], 0, NULL);
    }
  return all;
}

/* From now on the node answers so (nullable: not at all). */
static void
answers_with (Fixture *f, guint n, const Answer *answers)
{
  f->answers[n] = answers;
  memset (f->given[n], 0, sizeof f->given[n]);
}

static void
asks_for (Fixture *f, guint n, const char *wanted)
{
  g_assert_cmpstr (f->asked[n]->str, ==, wanted);
  g_string_truncate (f->asked[n], 0);
}

/* Runs the verb and compares what it prints. */
static void
prints (int (*verb) (int, char **), const char *words, int code, const char *wanted)
{
  g_autofree char *text = printed (verb, words, code);

  g_assert_cmpstr (text, ==, wanted);
}

#define STATUS \
  "{\"name\":\"tour\",\"term\":2,\"root\":1,\"done\":0.25,\"left_s\":90,\"left_low_s\":5," \
  "\"left_high_s\":4000,\"at_risk_s\":1.25,\"at_risk_all_s\":30,\"best\":[{\"name\":\"length\"," \
  "\"text\":\"7\"}],\"nodes\":[{\"id\":\"1.1\",\"pid\":11,\"host\":\"h1\",\"site\":\"here\"," \
  "\"address\":\"ADDRESS\",\"state\":\"up\",\"workers\":4,\"at_risk_s\":0.5,\"roles\":[" \
  "\"master\"]},{\"id\":\"1.2\",\"pid\":12,\"host\":\"h2\",\"site\":\"there\",\"address\":" \
  "\"ADDRESS\",\"state\":\"up\",\"silent\":true,\"workers\":2,\"at_risk_s\":null,\"roles\":[" \
  "\"coordinator\"]}],\"program\":\"/opt/fib\",\"arguments\":[\"8\",\"two words\"],\"host\":" \
  "\"HOST\",\"started\":\"START\",\"elapsed_s\":E}"

static void
a_status_tells_of_each_node (Fixture *f, gconstpointer unused)
{
  const Answer answers[] = { { "status", { "BOTH" } }, { NULL, { NULL } } };
  const Answer wrong[] = { { "status", { "[]" } }, { NULL, { NULL } } };

  (void)unused;
  answers_with (f, 0, answers);
  answers_with (f, 1, answers);
  prints (command_status, "status tour", COMMAND_DONE,
          "tour  root 1  25.0 % done  about 90 s left (5.0 s to 66 min 40 s)  term 2  at risk 1.2 s"
          " if one node dies, 30.0 s if all do  checkpoint /c\n"
          "  /opt/fib 8 'two words'\n"
          "  host HOST  started START  elapsed E s\n"
          "  length 7\n"
          "  NODE  PID  SITE   STATE   WORKERS  AT RISK  ROLES\n"
          "  1.1    11  here   up            4    0.5 s  master\n"
          "  1.2    12  there  silent        2        -  coordinator\n");
  prints (command_status, "status --json tour", COMMAND_DONE,
          "{\"format\":1,\"runs\":[" STATUS "]}\n");
  prints (command_status, "status --all --json", COMMAND_DONE,
          "{\"format\":1,\"runs\":[" STATUS "],\"ended\":[]}\n");
  answers_with (f, 0, wrong);
  prints (command_status, "status", COMMAND_DONE, "tour  (a node sent an invalid reply)\n");
  answers_with (f, 0, NULL);
  answers_with (f, 1, NULL);
  prints (command_status, "status", COMMAND_DONE,
          "tour  at risk - if one node dies, - if all do  checkpoint /c\n"
          "  /opt/fib 8 'two words'\n"
          "  host HOST  started START  elapsed E s\n"
          "  starting\n");
}

static void
make_old (const char *path, guint days)
{
  gint64 at_s = g_get_real_time () / G_USEC_PER_SEC - (gint64)days * 24 * 3600;
  const struct utimbuf times = { .actime = at_s, .modtime = at_s };

  g_assert_cmpint (utime (path, &times), ==, 0);
}

/* (transfer full) The folder of the run `dead`, whose processes are gone. */
static char *
make_dead_run (void)
{
  const char *argv[] = { NULL };
  g_auto (FolderRun) run = { .name = g_strdup ("dead"),
                             .program = g_strdup ("/opt/fib"),
                             .argv = g_strdupv ((char **)argv),
                             .folder = g_strdup ("/"),
                             .checkpoint = g_strdup ("/nowhere/c"),
                             .nodes = 1 };
  char *path = folder_create (&run, NULL);

  g_assert_nonnull (path);
  return path;
}

/* The folder of a run whose processes are gone stays for a week, so that people can look into it.
 */
static void
dead_runs_are_forgotten_after_a_week (Fixture *f, gconstpointer unused)
{
  const Answer answers[] = { { "status", { "BOTH" } }, { NULL, { NULL } } };
  g_autofree char *path = make_dead_run ();

  (void)unused;
  answers_with (f, 0, answers);
  make_old (path, 6);
  prints (command_status, "status dead", COMMAND_ERROR,
          "satin: run 'dead' is not running: its processes are gone\n");
  g_autofree char *first = printed (command_status, "status", COMMAND_DONE);
  g_assert_true (g_file_test (path, G_FILE_TEST_IS_DIR));
  make_old (path, 8);
  make_old (f->path, 8);
  g_autofree char *second = printed (command_status, "status", COMMAND_DONE);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (f->path, G_FILE_TEST_IS_DIR)); /* it lives */
  g_assert_cmpstr (first, ==, second);
  prints (command_status, "status dead", COMMAND_ERROR,
          "satin: there is no run 'dead' here (`satin status` lists them)\n");
  prints (command_status, "status --all tour", COMMAND_USAGE,
          "satin: --all conflicts with a run (see `satin status --help`)\n");
}

/* What is not known leaves no hole in a line, so that other programs can split it. */
static void
a_status_has_no_empty_column (Fixture *f, gconstpointer unused)
{
  const Answer answers[]
      = { { "status",
            { "{\"name\":\"tour\",\"root\":null,\"done\":0.5,\"left_s\":null,\"term\":3,"
              "\"at_risk_s\":0,\"at_risk_all_s\":null,\"nodes\":[{\"id\":\"1.1\",\"pid\":11,"
              "\"host\":\"h\",\"site\":\"\",\"address\":\"\",\"state\":\"leaving\",\"workers\":4,"
              "\"at_risk_s\":0,\"roles\":[\"master\",\"coordinator\"]}]}" } },
          { NULL, { NULL } } };

  (void)unused;
  answers_with (f, 0, answers);
  answers_with (f, 1, answers);
  prints (
      command_status, "status tour", COMMAND_DONE,
      "tour  50.0 % done  time left not yet known  term 3  at risk 0.0 s if one node dies, - if "
      "all do  checkpoint none\n"
      "  /opt/fib 8 'two words'\n"
      "  host HOST  started START  elapsed E s\n"
      "  NODE  PID  SITE  STATE    WORKERS  AT RISK  ROLES\n"
      "  1.1    11  -     leaving        4    0.0 s  master, coordinator\n");
}

#define JOB(state, path, more) \
  "{\"stack\":3,\"state\":\"" state "\",\"path\":\"" path \
  "\",\"job\":\"fib\",\"args\":\"(3)\",\"for_s\":125," more "}"
#define FOR_CHILD(child) "\"waits_for\":\"a child\",\"child\":\"" child "\","
#define RUNS JOB ("running", "/0", "\"exact\":true,\"waits_for\":null,\"child\":null")
#define AT_NODE JOB ("waiting", "/1", FOR_CHILD ("/1/2") "\"exact\":false,\"holder\":\"1.2\"")
#define ASKED JOB ("waiting", "/2", FOR_CHILD ("/2/1") "\"exact\":true,\"holder\":\"coordinator\"")
#define AT_STACK JOB ("waiting", "/3", FOR_CHILD ("/3/0") "\"exact\":true,\"holder_stack\":5")
#define JOBS "\"jobs\":[" RUNS "," AT_NODE "," ASKED "," AT_STACK "]}"

/* A node that does not answer is shown as silent, beside the jobs of the other one. */
static void
jobs_are_shown (Fixture *f, gconstpointer unused)
{
  const Answer busy[] = { { "status", { "BOTH" } },
                          { "look", { "{}" } },
                          { "jobs", { "{\"id\":\"1.1\",\"more\":2," JOBS } },
                          { NULL, { NULL } } };
  const Answer idle[] = { { "status", { "BOTH" } },
                          { "look", { "{}" } },
                          { "jobs", { "{\"id\":\"1.2\",\"more\":0,\"jobs\":[]}" } },
                          { NULL, { NULL } } };

  (void)unused;
  answers_with (f, 0, busy);
  answers_with (f, 1, idle);
  prints (
      command_jobs, "jobs tour", COMMAND_DONE,
      "NODE  STACK  STATE              FOR  PATH   JOB      WAITS FOR\n"
      "1.1       3  running     2 min 05 s  /0     fib (3)\n"
      "1.1       3  waiting     2 min 05 s  in /1  fib (3)  a child /1/2, held by 1.2\n"
      "1.1       3  waiting     2 min 05 s  /2     fib (3)  a child /2/1: the coordinator is "
      "asked for it\n"
      "1.1       3  waiting     2 min 05 s  /3     fib (3)  a child /3/0, held by stack 5 here\n"
      "1.1          and 2 more\n"
      "1.2          idle\n");
  asks_for (f, 0, "status\nstatus\nlook\njobs\n");
  prints (command_jobs, "jobs --json tour", COMMAND_DONE,
          "{\"format\":1,\"run\":\"tour\",\"nodes\":[{\"id\":\"1.1\",\"host\":\"h1\",\"site\":"
          "\"here\",\"pid\":11,\"workers\":4,\"silent\":false,\"more\":2," JOBS
          ",{\"id\":\"1.2\",\"host\":\"h2\",\"site\":\"there\",\"pid\":12,\"workers\":2,\"silent\":"
          "false,\"more\":0,\"jobs\":[]}]}\n");
  answers_with (f, 1, NULL);
  g_string_truncate (f->asked[1], 0);
  g_autofree char *text = printed (command_jobs, "jobs tour", COMMAND_DONE);
  g_assert_nonnull (strstr (text, "\n1.1          and 2 more\n"
                                  "1.2          silent                         "
                                  "process 12 on host 'h2' does not answer\n"));
  asks_for (f, 1, "status\nlook\n"); /* a silent node takes long: it is asked once */
  g_autofree char *json = printed (command_jobs, "jobs --json tour", COMMAND_DONE);
  g_assert_nonnull (
      strstr (json, "\"pid\":12,\"workers\":2,\"silent\":true,\"more\":0,\"jobs\":[]}"));
}

#define LEAVING \
  "{\"nodes\":[{\"id\":\"1.1\",\"state\":\"up\"},{\"id\":\"1.2\",\"state\":\"leaving\"}]}"

/* A leaver is asked to go, and waited for until no status has it; what it could not hand over is in
 * its last figures. */
static void
nodes_leave (Fixture *f, gconstpointer unused)
{
  const Answer answers[] = { { "status", { "BOTH", "{}", "BOTH", "ONE" } },
                             { "leave 1.2 5.000000", { "{\"ok\":true}" } },
                             { "leave 1.2 0.500000", { "{\"ok\":true}" } },
                             { NULL, { NULL } } };
  const Answer alone[] = { { "status", { "ONE", LEAVING } }, { NULL, { NULL } } };

  (void)unused;
  answers_with (f, 0, answers);
  prints (command_leave, "leave tour 1.2", COMMAND_DONE, "satin: node 1.2 has left\n");
  asks_for (f, 0, "status\nleave 1.2 5.000000\nstatus\nstatus\nstatus\n");
  put (f->path, "node-12.stats", "{\"left_lost_s\":0.05}");
  answers_with (f, 0, answers);
  prints (command_leave, "leave tour --site there --within 0.5", COMMAND_DONE,
          "satin: node 1.2 has left; 0.1 s of work could not be handed over\n");
  asks_for (f, 0, "status\nleave 1.2 0.500000\nstatus\nstatus\nstatus\n");
  put (f->path, "node-12.stats", "{\"left_lost_s\":0.04}");
  answers_with (f, 0, answers);
  prints (command_leave, "leave tour --site there --within 0.5", COMMAND_DONE,
          "satin: node 1.2 has left\n");
  answers_with (f, 0, answers);
  prints (command_leave, "leave tour 1.3", COMMAND_ERROR,
          "satin: run 'tour' has no node '1.3'; `satin status tour` lists them\n");
  prints (command_leave, "leave tour --site nowhere", COMMAND_ERROR,
          "satin: run 'tour' has no node of site 'nowhere'; `satin status tour` lists them\n");
  answers_with (f, 0, alone);
  for (guint i = 0; i < 2; i++) /* a node that is leaving does not stay */
    prints (command_leave, "leave tour 1.1", COMMAND_ERROR,
            "satin: no node would stay in run 'tour'; `satin suspend tour` stops the whole run\n");
  f->ends_at = "leave 1.2 0.500000";
  f->end_code = 3;
  answers_with (f, 0, answers);
  prints (command_leave, "leave --within 0.5 tour 1.2", COMMAND_DONE,
          "satin: run 'tour' has ended (exit code 3)\n");
}

#define SAVED(rounds, failed, missing) \
  "{\"rounds\":" rounds ",\"failed\":" failed ",\"generation\":9,\"missing\":\"" missing "\"}"

/* A round that was over when it was asked for does not count. */
static void
a_save_waits_for_its_round (Fixture *f, gconstpointer checkpoint)
{
  const Answer good[] = { { "save", { SAVED ("4", "false", "") } },
                          { "saved", { SAVED ("4", "true", "9.9"), SAVED ("5", "false", "") } },
                          { NULL, { NULL } } };
  const Answer missing[] = { { "save 2.000000", { SAVED ("4", "false", "") } },
                             { "saved", { SAVED ("6", "false", "1.2, 1.3") } },
                             { NULL, { NULL } } };
  const Answer failed[] = { { "save", { SAVED ("4", "false", "") } },
                            { "saved", { SAVED ("5", "true", "") } },
                            { NULL, { NULL } } };
  const Answer refused[] = { { "save", { "{\"error\":\"no\"}" } }, { NULL, { NULL } } };
  const Answer invalid[] = { { "save", { "{" } }, { NULL, { NULL } } };

  g_assert_cmpstr (checkpoint, ==, "/c");
  answers_with (f, 0, good);
  prints (command_save, "save tour", COMMAND_DONE,
          "satin: run 'tour' is saved in /c (generation 9)\n");
  asks_for (f, 0, "save\nsaved\nsaved\n");
  answers_with (f, 0, missing);
  prints (command_save, "save tour --within 2", COMMAND_DONE,
          "satin: run 'tour' is saved in /c (generation 9), without all that was finished at nodes "
          "whose jobs did not poll in time: 1.2, 1.3\n");
  answers_with (f, 0, failed);
  prints (command_save, "save tour", COMMAND_STORE,
          "satin: run 'tour' could not publish /c: its log tells why\n");
  answers_with (f, 0, refused);
  prints (command_save, "save tour", COMMAND_ERROR, "satin: cannot save 'tour': no\n");
  answers_with (f, 0, invalid);
  prints (command_save, "save tour", COMMAND_ERROR,
          "satin: cannot save 'tour': a node sent an invalid reply\n");
  prints (command_save, "save tour --to /elsewhere", COMMAND_ERROR,
          "satin: run 'tour' keeps its checkpoint at '/c': leave out --to\n");
  answers_with (f, 0, good);
  f->ends_at = "save";
  prints (command_save, "save tour --to /c", COMMAND_DONE,
          "satin: run 'tour' has ended (exit code 0), which saves everything\n");
}

/* However the run ends, its own way of ending is told, and the exit code is 0 only if it is the one
 * that was asked for. */
static void
an_end_is_told (Fixture *f, gconstpointer checkpoint)
{
  const Answer answers[] = { { "suspend", { "{\"ok\":true}" } },
                             { "suspend 1.500000", { "{\"ok\":true}" } },
                             { "cancel", { "{\"ok\":true}" } },
                             { NULL, { NULL } } };
  const struct
  {
    int (*verb) (int, char **);
    const char *words, *request;
    int ends;
    const char *says;
    int code;
    const char *kept, *lost; /* what it prints, with a checkpoint and without; NULL: not tried */
  } cases[] = {
    { command_cancel, "cancel tour", "cancel", 7, NULL, 0,
      "satin: run 'tour' is cancelled; what was saved is kept in /c\n",
      "satin: run 'tour' is cancelled\n" },
    { command_cancel, "cancel tour", "cancel", 75, NULL, 75,
      "satin: run 'tour' is suspended, before it could be cancelled: `satin resume /c` goes on\n",
      "satin: run 'tour' is stopped, before it could be cancelled; without a checkpoint nothing is"
      " kept\n" },
    { command_cancel, "cancel tour", "cancel", 0, NULL, 0,
      "satin: run 'tour' has ended (exit code 0), before it could be cancelled\n",
      "satin: run 'tour' has ended (exit code 0), before it could be cancelled\n" },
    { command_suspend, "suspend tour", "suspend", 75, NULL, 0,
      "satin: run 'tour' is suspended: `satin resume /c` goes on\n", NULL },
    { command_suspend, "suspend --within 1.5 tour", "suspend 1.500000", 75, "not all", 0,
      "satin: run 'tour' is suspended: not all\n", NULL },
    { command_suspend, "suspend tour", "suspend", 4, "it is elsewhere", 4,
      "satin: run 'tour' has ended: it is elsewhere\n", NULL },
    { command_suspend, "suspend tour", "suspend", 7, NULL, 7,
      "satin: run 'tour' is cancelled, before it could be suspended; what was saved is kept in"
      " /c\n",
      NULL },
    { command_suspend, "suspend tour", "suspend", 1, NULL, 1,
      "satin: run 'tour' has ended (exit code 1), before it could be suspended\n", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *wanted = checkpoint != NULL ? cases[i].kept : cases[i].lost;
      if (wanted == NULL)
        continue;
      tear_down (f, checkpoint);
      set_up (f, checkpoint);
      answers_with (f, 0, answers);
      f->ends_at = cases[i].request;
      f->end_code = cases[i].ends;
      f->says = cases[i].says;
      prints (cases[i].verb, cases[i].words, cases[i].code, wanted);
      g_assert_nonnull (strstr (f->asked[0]->str, cases[i].request));
      g_assert_false (g_file_test (f->path, G_FILE_TEST_EXISTS)); /* nobody else needs it */
    }
}

static void
nothing_is_lost_by_a_suspend (Fixture *f, gconstpointer checkpoint)
{
  (void)f;
  g_assert_null (checkpoint);
  prints (command_suspend, "suspend tour", COMMAND_ERROR,
          "satin: run 'tour' has no checkpoint, so nothing of it would be kept: `satin save tour "
          "--to URI` gives it one, `satin cancel tour` ends it\n");
}

/* Only runs that live are offered. */
static void
words_are_completed (Fixture *f, gconstpointer unused)
{
  const Answer answers[] = { { "status", { "BOTH" } }, { NULL, { NULL } } };
  g_autofree char *dead = make_dead_run ();

  (void)unused;
  answers_with (f, 0, answers);
  prints (command_complete, "--complete cancel ", COMMAND_DONE, "tour\n");
  prints (command_complete, "--complete cancel tour ", COMMAND_DONE, "");
  prints (command_complete, "--complete leave --site x", COMMAND_DONE, "tour\n");
  prints (command_complete, "--complete leave tour ", COMMAND_DONE, "1.1\n1.2\n");
  prints (command_complete, "--complete leave tour 1.1 ", COMMAND_DONE, "");
  prints (command_complete, "--complete run -- ", COMMAND_DONE, "");
  g_assert_true (folder_remove (dead, NULL));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name, *checkpoint;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/verbs/status", "/c", a_status_tells_of_each_node },
    { "/verbs/dead", "/c", dead_runs_are_forgotten_after_a_week },
    { "/verbs/columns", NULL, a_status_has_no_empty_column },
    { "/verbs/jobs", "/c", jobs_are_shown },
    { "/verbs/leave", "/c", nodes_leave },
    { "/verbs/save", "/c", a_save_waits_for_its_round },
    { "/verbs/end", "/c", an_end_is_told },
    { "/verbs/end-without-a-checkpoint", NULL, an_end_is_told },
    { "/verbs/suspend-without-a-checkpoint", NULL, nothing_is_lost_by_a_suspend },
    { "/verbs/complete", NULL, words_are_completed },
  };

  state = g_dir_make_tmp ("satin-verbs-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_setenv ("TZ", "UTC", TRUE);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, tests[i].checkpoint, set_up, tests[i].test, tear_down);
  int failed = g_test_run ();
  static const char *const folders[] = { "satin/ended", "satin/runs", "satin", "" };
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = g_build_filename (state, folders[i], NULL);
      g_rmdir (path);
    }
  g_free (state);
  return failed;
}
