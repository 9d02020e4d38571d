/* SPDX-License-Identifier: BSD-3-Clause */
/* The hand-written serialisation compared with GLib's: random types, random values, random
 * damage. */
#include "config.h"

#include "pack.h"

#include <string.h>

#define DEPTH_MAX 4

#define FIXED "(tt)" /* the types that pack_fixed can write */

static void
append_type (GString *type, guint depth)
{
  static const char basics[] = "butds";
  gint kind = g_test_rand_int_range (0, depth >= DEPTH_MAX ? 5 : 8);

  if (kind < 5)
    g_string_append_c (type, basics[kind]);
  else if (kind < 7)
    {
      g_string_append_c (type, 'a');
      append_type (type, depth + 1);
    }
  else
    {
      if (g_test_rand_bit ())
        {
          g_string_append (type, FIXED);
          return;
        }
      g_string_append_c (type, '(');
      for (gint n = g_test_rand_int_range (0, 5); n > 0; n--)
        append_type (type, depth + 1);
      g_string_append_c (type, ')');
    }
}

static char *
random_type (void)
{
  GString *type = g_string_new ("(");

  for (gint n = g_test_rand_int_range (0, 6); n > 0; n--)
    append_type (type, 1);
  g_string_append_c (type, ')');
  return g_string_free (type, FALSE);
}

static GVariant *
random_text (void)
{
  gint n = g_test_rand_int_range (0, g_test_rand_bit () ? 8 : 200);
  g_autofree char *text = g_strnfill ((gsize)n, 'x');

  return g_variant_new_string (text);
}

static GVariant *
random_value (const GVariantType *type)
{
  GVariantBuilder builder;

  if (g_variant_type_equal (type, G_VARIANT_TYPE_BOOLEAN))
    return g_variant_new_boolean (g_test_rand_bit ());
  if (g_variant_type_equal (type, G_VARIANT_TYPE_UINT32))
    return g_variant_new_uint32 ((guint32)g_test_rand_int ());
  if (g_variant_type_equal (type, G_VARIANT_TYPE_UINT64))
    return g_variant_new_uint64 ((guint64)g_test_rand_int () << 20);
  if (g_variant_type_equal (type, G_VARIANT_TYPE_DOUBLE))
    return g_variant_new_double (g_test_rand_double ());
  if (g_variant_type_equal (type, G_VARIANT_TYPE_STRING))
    return random_text ();
  g_variant_builder_init (&builder, type);
  if (g_variant_type_is_array (type))
    for (gint n = g_test_rand_int_range (0, g_test_rand_bit () ? 4 : 40); n > 0; n--)
      g_variant_builder_add_value (&builder, random_value (g_variant_type_element (type)));
  else
    for (const GVariantType *item = g_variant_type_first (type); item != NULL;
         item = g_variant_type_next (item))
      g_variant_builder_add_value (&builder, random_value (item));
  return g_variant_builder_end (&builder);
}

/* Reads items of `type` and writes them again. */
static void copy_items (Unpacker *from, Packer *to, const GVariantType *type);

static void
copy_item (Unpacker *from, Packer *to, const GVariantType *type)
{
  switch (*g_variant_type_peek_string (type))
    {
    case 'b':
      pack_bool (to, unpack_bool (from));
      break;
    case 'u':
      pack_u32 (to, unpack_u32 (from));
      break;
    case 't':
      pack_u64 (to, unpack_u64 (from));
      break;
    case 'd':
      pack_double (to, unpack_double (from));
      break;
    case 's':
      pack_text (to, unpack_text (from));
      break;
    default:
      if (g_variant_type_equal (type, G_VARIANT_TYPE (FIXED)) && g_test_rand_bit ())
        {
          guint8 bytes[16], zeros[sizeof bytes] = { 0 };
          memset (bytes, 0xff, sizeof bytes);
          unpack_fixed (from, bytes, sizeof bytes);
          if (from->in.failed) /* what was not read is no chance bytes of the stack */
            g_assert_cmpmem (bytes, sizeof bytes, zeros, sizeof zeros);
          pack_fixed (to, bytes, sizeof bytes);
          break;
        }
      unpack_open (from);
      pack_open (to);
      copy_items (from, to, type);
      pack_close (to);
      unpack_close (from);
    }
}

static void
copy_items (Unpacker *from, Packer *to, const GVariantType *type)
{
  if (g_variant_type_is_array (type))
    while (unpack_more (from))
      copy_item (from, to, g_variant_type_element (type));
  else
    for (const GVariantType *item = g_variant_type_first (type); item != NULL;
         item = g_variant_type_next (item))
      copy_item (from, to, item);
}

/* (transfer full, nullable): the value that was read, written again; NULL: it was not accepted. */
static GByteArray *
copy (const char *type, const guint8 *data, gsize size)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  Unpacker from;
  Packer to;

  g_autofree PackLayout *layouts = pack_type (type);
  unpack_begin (&from, layouts, data, size);
  pack_begin (&to, layouts);
  copy_items (&from, &to, G_VARIANT_TYPE (type));
  const guint8 *written = pack_end (&to, &size);
  g_byte_array_append (bytes, written, (guint)size);
  pack_clear (&to);
  return unpack_end (&from) ? g_steal_pointer (&bytes) : NULL;
}

/* (transfer full): little-endian, in memory that ends where the value ends. */
static guint8 *
serialise (GVariant *value, gsize *size)
{
  g_autoptr (GVariant) little
      = G_BYTE_ORDER == G_BIG_ENDIAN ? g_variant_byteswap (value) : g_variant_ref (value);
  guint8 *data;

  *size = g_variant_get_size (little);
  data = g_malloc (*size);
  g_variant_store (little, data);
  return data;
}

