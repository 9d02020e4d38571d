/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of this machine that is still being brought: who brings it says beside it, in "PATH.tag",
 * how far it came, and holds a lock on that as long as it lives; readers, of the same process or
 * another, wait for the bytes that they want. Both files may be renamed meanwhile.
 *
 * "PATH.tag" holds nothing but the tag when the file is whole, and more while it is coming. Nothing
 * of such a file proves anything before all of it has come. */
#pragma once

#include <glib.h>

#define ARRIVAL_PARTS_MAX 8

/* Bytes that are there before their turn. */
typedef struct
{
  guint64 from, to;
} ArrivalPart;

typedef struct Bringing Bringing;
/* Says that the file will have `bytes` bytes, and has these parts already; the first goes to its
 * end. NULL: it cannot be said. One thread at a time. */
Bringing *bringing_new (const char *path, const char *tag, guint64 bytes, const ArrivalPart *parts,
                        guint n_parts);
/* So many bytes are there, from the first on. */
void bringing_note (Bringing *bringing, guint64 arrived);
/* `failure` NULL: all of it is there. Else the one sentence why not. Frees. */
void bringing_end (Bringing *bringing, const char *failure);

typedef struct Arrival Arrival;
/* NULL: nobody brings it now. One thread at a time. */
Arrival *arrival_open (const char *path);
void arrival_free (Arrival *arrival);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Arrival, arrival_free)
/* (transfer none) */
const char *arrival_tag (const Arrival *arrival);
/* How many bytes it will have. */
guint64 arrival_bytes (const Arrival *arrival);
/* Blocks until these bytes are there. FALSE: they will not be. */
gboolean arrival_wait (Arrival *arrival, guint64 from, guint64 to);
/* Up to where all bytes from `from` on are known to be there already. */
guint64 arrival_reach (const Arrival *arrival, guint64 from);
/* Blocks until nobody brings what `path` names. FALSE: it is not whole; (transfer full, nullable)
 * `failure` says why. TRUE also when nobody did. */
gboolean arrival_wait_end (const char *path, char **failure);
/* Any thread: until this is taken back nobody in this process waits for what has not arrived. */
void arrival_give_up (gboolean is_so);
