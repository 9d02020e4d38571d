/* SPDX-License-Identifier: BSD-3-Clause */
/* Two checkpoints whose every row is known, for tests of what people see of them. */
#pragma once

#include "store.h"

#include "storage/shares.h"

#include "value/path.h"

#define ONE "1.1.00000001"
#define TWO "1.2.00000002"
#define T 1700000000 /* 2023-11-14 22:13:20 UTC */
#define DIGEST_TEXT "07070707070707070707070707070707"
#define MANY 23   /* nodes of the second file, */
#define EVENTS 13 /* and events */
#define DEPTH 70  /* of its deepest job, whose path has a stem */

static inline GBytes *
number (gint64 n)
{
  gint64 little = GINT64_TO_LE (n);

  return g_bytes_new (&little, sizeof little);
}

/* With arguments it also has a time: such rows were written by a node that knew both. */
static inline void
put_result (Fixture *f, const char *path, const char *node, double work_s, double weight,
            const char *args)
{
  guint8 digest[16];
  g_autoptr (GBytes) value = number (42);

  memset (digest, 7, sizeof digest);
  Result row = { .path = path,
                 .node = node,
                 .job = "fib",
                 .type = "x",
                 .digest = digest,
                 .digest_size = sizeof digest,
                 .value = value,
                 .work_s = work_s,
                 .saved = T + 60,
                 .weight = weight,
                 .args = args,
                 .args_size = args != NULL ? strlen (args) : 0,
                 .began = args != NULL ? T + 10 : 0,
                 .took_ms = args != NULL ? 1250 : 0 };
  g_assert_true (put_typed (f, row, NULL));
}

static inline void
put_state (Fixture *f, const char *path, guint32 children)
{
  guint8 digest[16];
  g_autoptr (GBytes) value = number (9);
  gboolean written;

  memset (digest, 8, sizeof digest);
  Keep keep = { .path = path,
                .children = children,
                .digest = digest,
                .digest_size = sizeof digest,
                .type = "x",
                .value = value,
                .args = "[11]",
                .args_size = 4 };
  g_assert_true (results_put_keep (f->results, &keep, 0.5, &written, NULL));
  g_assert_true (written);
}

static inline void
put_event (Fixture *f, gint64 at, const char *kind, const char *node, const char *path,
           double work_s, const char *detail)
{
  TablesEvent event
      = { .at = at, .kind = kind, .node = node, .path = path, .work_s = work_s, .detail = detail };

  g_assert_true (tables_put_event (f->sql, &event, 1000, NULL));
}

static inline void
put_tables (Fixture *f)
{
  static const char *const settings[][2]
      = { { "app", "fib" },           { "name", "fib-1" },       { "argv", "[b'8', b'two words']" },
          { "folder", "/home/me" },   { "program", "/opt/fib" }, { "version", "1.0" },
          { "build", "v 1, abcdef" }, { "generation", "7" } };
  const TablesNode nodes[] = {
    { .id = ONE, .name = "host1", .site = "here", .address = "unix:/one", .joined = T },
    { .id = TWO, .name = "host2", .site = "there", .address = "unix:/two", .joined = T - 5 }
  };
  g_autoptr (GBytes) text = g_bytes_new_static ("tour", 4), best = number (3);
  TablesValue constant = { "input/f", "ay", DIGEST_TEXT, text };
  TablesValue length = { "length", "x", NULL, best };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    g_assert_true (tables_set (f->sql, settings[i][0], settings[i][1], NULL));
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    g_assert_true (tables_put_node (f->sql, &nodes[i], NULL));
  g_assert_true (tables_end_node (f->sql, TWO, T + 100, "crashed", NULL));
  g_assert_true (tables_put_constant (f->sql, &constant, NULL));
  g_assert_true (tables_put_best (f->sql, &length, NULL));
  g_assert_true (shares_put (f->sql, DIGEST_TEXT, text, NULL));
}

/* An unfinished run: results of two nodes at several levels, a kept state, gaps of one and of
 * several jobs, events about jobs and about none. */
static inline void
write_small (Fixture *f)
{
  g_assert_true (results_begin (f->results, NULL));
  put_tables (f);
  put_result (f, "/0", ONE, 1.5, 1.0 / 16, "[8]");
  put_result (f, "/2/0", TWO, 2.75, 1.0 / 128, NULL);
  put_result (f, "/2/4", TWO, 0.75, 1.0 / 128, "[7]");
  put_result (f, "/2/5/1", ONE, 0.5, 1.0 / 256, "[6]");
  put_result (f, "/9", ONE, 1, 1.0 / 16, NULL);
  put_state (f, "/4", 3);
  put_event (f, T + 70, "requeued", TWO, "/2/4", 1.25, "again");
  put_event (f, T + 80, "requeued", TWO, "/7", 0.5, NULL);
  put_event (f, T + 90, "published", NULL, NULL, 0, "generation 7, 25.00 % done before");
  put_event (f, T + 95, "crash", TWO, NULL, 0, "silent");
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
}

/* A finished run with two roots, of which the second has more of everything than people are shown,
 * and a job whose path has a stem. */
static inline void
write_large (Fixture *f)
{
  g_autoptr (Stems) stems = stems_new ();
  guint32 numbers[DEPTH] = { 50 };
  g_autofree char *top = path_of_root (1), *deep = path_extend (stems, top, numbers, DEPTH);
  g_autofree char *stem_id = g_strndup (deep + 1, 16);

  g_assert_true (results_begin (f->results, NULL));
  put_result (f, "", "", 8, 0, NULL);
  for (guint i = 0; i < MANY; i++)
    {
      g_autofree char *path = g_strdup_printf ("1:/%u", 2 * i);
      g_autofree char *node = g_strdup_printf ("1.%u.%08x", i + 1, i + 1);
      put_result (f, path, node, i + 1, 1.0 / 64, NULL);
    }
  results_meet_stem (f->results, stem_id, stems_lookup (stems, stem_id));
  put_result (f, deep, ONE, 1, 1.0 / 128, NULL);
  for (guint i = 0; i < EVENTS; i++)
    put_event (f, T + i, "requeued", NULL, "1:/1", i, NULL);
  g_assert_true (tables_set (f->sql, "exit", "6", NULL));
  g_assert_true (tables_set (f->sql, "answer", "42\n", NULL));
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
}
