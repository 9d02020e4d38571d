/* SPDX-License-Identifier: BSD-3-Clause */
/* Which hosts are asked whether a run uses a checkpoint. The addresses in the file may belong to
 * any process. */
#include "captured.h"

#include "link/wire-find.h"
#include "node/checkpoint.h"

#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Nodes that accept connections and send nothing. */
#define SILENT 20
#define LIMIT_US (50 * 1000)

typedef struct
{
  GSocket *sockets[SILENT];
  GSource *sources[SILENT];
  GMainContext *context;
  GMainLoop *loop;
  guint n_open, n_open_max, n_asked;
} Silent;

static gboolean
on_word (GSocket *socket, GIOCondition condition, gpointer data)
{
  Silent *silent = data;
  (void)socket, (void)condition;
  silent->n_open--;
  return G_SOURCE_REMOVE;
}

static gboolean
on_asked (GSocket *listener, GIOCondition condition, gpointer data)
{
  Silent *silent = data;
  g_autoptr (GSocket) socket = g_socket_accept (listener, NULL, NULL);
  g_autoptr (GSource) source = g_socket_create_source (socket, G_IO_IN | G_IO_HUP, NULL);
  (void)condition;
  silent->n_asked++;
  silent->n_open++;
  silent->n_open_max = MAX (silent->n_open_max, silent->n_open);
  /* The asker sends nothing before the greeting: a readable connection means that it was closed. */
  g_source_set_callback (source, G_SOURCE_FUNC (on_word), silent, NULL);
  g_source_attach (source, silent->context);
  return G_SOURCE_CONTINUE;
}

static gpointer
be_silent (gpointer data)
{
  g_main_loop_run (((Silent *)data)->loop);
  return NULL;
}

static gboolean
stop (gpointer data)
{
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

static char **
listen_all (Silent *silent, const char *folder)
{
  g_autoptr (GPtrArray) addresses = g_ptr_array_new ();
  silent->context = g_main_context_new ();
  silent->loop = g_main_loop_new (silent->context, FALSE);
  for (guint i = 0; i < SILENT; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u", folder, i);
      g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
      silent->sockets[i] = g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, 0, NULL);
      g_assert_true (g_socket_bind (silent->sockets[i], address, TRUE, NULL));
      g_assert_true (g_socket_listen (silent->sockets[i], NULL));
      silent->sources[i] = g_socket_create_source (silent->sockets[i], G_IO_IN, NULL);
      g_source_set_callback (silent->sources[i], G_SOURCE_FUNC (on_asked), silent, NULL);
      g_source_attach (silent->sources[i], silent->context);
      g_ptr_array_add (addresses, g_strconcat ("unix:", path, NULL));
    }
  g_ptr_array_add (addresses, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&addresses), FALSE);
}

static void
close_all (Silent *silent, const char *folder)
{
  for (guint i = 0; i < SILENT; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u", folder, i);
      g_source_destroy (silent->sources[i]);
      g_source_unref (silent->sources[i]);
      g_object_unref (silent->sockets[i]);
      g_unlink (path);
    }
  g_main_loop_unref (silent->loop);
  g_main_context_unref (silent->context);
  g_rmdir (folder);
}

static void
few_are_asked_at_a_time_and_not_all (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-ask-XXXXXX", NULL);
  Silent silent = { .n_open = 0 };
  g_auto (GStrv) addresses = listen_all (&silent, folder);
  GThread *thread = g_thread_new ("silent", be_silent, &silent);
  g_autofree char *name = NULL, *host = NULL;
  /* A process that accepts a connection and sends nothing may be the run that is searched for. */
  g_assert_true (wire_find_run (addresses, "id", LIMIT_US, &name, &host));
  g_assert_null (name);
  g_assert_true (g_str_has_prefix (host, "unix:"));
  g_main_context_invoke (silent.context, stop, silent.loop);
  g_thread_join (thread);
  /* Each asker waits for one silent node until the time is over. */
  g_assert_cmpuint (silent.n_asked, >, 0);
  g_assert_cmpuint (silent.n_asked, <=, 6);
  /* A connection that was given up may still be open when the next one comes. */
  g_assert_cmpuint (silent.n_open_max, <=, 6);
  close_all (&silent, folder);
}

/* (transfer full) The text that is written to stderr. */
static char *
words_of (const Restore *restore)
{
  Captured captured = captured_begin (STDERR_FILENO);

  g_assert_null (checkpoint_in_use (restore, "file"));
  return captured_end (&captured);
}

static void
other_hosts_are_asked_with_a_word (void)
{
  char *far[] = { (char *)"tcp:nobody.invalid:9", NULL };
  char *near[] = { (char *)"unix:/nowhere", (char *)"tcp:127.0.0.1:1", NULL };
  Restore restore = { .exists = TRUE, .addresses = near, .identity = { .run = (char *)"id" } };
  g_autofree char *of_near = words_of (&restore);
  g_assert_cmpstr (of_near, ==, "");
  restore.addresses = far;
  g_autofree char *of_far = words_of (&restore);
  g_assert_nonnull (strstr (of_far, "nobody.invalid:9"));
}

/* ---- with an answer that the test gives ---- */

static const char *found_name, *found_host; /* (nullable): nobody is asked if both are NULL */
static gboolean answers, is_ours;
static int fails_with; /* the code with which the file cannot be read; 0: it can */
static Restore there;
static GString *called;

gboolean __real_wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name,
                               char **host);
gboolean __wrap_wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name,
                               char **host);
gboolean __wrap_restore_look (const char *target, Restore *restore, GError **error);
gboolean __wrap_restore_is_ours (const char *target);
char *__wrap_restore_set_aside (const char *target, GError **error);

