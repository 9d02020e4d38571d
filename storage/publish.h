/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts a verified copy of the work file at its target, so that a reader finds a complete checkpoint
 * there at any moment. Blocks on the disk. */
#pragma once

#include "storage/sql.h"

/* Makes and removes a temporary file beside `target`. FALSE: STORAGE_ERROR_PLACE in one
 * sentence. */
gboolean publish_try (const char *target, const char *run, GError **error);
typedef struct
{
  guint64 bytes; /* size of the copy */
  int fd;        /* of the file at the target. While it is open, no other file can have its inode.
                    The caller closes it. */
} Published;

/* The arguments of place_mark for a copy: its number, and the size from which a delta may stand
 * beside it. */
typedef struct
{
  guint64 number, delta_from;
} PublishMark;

/* Replaces `target` by a copy of the file of `sql`, in one step. `mark` (nullable). FALSE: `target`
 * is unchanged, and no temporary file is left. */
gboolean publish_copy (Sql *sql, const char *target, const char *run, const PublishMark *mark,
                       Published *published, GError **error);
/* The same steps with a file of `bytes` that replaces nothing and is removed again. `us`: how long
 * the steps took, without the time to generate the bytes. */
gboolean publish_trial (const char *target, const char *run, guint64 bytes, guint64 *us,
                        GError **error);
/* Keeps other coordinators of this machine (of all, where the file system can) from publishing in
 * the folder of `target` until the descriptor is closed, so that a coordinator replaces the file
 * that it has read. -1: there is no lock, which costs at most work. Waits for at most a second.
 * Then *is_stalled, FALSE at first, becomes TRUE, and later calls do not wait: the holder may be a
 * stopped process. It is FALSE again after a call that got the lock. */
int publish_lock (const char *target, gboolean *is_stalled);
/* Removes temporary files of publications to `target`, of any run, whose makers are dead
 * (host/process.h); of other hosts those that were not written for a day. */
void publish_sweep (const char *target);
