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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/checkpoint/few-are-asked-at-a-time-and-not-all",
                   few_are_asked_at_a_time_and_not_all);
  g_test_add_func ("/checkpoint/other-hosts-are-asked-with-a-word",
                   other_hosts_are_asked_with_a_word);
  return g_test_run ();
}
