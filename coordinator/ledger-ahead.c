/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins the work file from a large base of which only the front was proved. One thread proves its
 * rows while another runs SQLite's quick_check over its pages. If another process may write to the
 * file, that thread first copies it and checks the copy. Nothing counts before everything is
 * proved. Tests: test-ahead, test-harm. */
#include "coordinator/ledger-private.h"

#include "storage/places/place.h"

#include "storage/recover/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

typedef struct
{
  const char *path; /* the file to check, … */
  int from;         /* … a copy of this file, if it is not -1 */
  gboolean is_sound;
} LedgerCheck;

static gpointer
check_pages (gpointer data)
{
  LedgerCheck *check = data;
  check->is_sound = (check->from < 0 || sql_copy_file (check->path, check->from, NULL))
                    && guard_check (check->path, NULL);
  return NULL;
}

/* Only this process reads the stage: it becomes the work file, and an empty file takes its
 * place. */
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
  LedgerCheck check
      = { .path = is_stage ? ledger->target : work_path, .from = is_stage ? -1 : ledger->stamp.fd };
  Takeover takeover = { 0 };
  ResultsTotals totals;
  ledger_tell (ledger, &takeover);
  GThread *thread = g_thread_new ("check", check_pages, &check);
  ledger->ahead = pair->base;
  gboolean is_proved = takeover_prove (pair->base, &totals, &takeover);
  ledger->ahead = NULL;
  g_thread_join (thread);
  /* The thread has checked the bytes that were read if no process has written to the file. */
  if (!is_proved || !check.is_sound || !stamp_is_current (&ledger->stamp, ledger->target)
      || !takeover_agrees (pair->base, &totals) || (is_stage && !take_stage (ledger, work_path)))
    return FALSE;
  if (begin_rows (ledger, work_path, identity, &totals))
    return TRUE;
  if (is_stage) /* an empty stage would count as no file */
    (void)g_rename (work_path, ledger->target);
  return FALSE;
}