static void
test_the_bytes_are_the_librarys (void)
{
  for (guint i = 0; i < 20000; i++)
    {
      g_autofree char *type = random_type ();
      g_autoptr (GVariant) value = g_variant_ref_sink (random_value (G_VARIANT_TYPE (type)));
      gsize size;
      g_autofree guint8 *data = serialise (value, &size);
      g_autoptr (GByteArray) again = copy (type, data, size);

      g_assert_nonnull (again);
      g_assert_cmpmem (again->data, again->len, data, size);
    }
}

static gboolean
library_accepts (const char *type, const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GVariant) value
      = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (type), bytes, FALSE));

  return g_variant_is_normal_form (value);
}

/* An accepted value is in normal form, so it is written as the same bytes. */
static void
test_damage_is_refused (void)
{
  guint refused = 0;

  for (guint i = 0; i < 40000; i++)
    {
      g_autofree char *type = random_type ();
      g_autoptr (GVariant) value = g_variant_ref_sink (random_value (G_VARIANT_TYPE (type)));
      gsize size;
      g_autofree guint8 *data = serialise (value, &size);

      for (gint n = g_test_rand_int_range (1, 4); n > 0 && size > 0; n--)
        data[g_test_rand_int_range (0, (gint)size)]
            = (guint8)(g_test_rand_bit () ? g_test_rand_int () : g_test_rand_int_range (0, 9));
      if (g_test_rand_int_range (0, 4) == 0)
        size = (gsize)g_test_rand_int_range (0, (gint)size + 1);

      g_autofree guint8 *tight = g_memdup2 (data, size);
      g_autoptr (GByteArray) again = copy (type, tight, size);

      refused += again == NULL;
      if (again != NULL)
        g_assert_cmpmem (again->data, again->len, data, size);
      /* Not the other way round: the library accepts zero bytes as a default value, also inside
       * other values. */
      g_assert_true (G_BYTE_ORDER == G_BIG_ENDIAN || again == NULL
                     || library_accepts (type, data, size));
    }
  g_assert_cmpuint (refused, >, 5000);
}

/* More items and more bytes than a Packer has room for in itself. */
/* Ten texts in 240 bytes, with a table of their ends of `width` bytes each. */
static gboolean
is_read (guint width)
{
  g_autofree PackLayout *type = pack_type ("(as)");
  guint8 data[240 + 10 * 2] = { 0 };
  Unpacker unpacker;
  guint n = 0;

  memset (data, 'x', 240);
  for (guint i = 0; i < 10; i++)
    {
      data[24 * i + 23] = '\0';
      data[240 + i * width] = (guint8)(24 * (i + 1));
    }
  unpack_begin (&unpacker, type, data, 240 + 10 * width);
  unpack_open (&unpacker);
  for (; unpack_more (&unpacker); n++)
    (void)unpack_text (&unpacker);
  unpack_close (&unpacker);
  return unpack_end (&unpacker) && n == 10;
}

/* The reader derives the width from the total size, so both look valid. */
static void
test_ends_take_as_little_as_they_can (void)
{
  g_assert_true (is_read (1));
  g_assert_false (is_read (2));
}

static void
test_much_is_written (void)
{
  const guint n = 10000;
  g_autofree PackLayout *type = pack_type ("(asu)");
  Packer packer;
  Unpacker unpacker;
  gsize size;

  pack_begin (&packer, type);
  pack_open (&packer);
  for (guint i = 0; i < n; i++)
    pack_text (&packer, i % 2 == 0 ? "even" : "odd");
  pack_close (&packer);
  pack_u32 (&packer, n);
  const guint8 *data = pack_end (&packer, &size);

  unpack_begin (&unpacker, type, data, size);
  unpack_open (&unpacker);
  for (guint i = 0; i < n; i++)
    {
      g_assert_true (unpack_more (&unpacker));
      g_assert_cmpstr (unpack_text (&unpacker), ==, i % 2 == 0 ? "even" : "odd");
    }
  g_assert_false (unpack_more (&unpacker));
  unpack_close (&unpacker);
  g_assert_cmpuint (unpack_u32 (&unpacker), ==, n);
  g_assert_true (unpack_end (&unpacker));
  pack_clear (&packer);
}

/* There is room for what was asked for, however much, and for more than that as a rule; what was
 * written stays. */
static void
test_a_writer_grows (void)
{
  static const gsize asked[] = { 1, 100, 101, 5000 };

  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      FramingWriter writer;
      guint8 begun[100];

      memset (begun, 7, sizeof begun);
      framing_begin (&writer, begun, sizeof begun);
      writer.at = sizeof begun;
      for (guint again = 0; again < 2; again++)
        {
          gsize before = writer.room;
          framing_grow (&writer, asked[i]);
          g_assert_cmpuint (writer.room, >=, writer.at + asked[i]);
          g_assert_cmpuint (writer.room, >=, 2 * before);
          g_assert_true (writer.grown);
          g_assert_cmpmem (writer.data, sizeof begun, begun, sizeof begun);
        }
      framing_clear (&writer);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pack/the-bytes-are-the-librarys", test_the_bytes_are_the_librarys);
  g_test_add_func ("/pack/damage-is-refused", test_damage_is_refused);
  g_test_add_func ("/pack/ends-take-as-little-as-they-can", test_ends_take_as_little_as_they_can);
  g_test_add_func ("/pack/much-is-written", test_much_is_written);
  g_test_add_func ("/pack/a-writer-grows", test_a_writer_grows);
  return g_test_run ();
}
