/* SPDX-License-Identifier: BSD-3-Clause */
/* See replace.h. Tests: test-replace, again.sh, preempt.sh, slurm.sh. */
#include "replace.h"

#include "command-words.h"
#include "figures.h"
#include "launch-folder.h"
#include "live.h"

#include "text/fields.h"

#include <gio/gio.h>

struct Replace
{
  const char *path;
  const GArray *places; /* of Spot */
  const GArray *nodes;  /* of Started */
  ReplaceStart start;   /* NULL: replace_free was called, and a question is still under way */
  gpointer data;
  Again *again;
  gboolean asking; /* a node was asked whether the run goes on */
};

static const Site *
site_of (const GArray *places, guint place)
{
  return g_array_index (places, Spot, place).site;
}

static gboolean
is_wanted (const GArray *places, guint place)
{
  return site_of (places, place) != NULL && site_of (places, place)->again;
}

Replace *
replace_new (const char *path, const GArray *places, const GArray *nodes, ReplaceStart start,
             gpointer data)
{
  gboolean some = FALSE;

  for (guint i = 0; i < places->len; i++)
    some = some || is_wanted (places, i);
  if (!some)
    return NULL;
  Replace *replace = g_new0 (Replace, 1);
  *replace = (Replace){ .path = path, .places = places, .nodes = nodes };
  replace->start = start;
  replace->data = data;
  replace->again = again_new (places->len);
  return replace;
}

void
replace_free (Replace *replace)
{
  if (replace == NULL)
    return;
  replace->start = NULL;
  g_clear_pointer (&replace->again, again_free);
  if (!replace->asking)
    g_free (replace);
}

gboolean
replace_wants (const Replace *replace, guint place)
{
  return replace != NULL && is_wanted (replace->places, place);
}

AgainEnd
replace_end (const char *path, const Started *node)
{
  g_auto (GStrv) addresses = folder_addresses (path, node->pid);
  g_autoptr (GVariant) figures = figures_read (path, node->pid);
  const char *parted = figures != NULL ? fields_text (figures, "parted") : NULL;

  return again_end (node->status, addresses != NULL, parted);
}

void
replace_started (Replace *replace, guint place)
{
  if (replace != NULL)
    again_started (replace->again, place);
}

void
replace_plan (Replace *replace, guint place, AgainEnd end)
{
  guint failures;
  gint64 pause_us = replace_wants (replace, place) ? again_gone (replace->again, place, end,
                                                                 g_get_monotonic_time (), &failures)
                                                   : -1;

  if (pause_us < 0)
    return;
  const char *site = site_of (replace->places, place)->name;
  int pause_s = (int)(pause_us / G_USEC_PER_SEC);
  if (end != AGAIN_NEVER)
    command_say ("another node starts at site '%s' in %d s", site, pause_s);
  else if (failures == 1)
    command_say ("site '%s' is tried again in %d s, then at longer intervals, up to %d minutes",
                 site, pause_s, (int)(AGAIN_PAUSE_MAX_US / G_USEC_PER_SEC / 60));
}

gboolean
replace_waits (const Replace *replace)
{
  return replace != NULL && again_waits (replace->again);
}

static void
on_status (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Replace *replace = data;
  g_autofree char *reply = live_reply (result, NULL);
  g_autoptr (GVariant) status = fields_read (reply);

  replace->asking = FALSE;
  if (replace->start == NULL)
    {
      g_free (replace);
      return;
    }
  if (status == NULL || fields_flag (status, "stopping"))
    {
      again_put_off (replace->again, g_get_monotonic_time ());
      return;
    }
  for (int place; (place = again_take (replace->again)) >= 0;)
    replace->start ((guint)place, replace->data);
}

static void
note_members (Replace *replace, gint64 now_us)
{
  for (guint i = 0; i < replace->nodes->len; i++)
    {
      const Started *node = &g_array_index (replace->nodes, Started, i);
      g_auto (GStrv) addresses = node->gone ? NULL : folder_addresses (replace->path, node->pid);

      if (addresses != NULL)
        again_joined (replace->again, node->place, now_us);
    }
}

gboolean
replace_look (Replace *replace)
{
  gint64 now_us = g_get_monotonic_time ();

  if (replace == NULL)
    return TRUE;
  note_members (replace, now_us);
  /* Without a living member, a node in a batch queue could join nobody. */
  if (again_deserted (replace->again, launch_folder_lives (replace->path, FOLDER_NODE_ADDRESS),
                      now_us))
    {
      command_say ("no member of the run is left");
      return FALSE;
    }
  if (!again_look (replace->again, now_us) || replace->asking)
    return TRUE;
  replace->asking = TRUE;
  live_ask (replace->path, "status", on_status, replace);
  return TRUE;
}
