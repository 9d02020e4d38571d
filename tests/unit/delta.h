/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of deltas. Small files stand for large ones: a base may have a delta from
 * FROM_BYTES on. Each test program includes it once. */
#pragma once

#include "checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#define FROM_BYTES (256u * 1024)
/* This many rows make a base of about four times FROM_BYTES. */
#define BASE_ROWS 9000

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

static Scribe *
begin (Place *place, guint64 interval_us)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  ScribeConfig config = { .work_path = place->work,
                          .target = place->target,
                          .interval_us = interval_us,
                          .delta_from = FROM_BYTES,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems,
                          .notify = place_notify,
                          .data = place };
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  g_assert_nonnull (scribe);
  identity_clear (&identity);
  return scribe;
}

static char *
delta_of (const Place *place)
{
  return g_strconcat (place->target, "-delta", NULL);
}

static goffset
size_of (const char *path)
{
  struct stat status;
  return stat (path, &status) == 0 ? status.st_size : -1;
}

/* Begins with a base of BASE_ROWS rows and a delta. */
static Scribe *
begin_with_delta (Place *place, guint n_rows)
{
  Scribe *scribe = begin (place, 1000);
  save_many (scribe, 0, BASE_ROWS);
  wait_published (place, scribe);
  save_many (scribe, BASE_ROWS, n_rows);
  wait_published (place, scribe);
  g_autofree char *delta = delta_of (place);
  g_assert_cmpint (size_of (delta), >, 0);
  return scribe;
}

static void
leave_as_killed (Place *place, Scribe *scribe)
{
  /* The target is as after a kill: nothing is published at the end. */
  (void)place;
  scribe_free (scribe);
}
