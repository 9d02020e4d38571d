/* SPDX-License-Identifier: BSD-3-Clause */
/* The orders of a control client to a node: words with a number, and files for the end. */
#include "node/orders.h"

#include "folder/control.h"

#include <glib/gstdio.h>
#include <string.h>

static char *folder;

/* The event of a request; its kind is NODE_EVENTS if there is none. */
static NodeEvent
event_of (Driver *driver, const char *request, const char *reply_has)
{
  NodeEvent event;
  gboolean has_event;
  g_autofree char *reply = orders_answer (driver, request, &event, &has_event);

  g_assert_nonnull (reply);
  if (strstr (reply, reply_has) == NULL)
    g_error ("'%s' is answered with '%s'", request, reply);
  return has_event ? event : (NodeEvent){ .kind = G_MAXINT };
}

/* Without a number: the default patience, 0. A number gives at least 1 us, so that 0 s is not taken
 * for the default. */
static void
seconds_follow_the_word (void)
{
  static const struct
  {
    const char *text;
    guint64 us; /* 0: refused */
  } cases[] = { { "0", 1 },          { "0.000001", 2 },         { "2.5", 2500001 },
                { "1e2", 100000001 }, { "86400", 86400000001 }, { "86400.1", 0 },
                { "-1", 0 },         { "-0.1", 0 },             { "nan", 0 },
                { "inf", 0 },        { "1x", 0 },               { "x", 0 },
                { "", 0 },           { "1 2", 0 } };
  static const struct
  {
    const char *word;
    NodeEventKind kind;
  } words[] = { { "suspend", NODE_EVENT_SUSPEND }, { "save", NODE_EVENT_SAVE } };
  Driver *driver = g_new0 (Driver, 1);

  driver->config.checkpoint = "/x.db";
  for (guint w = 0; w < G_N_ELEMENTS (words); w++)
    {
      NodeEvent event = event_of (driver, words[w].word, "{");
      g_assert_cmpint (event.kind, ==, words[w].kind);
      g_assert_cmpuint (event.number, ==, 0);
      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          g_autofree char *request = g_strdup_printf ("%s %s", words[w].word, cases[i].text);
          g_autofree char *joined = g_strdup_printf ("%s%s", words[w].word, cases[i].text);
          event = event_of (driver, request, cases[i].us > 0 ? "{" : "unknown request");
          g_assert_true ((event.kind == words[w].kind) == (cases[i].us > 0));
          if (cases[i].us > 0)
            g_assert_cmpuint (event.number, ==, cases[i].us);
          if (cases[i].text[0] != '\0')
            g_assert_cmpint (event_of (driver, joined, "unknown request").kind, ==, G_MAXINT);
        }
    }
  g_free (driver);
}

static void
other_words (void)
{
  Driver *driver = g_new0 (Driver, 1);

  g_assert_cmpint (event_of (driver, "cancel", "ok").kind, ==, NODE_EVENT_CANCEL);
  g_assert_cmpint (event_of (driver, "save", "no checkpoint").kind, ==, G_MAXINT);
  g_assert_cmpint (event_of (driver, "save 3", "no checkpoint").kind, ==, G_MAXINT);
  g_assert_cmpint (event_of (driver, "saved", "rounds").kind, ==, G_MAXINT);
  const char *const unknown[] = { "", " ", "cancel ", "cancel 1", "Suspend", "savedx", "statu",
                                  "taken ", "leave", "checkpoint" };
  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    g_assert_cmpint (event_of (driver, unknown[i], "unknown request").kind, ==, G_MAXINT);

  /* A run gets a checkpoint only once; the same place may be given again. */
  NodeEvent event = event_of (driver, CONTROL_CHECKPOINT "/a\\tb.db", "ok");
  g_assert_cmpint (event.kind, ==, NODE_EVENT_CHECKPOINT);
  g_assert_cmpstr (event.text, ==, "/a\\tb.db");
  driver->config.checkpoint = "/a\tb.db";
  g_assert_cmpint (event_of (driver, CONTROL_CHECKPOINT "/a\\tb.db", "ok").kind, ==,
                   NODE_EVENT_CHECKPOINT);
  g_assert_cmpint (event_of (driver, CONTROL_CHECKPOINT "/b.db", "already").kind, ==, G_MAXINT);
  driver->config.checkpoint = NULL;
  driver->config.protect = PLAN_NAIVE;
  g_assert_cmpint (event_of (driver, CONTROL_CHECKPOINT "/b.db", "naive").kind, ==, G_MAXINT);
  driver->config.protect = PLAN_AUTO;
  g_autofree char *longest = g_strnfill (MESSAGE_TEXT_MAX, 'x');
  g_autofree char *fits = g_strconcat (CONTROL_CHECKPOINT, longest, NULL);
  g_autofree char *longer = g_strconcat (fits, "x", NULL);
  g_assert_cmpint (event_of (driver, fits, "ok").kind, ==, NODE_EVENT_CHECKPOINT);
  g_assert_cmpint (event_of (driver, longer, "too long").kind, ==, G_MAXINT);
  g_free (driver);
}

