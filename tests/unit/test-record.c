/* SPDX-License-Identifier: BSD-3-Clause */
/* The record encoding against the library's own GVariant, for random types and values. */
#include "config.h"

#include "buffer.h"
#include "list.h"
#include "record.h"
#include "shared.h"

#include <string.h>

#define SCALAR(c_type, KIND) \
  { \
#c_type, sizeof(c_type), SATIN_KIND_##KIND, 0, NULL \
  }

static const SatinType scalars[] = {
  SCALAR (gint8, INT8),       SCALAR (guint8, UINT8),       SCALAR (gint16, INT16),
  SCALAR (guint16, UINT16),   SCALAR (gint32, INT32),       SCALAR (guint32, UINT32),
  SCALAR (gint64, INT64),     SCALAR (guint64, UINT64),     SCALAR (double, DOUBLE),
  SCALAR (SatinBytes, BYTES), SCALAR (SatinShared, SHARED), SCALAR (SatinText, TEXT),
};

/* Random types ------------------------------------------------------------------------------- */

static const SatinType *random_type (GPtrArray *arena, int depth);

static const SatinType *
random_record (GPtrArray *arena, int depth)
{
  SatinType *type = g_new0 (SatinType, 1);
  guint n = (guint)g_test_rand_int_range (0, 6);
  SatinField *fields = g_new0 (SatinField, n + 1);

  g_ptr_array_add (arena, type);
  g_ptr_array_add (arena, fields);
  type->name = "Random";
  type->kind = SATIN_KIND_RECORD;
  type->n_fields = (guint8)n;
  type->fields = fields;
  for (guint i = 0; i < n; i++)
    {
      fields[i].name = "member";
      fields[i].type = random_type (arena, depth + 1);
      fields[i].count
          = g_test_rand_int_range (0, 3) > 0 ? 0 : (guint32)g_test_rand_int_range (1, 9);
      fields[i].offset = type->size;
      type->size += (MAX (fields[i].count, 1) * fields[i].type->size + 7) & ~7u;
    }
  type->size = MAX (type->size, 8);
  return type;
}

static const SatinType *
random_list (GPtrArray *arena, int depth)
{
  SatinType *type = g_new0 (SatinType, 1);
  SatinField *item = g_new0 (SatinField, 1);

  g_ptr_array_add (arena, type);
  g_ptr_array_add (arena, item);
  *item = (SatinField){ "item", random_type (arena, depth + 1), 0, 0 };
  *type = (SatinType){ "List", sizeof (SatinList_), SATIN_KIND_LIST, 1, item };
  return type;
}

static const SatinType *
random_type (GPtrArray *arena, int depth)
{
  if (depth < 4 && g_test_rand_int_range (0, 6) == 0)
    return random_list (arena, depth);
  if (depth == 0 || (depth < 4 && g_test_rand_int_range (0, 4) == 0))
    return random_record (arena, depth);
  return &scalars[g_test_rand_int_range (0, G_N_ELEMENTS (scalars))];
}

/* Random values: fills the C value and returns the library's. --------------------------------- */

static guint64
random_bits (void)
{
  guint64 bits = (guint64)(guint32)g_test_rand_int () << 32 | (guint32)g_test_rand_int ();

  return g_test_rand_bit () ? bits : bits >> g_test_rand_int_range (0, 64);
}

static GVariant *
random_bytes (GBytes **to)
{
  static const gsize sizes[] = { 0, 0, 1, 3, 8, 100, 253, 254, 255, 256, 257, 5000, 65533, 70000 };
  gsize size = sizes[g_test_rand_int_range (0, g_test_rand_int_range (0, 8) > 0 ? 6 : 14)];
  guint8 *data = g_malloc (size + 1);

  memset (data, (int)g_test_rand_int_range (0, 256), size);
  *to = size == 0 && g_test_rand_bit () ? NULL : g_bytes_new (data, size);
  return g_variant_new_from_data (G_VARIANT_TYPE_BYTESTRING, data, size, TRUE, g_free, data);
}

