/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at every byte of every page as if a record began there. That is affordable, because a
 * record says its own length twice (the length of its header and the types of its columns), so that
 * nearly all bytes are told off at a glance. Numbers like 255, 64 and 35 are those of SQLite's file
 * format. Must not know our tables or checksums. */
#include "storage/pages.h"

#include "storage/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_SIZE_MIN 512
#define PAGE_SIZE_MAX 65536
#define HEX_DIGITS 32
/* All chains of long records together may be this many times as long as the file: in a sound one
 * they are shorter, and a forged one must not cost more than its size. */
#define CHAIN_FACTOR 4

struct Pages
{
  int fd;
  guint64 size, limit;
  guint64 chain_bytes; /* that may still be followed */
  guint32 sizes[10];
  guint8 *page;      /* PAGE_SIZE_MAX bytes */
  GByteArray *whole; /* the record that is being put together */
};

static gboolean
is_page_size (guint32 size)
{
  return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

/* Reads at most `size` bytes; what is missing at the end of the file is zero. FALSE: error. */
static gboolean
read_at (Pages *pages, guint64 at, guint8 *to, gsize size, GError **error)
{
  gsize done = 0;
  while (done < size)
    {
      ssize_t n = pread (pages->fd, to + done, size - done, (off_t)(at + done));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "%s", g_strerror (errno));
          return FALSE;
        }
      if (n == 0)
        break;
      done += (gsize)n;
    }
  memset (to + done, 0, size - done);
  return TRUE;
}

static void
add_size (Pages *pages, guint32 size)
{
  guint n = 0;
  while (pages->sizes[n] != 0 && pages->sizes[n] != size)
    n++;
  pages->sizes[n] = size;
}

/* What the header says, which may be a lie, then what we write, and without its word the others. */
static void
list_sizes (Pages *pages)
{
  static const guint32 written[] = { SQL_PAGE_BYTES, 1024, 512, 65536 };
  guint8 header[18] = { 0 };
  (void)read_at (pages, 0, header, sizeof header, NULL);
  guint32 said = (guint32)header[16] << 8 | header[17];
  said = said == 1 ? PAGE_SIZE_MAX : said;
  if (is_page_size (said))
    add_size (pages, said);
  for (gsize i = 0; i < G_N_ELEMENTS (written); i++)
    add_size (pages, written[i]);
  for (guint32 size = PAGE_SIZE_MIN; size <= PAGE_SIZE_MAX && !is_page_size (said); size *= 2)
    add_size (pages, size);
}

Pages *
pages_open (const char *path, GError **error)
{
  struct stat status;
  g_autoptr (Pages) pages = g_new0 (Pages, 1);
  pages->fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (pages->fd < 0 || fstat (pages->fd, &status) != 0 || !S_ISREG (status.st_mode))
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "%s",
                   g_strerror (pages->fd < 0 ? errno : EINVAL));
      return NULL;
    }
  pages->size = (guint64)status.st_size;
  pages->limit = G_MAXUINT64;
  pages->page = g_malloc (PAGE_SIZE_MAX);
  pages->whole = g_byte_array_new ();
  list_sizes (pages);
  return g_steal_pointer (&pages);
}

void
pages_free (Pages *pages)
{
  if (pages == NULL)
    return;
  if (pages->fd >= 0)
    (void)close (pages->fd);
  g_free (pages->page);
  if (pages->whole != NULL)
    g_byte_array_unref (pages->whole);
  g_free (pages);
}

void
pages_limit (Pages *pages, guint64 bytes)
{
  pages->limit = bytes > 0 ? bytes : G_MAXUINT64;
}

const guint32 *
pages_sizes (const Pages *pages)
{
  return pages->sizes;
}

/* The number of bytes of a varint that must end before `end`; 0: it does not. */
static inline guint
take_varint (const guint8 *at, const guint8 *end, guint64 *value)
{
  guint64 word = 0;
  for (guint i = 0; i < 8 && at + i < end; i++)
    {
      word = word << 7 | (at[i] & 0x7f);
      if (at[i] < 0x80)
        {
          *value = word;
          return i + 1;
        }
    }
  if (end - at < 9)
    return 0;
  *value = word << 8 | at[8];
  return 9;
}

/* The varint that ends before `end`, as far as it goes back to `begin`. The one before it ends with
 * a byte without the top bit, as every varint of less than nine bytes does. */
static gint64
take_varint_before (const guint8 *begin, const guint8 *end)
{
  const guint8 *at = end - 1;
  guint64 value = 0;
  if (at < begin)
    return 0;
  while (at > begin && at[-1] >= 0x80 && end - at < 9)
    at--;
  return take_varint (at, end, &value) == (guint)(end - at) ? (gint64)value : 0;
}

