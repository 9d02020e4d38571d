/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads the identity in the table run, and compares identities before every take-over.
 * Knows nothing of results and threads. */
#include "coordinator/identity.h"

#include "storage/sql.h"
#include "storage/tables.h"

#include <string.h>

#define BUILD_DIGITS_SHOWN 12

G_DEFINE_QUARK (satin - coordinator - error, coordinator_error)

void
identity_clear (Identity *identity)
{
  g_free (identity->run);
  g_free (identity->name);
  g_free (identity->app);
  g_free (identity->program);
  g_free (identity->folder);
  g_strfreev (identity->argv);
  g_free (identity->options);
  g_free (identity->version);
  g_free (identity->build);
  g_free (identity->mark);
  memset (identity, 0, sizeof *identity);
}

void
identity_take_error (GError **error, GError *from)
{
  g_assert (from != NULL);

  gboolean is_unusable = g_error_matches (from, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE);
  g_set_error_literal (error, COORDINATOR_ERROR,
                       is_unusable ? COORDINATOR_ERROR_UNUSABLE : COORDINATOR_ERROR_STORE,
                       from->message);
  g_error_free (from);
}

void
identity_rename_error (GError *error, const char *from, const char *to)
{
  if (error == NULL || from == NULL || to == NULL || strstr (error->message, from) == NULL)
    return;
  GString *text = g_string_new (error->message);
  (void)g_string_replace (text, from, to, 0);
  g_free (error->message);
  error->message = g_string_free (text, FALSE);
}

/* In GVariant's text form of byte strings, which is readable and preserves all bytes. */
static char *
argv_write (char *const *argv)
{
  static char *const none[] = { NULL };
  g_autoptr (GVariant) array = g_variant_ref_sink (
      g_variant_new_bytestring_array ((const char *const *)(argv != NULL ? argv : none), -1));
  return g_variant_print (array, FALSE);
}

static char **
argv_read (const char *text)
{
  g_autoptr (GVariant) array
      = text != NULL ? g_variant_parse (G_VARIANT_TYPE_BYTESTRING_ARRAY, text, NULL, NULL, NULL)
                     : NULL;
  return array != NULL ? g_variant_dup_bytestring_array (array, NULL) : NULL;
}

gboolean
identity_save (Sql *sql, const Identity *identity, GError **error)
{
  char schema[DIGEST_HEX_LENGTH + 1], digest[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (&identity->schema, schema);
  digest_to_hex (&identity->identity, digest);
  g_autofree char *argv = argv_write (identity->argv);
  g_autofree char *started
      = g_strdup_printf ("%" G_GINT64_FORMAT, g_get_real_time () / G_USEC_PER_SEC);
  /* A file that was taken over may have the mark of another command line. */
  const char *mark = identity->mark != NULL ? identity->mark : "";
  const char *const births[][2] = { { "id", identity->run }, { "started", started } };
  const char *const values[][2] = { { "identity", digest },
                                    { "schema", schema },
                                    { "app", identity->app },
                                    { "argv", argv },
                                    { "name", identity->name },
                                    { "program", identity->program },
                                    { "folder", identity->folder },
                                    { "options", identity->options },
                                    { "version", identity->version },
                                    { "build", identity->build },
                                    { "mark", mark } };
  for (gsize i = 0; i < G_N_ELEMENTS (births); i++)
    if (!tables_set_first (sql, births[i][0], births[i][1], strlen (births[i][1]), error))
      return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    if (values[i][1] != NULL && !tables_set (sql, values[i][0], values[i][1], error))
      return FALSE;
  return TRUE;
}

static gboolean
load_digest (Sql *sql, const char *key, Digest *digest, GError **error)
{
  g_autofree char *hex = tables_get_string (sql, key, error);
  return hex != NULL && digest_from_hex (hex, digest);
}

/* The rows prove which identity a file belongs to, even if other rows were lost. */
gboolean
identity_load (Sql *sql, const char *target, Identity *identity, GError **error)
{
  Identity found = { 0 };
  if (!digest_from_hex (sql->identity, &found.identity))
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                   "checkpoint '%s' is not usable: it does not say what it is of", target);
      return FALSE;
    }
  found.run = tables_get_string (sql, "id", NULL);
  (void)load_digest (sql, "schema", &found.schema, NULL);
  found.name = tables_get_string (sql, "name", NULL);
  found.app = tables_get_string (sql, "app", NULL);
  found.program = tables_get_string (sql, "program", NULL);
  found.folder = tables_get_string (sql, "folder", NULL);
  g_autofree char *argv = tables_get_string (sql, "argv", NULL);
  found.argv = argv_read (argv);
  found.options = tables_get_string (sql, "options", NULL);
  found.version = tables_get_string (sql, "version", NULL);
  found.build = tables_get_string (sql, "build", NULL);
  found.mark = tables_get_string (sql, "mark", NULL);
  *identity = found;
  return TRUE;
}

