/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes two runs the same: the program's name, its jobs, and its arguments in this order and
 * spelling. The path of the program and Satin's own options make no difference. */
#include "node/run-private.h"

#include "coordinator/mark.h"

#include <glib/gstdio.h>

#include <string.h>

SATIN_JOB (square, int64_t, (int32_t, n))
{
  return (int64_t)n * n;
}

SATIN_JOB (cube, int64_t, (int32_t, n))
{
  return (int64_t)n * n * n;
}

static const SatinJob *const one[] = { &square_job, NULL };
static const SatinJob *const both[] = { &square_job, &cube_job, NULL };
static const SatinApp app = { .name = "powers", .jobs = one };

static void
run_clear (SatinRun *run)
{
  identity_clear (&run->identity);
  g_strfreev (run->options.argv);
  g_free (run->folder_run.token);
  g_free (run->folder_run.rows_token);
}

/* `line`: the command line, which is split into words as by a shell. */
static void
run_init (SatinRun *run, const SatinApp *of, const char *line)
{
  *run = (SatinRun){ .app = of, .jobs = of->jobs, .options.checkpoint = (char *)"/tmp/none" };
  g_assert_true (g_shell_parse_argv (line, &run->options.argc, &run->options.argv, NULL));
  g_assert_true (run_identity_fill (run, NULL));
}

static gboolean
are_same (const SatinApp *of, const char *line)
{
  SatinRun first, second;

  run_init (&first, &app, "./powers 3 'a b'");
  run_init (&second, of, line);
  gboolean same = digest_equal (&first.identity.identity, &second.identity.identity);
  g_assert_true (same || g_strcmp0 (first.identity.mark, second.identity.mark) != 0);
  run_clear (&first);
  run_clear (&second);
  return same;
}

static void
test_words (void)
{
  static const char *const others[]
      = { "./powers",         "./powers 3",          "./powers 'a b' 3",
          "./powers 3 a b",   "./powers 3 'a b' ''", "./powers 3 'a b' 3",
          "./powers 4 'a b'", "./powers '3a b'",     "./powers '' 3 'a b'",
          "./powers 3a ' b'", "./powers 3 'a  b'" };

  g_assert_true (are_same (&app, "./powers 3 'a b'"));
  g_assert_true (are_same (&app, "/elsewhere/moved 3 'a b'"));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_false (are_same (&app, others[i]));
}

static void
test_program (void)
{
  const SatinJob renamed = { .name = "sq", .args = square_job.args, .result = square_job.result };
  const SatinJob other_args
      = { .name = "square", .args = square_job.result, .result = square_job.result };
  const SatinJob other_result
      = { .name = "square", .args = square_job.args, .result = square_job.args };
  const SatinJob *const changed[] = { &renamed, &other_args, &other_result };
  const SatinJob *jobs[] = { NULL, NULL };
  const SatinApp named = { .name = "roots", .jobs = one };
  const SatinApp larger = { .name = "powers", .jobs = both };
  const SatinApp altered = { .name = "powers", .jobs = jobs };

  g_assert_false (are_same (&named, "./powers 3 'a b'"));
  g_assert_false (are_same (&larger, "./powers 3 'a b'"));
  for (guint i = 0; i < G_N_ELEMENTS (changed); i++)
    {
      jobs[0] = changed[i];
      g_assert_false (are_same (&altered, "./powers 3 'a b'"));
    }
  jobs[0] = &square_job;
  g_assert_true (are_same (&altered, "./powers 3 'a b'"));
}

/* A node process belongs to the run that the launcher was told to start, with its arguments. */
static void
test_node (void)
{
  char *told[] = { (char *)"3", (char *)"--workers", (char *)"2", (char *)"a b", NULL };
  SatinRun run, alone;

  run_init (&alone, &app, "./powers 3 'a b'");
  run = (SatinRun){ .app = &app,
                    .jobs = app.jobs,
                    .node_process = TRUE,
                    .folder_run = { .program = (char *)"/bin/powers",
                                    .folder = (char *)"/home/me",
                                    .argv = told,
                                    .build = (char *)"version 7",
                                    .token = mark_token ("/bin/powers", "/home/me", told),
                                    .mended = TRUE } };
  g_assert_true (
      g_shell_parse_argv ("/copy/p 3 'a b'", &run.options.argc, &run.options.argv, NULL));
  g_assert_true (run_identity_fill (&run, NULL));
  g_assert_true (digest_equal (&run.identity.identity, &alone.identity.identity));
  g_assert_cmpstr (run.identity.program, ==, "/bin/powers");
  g_assert_cmpstr (run.identity.folder, ==, "/home/me");
  g_assert_cmpstr (run.identity.build, ==, "version 7");
  g_assert_true (run.identity.mended);
  g_assert_false (alone.identity.mended);
  g_assert_cmpuint (g_strv_length (run.identity.argv), ==, 2);
  g_assert_cmpstr (run.identity.argv[1], ==, "a b");
  g_assert_cmpuint (g_strv_length (alone.identity.argv), ==, 2);
  g_assert_cmpstr (alone.identity.argv[0], ==, "3");
  g_assert_nonnull (alone.identity.build);
  g_assert_nonnull (run.identity.mark);
  g_assert_cmpstr (run.identity.mark, !=, alone.identity.mark);
  run_clear (&run);
  run_clear (&alone);
}

/* A program without a checkpoint makes no key. */
static void
test_without_checkpoint (void)
{
  SatinRun run = { .app = &app, .jobs = app.jobs };

  g_assert_true (g_shell_parse_argv ("./powers 3", &run.options.argc, &run.options.argv, NULL));
  g_assert_true (run_identity_fill (&run, NULL));
  g_assert_null (run.identity.mark);
  g_assert_null (run.folder_run.token);
  run_clear (&run);
}

int
main (int argc, char **argv)
{
  g_autofree char *config = g_dir_make_tmp ("satin-identity-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename (config, "satin", NULL);
  g_autofree char *key = g_build_filename (folder, "key", NULL);

  g_setenv ("XDG_CONFIG_HOME", config, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/run-identity/words", test_words);
  g_test_add_func ("/run-identity/program", test_program);
  g_test_add_func ("/run-identity/node", test_node);
  g_test_add_func ("/run-identity/without-checkpoint", test_without_checkpoint);
  int code = g_test_run ();
  (void)g_unlink (key);
  (void)g_rmdir (folder);
  (void)g_rmdir (config);
  return code;
}