static GVariant *
random_shared (SatinShared *to)
{
  /* A digest belongs to one length. The second half has 64 random bits, so that no digest comes
   * twice. */
  guint64 half[] = { GUINT64_TO_LE (random_bits ()),
                     (guint64)(guint32)g_test_rand_int () << 32 | (guint32)g_test_rand_int () };
  guint64 length = random_bits ();
  Digest digest;

  *to = NULL;
  if (g_test_rand_bit () || half[0] == 0)
    return g_variant_new ("(tthh)", (guint64)0, (guint64)0, 0, 0);
  memcpy (digest.bytes, half, sizeof half);
  *to = shared_enter (shared_store_here (), &digest, length);
  return g_variant_new ("(tthh)", GUINT64_FROM_LE (half[0]), GUINT64_FROM_LE (half[1]),
                        (gint32)(guint32)length, (gint32)(guint32)(length >> 32));
}

/* Memory of the program's own, or held memory; never cut inside a letter. */
static GVariant *
random_text (SatinText *to)
{
  static const char *const texts[]
      = { "", "a", "äöü", "\n'\\", "a text that is longer", "\xe2\x82\xac" };
  const char *text = texts[g_test_rand_int_range (0, G_N_ELEMENTS (texts))];

  *to = (SatinText){ text[0] == '\0' && g_test_rand_bit () ? NULL : text, NULL };
  if (to->text != NULL && g_test_rand_bit ())
    {
      to->held = g_bytes_new (text, strlen (text) + 1);
      to->text = g_bytes_get_data (to->held, NULL);
    }
  return g_variant_new_string (text);
}

static GVariant *random_value (const SatinType *type, guint8 *to);

static GVariant *
random_items (const SatinType *type, SatinList_ *to)
{
  static const guint lengths[] = { 0, 0, 1, 2, 3, 9, 40, 300 };
  const SatinType *item = type->fields[0].type;
  guint n = lengths[g_test_rand_int_range (0, g_test_rand_int_range (0, 20) > 0 ? 6 : 8)];
  g_autofree char *signature = record_signature (item);
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  void *place = NULL;

  *to = (SatinList_){ NULL, n, n > 0 ? list_new (item, n, &place) : NULL };
  to->at = place;
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (items, random_value (item, (guint8 *)place + i * item->size));
  return g_variant_new_array (G_VARIANT_TYPE (signature), (GVariant **)items->pdata, n);
}

static GVariant *
random_scalar (const SatinType *type, void *to)
{
  guint64 bits = random_bits ();

  if (type->kind == SATIN_KIND_BYTES)
    return random_bytes (to);
  if (type->kind == SATIN_KIND_SHARED)
    return random_shared (to);
  if (type->kind == SATIN_KIND_TEXT)
    return random_text (to);
  if (type->kind == SATIN_KIND_LIST)
    return random_items (type, to);
  memcpy (to, &bits, type->size);
  switch (type->kind)
    {
    case SATIN_KIND_INT8:
      return g_variant_new_int16 (*(gint8 *)to);
    case SATIN_KIND_UINT8:
      return g_variant_new_byte (*(guint8 *)to);
    case SATIN_KIND_INT16:
      return g_variant_new_int16 (*(gint16 *)to);
    case SATIN_KIND_UINT16:
      return g_variant_new_uint16 (*(guint16 *)to);
    case SATIN_KIND_INT32:
      return g_variant_new_int32 (*(gint32 *)to);
    case SATIN_KIND_UINT32:
      return g_variant_new_uint32 (*(guint32 *)to);
    case SATIN_KIND_INT64:
      return g_variant_new_int64 (*(gint64 *)to);
    case SATIN_KIND_UINT64:
      return g_variant_new_uint64 (*(guint64 *)to);
    default:
      return g_variant_new_double (*(double *)to);
    }
}

static GVariant *
random_value (const SatinType *type, guint8 *to)
{
  g_autoptr (GPtrArray) members = g_ptr_array_new ();

  if (type->kind != SATIN_KIND_RECORD)
    return random_scalar (type, to);
  for (guint i = 0; i < type->n_fields; i++)
    {
      const SatinField *field = &type->fields[i];
      g_autoptr (GPtrArray) elements = g_ptr_array_new ();

      for (guint k = 0; k < MAX (field->count, 1); k++)
        g_ptr_array_add (elements,
                         random_value (field->type, to + field->offset + k * field->type->size));
      g_ptr_array_add (
          members, field->count == 0
                       ? elements->pdata[0]
                       : g_variant_new_array (NULL, (GVariant **)elements->pdata, elements->len));
    }
  return g_variant_new_tuple ((GVariant **)members->pdata, members->len);
}

