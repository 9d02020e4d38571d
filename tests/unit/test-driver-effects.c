/* SPDX-License-Identifier: BSD-3-Clause */
/* How the driver carries out effects for main, the log and the run's folder. There is no engine and
 * no network: the driver consists of these parts only. */
#include "node/driver-private.h"

#include "folder/folder.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  Driver driver;
  char *folder;
} Fixture;

static gboolean other_half_ends; /* just before this half ends */
static gint answers;             /* how often an answer existed when an end was made */

/* Replaces the C library's function: a link appears for all processes at once. */
int
link (const char *from, const char *to)
{
  int (*other) (const char *, const char *) = NULL;
  g_autofree char *folder = g_path_get_dirname (to);
  g_autofree char *answer = g_build_filename (folder, "answer", NULL);

  *(void **)&other = dlsym (RTLD_NEXT, "link");
  if (g_str_has_suffix (to, "/end") && access (answer, F_OK) == 0)
    answers++;
  if (g_str_has_suffix (to, "/end") && other_half_ends)
    g_assert_true (g_file_set_contents (to, "0\n", 2, NULL));
  return other (from, to);
}

/* In place of engine_halt (see Makefile.inc): there is no engine. */
void __wrap_engine_halt (Engine *engine, gboolean leaving);
void
__wrap_engine_halt (Engine *engine, gboolean leaving)
{
  g_assert_null (engine);
  g_assert_false (leaving);
}

static void
set_up (Fixture *f, gconstpointer data)
{
  (void)data;
  f->folder = g_dir_make_tmp ("satin-effects-XXXXXX", NULL);
  f->driver = (Driver){ .config.folder = f->folder,
                        .log = fopen ("/dev/null", "w"),
                        .context = g_main_context_new (),
                        .generation = 3 };
  g_mutex_init (&f->driver.mutex);
  g_cond_init (&f->driver.cond);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  (void)data;
  g_clear_pointer (&f->driver.result, g_bytes_unref);
  g_clear_pointer (&f->driver.outside, g_free);
  g_clear_pointer (&f->driver.reason, g_free);
  g_clear_pointer (&f->driver.saved.missing, g_free);
  g_queue_clear_full (&f->driver.troubles, g_free);
  g_main_context_unref (f->driver.context);
  g_mutex_clear (&f->driver.mutex);
  g_cond_clear (&f->driver.cond);
  fclose (f->driver.log);
  g_assert_true (folder_remove (f->folder, NULL));
  g_free (f->folder);
}

static void
put (Fixture *f, const char *file, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  g_assert_true (folder_write (f->folder, file, bytes, NULL));
}

static gboolean
has (Fixture *f, const char *file)
{
  g_autofree char *path = g_build_filename (f->folder, file, NULL);

  return access (path, F_OK) == 0;
}

static void
end (Fixture *f, int code, gboolean finished, const char *sentence)
{
  NodeEffect effect = {
    .kind = NODE_EFFECT_END, .number = (guint64)code, .finished = finished, .text = (char *)sentence
  };

  driver_carry_out (&f->driver, &effect);
}

static void
assert_ended (Fixture *f, int code, const char *sentence)
{
  g_autofree char *found = NULL;
  int stands = -1;

  g_assert_true (folder_has_ended (f->folder, &stands, &found));
  g_assert_cmpint (stands, ==, code);
  g_assert_cmpstr (found, ==, sentence);
  g_assert_true (driver_has_ended (&f->driver));
  g_assert_cmpint (f->driver.end_code, ==, code);
}

static void
test_finished (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put (f, "answer", "42");
  end (f, 0, TRUE, NULL);
  assert_ended (f, 0, NULL);
  g_assert_cmpint (f->driver.part, ==, PART_FINISHED);
  g_assert_true (has (f, "answer"));
  end (f, 7, FALSE, "late"); /* a run ends only once */
  assert_ended (f, 0, NULL);
}

/* A cancelled run has no answer, although a master had written one. */
static void
test_stopped (Fixture *f, gconstpointer unused)
{
  gint before = answers;

  (void)unused;
  put (f, "answer", "42");
  end (f, NODE_END_CANCELLED, FALSE, NULL);
  assert_ended (f, NODE_END_CANCELLED, "the run was cancelled");
  g_assert_cmpint (f->driver.part, !=, PART_FINISHED);
  g_assert_false (has (f, "answer"));
  g_assert_cmpint (answers, ==, before); /* no process could see an answer beside the end */
}

