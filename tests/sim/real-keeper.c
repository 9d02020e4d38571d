/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements keeper.c's functions with the real scribe, in the way of satin/node: a thread opens
 * the checkpoint, the scribe's thread writes and publishes, another thread retires it, others bid.
 * All of them run in virtual time. */
#include "config.h"

#include "sim-private.h"

#include "real-place.h"

#include "coordinator/bid.h"
#include "coordinator/scribe.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POWER_PERCENT 50 /* Percent: how often a loss of all is a loss of power. */

typedef struct RealKeeper RealKeeper;

/* One term as coordinator, and its scribe. */
typedef struct
{
  RealKeeper *keeper;
  char *work_path;
  gboolean whole, goes_on;
  guint64 least;
  guint number;
  Identity identity;
  Scribe *scribe;
  GError *error;
} RealTerm;

typedef enum
{
  NEWS_OPENED,
  NEWS_SCRIBE,
  NEWS_BID,
  NEWS_RETIRED,
  NEWS_NOTHING /* There is no scribe that could publish. */
} NewsKind;

typedef struct
{
  NewsKind kind;
  RealTerm *term;
  ScribeNewsKind said;
  GPtrArray *rows;
  char *path, *trouble;
  gboolean final, failed;
  guint64 generation, ticket, us;
} RealNews;

struct RealKeeper
{
  Process *process; /* The first member, as in RealOwner. */
  Threads *threads;
  GPtrArray *terms; /* Of RealTerm: all terms so far. */
  RealTerm *term;   /* (nullable) The present term. */
  Scribe *scribe;   /* (nullable) The scribe of this term, after it has opened. */
  GQueue news;      /* Of RealNews. */
  gboolean gone;
};

static const char *const job_names[] = { "branch", NULL };
static const char *const job_types[] = { "t", NULL };

/* ---- threads ---- */

static void
on_wake (gpointer data, guint32 ticket, guint64 at_us)
{
  RealKeeper *keeper = data;

  sim_expect (keeper->process->sim, at_us, HAPPEN_PUT, keeper->process->number)->number = ticket;
}

static RealKeeper *
keeper_of (Process *process)
{
  RealKeeper *keeper = process->keeper;
  ThreadsConfig config = { .seed = process->sim->plan->seed * 7 + process->number,
                           .now_us = &process->sim->now_us,
                           .wake = on_wake };

  if (keeper == NULL)
    {
      keeper = process->keeper = g_new0 (RealKeeper, 1);
      keeper->process = process;
      keeper->terms = g_ptr_array_new ();
      config.data = keeper;
      keeper->threads = threads_new (&config);
    }
  threads_enter (keeper->threads);
  return keeper;
}

static void
news_free (gpointer data)
{
  RealNews *news = data;

  g_clear_pointer (&news->rows, g_ptr_array_unref);
  g_free (news->path);
  g_free (news->trouble);
  g_free (news);
}

/* Called in any thread. */
static void
post (RealKeeper *keeper, const RealNews *news)
{
  g_queue_push_tail (&keeper->news, g_memdup2 (news, sizeof *news));
}

static void
notify (const ScribeNews *said, void *data)
{
  RealTerm *term = data;
  RealNews news = { .kind = NEWS_SCRIBE,
                    .term = term,
                    .said = said->kind,
                    .path = g_strdup (said->path),
                    .final = said->final,
                    .failed = said->failed,
                    .generation = said->generation,
                    .ticket = said->ticket,
                    .us = said->commit_us };

  if (said->rows != NULL)
    news.rows = g_ptr_array_ref (said->rows);
  if (said->kind == SCRIBE_TROUBLE && said->error != NULL)
    news.trouble = g_strdup (said->error->message);
  post (term->keeper, &news);
}

static Identity
identity_new (const Sim *sim)
{
  static char *argv[] = { NULL };

  return (Identity){ .run = g_strdup_printf ("sim-%" G_GUINT64_FORMAT, sim->plan->seed),
                     .name = (char *)"sim",
                     .app = (char *)"sim",
                     .program = (char *)"/sim",
                     .folder = (char *)"/",
                     .argv = argv,
                     .options = (char *)"",
                     .version = (char *)"0",
                     .schema = digest_of_string ("schema"),
                     .identity = digest_of_string ("sim") };
}