/* Little-endian bytes of the library's value. */
static GBytes *
library_bytes (GVariant *value)
{
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return g_variant_get_data_as_bytes (value);

  g_autoptr (GVariant) swapped = g_variant_byteswap (value);

  return g_variant_get_data_as_bytes (swapped);
}

/* Properties --------------------------------------------------------------------------------- */

/* Everything that the decoder accepts is in normal form, and is what the encoder writes. */
static gboolean
check_decode (const SatinType *type, GBytes *bytes)
{
  g_autofree char *signature = record_signature (type);
  g_autofree guint8 *data = g_malloc (type->size);
  g_autoptr (GError) error = NULL;

  memset (data, 0xa5, type->size);
  if (!record_decode (type, bytes, data, &error))
    {
      g_assert_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED);
      for (guint i = 0; i < type->size; i++)
        g_assert_cmpint (data[i], ==, 0);
      return FALSE;
    }

  g_autoptr (GVariant) oracle
      = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (signature), bytes, FALSE));
  g_autoptr (GBytes) again = record_encode (type, data);

  g_assert_true (g_variant_is_normal_form (oracle));
  g_assert_true (g_bytes_equal (again, bytes));
  record_clear (type, data);
  return TRUE;
}

static GBytes *
mutate (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  GByteArray *copy = g_byte_array_new ();
  guint kind = (guint)g_test_rand_int_range (0, 5);
  guint8 extra = (guint8)(g_test_rand_bit () ? 0 : g_test_rand_int ());

  g_byte_array_append (copy, data, (guint)size);
  if (kind == 0)
    g_byte_array_set_size (copy, (guint)g_test_rand_int_range (0, (gint32)size + 1));
  else if (kind == 1)
    g_byte_array_append (copy, &extra, 1);
  else if (size > 0)
    {
      guint n = (guint)g_test_rand_int_range (1, 4);

      /* The tables of ends are at the end. */
      for (guint i = 0; i < n; i++)
        {
          gint32 from = g_test_rand_bit () ? 0 : MAX (0, (gint32)size - 12);

          copy->data[g_test_rand_int_range (from, (gint32)size)]
              = (guint8)(kind == 2 ? g_test_rand_int () : g_test_rand_int_range (0, 3));
        }
    }
  return g_byte_array_free_to_bytes (copy);
}

static void
check_type (const SatinType *type)
{
  g_autofree char *signature = record_signature (type);
  g_autofree guint8 *data = g_malloc0 (type->size);
  g_autofree guint8 *copy = g_malloc0 (type->size);
  g_autoptr (GVariant) value = g_variant_ref_sink (random_value (type, data));
  g_autoptr (GBytes) expected = library_bytes (value);
  g_autoptr (GBytes) encoded = record_encode (type, data);
  g_autoptr (GBytes) of_copy = NULL;

  g_assert_cmpstr (signature, ==, g_variant_get_type_string (value));
  g_assert_cmpmem (g_bytes_get_data (encoded, NULL), g_bytes_get_size (encoded),
                   g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
  record_copy (type, copy, data);
  record_clear (type, data);
  of_copy = record_encode (type, copy);
  g_assert_true (g_bytes_equal (of_copy, encoded));
  record_clear (type, copy);

  g_assert_true (check_decode (type, encoded));
  for (int i = 0; i < 12; i++)
    {
      g_autoptr (GBytes) changed = mutate (encoded);

      check_decode (type, changed);
    }
}

static void
test_random (void)
{
  int rounds = g_test_thorough () ? 200000 : 4000;

  for (int round = 0; round < rounds; round++)
    {
      g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);

      check_type (random_type (arena, 0));
    }
}

static void
test_scalars (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (scalars); i++)
    for (int round = 0; round < 100; round++)
      check_type (&scalars[i]);
}

/* Named cases -------------------------------------------------------------------------------- */

typedef struct
{
  gint8 small;
  SatinBytes bytes;
  gint32 numbers[3];
} Mixed;

