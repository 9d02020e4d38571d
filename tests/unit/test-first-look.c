/* SPDX-License-Identifier: BSD-3-Clause */
/* The first look at a checkpoint (node/look.c): what is asked, in which order, and what a run does
 * with the answers. The test plays the checkpoint, the folder and the other nodes. */
#include "called.h"
#include "captured.h"

#include "node/checkpoint.h"
#include "node/run-private.h"

#include "coordinator/proof.h"

#include "folder/claim.h"

#include "host/outlet.h"
#include "host/say.h"

#include <string.h>

static gint64 now_us, look_takes_us;
static Restore there;               /* what the place has; `exists` FALSE: nothing */
static int fails_with;              /* the code with which the place cannot be read; 0: it can */
static const char *refuses;         /* (nullable) the check that fails */
static const char *user, *moved_to; /* (nullable) who uses the checkpoint; its new name */
static const char *warning;         /* (nullable) */
static gboolean is_passed_on, loses_output;

/* ---- the rooms below, played here ---- */

/* The linker wraps what GLib's own libraries call, too, so this is seen from outside. */
__attribute__ ((visibility ("default"))) gint64 __wrap_g_get_monotonic_time (void);

gint64
__wrap_g_get_monotonic_time (void)
{
  return now_us;
}

GQuark
coordinator_error_quark (void)
{
  return g_quark_from_static_string ("coordinator");
}

static gboolean
check (const char *name, GError **error)
{
  note ("%s", name);
  if (g_strcmp0 (name, refuses) != 0)
    return TRUE;
  g_set_error (error, COORDINATOR_ERROR, 3, "%s: no", name);
  return FALSE;
}

gboolean
restore_look_for (const char *target, const char *copy, const Identity *identity, Restore *restore,
                  GError **error)
{
  note ("look %s %s %s", target, copy != NULL ? copy : "-", identity->run);
  now_us += look_takes_us;
  if (fails_with != 0)
    {
      g_set_error (error, COORDINATOR_ERROR, fails_with, "no answer");
      return FALSE;
    }
  *restore = there;
  return TRUE;
}

gboolean
restore_matches (const Restore *restore, const Identity *identity, const char *target,
                 GError **error)
{
  g_assert_true (restore->exists && identity->run != NULL);
  g_assert_cmpstr (target, ==, "c.db");
  return check ("matches", error);
}

gboolean
restore_values_are_sound (const Restore *restore, gboolean is_mended, const char *target,
                          GError **error)
{
  g_assert_true (restore->exists);
  g_assert_cmpstr (target, ==, "c.db");
  return check (is_mended ? "values, mended" : "values", error);
}

gboolean
restore_input_is_sound (const Restore *restore, const char *path, GBytes *bytes, const char *target,
                        GError **error)
{
  g_assert_true (restore->exists);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 3);
  g_assert_cmpstr (target, ==, "c.db");
  return check (path, error);
}

char *
checkpoint_in_use (const Restore *restore, const char *checkpoint)
{
  g_assert_true (restore->exists);
  note ("used? %s", checkpoint);
  return g_strdup (user);
}

gboolean
checkpoint_set_aside (const char *checkpoint, char **moved, GError **error)
{
  *moved = g_strdup (moved_to);
  return check (checkpoint, error);
}

char *
proof_warning (SqlOrigin origin, const char *target)
{
  (void)origin;
  g_assert_cmpstr (target, ==, "c.db");
  return g_strdup (warning);
}

gboolean
claim_pass_on (const char *folder, guint nodes, const char *why, char **sentence)
{
  note ("pass on %s %u %s", folder, nodes, why);
  *sentence = is_passed_on ? NULL : g_strdup ("nobody is left");
  return is_passed_on;
}

gboolean
folder_write_first (const char *path, const char *file, GBytes *bytes, GError **error)
{
  note ("write %s/%s %.*s", path, file, (int)g_bytes_get_size (bytes),
        (const char *)g_bytes_get_data (bytes, NULL));
  return check ("written", error);
}

gboolean
folder_end (const char *path, int code, const char *sentence, GError **error)
{
  note ("end %s %d %s", path, code, sentence != NULL ? sentence : "-");
  return check ("ended", error);
}

gboolean
folder_remove (const char *path, GError **error)
{
  (void)error;
  note ("remove %s", path);
  return TRUE;
}