gboolean
__wrap_wire_find_run (char **addresses, const char *id, guint64 limit_us, char **name, char **host)
{
  if (!answers)
    return __real_wire_find_run (addresses, id, limit_us, name, host);
  g_assert_cmpstr (id, ==, "id");
  *name = g_strdup (found_name);
  *host = g_strdup (found_host);
  return found_host != NULL;
}

gboolean
__wrap_restore_look (const char *target, Restore *restore, GError **error)
{
  g_string_append_printf (called, "look %s ", target);
  *restore = there;
  if (there.identity.run != NULL)
    {
      restore->identity.run = g_strdup ("id");
      restore->addresses = g_strdupv ((char *[]){ (char *)"unix:/n", NULL });
    }
  if (fails_with != 0)
    g_set_error (error, COORDINATOR_ERROR, fails_with, "no");
  return fails_with == 0;
}

gboolean
__wrap_restore_is_ours (const char *target)
{
  (void)target;
  return is_ours;
}

char *
__wrap_restore_set_aside (const char *target, GError **error)
{
  (void)error;
  g_string_append_printf (called, "aside %s", target);
  return g_strdup ("moved");
}

/* A process that says nothing may be the run; a file without a run or addresses is nobody's. */
static void
who_uses_a_checkpoint (void)
{
  char *near[] = { (char *)"unix:/n", NULL };
  char *far[] = { (char *)"tcp:192.0.2.1:1",
                  (char *)"tcp:192.0.2.2:1",
                  (char *)"unix:/n",
                  (char *)"tcp:192.0.2.3:1",
                  NULL,
                  NULL };
  Restore restore = { .exists = TRUE, .addresses = near, .identity = { .run = (char *)"id" } };
  Captured captured;

  answers = TRUE;
  found_host = "there";
  found_name = "tour";
  g_autofree char *used = checkpoint_in_use (&restore, "c.db");
  g_assert_cmpstr (used, ==, "checkpoint 'c.db' is in use by run 'tour' on there");
  found_name = NULL;
  g_autofree char *silent = checkpoint_in_use (&restore, "c.db");
  g_assert_nonnull (strstr (silent, "may be in use: a process that listens at 'there'"));
  restore.addresses = NULL;
  g_assert_null (checkpoint_in_use (&restore, "c.db"));
  restore.addresses = near;
  restore.identity.run = NULL;
  g_assert_null (checkpoint_in_use (&restore, "c.db"));
  restore.identity.run = (char *)"id";
  restore.addresses = far;
  found_host = NULL;
  for (int more = 0; more <= 1; more++)
    {
      far[4] = more ? (char *)"tcp:192.0.2.4:1" : NULL;
      captured = captured_begin (STDERR_FILENO);
      g_assert_null (checkpoint_in_use (&restore, "c.db"));
      g_autofree char *words = captured_end (&captured);
      g_assert_nonnull (strstr (words, "tcp:192.0.2.1:1, tcp:192.0.2.2:1, tcp:192.0.2.3:1"));
      g_assert_cmpint (strstr (words, "and others") != NULL, ==, more);
      g_assert_null (strstr (words, "192.0.2.4"));
      g_assert_null (strstr (words, "unix"));
    }
  answers = FALSE;
}

/* Only a checkpoint of Satin that nobody uses is renamed, be it damaged or another run's. */
static void
what_is_set_aside (void)
{
  static const struct
  {
    gboolean exists, is_used, is_ours;
    int fails_with, code;
    const char *wanted;
  } cases[]
      = { { TRUE, FALSE, TRUE, 0, 0, "look c aside c" },
          { FALSE, FALSE, TRUE, 0, 0, "look c " },
          { TRUE, TRUE, TRUE, 0, COORDINATOR_ERROR_IN_USE, "look c " },
          { TRUE, FALSE, TRUE, COORDINATOR_ERROR_UNUSABLE, 0, "look c aside c" },
          { TRUE, FALSE, FALSE, COORDINATOR_ERROR_UNUSABLE, COORDINATOR_ERROR_UNUSABLE, "look c " },
          { TRUE, FALSE, TRUE, COORDINATOR_ERROR_STORE, COORDINATOR_ERROR_STORE, "look c " } };

  answers = TRUE;
  found_name = "tour";
  called = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *moved = NULL;

      there = (Restore){ .exists = cases[i].exists };
      there.identity.run = cases[i].exists && cases[i].fails_with == 0 ? (char *)"id" : NULL;
      found_host = cases[i].is_used ? "there" : NULL;
      found_name = cases[i].is_used ? "tour" : NULL;
      is_ours = cases[i].is_ours;
      fails_with = cases[i].fails_with;
      g_assert_cmpint (checkpoint_set_aside ("c", &moved, &error), ==, cases[i].code == 0);
      g_assert_cmpint (error != NULL ? error->code : 0, ==, cases[i].code);
      g_assert_cmpstr (called->str, ==, cases[i].wanted);
      g_assert_cmpstr (moved, ==, strstr (cases[i].wanted, "aside") != NULL ? "moved" : NULL);
      g_string_truncate (called, 0);
    }
  g_string_free (called, TRUE);
  answers = FALSE;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/checkpoint/few-are-asked-at-a-time-and-not-all",
                   few_are_asked_at_a_time_and_not_all);
  g_test_add_func ("/checkpoint/other-hosts-are-asked-with-a-word",
                   other_hosts_are_asked_with_a_word);
  g_test_add_func ("/checkpoint/who-uses-it", who_uses_a_checkpoint);
  g_test_add_func ("/checkpoint/what-is-set-aside", what_is_set_aside);
  return g_test_run ();
}
