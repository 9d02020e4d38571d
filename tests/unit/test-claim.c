/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder/claim.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
claim_as (const char *folder, const char *file, gint64 pid)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT "\n", pid);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static const char *faster; /* the folder in which another process claims just before this one */

/* Replaces the C library's function, which gives a claim its name. */
int
link (const char *from, const char *to)
{
  const char *folder = faster;

  faster = NULL;
  if (folder != NULL)
    claim_as (folder, "founder-0", getppid ());
  return linkat (AT_FDCWD, from, AT_FDCWD, to, 0);
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

/* A process id that no process has: that of a child which was waited for. */
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

/* If two processes find no claim at the same moment, one of them founds. */
static void
the_faster_one_founds (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-claim-XXXXXX", NULL);

  faster = folder;
  g_assert_false (claim_founder (folder));
  g_assert_null (faster);
  g_assert_false (has (folder, "founder-1"));
  clean (folder);
}

/* A process that cannot reach the checkpoint lets another one found the run. The last one ends the
 * run. */
static void
who_cannot_found_passes_on (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-claim-XXXXXX", NULL);
  g_autofree char *own = g_strdup_printf ("node-%d.log", (int)getpid ());
  g_autofree char *other = g_strdup_printf ("node-%d.log", (int)getppid ());
  g_autofree char *unfit = g_strdup_printf ("node-%d.unfit", (int)getpid ());
  g_autofree char *too = g_strdup_printf ("node-%d.unfit", (int)getppid ());
  const char *const files[] = { own, other, unfit, too };
  char *sentence;
  claim_as (folder, own, 0);
  claim_as (folder, other, 0);

  g_assert_true (claim_founder (folder));
  g_assert_true (claim_pass_on (folder, 2, "no route", &sentence));
  g_assert_null (sentence);
  g_assert_false (claim_founder (folder));
  g_autofree char *path = g_build_filename (folder, too, NULL);
  g_assert_true (g_file_set_contents (path, "no route", -1, NULL));
  g_assert_false (claim_pass_on (folder, 2, "no route", &sentence));
  g_assert_true (g_str_has_prefix (sentence, "no route (tried by node "));
  g_assert_nonnull (strchr (sentence, ','));
  g_assert_null (strchr (sentence, ';')); /* a reason that both have is printed once */

  g_free (sentence);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *name = g_build_filename (folder, files[i], NULL);
      g_unlink (name);
    }
  clean (folder);
}

static gpointer
start_late (gpointer file)
{
  g_usleep (200 * 1000);
  g_assert_true (g_file_set_contents (file, "", 0, NULL));
  return NULL;
}

/* A node that fails at once waits for those that the launcher is still starting. Where there is no
 * other, its own reason is all that is said. */
static void
others_may_start_later (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-claim-XXXXXX", NULL);
  g_autofree char *own = g_strdup_printf ("%s/node-%d.log", folder, (int)getpid ());
  g_autofree char *other = g_strdup_printf ("%s/node-%d.log", folder, (int)getppid ());
  g_autofree char *unfit = g_strdup_printf ("%s/node-%d.unfit", folder, (int)getpid ());
  g_autofree char *alone = NULL, *sentence = NULL;

  g_assert_true (g_file_set_contents (own, "", 0, NULL));
  g_assert_false (claim_pass_on (folder, 1, "no route", &alone));
  g_assert_cmpstr (alone, ==, "no route");
  GThread *launcher = g_thread_new ("launcher", start_late, other);
  g_assert_true (claim_pass_on (folder, 2, "no route", &sentence));
  g_assert_null (sentence);
  g_thread_join (launcher);
  g_unlink (own);
  g_unlink (other);
  g_unlink (unfit);
  clean (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/claim/the-first-founds-and-stays-founder", the_first_founds_and_stays_founder);
  g_test_add_func ("/claim/the-faster-one-founds", the_faster_one_founds);
  g_test_add_func ("/claim/a-live-founder-is-left-alone", a_live_founder_is_left_alone);
  g_test_add_func ("/claim/a-dead-founder-is-followed", a_dead_founder_is_followed);
  g_test_add_func ("/claim/others-may-start-later", others_may_start_later);
  g_test_add_func ("/claim/who-cannot-found-passes-on", who_cannot_found_passes_on);
  return g_test_run ();
}