static gpointer
open_scribe (gpointer data)
{
  RealTerm *term = data;
  RealKeeper *keeper = term->keeper;
  const Sim *sim = keeper->process->sim;
  const RealPlace *place = sim->place;
  ScribeConfig config = { .work_path = term->work_path,
                          .target = place->target,
                          .interval_us = sim->plan->publish_us,
                          .delta_from = sim->plan->seed % 3 == 0 ? 1 : 0,
                          .term = term->number,
                          .goes_on = term->goes_on,
                          .least = term->least,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = keeper->process->stems,
                          .loads = TRUE,
                          .notify = notify,
                          .data = term };

  term->scribe = scribe_new (&config, &term->identity, &term->error);
  post (keeper, &(RealNews){ .kind = NEWS_OPENED, .term = term });
  return NULL;
}

/* The scribe publishes what it has. */
static gpointer
retire_scribe (gpointer data)
{
  RealTerm *term = data;

  if (term->scribe == NULL) /* The process ends. */
    return NULL;
  scribe_finish (term->scribe);
  scribe_free (g_steal_pointer (&term->scribe));
  (void)g_unlink (term->work_path);
  post (term->keeper, &(RealNews){ .kind = NEWS_RETIRED, .term = term });
  return NULL;
}

static gpointer
make_bid (gpointer data)
{
  RealKeeper *keeper = data;
  const Sim *sim = keeper->process->sim;
  Identity identity = identity_new (sim);
  BidResult result = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean good = bid_make (((RealPlace *)sim->place)->target, &identity, &result, &error);

  post (keeper, &(RealNews){ .kind = NEWS_BID,
                             .failed = !good,
                             .trouble = good ? NULL : g_strdup (error->message),
                             .generation = result.generation,
                             .us = result.commit_us });
  g_free (identity.run);
  return NULL;
}

/* ---- orders ---- */

gboolean
keeper_can_write (const Process *process)
{
  (void)process;
  return TRUE;
}

void
keeper_bid (Sim *sim, Process *process)
{
  RealKeeper *keeper = keeper_of (process);

  process->bidding = TRUE;
  check_bids (sim);
  g_thread_unref (g_thread_new ("bid", make_bid, keeper));
}

void
keeper_open (Sim *sim, Process *process, const NodeEffect *effect)
{
  RealKeeper *keeper = keeper_of (process);
  RealTerm *term = g_new0 (RealTerm, 1);
  RealPlace *place = sim->place;

  sim->outcome->elected++;
  sim->lease_us = sim->now_us;
  sim->outcome->moved += !effect->whole;
  *term = (RealTerm){ .keeper = keeper,
                      .work_path = g_strdup_printf ("%s/work-%u", place->folder, place->n_terms++),
                      .whole = effect->whole,
                      .goes_on = !process->founder || keeper->terms->len > 0,
                      .least = effect->number,
                      .number = node_term (process->node),
                      .identity = identity_new (sim) };
  g_ptr_array_add (keeper->terms, term);
  keeper->term = term;
  keeper->scribe = NULL;
  g_free (process->scribe.work);
  process->scribe = (SimScribe){ .work = g_new0 (Store, 1) };
  store_init (process->scribe.work, sim->plan->tree);
  g_thread_unref (g_thread_new ("open", open_scribe, term));
}

void
keeper_retire (Sim *sim, Process *process)
{
  RealKeeper *keeper = keeper_of (process);

  (void)sim;
  process->scribe.retiring = TRUE;
  g_clear_pointer (&process->scribe.work, g_free);
  if (keeper->scribe != NULL)
    g_thread_unref (g_thread_new ("retire", retire_scribe, keeper->term));
  keeper->term = NULL;
  keeper->scribe = NULL;
}

void
keeper_save (Sim *sim, Process *process, GPtrArray *rows, guint64 ticket)
{
  RealKeeper *keeper = keeper_of (process);
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint i = 0; i < rows->len; i++)
    {
      const char *error = process->scribe.work == NULL
                              ? "rows and is not coordinator"
                              : store_save (process->scribe.work, rows->pdata[i]);
      if (error != NULL)
        sim_fail (sim, "p%u saves %s: '%s'", process->number, error,
                  ((const Row *)rows->pdata[i])->path);
      g_ptr_array_add (copies, row_copy (rows->pdata[i]));
    }
  if (keeper->scribe == NULL)
    {
      g_ptr_array_unref (copies);
      return;
    }
  scribe_save (keeper->scribe, copies);
  scribe_ticket (keeper->scribe, ticket);
}