/* A suspended run has no answer either, unless main's exit code is known. */
static void
test_suspended (Fixture *f, gconstpointer unused)
{
  gint before = answers;

  (void)unused;
  put (f, "answer", "42");
  end (f, NODE_END_SUSPENDED, FALSE, NULL);
  assert_ended (f, NODE_END_SUSPENDED, NULL);
  g_assert_false (has (f, "answer"));
  g_assert_cmpint (answers, ==, before); /* no process could see an answer beside the end */
}

/* The other half of a split had ended, and the run has its answer. */
static void
test_ended_elsewhere (Fixture *f, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;

  (void)unused;
  put (f, "answer", "42");
  g_assert_true (folder_end (f->folder, 0, NULL, &error));
  end (f, NODE_END_SUSPENDED, FALSE, NULL);
  g_assert_true (has (f, "answer"));
}

/* The other half ends at the same moment: its answer is restored. */
static void
test_ended_elsewhere_meanwhile (Fixture *f, gconstpointer unused)
{
  int code;

  (void)unused;
  put (f, "answer", "42");
  other_half_ends = TRUE;
  end (f, NODE_END_SUSPENDED, FALSE, NULL);
  other_half_ends = FALSE;
  g_assert_true (folder_has_ended (f->folder, &code, NULL));
  g_assert_cmpint (code, ==, 0);
  g_assert_true (has (f, "answer"));
}

/* main's exit code is not taken for an order, whatever number it is. */
static void
test_a_code_of_main (Fixture *f, gconstpointer code)
{
  put (f, "answer", "42");
  end (f, GPOINTER_TO_INT (code), TRUE, NULL);
  assert_ended (f, GPOINTER_TO_INT (code), NULL);
  g_assert_true (has (f, "answer"));
}

/* Main had returned, and its node died. */
static void
test_answered_and_suspended (Fixture *f, gconstpointer unused)
{
  (void)unused;
  put (f, "answer.code", "0\n");
  put (f, "answer", "42");
  end (f, NODE_END_SUSPENDED, FALSE, NULL);
  g_assert_true (has (f, "answer"));
}

/* The answer could not be kept here: main's success becomes a failure, but its own failure
 * stays. */
static void
test_unkept (Fixture *f, gconstpointer code)
{
  const int given = GPOINTER_TO_INT (code);

  f->driver.unkept = (char *)"no room for the answer";
  end (f, given, TRUE, NULL);
  assert_ended (f, given == 0 ? 1 : given, "no room for the answer");
}

/* The reason why a publication failed is reported: the suspended run is lost. */
static void
test_unpublished (Fixture *f, gconstpointer unused)
{
  (void)unused;
  f->driver.unpublished = (char *)"the store is full";
  end (f, NODE_END_SUSPENDED, FALSE, NULL);
  assert_ended (f, NODE_END_NO_STORE, "the store is full");
}

/* A deposed master has no result for main any more. */
static void
test_masters (Fixture *f, gconstpointer unused)
{
  g_autoptr (GBytes) first = g_bytes_new ("1", 1), second = g_bytes_new ("2", 1);
  NodeEffect effect = { .kind = NODE_EFFECT_MASTER };
  (void)unused;

  for (guint i = 1; i <= 2; i++)
    {
      effect.kind = NODE_EFFECT_MASTER;
      driver_carry_out (&f->driver, &effect);
      g_assert_true (f->driver.master);
      g_assert_cmpuint (f->driver.masterships, ==, i);
      effect.kind = NODE_EFFECT_RESULT;
      effect.bytes = first;
      driver_carry_out (&f->driver, &effect);
      effect.bytes = second;
      driver_carry_out (&f->driver, &effect);
      g_assert_true (f->driver.result == second);
      effect.kind = NODE_EFFECT_DEPOSED;
      driver_carry_out (&f->driver, &effect);
      g_assert_false (f->driver.master);
      g_assert_null (f->driver.result);
    }
}

/* `satin save` waits for the end of a round and learns its outcome. A late report of an older
 * generation is ignored. */
static void
test_saved (Fixture *f, gconstpointer unused)
{
  NodeEffect effect
      = { .kind = NODE_EFFECT_SAVED, .number = 5, .failed = TRUE, .text = (char *)"1.2" };
  (void)unused;

  driver_carry_out (&f->driver, &effect);
  g_assert_cmpuint (f->driver.saved.rounds, ==, 1);
  g_assert_true (f->driver.saved.failed);
  g_assert_cmpstr (f->driver.saved.missing, ==, "1.2");
  g_assert_cmpuint (f->driver.generation, ==, 5);
  effect.number = 4;
  effect.failed = FALSE;
  effect.text = NULL;
  driver_carry_out (&f->driver, &effect);
  g_assert_cmpuint (f->driver.saved.rounds, ==, 2);
  g_assert_false (f->driver.saved.failed);
  g_assert_null (f->driver.saved.missing);
  g_assert_cmpuint (f->driver.generation, ==, 5);
}

