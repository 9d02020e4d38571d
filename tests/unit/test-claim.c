/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/claim.h"

#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void
claim_as (const char *folder, const char *file, gint64 pid)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT "\n", pid);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static gboolean
has (const char *folder, const char *file)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
clean (const char *folder)
{
  for (guint n = 0; n < 4; n++)
    {
      g_autofree char *path = g_strdup_printf ("%s/founder-%u", folder, n);
      g_unlink (path);
    }
  g_rmdir (folder);
}

/* A process number that nobody has: that of a child which was waited for. */
static gint64
dead_pid (void)
{
  pid_t pid = fork ();
  if (pid == 0)
    _exit (0);
  waitpid (pid, NULL, 0);
  return pid;
}

static void
the_first_founds_and_stays_founder (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-claim-XXXXXX", NULL);

  g_assert_true (claim_founder (folder));
  g_assert_true (claim_founder (folder));

  g_assert_true (has (folder, "founder-0"));
  g_assert_false (has (folder, "founder-1"));
  clean (folder);
}

static void
a_live_founder_is_left_alone (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-claim-XXXXXX", NULL);
  claim_as (folder, "founder-0", getppid ());

  g_assert_false (claim_founder (folder));

  g_assert_false (has (folder, "founder-1"));
  clean (folder);
}

static void
a_dead_founder_is_followed (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-claim-XXXXXX", NULL);
  claim_as (folder, "founder-0", dead_pid ());
  claim_as (folder, "founder-1", dead_pid ());

  g_assert_true (claim_founder (folder));

  g_assert_true (has (folder, "founder-2"));
  clean (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/claim/the-first-founds-and-stays-founder", the_first_founds_and_stays_founder);
  g_test_add_func ("/claim/a-live-founder-is-left-alone", a_live_founder_is_left_alone);
  g_test_add_func ("/claim/a-dead-founder-is-followed", a_dead_founder_is_followed);
  return g_test_run ();
}