static const SatinField mixed_fields[] = {
  { "small", &scalars[0], offsetof (Mixed, small), 0 },
  { "bytes", &scalars[9], offsetof (Mixed, bytes), 0 },
  { "numbers", &scalars[4], offsetof (Mixed, numbers), 3 },
};
static const SatinType mixed_type = { "Mixed", sizeof (Mixed), SATIN_KIND_RECORD, 3, mixed_fields };
static const SatinType empty_type = { "Empty", 0, SATIN_KIND_RECORD, 0, NULL };

static void
test_text (void)
{
  g_autofree char *signature = record_signature (&mixed_type);
  g_autofree char *schema = record_schema (&mixed_type);
  g_autofree char *nothing = record_signature (&empty_type);

  g_assert_cmpstr (signature, ==, "(nayai)");
  g_assert_cmpstr (schema, ==, "(small:int8,bytes:ay,numbers:a3*i)");
  g_assert_cmpstr (nothing, ==, "()");
  g_assert_true (record_holds (&mixed_type));
  g_assert_false (record_holds (&empty_type));
}

static void
test_lists (void)
{
  static const SatinField item = { "item", &mixed_type, 0, 0 };
  static const SatinType type = { "Mixeds", sizeof (SatinList_), SATIN_KIND_LIST, 1, &item };
  g_autofree char *signature = record_signature (&type);
  g_autofree char *schema = record_schema (&type);
  g_autoptr (GBytes) bytes = g_bytes_new ("xyz", 3);
  Mixed own[2] = { { 1, NULL, { 1, 2, 3 } }, { 2, bytes, { 4, 5, 6 } } };
  SatinList_ list = { own, 2, NULL }, first, second, back;

  g_assert_cmpstr (signature, ==, "a(nayai)");
  g_assert_cmpstr (schema, ==, "a*(small:int8,bytes:ay,numbers:a3*i)");
  g_assert_true (record_holds (&type));

  /* Memory of the program is copied; held memory is shared. */
  record_copy (&type, &first, &list);
  g_assert_true (first.at != own);
  own[1].bytes = NULL;
  record_copy (&type, &second, &first);
  g_assert_true (second.at == first.at && second.held == first.held);
  record_clear (&type, &first);
  g_assert_true (first.at == NULL && first.n == 0 && first.held == NULL);
  g_assert_true (((const Mixed *)second.at)[1].bytes == bytes);

  /* A part of the held list. */
  SatinList_ part = { (const Mixed *)second.at + 1, 1, second.held };
  g_autoptr (GBytes) encoded = record_encode (&type, &part);
  g_assert_true (record_decode (&type, encoded, &back, NULL));
  g_assert_cmpuint (back.n, ==, 1);
  g_assert_cmpint (((const Mixed *)back.at)[0].numbers[2], ==, 6);
  g_assert_true (g_bytes_equal (((const Mixed *)back.at)[0].bytes, bytes));
  record_clear (&type, &back);
  record_clear (&type, &second);
}

static void
test_texts (void)
{
  const SatinType *type = &scalars[11];
  SatinText text = { "b\xff", NULL }, kept, back;
  g_autoptr (GBytes) raw = record_encode (type, &text), held = NULL;
  g_autoptr (GBytes) open = g_bytes_new ("ab", 2), inner = g_bytes_new ("a\0b", 4);

  record_copy (type, &kept, &text);
  held = record_encode (type, &kept);
  g_assert_cmpstr (kept.text, ==, "b\xef\xbf\xbd");
  g_assert_true (g_bytes_equal (raw, held));
  g_assert_true (record_decode (type, held, &back, NULL));
  g_assert_cmpstr (back.text, ==, kept.text);
  record_clear (type, &back);
  record_clear (type, &kept);
  /* also if the bytes that it borrows are held */
  g_autoptr (GBytes) odd = g_bytes_new ("b\xff", 3);
  SatinText borrowed = { g_bytes_get_data (odd, NULL), odd };
  record_copy (type, &kept, &borrowed);
  g_assert_cmpstr (kept.text, ==, "b\xef\xbf\xbd");
  g_assert_true (kept.held != odd);
  record_clear (type, &kept);
  g_assert_false (record_decode (type, open, &back, NULL));
  g_assert_false (record_decode (type, inner, &back, NULL));
}

