/* SPDX-License-Identifier: BSD-3-Clause */
/* See mark.h. If two processes make the key at the same time, the first to link it wins, and both
 * use that key. */

#include "coordinator/mark.h"
#include "coordinator/proof.h"

#include "host/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_BYTES 32

static char *
key_path (void)
{
  return g_build_filename (g_get_user_config_dir (), "satin", "key", NULL);
}

/* 0, or an errno that says why the key cannot be used; EPERM: others could read or replace it,
 * EMSGSIZE: it has a wrong size. */
static int
read_key (const char *path, guint8 key[KEY_BYTES])
{
  struct stat status;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return errno;
  gboolean is_safe = fstat (fd, &status) == 0 && S_ISREG (status.st_mode)
                     && status.st_uid == geteuid () && (status.st_mode & 077) == 0;
  gssize n = is_safe ? whole_read (fd, key, KEY_BYTES) : 0;
  (void)close (fd);
  return !is_safe ? EPERM : status.st_size != KEY_BYTES ? EMSGSIZE : n == KEY_BYTES ? 0 : EIO;
}

static const char *
say_fault (int failed)
{
  return failed == EPERM      ? "it is not a file that is yours alone (mode 0600)"
         : failed == EMSGSIZE ? "it is not 32 bytes long"
                              : g_strerror (failed);
}

static gboolean
fill_key (int fd)
{
  guint8 fresh[KEY_BYTES];
  return getrandom (fresh, sizeof fresh, 0) == (ssize_t)sizeof fresh
         && whole_write (fd, fresh, sizeof fresh) && fsync (fd) == 0;
}

static void
make_key (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *trial = g_strconcat (path, ".XXXXXX", NULL);
  int fd = g_mkdir_with_parents (folder, 0700) == 0 ? g_mkstemp_full (trial, O_RDWR, 0600) : -1;
  if (fd < 0)
    return;
  if (fill_key (fd))
    (void)!link (trial, path);
  (void)close (fd);
  (void)g_unlink (trial);
}

static void
add_text (GString *to, const char *text)
{
  g_string_append_printf (to, "%" G_GSIZE_FORMAT ":%s", strlen (text), text);
}

/* (transfer full: line) */
static char *
sign_line (const guint8 key[KEY_BYTES], GString *line)
{
  char *token = g_compute_hmac_for_data (G_CHECKSUM_SHA256, key, KEY_BYTES,
                                         (const guchar *)line->str, line->len);
  g_string_free (line, TRUE);
  return token;
}

static char *
token_of (const guint8 key[KEY_BYTES], const char *program, const char *folder, char *const *argv)
{
  GString *line = g_string_new ("satin mark 1\n");
  add_text (line, program);
  add_text (line, folder);
  for (guint i = 0; argv[i] != NULL; i++)
    add_text (line, argv[i]);
  return sign_line (key, line);
}

static char *
rows_token_of (const guint8 key[KEY_BYTES], char *const *argv)
{
  GString *line = g_string_new ("satin rows 1\n");
  for (guint i = 0; argv[i] != NULL; i++)
    add_text (line, argv[i]);
  return sign_line (key, line);
}

/* Reads the key; makes it at its first use. */
static gboolean
find_key (guint8 key[KEY_BYTES])
{
  g_autofree char *path = key_path ();
  int failed = read_key (path, key);
  if (failed == ENOENT)
    {
      make_key (path);
      failed = read_key (path, key);
    }
  return failed == 0;
}

char *
mark_token (const char *program, const char *folder, char *const *argv)
{
  guint8 key[KEY_BYTES];
  return find_key (key) ? token_of (key, program, folder, argv) : NULL;
}

gboolean
mark_has_key (void)
{
  guint8 key[KEY_BYTES];
  return find_key (key);
}

char *
mark_rows_token (char *const *argv)
{
  guint8 key[KEY_BYTES];
  return find_key (key) ? rows_token_of (key, argv) : NULL;
}

/* `text`: distinguishes the marks of the formats. */
static char *
make_mark (const char *token, const char *text, const Digest *identity)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (identity, hex);
  g_autofree char *signee = g_strconcat (text, hex, NULL);
  return token == NULL ? NULL
                       : g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)token,
                                                    strlen (token), signee, -1);
}

/* For files of format 1, whose rows have no proofs. */
#define TEXT_OLD ""
#define TEXT_NOW "satin checkpoint 2\n"

char *
mark_make (const char *token, const Digest *identity)
{
  return make_mark (token, TEXT_NOW, identity);
}

static gboolean
bears (const Identity *found, const char *token, const char *text)
{
  g_autofree char *mark = make_mark (token, text, &found->identity);
  return mark != NULL && g_strcmp0 (mark, found->mark) == 0;
}

/* The token of the command line that the file names. (transfer full) (nullable) */
static char *
token_of_found (const guint8 key[KEY_BYTES], const Identity *found)
{
  return found->program != NULL && found->folder != NULL && found->argv != NULL
             ? token_of (key, found->program, found->folder, found->argv)
             : NULL;
}

gboolean
mark_is_right (const Identity *found, char **reason)
{
  g_autofree char *path = key_path ();
  guint8 key[KEY_BYTES];
  int failed = read_key (path, key);
  *reason = NULL;
  gboolean has_mark = found->mark != NULL && found->mark[0] != '\0';
  if (failed != 0 && failed != ENOENT)
    *reason = g_strdup_printf ("%syour key '%s' cannot be used: %s",
                               has_mark ? "" : "it bears no mark, and ", path, say_fault (failed));
  else if (!has_mark)
    *reason = g_strdup ("it bears no mark");
  else if (failed == ENOENT)
    *reason = g_strdup_printf ("you have no key '%s' that could prove its mark yours", path);
  if (*reason != NULL)
    return FALSE;
  g_autofree char *token = token_of_found (key, found);
  if (bears (found, token, TEXT_NOW) || bears (found, token, TEXT_OLD))
    return TRUE;
  *reason = g_strdup ("it bears the mark of another user, or was changed");
  return FALSE;
}

/* The token of this process's command line: a node has no key. */
static char *the_token;

static gboolean
bears_old_mark (const Identity *found)
{
  g_autofree char *path = key_path ();
  guint8 key[KEY_BYTES];
  if (bears (found, the_token, TEXT_OLD))
    return TRUE;
  g_autofree char *token = read_key (path, key) == 0 ? token_of_found (key, found) : NULL;
  return bears (found, token, TEXT_OLD);
}

/* As mark_rows_token, but makes no key. */
static char *
rows_token_found (char *const *argv)
{
  g_autofree char *path = key_path ();
  guint8 key[KEY_BYTES];
  return read_key (path, key) == 0 ? rows_token_of (key, argv) : NULL;
}

void
mark_prove_run (const char *token, const char *rows_token, gboolean trusts)
{
  g_free (the_token);
  the_token = g_strdup (token);
  proof_set_rules (
      &(ProofRules){ .token = rows_token, .bears_old_mark = bears_old_mark, .trusts = trusts });
}

void
mark_prove_files (gboolean trusts)
{
  proof_set_rules (&(ProofRules){
      .token_of = rows_token_found, .bears_old_mark = bears_old_mark, .trusts = trusts });
}