void
keeper_note (Sim *sim, Process *process, const NodeEffect *effect)
{
  RealKeeper *keeper = keeper_of (process);

  if (keeper->scribe == NULL)
    return;
  scribe_told (keeper->scribe, effect->text, &effect->node, effect->path, effect->work_us,
               effect->text2, (gint64)(sim->now_us - MIN (effect->at_us, sim->now_us)));
  scribe_ticket (keeper->scribe, effect->number);
}

void
keeper_member (Sim *sim, Process *process, const NodeEffect *effect)
{
  RealKeeper *keeper = process->keeper == NULL ? NULL : keeper_of (process);

  (void)sim;
  if (keeper != NULL && keeper->scribe != NULL)
    scribe_joined (keeper->scribe, &effect->node, effect->text2, "", effect->text);
}

void
keeper_answer (Sim *sim, Process *process, GBytes *answer)
{
  RealKeeper *keeper = keeper_of (process);

  if (!g_bytes_equal (answer, tree_answer (sim->plan->tree)))
    sim_fail (sim, "I1: p%u keeps a wrong answer", process->number);
  if (keeper->scribe != NULL)
    scribe_answer (keeper->scribe, answer, 0);
}

void
keeper_finish (Sim *sim, Process *process, NodeEffectKind kind)
{
  RealKeeper *keeper = keeper_of (process);
  g_autoptr (GArray) members = node_members (process->node);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));

  if (keeper->scribe == NULL)
    {
      post (keeper, &(RealNews){ .kind = NEWS_NOTHING });
      sim_expect (sim, sim->now_us, HAPPEN_PUT, process->number)->number = G_MAXUINT32;
      return;
    }
  for (guint i = 0; i < members->len; i++)
    g_array_append_val (ids, g_array_index (members, NodeMember, i).id);
  if (kind == NODE_EFFECT_FINAL)
    scribe_present (keeper->scribe, ids);
  if (kind == NODE_EFFECT_PUBLISH_IF_WORTH)
    scribe_offer (keeper->scribe);
  else
    scribe_finish (keeper->scribe);
}

void
keeper_salvage (Sim *sim, Process *process, const char *path)
{
  RealKeeper *keeper = keeper_of (process);

  (void)sim;
  if (keeper->scribe != NULL)
    scribe_load (keeper->scribe, path);
}

/* ---- news ---- */

static void
tell_all (Sim *sim, RealKeeper *keeper)
{
  g_autoptr (GArray) members = node_members (keeper->process->node);
  g_autoptr (GBytes) board = g_bytes_new_static ("0123456789abcdef", 16);
  NodeId self = node_self (keeper->process->node);

  (void)sim;
  for (guint i = 0; i < members->len; i++)
    {
      NodeMember *member = &g_array_index (members, NodeMember, i);
      scribe_joined (keeper->scribe, &member->id, member->host, member->site, member->address);
    }
  scribe_constant (keeper->scribe, "const/board", "ay", board);
  scribe_event (keeper->scribe, "elected", &self, NULL, 0, "coordinator");
  scribe_load (keeper->scribe, NULL);
}

static void
hear_opened (Sim *sim, RealKeeper *keeper, RealTerm *term)
{
  Process *process = keeper->process;
  NodeEvent failed = { .kind = NODE_EVENT_OPENED, .failed = TRUE };

  if (term != keeper->term) /* Another coordinator was elected meanwhile. */
    {
      if (term->scribe != NULL)
        g_thread_unref (g_thread_new ("retire", retire_scribe, term));
      return;
    }
  if (term->scribe == NULL)
    {
      sim_say (sim, "p%u cannot open: %s", process->number, term->error->message);
      failed.text = term->error->message;
      g_clear_pointer (&process->scribe.work, g_free);
      sim_step (sim, process, &failed);
      return;
    }
  keeper->scribe = term->scribe;
  tell_all (sim, keeper);
}

static void
hear_rows (Sim *sim, RealKeeper *keeper, const RealNews *news)
{
  Process *process = keeper->process;
  ScribeStats stats;

  if (news->path != NULL || news->term->whole)
    sim_step (sim, process,
              &(NodeEvent){ .kind = NODE_EVENT_RESTORED,
                            .rows = news->rows,
                            .path = news->path,
                            .final = news->final && news->path != NULL });
  if (!news->final || news->path != NULL || !process->alive || keeper->scribe == NULL)
    return;
  scribe_stats (keeper->scribe, &stats);
  sim->outcome->coordinator = process->number + 1;
  sim_step (sim, process, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = stats.generation });
}

