/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking the nodes of a run from outside. */
#include "fake-node.h"

#include "folder/ask-status.h"
#include "folder/control.h"
#include "folder/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define NODES 2
#define CREDENTIAL "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FILES 5 /* of control_files_of_end */

typedef struct
{
  FakeNode fake;
  const char *status;  /* (nullable): what it answers to "status" */
  gsize sizes[FILES];  /* sizes of its files; 0: it has no such file */
  char letter;         /* the letter that fills its files */
  gsize piece;         /* the bytes that are sent at a time */
  guint gone_after;    /* the node is gone after so many pieces; 0: it stays */
  guint pieces, taken; /* the pieces sent, and how often the receiver reported that it has all */
} Node;

typedef struct
{
  char *path;
  Node nodes[NODES];
} Fixture;

static gboolean disk_fails, end_fails;

/* These replace the C library's functions. */
int
link (const char *from, const char *to)
{
  if (!end_fails || !g_str_has_suffix (to, "/" FOLDER_FILE_END))
    return linkat (AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = EIO;
  return -1;
}

int
fsync (int fd G_GNUC_UNUSED)
{
  return disk_fails ? -1 : 0;
}

/* ---- nodes ---- */

static void
add_piece (const Node *node, const char *words, GString *reply)
{
  g_auto (GStrv) word = g_strsplit (words, " ", 2);
  gsize offset = word[1] != NULL ? (gsize)g_ascii_strtoull (word[1], NULL, 10) : 0;

  for (guint i = 0; i < FILES; i++)
    if (g_str_equal (word[0], control_files_of_end[i]) && node->sizes[i] > 0)
      {
        g_autofree char *header = relay_header (word[0], node->sizes[i]);
        gsize old = reply->len + strlen (header);
        g_string_append (reply, header);
        g_string_set_size (reply, old + MIN (node->piece, node->sizes[i] - offset));
        memset (reply->str + old, node->letter, reply->len - old);
      }
}

/* FALSE if the node is gone. */
static gboolean
answer (gpointer data, const char *request, GString *reply)
{
  Node *node = data;

  if (g_str_has_prefix (request, CONTROL_FILE))
    {
      add_piece (node, request + strlen (CONTROL_FILE), reply);
      if (reply->len > 0 && node->pieces++ >= node->gone_after && node->gone_after > 0)
        return FALSE;
    }
  if (g_str_equal (request, "status") && node->status == NULL)
    return FALSE;
  if (g_str_equal (request, "status"))
    g_string_append (reply, node->status);
  if (g_str_equal (request, CONTROL_TAKEN))
    node->taken++;
  if (reply->len == 0)
    g_string_append (reply, "{\"ok\":true}");
  return TRUE;
}

static void
node_begin (Fixture *f, guint n)
{
  fake_node_begin (&f->nodes[n].fake, f->path);
}

static void
set_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GBytes) credential = g_bytes_new_static (CREDENTIAL, strlen (CREDENTIAL));

  *f = (Fixture){ .path = g_dir_make_tmp ("satin-control-XXXXXX", NULL) };
  f->nodes[0].fake.pid = MIN (getpid (), getppid ());
  f->nodes[1].fake.pid = MAX (getpid (), getppid ());
  for (guint n = 0; n < NODES; n++)
    {
      f->nodes[n].fake.answer = answer;
      f->nodes[n].fake.data = &f->nodes[n];
      f->nodes[n].letter = (char)('a' + n);
      f->nodes[n].piece = 1000;
    }
  g_assert_true (folder_write (f->path, FOLDER_FILE_CREDENTIAL, credential, NULL));
}

static void
tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  for (guint n = 0; n < NODES; n++)
    fake_node_end (&f->nodes[n].fake);
  (void)folder_remove (f->path, NULL);
  g_free (f->path);
}

/* ---- tests ---- */

/* The first living node that answers is used. */
static void
any_node_answers (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GBytes) nowhere = g_bytes_new_static ("unix:/nonexistent", 17);
  g_autoptr (GError) error = NULL;

  f->nodes[1].status = "two";
  g_assert_null (control_ask (f->path, "status", &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (folder_write (f->path, "node-2147483646.address", nowhere, NULL));
  node_begin (f, 0);
  node_begin (f, 1);
  g_autofree char *second = control_ask (f->path, "status", NULL);
  g_assert_cmpstr (second, ==, "two");
  f->nodes[0].status = "one";
  g_autofree char *first = control_ask (f->path, "status", NULL);
  g_assert_cmpstr (first, ==, "one");
  g_autofree char *this = control_ask_at (f->path, f->nodes[1].fake.address, "status");
  g_assert_cmpstr (this, ==, "two");
  folder_disclaim (f->path, FOLDER_FILE_CREDENTIAL);
  g_assert_null (control_ask (f->path, "status", NULL));
  g_assert_null (control_ask_at (f->path, f->nodes[1].fake.address, "status"));
}

/* The coordinator knows most. If it does not answer, the answer of another node is used. */
static void
the_coordinator_is_asked (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  node_begin (f, 0);
  node_begin (f, 1);
  g_autofree char *of_it = g_strdup_printf (
      "{\"nodes\":[1,{\"address\":\"unix:/x\"},{\"roles\":[\"master\",3],\"address\":\"unix:/y\"},"
      "{\"roles\":[\"master\",\"coordinator\"],\"address\":\"%s\"}]}",
      f->nodes[1].fake.address);
  const struct
  {
    const char *first, *second, *wanted;
  } cases[] = { { of_it, "{\"best\":1}", "{\"best\":1}" },
                { of_it, NULL, of_it },
                { "{\"nodes\":[]}", "{}", "{\"nodes\":[]}" },
                { "{}", "x", "{}" },
                { "no JSON", "x", "no JSON" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      f->nodes[0].status = cases[i].first;
      f->nodes[1].status = cases[i].second;
      g_autofree char *reply = ask_status (f->path, NULL);
      g_assert_cmpstr (reply, ==, cases[i].wanted);
    }
}

static void
stands (Fixture *f, guint file, gsize size, char letter)
{
  g_autoptr (GBytes) bytes = folder_bytes (f->path, control_files_of_end[file], NULL);
  g_autofree char *wanted = g_strnfill (size, letter);

  if (size == 0)
    g_assert_null (bytes);
  else
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), wanted, size);
}

