/* SPDX-License-Identifier: BSD-3-Clause */
/* The free pages are one trunk of SQLite's list, and leaves, whose bytes SQLite never reads: a
 * head, a checksum for each page, and the parity. If bytes were inserted or removed, everything
 * behind them has moved as far as the head. So each page is searched at its own place, at the moved
 * place, and then at the places of all other pages. The numbers 20 to 96 and those of the trunk are
 * from SQLite's file format. Does not interpret rows.
 *
 * Tests: test-damage, test-takeover, test-torture. */
#include "storage/spare.h"

#include "host/whole.h"

#include "storage/places/place.h"
#include "storage/sqlite-record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "satin spare page" /* 16 bytes, without the NUL */
#define MAGIC_BYTES 16
#define COUNTER_AT 24
#define N_PAGES_AT 28
#define FREE_AT 32 /* the first trunk, then the number of free pages */
#define HEADER_BYTES 100
#define PAGE_SIZE_MIN 512
#define PARITY_BYTES 64 /* summed at a time; divides every page size */
/* Version 1.0.0 reads a file of this size while it arrives, from its last 64 KiB on, in which it
 * must find the schema. */
#define EARLY_BYTES (4 * 1024 * 1024)
#define EARLY_SPARE_BYTES_MAX (48 * 1024)
/* A damaged file may have become longer. */
#define MEND_BYTES_MAX (2 * SPARE_BYTES_MAX)

/* Little-endian. The checksums follow. */
typedef struct
{
  char magic[MAGIC_BYTES];
  guint32 page_size, n_pages;
  guint64 sum; /* of all bytes behind it */
} SpareHead;

typedef struct
{
  const guint8 *file;
  gsize size;
  guint64 *sums; /* as stored */
  const guint8 *parity;
  gsize page_size, n_pages;
  gssize shift;       /* how far the bytes behind the damage have moved */
  guint8 *made;       /* the pages in their places */
  GHashTable *places; /* (nullable): checksum -> place; filled by the first search of all places */
} Mend;

