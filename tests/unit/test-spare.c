/* SPDX-License-Identifier: BSD-3-Clause */
/* Spare pages, in files that have nothing of a database except its header. */
#include "storage/spare.h"

#include "host/whole.h"

#include "storage/places/place.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNTER_AT 24
#define FREE_AT 32

typedef struct
{
  guint8 *bytes; /* the published file: pages, trunk, leaves */
  gsize size, page_size, n;
} File;

static void
put_big (guint8 *to, guint32 word)
{
  word = GUINT32_TO_BE (word);
  memcpy (to, &word, sizeof word);
}

static guint32
big_at (const guint8 *from)
{
  guint32 word;

  memcpy (&word, from, sizeof word);
  return GUINT32_FROM_BE (word);
}

static int
fd_of (const guint8 *bytes, gsize size)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);

  g_assert_true (fd >= 0 && whole_write_at (fd, bytes, size, 0));
  return fd;
}

/* (transfer full): all bytes of a descriptor, which is closed. */
static guint8 *
bytes_of (int fd, gsize *size)
{
  struct stat status;

  g_assert_cmpint (fstat (fd, &status), ==, 0);
  guint8 *bytes = g_malloc ((gsize)status.st_size + 1);
  *size = (gsize)status.st_size;
  g_assert_cmpint (whole_read_at (fd, bytes, *size, 0), ==, status.st_size);
  close (fd);
  return bytes;
}

/* (transfer full): pages as SQLite has just copied them, all different. */
static guint8 *
pages_new (gsize page_size, gsize n)
{
  guint8 *bytes = g_malloc0 (n * page_size + 1);
  guint32 word = 12345;

  for (gsize i = 0; i < n * page_size; i++)
    {
      word = word * 1664525 + 1013904223;
      bytes[i] = (guint8)(word >> 24);
    }
  memcpy (bytes, "SQLite format 3", 16);
  bytes[16] = (guint8)((page_size & 0xffff) >> 8);
  bytes[17] = page_size == 65536;
  put_big (bytes + COUNTER_AT, 3);
  put_big (bytes + PLACE_MARK_AT, 3);
  put_big (bytes + FREE_AT, 0);
  put_big (bytes + FREE_AT + 4, 0);
  return bytes;
}

static void
mark (guint8 *bytes)
{
  put_big (bytes + COUNTER_AT, 77);
  put_big (bytes + PLACE_MARK_AT, 1234567);
}

/* A file with spare pages. */
static File
file_new (gsize page_size, gsize n)
{
  File file = { .page_size = page_size, .n = n };
  g_autofree guint8 *pages = pages_new (page_size, n);
  int fd = fd_of (pages, n * page_size);

  g_assert_true (spare_add (fd));
  g_assert_true (spare_is_whole (fd));
  g_assert_true (spare_are_all (fd));
  file.bytes = bytes_of (fd, &file.size);
  g_assert_cmpuint (file.size, >, n * page_size);
  g_assert_cmpuint (file.size % page_size, ==, 0);
  mark (file.bytes);
  return file;
}

static void
file_clear (File *file)
{
  g_free (file->bytes);
}

/* Clears the two fields of the first page that do not belong to the spare pages. */
static void
wipe_marks (guint8 *bytes)
{
  memset (bytes + COUNTER_AT, 0, 4);
  memset (bytes + PLACE_MARK_AT, 0, 4);
}

/* (transfer full) (nullable): the repaired file, without the marks. */
static guint8 *
mended (const guint8 *bytes, gsize size, gsize *made_size)
{
  int fd = fd_of (bytes, size), made = spare_mend (fd);

  close (fd);
  guint8 *result = made >= 0 ? bytes_of (made, made_size) : NULL;
  if (result != NULL)
    wipe_marks (result);
  return result;
}

static void
mends_to (const File *file, const guint8 *bytes, gsize size)
{
  gsize made_size = 0;
  g_autofree guint8 *wanted = g_memdup2 (file->bytes, file->n * file->page_size);
  g_autofree guint8 *made = mended (bytes, size, &made_size);

  wipe_marks (wanted);
  g_assert_nonnull (made);
  g_assert_cmpmem (made, made_size, wanted, file->n * file->page_size);
}

static gboolean
agrees (const guint8 *bytes, gsize size)
{
  int fd = fd_of (bytes, size);
  gboolean good = spare_agrees (fd);

  close (fd);
  return good;
}

static gboolean
are_all (const guint8 *bytes, gsize size)
{
  int fd = fd_of (bytes, size);
  gboolean good = spare_are_all (fd);

  close (fd);
  return good;
}

static const gsize page_sizes[] = { 512, 4096, 65536 };