/* Files of any size arrive whole. If several nodes have the end, the files of the first are kept,
 * and all nodes are told that the end is here. */
static void
the_end_is_brought (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gsize sizes[][FILES]
      = { { 0, 999, 1, 2001, 2 }, { 7, 1000, 2, 4000, 2 }, { 0, 0, 0, 1, 1 } };

  node_begin (f, 0);
  node_begin (f, 1);
  g_assert_true (control_bring_end (f->path, NULL)); /* no node has an end yet */
  for (guint i = 0; i < FILES; i++)
    stands (f, i, 0, 0);
  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
    {
      g_autoptr (GError) error = NULL;
      for (guint n = 0; n < NODES; n++)
        {
          memcpy (f->nodes[n].sizes, sizes[k], sizeof sizes[k]);
          f->nodes[n].taken = 0;
        }
      g_assert_true (control_bring_end (f->path, &error));
      g_assert_no_error (error);
      for (guint i = 0; i < FILES; i++)
        {
          stands (f, i, sizes[k][i], 'a');
          folder_disclaim (f->path, control_files_of_end[i]);
        }
      for (guint n = 0; n < NODES; n++)
        g_assert_cmpuint (f->nodes[n].taken, ==, 1);
    }
}

/* A file that is here already is not fetched again: it may be large. */
static void
what_stands_is_left_alone (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gsize sizes[FILES] = { 0, 0, 1, 3000, 2 };
  g_autoptr (GBytes) older = g_bytes_new_static ("older", 5);

  node_begin (f, 0);
  memcpy (f->nodes[0].sizes, sizes, sizeof sizes);
  g_assert_true (folder_write (f->path, FOLDER_FILE_ANSWER, older, NULL));
  g_assert_true (control_bring_end (f->path, NULL));
  g_autoptr (GBytes) answer = folder_bytes (f->path, FOLDER_FILE_ANSWER, NULL);
  g_assert_true (g_bytes_equal (answer, older));
  g_assert_cmpuint (f->nodes[0].pieces, ==, 3); /* one piece of each file, including the end */
  stands (f, 4, 2, 'a');
  g_assert_cmpuint (f->nodes[0].taken, ==, 1);
}

/* Until all files of an end are here, the end is not shown here, and no node is told that it is. */
static void
half_an_end_is_none (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gsize sizes[FILES] = { 0, 0, 1, 3000, 2 };

  node_begin (f, 0);
  memcpy (f->nodes[0].sizes, sizes, sizeof sizes);
  for (guint after = 1; after <= 4; after++)
    {
      f->nodes[0].gone_after = after;
      f->nodes[0].pieces = 0;
      g_assert_true (control_bring_end (f->path, NULL)); /* another attempt may find it */
      stands (f, 3, 0, 0);
      stands (f, 4, 0, 0);
      g_assert_cmpuint (f->nodes[0].taken, ==, 0);
    }
  f->nodes[0].gone_after = 0;
  f->nodes[0].piece = 0; /* it answers, but has no more of the file */
  g_assert_true (control_bring_end (f->path, NULL));
  stands (f, 4, 0, 0);
  g_assert_cmpuint (f->nodes[0].taken, ==, 0);
}

/* A file that this disk cannot hold stays on its node. */
static void
what_cannot_be_kept_stays_there (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  static const gsize sizes[FILES] = { 0, 0, 0, 10, 2 };
  g_autoptr (GError) error = NULL;

  node_begin (f, 0);
  memcpy (f->nodes[0].sizes, sizes, sizeof sizes);
  disk_fails = TRUE;
  g_assert_false (control_bring_end (f->path, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
  stands (f, 3, 0, 0);
  stands (f, 4, 0, 0);
  g_assert_cmpuint (f->nodes[0].taken, ==, 0);
  disk_fails = FALSE;
  end_fails = TRUE;
  g_clear_error (&error);
  g_assert_false (control_bring_end (f->path, &error));
  g_assert_error (error, FOLDER_ERROR, FOLDER_ERROR_FAILED);
  g_assert_cmpuint (f->nodes[0].taken, ==, 0);
  end_fails = FALSE;
  g_assert_true (control_bring_end (f->path, NULL));
  stands (f, 3, 10, 'a');
  g_assert_cmpuint (f->nodes[0].taken, ==, 1);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/control/any-node-answers", any_node_answers },
    { "/control/the-coordinator-is-asked", the_coordinator_is_asked },
    { "/control/the-end-is-brought", the_end_is_brought },
    { "/control/what-stands-is-left-alone", what_stands_is_left_alone },
    { "/control/half-an-end-is-none", half_an_end_is_none },
    { "/control/what-cannot-be-kept-stays-there", what_cannot_be_kept_stays_there },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
