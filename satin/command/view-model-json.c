/* SPDX-License-Identifier: BSD-3-Clause */
/* A model as JSON. Moments are columns and lanes are arrays without keys, since there may be many.
 * Tests: test-view-model. */
#include "view-model-private.h"

#include "text/json.h"

#include <math.h>

typedef struct
{
  const char *key;
  gsize field;  /* offset of a double in Moment; 0: at_us, in seconds */
  double scale; /* values are rounded to 1/scale */
} Column;

#define FIELD(name) G_STRUCT_OFFSET (Moment, name)

static const Column columns[] = { { "at", 0, 10 },
                                  { "done", FIELD (done), 1e5 },
                                  { "one_s", FIELD (one_s), 100 },
                                  { "all_s", FIELD (all_s), 100 },
                                  { "busy", FIELD (busy), 1 },
                                  { "workers", FIELD (workers), 1 },
                                  { "up", FIELD (up), 1 } };

static void
append_value (GString *json, const Column *column, const Moment *moment)
{
  double value = column->field == 0 ? (double)(moment->at_us / 1000) / 1000
                                    : G_STRUCT_MEMBER (double, moment, column->field);

  json_append_number (json, round (value * column->scale) / column->scale);
}

static void
append_history (GString *json, const ViewModel *model)
{
  g_string_append (json, ",\"history\":{");
  for (gsize c = 0; c < G_N_ELEMENTS (columns); c++)
    {
      g_string_append_printf (json, "%s\"%s\":[", c > 0 ? "," : "", columns[c].key);
      for (guint i = 0; i < model->moments->len; i++)
        {
          g_string_append (json, i > 0 ? "," : "");
          append_value (json, &columns[c], &g_array_index (model->moments, Moment, i));
        }
      g_string_append_c (json, ']');
    }
  g_string_append_c (json, '}');
}

/* An array: id, host, site, roles, pid, workers, when it left, letters. */
static void
append_lane (GString *json, const Lane *lane)
{
  const char *texts[] = { lane->id, lane->host, lane->site, lane->roles };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_string_append_c (json, i == 0 ? '[' : ',');
      json_append_string (json, texts[i]);
    }
  g_string_append_printf (json, ",%.0f,%.0f,%.0f,\"%s\"]", lane->pid, lane->workers,
                          (double)(lane->left_us / G_USEC_PER_SEC), lane->did->str);
}

static void
append_seen (GString *json, const ViewModel *model)
{
  g_string_append (json, ",\"seen\":[");
  for (guint i = 0; i < model->seen->len; i++)
    {
      const Seen *seen = model->seen->pdata[i];

      g_string_append_printf (json, "%s{\"at\":%.0f", i > 0 ? "," : "",
                              (double)(seen->at_us / G_USEC_PER_SEC));
      json_append_member (json, "kind", seen->kind);
      json_append_member (json, "node", seen->node);
      json_append_member (json, "detail", seen->detail);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, ']');
}

static const char *
state_name (ViewState state)
{
  static const char *const names[] = { "starting", "running", "silent", "over" };

  return names[state];
}

char *
view_model_whole (const ViewModel *model)
{
  g_autoptr (GString) json = g_string_new ("{\"kind\":\"whole\"");

  json_append_member (json, "name", model->name);
  json_append_member (json, "state", state_name (model->state));
  json_append_member (json, "sentence", model->sentence);
  g_string_append_printf (json, ",\"now\":%.1f,\"step_s\":%.0f,\"more\":%" G_GUINT64_FORMAT,
                          (double)model->now_us / G_USEC_PER_SEC,
                          (double)model->step_us / G_USEC_PER_SEC, model->more);
  if (model->left != NULL)
    g_string_append_printf (json, ",%s", model->left);
  if (model->facts != NULL)
    g_string_append_printf (json, ",%s", model->facts);
  append_history (json, model);
  g_string_append (json, ",\"lanes\":[");
  for (guint i = 0; i < model->lanes->len; i++)
    {
      g_string_append (json, i > 0 ? "," : "");
      append_lane (json, model->lanes->pdata[i]);
    }
  g_string_append_c (json, ']');
  append_seen (json, model);
  g_string_append_c (json, '}');
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
view_model_tick (ViewModel *model)
{
  g_autoptr (GString) json = g_string_new ("{\"kind\":\"tick\"");
  guint last = model->moments->len;

  if (model->is_changed || last == 0)
    {
      model->is_changed = FALSE;
      return NULL;
    }
  g_string_append_printf (json, ",\"now\":%.1f,\"i\":%u", (double)model->now_us / G_USEC_PER_SEC,
                          last - 1);
  if (model->left != NULL)
    g_string_append_printf (json, ",%s", model->left);
  for (gsize c = 0; c < G_N_ELEMENTS (columns); c++)
    {
      g_string_append_printf (json, ",\"%s\":", columns[c].key);
      append_value (json, &columns[c], &g_array_index (model->moments, Moment, last - 1));
    }
  g_string_append (json, ",\"did\":\"");
  for (guint i = 0; i < model->lanes->len; i++)
    g_string_append_c (json, ((Lane *)model->lanes->pdata[i])->did->str[last - 1]);
  g_string_append (json, "\"}");
  return g_string_free (g_steal_pointer (&json), FALSE);
}
