/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a node, which is a thread here: it knows the credential or does not, and answers as
 * the test says. */
#include "link/wire-private.h"

#include "host/whole.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CREDENTIAL "secret"

typedef struct
{
  const char *magic; /* the first bytes of its greeting */
  gsize text_size;   /* the size that it gives for its text */
  const char *text;  /* (nullable) the text of its greeting; NULL: so many bytes */
  const char *proof; /* the credential for its proof; NULL: it closes the connection first */
  guint64 size;      /* the size that it gives for its reply; … */
  gsize sent;        /* … and how much of the reply it sends */
} Lie;

typedef struct
{
  char *folder, *path, *address;
  int fd;
  Lie lie;
  char letter;          /* of which its reply consists */
  gboolean heard_proof; /* the asker's proof was right */
  GThread *thread;
} Fixture;

static gboolean
greet (Fixture *f, const Lie *lie, int fd)
{
  guint8 head[MAGIC_SIZE + NONCE_SIZE + 2] = { 0 }, frame[1 + NONCE_SIZE + PROOF_SIZE];
  guint8 proof[PROOF_SIZE];
  g_autofree char *text
      = lie->text != NULL ? g_strdup (lie->text) : g_strnfill (lie->text_size, 'x');

  memcpy (head, lie->magic, MAGIC_SIZE);
  head[MAGIC_SIZE + NONCE_SIZE] = (guint8)lie->text_size;
  head[MAGIC_SIZE + NONCE_SIZE + 1] = (guint8)(lie->text_size >> 8);
  if (!whole_write (fd, head, sizeof head) || !whole_write (fd, text, lie->text_size)
      || whole_read (fd, frame, sizeof frame) != sizeof frame)
    return FALSE;
  wire_prove (CREDENTIAL, "dialler", head + MAGIC_SIZE, frame + 1, frame[0], proof);
  f->heard_proof = wire_proof_is_equal (frame + 1 + NONCE_SIZE, proof);
  if (lie->proof == NULL)
    return FALSE;
  wire_prove (lie->proof, "greeter", head + MAGIC_SIZE, frame + 1, frame[0], proof);
  return whole_write (fd, proof, sizeof proof);
}

static gpointer
be_somebody (gpointer data)
{
  Fixture *f = data;

  for (int fd; (fd = accept (f->fd, NULL, NULL)) >= 0; close (fd))
    {
      guint64 size;
      const Lie lie = f->lie; /* the test may change it when it has its answer */
      const char letter = f->letter;
      if (!greet (f, &lie, fd))
        continue;
      while (whole_read (fd, &size, sizeof size) == sizeof size && size < 100)
        {
          g_autofree char *request = g_malloc (size), *reply = g_strnfill (lie.sent, letter);
          if (whole_read (fd, request, size) != (gssize)size
              || !whole_write (fd, &lie.size, sizeof (guint64))
              || !whole_write (fd, reply, lie.sent) || lie.sent < lie.size)
            break;
        }
    }
  return NULL;
}

static void
set_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  struct sockaddr_un place = { .sun_family = AF_UNIX };

  *f = (Fixture){ .folder = g_dir_make_tmp ("satin-ask-XXXXXX", NULL) };
  f->path = g_build_filename (f->folder, "s", NULL);
  f->address = g_strconcat ("unix:", f->path, NULL);
  f->lie = (Lie){ MAGIC, 14, "id-1\nname\nhost", CREDENTIAL, 5, 5 };
  f->letter = 'r';
  g_strlcpy (place.sun_path, f->path, sizeof place.sun_path);
  f->fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (f->fd, (struct sockaddr *)&place, sizeof place), ==, 0);
  g_assert_cmpint (listen (f->fd, 10), ==, 0);
  f->thread = g_thread_new ("somebody", be_somebody, f);
}

static void
tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  shutdown (f->fd, SHUT_RDWR);
  g_thread_join (f->thread);
  close (f->fd);
  g_unlink (f->path);
  g_rmdir (f->folder);
  g_free (f->folder);
  g_free (f->path);
  g_free (f->address);
}

/* (transfer full) (nullable): the reply of the node. */
static char *
ask (Fixture *f, gsize *length, GError **error)
{
  const WireRun run = { .credential = (char *)CREDENTIAL };
  g_autoptr (WireAsker) asker = wire_asker_new (f->address, &run, error);

  return asker != NULL ? wire_asker_ask (asker, "status", length, error) : NULL;
}

