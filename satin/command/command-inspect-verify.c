/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect --verify`: checks every row that the checkpoint counted: it proves itself, or is
 * missing or damaged. One thread. Tests: test-inspect, inspect.sh. */
#include "command-inspect.h"

#include "storage/recover/audit.h"

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

/* A row that proves itself is useless if its path is none or has a lost stem, and so is a stem of
 * another path: moves it from kept to damaged. Of a base and a delta, or of doubled rows, one
 * counts as kept. */
static gboolean
count_left_out (Inspection *inspection, Audit *audit, GError **error)
{
  guint64 kept[INVENTORY_TABLES] = { 0 }, bad[INVENTORY_TABLES] = { 0 };

  if (!command_inspect_rows (inspection, count_result, &kept[INVENTORY_RESULT],
                             &bad[INVENTORY_RESULT], error)
      || !command_inspect_keeps (inspection, count_keep, &kept[INVENTORY_KEEP],
                                 &bad[INVENTORY_KEEP], error))
    return FALSE;
  kept[INVENTORY_STEM] = stems_count (inspection->stems);
  bad[INVENTORY_STEM] = inspection->stems_bad;
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    {
      AuditTable *table = &audit->tables[i];

      if (i == INVENTORY_RESULT || i == INVENTORY_KEEP || i == INVENTORY_STEM)
        table->kept = MIN (table->kept, kept[i]);
      table->damaged = MAX (table->damaged, bad[i]);
    }
  return TRUE;
}

static void
print_table (const Audit *audit, InventoryTable which)
{
  const AuditTable *table = &audit->tables[which];
  g_autofree char *missing = audit->is_uncounted
                                 ? g_strdup ("?")
                                 : g_strdup_printf ("%" G_GUINT64_FORMAT, table->missing);

  g_print ("%-10s %12" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT " %12s\n", inventory_name (which),
           table->kept, table->damaged, missing);
}

int
command_inspect_verify (Inspection *inspection)
{
  g_autoptr (GError) error = NULL;
  Audit audit = *inspection->file->audit;

  if (!count_left_out (inspection, &audit, &error))
    return command_inspect_failed (inspection->target, error);
  g_print ("%-10s %12s %12s %12s\n", "TABLE", "KEPT", "DAMAGED", "MISSING");
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    print_table (&audit, i);
  if (audit_is_whole (&audit) && !inspection->file->is_salvage)
    return COMMAND_DONE;
  g_autofree char *lost = audit_describe (&audit);
  command_say ("checkpoint '%s' is damaged: %s%s", inspection->target, lost,
               audit_is_whole (&audit) ? "" : "; a resume does again what work is lost with them");
  return COMMAND_UNUSABLE;
}
