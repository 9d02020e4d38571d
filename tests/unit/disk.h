/* SPDX-License-Identifier: BSD-3-Clause */
/* A disk that fails, and a machine that loses power: replaces the calls that change files, of the
 * program and of SQLite. Each call is a step. A program that links disk.c has its calls
 * replaced. */
#pragma once

#include <glib.h>

typedef enum
{
  DISK_SOUND,
  DISK_FAIL_ONCE, /* Step number `at` fails. */
  DISK_FAIL_ON,   /* That step and all later ones fail. */
  DISK_CUT,       /* The power is lost before step number `at`. */
  DISK_WATCHED,   /* see disk_watch */
  /* These steps are carried out and then report a failure. */
  DISK_FAIL_AFTER,        /* Step number `at`. */
  DISK_FAIL_AFTER_COMMIT, /* The end of transaction number `at` of a SQLite file. */
  /* Nothing fails, but write number `at` to a temporary file never reaches it. */
  DISK_LOSE_WRITE
} DiskMode;

/* Begins to count steps, from 1; only steps in files whose names begin with `prefix` count. */
void disk_begin (const char *prefix, DiskMode mode, guint at, int error_number);
/* Restores a sound disk. TRUE: the step was reached. */
gboolean disk_end (void);
/* The number of steps that sync. */
guint disk_syncs (void);
/* (transfer none) Of guint: the steps that were renames; valid until disk_begin. */
const GArray *disk_renamed_at (void);
/* Removals that failed: their files remain. */
guint disk_unlinks_failed (void);

/* For a machine that does not stop: `gate` is asked before each step; a step that it refuses fails
 * and has no effect. disk_lose_power does to unsynced data what DISK_CUT does; open files must not
 * be used afterwards. */
void disk_watch (const char *prefix, guint32 seed, gboolean (*gate) (gboolean is_sync));
void disk_lose_power (void);

/* With DISK_CUT: runs `work` in a process until the power is lost. Afterwards an arbitrary part of
 * the unsynced data is on the disk, in pieces of 512 bytes and in any order, and names in an
 * unsynced folder may be older; or everything is there, as when a process dies. FALSE if `work`
 * ended before. */
gboolean disk_cut (const char *prefix, guint at, guint32 seed, void (*work) (void *data),
                   void *data);
