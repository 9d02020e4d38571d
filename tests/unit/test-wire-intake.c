/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/wire-intake.h"
#include "link/wire-queue.h"
#include "link/wire.h"

#include <string.h>

/* A queue that writes to an intake, in steps of any size. */
typedef struct
{
  WireQueue queue;
  WireIntake intake;
  GRand *rand;
  GByteArray *bytes; /* written */
  gsize n_read;      /* how many of `bytes` were read */
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

/* Makes one read of at most as much as there is room for. FALSE: a wrong frame. */
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

/* Sends a message whose first byte is its number. */
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

/* Messages of all sizes that make a difference to frames or buffer, read in steps up to
 * `step_max`. */
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

/* The memory of a burst is released; the memory that a few messages need stays. */
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

/* A large message is read directly into its final memory: the small buffer contains only
 * headers. */
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

/* Traffic of every size over a connection that takes any part of what it is offered. */
typedef struct
{
  Pipe pipe;
  GPtrArray *sent;  /* of GBytes; each begins with its number */
  GArray *urgent;   /* of gboolean, one for each of `sent` */
  GArray *deadline; /* of gsize: the byte of the connection at which it must have arrived */
  GByteArray *rest; /* the bytes that the connection was offered and did not take */
  GHashTable *came; /* numbers */
} Traffic;

static void
traffic_open (Traffic *traffic, guint32 seed)
{
  pipe_open (&traffic->pipe, 997);
  g_rand_set_seed (traffic->pipe.rand, seed);
  traffic->sent = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  traffic->urgent = g_array_new (FALSE, FALSE, sizeof (gboolean));
  traffic->deadline = g_array_new (FALSE, FALSE, sizeof (gsize));
  traffic->rest = g_byte_array_new ();
  traffic->came = g_hash_table_new (NULL, NULL);
}

static void
traffic_close (Traffic *traffic)
{
  g_ptr_array_unref (traffic->sent);
  g_array_unref (traffic->urgent);
  g_array_unref (traffic->deadline);
  g_byte_array_unref (traffic->rest);
  g_hash_table_unref (traffic->came);
  pipe_close (&traffic->pipe);
}

static gsize
random_size (GRand *rand, gboolean small)
{
  switch (small ? 5 : g_rand_int_range (rand, 0, 40))
    {
    case 0:
      return (gsize)g_rand_int_range (rand, WIRE_PIECE, 4 * WIRE_PIECE);
    case 1:
      return (gsize)g_rand_int_range (rand, WIRE_PIECE - 2, WIRE_PIECE + 3);
    case 2:
    case 3:
    case 4:
      return (gsize)g_rand_int_range (rand, 4000, 9000);
    default:
      return (gsize)g_rand_int_range (rand, 4, 4097);
    }
}

/* An urgent message waits only for data that is already framed and for earlier urgent messages. A
 * large one waits with all others, and so do urgent ones after it. */
static gsize
deadline_of (const Traffic *traffic, gsize size)
{
  gsize bytes = traffic->pipe.bytes->len + 3 * WIRE_PIECE + size + traffic->pipe.step_max + 64;

  for (guint i = 0; i < traffic->sent->len; i++)
    if (g_array_index (traffic->urgent, gboolean, i)
        && !g_hash_table_contains (traffic->came, GUINT_TO_POINTER (i)))
      {
        if (g_array_index (traffic->deadline, gsize, i) == G_MAXSIZE)
          return G_MAXSIZE;
        bytes += g_bytes_get_size (traffic->sent->pdata[i]) + 8;
      }
  return size > WIRE_PIECE ? G_MAXSIZE : bytes;
}

static void
traffic_send (Traffic *traffic, gboolean urgent, gboolean small)
{
  GRand *rand = traffic->pipe.rand;
  gsize size = random_size (rand, small);
  gsize deadline = urgent ? deadline_of (traffic, size) : G_MAXSIZE;
  guint32 number = traffic->sent->len;
  guint8 *bytes = g_malloc (size);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  memcpy (bytes, &number, sizeof number);
  for (gsize i = sizeof number; i < size; i++)
    bytes[i] = (guint8)(number * 31 + i * 7 + i / 251);
  GBytes *message = g_bytes_new_take (bytes, size);
  for (gsize at = 0, part; at < size; at += part)
    {
      part = g_rand_boolean (rand) ? size - at : g_rand_int (rand) % (size - at + 1);
      g_ptr_array_add (parts, g_bytes_new_from_bytes (message, at, part));
    }
  g_ptr_array_add (traffic->sent, message);
  g_array_append_val (traffic->urgent, urgent);
  g_array_append_val (traffic->deadline, deadline);
  wire_queue_add (&traffic->pipe.queue, parts, urgent);
}

/* Takes all, a part or nothing. What it did not take before is offered again first (WireSend). */
static GPollableReturn
take_some (void *data, const GOutputVector *vectors, int n, gsize *written)
{
  Traffic *traffic = data;
  GRand *rand = traffic->pipe.rand;
  g_autoptr (GByteArray) offer = g_byte_array_new ();
  guint part = g_rand_int (rand) % 4;

  for (int i = 0; i < n; i++)
    g_byte_array_append (offer, vectors[i].buffer, (guint)vectors[i].size);
  g_assert_cmpuint (offer->len, >, 0);
  g_assert_cmpuint (offer->len, >=, traffic->rest->len);
  g_assert_cmpmem (offer->data, traffic->rest->len, traffic->rest->data, traffic->rest->len);
  gsize taken = part == 0   ? 0
                : part == 1 ? offer->len
                : part == 2 ? 1 + g_rand_int (rand) % MIN (offer->len, 5000)
                            : 1 + g_rand_int (rand) % offer->len;
  g_byte_array_append (traffic->pipe.bytes, offer->data, (guint)taken);
  g_byte_array_set_size (traffic->rest, 0);
  g_byte_array_append (traffic->rest, offer->data + taken, offer->len - (guint)taken);
  *written = taken;
  return taken == 0 ? G_POLLABLE_RETURN_WOULD_BLOCK : G_POLLABLE_RETURN_OK;
}

/* The message that arrives was sent. Only an urgent message overtakes others. */
static void
check_arrival (Traffic *traffic, GBytes *message)
{
  guint32 number;
  g_assert_cmpuint (g_bytes_get_size (message), >=, sizeof number);
  memcpy (&number, g_bytes_get_data (message, NULL), sizeof number);
  g_assert_cmpuint (number, <, traffic->sent->len);
  g_assert_true (g_bytes_equal (message, traffic->sent->pdata[number]));
  g_assert_true (g_hash_table_add (traffic->came, GUINT_TO_POINTER (number)));
  gboolean urgent = g_array_index (traffic->urgent, gboolean, number);
  for (guint i = 0; i < number; i++)
    if (!urgent || g_array_index (traffic->urgent, gboolean, i))
      g_assert_true (g_hash_table_contains (traffic->came, GUINT_TO_POINTER (i)));
  g_assert_cmpuint (traffic->pipe.n_read, <=, g_array_index (traffic->deadline, gsize, number));
}

static void
traffic_write (Traffic *traffic)
{
  Pipe *pipe = &traffic->pipe;
  guint most = g_rand_boolean (pipe->rand) ? 4 * WIRE_PIECE : 999;
  gsize budget = 1 + g_rand_int (pipe->rand) % most;

  g_assert_true (wire_queue_write (&pipe->queue, take_some, traffic, budget));
  g_assert_cmpuint (pipe->queue.tail->len, <=, 4 * WIRE_PIECE); /* what was written is dropped */
  while (pipe->n_read < pipe->bytes->len)
    {
      guint before = pipe->came->len;
      g_assert_true (read_once (pipe));
      for (guint i = before; i < pipe->came->len; i++)
        check_arrival (traffic, pipe->came->pdata[i]);
    }
  g_assert_true (wire_queue_is_empty (&pipe->queue) == (pipe->came->len == traffic->sent->len));
}

static void
any_part_may_be_written (gconstpointer seed)
{
  Traffic traffic;
  traffic_open (&traffic, GPOINTER_TO_UINT (seed));
  GRand *rand = traffic.pipe.rand;
  gboolean small = GPOINTER_TO_UINT (seed) % 2 != 0; /* then everything is copied */

  for (guint round = 0; round < 20; round++)
    {
      guint burst = g_rand_boolean (rand) ? 3 : 250, urgent = g_rand_boolean (rand) ? 8 : 200;
      for (guint i = 0; i < burst; i++)
        traffic_send (&traffic, g_rand_int (rand) % urgent == 0, small);
      traffic_write (&traffic);
      while (round % 5 == 4 && !wire_queue_is_empty (&traffic.pipe.queue))
        traffic_write (&traffic);
    }
  traffic_close (&traffic);
}

static GPollableReturn
break_or_count (void *data, const GOutputVector *vectors, int n, gsize *written)
{
  int *most = data;

  g_assert_nonnull (vectors);
  *written = 0;
  if (*most < 0)
    return G_POLLABLE_RETURN_FAILED;
  *most = MAX (*most, n);
  return G_POLLABLE_RETURN_WOULD_BLOCK;
}

/* The system is offered no more pieces than there is room for, however many wait; and a broken
 * connection is reported. */
static void
many_pieces_are_offered (void)
{
  static const gsize sizes[] = { 5000, 10 };

  for (guint pieces = 28; pieces < 36; pieces++)
    {
      WireQueue queue;
      int most = 0;
      wire_queue_init (&queue);
      for (guint i = 0; i <= pieces; i++)
        {
          gsize size = sizes[i == pieces];
          g_autoptr (GPtrArray) parts
              = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
          g_ptr_array_add (parts, g_bytes_new_take (g_malloc0 (size), size));
          wire_queue_add (&queue, parts, FALSE);
        }
      g_assert_true (wire_queue_write (&queue, break_or_count, &most, G_MAXSIZE));
      g_assert_cmpint (most, >, 20);
      g_assert_cmpint (most, <=, 32);
      most = -1;
      g_assert_false (wire_queue_write (&queue, break_or_count, &most, G_MAXSIZE));
      wire_queue_clear (&queue);
    }
}

/* A control client reads whole messages, however large. */
static void
a_client_gets_no_pieces (void)
{
  for (int whole = FALSE; whole <= TRUE; whole++)
    {
      Pipe pipe;
      guint64 header;
      pipe_open (&pipe, 1);
      pipe.queue.whole = whole;
      g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
      g_ptr_array_add (parts, g_bytes_new_take (g_malloc0 (3 * WIRE_PIECE), 3 * WIRE_PIECE));
      wire_queue_add (&pipe.queue, parts, FALSE);
      g_assert_true (wire_queue_write (&pipe.queue, keep, &pipe, G_MAXSIZE));
      memcpy (&header, pipe.bytes->data, sizeof header);
      g_assert_cmpuint (GUINT64_FROM_LE (header) >> WIRE_KIND_SHIFT, ==,
                        whole ? WIRE_WHOLE : WIRE_BEGIN);
      pipe_close (&pipe);
    }
}

#define FRAME(kind, size) (((guint64)(kind) << WIRE_KIND_SHIFT) | (size))

/* FALSE: refused. */
static gboolean
feed (WireIntake *intake, const guint8 *bytes, gsize size)
{
  while (size > 0)
    {
      GInputVector room[WIRE_INTAKE_VECTORS];
      GBytes *message = NULL;
      (void)wire_intake_room (intake, room);
      gsize n = MIN (size, room[0].size);
      memcpy (room[0].buffer, bytes, n);
      wire_intake_add (intake, n);
      bytes += n;
      size -= n;
      do
        {
          g_clear_pointer (&message, g_bytes_unref);
          if (!wire_intake_next (intake, &message))
            return FALSE;
        }
      while (message != NULL);
    }
  return TRUE;
}

static gboolean
feed_frame (WireIntake *intake, guint64 frame, gsize body)
{
  guint64 header = GUINT64_TO_LE (frame);
  g_autofree guint8 *zeros = g_malloc0 (body + 1);
  return feed (intake, (const guint8 *)&header, sizeof header) && feed (intake, zeros, body);
}

/* A frame that no queue writes ends the link, before memory is allocated for it. */
static void
wrong_frames_are_refused (void)
{
  static const struct
  {
    guint64 frame;
    gsize body;
    gboolean alone,
        between; /* accepted as the first frame; after the first piece of PIECE + 10 bytes */
  } cases[] = {
    { FRAME (WIRE_WHOLE, 0), 0, FALSE, FALSE },
    { FRAME (WIRE_WHOLE, 1), 1, TRUE, TRUE },
    { FRAME (WIRE_WHOLE, WIRE_PIECE), WIRE_PIECE, TRUE, TRUE },
    { FRAME (WIRE_WHOLE, WIRE_PIECE + 1), 0, FALSE, FALSE },
    { FRAME (WIRE_BEGIN, 0), 0, FALSE, FALSE },
    { FRAME (WIRE_BEGIN, WIRE_PIECE), 0, FALSE, FALSE },
    { FRAME (WIRE_BEGIN, WIRE_PIECE + 1), WIRE_PIECE, TRUE, FALSE },
    { FRAME (WIRE_BEGIN, WIRE_MESSAGE_MAX + 1), 0, FALSE, FALSE },
    { FRAME (WIRE_CONTINUE, 0), 0, FALSE, FALSE },
    { FRAME (WIRE_CONTINUE, 9), 9, FALSE, FALSE },
    { FRAME (WIRE_CONTINUE, 10), 10, FALSE, TRUE },
    { FRAME (WIRE_CONTINUE, 11), 0, FALSE, FALSE },
    { FRAME (WIRE_CONTINUE, WIRE_PIECE), 0, FALSE, FALSE },
    { FRAME (WIRE_KINDS, 1), 1, FALSE, FALSE },
  };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      WireIntake intake;
      gboolean is_between = i % 2 != 0;
      wire_intake_init (&intake);
      if (is_between)
        g_assert_true (feed_frame (&intake, FRAME (WIRE_BEGIN, WIRE_PIECE + 10), WIRE_PIECE));
      g_test_message ("%u", i);
      g_assert_cmpint (feed_frame (&intake, cases[i / 2].frame, cases[i / 2].body), ==,
                       is_between ? cases[i / 2].between : cases[i / 2].alone);
      wire_intake_clear (&intake);
    }
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
  g_test_add_func ("/intake/wrong-frames-are-refused", wrong_frames_are_refused);
  g_test_add_func ("/queue/many-pieces-are-offered", many_pieces_are_offered);
  g_test_add_func ("/queue/a-client-gets-no-pieces", a_client_gets_no_pieces);
  g_test_add_func ("/intake/not-copied", large_ones_are_not_copied);
  g_test_add_func ("/intake/a-burst-leaves-nothing", a_burst_leaves_nothing);
  for (guint seed = 1; seed <= 8; seed++)
    {
      g_autofree char *name = g_strdup_printf ("/queue/any-part-may-be-written/%u", seed);
      g_test_add_data_func (name, GUINT_TO_POINTER (seed), any_part_may_be_written);
    }
  return g_test_run ();
}
