/* SPDX-License-Identifier: BSD-3-Clause */
/* Records with members of every kind: an accepted record is encoded to the same bytes. */
#include "fuzz.h"

#include "record.h"

#include <string.h>

const char fuzz_name[] = "record";

typedef struct
{
  gint32 number;
  guint8 small[3];
  SatinBytes text;
  double real;
  guint64 big[2];
  SatinBytes more;
  SatinText said;
  SatinList_ texts, rows; /* of texts; of lists of numbers */
} Everything;

static const SatinType type_int32 = { "gint32", 4, SATIN_KIND_INT32, 0, NULL };
static const SatinType type_uint8 = { "guint8", 1, SATIN_KIND_UINT8, 0, NULL };
static const SatinType type_uint64 = { "guint64", 8, SATIN_KIND_UINT64, 0, NULL };
static const SatinType type_double = { "double", 8, SATIN_KIND_DOUBLE, 0, NULL };
static const SatinType type_bytes
    = { "SatinBytes", sizeof (SatinBytes), SATIN_KIND_BYTES, 0, NULL };

static const SatinType type_text = { "SatinText", sizeof (SatinText), SATIN_KIND_TEXT, 0, NULL };
static const SatinField of_texts = { "item", &type_text, 0, 0 };
static const SatinType type_texts = { "Texts", sizeof (SatinList_), SATIN_KIND_LIST, 1, &of_texts };
static const SatinField of_numbers = { "item", &type_int32, 0, 0 };
static const SatinType type_numbers
    = { "Numbers", sizeof (SatinList_), SATIN_KIND_LIST, 1, &of_numbers };
static const SatinField of_rows = { "item", &type_numbers, 0, 0 };
static const SatinType type_rows = { "Rows", sizeof (SatinList_), SATIN_KIND_LIST, 1, &of_rows };

static const SatinField fields[] = {
  { .name = "number", .type = &type_int32, .offset = offsetof (Everything, number) },
  { .name = "small", .type = &type_uint8, .count = 3, .offset = offsetof (Everything, small) },
  { .name = "text", .type = &type_bytes, .offset = offsetof (Everything, text) },
  { .name = "real", .type = &type_double, .offset = offsetof (Everything, real) },
  { .name = "big", .type = &type_uint64, .count = 2, .offset = offsetof (Everything, big) },
  { .name = "more", .type = &type_bytes, .offset = offsetof (Everything, more) },
  { .name = "said", .type = &type_text, .offset = offsetof (Everything, said) },
  { .name = "texts", .type = &type_texts, .offset = offsetof (Everything, texts) },
  { .name = "rows", .type = &type_rows, .offset = offsetof (Everything, rows) }
};

static const SatinType type_everything = { .name = "Everything",
                                           .size = sizeof (Everything),
                                           .kind = SATIN_KIND_RECORD,
                                           .n_fields = G_N_ELEMENTS (fields),
                                           .fields = fields };

GBytes *
fuzz_seed (guint n)
{
  if (n > 1)
    return NULL;
  if (n == 1)
    return g_bytes_new_static ("", 0);
  static const SatinText texts[] = { { "one", NULL }, { "", NULL }, { "\xc3\xa4", NULL } };
  static const gint32 numbers[] = { 1, 2, 3, 4, 5 };
  static const SatinList_ rows[]
      = { { numbers, 5, NULL }, { NULL, 0, NULL }, { numbers, 1, NULL } };
  Everything value = { .number = -5,
                       .small = { 1, 2, 3 },
                       .real = 0.5,
                       .big = { 7, 8 },
                       .said = { "said", NULL },
                       .texts = { texts, 3, NULL },
                       .rows = { rows, 3, NULL } };
  return record_encode (&type_everything, &value);
}

void
fuzz_one (const guint8 *data, gsize size)
{
  Everything value;
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  if (!record_decode (&type_everything, bytes, &value, NULL))
    return;
  g_autoptr (GBytes) again = record_encode (&type_everything, &value);
  g_assert (g_bytes_equal (bytes, again));
  record_clear (&type_everything, &value);
}