/* Any lost page is restored, whichever part of it is wrong. */
static void
one_page_is_made_anew (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (page_sizes); k++)
    {
      File file = file_new (page_sizes[k], 7);

      g_assert_true (agrees (file.bytes, file.size));
      g_assert_true (are_all (file.bytes, file.size));
      mends_to (&file, file.bytes, file.size);
      for (gsize i = 0; i < file.n; i++)
        for (guint where = 0; where < 3; where++)
          {
            g_autofree guint8 *bytes = g_memdup2 (file.bytes, file.size);
            gsize at = where == 0 ? 101 : where == 1 ? file.page_size / 2 : file.page_size - 1;
            bytes[i * file.page_size + at] ^= 4;
            if (where == 1)
              memset (bytes + i * file.page_size + (i == 0 ? 200 : 0), 0xee, file.page_size / 4);
            g_assert_false (agrees (bytes, file.size));
            mends_to (&file, bytes, file.size);
          }
      file_clear (&file);
    }
}

/* If two pages are lost neither is guessed: they stay as they were found, and all others are
 * whole. */
static void
two_pages_are_not_guessed (void)
{
  File file = file_new (512, 7);
  g_autofree guint8 *bytes = g_memdup2 (file.bytes, file.size);
  gsize size = 0;

  bytes[2 * 512 + 9] ^= 1;
  bytes[5 * 512 + 9] ^= 1;
  g_autofree guint8 *made = mended (bytes, file.size, &size);
  wipe_marks (bytes);
  g_assert_cmpmem (made, size, bytes, file.n * 512);
  file_clear (&file);
}

/* Inserted or removed bytes move all bytes after them, including the spare pages. */
static void
pages_are_found_where_they_lie (void)
{
  static const gssize shifts[] = { 512, 1024, 100, -512, -1, -512 - 7, 3 * 512 };
  File file = file_new (512, 7);

  for (guint k = 0; k < G_N_ELEMENTS (shifts); k++)
    for (gsize at = 0; at + 1536 < file.n * 512; at += 256)
      {
        gsize more = (gsize)MAX (shifts[k], 0), less = (gsize)MAX (-shifts[k], 0);
        g_autofree guint8 *bytes = g_malloc0 (file.size + more);
        gboolean two = less > 0 && at / 512 != (at + less - 1) / 512; /* damaged pages */
        gsize size = 0;

        memcpy (bytes, file.bytes, at);
        memcpy (bytes + at + more, file.bytes + at + less, file.size - at - less);
        if (!two)
          mends_to (&file, bytes, file.size + more - less);
        if (less == 0 && at % 512 == 0) /* then no page is damaged, and one more may be */
          {
            bytes[(at > 512 ? 0 : more) + 512 + 9] ^= 1;
            mends_to (&file, bytes, file.size + more);
          }
        if (two)
          {
            g_autofree guint8 *made = mended (bytes, file.size - less, &size);
            gsize last = (at + less - 1) / 512 + 1;
            g_assert_cmpmem (made + last * 512, size - last * 512, file.bytes + last * 512,
                             file.n * 512 - last * 512);
          }
        g_assert_true (at < 512 || !are_all (bytes, file.size + more - less));
      }
  file_clear (&file);
}

/* A file of the most bytes that have spare pages is mended, too, if it has become longer. */
static void
the_longest_file_is_mended (void)
{
  File file = file_new (4096, SPARE_BYTES_MAX / 4096 - 12);
  gsize more = 3 * 4096, at = file.n / 2 * 4096;
  g_autofree guint8 *bytes = g_malloc0 (file.size + more);

  g_assert_cmpuint (file.size + more, >, SPARE_BYTES_MAX);
  memcpy (bytes, file.bytes, at);
  memcpy (bytes + at + more, file.bytes + at, file.size - at);
  mends_to (&file, bytes, file.size + more);
  file_clear (&file);
}

/* Pages that were exchanged, whole or in part. */
static void
pages_go_back_to_their_places (void)
{
  File file = file_new (512, 7);

  for (guint more = 0; more <= 1; more++)
    {
      g_autofree guint8 *bytes = g_malloc0 (file.size + 512);
      memcpy (bytes, file.bytes, 512);
      memcpy (bytes + 512 + 100 * more, file.bytes + 512, file.size - 512);
      guint8 *pages = bytes + 100 * more;
      for (guint i = 2; i < 6; i++)
        memcpy (pages + i * 512, file.bytes + (7 - i) * 512, 512);
      mends_to (&file, bytes, file.size + 100 * more);
    }
  file_clear (&file);
}

