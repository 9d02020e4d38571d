/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at every byte of every page as if a record began there. This is affordable, because a
 * record states its own length twice (by the length of its header and the types of its columns), so
 * nearly all other bytes are rejected at once. If bytes were inserted or removed, everything behind
 * them has moved: a page of a chain is searched at each place that the file's size suggests. Knows
 * nothing of our tables and checksums.
 * Tests: test-salvage. */

#include "storage/recover/pages.h"

#include "host/whole.h"

#include "storage/spare.h"
#include "storage/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_SIZE_MIN 512
#define PAGE_SIZE_MAX 65536
#define HEX_DIGITS 32
/* All chains of long records together may be so many times as long as the file. In a sound file
 * they are shorter, and a forged file must not cost more than its size. */
#define CHAIN_FACTOR 4
#define N_PAGES_AT 28 /* in SQLite's header */
#define SHIFTS_MAX 4

struct Pages
{
  int fd;
  guint64 size, limit;
  guint64 chain_bytes; /* bytes of chains that may still be read */
  guint32 sizes[10];
  guint8 *page;              /* PAGE_SIZE_MAX bytes */
  GByteArray *whole;         /* the record that is being assembled */
  guint32 n_pages;           /* as in the header */
  gint64 shifts[SHIFTS_MAX]; /* of this scan: distances by which pages may have moved; the first is
                              * 0 */
  guint n_shifts;
  guint usual; /* the shift of the last page that named the next one */
};

static gboolean
is_page_size (guint32 size)
{
  return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

/* Reads at most `size` bytes; bytes behind the end of the file become zero. FALSE: error. */
static gboolean
read_at (Pages *pages, guint64 at, guint8 *to, gsize size, GError **error)
{
  gssize n = whole_read_at (pages->fd, to, size, at);
  if (n < 0)
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "%s", g_strerror (errno));
      return FALSE;
    }
  memset (to + n, 0, size - (gsize)n);
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

/* The size in the header, which may be wrong; then the sizes that we write; if the header's is
 * invalid, all others. */