/* A node that has left is not dialled again: its address is removed, and no end is written into the
 * run's folder. */
static void
test_left (Fixture *f, gconstpointer signal)
{
  g_autofree char *address = folder_node_file (getpid (), "address");
  NodeEffect effect = { .kind = NODE_EFFECT_LEAVE, .work_us = 7000000, .count = 2 };

  put (f, address, "127.0.0.1:1\n");
  f->driver.warned = GPOINTER_TO_INT (signal);
  driver_carry_out (&f->driver, &effect);
  g_assert_cmpstr (f->driver.parting.why, ==,
                   f->driver.warned ? FOLDER_PARTED_SIGNAL : FOLDER_PARTED_ASKED);
  g_assert_false (has (f, address));
  g_assert_cmpint (f->driver.part, ==, PART_LEFT);
  g_assert_cmpint (f->driver.end_code, ==, 0);
  g_assert_cmpuint (f->driver.parting.lost_us, ==, 7000000);
  g_assert_false (folder_has_ended (f->folder, &(int){ 0 }, NULL));
}

/* A warning is shown to the user; a joiner that fails prints the last reason that it heard. */
static void
test_words (Fixture *f, gconstpointer unused)
{
  g_autofree char *trouble = folder_node_file (getpid (), "trouble");
  NodeEffect warn = { .kind = NODE_EFFECT_WARN, .text = (char *)"too large" };
  NodeEffect note = { .kind = NODE_EFFECT_LOG, .text = (char *)"refused" };
  (void)unused;

  driver_carry_out (&f->driver, &warn);
  g_assert_true (has (f, trouble));
  driver_carry_out (&f->driver, &note);
  g_assert_cmpstr (f->driver.outside, ==, "refused");
  f->driver.part = PART_MEMBER;
  note.text = (char *)"later";
  driver_carry_out (&f->driver, &note);
  g_assert_cmpstr (f->driver.outside, ==, "refused");
}

/* The place of a checkpoint that a run gets later may have any bytes in its name. */
static void
test_checkpoint (Fixture *f, gconstpointer unused)
{
  NodeEffect effect = { .kind = NODE_EFFECT_CHECKPOINT, .text = (char *)"/a b\\n\\377" };

  (void)unused;
  driver_carry_out (&f->driver, &effect);
  g_assert_cmpstr (f->driver.config.checkpoint, ==, "/a b\n\377");
  g_assert_true (f->driver.given == f->driver.config.checkpoint);
  g_free (f->driver.given);
}

int
main (int argc, char **argv)
{
#define TEST(name, data, function) \
  g_test_add ("/driver-effects/" name, Fixture, data, set_up, function, tear_down)

  g_test_init (&argc, &argv, NULL);
  TEST ("a-run-ends-once", NULL, test_finished);
  TEST ("a-stopped-run-has-no-answer", NULL, test_stopped);
  TEST ("a-suspended-run-has-no-answer", NULL, test_suspended);
  TEST ("an-answer-of-the-other-half-stays", NULL, test_ended_elsewhere);
  TEST ("an-answer-that-main-gave-stays", NULL, test_answered_and_suspended);
  TEST ("an-answer-that-is-not-kept-is-a-failure", GINT_TO_POINTER (0), test_unkept);
  TEST ("a-failure-of-main-stays", GINT_TO_POINTER (3), test_unkept);
  TEST ("what-is-not-published-is-not-suspended", NULL, test_unpublished);
  TEST ("a-deposed-master-has-no-result", NULL, test_masters);
  TEST ("a-round-of-saving-is-over", NULL, test_saved);
  TEST ("an-answer-of-the-other-half-comes-back", NULL, test_ended_elsewhere_meanwhile);
  TEST ("a-code-of-main", GINT_TO_POINTER (NODE_END_CANCELLED), test_a_code_of_main);
  TEST ("another-code-of-main", GINT_TO_POINTER (NODE_END_SUSPENDED), test_a_code_of_main);
  TEST ("a-run-is-given-a-checkpoint", NULL, test_checkpoint);
  TEST ("a-node-that-left-has-no-address", NULL, test_left);
  TEST ("a-node-that-a-signal-took-away", GINT_TO_POINTER (TRUE), test_left);
  TEST ("warnings-and-notes", NULL, test_words);
  return g_test_run ();
}
