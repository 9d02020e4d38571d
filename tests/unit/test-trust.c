/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin merge` and `satin trust`: what they read and write, in which order, where they stop, and
 * what they tell. The rooms below are wrapped: they note what they are asked for. */
#include "called.h"
#include "captured.h"

#include "command/command.h"

#include "coordinator/mark.h"
#include "coordinator/merge.h"
#include "coordinator/restore.h"

#include "host/temporary.h"

#include "node/checkpoint.h"

#include "storage/places/place.h"

#include <gio/gio.h>
#include <string.h>

#define FAR "sftp://h/c.db"

static Restore there;
static MergeTotals totals;
static const char *fails; /* (nullable) the step that fails */
static gboolean has_delta, has_key, fails_strangely;
static const char *user;  /* (nullable) who uses the checkpoint */
static char *temporary;   /* (nullable) the folder that exists now */
static char *place_there; /* stands for the store */

/* FALSE: this step fails. */
static gboolean
step (GError **error, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *line = g_strdup_vprintf (format, list);
  va_end (list);
  g_auto (GStrv) parts = g_strsplit (line, temporary != NULL ? temporary : "\n", -1);
  g_autofree char *named = g_strjoinv ("TMP", parts);
  note ("%s", named);
  if (fails == NULL || !g_str_has_prefix (named, fails))
    return TRUE;
  g_set_error (error, fails_strangely ? G_IO_ERROR : COORDINATOR_ERROR, 3, "no");
  return FALSE;
}

#define WRAPPED(type, name, ...) \
  type __wrap_##name (__VA_ARGS__); \
  type __wrap_##name (__VA_ARGS__)

WRAPPED (gboolean, merge_files, const char *target, const char *const files[2], MergeTotals *to,
         GError **error)
{
  *to = totals;
  totals = (MergeTotals){ 0 };
  return step (error, "merge %s %s %s", target, files[0], files[1]);
}

WRAPPED (gboolean, merge_trust, const char *path, MergeTotals *to, GError **error)
{
  *to = totals;
  totals = (MergeTotals){ 0 };
  return step (error, "trust %s", path);
}

WRAPPED (gboolean, restore_look_for, const char *target, const char *copy, const Identity *identity,
         Restore *restore, GError **error)
{
  g_assert_true (copy == NULL && identity == NULL);
  *restore = there;
  there = (Restore){ .exists = FALSE };
  return step (error, "look at %s", target);
}

WRAPPED (gboolean, restore_copy, const char *from, const char *to, GError **error)
{
  return step (error, "copy %s to %s", from, to);
}

WRAPPED (char *, checkpoint_in_use, const Restore *restore, const char *checkpoint)
{
  g_assert_true (restore->exists);
  note ("used? %s", checkpoint);
  return g_strdup (user);
}

WRAPPED (gboolean, mark_has_key, void)
{
  return has_key;
}

WRAPPED (void, mark_prove_files, gboolean trusts)
{
  note ("prove%s", trusts ? ", and trust" : "");
}

WRAPPED (char *, temporary_make, GError **error)
{
  temporary = g_strdup ("/tmp/satin-copy-123");
  return step (error, "make %s", temporary) ? g_strdup (temporary) : NULL;
}

WRAPPED (void, temporary_remove, char *folder)
{
  (void)step (NULL, "remove %s", folder);
  g_free (folder);
  g_clear_pointer (&temporary, g_free);
}

WRAPPED (void, temporary_watch_signals, void)
{
}

WRAPPED (Place *, place_open, const char *target, GError **error)
{
  return step (error, "open %s", target) ? (Place *)&place_there : NULL;
}

WRAPPED (void, place_free, Place *place)
{
  g_assert_true (place == NULL || place == (Place *)&place_there);
}

WRAPPED (gboolean, place_look, Place *place, const char *suffix, PlaceState *state, GError **error)
{
  g_assert_true (place == (Place *)&place_there);
  *state = (PlaceState){ .exists = TRUE, .tag = g_strdup ("tag"), .has_delta = has_delta };
  return step (error, "state of '%s'", suffix);
}

WRAPPED (gboolean, place_put, Place *place, const char *suffix, const char *from,
         const PlaceState *expected, PlaceState *state, GError **error)
{
  g_assert_true (place == (Place *)&place_there && state == NULL);
  return step (error, "put %s at '%s' in place of %s", from, suffix,
               expected != NULL ? expected->tag : "any");
}

WRAPPED (gboolean, place_remove, Place *place, const char *suffix, const PlaceState *expected,
         GError **error)
{
  g_assert_true (place == (Place *)&place_there && expected == NULL);
  return step (error, "remove '%s'", suffix);
}

/* ---- the rig ---- */

static void
reset (void)
{
  g_strfreev (there.identity.argv);
  g_free (there.identity.app);
  merge_totals_clear (&totals);
  there
      = (Restore){ .exists = TRUE,
                   .origin = SQL_ORIGIN_FOREIGN,
                   .identity = { .app = g_strdup ("fib"), .argv = g_strsplit ("8 30", " ", -1) } };
  totals = (MergeTotals){ .rows = { 3, 5 }, .united = 6, .done = 0.75 };
  fails = user = NULL;
  has_delta = fails_strangely = FALSE;
  has_key = TRUE;
}

/* `wanted`: the steps, then what is printed, then the messages. */
static void
prints (int (*verb) (int, char **), const char *words, int wanted_code, const char *wanted)
{
  g_auto (GStrv) argv = g_strsplit (words, " ", -1);
  Captured err = captured_begin (STDERR_FILENO), out = captured_begin (STDOUT_FILENO);
  int code = verb ((int)g_strv_length (argv), argv);
  g_autofree char *text = captured_end (&out), *messages = captured_end (&err);
  g_autofree char *all = g_strconcat (called->str, text, messages, NULL);

  g_assert_cmpstr (all, ==, wanted);
  g_assert_cmpint (code, ==, wanted_code);
  g_assert_null (temporary); /* nothing is left */
  g_string_truncate (called, 0);
}

/* ---- merge ---- */

static void
two_files_are_merged (void)
{
  reset ();
  prints (command_merge, "merge /m /a /b", COMMAND_DONE,
          "prove\nmerge /m /a /b\n6 results of 3 and 5, 75.00 % done\n");
  reset ();
  totals.damage[0] = g_strdup ("lost");
  totals.warning[0] = g_strdup ("first");
  totals.warning[1] = g_strdup ("second");
  prints (command_merge, "merge --trust /m /a /b", COMMAND_DONE,
          "prove, and trust\nmerge /m /a /b\n6 results of 3 and 5, 75.00 % done\n"
          "satin: first\nsatin: second\n"
          "satin: '/a' is damaged: lost; the lost rows are left out\n");
  reset ();
  totals.damage[1] = g_strdup ("lost");
  prints (command_merge, "merge /m /a /b", COMMAND_DONE,
          "prove\nmerge /m /a /b\n6 results of 3 and 5, 75.00 % done\n"
          "satin: '/b' is damaged: lost; the lost rows are left out\n");
  reset ();
  fails = "merge";
  prints (command_merge, "merge /m /a /b", COMMAND_UNUSABLE, "prove\nmerge /m /a /b\nsatin: no\n");
  reset ();
  fails = "merge";
  fails_strangely = TRUE;
  prints (command_merge, "merge /m /a /b", COMMAND_ERROR, "prove\nmerge /m /a /b\nsatin: no\n");
  g_assert_cmpint (
      command_merge (3, (char *[]){ (char *)"merge", (char *)"/m", (char *)"/a", NULL }), ==,
      COMMAND_USAGE);
  noted ("");
}

/* A store gets the file when it is complete. */
static void
files_are_merged_to_a_store (void)
{
  reset ();
  prints (command_merge, "merge " FAR " /a sftp://h/b", COMMAND_DONE,
          "prove\nmake TMP\nmerge TMP/merged /a sftp://h/b\ncopy TMP/merged to " FAR
          "\nremove TMP\n6 results of 3 and 5, 75.00 % done\n");
  reset ();
  fails = "merge";
  prints (command_merge, "merge " FAR " /a /b", COMMAND_UNUSABLE,
          "prove\nmake TMP\nmerge TMP/merged /a /b\nremove TMP\nsatin: no\n");
  reset ();
  fails = "copy";
  prints (command_merge, "merge " FAR " /a /b", COMMAND_UNUSABLE,
          "prove\nmake TMP\nmerge TMP/merged /a /b\ncopy TMP/merged to " FAR
          "\nremove TMP\nsatin: no\n");
}

/* ---- trust ---- */

#define TOLD(target) \
  "'" target "': 6 results of fib 8 30, 75.00 % done, count as yours from now on; `satin resume`" \
  " alone still does not start the program that it names\n"
#define BEFORE(target) "prove, and trust\nlook at " target "\nused? " target "\n"

static void
a_file_is_trusted (void)
{
  reset ();
  prints (command_trust, "trust /c", COMMAND_DONE, BEFORE ("/c") "trust /c\n" TOLD ("/c"));
  reset ();
  there.origin = SQL_ORIGIN_OLD;
  totals.damage[0] = g_strdup ("lost");
  prints (command_trust, "trust /c", COMMAND_DONE,
          BEFORE ("/c") "trust /c\n" TOLD ("/c") "satin: '/c' is damaged: lost; the lost rows are"
                                                 " left out\n");
  reset ();
  fails = "trust /c";
  prints (command_trust, "trust /c", COMMAND_UNUSABLE, BEFORE ("/c") "trust /c\nsatin: no\n");
}

/* A file is written only if it is somebody else's, nobody uses it, and it can be proved. */
static void
a_file_stays_as_it_is (void)
{
  reset ();
  there.exists = FALSE;
  prints (command_trust, "trust /c", COMMAND_STORE,
          "prove, and trust\nlook at /c\nsatin: there is no checkpoint at '/c'\n");
  reset ();
  fails = "look";
  prints (command_trust, "trust /c", COMMAND_UNUSABLE, "prove, and trust\nlook at /c\nsatin: no\n");
  reset ();
  there.origin = SQL_ORIGIN_OWN;
  prints (command_trust, "trust /c", COMMAND_DONE,
          "prove, and trust\nlook at /c\n'/c' bears your proof already\n");
  reset ();
  user = "in use";
  prints (command_trust, "trust /c", COMMAND_IN_USE, BEFORE ("/c") "satin: in use\n");
  reset ();
  has_key = FALSE;
  prints (command_trust, "trust /c", COMMAND_ERROR,
          BEFORE ("/c") "satin: you have no key to prove results with: satin/key in your"
                        " configuration folder cannot be made or read\n");
}

/* At a store the file is replaced by a trusted copy, if it is still the one that was copied. */
static void
a_file_at_a_store_is_trusted (void)
{
  static const char *const steps[]
      = { "make TMP\n",          "open " FAR "\n",
          "state of ''\n",       "copy " FAR " to TMP/trusted\n",
          "trust TMP/trusted\n", "put TMP/trusted at '' in place of tag\n",
          "remove '-delta'\n" };

  for (guint n = 1; n <= G_N_ELEMENTS (steps); n++)
    for (int delta = 0; delta <= 1; delta++)
      {
        g_autoptr (GString) wanted = g_string_new (BEFORE (FAR));
        guint n_steps = G_N_ELEMENTS (steps) - (delta ? 0 : 1);
        gboolean good = n >= n_steps;

        reset ();
        has_delta = delta;
        g_autofree char *failing = g_strndup (steps[MIN (n, 6)], strlen (steps[MIN (n, 6)]) - 1);
        fails = good ? NULL : failing;
        for (guint i = 0; i < MIN (n + 1, n_steps); i++)
          g_string_append (wanted, steps[i]);
        g_string_append (wanted, "remove TMP\n");
        g_string_append (wanted, good ? TOLD (FAR) : "satin: no\n");
        prints (command_trust, "trust " FAR, good ? COMMAND_DONE : COMMAND_UNUSABLE, wanted->str);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  called = g_string_new (NULL);
  g_test_add_func ("/trust/merge", two_files_are_merged);
  g_test_add_func ("/trust/merge-to-a-store", files_are_merged_to_a_store);
  g_test_add_func ("/trust/file", a_file_is_trusted);
  g_test_add_func ("/trust/stays", a_file_stays_as_it_is);
  g_test_add_func ("/trust/store", a_file_at_a_store_is_trusted);
  return g_test_run ();
}