gboolean
capture_flush (FILE *stream, const char **why)
{
  fflush (stream);
  *why = "full";
  return !loses_output;
}

void
capture_flush_streams (void)
{
}

char *
report_idle_stats (gint64 began_us, guint workers)
{
  return g_strdup_printf ("since %d, %u workers", (int)began_us, workers);
}

gboolean
outlet_write (const char *path, const char *text, GError **error)
{
  (void)error;
  note ("%s: %s", path, text);
  return TRUE;
}

void
say_line (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *line = g_strdup_vprintf (format, list);
  va_end (list);
  note ("say %s", line);
}

gboolean
run_error (GError **error, int code, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_assert_null (*error);
  *error = g_error_new_valist (g_quark_from_static_string ("satin"), code, format, list);
  va_end (list);
  return FALSE;
}

/* ---- the rig ---- */

static SatinRun
a_run (void)
{
  look_takes_us = now_us = 1000;
  fails_with = 0;
  refuses = user = moved_to = warning = NULL;
  loses_output = is_passed_on = FALSE;
  there = (Restore){ .exists = TRUE, .identity = { .run = (char *)"old" } };
  return (SatinRun){ .config = { .checkpoint = "c.db", .founder = TRUE, .workers = 3 },
                     .begins_trace = TRUE,
                     .identity = { .run = g_strdup ("new") } };
}

static SatinRun
a_node (void)
{
  SatinRun run = a_run ();

  run.node_process = TRUE;
  run.folder = (char *)"f";
  run.folder_run.nodes = 5;
  return run;
}

/* Looks at the checkpoint. `wanted`: the calls, and either the error or the id of the run. The run
 * goes on in the same way as before, if `is_over` is not stated. */
static void
looks (SatinRun *run, const char *wanted)
{
  g_autoptr (GError) error = NULL;

  if (look_at_checkpoint (run, &error))
    note ("%s%s", run->identity.run, run->over ? " over" : "");
  else
    note ("error %d: %s", error->code, error->message);
  noted (wanted);
  g_free (run->identity.run);
  run->identity.run = g_strdup ("new");
}

/* ---- rules ---- */

/* A check that fails ends the look with its own code; what comes after it is not asked. */
static void
checks_come_in_order (void)
{
  SatinRun run = a_run ();

  looks (&run, "look c.db - new\nmatches\nvalues\nused? c.db\nold\n");
  run.identity.mended = TRUE;
  looks (&run, "look c.db - new\nmatches\nvalues, mended\nused? c.db\nold\n");
  run.identity.mended = FALSE;
  refuses = "matches";
  looks (&run, "look c.db - new\nmatches\nerror 3: matches: no\n");
  refuses = "values";
  looks (&run, "look c.db - new\nmatches\nvalues\nerror 3: values: no\n");
  refuses = NULL;
  user = "in use";
  looks (&run, "look c.db - new\nmatches\nvalues\nused? c.db\nerror 5: in use\n");
  run.config.replay = (RunReplay *)&run; /* it only reads */
  looks (&run, "look c.db - new\nmatches\nvalues\nold\n");
  g_free (run.identity.run);
  run = a_node ();
  looks (&run, "look c.db f/" FOLDER_COPY " new\nmatches\nvalues\nused? c.db\nold\n");
  there.identity.run = NULL;
  looks (&run, "look c.db f/" FOLDER_COPY " new\nmatches\nvalues\nused? c.db\nnew\n");
  run.config.checkpoint = NULL;
  looks (&run, "new\n");
  g_free (run.identity.run);
}

/* Only a run that was started to continue needs a file there. */
static void
nothing_is_there (void)
{
  SatinRun run = a_run ();

  there.exists = FALSE;
  looks (&run, "look c.db - new\nnew\n");
  run.folder_run.resume = TRUE;
  looks (&run, "look c.db - new\nerror 4: there is no checkpoint at 'c.db'\n");
  run.folder_run.resume = FALSE;
  run.config.replay = (RunReplay *)&run;
  looks (&run, "look c.db - new\nerror 4: there is no checkpoint at 'c.db'\n");
  g_free (run.identity.run);
  run = a_node ();
  there.exists = FALSE;
  run.folder_run.resume = is_passed_on = TRUE;
  looks (&run,
         "look c.db f/" FOLDER_COPY " new\npass on f 5 there is no checkpoint at 'c.db'\nnew\n");
  g_assert_false (run.config.founder);
  g_free (run.identity.run);
}

