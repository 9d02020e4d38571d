/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "story.h"

#include "messages/message.h"
#include "say.h"

#include <string.h>

/* Left out unless a scenario shows them: heartbeats, figures, rows of the ledger, and messages that
 * only prepare the next one. */
static const char *const noise[] = { "ping", "work", "event", "stem", "frame", "log" };
/* The words for lines that are no messages. */
static const char *const others[]
    = { "frame", "run", "link", "process", "members", "known", "log", "none" };

static void
clear_command (gpointer data)
{
  g_free (((StoryCommand *)data)->text);
}

static void
clear_line (gpointer data)
{
  g_free (((StoryLine *)data)->text);
}

void
story_init (Story *story)
{
  *story = (Story){ .commands = g_array_new (FALSE, FALSE, sizeof (StoryCommand)),
                    .hidden = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                    .lines = g_array_new (FALSE, FALSE, sizeof (StoryLine)),
                    .sent = g_hash_table_new (NULL, NULL),
                    .dials = g_hash_table_new (NULL, NULL) };
  g_array_set_clear_func (story->commands, clear_command);
  g_array_set_clear_func (story->lines, clear_line);
  for (guint i = 0; i < G_N_ELEMENTS (noise); i++)
    g_hash_table_add (story->hidden, g_strdup (noise[i]));
}

void
story_clear (Story *story)
{
  g_array_unref (story->commands);
  g_array_unref (story->lines);
  g_hash_table_unref (story->hidden);
  g_hash_table_unref (story->sent);
  g_hash_table_unref (story->dials);
  g_free (story->wrong);
}

static gboolean
is_word (const char *word)
{
  for (guint kind = 1; kind < MESSAGE_KINDS; kind++)
    if (g_str_equal (message_kind_name ((MessageKind)kind), word))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_equal (others[i], word))
      return TRUE;
  return FALSE;
}

gboolean
story_hide (Story *story, const char *word, gboolean hidden)
{
  if (!is_word (word))
    return FALSE;
  if (hidden)
    g_hash_table_add (story->hidden, g_strdup (word));
  else
    g_hash_table_remove (story->hidden, word);
  return TRUE;
}

/* A member's id; for another process its number, counted from 1 in the order of the starts. */
static const char *
name_of (const Process *process, char text[NODE_ID_TEXT_MAX])
{
  NodeId id = node_self (process->node);

  if (node_id_is_none (&id))
    g_snprintf (text, NODE_ID_TEXT_MAX, "process %u", process->number + 1);
  else
    node_id_show (&id, text);
  return text;
}

/* The root's path is empty. */
static const char *
path_of (const char *path)
{
  return path[0] == '\0' ? "/" : path;
}