static void
list_sizes (Pages *pages)
{
  static const guint32 written[] = { SQL_PAGE_BYTES, 1024, 512, 65536 };
  guint8 header[N_PAGES_AT + 4] = { 0 };
  (void)read_at (pages, 0, header, sizeof header, NULL);
  guint32 said = (guint32)header[16] << 8 | header[17];
  said = said == 1 ? PAGE_SIZE_MAX : said;
  pages->n_pages = record_load_big (header + N_PAGES_AT);
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
  int mended = spare_mend (pages->fd);
  if (mended >= 0)
    {
      (void)close (pages->fd);
      pages->fd = mended;
      if (fstat (mended, &status) != 0)
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

/* The varint that ends before `end`, not beginning before `begin`. The varint before it ends with a
 * byte without the top bit, as every varint of less than nine bytes does. */
static gint64
take_varint_before (const guint8 *begin, const guint8 *end)
{
  const guint8 *at = end - 1;
  guint64 value = 0;
  if (at < begin)
    return 0;
  while (at > begin && at[-1] >= 0x80 && end - at < 9)
    at--;
  return record_take_varint (at, end, &value) == (guint)(end - at) ? (gint64)value : 0;
}

static void
add_shift (Pages *pages, gint64 shift)
{
  guint n = 0;
  while (n < pages->n_shifts && pages->shifts[n] != shift)
    n++;
  if (n == pages->n_shifts && n < SHIFTS_MAX)
    pages->shifts[pages->n_shifts++] = shift;
}

/* Distances that the file's size suggests. A sound file is as long as its header says, and whole
 * pages fill it. */
static void
list_shifts (Pages *pages, guint32 page_size)
{
  gint64 size = (gint64)pages->size, over = size % page_size;
  gint64 more = size - (gint64)pages->n_pages * page_size;
  pages->n_shifts = pages->usual = 0;
  add_shift (pages, 0);
  if (pages->n_pages > 0 && more < size / 2 && more > -size / 2)
    add_shift (pages, more);
  if (over != 0)
    {
      add_shift (pages, over);
      add_shift (pages, over - page_size);
    }
}

/* Reads page `number` of a chain. A chain that VACUUM wrote is contiguous: each page names the next
 * one, and the last page none. `is_shifted`: tries all places where the page may be, and takes the
 * first that has this form. Zeros have the form of a last page, and many pages end with zeros. So
 * the first try is the shift of the pages before. */
static gboolean
read_link (Pages *pages, guint32 page_size, guint32 number, gboolean is_last, gboolean is_shifted,
           guint8 *to)
{
  gint64 place = ((gint64)number - 1) * page_size;
  for (guint i = 0; i < (is_shifted ? pages->n_shifts : 1); i++)
    {
      guint which = is_shifted ? (pages->usual + i) % pages->n_shifts : 0;
      gint64 at = place + pages->shifts[which];
      if (at < 0 || (guint64)at + 4 >= pages->size || pages->chain_bytes < page_size)
        continue;
      pages->chain_bytes -= page_size;
      if (!read_at (pages, (guint64)at, to, page_size, NULL))
        return FALSE;
      if (is_shifted && record_load_big (to) != (is_last ? 0 : number + 1))
        continue;
      if (is_shifted && !is_last)
        pages->usual = which;
      return TRUE;
    }
  return FALSE;
}

/* Appends `rest` bytes from the chain of pages that begins with `number`. FALSE: the chain is
 * broken. A cycle is detected by comparing with a page that is remembered at each power of two. */
static gboolean
follow_chain (Pages *pages, guint32 page_size, guint32 number, gsize rest, gboolean is_shifted)
{
  guint8 buffer[PAGE_SIZE_MAX];
  guint32 remembered = 0;
  for (guint64 n = 1; rest > 0; n++)
    {
      gsize piece = MIN (rest, page_size - 4);
      if (number < 2 || number == remembered
          || !read_link (pages, page_size, number, piece == rest, is_shifted, buffer))
        return FALSE;
      if ((n & (n - 1)) == 0)
        remembered = number;
      g_byte_array_append (pages->whole, buffer + 4, (guint)piece);
      rest -= piece;
      number = record_load_big (buffer);
    }
  return TRUE;
}

/* The whole payload that begins at `at`. (nullable) */
static const guint8 *
take_payload (Pages *pages, guint32 page_size, const guint8 *at, const RecordShape *shape,
              gboolean has_rowid, gboolean is_shifted)
{
  gsize room = (gsize)(pages->page + page_size - at);
  gsize local = record_local_size (shape->payload, page_size, has_rowid);
  if (local == shape->payload)
    return local <= room && !is_shifted ? at : NULL;
  if (local + 4 > room || local < shape->header)
    return NULL;
  g_byte_array_set_size (pages->whole, 0);
  g_byte_array_append (pages->whole, at, (guint)local);
  return follow_chain (pages, page_size, record_load_big (at + local), shape->payload - local,
                       is_shifted)
             ? pages->whole->data
             : NULL;
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

static gsize
try_way (Scan *scan, const guint8 *at, const RecordShape *shape, gboolean has_rowid,
         gboolean is_shifted)
{
  Record record;
  const guint8 *payload
      = take_payload (scan->pages, scan->page_size, at, shape, has_rowid, is_shifted);
  if (payload == NULL)
    return 0;
  record_read (shape, payload, &record);
  record.rowid = has_rowid ? take_varint_before (scan->pages->page, at) : 0;
  return scan->each (&record, has_rowid, &scan->stop, scan->data)
             ? record_local_size (shape->payload, scan->page_size, has_rowid)
             : 0;
}

/* The number of bytes in the page that a row at `at` takes; 0: there is no row. */
static gsize
try_record (Scan *scan, const guint8 *at, const RecordShape *shape, gboolean has_rowid)
{
  gsize taken = try_way (scan, at, shape, has_rowid, FALSE);
  return taken == 0 && !scan->stop && scan->pages->n_shifts > 1
             ? try_way (scan, at, shape, has_rowid, TRUE)
             : taken;
}

static void
scan_page (Scan *scan)
{
  const guint8 *page = scan->pages->page, *end = page + scan->page_size;
  guint64 payload_max = MIN (scan->pages->size, G_MAXINT32);
  RecordShape shape; /* outside the loop, which would fill it with zeros for each byte */
  for (const guint8 *at = page; at < end && !scan->stop; at++)
    {
      gsize taken = 0;
      if (!record_take_shape (at, end, payload_max, &shape))
        continue;
      if (scan->wanted->without_rowid[shape.n])
        taken = try_record (scan, at, &shape, FALSE);
      if (taken == 0 && !scan->stop && scan->wanted->with_rowid[shape.n])
        taken = try_record (scan, at, &shape, TRUE);
      at += taken > 0 ? taken - 1 : 0;
    }
}

/* The next place with data, at a multiple of `step`; the file's size: there is none. */
static guint64
next_data (Pages *pages, guint64 at, guint64 step)
{
  off_t found = lseek (pages->fd, (off_t)at, SEEK_DATA);
  if (found < 0)
    return errno == ENXIO ? pages->size : at;
  return MAX (at, (guint64)found / step * step);
}

/* Scans pages at `first` and each `page_size` behind it. */
static gboolean
scan_from (Scan *scan, guint64 first, GError **error)
{
  Pages *pages = scan->pages;
  guint64 left = pages->limit;
  for (guint64 at = first; at < pages->size && left > 0 && !scan->stop; at += scan->page_size)
    {
      at += (next_data (pages, at, 1) - at) / scan->page_size * scan->page_size;
      if (at >= pages->size)
        break;
      if (!read_at (pages, at, pages->page, scan->page_size, error))
        return FALSE;
      left -= MIN (left, scan->page_size);
      scan_page (scan);
    }
  return TRUE;
}

gboolean
pages_scan (Pages *pages, guint32 page_size, const PagesWanted *wanted, PagesEach each,
            gpointer data, GError **error)
{
  Scan scan
      = { .pages = pages, .page_size = page_size, .wanted = wanted, .each = each, .data = data };
  guint64 over = pages->size % page_size;
  list_shifts (pages, page_size);
  pages->chain_bytes = pages->n_shifts * CHAIN_FACTOR * MAX (pages->size, page_size);
  return scan_from (&scan, 0, error) && (over == 0 || scan_from (&scan, over, error));
}

gboolean
pages_scan_hex (Pages *pages, PagesEachText each, gpointer data, GError **error)
{
  guint64 left = pages->limit;
  char digits[HEX_DIGITS + 1] = { 0 };
  guint n = 0; /* consecutive digits so far */
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