static gboolean
argv_is_equal (char *const *a, char *const *b)
{
  gsize i = 0;
  if (a == NULL || b == NULL)
    return a == b;
  while (a[i] != NULL && b[i] != NULL && strcmp (a[i], b[i]) == 0)
    i++;
  return a[i] == NULL && b[i] == NULL;
}

/* The words as a person would type them. (transfer full) */
static char *
show_words (char *const *words)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (gsize i = 0; words != NULL && words[i] != NULL; i++)
    {
      g_autofree char *word = g_utf8_make_valid (words[i], -1);
      g_autofree char *quoted = g_shell_quote (word);
      gboolean plain = word[0] != '\0' && strpbrk (word, " \t\n\"'\\$`*?[]{}()<>|&;#~!") == NULL;
      g_string_append_printf (text, "%s%s", text->len == 0 ? "" : " ", plain ? word : quoted);
    }
  return g_strdup (text->len == 0 ? "(none)" : text->str);
}

static char *
difference (const Identity *found, const Identity *wanted)
{
  static const Digest lost = { 0 };
  if (found->app != NULL && g_strcmp0 (found->app, wanted->app) != 0)
    return g_strdup_printf ("it is of the program '%s', this is '%s'", found->app,
                            wanted->app != NULL ? wanted->app : "?");
  if (!digest_equal (&found->schema, &lost) && !digest_equal (&found->schema, &wanted->schema))
    return g_strdup_printf ("it is of another version of '%s': the job tables differ",
                            wanted->app != NULL ? wanted->app : "?");
  if (!argv_is_equal (found->argv, wanted->argv))
    {
      g_autofree char *theirs = show_words (found->argv);
      g_autofree char *ours = show_words (wanted->argv);
      if (found->argv == NULL)
        return g_strdup_printf ("its arguments are lost, and with %s its identity is another one",
                                ours);
      return g_strdup_printf ("it was made with the arguments %s, these are %s", theirs, ours);
    }
  return g_strdup ("its identity is another one");
}

static gboolean
build_matches (const Identity *found, const Identity *wanted, const char *target, GError **error)
{
  if (wanted->build == NULL || wanted->mended || g_strcmp0 (found->build, wanted->build) == 0)
    return TRUE;
  g_autofree char *ours = identity_show_build (wanted->build);
  g_autofree char *theirs = found->build != NULL ? identity_show_build (found->build) : NULL;
  g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
               "checkpoint '%s' %s%s, and this program is %s: the two may compute different "
               "results; say --mended if the saved results still hold, else name another "
               "checkpoint",
               target, theirs != NULL ? "was made by " : "does not say which build made it",
               theirs != NULL ? theirs : "", ours);
  return FALSE;
}

char *
identity_show_build (const char *build)
{
  gsize length = strspn (build, "0123456789abcdef");
  g_autofree char *text = g_utf8_make_valid (build, -1);
  return length == DIGEST_HEX_LENGTH && build[length] == '\0'
             ? g_strdup_printf ("build %.*s", BUILD_DIGITS_SHOWN, build)
             : g_strdup_printf ("'%s'", text);
}

gboolean
identity_matches (const Identity *found, const Identity *wanted, const char *target, GError **error)
{
  if (digest_equal (&found->identity, &wanted->identity))
    return build_matches (found, wanted, target, error);
  g_autofree char *reason = difference (found, wanted);
  g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
               "checkpoint '%s' belongs to another run: %s; name another checkpoint", target,
               reason);
  return FALSE;
}
