/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect --json`: every sound row of every table, as one JSON object. Writes row by row, so
 * that memory does not grow with the file. One thread. Tests: inspect.sh. */
#include "command-inspect.h"

#include "coordinator/readable.h"

#include "storage/shares.h"

#include "storage/recover/audit.h"

#include "text/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  GString *text; /* the row that is being written */
  gboolean is_first;
  guint64 damaged;
} Writer;

static void
flush (Writer *writer)
{
  fwrite (writer->text->str, 1, writer->text->len, stdout);
  g_string_truncate (writer->text, 0);
}

/* Begins the next element of a list. */
static void
begin_row (Writer *writer)
{
  g_string_append (writer->text, writer->is_first ? "\n  {" : ",\n  {");
  writer->is_first = FALSE;
}

static void
end_row (Writer *writer)
{
  /* Each member ends with a comma. */
  g_string_truncate (writer->text, writer->text->len - 1);
  g_string_append_c (writer->text, '}');
  flush (writer);
}

static void
add_text (Writer *writer, const char *key, const char *value)
{
  json_append_string (writer->text, key);
  g_string_append_c (writer->text, ':');
  json_append_string (writer->text, value);
  g_string_append_c (writer->text, ',');
}

static void
add_number (Writer *writer, const char *key, double value)
{
  json_append_string (writer->text, key);
  g_string_append_c (writer->text, ':');
  json_append_number (writer->text, value);
  g_string_append_c (writer->text, ',');
}

static void
add_time (Writer *writer, const char *key, gint64 seconds)
{
  if (seconds > 0)
    add_number (writer, key, (double)seconds);
  else
    add_text (writer, key, NULL);
}

/* Adds a value as GVariant's text, which is unambiguous together with `type`. */
static void
add_value (Writer *writer, const char *type, GBytes *value)
{
  g_autofree char *text = readable_whole (type, value);

  add_text (writer, "type", type);
  add_number (writer, "size", (double)g_bytes_get_size (value));
  add_text (writer, "value", text);
}

/* Writes a value that is UTF-8 as text, and other bytes in base64. */
static gboolean
write_setting (const char *key, GBytes *value, gpointer data, GError **error)
{
  Writer *writer = data;
  gsize size;
  const char *bytes = g_bytes_get_data (value, &size);

  (void)error;
  g_string_append (writer->text, writer->is_first ? "" : ",");
  writer->is_first = FALSE;
  json_append_string (writer->text, key);
  g_string_append_c (writer->text, ':');
  if (size == 0 || g_utf8_validate_len (bytes, size, NULL))
    {
      g_autofree char *text = g_strndup (bytes != NULL ? bytes : "", size);

      json_append_string (writer->text, text);
    }
  else
    {
      g_autofree char *text = g_base64_encode ((const guchar *)bytes, size);

      g_string_append_printf (writer->text, "{\"base64\":\"%s\"}", text);
    }
  flush (writer);
  return TRUE;
}

static gboolean
write_node (const TablesNode *node, gpointer data, GError **error)
{
  Writer *writer = data;

  (void)error;
  begin_row (writer);
  add_text (writer, "id", node->id);
  add_text (writer, "name", node->name);
  add_text (writer, "site", node->site);
  add_text (writer, "address", node->address);
  add_time (writer, "joined", node->joined);
  add_time (writer, "left", node->left);
  add_text (writer, "cause", node->cause);
  end_row (writer);
  return TRUE;
}

static gboolean
write_shared (const char *hex, gint64 size, gpointer data, GError **error)
{
  Writer *writer = data;

  (void)error;
  begin_row (writer);
  add_text (writer, "digest", hex);
  add_number (writer, "size", (double)size);
  end_row (writer);
  return TRUE;
}

static gboolean
write_value (const TablesValue *value, gpointer data, GError **error)
{
  Writer *writer = data;

  (void)error;
  begin_row (writer);
  add_text (writer, "name", value->name);
  if (value->digest != NULL)
    add_text (writer, "digest", value->digest);
  add_value (writer, value->type, value->value);
  end_row (writer);
  return TRUE;
}

static gboolean
write_keep (const Keep *keep, gpointer data, GError **error)
{
  Writer *writer = data;

  (void)error;
  begin_row (writer);
  add_text (writer, "path", command_inspect_path (keep->path));
  add_number (writer, "children", (double)keep->children);
  add_value (writer, keep->type, keep->value);
  g_autofree char *args
      = keep->args != NULL ? g_utf8_make_valid (keep->args, (gssize)keep->args_size) : NULL;
  add_text (writer, "args", args);
  end_row (writer);
  return TRUE;
}

static gboolean
write_result (const Result *row, gpointer data, GError **error)
{
  Writer *writer = data;
  g_autoptr (GString) digest = g_string_new (NULL);

  (void)error;
  for (gsize i = 0; i < row->digest_size; i++)
    g_string_append_printf (digest, "%02x", row->digest[i]);
  begin_row (writer);
  add_text (writer, "path", command_inspect_path (row->path));
  add_text (writer, "node", row->node);
  add_text (writer, "job", row->job);
  add_text (writer, "digest", digest->str);
  add_value (writer, row->type, row->value);
  add_number (writer, "work_s", row->work_s);
  add_number (writer, "share", row->weight);
  add_time (writer, "saved", row->saved);
  g_autofree char *args
      = row->args != NULL ? g_utf8_make_valid (row->args, (gssize)row->args_size) : NULL;
  add_text (writer, "args", args);
  add_time (writer, "began", row->began);
  add_number (writer, "took_s", row->began > 0 ? (double)row->took_ms / 1000 : NAN);
  end_row (writer);
  return TRUE;
}

static gboolean
write_stem (const char *id, const char *path, gpointer data, GError **error)
{
  Writer *writer = data;

  (void)error;
  begin_row (writer);
  add_text (writer, "id", id);
  add_text (writer, "path", path);
  end_row (writer);
  return TRUE;
}

static gboolean
write_event (const TablesEvent *event, gpointer data, GError **error)
{
  Writer *writer = data;

  (void)error;
  begin_row (writer);
  add_time (writer, "at", event->at);
  add_text (writer, "kind", event->kind);
  add_text (writer, "node", event->node);
  add_text (writer, "path", event->path);
  add_number (writer, "work_s", event->work_s);
  add_text (writer, "detail", event->detail);
  end_row (writer);
  return TRUE;
}

static void
begin_list (Writer *writer, const char *key)
{
  g_string_append_printf (writer->text, "],\n\"%s\":[", key);
  writer->is_first = TRUE;
}

static gboolean
write_tables (Inspection *inspection, Writer *writer, GError **error)
{
  Sql *file = inspection->file;

  g_string_append (writer->text, "\n\"run\":{");
  if (!tables_each_setting (file, write_setting, writer, error))
    return FALSE;
  g_string_append (writer->text, "},\n\"nodes\":[");
  writer->is_first = TRUE;
  if (!tables_each_node (file, write_node, writer, error))
    return FALSE;
  begin_list (writer, "constants");
  if (!tables_each_constant (file, write_value, writer, error))
    return FALSE;
  begin_list (writer, "shared");
  if (!shares_each (file, write_shared, writer, error))
    return FALSE;
  begin_list (writer, "best");
  if (!tables_each_best (file, write_value, writer, error))
    return FALSE;
  begin_list (writer, "keep");
  if (!command_inspect_keeps (inspection, write_keep, writer, &writer->damaged, error))
    return FALSE;
  begin_list (writer, "results");
  if (!command_inspect_rows (inspection, write_result, writer, &writer->damaged, error))
    return FALSE;
  begin_list (writer, "stems");
  if (!results_each_stem (file, write_stem, writer, NULL, error))
    return FALSE;
  begin_list (writer, "events");
  return tables_each_event (file, write_event, writer, error);
}

/* The numbers of missing results and lost rows; null if the checkpoint's count is lost. */
static void
add_lost (Writer *writer, const Audit *audit)
{
  gboolean is_known = !audit->is_uncounted && !audit->is_mixed;
  guint64 results = audit->tables[INVENTORY_RESULT].missing;

  if (is_known)
    g_string_append_printf (writer->text,
                            "\"missing_results\":%" G_GUINT64_FORMAT
                            ",\"lost_rows\":%" G_GUINT64_FORMAT "}\n",
                            results, audit_lost (audit));
  else
    g_string_append (writer->text, "\"missing_results\":null,\"lost_rows\":null}\n");
}

int
command_inspect_json (Inspection *inspection)
{
  const Restore *restore = &inspection->restore;
  g_autoptr (GString) text = g_string_new ("{\"format\":" JSON_FORMAT ",");
  g_autoptr (GError) error = NULL;
  Writer writer = { .text = text, .is_first = TRUE };

  add_text (&writer, "checkpoint", inspection->target);
  g_string_append_printf (text, "\"finished\":%s,", restore->finished ? "true" : "false");
  if (restore->finished)
    add_number (&writer, "exit", restore->exit_code);
  add_number (&writer, "done", restore->done);
  add_text (&writer, "proof",
            restore->origin == SQL_ORIGIN_OWN   ? "rows"
            : restore->origin == SQL_ORIGIN_OLD ? "mark"
                                                : "none");
  if (!write_tables (inspection, &writer, &error))
    return command_inspect_failed (inspection->target, error);
  g_string_append_printf (text, "],\n\"damaged_results\":%" G_GUINT64_FORMAT ",", writer.damaged);
  add_lost (&writer, inspection->file->audit);
  flush (&writer);
  if (fflush (stdout) == 0 && !ferror (stdout))
    return COMMAND_DONE;
  command_say ("cannot write to standard output: %s", g_strerror (errno));
  return COMMAND_ERROR;
}
