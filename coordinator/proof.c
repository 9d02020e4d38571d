/* SPDX-License-Identifier: BSD-3-Clause */
/* A file is this user's if at least one row of its table run proves itself, since nobody else can
 * make such a row. Then all rows without a proof count as damage, so that nobody can insert rows.
 * If all proofs are removed, the file counts as a stranger's. To look like a file of format 1 it
 * would need a mark of that format, which later files do not have. Tests: test-proof, signed.sh. */
#include "coordinator/proof.h"

#include "storage/rowsum.h"

#include <string.h>

#define DIGEST_BYTES 32

static ProofRules the_rules; /* written once, before other threads exist */
static gboolean has_rules;

void
proof_set_rules (const ProofRules *rules)
{
  g_free ((char *)the_rules.token);
  has_rules = rules != NULL;
  the_rules = has_rules ? *rules : (ProofRules){ 0 };
  the_rules.token = g_strdup (the_rules.token);
}

/* FALSE: there is nothing to prove with. */
static gboolean
make_seal (const char *identity, const char *run, char *const *argv, guint8 seal[ROWSUM_SEAL_BYTES])
{
  guint8 digest[DIGEST_BYTES];
  gsize size = sizeof digest;
  g_autofree char *token = the_rules.token != NULL                      ? g_strdup (the_rules.token)
                           : the_rules.token_of != NULL && argv != NULL ? the_rules.token_of (argv)
                                                                        : NULL;
  if (token == NULL || run == NULL)
    return FALSE;
  g_autofree char *text = g_strdup_printf ("satin seal 1\n%s\n%s", identity, run);
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, (const guchar *)token, strlen (token));
  g_hmac_update (hmac, (const guchar *)text, -1);
  g_hmac_get_digest (hmac, digest, &size);
  memcpy (seal, digest, ROWSUM_SEAL_BYTES);
  return TRUE;
}

gboolean
proof_is_possible (void)
{
  return the_rules.token != NULL || the_rules.token_of != NULL;
}

void
proof_seal (Sql *sql, const Identity *identity)
{
  guint8 seal[ROWSUM_SEAL_BYTES];
  g_assert (sql->identity != NULL);

  if (!has_rules)
    return;
  rowsum_seal (sql, make_seal (sql->identity, identity->run, identity->argv, seal) ? seal : NULL);
  sql->origin = SQL_ORIGIN_OWN;
}

/* TRUE: a setting proves itself under the seal that `file` has. */
static gboolean
proves_itself (Sql *file)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (file,
                   "SELECT EXISTS (SELECT 1 FROM run NOT INDEXED WHERE row_holds (sum, 'run', key,"
                   " value)) OR EXISTS (SELECT 1 FROM constant NOT INDEXED"
                   " WHERE name >= 'run/' AND name < 'run0'"
                   " AND row_holds (sum, 'constant', name, type, digest, value))",
                   NULL);
  if (statement == NULL || !sql_next (file, statement, &has_row, NULL) || !has_row)
    return FALSE;
  gboolean proves = sqlite3_column_int (statement, 0) != 0;
  sqlite3_reset (statement);
  return proves;
}

/* A damaged file may have lost the id of its run; its delta may have it. */
static void
load_found (Sql *file, Sql *delta, const char *run, Identity *found)
{
  Identity later = { 0 };
  if (!identity_load (file, "", found, NULL))
    return;
  if (delta != NULL && strcmp (delta->identity, file->identity) == 0)
    (void)identity_load (delta, "", &later, NULL);
  if (found->run == NULL)
    found->run = later.run != NULL ? g_steal_pointer (&later.run) : g_strdup (run);
  if (found->argv == NULL)
    found->argv = g_steal_pointer (&later.argv);
  identity_clear (&later);
}

void
proof_find (Sql *file, Sql *delta, const char *run)
{
  guint8 seal[ROWSUM_SEAL_BYTES];
  Identity found = { 0 };
  if (!has_rules)
    return;
  load_found (file, delta, run, &found);
  file->origin = SQL_ORIGIN_FOREIGN;
  if (make_seal (file->identity, found.run, found.argv, seal))
    {
      rowsum_seal (file, seal);
      if (delta != NULL)
        rowsum_seal (delta, seal);
      if (proves_itself (file) || (delta != NULL && proves_itself (delta)))
        file->origin = SQL_ORIGIN_OWN;
    }
  if (file->origin != SQL_ORIGIN_OWN)
    {
      rowsum_seal (file, NULL);
      if (delta != NULL)
        rowsum_seal (delta, NULL);
      if (the_rules.bears_old_mark != NULL && the_rules.bears_old_mark (&found))
        file->origin = SQL_ORIGIN_OLD;
    }
  if (delta != NULL)
    delta->origin = file->origin;
  identity_clear (&found);
}

gboolean
proof_allows (SqlOrigin origin, const char *target, GError **error)
{
  if (origin != SQL_ORIGIN_FOREIGN || the_rules.trusts)
    return TRUE;
  g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
               "checkpoint '%s' bears no proof that you wrote it, so its results are not used; if "
               "you believe whoever gave it to you, say --trust, or `satin trust` once",
               target);
  return FALSE;
}

char *
proof_warning (SqlOrigin origin, const char *target)
{
  if (origin == SQL_ORIGIN_OLD)
    return g_strdup_printf ("checkpoint '%s' was made by an older Satin, whose results bear no "
                            "proof: they are used, and nothing shows whether they were changed",
                            target);
  if (origin == SQL_ORIGIN_FOREIGN && the_rules.trusts)
    return g_strdup_printf ("checkpoint '%s' bears no proof that you wrote it: its results are "
                            "used because you said --trust",
                            target);
  return NULL;
}