/* FALSE: no such type. */
static inline gboolean
type_size (guint64 type, gsize *size)
{
  static const guint8 sizes[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
  if (type >= 12)
    *size = (gsize)((type - 12) / 2);
  else if (type < G_N_ELEMENTS (sizes))
    *size = sizes[type];
  else
    return FALSE;
  return TRUE;
}

/* Of the last column of each of our rows, its sum; so all of it stands in the header's last byte.
 */
static inline gboolean
is_integer_type (guint64 type)
{
  return (type >= 1 && type <= 6) || type == 8 || type == 9;
}

typedef struct
{
  guint n;
  guint64 types[RECORD_COLUMNS_MAX];
  gsize header, payload; /* bytes; the header is a part of the payload */
} Shape;

/* The header of a record: its length, and a type for each column. FALSE: none is here. */
static inline gboolean
take_shape (const guint8 *at, const guint8 *end, guint64 payload_max, Shape *shape)
{
  gsize header = at[0], size;
  if (header < 4 || header >= 0x80 || (gsize)(end - at) < header)
    return FALSE;
  const guint8 *stop = at + header;
  if (!is_integer_type (stop[-1]))
    return FALSE;
  shape->n = 0;
  shape->header = header;
  shape->payload = header;
  for (at++; at < stop; shape->n++)
    {
      guint64 type;
      guint n = take_varint (at, stop, &type);
      if (n == 0 || shape->n == RECORD_COLUMNS_MAX || !type_size (type, &size)
          || size > payload_max)
        return FALSE;
      shape->types[shape->n] = type;
      shape->payload += size;
      at += n;
    }
  return shape->payload <= payload_max && is_integer_type (shape->types[shape->n - 1]);
}

/* How much of a payload lies in the page of its cell. */
static gsize
local_size (gsize payload, gsize page_size, gboolean has_rowid)
{
  gsize most = has_rowid ? page_size - 35 : (page_size - 12) * 64 / 255 - 23;
  gsize least = (page_size - 12) * 32 / 255 - 23;
  if (payload <= most)
    return payload;
  gsize some = least + (payload - least) % (page_size - 4);
  return some <= most ? some : least;
}

static guint32
load_big (const guint8 *bytes)
{
  guint32 word;
  memcpy (&word, bytes, sizeof word);
  return GUINT32_FROM_BE (word);
}

/* Appends `rest` bytes from the chain of pages that begins with `number`. FALSE: it is broken. A
 * circle is found by a page that is remembered at each power of two. */
static gboolean
follow_chain (Pages *pages, guint32 page_size, guint32 number, gsize rest)
{
  guint8 buffer[PAGE_SIZE_MAX];
  guint32 remembered = 0;
  for (guint64 n = 1; rest > 0; n++)
    {
      guint64 at = ((guint64)number - 1) * page_size;
      gsize piece = MIN (rest, page_size - 4);
      if (number < 2 || number == remembered || at + 4 >= pages->size
          || pages->chain_bytes < page_size || !read_at (pages, at, buffer, page_size, NULL))
        return FALSE;
      if ((n & (n - 1)) == 0)
        remembered = number;
      pages->chain_bytes -= page_size;
      g_byte_array_append (pages->whole, buffer + 4, (guint)piece);
      rest -= piece;
      number = load_big (buffer);
    }
  return TRUE;
}

/* (nullable): the whole payload that begins at `at`. */
static const guint8 *
take_payload (Pages *pages, guint32 page_size, const guint8 *at, const Shape *shape,
              gboolean has_rowid)
{
  gsize room = (gsize)(pages->page + page_size - at);
  gsize local = local_size (shape->payload, page_size, has_rowid);
  if (local == shape->payload)
    return local <= room ? at : NULL;
  if (local + 4 > room || local < shape->header)
    return NULL;
  g_byte_array_set_size (pages->whole, 0);
  g_byte_array_append (pages->whole, at, (guint)local);
  return follow_chain (pages, page_size, load_big (at + local), shape->payload - local)
             ? pages->whole->data
             : NULL;
}

static gint64
load_integer (const guint8 *bytes, gsize size)
{
  guint64 word = size > 0 && bytes[0] >= 0x80 ? G_MAXUINT64 : 0;
  for (gsize i = 0; i < size; i++)
    word = word << 8 | bytes[i];
  return (gint64)word;
}

static void
read_column (guint64 type, const guint8 *at, gsize size, RecordColumn *column)
{
  *column = (RecordColumn){ .kind = 'i', .data = at, .size = size };
  if (type == 0)
    column->kind = 'n';
  else if (type >= 12)
    column->kind = type % 2 == 0 ? 'b' : 't';
  else if (type == 8 || type == 9)
    column->integer = (gint64)type - 8;
  else
    column->integer = load_integer (at, size);
  if (type != 7)
    return;
  column->kind = 'r';
  memcpy (&column->real, &column->integer, sizeof column->real);
}

static void
read_record (const Shape *shape, const guint8 *payload, Record *record)
{
  const guint8 *at = payload + shape->header;
  record->n = shape->n;
  for (guint i = 0; i < shape->n; i++)
    {
      gsize size = 0;
      (void)type_size (shape->types[i], &size);
      read_column (shape->types[i], at, size, &record->columns[i]);
      at += size;
    }
}

typedef struct
{
  Pages *pages;
  guint32 page_size;
  const PagesWanted *wanted;
  PagesEach each;
  gpointer data;
  gboolean stop;
} Scan;

/* The bytes of the page that a row takes from `at` on; 0: no row is there. */
static gsize
try_record (Scan *scan, const guint8 *at, const Shape *shape, gboolean has_rowid)
{
  Record record;
  const guint8 *payload = take_payload (scan->pages, scan->page_size, at, shape, has_rowid);
  if (payload == NULL)
    return 0;
  read_record (shape, payload, &record);
  record.rowid = has_rowid ? take_varint_before (scan->pages->page, at) : 0;
  return scan->each (&record, has_rowid, &scan->stop, scan->data)
             ? local_size (shape->payload, scan->page_size, has_rowid)
             : 0;
}

static void
scan_page (Scan *scan)
{
  const guint8 *page = scan->pages->page, *end = page + scan->page_size;
  guint64 payload_max = MIN (scan->pages->size, G_MAXINT32);
  for (const guint8 *at = page; at < end && !scan->stop; at++)
    {
      Shape shape;
      gsize taken = 0;
      if (!take_shape (at, end, payload_max, &shape))
        continue;
      if (scan->wanted->without_rowid[shape.n])
        taken = try_record (scan, at, &shape, FALSE);
      if (taken == 0 && !scan->stop && scan->wanted->with_rowid[shape.n])
        taken = try_record (scan, at, &shape, TRUE);
      at += taken > 0 ? taken - 1 : 0;
    }
}

/* Where there is data next, at a multiple of `step`; the size: nowhere. */
static guint64
next_data (Pages *pages, guint64 at, guint64 step)
{
  off_t found = lseek (pages->fd, (off_t)at, SEEK_DATA);
  if (found < 0)
    return errno == ENXIO ? pages->size : at;
  return MAX (at, (guint64)found / step * step);
}

gboolean
pages_scan (Pages *pages, guint32 page_size, const PagesWanted *wanted, PagesEach each,
            gpointer data, GError **error)
{
  Scan scan
      = { .pages = pages, .page_size = page_size, .wanted = wanted, .each = each, .data = data };
  guint64 left = pages->limit;
  pages->chain_bytes = CHAIN_FACTOR * MAX (pages->size, page_size);
  for (guint64 at = 0; at < pages->size && left > 0 && !scan.stop; at += page_size)
    {
      at = next_data (pages, at, page_size);
      if (at >= pages->size)
        break;
      if (!read_at (pages, at, pages->page, page_size, error))
        return FALSE;
      left -= MIN (left, page_size);
      scan_page (&scan);
    }
  return TRUE;
}

gboolean
pages_scan_hex (Pages *pages, PagesEachText each, gpointer data, GError **error)
{
  guint64 left = pages->limit;
  char digits[HEX_DIGITS + 1] = { 0 };
  guint n = 0; /* digits in a row so far */
  for (guint64 at = 0; at < pages->size && left > 0; at += PAGE_SIZE_MAX)
    {
      at = next_data (pages, at, PAGE_SIZE_MAX);
      if (at >= pages->size)
        break;
      if (!read_at (pages, at, pages->page, PAGE_SIZE_MAX, error))
        return FALSE;
      left -= MIN (left, PAGE_SIZE_MAX);
      for (guint i = 0; i < PAGE_SIZE_MAX; i++)
        {
          char byte = (char)pages->page[i];
          gboolean is_digit = g_ascii_isdigit (byte) || (byte >= 'a' && byte <= 'f');
          n = is_digit ? n + 1 : 0;
          memmove (digits, digits + 1, HEX_DIGITS - 1);
          digits[HEX_DIGITS - 1] = byte;
          if (n >= HEX_DIGITS)
            each (digits, data);
        }
    }
  return TRUE;
}
