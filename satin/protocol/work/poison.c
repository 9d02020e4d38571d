/* SPDX-License-Identifier: BSD-3-Clause */
/* See poison.h.
 * Tests: test-crash-reports, test-quarantine, poison.sh. */
#include "../core.h"

#include <string.h>

typedef struct
{
  NodeId id;
  char *path, *text;
  gboolean stated; /* by satin_fail: the node lives, and one report is enough */
} CrashReport;

/* A node that died without a crash report, as its lender tells. These records lie one after the
 * other in one piece of memory, each as `id` and then `path` with its NUL. Many small allocations
 * with a long life would each keep a page from being freed. */
typedef struct
{
  NodeId id;
  const char *path;
  gsize next; /* offset of the next record */
} Quiet;

static void
words_free (gpointer data)
{
  CrashReport *words = data;

  g_free (words->path);
  g_free (words->text);
  g_free (words);
}

void
poison_init (Node *node)
{
  Poison *poison = &node->poison;

  core_pointers (node, &poison->words, words_free);
  poison->quiet = g_byte_array_new ();
  core_owns (node, &poison->quiet, (GDestroyNotify)g_byte_array_unref);
}

/* FALSE: there is no record at `at`. */
static gboolean
quiet_at (const Poison *poison, gsize at, Quiet *quiet)
{
  if (at >= poison->quiet->len)
    return FALSE;
  const guint8 *data = poison->quiet->data + at;

  memcpy (&quiet->id, data, sizeof quiet->id);
  quiet->path = (const char *)data + sizeof quiet->id;
  quiet->next = at + sizeof quiet->id + strlen (quiet->path) + 1;
  return TRUE;
}

static gboolean
has_spoken (Node *node, const NodeId *id)
{
  for (guint i = 0; i < node->poison.words->len; i++)
    if (node_id_equal (&((CrashReport *)node->poison.words->pdata[i])->id, id))
      return TRUE;
  return FALSE;
}

static CrashReport *
words_new (const NodeId *id, const char *path, const char *text, gboolean stated)
{
  CrashReport *words = g_new0 (CrashReport, 1);

  words->id = *id;
  words->path = g_strdup (path);
  words->text = g_strdup (text);
  words->stated = stated;
  return words;
}

/* FALSE: the node has reported before. */
static gboolean
add (Node *node, const NodeId *id, const char *path, const char *text, gboolean stated)
{
  if (has_spoken (node, id) || (node->poison.words->len >= POISON_KEPT_MAX && !stated))
    return FALSE;
  g_ptr_array_add (node->poison.words, words_new (id, path, text, stated));
  core_log (node, "%s of node %u.%u, which ran the job at %s: %s",
            stated ? "failure" : "crash report", id->term, id->number, path[0] == '\0' ? "/" : path,
            text);
  return TRUE;
}

static Message
message_of (const CrashReport *words)
{
  return (Message){ .kind = MESSAGE_CRASH_REPORT,
                    .id = words->id,
                    .path = words->path,
                    .text = words->text,
                    .flag = words->stated };
}

/* The report about the deepest job, if enough reports are about jobs on one path from the root.
 * (nullable) */
static const CrashReport *
enough (Node *node)
{
  const GPtrArray *all = node->poison.words;

  for (guint i = 0; i < all->len; i++)
    {
      const CrashReport *deepest = all->pdata[i];
      guint n = 0;
      for (guint j = 0; j < all->len; j++)
        {
          const CrashReport *other = all->pdata[j];
          n += g_str_equal (other->path, deepest->path)
               || path_is_below (node->config.stems, deepest->path, other->path);
        }
      if (n >= NODE_CRASH_REPORT || deepest->stated)
        return deepest;
    }
  return NULL;
}

static char *
sentence_about (const CrashReport *words, const char *how)
{
  return g_strdup_printf ("%s: %s", how, words->text);
}

char *
poison_sentence (Node *node)
{
  const CrashReport *words = enough (node);

  if (words == NULL)
    return NULL;
  return sentence_about (words, words->stated ? "a job failed"
                                              : "a job ends every process that runs it, three so "
                                                "far");
}

gboolean
poison_judge (Node *node)
{
  g_autofree char *sentence = poison_sentence (node);

  if (sentence == NULL)
    return FALSE;
  node->control->condemn (node, sentence);
  return TRUE;
}

static guint
count_living (Node *node)
{
  guint n = 0;

  for (guint i = 0; i < node->roster.members->len; i++)
    n += !((Member *)node->roster.members->pdata[i])->dead;
  return n;
}

/* The last report is of the last process. (transfer full) */
static char *
last_sentence (Node *node)
{
  const GPtrArray *all = node->poison.words;
  static const char how[] = "a job has ended the last process of the run";

  return all->len == 0 ? g_strdup (how) : sentence_about (all->pdata[all->len - 1], how);
}

void
poison_end (Node *node)
{
  g_autofree char *sentence = last_sentence (node);

  node->control->condemn (node, sentence);
}

void
poison_on_event (Node *node, const NodeEvent *event)
{
  if (!core_is_member (node) || !add (node, &node->self, event->path, event->text, event->final))
    return;
  const CrashReport *words = node->poison.words->pdata[node->poison.words->len - 1];
  Message message = message_of (words);
  member_send_all (node, &message);
  if (!event->final && count_living (node) < 2)
    {
      g_autofree char *sentence = last_sentence (node);
      node->control->crash_report (node, sentence);
    }
  else if (roster_is_master (node))
    (void)poison_judge (node);
}

