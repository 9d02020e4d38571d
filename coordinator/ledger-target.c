/* SPDX-License-Identifier: BSD-3-Clause */
/* The files at the target: a base and perhaps a delta, which are taken over, united or replaced. A
 * base contains all rows. While a base known to be ours is there, later rows go into the delta. The
 * delta is removed only when a base that contains it is there. Knows nothing of queues and threads.
 * Tests: test-writers, test-torture, test-pair. */
#include "coordinator/ledger-private.h"

#include "coordinator/notes.h"

#include "host/crash.h"

#include "storage/aside.h"
#include "storage/changes.h"
#include "storage/publish.h"
#include "storage/tables.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A delta may have this part of its base's size (or the size from which bases have deltas). Beyond
 * that a new base costs less than larger and larger deltas. */
#define DELTA_DENOMINATOR 4

/* The next publication replaces the file, so a damaged file is kept under another name. */
static gboolean
keep_damaged (Ledger *ledger, const char *path, const char *damage, GError **error)
{
  g_autofree char *aside = ledger->keep_aside != NULL
                               ? ledger->keep_aside (ledger->data, path, "damaged", error)
                               : aside_keep (path, "damaged", error);
  if (aside == NULL)
    return FALSE;
  crash_point ("kept-aside");
  g_autofree char *before = g_steal_pointer (&ledger->damage);
  ledger->damage
      = g_strdup_printf ("%s%scheckpoint '%s%s' is damaged: %s; the damaged file is kept as '%s'",
                         before != NULL ? before : "", before != NULL ? "; " : "",
                         ledger_name (ledger), path + strlen (ledger->target), damage, aside);
  return TRUE;
}

static gboolean
note_taken_over (Ledger *ledger, const Pair *pair, const Takeover *takeover, GError **error)
{
  guint64 number = pair_generation (pair->base);
  if (pair->delta != NULL)
    number = MAX (number, pair_generation (pair->delta));
  ledger->stats.generation = MAX (ledger->stats.generation, number);
  g_autofree char *detail
      = g_strdup_printf ("%" G_GUINT64_FORMAT " results, %" G_GUINT64_FORMAT " bad rows left out",
                         takeover->rows, takeover->bad);
  return notes_event (ledger->sql, &(TablesEvent){ .kind = "taken over", .detail = detail }, error);
}

/* Looks for damage in the file at `path`, which was taken over. */
static gboolean
look_for_damage (Ledger *ledger, Sql *file, const char *path, const Takeover *takeover,
                 GError **error)
{
  Audit audit;
  if (!audit_file (file, &audit, error))
    return FALSE;
  guint64 damaged = audit_damaged (&audit);
  g_autofree char *damage
      = takeover_damage (file, &audit, takeover->bad - MIN (takeover->bad, damaged));
  return damage == NULL || keep_damaged (ledger, path, damage, error);
}

gboolean
ledger_take_over (Ledger *ledger, const Pair *pair, gboolean has_base, GError **error)
{
  Takeover base = { .job_names = (const char *const *)ledger->job_names,
                    .job_types = (const char *const *)ledger->job_types };
  ledger_tell (ledger, &base);
  Takeover delta = base;
  if (!has_base
      && (!takeover_unite (ledger->results, ledger->sql, pair->base, ledger->stems, &base, error)
          || !look_for_damage (ledger, pair->base, ledger->target, &base, error)))
    return FALSE;
  if (pair->delta != NULL
      && (!pair_take_delta (pair, ledger->results, ledger->sql, ledger->stems, &delta, error)
          || !look_for_damage (ledger, pair->delta, ledger->delta, &delta, error)))
    return FALSE;
  base.rows += delta.rows;
  base.bad += delta.bad;
  return note_taken_over (ledger, pair, &base, error);
}

