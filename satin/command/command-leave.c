/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin leave`: nodes hand over their work and exit; the run goes on. Blocking, one thread.
 * Tests: leave.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"

#include "folder/control.h"

#include "launch/figures.h"

#include "text/fields.h"

#include <string.h>

#define LOOK_US (50 * 1000)
/* Time beyond --within for requests and replies. */
#define GRACE_US (10 * G_USEC_PER_SEC)

/* A node of the run, from `status`. */
typedef struct
{
  char *id;
  gint64 pid;
  gboolean leaving; /* it is already leaving */
  gboolean wanted;  /* it is asked to leave */
} LeaveNode;

typedef struct
{
  AskRun *ask;
  const char *node, *site; /* which nodes leave; one of the two is NULL */
  double within_s;
} Wish;

static void
node_clear (gpointer data)
{
  g_free (((LeaveNode *)data)->id);
}

static void
add_node (const Wish *wish, GVariant *node, GArray *nodes)
{
  const char *id = fields_text (node, "id");
  LeaveNode item
      = { .id = g_strdup (id),
          .pid = (gint64)fields_count (node, "pid"),
          .leaving = strcmp (fields_text (node, "state"), "leaving") == 0,
          .wanted = wish->node != NULL ? strcmp (id, wish->node) == 0
                                       : strcmp (fields_text (node, "site"), wish->site) == 0 };

  g_array_append_val (nodes, item);
}

/* The nodes in a reply to `status` (nullable), of LeaveNode; empty if there is no reply. (transfer
 * full) */
static GArray *
read_nodes (const Wish *wish, const char *reply)
{
  g_autoptr (GVariant) status = fields_read (reply);
  g_autoptr (GPtrArray) list = status != NULL ? fields_objects (status, "nodes") : NULL;
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (LeaveNode));

  g_array_set_clear_func (nodes, node_clear);
  for (guint i = 0; list != NULL && i < list->len; i++)
    add_node (wish, list->pdata[i], nodes);
  return nodes;
}

static guint
count (const GArray *nodes, gboolean wanted)
{
  guint n = 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      const LeaveNode *node = &g_array_index (nodes, LeaveNode, i);
      n += wanted ? node->wanted : !node->wanted && !node->leaving;
    }
  return n;
}

/* FALSE: no node would leave, or none would stay; this was printed. */
static gboolean
check (const Wish *wish, const GArray *nodes)
{
  const char *name = wish->ask->run.name;

  if (count (nodes, TRUE) == 0 && wish->node != NULL)
    command_say ("run '%s' has no node '%s'; `satin status %s` lists them", name, wish->node, name);
  else if (count (nodes, TRUE) == 0)
    command_say ("run '%s' has no node of site '%s'; `satin status %s` lists them", name,
                 wish->site, name);
  else if (count (nodes, FALSE) == 0)
    command_say ("no node would stay in run '%s'; `satin suspend %s` stops the whole run", name,
                 name);
  else
    return TRUE;
  return FALSE;
}

/* Prints that a node has left, and what was lost, from its last figures. */
static void
tell_left (const Wish *wish, const LeaveNode *node)
{
  g_autoptr (GVariant) figures = figures_read (wish->ask->path, node->pid);
  double lost_s = figures != NULL ? fields_number (figures, "left_lost_s") : 0;

  if (lost_s >= 0.05)
    command_say ("node %s has left; %.1f s of work could not be handed over", node->id, lost_s);
  else
    command_say ("node %s has left", node->id);
}

static const LeaveNode *
find (const GArray *nodes, const char *id)
{
  for (guint i = 0; i < nodes->len; i++)
    if (strcmp (g_array_index (nodes, LeaveNode, i).id, id) == 0)
      return &g_array_index (nodes, LeaveNode, i);
  return NULL;
}

/* A leaver that is still a member; NULL: none is. */
static const LeaveNode *
find_left_over (const GArray *leavers, const GArray *nodes)
{
  for (guint i = 0; i < leavers->len; i++)
    {
      const LeaveNode *leaver = &g_array_index (leavers, LeaveNode, i);
      if (leaver->wanted && find (nodes, leaver->id) != NULL)
        return leaver;
    }
  return NULL;
}

static void
tell_all_left (const Wish *wish, const GArray *leavers)
{
  for (guint i = 0; i < leavers->len; i++)
    if (g_array_index (leavers, LeaveNode, i).wanted)
      tell_left (wish, &g_array_index (leavers, LeaveNode, i));
}

/* Waits until the leavers have left, and prints that. Returns the exit code. */
static int
see_off (const Wish *wish, const GArray *leavers)
{
  const LeaveNode *left_over = NULL;
  gint64 until_us = g_get_monotonic_time () + (gint64)(wish->within_s * G_USEC_PER_SEC) + GRACE_US;
  int code;

  while (g_get_monotonic_time () < until_us)
    {
      g_autofree char *reply = control_ask (wish->ask->path, "status", NULL);
      g_autoptr (GArray) nodes = read_nodes (wish, reply);

      if (folder_has_ended (wish->ask->path, &code, NULL))
        return command_say ("run '%s' has ended (exit code %d)", wish->ask->run.name, code),
               COMMAND_DONE;
      if (nodes->len > 0)
        left_over = find_left_over (leavers, nodes);
      if (nodes->len > 0 && left_over == NULL)
        return tell_all_left (wish, leavers), COMMAND_DONE;
      g_usleep (LOOK_US);
    }
  if (left_over != NULL)
    command_say ("node %s was asked, but has not left: `satin log %s %s` may say why",
                 left_over->id, wish->ask->run.name, left_over->id);
  else
    command_say ("no node of run '%s' answers now", wish->ask->run.name);
  return COMMAND_ERROR;
}

static int
leave (const Wish *wish)
{
  g_autofree char *reply = ask_node (wish->ask, "status", "cannot ask");
  g_autoptr (GArray) leavers = NULL;

  if (reply == NULL)
    return COMMAND_ERROR;
  leavers = read_nodes (wish, reply);
  if (!check (wish, leavers))
    return COMMAND_ERROR;
  for (guint i = 0; i < leavers->len; i++)
    {
      const LeaveNode *leaver = &g_array_index (leavers, LeaveNode, i);
      g_autofree char *word = g_strdup_printf ("leave %s", leaver->id);
      g_autofree char *request = ask_request (word, wish->within_s);
      g_autofree char *answer
          = leaver->wanted ? ask_node (wish->ask, request, "cannot leave") : NULL;

      if (leaver->wanted && answer == NULL)
        return COMMAND_ERROR;
    }
  return see_off (wish, leavers);
}

int
command_leave (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "leave", "RUN [NODE]",
          "A node of RUN, or all nodes of a site, hand over what they have and go; the run\n"
          "goes on. NODE is its number in `satin status`, like 1.2.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  g_auto (AskRun) ask = { 0 };
  Wish wish = { .ask = &ask };
  guint n;
  int code;

  if (!arguments_read (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  char **words = said.words;
  n = g_strv_length (words);
  if (n == 0 || n > 2 || (n == 2) == (said.site != NULL))
    return command_usage ("leave ",
                          "a run and its node or site are needed: `satin leave RUN NODE`, or "
                          "`satin leave RUN --site SITE`");
  wish.node = words[1];
  wish.site = said.site;
  wish.within_s = said.within_s < 0 ? ARGUMENTS_LEAVE_WITHIN_S : said.within_s;
  if (!ask_find (words[0], &ask) || !ask_stay (&ask))
    return COMMAND_ERROR;
  code = leave (&wish);
  ask_leave (&ask);
  return code;
}
