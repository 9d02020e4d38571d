/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/wire-intake.h"
#include "net/wire-queue.h"

#include <string.h>

/* A queue writes to an intake, in steps of any size. */
typedef struct
{
  WireQueue queue;
  WireIntake intake;
  GRand *rand;
  GByteArray *bytes; /* written */
  gsize n_read;      /* of them */
  GPtrArray *came;   /* of GBytes */
  gsize step_max;
} Pipe;

static void
pipe_open (Pipe *pipe, gsize step_max)
{
  wire_queue_init (&pipe->queue);
  wire_intake_init (&pipe->intake);
  pipe->rand = g_rand_new_with_seed ((guint32)step_max);
  pipe->bytes = g_byte_array_new ();
  pipe->came = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  pipe->n_read = 0;
  pipe->step_max = step_max;
}

static void
pipe_close (Pipe *pipe)
{
  wire_queue_clear (&pipe->queue);
  wire_intake_clear (&pipe->intake);
  g_rand_free (pipe->rand);
  g_byte_array_unref (pipe->bytes);
  g_ptr_array_unref (pipe->came);
}

static GPollableReturn
keep (void *data, const GOutputVector *vectors, int n, gsize *written)
{
  Pipe *pipe = data;

  *written = 0;
  for (int i = 0; i < n; *written += vectors[i++].size)
    g_byte_array_append (pipe->bytes, vectors[i].buffer, (guint)vectors[i].size);
  return G_POLLABLE_RETURN_OK;
}

static gboolean
take_all (Pipe *pipe)
{
  for (;;)
    {
      GBytes *message;
      if (!wire_intake_next (&pipe->intake, &message))
        return FALSE;
      if (message == NULL)
        return TRUE;
      g_ptr_array_add (pipe->came, message);
    }
}

/* One read of at most as much as there is room for. FALSE: a wrong frame. */
static gboolean
read_once (Pipe *pipe)
{
  GInputVector vectors[WIRE_INTAKE_VECTORS];
  int n = wire_intake_room (&pipe->intake, vectors);
  gsize step = 1 + g_rand_int (pipe->rand) % pipe->step_max;
  gsize left = MIN (pipe->bytes->len - pipe->n_read, step), got = 0;

  for (int i = 0; i < n; i++)
    {
      gsize part = MIN (vectors[i].size, left - got);
      g_assert_cmpuint (vectors[i].size, >, 0);
      memcpy (vectors[i].buffer, pipe->bytes->data + pipe->n_read + got, part);
      got += part;
    }
  pipe->n_read += got;
  wire_intake_add (&pipe->intake, got);
  return take_all (pipe);
}

/* Its first byte is its number. */
static void
send (Pipe *pipe, gsize size, gboolean urgent, guint8 number)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  guint8 *bytes = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8)(number + i * 7 + i / 251);
  g_ptr_array_add (parts, g_bytes_new_take (bytes, size));
  wire_queue_add (&pipe->queue, parts, urgent);
}

static void
check (GBytes *message, gsize size)
{
  gsize got;
  const guint8 *bytes = g_bytes_get_data (message, &got);

  g_assert_cmpuint (got, ==, size);
  for (gsize i = 0; i < size; i++)
    g_assert_cmpuint (bytes[i], ==, (guint8)(bytes[0] + i * 7 + i / 251));
}

/* Of all sizes that differ to the frames and to the buffer, read in steps up to `step_max`. */
static void
messages_come_whole (gconstpointer step_max)
{
  const gsize sizes[] = { 1,
                          7,
                          8,
                          9,
                          600000,
                          WIRE_INTAKE_SIZE - 9,
                          WIRE_INTAKE_SIZE - 8,
                          WIRE_INTAKE_SIZE - 7,
                          WIRE_INTAKE_SIZE,
                          3,
                          WIRE_INTAKE_SIZE + 1,
                          WIRE_PIECE - 1,
                          WIRE_PIECE,
                          WIRE_PIECE + 1,
                          2 * WIRE_PIECE,
                          2 * WIRE_PIECE + 1,
                          100000,
                          12 };
  Pipe pipe;
  pipe_open (&pipe, GPOINTER_TO_SIZE (step_max));

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    send (&pipe, sizes[i], FALSE, (guint8)i);
  g_assert_true (wire_queue_write (&pipe.queue, keep, &pipe, G_MAXSIZE));
  while (pipe.n_read < pipe.bytes->len)
    g_assert_true (read_once (&pipe));

  g_assert_cmpuint (pipe.came->len, ==, G_N_ELEMENTS (sizes));
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      check (pipe.came->pdata[i], sizes[i]);
      g_assert_cmpuint (((const guint8 *)g_bytes_get_data (pipe.came->pdata[i], NULL))[0], ==, i);
    }
  g_assert_cmpuint (wire_intake_size (&pipe.intake), ==, 0);
  pipe_close (&pipe);
}

