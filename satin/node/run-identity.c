/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies a run: program, jobs, arguments, build, and how the checkpoint says it was started.
 * Main thread only. Tests: test-run-identity, builds.sh, mark.sh */
#include "config.h"

#include "run-private.h"

#include "build.h"

#include "record.h"

#include "coordinator/mark.h"

#include <string.h>

static Digest
schema_digest (const SatinJob *const *jobs)
{
  g_autoptr (GString) text = g_string_new ("satin 1\n");
  for (guint i = 0; jobs[i] != NULL; i++)
    {
      g_autofree char *args = record_schema (jobs[i]->args);
      g_autofree char *result = record_schema (jobs[i]->result);
      g_string_append_printf (text, "%s %s -> %s\n", jobs[i]->name, args, result);
    }
  return digest_of_data (text->str, text->len);
}

static Digest
identity_digest (const SatinRun *run)
{
  char schema[DIGEST_HEX_LENGTH + 1];
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  digest_to_hex (&run->identity.schema, schema);
  g_ptr_array_add (parts, g_bytes_new (run->app->name, strlen (run->app->name)));
  g_ptr_array_add (parts, g_bytes_new (schema, strlen (schema)));
  for (char **arg = run->options.argv + 1; *arg != NULL; arg++)
    g_ptr_array_add (parts, g_bytes_new (*arg, strlen (*arg)));
  return digest_of ((const GBytes *const *)parts->pdata, parts->len);
}

/* The command that starts this program again. A node process takes the launcher's, since it may be
 * on another host, or started by a script. */
static void
fill_command (SatinRun *run)
{
  Identity *identity = &run->identity;
  if (run->node_process)
    {
      identity->program = g_strdup (run->folder_run.program);
      identity->folder = g_strdup (run->folder_run.folder);
      identity->argv = options_own_words (run->folder_run.argv);
    }
  else
    {
      identity->program = g_file_read_link ("/proc/self/exe", NULL);
      identity->folder = g_get_current_dir ();
    }
  if (identity->program == NULL)
    identity->program = g_strdup (run->options.argv[0]);
  if (identity->argv == NULL)
    identity->argv = g_strdupv (run->options.argv + 1);
}

static gboolean
fill_build (SatinRun *run, GError **error)
{
  const char *counts_as
      = run->folder_run.build != NULL ? run->folder_run.build : g_getenv (FOLDER_ENV_BUILD);
  run->identity.build
      = run->node_process && counts_as != NULL ? g_strdup (counts_as) : build_of_program ();
  return run->identity.build != NULL
         || run_error (error, 1,
                       "cannot tell the build of this program: it has no build-id and cannot be "
                       "read; link it with -Wl,--build-id, or let it state SATIN_APP_VERSION");
}

gboolean
run_identity_fill (SatinRun *run, GError **error)
{
  Identity *identity = &run->identity;
  identity->app = g_strdup (run->app->name);
  identity->version = g_strdup (PACKAGE_VERSION);
  identity->schema = schema_digest (run->jobs);
  identity->identity = identity_digest (run);
  identity->mended = run->options.mended || run->folder_run.mended;
  fill_command (run);
  if (!run->node_process && run->options.checkpoint == NULL)
    return TRUE; /* nobody reads the rest */
  if (!fill_build (run, error))
    return FALSE;
  if (!run->node_process)
    {
      run->folder_run.token = mark_token (identity->program, identity->folder, identity->argv);
      run->folder_run.rows_token = mark_rows_token (identity->argv);
    }
  mark_prove_run (run->folder_run.token, run->folder_run.rows_token,
                  run->options.trust || run->folder_run.trust);
  identity->mark = mark_make (run->folder_run.token, &identity->identity);
  return TRUE;
}