/* Another node may reach the place. It founds the run then, and creates the trace. */
static void
a_place_that_cannot_be_read (void)
{
  SatinRun run = a_run ();

  fails_with = 4;
  is_passed_on = TRUE;
  looks (&run, "look c.db - new\nerror 4: no answer\n");
  g_assert_true (run.config.founder && run.begins_trace);
  g_free (run.identity.run);
  run = a_node ();
  fails_with = 3;
  is_passed_on = TRUE;
  looks (&run, "look c.db f/" FOLDER_COPY " new\nerror 3: no answer\n");
  g_assert_true (run.config.founder && run.begins_trace);
  fails_with = 4;
  is_passed_on = FALSE;
  looks (&run, "look c.db f/" FOLDER_COPY " new\npass on f 5 no answer\nerror 4: nobody is left\n");
  g_assert_true (run.config.founder && run.begins_trace);
  is_passed_on = TRUE;
  look_takes_us = 5 * G_USEC_PER_SEC; /* the others would wait as long */
  looks (&run, "look c.db f/" FOLDER_COPY " new\nerror 4: no answer\n");
  g_assert_true (run.config.founder && run.begins_trace);
  look_takes_us = 3 * G_USEC_PER_SEC;
  run.folder_run.nodes = 0;
  looks (&run, "look c.db f/" FOLDER_COPY " new\npass on f 1 no answer\nnew\n");
  g_assert_false (run.config.founder || run.begins_trace);
  g_free (run.identity.run);
}

/* As looks; `printed`: what stands on standard output. */
static void
shows (SatinRun *run, const char *printed, const char *wanted)
{
  Captured out = captured_begin (STDOUT_FILENO);

  looks (run, wanted);
  g_autofree char *text = captured_end (&out);
  g_assert_cmpstr (text, ==, printed);
}

#define ALONE "look c.db - new\nmatches\nvalues\nused? c.db\n"
#define AS_NODE "look c.db f/" FOLDER_COPY " new\nmatches\nvalues\nused? c.db\n"

/* The answer in the checkpoint is the run's, with its code: nothing runs. */
static void
an_answer_is_there (void)
{
  SatinRun run = a_run ();
  g_autoptr (GBytes) answer = g_bytes_new ("92\n", 3);

  there.finished = TRUE;
  there.answer = answer;
  there.exit_code = 9;
  shows (&run, "92\n", ALONE "new over\n");
  g_assert_cmpint (run.stop_code, ==, 9);
  warning = "beware";
  run.folder = (char *)"f";
  run.options.stats = (char *)"s";
  shows (&run, "92\n", AS_NODE "say beware\ns: since 2000, 3 workers\nremove f\nnew over\n");
  warning = NULL;
  run.options.stats = NULL;
  loses_output = TRUE;
  shows (&run, "92\n",
         AS_NODE "say cannot write the answer to standard output: full\nremove f\nnew over\n");
  g_assert_cmpint (run.stop_code, ==, 9);
  there.exit_code = 0;
  shows (&run, "92\n",
         AS_NODE "say cannot write the answer to standard output: full\nremove f\nnew over\n");
  g_assert_cmpint (run.stop_code, ==, 1);
  loses_output = run.over = FALSE;
  run.owner = RUN_EMBEDDED; /* it asks for the results of its roots */
  shows (&run, "", AS_NODE "old\n");
  run.owner = RUN_OF_APP;
  run.config.replay = (RunReplay *)&run;
  shows (&run, "", "look c.db f/" FOLDER_COPY " new\nmatches\nvalues\nold\n");
  g_free (run.identity.run);
}

/* A node gives it to the launcher. The answer is written before the end. */
static void
a_node_finds_an_answer (void)
{
  SatinRun run = a_node ();
  g_autoptr (GBytes) answer = g_bytes_new ("92\n", 3);

  there.finished = TRUE;
  there.answer = answer;
  there.exit_code = 9;
  warning = "beware";
  run.options.stats = (char *)"s";
  shows (&run, "", AS_NODE "write f/answer 92\n\nwritten\nend f 9 beware\nended\nnew over\n");
  g_assert_cmpint (run.stop_code, ==, 9);
  run.over = FALSE;
  refuses = "written";
  shows (&run, "", AS_NODE "write f/answer 92\n\nwritten\nerror 1: written: no\n");
  refuses = "ended";
  warning = NULL;
  shows (&run, "", AS_NODE "write f/answer 92\n\nwritten\nend f 9 -\nended\nerror 1: ended: no\n");
  g_free (run.identity.run);
}

