/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits in Slurm's notation, names of jobs, and the batch script, which a shell must
 * accept. */
#include "launch/submit-script.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void
times_are_read (void)
{
  static const struct
  {
    const char *text;
    gint64 seconds;
  } cases[] = { { "30", 1800 },
                { "0:30", 30 },
                { "1:02:03", 3723 },
                { "2-0", 2 * 86400 },
                { "1-12", 36 * 3600 },
                { "1-12:30", 36 * 3600 + 30 * 60 },
                { "1-12:30:15", 36 * 3600 + 30 * 60 + 15 },
                { "", 0 },
                { "-", 0 },
                { "-5", 0 },
                { "1-", 0 },
                { "x", 0 },
                { "1:2:3:4", 0 },
                { "1-2:3:4:5", 0 },
                { "1h", 0 },
                { "UNLIMITED", 0 },
                { "366-0", 366 * 86400 },
                { "366-0:0:1", 0 },
                { "527040", 366 * 86400 },
                { "527041", 0 },
                { "9999-0", 0 },
                { "99999999999999999999", 0 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("'%s'", cases[i].text);
      g_assert_cmpint (submit_script_seconds (cases[i].text), ==, cases[i].seconds);
    }
}

static void
names_fit (void)
{
  g_autofree char *name = submit_script_name ("my prog/$x-1.2_ä");
  g_autofree char *long_word = g_strnfill (300, 'a');
  g_autofree char *cut = submit_script_name (long_word);

  g_assert_cmpstr (name, ==, "my_prog__x-1.2___");
  g_assert_cmpuint (strlen (cut), <, 100);
}

static char *
write_one (const char *checkpoint, int workers, const char *argument)
{
  char *arguments[] = { (char *)argument, NULL }, *options[] = { (char *)"--interval=3", NULL };
  SubmitScript script = { .satin = "/opt/sa tin",
                          .program = "/opt/prog",
                          .arguments = arguments,
                          .folder = "/tmp/it's here",
                          .name = "prog",
                          .checkpoint = checkpoint,
                          .run_options = options,
                          .sbatch = "--partition=long --mail-type=END",
                          .time = "1-0",
                          .nodes = 4,
                          .workers = workers,
                          .restarts = 7,
                          .warning_s = 90 };

  return submit_script_write (&script);
}

/* Each line of the script, so that no change goes unnoticed. */
static void
a_script_says_all (void)
{
  static const char *const lines[]
      = { "#SBATCH --job-name=prog",
          "#SBATCH --ntasks=4",
          "#SBATCH --cpus-per-task=2",
          "#SBATCH --time=1-0",
          "#SBATCH --signal=B:USR1@90",
          "#SBATCH --requeue",
          "#SBATCH --no-kill",
          "#SBATCH --open-mode=append",
          "#SBATCH --output=prog-%j.out",
          "#SBATCH --error=prog-%j.log",
          "#SBATCH --partition=long --mail-type=END",
          "checkpoint=prog-$SLURM_JOB_ID.satin",
          "restarts=${SLURM_RESTART_COUNT:-0} most=7",
          "srun --kill-on-bad-exit=0 --no-kill --cpus-per-task=2 '/opt/sa tin' run --checkpoint"
          " \"$checkpoint\" -w 2 --interval=3 -- /opt/prog 40 &" };
  g_autofree char *text = write_one (NULL, 2, "40");

  g_assert_true (g_str_has_prefix (text, "#!/bin/bash\n" SUBMIT_SIGN));
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autofree char *line = g_strconcat ("\n", lines[i], "\n", NULL);
      g_test_message ("%s", lines[i]);
      g_assert_nonnull (strstr (text, line));
    }
}

static void
what_is_not_said_is_not_written (void)
{
  const SubmitScript script = { .satin = "satin",
                                .program = "p",
                                .folder = "/",
                                .name = "p",
                                .checkpoint = "http://h/c.db",
                                .insecure = TRUE,
                                .nodes = 1 };
  g_autofree char *insecure = submit_script_write (&script);
  g_assert_nonnull (
      strstr (insecure, " satin run --checkpoint \"$checkpoint\" --insecure -- p &\n"));
  g_autofree char *text = write_one ("sftp://me@host/c.db", 0, "40");

  g_assert_null (strstr (text, "cpus-per-task"));
  g_assert_null (strstr (text, " -w "));
  g_assert_nonnull (strstr (text, "\ncheckpoint=sftp://me@host/c.db\n"));
}

/* The options must be before the first command: Slurm reads no further. */
static void
options_stand_first (void)
{
  g_autofree char *text = write_one (NULL, 2, "40");
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean in_options = TRUE;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      in_options = in_options && (lines[i][0] == '#' || lines[i][0] == '\0');
      if (g_str_has_prefix (lines[i], "#SBATCH"))
        g_assert_true (in_options);
    }
}

static void
a_shell_takes_it (void)
{
  g_autofree char *text = write_one ("/tmp/a 'b'\n$c.db", 2, "a\nb $HOME 'x' \"y\" `z`");
  g_autofree char *file = NULL, *words = NULL;
  g_autoptr (GError) error = NULL;
  int fd = g_file_open_tmp ("test-submit-XXXXXX", &file, &error), status;

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (g_file_set_contents (file, text, -1, NULL));
  char *argv[] = { (char *)"bash", (char *)"-n", file, NULL };
  g_assert_true (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &words,
                               &status, NULL));
  g_assert_cmpstr (words, ==, "");
  g_assert_cmpint (status, ==, 0);
  (void)g_unlink (file);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/submit-script/times", times_are_read);
  g_test_add_func ("/submit-script/names", names_fit);
  g_test_add_func ("/submit-script/says-all", a_script_says_all);
  g_test_add_func ("/submit-script/unsaid", what_is_not_said_is_not_written);
  g_test_add_func ("/submit-script/options-first", options_stand_first);
  g_test_add_func ("/submit-script/shell", a_shell_takes_it);
  return g_test_run ();
}
