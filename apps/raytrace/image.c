/* SPDX-License-Identifier: BSD-3-Clause */
#include "image.h"

#include "../write.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

gboolean
image_write_ppm (const Image *image, const char *file, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text, "P6\n%d %d\n255\n", image->width, image->height);
  g_string_append_len (text, (const char *)image->pixels, (gssize)image->width * image->height * 3);
  return write_file (file, text->str, text->len, error);
}

static void
put_number (GByteArray *to, guint32 number)
{
  number = GUINT32_TO_BE (number);
  g_byte_array_append (to, (const guint8 *)&number, 4);
}

/* The checksum of PNG chunks, ISO 3309. */
static guint32
crc_of (const guint8 *bytes, gsize size)
{
  guint32 crc = 0xffffffff;

  for (gsize i = 0; i < size; i++)
    {
      crc ^= bytes[i];
      for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
  return ~crc;
}

static void
put_chunk (GByteArray *to, const char *name, const GByteArray *content)
{
  guint at;

  put_number (to, content->len);
  at = to->len;
  g_byte_array_append (to, (const guint8 *)name, 4);
  g_byte_array_append (to, content->data, content->len);
  put_number (to, crc_of (to->data + at, to->len - at));
}

/* The prediction of Paeth's filter from the bytes to the left, above and above to the left. */
static guint8
paeth (int left, int above, int corner)
{
  int a = abs (above - corner), b = abs (left - corner), c = abs (left + above - 2 * corner);

  return (guint8)(a <= b && a <= c ? left : b <= c ? above : corner);
}

/* Each row with the number of its filter and the differences from the predictions. */
static GByteArray *
filtered (const Image *image)
{
  gsize stride = (gsize)image->width * 3;
  GByteArray *rows = g_byte_array_new ();
  const guint8 four = 4;

  for (int y = 0; y < image->height; y++)
    {
      const guint8 *row = image->pixels + y * stride;

      g_byte_array_append (rows, &four, 1);
      for (gsize i = 0; i < stride; i++)
        {
          int left = i < 3 ? 0 : row[i - 3], above = y == 0 ? 0 : row[i - stride];
          int corner = i < 3 || y == 0 ? 0 : row[i - stride - 3];
          guint8 rest = (guint8)(row[i] - paeth (left, above, corner));

          g_byte_array_append (rows, &rest, 1);
        }
    }
  return rows;
}

static GByteArray *
compressed (const GByteArray *bytes, GError **error)
{
  g_autoptr (GZlibCompressor) zlib = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB, 9);
  g_autoptr (GByteArray) to = g_byte_array_new ();
  GConverterResult result = G_CONVERTER_CONVERTED;
  gsize read = 0, n_read, n_written;
  guint8 part[65536];

  while (result != G_CONVERTER_FINISHED)
    {
      result
          = g_converter_convert (G_CONVERTER (zlib), bytes->data + read, bytes->len - read, part,
                                 sizeof part, G_CONVERTER_INPUT_AT_END, &n_read, &n_written, error);
      if (result == G_CONVERTER_ERROR)
        return NULL;
      read += n_read;
      g_byte_array_append (to, part, (guint)n_written);
    }
  return g_steal_pointer (&to);
}

gboolean
image_write_png (const Image *image, const char *file, GError **error)
{
  g_autoptr (GByteArray) png = g_byte_array_new (), header = g_byte_array_new ();
  g_autoptr (GByteArray) rows = filtered (image), packed = compressed (rows, error);
  g_autoptr (GByteArray) nothing = g_byte_array_new ();
  static const guint8 rgb_of_8_bits[] = { 8, 2, 0, 0, 0 };

  if (packed == NULL)
    return FALSE;
  g_byte_array_append (png, (const guint8 *)"\x89PNG\r\n\x1a\n", 8);
  put_number (header, (guint32)image->width);
  put_number (header, (guint32)image->height);
  g_byte_array_append (header, rgb_of_8_bits, sizeof rgb_of_8_bits);
  put_chunk (png, "IHDR", header);
  put_chunk (png, "IDAT", packed);
  put_chunk (png, "IEND", nothing);
  return write_file (file, png->data, png->len, error);
}