/* Damaged spare pages are not used, neither for checking nor for repair. */
static void
damaged_spare_pages_are_none (void)
{
  File file = file_new (512, 7);
  gsize first = (file.n + 1) * 512, n = 16 + 8 + 8 + 8 * file.n + 512;

  for (gsize i = 0; i < n; i++)
    {
      gsize size = 0;
      g_autofree guint8 *bytes = g_memdup2 (file.bytes, file.size);
      bytes[first + i] ^= 0x10;
      bytes[3 * 512 + 9] ^= 1; /* sound spare pages would find this */
      g_assert_null (mended (bytes, file.size, &size));
      g_assert_true (agrees (bytes, file.size));             /* nothing contradicts */
      memcpy (bytes + PLACE_MARK_AT, bytes + COUNTER_AT, 4); /* before the mark */
      int fd = fd_of (bytes, file.size);
      g_assert_false (spare_is_whole (fd));
      close (fd);
    }
  for (gsize left = 0; left < file.size; left += 100)
    {
      gsize size = 0;
      g_autofree guint8 *made = mended (file.bytes, left, &size);
      g_assert_cmpint (made != NULL, ==, left >= first + n);
    }
  file_clear (&file);
}

/* When SQLite has written to a file its spare pages do not fit any more. */
static void
a_file_that_was_written_to_is_left_alone (void)
{
  File file = file_new (512, 7);
  gsize size = 0;

  memcpy (file.bytes + PLACE_MARK_AT, file.bytes + COUNTER_AT, 4);
  file.bytes[3 * 512 + 9] ^= 1;
  g_assert_null (mended (file.bytes, file.size, &size));
  g_assert_true (agrees (file.bytes, file.size));
  file_clear (&file);
}

/* Each entry of the list of free pages is checked. */
static void
no_other_page_is_free (void)
{
  File file = file_new (512, 100);
  guint8 *trunk = file.bytes + file.n * 512;
  gsize n_leaves = file.size / 512 - file.n - 1;
  g_autofree guint8 *pages = pages_new (512, 100);

  g_assert_cmpuint (big_at (file.bytes + FREE_AT), ==, file.n + 1);
  g_assert_cmpuint (big_at (file.bytes + FREE_AT + 4), ==, n_leaves + 1);
  g_assert_true (are_all (pages, 100 * 512));
  g_assert_true (are_all (file.bytes, file.size));
  for (gsize i = 0; i < n_leaves + 4; i++)
    {
      guint8 *entry = i < 2 ? file.bytes + FREE_AT + 4 * i : trunk + 4 * (i - 2);
      guint32 before = big_at (entry);
      put_big (entry, 33);
      g_assert_false (are_all (file.bytes, file.size));
      put_big (entry, before);
    }
  g_assert_true (are_all (file.bytes, file.size));
  file_clear (&file);
}

/* Files that get no spare pages and are not changed: those that are too large, that have free
 * pages, or that do not consist of pages. */
static void
some_files_get_none (void)
{
  static const struct
  {
    gsize page_size, n, more; /* bytes behind the last page */
    guint32 first_free;
    gboolean gets;
  } cases[] = {
    { 4096, 4085, 0, 0, TRUE }, { 4096, 4086, 0, 0, FALSE }, /* 16 MiB with them */
    { 1024, 4096, 0, 0, TRUE }, { 1024, 6000, 0, 0, FALSE }, /* too many for an earlier version */
    { 512, 7600, 0, 0, TRUE },  { 512, 7640, 0, 0, FALSE },  /* more than a trunk names */
    { 512, 7, 0, 3, FALSE },    { 512, 7, 1, 0, FALSE },     { 512, 7, 511, 0, FALSE },
    { 256, 7, 0, 0, FALSE },    { 768, 7, 0, 0, FALSE },     { 512, 1, 0, 0, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize size = cases[i].n * cases[i].page_size + cases[i].more, after;
      g_autofree guint8 *pages = g_realloc (pages_new (cases[i].page_size, cases[i].n), size + 1);
      put_big (pages + FREE_AT, cases[i].first_free);
      int fd = fd_of (pages, size);
      g_assert_true (spare_add (fd));
      g_assert_true (cases[i].first_free > 0 || spare_is_whole (fd));
      g_autofree guint8 *bytes = bytes_of (fd, &after);
      if ((after > size) != cases[i].gets)
        g_error ("case %u", i);
      if (!cases[i].gets)
        g_assert_cmpmem (bytes, after, pages, size);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/spare/one-page-is-made-anew", one_page_is_made_anew);
  g_test_add_func ("/spare/two-pages-are-not-guessed", two_pages_are_not_guessed);
  g_test_add_func ("/spare/pages-are-found-where-they-lie", pages_are_found_where_they_lie);
  g_test_add_func ("/spare/the-longest-file-is-mended", the_longest_file_is_mended);
  g_test_add_func ("/spare/pages-go-back-to-their-places", pages_go_back_to_their_places);
  g_test_add_func ("/spare/damaged-spare-pages-are-none", damaged_spare_pages_are_none);
  g_test_add_func ("/spare/a-file-that-was-written-to-is-left-alone",
                   a_file_that_was_written_to_is_left_alone);
  g_test_add_func ("/spare/no-other-page-is-free", no_other_page_is_free);
  g_test_add_func ("/spare/some-files-get-none", some_files_get_none);
  return g_test_run ();
}
