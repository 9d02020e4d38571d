/* SPDX-License-Identifier: BSD-3-Clause */
#include "coordinator/mark.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static char *config, *key;

/* The identity of a marked file. */
static Identity
sample (void)
{
  const char *argv[] = { "6", "8 9", NULL };
  Identity identity = { .program = g_strdup ("/bin/ham"),
                        .folder = g_strdup ("/home/me"),
                        .argv = g_strdupv ((char **)argv),
                        .identity = digest_of_string ("ham") };
  g_autofree char *token = mark_token (identity.program, identity.folder, identity.argv);
  identity.mark = mark_make (token, &identity.identity);
  return identity;
}

static gboolean
is_right (const Identity *identity, const char *why)
{
  g_autofree char *reason = NULL;
  gboolean right = mark_is_right (identity, &reason);
  g_assert_true (right == (reason == NULL));
  if (!right)
    g_assert_nonnull (strstr (reason, why));
  return right;
}

static void
replace (char **text, const char *other)
{
  g_free (*text);
  *text = g_strdup (other);
}

/* Each single byte of the marked data, of the mark and of the key counts. */
static void
test_near_misses (void)
{
  Identity identity = sample ();
  char *texts[] = { identity.program, identity.folder, identity.argv[0],
                    identity.argv[1], identity.mark,   (char *)identity.identity.bytes };
  gsize sizes[] = { 8, 8, 1, 3, 64, sizeof identity.identity.bytes };
  g_autofree char *bytes = NULL;
  gsize size;

  for (guint t = 0; t < G_N_ELEMENTS (texts); t++)
    for (gsize i = 0; i < sizes[t]; i++)
      {
        texts[t][i] ^= 1;
        g_assert_false (is_right (&identity, "was changed"));
        texts[t][i] ^= 1;
      }
  g_assert_true (g_file_get_contents (key, &bytes, &size, NULL));
  g_assert_cmpuint (size, ==, 32);
  for (gsize i = 0; i <= size; i++) /* in the last turn nothing is changed */
    {
      if (i < size)
        bytes[i] ^= 1;
      g_assert_true (
          g_file_set_contents_full (key, bytes, 32, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
      g_assert_true (is_right (&identity, "was changed") == (i == size));
      if (i < size)
        bytes[i] ^= 1;
    }
  identity_clear (&identity);
}

static void
test_key (void)
{
  struct stat status;
  g_autofree char *first = mark_token ("a", "b", (char *[]){ NULL });
  g_autofree char *second = mark_token ("a", "b", (char *[]){ NULL });
  g_assert_cmpstr (first, ==, second);
  g_assert_cmpuint (strlen (first), ==, 64);
  g_assert_cmpint (stat (key, &status), ==, 0);
  g_assert_cmpint (status.st_size, ==, 32);
  g_assert_cmpint (status.st_mode & 0777, ==, 0600);
}

static void
test_changed (void)
{
  const char *joined[] = { "6", "8", "9", NULL };
  Identity identity = sample ();
  g_assert_true (is_right (&identity, ""));
  replace (&identity.program, "/bin/dash");
  g_assert_false (is_right (&identity, "was changed"));
  replace (&identity.program, "/bin/ham");
  replace (&identity.folder, "/");
  g_assert_false (is_right (&identity, "was changed"));
  replace (&identity.folder, "/home/me");
  replace (&identity.argv[1], "8");
  g_assert_false (is_right (&identity, "was changed"));
  g_strfreev (identity.argv);
  identity.argv = g_strdupv ((char **)joined);
  g_assert_false (is_right (&identity, "was changed"));
  identity_clear (&identity);

  identity = sample ();
  identity.identity = digest_of_string ("another");
  g_assert_false (is_right (&identity, "was changed"));
  identity.identity = digest_of_string ("ham");
  g_assert_true (is_right (&identity, ""));
  g_clear_pointer (&identity.folder, g_free);
  g_assert_false (is_right (&identity, "was changed"));
  replace (&identity.mark, "");
  g_assert_false (is_right (&identity, "bears no mark"));
  identity_clear (&identity);
}

/* A text that looks like the input of a token, divided into a program, a folder and arguments in
 * every way. */
static void
test_cuts (void)
{
  const char *text = "1:11:21:";
  const guint length = 8, cuts_max = 4;
  g_autoptr (GHashTable) tokens = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n = 0;

  for (guint cuts = 1; cuts <= cuts_max; cuts++)
    {
      guint ways = 1;
      for (guint i = 0; i < cuts; i++)
        ways *= length + 1;
      for (guint way = 0; way < ways; way++)
        {
          char *words[6] = { NULL };
          guint at = 0, rest = way;
          for (guint i = 0; i < cuts && at <= length; i++, rest /= length + 1)
            {
              guint end = rest % (length + 1);
              if (end >= at)
                words[i] = g_strndup (text + at, end - at);
              at = end >= at ? end : length + 1;
            }
          if (at <= length)
            {
              words[cuts] = g_strdup (text + at);
              char *token = mark_token (words[0], words[1], words + 2);
              n++;
              g_assert_true (g_hash_table_add (tokens, token));
            }
          for (guint i = 0; i < G_N_ELEMENTS (words); i++)
            g_free (words[i]);
        }
    }
  g_assert_cmpuint (n, ==, 9 + 45 + 165 + 495);
}

static gpointer
make_token (gpointer data)
{
  return mark_token (data, "/", (char *[]){ NULL });
}

/* The first key that is made is kept, and all processes use it. */
static void
test_first_use (void)
{
  for (guint round = 0; round < 20; round++)
    {
      GThread *threads[4];
      g_autofree char *mine = NULL;
      g_unlink (key);
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new ("user", make_token, "program");
      mine = make_token ("program");
      for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
        {
          g_autofree char *token = g_thread_join (threads[i]);
          g_assert_cmpstr (token, ==, mine);
        }
    }
}

/* A key that others may read, or that this user cannot write, is not used. */
static void
test_no_key (void)
{
  Identity identity = sample ();
  g_chmod (key, 0640);
  g_assert_null (make_token ("program"));
  g_assert_false (is_right (&identity, "mode 0600"));
  g_chmod (key, 0600);
  g_assert_true (is_right (&identity, ""));
  g_assert_true (
      g_file_set_contents_full (key, "short", 5, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
  g_assert_null (make_token ("program"));
  g_assert_false (is_right (&identity, "cannot be used: it is not 32 bytes long"));
  replace (&identity.mark, "");
  g_assert_false (is_right (&identity, "bears no mark, and your key '"));
  replace (&identity.mark, "mark");
  g_unlink (key);
  g_assert_false (is_right (&identity, "have no key"));
  g_assert_false (g_file_test (key, G_FILE_TEST_EXISTS));
  g_assert_cmpint (g_mkdir (key, 0700), ==, 0);
  g_assert_null (make_token ("program"));
  g_rmdir (key);
  identity_clear (&identity);
}

static void
test_rows_token (void)
{
  char *const lines[][4] = { { "6", "8 9" }, { "68 9" }, { "6", "8", "9" }, { NULL } };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autofree char *again = mark_rows_token (lines[i]);
      char *token = mark_rows_token (lines[i]);
      g_assert_cmpstr (token, ==, again);
      g_assert_true (g_hash_table_add (seen, token));
    }
  g_autofree char *of_mark = mark_token ("6", "8 9", (char *[]){ NULL });
  g_assert_false (g_hash_table_contains (seen, of_mark));
}

/* With a file of the present format a forger cannot make the mark of format 1, whose rows have no
 * proofs. */
static void
test_old_mark (void)
{
  Identity identity = sample ();
  char hex[DIGEST_HEX_LENGTH + 1];
  g_autofree char *token = mark_token (identity.program, identity.folder, identity.argv);
  digest_to_hex (&identity.identity, hex);
  g_autofree char *old = g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)token,
                                                    strlen (token), hex, -1);

  g_assert_cmpstr (identity.mark, !=, old);
  replace (&identity.mark, old);
  g_assert_true (is_right (&identity, ""));
  identity_clear (&identity);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = NULL;
  int code;
  config = g_dir_make_tmp ("satin-mark-XXXXXX", NULL);
  g_setenv ("XDG_CONFIG_HOME", config, TRUE);
  folder = g_build_filename (config, "satin", NULL);
  key = g_build_filename (folder, "key", NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mark/the-key-is-made-once", test_key);
  g_test_add_func ("/mark/what-was-changed-bears-a-wrong-one", test_changed);
  g_test_add_func ("/mark/near-misses-are-refused", test_near_misses);
  g_test_add_func ("/mark/no-two-command-lines-are-alike", test_cuts);
  g_test_add_func ("/mark/the-token-of-rows-is-of-the-arguments", test_rows_token);
  g_test_add_func ("/mark/that-of-format-1-is-another-one", test_old_mark);
  g_test_add_func ("/mark/two-first-uses-make-one-key", test_first_use);
  g_test_add_func ("/mark/without-a-key-there-is-none", test_no_key);
  code = g_test_run ();
  g_unlink (key);
  g_rmdir (folder);
  g_rmdir (config);
  g_free (key);
  g_free (config);
  return code;
}
