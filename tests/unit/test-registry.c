/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a program have the same numbers in every process: in the order of their names,
 * whatever the order of the linker, except those that SATIN_APP lists. Each case is a process,
 * since a process numbers its jobs once. */
#include "engine/registry.h"

SATIN_JOB (pear, int32_t, (int32_t, n))
{
  return n;
}

SATIN_JOB (apple, int32_t, (int32_t, n))
{
  return n;
}

SATIN_JOB (fig, int32_t, (int32_t, n))
{
  return n;
}

static const SatinJob namesake = { .name = "fig" };
static SatinJobEntry_ entry = { &namesake, NULL };

static void
assert_names (const SatinJob *const *jobs, const char *wanted)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; jobs[i] != NULL; i++)
    g_string_append_printf (names, "%s ", jobs[i]->name);
  g_assert_cmpstr (names->str, ==, wanted);
  g_free ((gpointer)jobs);
}

/* FALSE: this is the parent, and the test has run in a child process. */
static gboolean
is_child (void)
{
  if (g_test_subprocess ())
    return TRUE;
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  return FALSE;
}

static void
test_order (void)
{
  static const SatinJob *const none[] = { NULL };
  g_autofree char *sentence = NULL;

  if (!is_child ())
    return;
  assert_names (registry_close (none, &sentence), "apple fig pear ");
  g_assert_null (sentence);
  g_assert_null (registry_late ());
  satin_job_register_ (&entry);
  sentence = registry_late ();
  g_assert_nonnull (strstr (sentence, "job 'fig' came with a library"));
}

static void
test_listed (void)
{
  static const SatinJob *const listed[] = { &pear_job, &apple_job, NULL };
  g_autofree char *sentence = NULL;

  if (!is_child ())
    return;
  assert_names (registry_close (listed, &sentence), "pear apple fig ");
  g_assert_null (sentence);
}

static void
test_namesakes (void)
{
  static const SatinJob *const none[] = { NULL };
  g_autofree char *sentence = NULL;

  if (!is_child ())
    return;
  satin_job_register_ (&entry);
  g_assert_null (registry_close (none, &sentence));
  g_assert_cmpstr (sentence, ==, "two jobs are called 'fig': rename one of them");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/registry/order", test_order);
  g_test_add_func ("/registry/listed", test_listed);
  g_test_add_func ("/registry/namesakes", test_namesakes);
  return g_test_run ();
}