/* What a burst has taken is given back; what a few messages need stays. */
static void
a_burst_leaves_nothing (void)
{
  Pipe pipe;
  pipe_open (&pipe, 1000);

  for (guint i = 0; i < 40; i++)
    send (&pipe, 1000, FALSE, (guint8)i);
  g_assert_true (wire_queue_write (&pipe.queue, keep, &pipe, G_MAXSIZE));
  g_assert_true (wire_queue_is_empty (&pipe.queue));
  g_assert_null (pipe.queue.tail->data);
  send (&pipe, 1000, FALSE, 40);
  g_assert_true (wire_queue_write (&pipe.queue, keep, &pipe, G_MAXSIZE));
  g_assert_nonnull (pipe.queue.tail->data);
  while (pipe.n_read < pipe.bytes->len)
    g_assert_true (read_once (&pipe));
  g_assert_cmpuint (pipe.came->len, ==, 41);
  pipe_close (&pipe);
}

/* A frame that is too large for the buffer comes between two pieces. */
static void
a_whole_one_comes_between_pieces (gconstpointer step_max)
{
  Pipe pipe;
  pipe_open (&pipe, GPOINTER_TO_SIZE (step_max));

  send (&pipe, 8 * WIRE_PIECE, FALSE, 1);
  g_assert_true (wire_queue_write (&pipe.queue, keep, &pipe, 1)); /* it has begun */
  send (&pipe, WIRE_PIECE - 5, TRUE, 2);
  send (&pipe, 20, TRUE, 3);
  g_assert_true (wire_queue_write (&pipe.queue, keep, &pipe, G_MAXSIZE));
  while (pipe.n_read < pipe.bytes->len)
    g_assert_true (read_once (&pipe));

  g_assert_cmpuint (pipe.came->len, ==, 3);
  check (pipe.came->pdata[0], WIRE_PIECE - 5);
  check (pipe.came->pdata[1], 20);
  check (pipe.came->pdata[2], 8 * WIRE_PIECE);
  pipe_close (&pipe);
}

/* What is large is read to where it stays: the small buffer sees headers only. */
static void
large_ones_are_not_copied (void)
{
  GInputVector vectors[WIRE_INTAKE_VECTORS];
  Pipe pipe;
  pipe_open (&pipe, 1);
  guint64 header = GUINT64_TO_LE (200000);

  g_byte_array_append (pipe.bytes, (const guint8 *)&header, sizeof header);
  while (pipe.n_read < pipe.bytes->len)
    g_assert_true (read_once (&pipe));

  g_assert_cmpint (wire_intake_room (&pipe.intake, vectors), ==, 2);
  g_assert_cmpuint (vectors[0].size, ==, 200000);
  pipe_close (&pipe);
}

int
main (int argc, char **argv)
{
  const gsize steps[] = { 1 << 24, 300000, 20000, 4000, 301 };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *whole = g_strdup_printf ("/intake/whole/%" G_GSIZE_FORMAT, steps[i]);
      g_autofree char *between = g_strdup_printf ("/intake/between/%" G_GSIZE_FORMAT, steps[i]);
      g_test_add_data_func (whole, GSIZE_TO_POINTER (steps[i]), messages_come_whole);
      g_test_add_data_func (between, GSIZE_TO_POINTER (steps[i]), a_whole_one_comes_between_pieces);
    }
  g_test_add_func ("/intake/not-copied", large_ones_are_not_copied);
  g_test_add_func ("/intake/a-burst-leaves-nothing", a_burst_leaves_nothing);
  return g_test_run ();
}
