/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/audit.c and tables-read.c; links storage only. */
#include "store.h"

#include "storage/audit.h"

static gboolean
note_event (const TablesEvent *event, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (data, "%d %s %s %s %g %s\n", (int)event->at, event->kind, event->node,
                          event->path, event->work_s, event->detail);
  return TRUE;
}

static gboolean
note_setting (const char *key, GBytes *value, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (data, "%s=%.*s\n", key, (int)g_bytes_get_size (value),
                          (const char *)g_bytes_get_data (value, NULL));
  return TRUE;
}

static void
test_the_other_tables_are_read_too (Fixture *f, gconstpointer unused)
{
  g_autoptr (GString) text = g_string_new (NULL);
  TablesEvent full = { .at = 7,
                       .kind = "lost",
                       .node = "1.1.00000001",
                       .path = "/0",
                       .work_s = 2.5,
                       .detail = "crashed" };
  TablesEvent bare = { .at = 8, .kind = "elected" };
  (void)unused;
  g_assert_true (tables_put_event (f->sql, &full, 10, NULL));
  g_assert_true (tables_put_event (f->sql, &bare, 10, NULL));

  g_assert_true (tables_each_event (f->sql, note_event, text, NULL));
  g_assert_true (tables_each_setting (f->sql, note_setting, text, NULL));

  g_assert_cmpstr (text->str, ==,
                   "7 lost 1.1.00000001 /0 2.5 crashed\n8 elected (null) (null) 0 (null)\n"
                   "id=run-1\nidentity=" IDENTITY "\n");
}

/* One column after the other of one row after the other is changed; each time one row more fails.
 */
static void
test_an_audit_finds_every_change (Fixture *f, gconstpointer unused)
{
  static const char *const changes[][2] = {
    { "run", "UPDATE run SET value = 'x' WHERE key = 'id'" },
    { "event", "UPDATE event SET at = 2 WHERE id = 1" },
    { "event", "UPDATE event SET detail = '' WHERE id = 2" },
    { "event", "UPDATE event SET id = 9 WHERE id = 3" },
    { "result", "UPDATE result SET path = '/00' WHERE path = '/0'" },
    { "result", "UPDATE result SET weight = weight + 1e-9 WHERE path = '/1'" },
    { "result", "UPDATE result SET sum = NULL WHERE path = '/2'" },
    { "result", "UPDATE result SET value = CAST (value AS TEXT) WHERE path = '/3'" },
  };
  (void)unused;
  for (int i = 0; i < 5; i++)
    {
      TablesEvent event = { .at = 1, .kind = "join" };
      g_autofree char *path = g_strdup_printf ("/%d", i);
      g_assert_true (tables_put_event (f->sql, &event, 10, NULL));
      g_assert_true (put (f, path, 1, 1));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      guint64 kept, damaged, kept_after, damaged_after;
      g_assert_true (audit_table (f->sql, changes[i][0], &kept, &damaged, NULL));
      g_assert_true (sql_run (f->sql, changes[i][1], NULL));

      g_assert_true (audit_table (f->sql, changes[i][0], &kept_after, &damaged_after, NULL));

      g_assert_cmpuint (kept_after, ==, kept - 1);
      g_assert_cmpuint (damaged_after, ==, damaged + 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/audit/the-other-tables-are-read-too", Fixture, NULL, set_up,
              test_the_other_tables_are_read_too, tear_down);
  g_test_add ("/audit/an-audit-finds-every-change", Fixture, NULL, set_up,
              test_an_audit_finds_every_change, tear_down);
  return g_test_run ();
}
