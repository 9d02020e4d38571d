/* SPDX-License-Identifier: BSD-3-Clause */
/* A node as those see it that ask a run from outside: a thread that listens in the run's folder
 * under the pid of a living process, knows the run's credential, and answers as a test tells it. */
#pragma once

#include "folder/folder.h"
#include "link/wire-private.h"

#include "host/whole.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Appends the reply. FALSE: the node hangs up. In the node's thread. */
typedef gboolean (*FakeAnswer) (gpointer data, const char *request, GString *reply);

typedef struct
{
  gint64 pid;
  FakeAnswer answer;
  gpointer data;
  char *address, *credential;
  int fd;
  GThread *thread;
} FakeNode;

static inline gboolean
fake_node_greet (const FakeNode *node, int fd)
{
  guint8 greeting[MAGIC_SIZE + NONCE_SIZE + 2] = MAGIC, frame[1 + NONCE_SIZE + PROOF_SIZE];
  guint8 proof[PROOF_SIZE];

  if (!whole_write (fd, greeting, sizeof greeting)
      || whole_read (fd, frame, sizeof frame) != sizeof frame)
    return FALSE;
  wire_prove (node->credential, "dialler", greeting + MAGIC_SIZE, frame + 1, frame[0], proof);
  if (!wire_proof_is_equal (frame + 1 + NONCE_SIZE, proof))
    return FALSE;
  wire_prove (node->credential, "greeter", greeting + MAGIC_SIZE, frame + 1, frame[0], proof);
  return whole_write (fd, proof, sizeof proof);
}

static inline void
fake_node_serve (const FakeNode *node, int fd)
{
  guint64 size;

  while (whole_read (fd, &size, sizeof size) == sizeof size)
    {
      g_autofree char *request = g_malloc0 (size + 1);
      g_autoptr (GString) reply = g_string_new (NULL);

      if (whole_read (fd, request, size) != (gssize)size
          || !node->answer (node->data, request, reply))
        return;
      size = reply->len;
      if (!whole_write (fd, &size, sizeof size) || !whole_write (fd, reply->str, reply->len))
        return;
    }
}

static inline gpointer
fake_node_run (gpointer data)
{
  const FakeNode *node = data;

  for (int fd; (fd = accept (node->fd, NULL, NULL)) >= 0; close (fd))
    if (fake_node_greet (node, fd))
      fake_node_serve (node, fd);
  return NULL;
}

/* `folder`: of the run, with its credential. */
static inline void
fake_node_begin (FakeNode *node, const char *folder)
{
  struct sockaddr_un place = { .sun_family = AF_UNIX };
  g_autofree char *socket_file = folder_node_file (node->pid, FOLDER_NODE_SOCKET);
  g_autofree char *path = g_build_filename (folder, socket_file, NULL);
  g_autofree char *file = folder_node_file (node->pid, FOLDER_NODE_ADDRESS);

  signal (SIGPIPE, SIG_IGN);
  g_strlcpy (place.sun_path, path, sizeof place.sun_path);
  node->credential = folder_credential (folder, NULL);
  node->fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (node->fd, (struct sockaddr *)&place, sizeof place), ==, 0);
  g_assert_cmpint (listen (node->fd, 10), ==, 0);
  node->address = g_strconcat ("unix:", path, NULL);
  g_autoptr (GBytes) bytes = g_bytes_new (node->address, strlen (node->address));
  g_assert_true (folder_write (folder, file, bytes, NULL));
  node->thread = g_thread_new ("node", fake_node_run, node);
}

static inline void
fake_node_end (FakeNode *node)
{
  if (node->thread == NULL)
    return;
  shutdown (node->fd, SHUT_RDWR);
  g_thread_join (g_steal_pointer (&node->thread));
  close (node->fd);
  g_clear_pointer (&node->address, g_free);
  g_clear_pointer (&node->credential, g_free);
}
