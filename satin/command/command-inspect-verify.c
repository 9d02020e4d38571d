/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect --verify`: every row of every table proves itself, or is damaged. One thread. */
#include "command-inspect.h"

#include "storage/audit.h"

static const char *const small_tables[] = { "run", "node", "job", "constant", "best", "event" };

static void
print_counts (const char *table, guint64 kept, guint64 damaged)
{
  g_print ("%-10s %12" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT "\n", table, kept, damaged);
}

static gboolean
count_result (const Result *row, gpointer data, GError **error)
{
  (void)row, (void)error;
  (*(guint64 *)data)++;
  return TRUE;
}

static gboolean
count_keep (const Keep *keep, gpointer data, GError **error)
{
  (void)keep, (void)error;
  (*(guint64 *)data)++;
  return TRUE;
}

/* A result or a state is kept when its sum is right, its path is one, and its stem is there. */
static gboolean
verify_results (Inspection *inspection, guint64 *damaged, GError **error)
{
  guint64 kept = 0, bad = 0, states = 0, states_bad = 0;

  if (!command_inspect_rows (inspection, count_result, &kept, &bad, error)
      || !command_inspect_keeps (inspection, count_keep, &states, &states_bad, error))
    return FALSE;
  print_counts ("keep", states, states_bad);
  print_counts ("result", kept, bad);
  print_counts ("stem", stems_count (inspection->stems), inspection->stems_bad);
  *damaged += bad + states_bad + inspection->stems_bad;
  return TRUE;
}

int
command_inspect_verify (Inspection *inspection)
{
  g_autoptr (GError) error = NULL;
  guint64 damaged = 0;

  g_print ("%-10s %12s %12s\n", "TABLE", "KEPT", "DAMAGED");
  for (gsize i = 0; i < G_N_ELEMENTS (small_tables); i++)
    {
      guint64 kept, bad;

      if (!audit_table (inspection->file, small_tables[i], &kept, &bad, &error))
        return command_inspect_failed (inspection, error);
      print_counts (small_tables[i], kept, bad);
      damaged += bad;
    }
  if (!verify_results (inspection, &damaged, &error))
    return command_inspect_failed (inspection, error);
  if (damaged == 0)
    return COMMAND_DONE;
  command_say ("checkpoint '%s': %" G_GUINT64_FORMAT
               " rows are damaged; a resume leaves them out and does that work again",
               inspection->target, damaged);
  return COMMAND_UNUSABLE;
}