/* Detects damage, not forgery: each row has its own proof. */
static guint64
sum_of (guint64 sum, const guint8 *bytes, gsize size)
{
  for (gsize i = 0; i + 8 <= size; i += 8)
    {
      guint64 word;
      memcpy (&word, bytes + i, sizeof word);
      sum = (sum ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      sum ^= sum >> 32;
    }
  return sum;
}

/* Ignores the bytes of the first page that other functions write later. */
static guint64
sum_of_page (gsize number, const guint8 *page, gsize page_size)
{
  guint8 first[HEADER_BYTES + 4];
  if (number > 0)
    return sum_of (page_size, page, page_size);
  memcpy (first, page, sizeof first);
  memset (first + COUNTER_AT, 0, 4);
  memset (first + PLACE_MARK_AT, 0, 4);
  return sum_of (sum_of (page_size, first, sizeof first), page + sizeof first,
                 page_size - sizeof first);
}

static void
add_parity (guint8 *parity, gsize number, const guint8 *page, gsize page_size)
{
  for (gsize i = 0; i < page_size; i += PARITY_BYTES)
    {
      guint64 sums[PARITY_BYTES / 8], words[PARITY_BYTES / 8];
      memcpy (sums, parity + i, sizeof sums);
      memcpy (words, page + i, sizeof words);
      for (gsize k = 0; k < G_N_ELEMENTS (sums); k++)
        sums[k] ^= words[k];
      memcpy (parity + i, sums, sizeof sums);
    }
  for (gsize i = 0; number == 0 && i < 4; i++)
    {
      parity[COUNTER_AT + i] ^= page[COUNTER_AT + i];
      parity[PLACE_MARK_AT + i] ^= page[PLACE_MARK_AT + i];
    }
}

static void
put_big (guint8 *to, gsize word)
{
  guint32 big = GUINT32_TO_BE ((guint32)word);
  memcpy (to, &big, sizeof big);
}

/* The whole file, with `more` bytes of zeros behind it. (transfer full) (nullable) */
static guint8 *
read_all (int fd, gsize size, gsize more)
{
  g_autofree guint8 *bytes = g_malloc0 (size + more);
  return whole_read_at (fd, bytes, size, 0) == (gssize)size ? g_steal_pointer (&bytes) : NULL;
}

static gsize
page_size_of (const guint8 *header)
{
  gsize size = (gsize)header[16] << 8 | header[17];
  return size == 1 ? 65536 : size;
}

static gboolean
is_page_size (gsize size)
{
  return size >= PAGE_SIZE_MIN && size <= 65536 && (size & (size - 1)) == 0;
}

static gsize
leaves_of (gsize n_pages, gsize page_size)
{
  gsize bytes = sizeof (SpareHead) + 8 * n_pages + page_size;
  return (bytes + page_size - 1) / page_size;
}

/* Writes the trunk and the leaves behind `n` pages. */
static void
fill (guint8 *bytes, gsize n, gsize page_size)
{
  gsize n_leaves = leaves_of (n, page_size);
  guint8 *trunk = bytes + n * page_size, *at = trunk + page_size + sizeof (SpareHead);
  g_autofree guint8 *parity = g_malloc0 (page_size);
  put_big (bytes + N_PAGES_AT, n + 1 + n_leaves);
  put_big (bytes + FREE_AT, n + 1);
  put_big (bytes + FREE_AT + 4, 1 + n_leaves);
  put_big (trunk + 4, n_leaves);
  for (gsize i = 0; i < n_leaves; i++)
    put_big (trunk + 8 + 4 * i, n + 2 + i);
  for (gsize i = 0; i < n; i++)
    {
      const guint8 *page = bytes + i * page_size;
      guint64 sum = GUINT64_TO_LE (sum_of_page (i, page, page_size));
      memcpy (at + 8 * i, &sum, sizeof sum);
      add_parity (parity, i, page, page_size);
    }
  memcpy (at + 8 * n, parity, page_size);
  SpareHead head = { .page_size = GUINT32_TO_LE ((guint32)page_size),
                     .n_pages = GUINT32_TO_LE ((guint32)n),
                     .sum = GUINT64_TO_LE (sum_of (n, at, 8 * n + page_size)) };
  memcpy (head.magic, MAGIC, MAGIC_BYTES);
  memcpy (trunk + page_size, &head, sizeof head);
}

gboolean
spare_add (int fd)
{
  struct stat status;
  guint8 header[HEADER_BYTES];
  if (fstat (fd, &status) != 0)
    return FALSE;
  gsize size = (gsize)status.st_size;
  if (size > SPARE_BYTES_MAX || size < sizeof header)
    return TRUE;
  if (whole_read_at (fd, header, sizeof header, 0) != (gssize)sizeof header)
    return FALSE;
  gsize page_size = page_size_of (header), n = is_page_size (page_size) ? size / page_size : 0;
  gsize n_leaves = n > 0 ? leaves_of (n, page_size) : 0;
  gsize more = (1 + n_leaves) * page_size;
  if (n == 0 || n * page_size != size || record_load_big (header + FREE_AT) != 0
      || n_leaves > page_size / 4 - 8 || size + more >= SPARE_BYTES_MAX
      || (size + more >= EARLY_BYTES && more > EARLY_SPARE_BYTES_MAX))
    return TRUE;
  g_autofree guint8 *bytes = read_all (fd, size, more);
  if (bytes == NULL)
    return FALSE;
  fill (bytes, n, page_size);
  return whole_write_at (fd, bytes + size, more, size)
         && whole_write_at (fd, bytes, HEADER_BYTES, 0);
}

/* TRUE: SQLite has changed the file since it was published, by its header. */
static gboolean
is_written (const guint8 *header, gsize size)
{
  return size >= HEADER_BYTES && memcmp (header, "SQLite format 3", 16) == 0
         && memcmp (header + COUNTER_AT, header + PLACE_MARK_AT, 4) == 0;
}

/* FALSE: there are no sound spare pages at `at`. */
static gboolean
take_head (Mend *mend, gsize at)
{
  SpareHead head;
  gsize left = mend->size - at;
  if (left < sizeof head)
    return FALSE;
  memcpy (&head, mend->file + at, sizeof head);
  mend->page_size = GUINT32_FROM_LE (head.page_size);
  mend->n_pages = GUINT32_FROM_LE (head.n_pages);
  left -= sizeof head;
  if (!is_page_size (mend->page_size) || mend->n_pages == 0
      || mend->n_pages > SPARE_BYTES_MAX / mend->page_size
      || left < 8 * mend->n_pages + mend->page_size)
    return FALSE;
  const guint8 *sums = mend->file + at + sizeof head;
  if (sum_of (mend->n_pages, sums, 8 * mend->n_pages + mend->page_size)
      != GUINT64_FROM_LE (head.sum))
    return FALSE;
  mend->sums = g_memdup2 (sums, 8 * mend->n_pages);
  mend->parity = sums + 8 * mend->n_pages;
  mend->shift = (gssize)at - (gssize)((mend->n_pages + 1) * mend->page_size);
  return TRUE;
}

static gboolean
find_head (Mend *mend)
{
  const guint8 *at = mend->file;
  while ((at = memmem (at, mend->size - (gsize)(at - mend->file), MAGIC, MAGIC_BYTES)) != NULL)
    {
      if (take_head (mend, (gsize)(at - mend->file)))
        return TRUE;
      at++;
    }
  return FALSE;
}

static gboolean
is_page_at (const Mend *mend, gsize number, gssize at)
{
  return at >= 0 && (gsize)at + mend->page_size <= mend->size
         && sum_of_page (number, mend->file + at, mend->page_size)
                == GUINT64_FROM_LE (mend->sums[number]);
}

/* TRUE: page `number` was found at `at` and copied to its place. */
static gboolean
take_page (Mend *mend, gsize number, gssize at)
{
  if (!is_page_at (mend, number, at))
    return FALSE;
  memcpy (mend->made + number * mend->page_size, mend->file + at, mend->page_size);
  return TRUE;
}

static void
add_place (Mend *mend, gssize at)
{
  if (at < 0 || (gsize)at + mend->page_size > mend->size)
    return;
  guint64 sum = sum_of_page (1, mend->file + at, mend->page_size);
  g_hash_table_insert (mend->places, g_memdup2 (&sum, sizeof sum), GSIZE_TO_POINTER (at));
}

/* All places are summed once, so many lost pages cost no more than one. */
static gboolean
look_everywhere (Mend *mend, gsize number)
{
  gpointer at;
  guint64 sum = GUINT64_FROM_LE (mend->sums[number]);
  if (mend->places == NULL)
    {
      mend->places = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
      for (gsize i = 0; i < mend->n_pages; i++)
        {
          add_place (mend, (gssize)(i * mend->page_size));
          add_place (mend, (gssize)(i * mend->page_size) + mend->shift);
        }
    }
  return g_hash_table_lookup_extended (mend->places, &sum, NULL, &at)
         && take_page (mend, number, (gssize)GPOINTER_TO_SIZE (at));
}

/* Restores the missing page from all other pages and the parity. */
static void
make_page (Mend *mend, gsize number)
{
  g_autofree guint8 *page = g_memdup2 (mend->parity, mend->page_size);
  for (gsize i = 0; i < mend->n_pages; i++)
    if (i != number)
      add_parity (page, i, mend->made + i * mend->page_size, mend->page_size);
  if (sum_of_page (number, page, mend->page_size) == GUINT64_FROM_LE (mend->sums[number]))
    memcpy (mend->made + number * mend->page_size, page, mend->page_size);
}

static void
mend_pages (Mend *mend)
{
  gsize n_lost = 0, lost = 0;
  gsize bytes = mend->n_pages * mend->page_size;
  mend->made = g_malloc0 (bytes);
  for (gsize i = 0; i < mend->n_pages; i++)
    {
      gsize at = i * mend->page_size;
      if (take_page (mend, i, (gssize)at) || take_page (mend, i, (gssize)at + mend->shift)
          || look_everywhere (mend, i))
        continue;
      n_lost++;
      lost = i;
      if (at < mend->size)
        memcpy (mend->made + at, mend->file + at, MIN (mend->page_size, mend->size - at));
    }
  if (n_lost == 1)
    make_page (mend, lost);
}

/* Reads the file, to which *mend refers. (transfer full) (nullable): NULL: it has no sound spare
 * pages. `is_copy`: the file has no mark yet (publish.c), so its header is as SQLite writes it. */
static guint8 *
begin_mend (int fd, gboolean is_copy, Mend *mend)
{
  struct stat status;
  *mend = (Mend){ 0 };
  if (fstat (fd, &status) != 0 || status.st_size <= 0 || status.st_size > MEND_BYTES_MAX)
    return NULL;
  mend->size = (gsize)status.st_size;
  g_autofree guint8 *file = read_all (fd, mend->size, 0);
  mend->file = file;
  return file != NULL && (is_copy || !is_written (file, mend->size)) && find_head (mend)
             ? g_steal_pointer (&file)
             : NULL;
}

static gboolean
has_none (int fd)
{
  guint8 header[HEADER_BYTES];
  return whole_read_at (fd, header, sizeof header, 0) != (gssize)sizeof header
         || record_load_big (header + FREE_AT) == 0;
}

/* `is_copy`: the spare pages must be there. */
static gboolean
agrees (int fd, gboolean is_copy)
{
  Mend mend;
  g_autofree guint8 *file = begin_mend (fd, is_copy, &mend);
  gboolean good = file != NULL || !is_copy;
  for (gsize i = 0; file != NULL && good && i < mend.n_pages; i++)
    good = is_page_at (&mend, i, (gssize)(i * mend.page_size));
  g_free (mend.sums);
  return good;
}

gboolean
spare_agrees (int fd)
{
  return has_none (fd) || agrees (fd, FALSE);
}

gboolean
spare_is_whole (int fd)
{
  return has_none (fd) || agrees (fd, TRUE);
}

/* TRUE: the list of free pages is as fill() wrote it: the trunk, which lists the leaves in
 * order. */
static gboolean
is_list_sound (const Mend *mend)
{
  const guint8 *trunk = mend->file + mend->n_pages * mend->page_size;
  gsize n_leaves = leaves_of (mend->n_pages, mend->page_size);
  gboolean good = record_load_big (mend->file + FREE_AT) == mend->n_pages + 1
                  && record_load_big (mend->file + FREE_AT + 4) == n_leaves + 1
                  && record_load_big (trunk) == 0 && record_load_big (trunk + 4) == n_leaves;
  for (gsize i = 0; good && i < n_leaves; i++)
    good = record_load_big (trunk + 8 + 4 * i) == mend->n_pages + 2 + i;
  return good;
}

gboolean
spare_are_all (int fd)
{
  Mend mend;
  guint8 header[HEADER_BYTES];
  if (whole_read_at (fd, header, sizeof header, 0) != (gssize)sizeof header)
    return FALSE;
  if (record_load_big (header + FREE_AT) == 0 && record_load_big (header + FREE_AT + 4) == 0)
    return TRUE;
  g_autofree guint8 *file = begin_mend (fd, TRUE, &mend);
  gboolean good = file != NULL && mend.shift == 0 && is_list_sound (&mend);
  g_free (mend.sums);
  return good;
}

int
spare_mend (int fd)
{
  Mend mend;
  g_autofree guint8 *file = begin_mend (fd, FALSE, &mend);
  if (file == NULL)
    return -1;
  mend_pages (&mend);
  int made = memfd_create ("satin-mend", MFD_CLOEXEC);
  if (made >= 0 && !whole_write_at (made, mend.made, mend.n_pages * mend.page_size, 0))
    {
      (void)close (made);
      made = -1;
    }
  g_clear_pointer (&mend.places, g_hash_table_destroy);
  g_free (mend.made);
  g_free (mend.sums);
  return made;
}