static void add_line (Sim *sim, const char *word, gboolean lost, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static void
add_line (Sim *sim, const char *word, gboolean lost, const char *format, ...)
{
  Story *story = sim->story;
  StoryLine line = { .lost = lost };
  va_list list;

  if (g_hash_table_contains (story->hidden, word))
    return;
  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  line.text = g_strdup_printf ("%5" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT "  %s",
                               sim->now_us / 1000, sim->now_us % 1000 / 100, text);
  line.section = g_array_index (story->commands, StoryCommand, story->next).section;
  g_array_append_val (story->lines, line);
}

/* Called before a step's effects: adds the members as the process knows them, if they have
 * changed. */
static void
look_at_members (Sim *sim, const Process *process)
{
  char self[NODE_ID_TEXT_MAX], other[NODE_ID_TEXT_MAX];
  guint64 *seen = &sim->story->rosters[process->number];
  NodeStats stats;

  node_stats (process->node, &stats);
  if (stats.rosters == *seen)
    return;
  *seen = stats.rosters;
  g_autoptr (GArray) members = node_members (process->node);
  g_autoptr (GString) list = g_string_new (NULL);
  for (guint i = 0; i < members->len; i++)
    g_string_append_printf (list, " %s",
                            node_id_show (&g_array_index (members, NodeMember, i).id, other));
  add_line (sim, "members", FALSE, "%s sees members%s", name_of (process, self), list->str);
}

void
story_sent (Sim *sim, const Process *from, const Process *to, const GPtrArray *parts, guint64 order)
{
  char from_name[NODE_ID_TEXT_MAX], to_name[NODE_ID_TEXT_MAX];

  if (sim->story == NULL)
    return;
  g_autoptr (GBytes) bytes = say_join (parts);
  g_autoptr (GBytes) content = say_content (bytes);
  const char *word
      = content != NULL ? message_kind_name ((MessageKind)message_kind_of (content)) : "frame";
  g_autofree char *text = say_frame (bytes);
  if (g_str_equal (text, "JOBS none"))
    word = "none";
  guint n = sim->story->lines->len;
  add_line (sim, word, order == 0, "%s -> %s  %s", name_of (from, from_name), name_of (to, to_name),
            text);
  if (sim->story->lines->len > n && order != 0)
    g_hash_table_insert (sim->story->sent, GSIZE_TO_POINTER (order), GUINT_TO_POINTER (n + 1));
}

void
story_lost (Sim *sim, const Happen *happen)
{
  if (sim->story == NULL || happen->kind != HAPPEN_MESSAGE)
    return;
  guint n
      = GPOINTER_TO_UINT (g_hash_table_lookup (sim->story->sent, GSIZE_TO_POINTER (happen->order)));
  if (n > 0)
    g_array_index (sim->story->lines, StoryLine, n - 1).lost = TRUE;
}

static gpointer
dial_key (const Process *process, guint64 dial)
{
  return GSIZE_TO_POINTER (dial * SIM_NODES_MAX + process->number);
}

static const char *
name_of_dialled (Sim *sim, const Process *process, guint64 dial, char text[NODE_ID_TEXT_MAX])
{
  Process *to = g_hash_table_lookup (sim->story->dials, dial_key (process, dial));

  return to == NULL ? "nobody" : name_of (to, text);
}

static const char *
name_of_peer (Sim *sim, const Process *process, guint64 number, char text[NODE_ID_TEXT_MAX])
{
  const Link *link = &g_array_index (sim->links, Link, number - 1);

  return name_of (sim->processes[link->node[link->node[0] == process->number ? 1 : 0]], text);
}

void
story_event (Sim *sim, const Process *process, const NodeEvent *event)
{
  char self[NODE_ID_TEXT_MAX], other[NODE_ID_TEXT_MAX];

  if (sim->story == NULL)
    return;
  name_of (process, self);
  switch ((int)event->kind)
    {
    case NODE_EVENT_LINK_DOWN:
      add_line (sim, "link", FALSE, "%s loses its link to %s", self,
                name_of_peer (sim, process, event->link, other));
      break;
    case NODE_EVENT_DIAL_FAILED:
      add_line (sim, "link", FALSE, "%s cannot reach %s%s", self,
                name_of_dialled (sim, process, event->dial, other),
                event->failure != NODE_DIAL_UNKNOWN ? ": refused" : ": no answer");
      break;
    case NODE_EVENT_LEAVE:
      add_line (sim, "process", FALSE, "%s is asked to leave", self);
      break;
    case NODE_EVENT_FINISH:
      add_line (sim, "process", FALSE, "%s main returns", self);
      break;
    default:
      break;
    }
}

static void
note_dial (Sim *sim, const Process *process, const NodeEffect *effect)
{
  char self[NODE_ID_TEXT_MAX], other[NODE_ID_TEXT_MAX];

  for (guint i = 0; i < sim->n_processes; i++)
    if (g_str_equal (sim->processes[i]->address, effect->text))
      g_hash_table_insert (sim->story->dials, dial_key (process, effect->dial), sim->processes[i]);
  add_line (sim, "link", FALSE, "%s dials %s", name_of (process, self),
            name_of_dialled (sim, process, effect->dial, other));
}

void
story_effect (Sim *sim, const Process *process, const NodeEffect *effect)
{
  char self[NODE_ID_TEXT_MAX], other[NODE_ID_TEXT_MAX];

  if (sim->story == NULL)
    return;
  look_at_members (sim, process);
  name_of (process, self);
  switch ((int)effect->kind)
    {
    case NODE_EFFECT_DIAL:
      note_dial (sim, process, effect);
      break;
    case NODE_EFFECT_JOINED:
      add_line (sim, "process", FALSE, "process %u joins as %s", process->number + 1, self);
      break;
    case NODE_EFFECT_MASTER:
      add_line (sim, "process", FALSE, "%s is master and calls main", self);
      break;
    case NODE_EFFECT_DEPOSED:
      add_line (sim, "process", FALSE, "%s is no longer master", self);
      break;
    case NODE_EFFECT_RESULT:
      add_line (sim, "process", FALSE, "%s main gets the answer", self);
      break;
    case NODE_EFFECT_LEAVE:
      add_line (sim, "process", FALSE, "%s leaves", self);
      break;
    case NODE_EFFECT_STAYED:
      add_line (sim, "process", FALSE, "%s cannot leave: %s", self, effect->text);
      break;
    case NODE_EFFECT_END:
      add_line (sim, "process", FALSE, "%s ends with code %" G_GUINT64_FORMAT, self,
                effect->number);
      break;
    case NODE_EFFECT_KNOWN:
      if (g_str_equal (self, node_id_show (&effect->node, other)))
        add_line (sim, "known", FALSE, "%s offers %s", self, path_of (effect->path));
      else
        add_line (sim, "known", FALSE, "%s learns that %s holds %s", self, other,
                  path_of (effect->path));
      break;
    case NODE_EFFECT_BACK:
      add_line (sim, "known", FALSE, "%s takes back loan %" G_GUINT64_FORMAT, self, effect->loan);
      break;
    case NODE_EFFECT_WARN:
    case NODE_EFFECT_LOG:
      add_line (sim, "log", FALSE, "%s says: %s", self, effect->text);
      break;
    default:
      break;
    }
}

void
story_job (Sim *sim, const Process *process, const char *verb, guint32 job)
{
  char self[NODE_ID_TEXT_MAX];

  if (sim->story == NULL)
    return;
  add_line (sim, "run", FALSE, "%s %s %s", name_of (process, self), verb,
            path_of (sim->plan->tree->jobs[job].path));
}

void
story_started (Sim *sim, const Process *process)
{
  if (sim->story != NULL)
    add_line (sim, "process", FALSE, "process %u starts", process->number + 1);
}

void
story_ended (Sim *sim, const Process *process, FaultKind how)
{
  char self[NODE_ID_TEXT_MAX];

  if (sim->story != NULL && how != FAULT_NONE)
    add_line (sim, "process", FALSE, "%s %s", name_of (process, self),
              how == FAULT_VANISH ? "vanishes" : "crashes");
}

/* FALSE: no process of that name is alive. */
static gboolean
strike (Sim *sim, const StoryCommand *command)
{
  Fault fault = sim->plan->faults[sim->story->n_faults];
  char name[NODE_ID_TEXT_MAX];

  fault.node = 0;
  for (guint i = 0; i < sim->n_processes; i++)
    {
      Process *process = sim->processes[i];
      if (!process->alive)
        continue;
      if (command->text == NULL || g_str_equal (name_of (process, name), command->text))
        {
          sim->story->n_faults++;
          sim->next_message_fault = sim->story->n_faults;
          faults_strike (sim, &fault);
          return TRUE;
        }
      fault.node++;
    }
  return FALSE;
}

/* TRUE: a line after the start of the command contains this text. */
static gboolean
has_said (Story *story, const StoryCommand *command)
{
  while (story->seen < story->lines->len)
    {
      StoryLine *line = &g_array_index (story->lines, StoryLine, story->seen++);
      if (strstr (line->text, command->text) != NULL)
        return TRUE;
      line->skipped = command->skips;
    }
  return FALSE;
}

void
story_go_on (Sim *sim)
{
  Story *story = sim->story;

  for (guint i = 0; story != NULL && i < sim->n_processes; i++)
    if (sim->processes[i]->alive)
      look_at_members (sim, sim->processes[i]);
  while (story != NULL && story->wrong == NULL)
    {
      const StoryCommand *command = &g_array_index (story->commands, StoryCommand, story->next);
      if (command->kind == STORY_END
          || (command->kind == STORY_UNTIL && !has_said (story, command)))
        return;
      if (command->kind == STORY_FAULT && !strike (sim, command))
        {
          story->wrong = g_strdup_printf ("no process '%s' lives then", command->text);
          return;
        }
      story->next++;
    }
}
