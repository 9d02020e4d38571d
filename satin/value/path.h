/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's name: the child numbers from its root, as text. The first root of a program is "", its
 * children are "/0", "/1", … Root k, for which main asks after k others, is "k:", its children are
 * "k:/0", … So no root lies below another. A text has at most 64 components. The path of a deeper
 * job continues its *stem*: the job at the greatest multiple of 64 levels below its own depth. It
 * is written "~S/…" with 1 to 64 components. S is the id of the stem: the first 8 bytes of the
 * SHA-256 of the stem's own text, as 16 lower-case hexadecimal digits. So every node writes the
 * same short text for the same job. Canonical paths have decimal numbers below 2^32, no leading
 * zeros, no empty component, and nothing else. Any thread. Knows nothing of jobs, nodes and
 * files. */
#pragma once

#include <glib.h>

#define PATH_STEM_LEVELS 64
#define PATH_TEXT_MAX (1 + 16 + 64 * 11 + 1) /* bytes of the longest text, with its NUL */

/* The stems that this process knows: id -> the stem's own text. Stems are never removed. Has its
 * own lock. */
typedef struct Stems Stems;

Stems *stems_new (void);
void stems_free (Stems *stems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Stems, stems_free)

/* Adds a stem from a file or another node. FALSE: nothing is added, since `path` is not canonical,
 * has not exactly 64 components, or `id` is not its hash. */
gboolean stems_add (Stems *stems, const char *id, const char *path);
/* The text of stem `id`. (nullable); valid as long as `stems`. */
const char *stems_lookup (Stems *stems, const char *id);
guint stems_count (Stems *stems);

gboolean path_is_canonical (const char *path);
/* The path of child `number` of `path`. Adds a stem if `path` is full. (transfer full) */
char *path_child (Stems *stems, const char *path, guint32 number);
/* The path `n` levels below `path`. (transfer full) */
char *path_extend (Stems *stems, const char *path, const guint32 *numbers, gsize n);
/* The path of root number `root`. (transfer full) */
char *path_of_root (guint32 root);
gboolean path_is_root (const char *path);
/* The root's number of a canonical path without a stem. */
guint32 path_root (const char *path);
/* The path with these numbers below the first root. (transfer full) */
char *path_from_numbers (Stems *stems, const guint32 *numbers, gsize n);
/* Appends the child numbers from the root to `numbers` (of guint32); `root` (nullable, out): the
 * root's number. FALSE: `path` is not canonical, or a stem is unknown. */
gboolean path_to_numbers (Stems *stems, const char *path, guint32 *root, GArray *numbers);
/* The same for a path as people write it: the first root may be "/", and a deep path may be plain
 * numbers without a stem. FALSE: it is no path, or a stem is unknown. */
gboolean path_read (Stems *stems, const char *text, guint32 *root, GArray *numbers);
/* Writes the numbers in the text itself, below its root or stem, to `numbers`, which has room for
 * PATH_STEM_LEVELS. Returns how many there are; -1: not canonical. */
int path_read_last (const char *path, guint32 *numbers);
/* `start` (the path of a root, or "~" and the id of a stem), followed by these numbers. (transfer
 * full) */
char *path_write (const char *start, const guint32 *numbers, gsize n);
/* TRUE: `path` belongs to a sample with this share (0 to 1) of all paths. The sample is the same
 * everywhere and always. */
gboolean path_is_drawn (const char *path, double share);
/* TRUE: `path` is `ancestor` with at least one more component. Compares the texts only: FALSE for a
 * descendant with another stem. */
gboolean path_continues (const char *path, const char *ancestor);
/* TRUE: `path` lies strictly below `ancestor`. FALSE also if a stem is unknown. */
gboolean path_is_below (Stems *stems, const char *path, const char *ancestor);
/* Writes the id of the stem that `path` continues to `id` (17 bytes with NUL). FALSE: it has
 * none. */
gboolean path_stem (const char *path, char id[17]);
/* FALSE: a stem that `path` needs is unknown. */
gboolean path_is_whole (Stems *stems, const char *path);
/* Calls `each` for the stems that `path` needs, the outermost first. Leaves out a stem for which
 * `is_known` (nullable) is TRUE, and the stems that this one continues. FALSE: a stem is unknown,
 * and nothing was called. `is_known` must not call stems_* or path_*. */
gboolean path_each_stem (Stems *stems, const char *path,
                         gboolean (*is_known) (const char *id, void *data),
                         void (*each) (const char *id, const char *stem, void *data), void *data);
/* The ids of all stems at or below `path`. The time is proportional to their number. (transfer
 * container): the ids live as long as `stems`. */
GPtrArray *path_stems_below (Stems *stems, const char *path);