static void
an_honest_node_answers (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gsize sizes[] = { 0, 1, 5, 100000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GError) error = NULL;
      gsize length = 77;

      f->lie.size = f->lie.sent = sizes[i];
      g_autofree char *reply = ask (f, &length, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (length, ==, sizes[i]);
      g_assert_cmpuint (strlen (reply), ==, sizes[i]); /* a NUL follows the reply */
      g_assert_true (f->heard_proof);
    }
}

/* A reply may be a file of any bytes. */
static void
a_reply_is_of_any_bytes (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  gsize length = 77;

  f->letter = '\0';
  g_autofree char *reply = ask (f, &length, NULL);
  g_assert_nonnull (reply);
  g_assert_cmpuint (length, ==, 5);
}

/* A process that accepts a connection and is silent must not stop the command that asks. */
static void
no_question_waits_for_ever (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GSocket) socket = wire_connect_blocking (f->address, NULL, NULL);

  g_assert_nonnull (socket);
  g_assert_cmpuint (g_socket_get_timeout (socket), >, 0);
}

/* Neither a stranger's reply nor nonsense counts as an answer; the error tells which it was. */
static void
others_are_refused (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  const struct
  {
    Lie lie;
    int code;
  } cases[] = {
    { { MAGIC, 14, "id-1\nname\nhost", "another", 5, 5 }, G_IO_ERROR_PERMISSION_DENIED },
    { { MAGIC, 14, "id-1\nname\nhost", NULL, 5, 5 }, G_IO_ERROR_CLOSED },
    { { "SATIN2\n", 14, "id-1\nname\nhost", CREDENTIAL, 5, 5 }, G_IO_ERROR_INVALID_DATA },
    { { MAGIC, GREETING_TEXT_MAX + 1, NULL, CREDENTIAL, 5, 5 }, G_IO_ERROR_INVALID_DATA },
    { { MAGIC, 14, "id-1\nname\nhost", CREDENTIAL, WIRE_REPLY_MAX + 1, 5 },
      G_IO_ERROR_INVALID_DATA },
    { { MAGIC, 14, "id-1\nname\nhost", CREDENTIAL, G_MAXUINT64, 5 }, G_IO_ERROR_INVALID_DATA },
    { { MAGIC, 14, "id-1\nname\nhost", CREDENTIAL, 6, 5 }, G_IO_ERROR_CLOSED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      gsize length = 77;

      f->lie = cases[i].lie;
      g_assert_null (ask (f, &length, &error));
      if (!g_error_matches (error, G_IO_ERROR, cases[i].code))
        g_error ("case %u: %s", i, error != NULL ? error->message : "no error");
      g_assert_cmpuint (length, ==, 77);
    }
}

/* A greeting describes its run completely; otherwise it is that of another version of Satin. */
static void
a_greeting_names_its_run (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const struct
  {
    const char *text, *id, *name, *host;
  } cases[] = { { "id-1\nname\nhost", "id-1", "name", "host" },
                { "\n\n", "", "", "" },
                { "id-1\nname\nhost\nand more", "id-1", "name", "host" },
                { "id-1\nname", NULL, NULL, NULL },
                { "", NULL, NULL, NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *name = NULL, *host = NULL;

      f->lie.text = cases[i].text;
      f->lie.text_size = strlen (cases[i].text);
      g_autoptr (WireAsker) asker = wire_reach (f->address, NULL, &error);
      g_assert_no_error (error);
      g_autofree char *id = wire_asker_run (asker, &name, &host, &error);
      g_assert_cmpstr (id, ==, cases[i].id);
      g_assert_cmpstr (name, ==, cases[i].name);
      g_assert_cmpstr (host, ==, cases[i].host);
      g_assert_cmpint (error == NULL, ==, id != NULL);
    }
}

int
main (int argc, char **argv)
{
  alarm (20);
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/wire-ask/an-honest-node-answers", Fixture, NULL, set_up, an_honest_node_answers,
              tear_down);
  g_test_add ("/wire-ask/any-bytes", Fixture, NULL, set_up, a_reply_is_of_any_bytes, tear_down);
  g_test_add ("/wire-ask/a-limit-of-time", Fixture, NULL, set_up, no_question_waits_for_ever,
              tear_down);
  g_test_add ("/wire-ask/others-are-refused", Fixture, NULL, set_up, others_are_refused, tear_down);
  g_test_add ("/wire-ask/a-greeting-names-its-run", Fixture, NULL, set_up, a_greeting_names_its_run,
              tear_down);
  return g_test_run ();
}