static void
test_empty (void)
{
  static const guint8 one[] = { 1 };
  guint8 nothing = 0;
  g_autoptr (GBytes) bytes = record_encode (&empty_type, &nothing);
  g_autoptr (GBytes) wrong = g_bytes_new (one, 1);
  g_autoptr (GBytes) none = g_bytes_new (NULL, 0);

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "\0", 1);
  g_assert_true (record_decode (&empty_type, bytes, &nothing, NULL));
  g_assert_false (record_decode (&empty_type, wrong, &nothing, NULL));
  g_assert_false (record_decode (&empty_type, none, &nothing, NULL));
}

static void
test_int8 (void)
{
  for (int number = -300; number <= 300; number++)
    {
      guint8 raw[2] = { (guint8)(number & 255), (guint8)(number >> 8 & 255) };
      g_autoptr (GBytes) bytes = g_bytes_new (raw, 2);
      gint8 back = 0;
      gboolean fits = number >= G_MININT8 && number <= G_MAXINT8;

      g_assert_cmpint (record_decode (&scalars[0], bytes, &back, NULL), ==, fits);
      g_assert_cmpint (back, ==, fits ? number : 0);
    }
}

/* Large bytes are neither copied nor scanned when they are decoded, unless their numbers are not
 * aligned for the program. */
static void
test_large (void)
{
  gsize size = 64 << 20;
  Mixed mixed = { -5, g_bytes_new_take (g_malloc0 (size), size), { 1, 2, 3 } };
  g_autoptr (GBytes) bytes = record_encode (&mixed_type, &mixed);
  const guint8 *start = g_bytes_get_data (bytes, NULL);
  Mixed back;

  g_assert_true (record_decode (&mixed_type, bytes, &back, NULL));

  g_assert_cmpint (back.small, ==, -5);
  g_assert_cmpint (back.numbers[2], ==, 3);
  g_assert_cmpuint (g_bytes_get_size (back.bytes), ==, size);
  g_assert_true ((const guint8 *)g_bytes_get_data (back.bytes, NULL) != start + 2);
  g_assert_cmpuint ((guintptr)g_bytes_get_data (back.bytes, NULL) % BUFFER_ALIGN, ==, 0);
  g_assert_true (g_bytes_equal (back.bytes, mixed.bytes));
  record_clear (&mixed_type, &back);

  g_autoptr (GBytes) alone = record_encode (&scalars[9], &mixed.bytes);
  GBytes *came;
  g_assert_true (record_decode (&scalars[9], alone, &came, NULL));
  g_assert_true (g_bytes_get_data (came, NULL) == g_bytes_get_data (alone, NULL));
  g_bytes_unref (came);
  record_clear (&mixed_type, &mixed);
  g_assert_null (mixed.bytes);
}

/* A longer list has no place in the bytes: its length would be cut off. `data`: how it is made. */
static void
test_long_lists (gconstpointer data)
{
  static const SatinType *const item = &scalars[SATIN_KIND_UINT8];
  const SatinField field = { .type = item };
  const SatinType type = { "Long", sizeof (SatinList_), SATIN_KIND_LIST, 1, &field };
  const SatinList_ list = { "", (guint64)G_MAXUINT32 + 1, NULL };

  if (g_test_subprocess ())
    {
      g_autoptr (GBytes) bytes
          = data != NULL ? record_encode (&type, &list) : list_copy (item, NULL, list.n);
      return;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*a list of 4294967296 items: a list has at most 4294967295*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/scalars-have-the-library's-bytes", test_scalars);
  g_test_add_func ("/record/random-types-have-the-library's-bytes-and-only-those-are-read",
                   test_random);
  g_test_add_func ("/record/signature-and-schema", test_text);
  g_test_add_func ("/record/the-empty-record-is-one-zero-byte", test_empty);
  g_test_add_func ("/record/a-signed-byte-is-read-in-its-range-only", test_int8);
  g_test_add_func ("/record/lists-are-copied-shared-and-cut", test_lists);
  g_test_add_data_func ("/record/long-lists-are-not-written", "", test_long_lists);
  g_test_add_data_func ("/record/long-lists-are-not-made", NULL, test_long_lists);
  g_test_add_func ("/record/texts-are-utf-8", test_texts);
  g_test_add_func ("/record/large-bytes-are-slices", test_large);
  return g_test_run ();
}
