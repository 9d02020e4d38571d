/* SPDX-License-Identifier: BSD-3-Clause */
/* A work file that begins as a large base which nobody has looked at wholly yet. Its pages and rows
 * are proved in the order in which they lie in the file, behind whoever brings it; a file that is
 * not only ours is copied meanwhile, by another thread, and the copy looked at. Nothing counts
 * before all was found in order. Must not know rows or threads of others. Tests: test-ahead. */
#include "coordinator/ledger-private.h"

#include "storage/places/place.h"

#include "storage/recover/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

typedef struct
{
  const char *path; /* what becomes the work file */
  int from;         /* the file of which that is to be a copy */
  gboolean is_sound;
} LedgerCopy;

static gpointer
copy_it (gpointer data)
{
  LedgerCopy *copy = data;
  copy->is_sound = sql_copy_file (copy->path, copy->from, NULL) && guard_check (copy->path, NULL);
  return NULL;
}

/* The stage is read by nobody but us: it becomes the work file, and an empty file stands there for
 * what it was. */
static gboolean
take_stage (Ledger *ledger, const char *work_path)
{
  g_autofree char *journal = g_strconcat (work_path, "-journal", NULL);
  (void)g_unlink (journal);
  if (g_rename (ledger->target, work_path) != 0)
    return FALSE;
  place_change_copy (ledger->target);
  int fd = g_open (ledger->target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    {
      (void)g_rename (work_path, ledger->target);
      return FALSE;
    }
  (void)close (fd);
  stamp_replace (&ledger->stamp, stamp_of (ledger->target));
  return TRUE;
}

static gboolean
begin_rows (Ledger *ledger, const char *work_path, const char *identity,
            const ResultsTotals *totals)
{
  ledger->sql = sql_adopt (work_path, identity, NULL);
  if (ledger->sql != NULL)
    ledger_seal (ledger, ledger->sql);
  ledger->results = ledger->sql != NULL ? results_new (ledger->sql, NULL) : NULL;
  if (ledger->results == NULL)
    {
      g_clear_pointer (&ledger->sql, sql_free);
      return FALSE;
    }
  results_set_totals (ledger->results, totals);
  return TRUE;
}

gboolean
ledger_begin_ahead (Ledger *ledger, const char *work_path, const char *identity, const Pair *pair)
{
  gboolean is_stage = ledger->name != NULL;
  LedgerCopy copy = { .path = work_path, .from = ledger->stamp.fd };
  Takeover takeover = { 0 };
  ResultsTotals totals;
  if (pair->base->is_earlier) /* its rows come into a file of today's format one by one */
    return FALSE;
  ledger_tell (ledger, &takeover);
  GThread *thread = is_stage ? NULL : g_thread_new ("copy", copy_it, &copy);
  ledger->ahead = pair->base;
  gboolean is_proved = takeover_prove (pair->base, ledger->target, &totals, &takeover);
  ledger->ahead = NULL;
  if (thread != NULL)
    g_thread_join (thread);
  if (!is_proved)
    return FALSE;
  /* What was read there and what was copied are the same if nobody wrote to it. */
  if (is_stage ? !guard_wait (ledger->target, NULL) || !take_stage (ledger, work_path)
               : !copy.is_sound || !stamp_is_current (&ledger->stamp, ledger->target))
    return FALSE;
  if (begin_rows (ledger, work_path, identity, &totals))
    return TRUE;
  if (is_stage) /* an empty one would be taken for none */
    (void)g_rename (work_path, ledger->target);
  return FALSE;
}
