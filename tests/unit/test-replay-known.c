/* SPDX-License-Identifier: BSD-3-Clause */
/* Which paths `satin replay` takes for mistyped: only those of which the rows of the checkpoint
 * (known-checkpoint.h) prove that no job had such a child when they were saved. */
#include "known-checkpoint.h"

#include "command/command-replay.h"

static void
is_unlikely (const Fixture *f, const char *path, const char *wanted)
{
  g_autofree char *why = command_replay_unlikely (f->sql, path);

  if (g_strcmp0 (why, wanted) != 0)
    g_error ("'%s': %s", path, why != NULL ? why : "there may be one");
}

/* Children have equal shares. So the share of a row tells how many there are at most. */
static void
shares_limit_the_children (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_small (f);
  is_unlikely (f, "/", NULL);
  is_unlikely (f, "/15", NULL);
  is_unlikely (f, "/16", "/ had at most 16 children");
  is_unlikely (f, "/20/3/1", "/ had at most 16 children");
  is_unlikely (f, "/2/7", NULL);
  is_unlikely (f, "/2/8", "/2 had at most 8 children");
  is_unlikely (f, "/2/5/1/3", NULL);
  is_unlikely (f, "/2/5/2", "/2/5 had at most 2 children");
  put_result (f, "/3/0", ONE, 1, 1.0 / 16, NULL);
  is_unlikely (f, "/3/0/7", NULL);
  is_unlikely (f, "/3/1", "/3 had at most 1 child");
  put_result (f, "4:/0/0", ONE, 1, 1.0 / 8, NULL); /* 4:/0 may be all of its root */
  is_unlikely (f, "4:/0/7", NULL);
  is_unlikely (f, "4:/0/8", "4:/0 had at most 8 children");
  /* A row proves its own number, whatever the shares say. */
  put_result (f, "/3/4", ONE, 1, 1.0 / 16, NULL);
  is_unlikely (f, "/3/4", NULL);
  is_unlikely (f, "/3/5", "/3 had at most 5 children");
}

/* Below a result or a kept state, and where nothing is saved, any job may have been. */
static void
what_is_not_known_may_be (Fixture *f, gconstpointer unused)
{
  g_autoptr (GString) deep = g_string_new ("/99");

  (void)unused;
  write_small (f);
  is_unlikely (f, "/0/999", NULL);
  is_unlikely (f, "/4/999", NULL);
  put_result (f, "/4/3", ONE, 1, 1.0 / 64, NULL);
  is_unlikely (f, "/4/999", NULL); /* the state stands for any number of children */
  is_unlikely (f, "/1/999", NULL);
  is_unlikely (f, "no path", NULL);
  put_event (f, T, "requeued", NULL, "/30", 1, NULL);
  put_event (f, T, "requeued", NULL, "/2/40/5", 1, NULL);
  is_unlikely (f, "/30", NULL);
  is_unlikely (f, "/30/1", "/ had at most 16 children");
  is_unlikely (f, "/2/40", NULL); /* an event below it */
  is_unlikely (f, "/2/4/9", NULL);
  is_unlikely (f, "/2/41", "/2 had at most 8 children");
  for (guint i = 1; i < 60; i++)
    g_string_append (deep, "/0");
  is_unlikely (f, deep->str, "/ had at most 16 children");
  g_string_append (deep, "/0");
  is_unlikely (f, deep->str, NULL); /* in the file by its stem */
}

/* The next root begins when the one before it has a result. */
static void
roots_come_one_after_the_other (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_small (f);
  is_unlikely (f, "1:", "root 0 has not finished");
  is_unlikely (f, "1:/3", "root 0 has not finished");
  is_unlikely (f, "2:", "root 1 has not finished");
  put_result (f, "2:/0", ONE, 1, 1.0 / 2, NULL);
  is_unlikely (f, "2:", NULL);
  is_unlikely (f, "2:/1", NULL);
  is_unlikely (f, "2:/2", "2: had at most 2 children");
  put_result (f, "", ONE, 1, 1, NULL);
  is_unlikely (f, "1:", NULL);
  is_unlikely (f, "1:/3", NULL);
  is_unlikely (f, "/16", NULL); /* the root's own result stands for it */
  put_state (f, "3:", 2);
  is_unlikely (f, "3:", NULL);
}

static void
paths_are_shown_in_numbers (Fixture *f, gconstpointer unused)
{
  g_autoptr (Stems) own = stems_new (), stems = stems_new ();
  guint32 numbers[DEPTH] = { 50 };
  g_autofree char *top = path_of_root (1), *deep = path_extend (own, top, numbers, DEPTH);
  g_autofree char *unknown = command_replay_numbers (stems, deep);
  g_autofree char *root = command_replay_numbers (stems, "");
  g_autofree char *second = command_replay_numbers (stems, "1:");
  g_autofree char *plain = command_replay_numbers (stems, "1:/2/3");

  (void)unused;
  g_assert_null (unknown);
  g_assert_cmpstr (root, ==, "/");
  g_assert_cmpstr (second, ==, "1:");
  g_assert_cmpstr (plain, ==, "1:/2/3");
  write_large (f);
  g_assert_true (command_replay_stems (f->sql, stems, NULL));
  g_autofree char *known = command_replay_numbers (stems, deep);
  g_assert_true (g_str_has_prefix (known, "1:/50/0/0/"));
  g_auto (GStrv) parts = g_strsplit (known, "/", -1);
  g_assert_cmpuint (g_strv_length (parts), ==, 1 + DEPTH);
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/replay-known/children", shares_limit_the_children },
    { "/replay-known/may-be", what_is_not_known_may_be },
    { "/replay-known/roots", roots_come_one_after_the_other },
    { "/replay-known/numbers", paths_are_shown_in_numbers },
  };

  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