/* A run without a key may continue with its own publications, since nothing else can prove them. */
static gboolean
may_be_used (const Ledger *ledger, const Pair *pair, const Identity *found, GError **error)
{
  const Sql *base = pair->base;
  if (found->run == NULL)
    proof_find (pair->base, pair->delta, ledger->run);
  gboolean is_under_way = ledger->goes_on || ledger->results != NULL;
  return (is_under_way && !proof_is_possible () && g_strcmp0 (found->run, ledger->run) == 0)
         || proof_allows (base->origin, ledger_name (ledger), error);
}

gboolean
ledger_open_target (Ledger *ledger, Pair *pair, gboolean is_front, Identity *found, GError **error)
{
  GError *reason = NULL;
  char hex[DIGEST_HEX_LENGTH + 1];
  PairHow how = (ledger->name != NULL ? PAIR_OWN : 0) | (is_front ? PAIR_FRONT : 0);
  Stamp delta_stamp = stamp_of (ledger->delta), stamp = stamp_of (ledger->target);
  digest_to_hex (&ledger->identity.identity, hex);
  gboolean good = pair_open (pair, ledger->target, hex, how, &reason);
  identity_rename_error (reason, ledger->target, ledger->name);
  if (reason != NULL)
    identity_take_error (error, reason);
  good = good
         && (pair->base == NULL
             || (identity_load (pair->base, ledger_name (ledger), found, error)
                 && identity_matches (found, &ledger->identity, ledger_name (ledger), error)
                 && may_be_used (ledger, pair, found, error)));
  if (!good)
    {
      stamp_clear (&stamp);
      stamp_clear (&delta_stamp);
      pair_clear (pair);
      identity_clear (found);
      return FALSE;
    }
  stamp_replace (&ledger->stamp, stamp);
  stamp_replace (&ledger->delta_stamp, delta_stamp);
  ledger->has_delta = pair->delta != NULL;
  ledger->is_blocked = pair->is_blocked;
  return TRUE;
}

void
ledger_know_base (Ledger *ledger, guint64 bytes, guint64 generation)
{
  ledger->base_bytes = bytes >= ledger->delta_from ? bytes : 0;
  ledger->base_generation = generation;
  if (ledger->base_bytes > 0)
    changes_begin (ledger->sql);
  else
    changes_end (ledger->sql);
}

void
ledger_touch (Ledger *ledger, gboolean lost_base)
{
  ledger->has_changed = TRUE;
  if (lost_base)
    ledger_know_base (ledger, 0, 0);
}

/* Another coordinator of this run may have published meanwhile: in a split both sides continue, and
 * rows are facts. Then the next publication is a base. */
static gboolean
unite_with_target (Ledger *ledger, GError **error)
{
  GError *reason = NULL;
  Identity found = { 0 };
  g_auto (Pair) pair = { 0 };
  if (!g_file_test (ledger->target, G_FILE_TEST_EXISTS))
    ledger_know_base (ledger, 0, 0);
  if (stamp_is_current (&ledger->stamp, ledger->target)
      && stamp_is_current (&ledger->delta_stamp, ledger->delta))
    return TRUE;
  ledger_know_base (ledger, 0, 0);
  /* Until its rows are in the work file, the file counts as unknown. */
  Stamp stamp = ledger->stamp, delta_stamp = ledger->delta_stamp;
  ledger->stamp = ledger->delta_stamp = STAMP_NONE;
  gboolean good = ledger_open_target (ledger, &pair, FALSE, &found, error);
  identity_clear (&found);
  if (good && pair.base != NULL
      && !(results_begin (ledger->results, &reason)
           && ledger_take_over (ledger, &pair, FALSE, &reason)
           && ledger_write_generation (ledger, &reason)
           && results_commit (ledger->results, &reason)))
    good = ledger_give_up (ledger, reason, error);
  if (good)
    {
      ledger_note_totals (ledger);
      stamp_clear (&stamp);
      stamp_clear (&delta_stamp);
      return TRUE;
    }
  stamp_replace (&ledger->stamp, stamp);
  stamp_replace (&ledger->delta_stamp, delta_stamp);
  return FALSE;
}

static void
note_published (Ledger *ledger, Stamp *stamp, const Published *published)
{
  stamp_replace (stamp, stamp_of_file (published->fd));
  ledger->stats.bytes = published->bytes;
  ledger->has_changed = FALSE;
  ledger->stats.generation++;
}