guint
poison_count_quiet (Node *node, const char *path)
{
  Quiet quiet;
  guint n = 0;

  for (gsize at = 0; quiet_at (&node->poison, at, &quiet); at = quiet.next)
    n += g_str_equal (quiet.path, path);
  return n;
}

/* FALSE: recorded before. */
static gboolean
add_quiet (Node *node, const NodeId *id, const char *path)
{
  Poison *poison = &node->poison;
  Quiet quiet;
  guint n = 0;

  for (gsize at = 0; quiet_at (poison, at, &quiet); at = quiet.next, n++)
    if (node_id_equal (&quiet.id, id) && g_str_equal (quiet.path, path))
      return FALSE;
  if (n == POISON_KEPT_MAX && quiet_at (poison, 0, &quiet))
    g_byte_array_remove_range (poison->quiet, 0, (guint)quiet.next);
  g_byte_array_append (poison->quiet, (const guint8 *)id, sizeof *id);
  g_byte_array_append (poison->quiet, (const guint8 *)path, (guint)strlen (path) + 1);
  return TRUE;
}

static Message
message_of_quiet (const NodeId *id, const char *path)
{
  return (Message){ .kind = MESSAGE_CRASH_REPORT, .id = *id, .path = path, .text = "" };
}

/* Warns people. The log gets every warning. */
static void
warn (Node *node, const char *path, guint n)
{
  g_autofree char *sentence = g_strdup_printf (
      "%u nodes died without a word soon after they had taken the job at %s: it may be too "
      "large for them, and runs alone from now on",
      n, path);

  if (node->now_us < node->poison.warn_us)
    {
      core_log (node, "%s", sentence);
      return;
    }
  node->poison.warn_us = node->now_us + POISON_WARN_US;
  core_emit (node, NODE_EFFECT_WARN)->text = g_steal_pointer (&sentence);
}

/* Tells all members each silent death while running this job. */
static void
tell_all_of (Node *node, const char *path)
{
  Quiet quiet;

  for (gsize at = 0; quiet_at (&node->poison, at, &quiet); at = quiet.next)
    {
      Message message = message_of_quiet (&quiet.id, quiet.path);
      if (g_str_equal (quiet.path, path))
        member_send_all (node, &message);
    }
}

/* Spreads a new silent death. In a large run only the hub is told, since a lost site causes many.
 * All members are told when the job becomes suspicious. */
static void
spread (Node *node, const NodeId *id, const char *path)
{
  Message message = message_of_quiet (id, path);
  guint n = poison_count_quiet (node, path);

  if (contacts_are_all (node))
    member_send_all (node, &message);
  else if (!contacts_is_hub (node, &node->self))
    {
      (void)member_send (node, &node->contacts.hub, &message);
      return;
    }
  else if (n >= NODE_CRASH_REPORT)
    tell_all_of (node, path);
  if (n == NODE_CRASH_REPORT)
    warn (node, path, n);
}

void
poison_on_message (Node *node, const NodeId *from, const Message *m)
{
#ifdef SATIN_PLANT_WORDS_NOT_KEPT
  if (!roster_is_master (node))
    return;
#endif
  if (m->text[0] == '\0')
    {
      if (add_quiet (node, &m->id, m->path) && contacts_is_hub (node, &node->self))
        spread (node, &m->id, m->path);
    }
  else if (add (node, &m->id, m->path, m->text, m->flag))
    {
      contacts_pass_on (node, from, m);
      if (roster_is_master (node))
        (void)poison_judge (node);
    }
}

void
poison_greet (Node *node, Link *link)
{
  Quiet quiet;

  for (guint i = 0; i < node->poison.words->len; i++)
    {
      Message message = message_of (node->poison.words->pdata[i]);
      link_send (node, link, &message);
    }
  for (gsize at = 0; quiet_at (&node->poison, at, &quiet); at = quiet.next)
    {
      Message message = message_of_quiet (&quiet.id, quiet.path);
      if (contacts_are_all (node) || contacts_is_hub (node, &link->remote)
          || poison_count_quiet (node, quiet.path) >= NODE_CRASH_REPORT)
        link_send (node, link, &message);
    }
}

void
poison_tell (Node *node, const NodeId *to, const NodeId *about)
{
  for (guint i = 0; i < node->poison.words->len; i++)
    {
      const CrashReport *words = node->poison.words->pdata[i];
      Message message = message_of (words);
      if (!node_id_equal (&words->id, about))
        continue;
      if (to == NULL)
        member_send_all (node, &message);
      else
        (void)member_send (node, to, &message);
    }
}

void
poison_tell_dead (Node *node, const NodeId *to)
{
  for (guint i = 0; i < node->roster.members->len && node->poison.words->len > 0; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (member->dead)
        poison_tell (node, to, &member->id);
    }
}

void
poison_lost (Node *node, const Member *member, const LoanEntry *entry)
{
  if (member->leaving || entry->kind != LOAN_LENT || loans_is_root (entry->loan)
      || has_spoken (node, &member->id) || node->now_us > entry->since_us + POISON_SOON_US
      || !add_quiet (node, &member->id, entry->path))
    return;
  spread (node, &member->id, entry->path);
}