/* A file that main has read is to have the same bytes. Other constants are compared later. */
static void
inputs_are_compared (void)
{
  g_autofree char *file = NULL;
  int fd = g_file_open_tmp ("satin-look-XXXXXX", &file, NULL);
  g_autofree char *input = g_strconcat ("input/", file, NULL),
                  *other = g_strconcat ("const/", file, NULL);
  g_autoptr (GBytes) same = g_bytes_new ("abc", 3), differs = g_bytes_new ("abd", 3);
  g_autoptr (GPtrArray) constants = g_ptr_array_new ();
  RestoreConstant gone = { (char *)"input//nowhere/at/all", NULL, differs };
  RestoreConstant named = { other, NULL, differs }, kept = { input, NULL, same };
  SatinRun run = a_run ();
  g_autoptr (GError) error = NULL;

  close (fd);
  g_assert_true (g_file_set_contents (file, "abc", 3, NULL));
  g_ptr_array_add (constants, &gone);
  g_ptr_array_add (constants, &named);
  g_ptr_array_add (constants, &kept);
  there.constants = constants;
  looks (&run, ALONE "old\n");
  kept.value = differs;
  g_assert_false (look_at_checkpoint (&run, &error));
  g_assert_cmpint (error->code, ==, 3);
  g_assert_nonnull (strstr (error->message, file));
  noted (ALONE);
  run.kept_inputs = TRUE;
  looks (&run, ALONE "old\n");
  g_clear_error (&error);
  g_assert_true (look_at_input (&run, "in", same, &error));
  noted ("in\n");
  refuses = "in";
  g_assert_false (look_at_input (&run, "in", same, &error));
  g_assert_cmpint (error->code, ==, 3);
  noted ("in\n");
  run.restore.exists = FALSE;
  g_clear_error (&error);
  g_assert_true (look_at_input (&run, "in", same, &error));
  noted ("");
  g_unlink (file);
  g_free (run.identity.run);
}

/* --new sets aside what is there, once: the launcher does it for the nodes. */
static void
a_run_begins_anew (void)
{
  const struct
  {
    gboolean anew, node, unnamed;
    const char *refuses, *moved, *wanted;
  } cases[]
      = { { FALSE, FALSE, FALSE, NULL, "m", "well\n" },
          { TRUE, FALSE, FALSE, NULL, "m", "c.db\nsay the old checkpoint is now 'm'\nwell\n" },
          { TRUE, FALSE, FALSE, NULL, NULL, "c.db\nwell\n" },
          { TRUE, FALSE, FALSE, "c.db", NULL, "c.db\nerror 3\n" },
          { TRUE, TRUE, FALSE, NULL, "m", "error 2\n" },
          { TRUE, FALSE, TRUE, NULL, "m", "error 2\n" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SatinRun run = a_run ();
      g_autoptr (GError) error = NULL;

      run.options.anew = cases[i].anew;
      run.node_process = cases[i].node;
      if (cases[i].unnamed)
        run.config.checkpoint = NULL;
      refuses = cases[i].refuses;
      moved_to = cases[i].moved;
      if (look_begin_anew (&run, &error))
        note ("well");
      else
        note ("error %d", error->code);
      noted (cases[i].wanted);
      g_free (run.identity.run);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  called = g_string_new (NULL);
  g_test_add_func ("/first-look/order", checks_come_in_order);
  g_test_add_func ("/first-look/nothing-there", nothing_is_there);
  g_test_add_func ("/first-look/unreadable", a_place_that_cannot_be_read);
  g_test_add_func ("/first-look/answer", an_answer_is_there);
  g_test_add_func ("/first-look/answer-of-a-node", a_node_finds_an_answer);
  g_test_add_func ("/first-look/inputs", inputs_are_compared);
  g_test_add_func ("/first-look/anew", a_run_begins_anew);
  return g_test_run ();
}
