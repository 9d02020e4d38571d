/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's name: the child numbers from its root, as text. The first root of a program is "", its
 * children "/0", "/1", … Root k (1, 2, …), the one that main asks for after k others, is "k:", its
 * children "k:/0", … So no root lies below another one. At most 64 components stand in one text. A
 * deeper job's path continues its *stem*: the job at the greatest multiple of 64 levels that is
 * less than its own depth. It is written "~S/…" with 1 to 64 components, S being the id (16
 * lower-case hexadecimal digits) of that stem: the first 8 bytes of the SHA-256 of the stem's own
 * text. So every node writes the same short text for the same job. Canonical: decimal numbers below
 * 2^32, no leading zeros, no empty component, nothing else. Thread-safe; must not know jobs, nodes
 * or files. */
#pragma once

#include <glib.h>

#define PATH_STEM_LEVELS 64
#define PATH_TEXT_MAX (1 + 16 + 64 * 11 + 1) /* bytes of the longest text with its NUL */

/* The stems that this process has met: id -> the stem's own text. Grows only; locked inside. */
typedef struct Stems Stems;

Stems *stems_new (void);
void stems_free (Stems *stems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Stems, stems_free)

/* Enters a stem that came from a file or another node. FALSE: `path` is not canonical, has not
 * exactly 64 components, or `id` is not its hash; nothing is entered. */
gboolean stems_add (Stems *stems, const char *id, const char *path);
/* (nullable): the text of stem `id`; lives as long as `stems`. */
const char *stems_lookup (Stems *stems, const char *id);
guint stems_count (Stems *stems);

gboolean path_is_canonical (const char *path);
/* (transfer full): the path of child `number` of `path`; opens a stem when `path` is full. */
char *path_child (Stems *stems, const char *path, guint32 number);
/* (transfer full): the same for `n` levels at once. */
char *path_extend (Stems *stems, const char *path, const guint32 *numbers, gsize n);
/* (transfer full): the path of a root, by its number. */
char *path_of_root (guint32 root);
gboolean path_is_root (const char *path);
/* The number of the root that a canonical path without a stem has. */
guint32 path_root (const char *path);
/* (transfer full): the path with these numbers from the first root. */
char *path_from_numbers (Stems *stems, const guint32 *numbers, gsize n);
/* Appends the numbers from the path's root to `numbers` (of guint32); `root` (nullable, out): the
 * number of that. FALSE: not canonical, or a stem is unknown. */
gboolean path_to_numbers (Stems *stems, const char *path, guint32 *root, GArray *numbers);
/* The same for a path as people write it: the first root may be "/", and a deep path may be numbers
 * alone, more than one text holds. FALSE: it is no path, or a stem is unknown. */
gboolean path_read (Stems *stems, const char *text, guint32 *root, GArray *numbers);
/* Those numbers that stand in the text itself, the levels since its root or stem, into `numbers`,
 * which has room for PATH_STEM_LEVELS of them; how many. -1: not canonical. */
int path_read_last (const char *path, guint32 *numbers);
/* (transfer full): `start` (the path of a root, or "~" and the id of a stem) and behind it these
 * numbers. */
char *path_write (const char *start, const guint32 *numbers, gsize n);
/* Belongs it to this share (0 to 1) of all paths? The same ones everywhere, each time. */
gboolean path_is_drawn (const char *path, double share);
/* TRUE: `path` lies strictly below `ancestor`. Unknown stems count as not below. */
gboolean path_is_below (Stems *stems, const char *path, const char *ancestor);
/* The id of the stem that `path` continues, written to `id` (17 bytes with NUL). FALSE: it has
 * none. */
gboolean path_stem (const char *path, char id[17]);
/* FALSE: a stem that `path` needs is unknown. */
gboolean path_is_whole (Stems *stems, const char *path);
/* Calls `each` for the stems that `path` needs, the outermost first; not for one that `is_known`
 * (NULL: none is) nor for those that it continues. FALSE: one is unknown, nothing was called.
 * `is_known` must not call stems_* or path_*. */
gboolean path_each_stem (Stems *stems, const char *path,
                         gboolean (*is_known) (const char *id, void *data),
                         void (*each) (const char *id, const char *stem, void *data), void *data);
/* (transfer container): the ids, which live as long as `stems`, of all stems that stand at or below
 * `path`. At the cost of their number. */
GPtrArray *path_stems_below (Stems *stems, const char *path);