static void
hear_scribe (Sim *sim, RealKeeper *keeper, const RealNews *news)
{
  gboolean counts = news->term == keeper->term && keeper->scribe != NULL;

  if (news->said == SCRIBE_PUBLISHED)
    real_place_acknowledge (sim);
  if (news->trouble != NULL)
    sim_say (sim, "p%u has trouble: %s", keeper->process->number, news->trouble);
  if (news->failed || news->said == SCRIBE_FAILED)
    sim_fail (sim, "p%u cannot write to a sound disk: %s", keeper->process->number,
              news->trouble != NULL ? news->trouble : "");
  if (news->rows != NULL && news->term == keeper->term && (counts || !news->final))
    hear_rows (sim, keeper, news);
  else if (counts && (news->said == SCRIBE_PUBLISHED || news->failed))
    sim_step (sim, keeper->process,
              &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED,
                            .number = news->generation,
                            .saved = news->ticket,
                            .work_us = news->us,
                            .final = news->final,
                            .failed = news->said != SCRIBE_PUBLISHED });
}

static void
hear (Sim *sim, RealKeeper *keeper, const RealNews *news)
{
  Process *process = keeper->process;

  switch (news->kind)
    {
    case NEWS_OPENED:
      hear_opened (sim, keeper, news->term);
      break;
    case NEWS_SCRIBE:
      hear_scribe (sim, keeper, news);
      break;
    case NEWS_BID:
      process->bidding = FALSE;
      sim_step (sim, process,
                &(NodeEvent){ .kind = NODE_EVENT_BID,
                              .work_us = MAX (news->us, 1),
                              .number = news->generation,
                              .failed = news->failed,
                              .text = news->trouble });
      break;
    case NEWS_RETIRED:
      break;
    default:
      sim_step (sim, process, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .final = TRUE });
    }
}

void
keeper_happen (Sim *sim, Process *process, const Happen *happen)
{
  RealKeeper *keeper = process->keeper;
  RealNews *news;

  if (happen->kind != HAPPEN_PUT || keeper == NULL || keeper->gone)
    return;
  threads_run (keeper->threads, (guint32)happen->number);
  real_place_look (sim);
  while ((news = g_queue_pop_head (&keeper->news)) != NULL)
    {
      threads_enter (keeper->threads);
      if (process->alive)
        hear (sim, keeper, news);
      news_free (news);
    }
}

/* ---- end ---- */

/* Ends the threads of the process, which cannot change the disk any more. The threads of a process
 * that left go on until its scribe has published. */
void
keeper_gone (Sim *sim, Process *process)
{
  RealKeeper *keeper = process->keeper;

  (void)sim;
  if (keeper == NULL || keeper->gone || process->left)
    return;
  keeper->gone = TRUE;
  threads_enter (keeper->threads);
  threads_end (keeper->threads);
  do
    for (guint i = 0; i < keeper->terms->len; i++)
      {
        RealTerm *term = keeper->terms->pdata[i];
        g_clear_pointer (&term->scribe, scribe_free);
      }
  while (threads_let_next_run (keeper->threads)); /* A thread may have opened another scribe. */
  keeper->scribe = NULL;
}

void
keeper_all_gone (Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    {
      sim->processes[i]->left = FALSE;
      keeper_gone (sim, sim->processes[i]);
    }
  if (sim->plan->checkpoint && rng_chance (&sim->world_rng, POWER_PERCENT))
    real_place_lose_power (sim);
}

void
keeper_free (Process *process)
{
  RealKeeper *keeper = process->keeper;

  g_free (process->scribe.work);
  if (keeper == NULL)
    return;
  process->left = FALSE;
  keeper_gone (process->sim, process);
  threads_free (keeper->threads);
  g_queue_clear_full (&keeper->news, news_free);
  for (guint i = 0; i < keeper->terms->len; i++)
    {
      RealTerm *term = keeper->terms->pdata[i];
      g_free (term->work_path);
      g_free (term->identity.run);
      g_clear_error (&term->error);
      g_free (term);
    }
  g_ptr_array_unref (keeper->terms);
  g_free (keeper);
}