static void
put (const char *name, const char *bytes, gsize size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, bytes, (gssize)size, NULL));
}

static void
only_files_of_the_end_are_told (void)
{
  static const char *const others[]
      = { "key.pem", "credential", "run", "../x", "answer/", "", "." };
  Driver *driver = g_new0 (Driver, 1);

  driver->config.folder = folder;
  for (guint i = 0; control_files_of_end[i] != NULL; i++)
    put (control_files_of_end[i], "bytes", 5);
  put ("key.pem", "secret", 6);
  put ("credential", "secret", 6);
  for (gboolean ended = FALSE; ended <= TRUE; ended++)
    {
      driver->part = ended ? PART_STOPPED : PART_MEMBER;
      for (guint i = 0; control_files_of_end[i] != NULL; i++)
        {
          g_autofree char *request = g_strconcat (CONTROL_FILE, control_files_of_end[i], NULL);
          g_autofree char *wanted = g_strdup_printf ("file %s 5\nbytes", control_files_of_end[i]);
          g_autoptr (GBytes) reply = orders_file (driver, request);
          g_assert_true ((reply != NULL) == ended);
          if (ended)
            g_assert_cmpmem (g_bytes_get_data (reply, NULL), g_bytes_get_size (reply), wanted,
                             strlen (wanted));
        }
      for (guint i = 0; i < G_N_ELEMENTS (others); i++)
        {
          g_autofree char *request = g_strconcat (CONTROL_FILE, others[i], NULL);
          g_assert_null (orders_file (driver, request));
        }
      g_assert_null (orders_file (driver, CONTROL_FILE "end 1x"));
      g_assert_null (orders_file (driver, CONTROL_FILE "end -1"));
      g_assert_null (orders_file (driver, CONTROL_FILE "end 1 2"));
    }
  g_assert_false (driver->end_is_taken);
  g_assert_null (orders_file (driver, CONTROL_TAKEN));
  g_assert_true (driver->end_is_taken);
  g_free (driver);
}

/* The pieces together are the file, for any offset. */
static void
files_come_in_pieces (void)
{
  const gsize size = 2 * CONTROL_PIECE + 4321;
  g_autofree char *all = g_malloc (size);
  const gsize offsets[] = { 0, 1, 4321, CONTROL_PIECE - 1, CONTROL_PIECE, CONTROL_PIECE + 1,
                            2 * CONTROL_PIECE, size - 1, size, size + 1, G_MAXINT64 };
  g_autofree char *header = g_strdup_printf ("file answer %" G_GSIZE_FORMAT "\n", size);
  const gsize head = strlen (header);
  Driver *driver = g_new0 (Driver, 1);

  for (gsize i = 0; i < size; i++)
    all[i] = (char)(i * 7 + i / 251);
  put ("answer", all, size);
  driver->config.folder = folder;
  driver->part = PART_STOPPED;
  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    {
      g_autofree char *request
          = g_strdup_printf (CONTROL_FILE "answer %" G_GSIZE_FORMAT, offsets[i]);
      g_autoptr (GBytes) reply = orders_file (driver, request);
      gsize at = MIN (offsets[i], size), part = MIN (size - at, CONTROL_PIECE), got;
      const char *bytes = g_bytes_get_data (reply, &got);
      g_assert_cmpuint (got, ==, head + part);
      g_assert_cmpmem (bytes, head, header, head);
      g_assert_cmpmem (bytes + head, part, all + at, part);
    }
  g_free (driver);
}

int
main (int argc, char **argv)
{
  folder = g_dir_make_tmp ("satin-orders-XXXXXX", NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/orders/seconds-follow-the-word", seconds_follow_the_word);
  g_test_add_func ("/orders/other-words", other_words);
  g_test_add_func ("/orders/only-files-of-the-end-are-told", only_files_of_the_end_are_told);
  g_test_add_func ("/orders/files-come-in-pieces", files_come_in_pieces);
  int code = g_test_run ();
  const char *const names[] = { "error", "answer.err", "answer.code", "answer", "end", "key.pem",
                                "credential" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_unlink (path);
    }
  g_rmdir (folder);
  g_free (folder);
  return code;
}
