/* SPDX-License-Identifier: BSD-3-Clause */
/* A disk that fails, and a machine that loses power: replaces the calls that change files, of the
 * program and of SQLite. Each call is a step. A program that links disk.c has its calls
 * replaced. */
#pragma once

#include <glib.h>

typedef enum
{
  DISK_SOUND,
  DISK_FAIL_ONCE, /* step number `at` fails */
  DISK_FAIL_ON,   /* it and all after it */
  DISK_CUT,       /* the power goes before step number `at` */
  DISK_WATCHED,   /* see disk_watch */
  /* These happen, and only then fail. */
  DISK_FAIL_AFTER,        /* step number `at` */
  DISK_FAIL_AFTER_COMMIT, /* the end of transaction number `at` of a SQLite file */
  /* Nothing fails, but write number `at` to a temporary file never reaches it. */
  DISK_LOSE_WRITE
} DiskMode;

/* Steps count from 1 from here on; only those in files whose name begins with `prefix`. */
void disk_begin (const char *prefix, DiskMode mode, guint at, int error_number);
/* Back to a sound disk. TRUE: the step was reached. */
gboolean disk_end (void);
/* Of the steps. */
guint disk_syncs (void);
/* (transfer none): of guint, the steps that were renames; until disk_begin. */
const GArray *disk_renamed_at (void);
/* What then still lies there cannot be helped. */
guint disk_unlinks_failed (void);

/* For a machine that goes on: `gate` is asked before each step, and what it refuses fails and does
 * not happen. disk_lose_power does to what was not synced by then what DISK_CUT does; files that
 * are open must not be used any more. */
void disk_watch (const char *prefix, guint32 seed, gboolean (*gate) (gboolean is_sync));
void disk_lose_power (void);

/* With DISK_CUT: a process in which `work` runs until the power goes. Of all that was not synced
 * then, an arbitrary part is on the disk, in pieces of 512 bytes and in any order, and names in a
 * folder that was not synced may be of before; or all is there, as when a process dies. FALSE:
 * `work` came to its end before. */
gboolean disk_cut (const char *prefix, guint at, guint32 seed, void (*work) (void *data),
                   void *data);