/* `is_done` FALSE: a new base is better. */
static gboolean
publish_delta (Ledger *ledger, gboolean *is_done, GError **error)
{
  guint64 bytes;
  Published published;
  PublishMark mark = { ledger->stats.generation + 1, G_MAXUINT64 };
  g_autoptr (Sql) delta = changes_copy (ledger->sql, ledger->base_generation, &bytes, error);
  *is_done = FALSE;
  if (delta == NULL)
    return FALSE;
  if (bytes > MAX (ledger->delta_from, ledger->base_bytes / DELTA_DENOMINATOR))
    return TRUE;
  crash_point ("delta");
  if (!publish_copy (delta, ledger->delta, ledger->run, &mark, &published, error))
    return FALSE;
  crash_point ("delta-published");
  note_published (ledger, &ledger->delta_stamp, &published);
  ledger->has_delta = *is_done = TRUE;
  return TRUE;
}

/* The base contains all rows of the delta, and was read back before it got its name. Another
 * process may have removed the delta meanwhile. */
static void
remove_delta (Ledger *ledger)
{
  if (!ledger->has_delta || !stamp_is_current (&ledger->stamp, ledger->target))
    return;
  crash_point ("fold");
  if (g_unlink (ledger->delta) == 0 || errno == ENOENT)
    ledger->has_delta = FALSE;
  crash_point ("folded");
}

static gboolean
publish_base (Ledger *ledger, Publication *made, GError **error)
{
  Published published;
  PublishMark mark
      = { ledger->stats.generation + 1, ledger->is_blocked ? G_MAXUINT64 : ledger->delta_from };
  if (!publish_copy (ledger->sql, ledger->target, ledger->run, &mark, &published, error))
    return FALSE;
  note_published (ledger, &ledger->stamp, &published);
  made->takes_delta = ledger->has_delta;
  remove_delta (ledger);
  ledger_know_base (ledger, published.bytes, ledger->stats.generation);
  return TRUE;
}

/* Each publication has its own generation, even if nothing was written since the last one. */
static gboolean
number_publication (Ledger *ledger, GError **error)
{
  GError *reason = NULL;
  return ledger->numbered == ledger->stats.generation + 1
         || (results_begin (ledger->results, &reason) && ledger_write_generation (ledger, &reason)
             && results_commit (ledger->results, &reason))
         || ledger_give_up (ledger, reason, error);
}

static gboolean
publish (Ledger *ledger, gboolean final, Publication *made, GError **error)
{
  GError *reason = NULL;
  if (!unite_with_target (ledger, error) || !number_publication (ledger, error))
    return FALSE;
  gboolean may_be_delta
      = !final && ledger->base_bytes > 0 && !ledger->is_blocked && changes_are_known (ledger->sql);
  if ((may_be_delta && !publish_delta (ledger, &made->is_delta, &reason))
      || (!made->is_delta && !publish_base (ledger, made, &reason)))
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  made->generation = ledger->stats.generation;
  made->may_get_delta = ledger->base_bytes > 0 && !ledger->is_blocked;
  return TRUE;
}

gboolean
ledger_publish (Ledger *ledger, gboolean final, Publication *made, GError **error)
{
  g_assert (ledger->target[0] != '\0');

  int lock = publish_lock (ledger->target, &ledger->is_stalled);
  *made = (Publication){ 0 };
  gboolean good = publish (ledger, final, made, error);
  if (lock >= 0)
    (void)close (lock);
  return good;
}

gboolean
ledger_has_changed (const Ledger *ledger, gboolean final)
{
  return (ledger->has_changed || (final && ledger->has_delta)) && ledger->target[0] != '\0';
}

gboolean
ledger_keep (Ledger *ledger, const char *path, GError **error)
{
  GError *reason = NULL;
  Published published;
  if (!publish_copy (ledger->sql, path, ledger->run, NULL, &published, &reason))
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  (void)close (published.fd);
  return TRUE;
}
