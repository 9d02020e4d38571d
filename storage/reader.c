/* SPDX-License-Identifier: BSD-3-Clause */
/* A VFS over SQLite's own, for files that are opened read only and immutable: a look at each page
 * costs a call of the system, which is dear with small pages. Must not know what is in files. */
#include "storage/reader.h"

#include "storage/places/arrival.h"

#include <sqlite3.h>
#include <string.h>

#define BLOCK_BYTES (64 * 1024)
#define N_BLOCKS 8 /* SQLite goes to and fro between pages that lie near each other */

typedef struct
{
  guint8 *bytes; /* (nullable) */
  sqlite3_int64 at, end;
} ReaderBlock;

typedef struct
{
  sqlite3_file base;         /* first: SQLite's */
  Arrival *arrival;          /* (nullable) */
  sqlite3_int64 bytes, last; /* last: where the last reading began */
  ReaderBlock blocks[N_BLOCKS];
  sqlite3_file *file; /* behind this */
} Reader;

static int
reader_close (sqlite3_file *base)
{
  Reader *reader = (Reader *)base;
  g_clear_pointer (&reader->arrival, arrival_free);
  for (gsize i = 0; i < N_BLOCKS; i++)
    g_clear_pointer (&reader->blocks[i].bytes, g_free);
  return reader->file->pMethods->xClose (reader->file);
}

/* (nullable): the block that holds all of what is asked for, or would when it was read. */
static ReaderBlock *
block_of (Reader *reader, sqlite3_int64 from, int size)
{
  sqlite3_int64 number = from / BLOCK_BYTES;
  return (from + size - 1) / BLOCK_BYTES == number ? &reader->blocks[number % N_BLOCKS] : NULL;
}

static gboolean
is_in (const ReaderBlock *block, sqlite3_int64 from, int size)
{
  return from >= block->at && from + size <= block->end;
}

/* As far as it is there. */
static int
fill (Reader *reader, ReaderBlock *block, sqlite3_int64 from)
{
  sqlite3_int64 at = from - from % BLOCK_BYTES;
  sqlite3_int64 end = MIN (at + BLOCK_BYTES, reader->bytes);
  if (reader->arrival != NULL)
    end = MIN (end, (sqlite3_int64)arrival_reach (reader->arrival, (guint64)at));
  if (block->bytes == NULL)
    block->bytes = g_malloc (BLOCK_BYTES);
  block->at = block->end = at;
  if (end <= from)
    return SQLITE_OK;
  int code = reader->file->pMethods->xRead (reader->file, block->bytes, (int)(end - at), at);
  if (code == SQLITE_OK)
    block->end = end;
  return code;
}

static int
reader_read (sqlite3_file *base, void *to, int size, sqlite3_int64 from)
{
  Reader *reader = (Reader *)base;
  ReaderBlock *block = block_of (reader, from, size);
  gboolean is_near = from - reader->last < BLOCK_BYTES && reader->last - from < BLOCK_BYTES;
  int code = SQLITE_OK;
  reader->last = from;
  if (block != NULL && is_in (block, from, size))
    {
      memcpy (to, block->bytes + (from - block->at), (gsize)size);
      return SQLITE_OK;
    }
  if (reader->arrival != NULL
      && !arrival_wait (reader->arrival, (guint64)from, (guint64)(from + size)))
    return SQLITE_IOERR_READ;
  if (block != NULL && is_near)
    code = fill (reader, block, from);
  if (code == SQLITE_OK && block != NULL && is_in (block, from, size))
    memcpy (to, block->bytes + (from - block->at), (gsize)size);
  else if (code == SQLITE_OK)
    code = reader->file->pMethods->xRead (reader->file, to, size, from);
  return code;
}

static int
reader_size (sqlite3_file *base, sqlite3_int64 *size)
{
  *size = ((Reader *)base)->bytes;
  return SQLITE_OK;
}

static int
never_write (sqlite3_file *base, const void *from, int size, sqlite3_int64 at)
{
  (void)base, (void)from, (void)size, (void)at;
  return SQLITE_READONLY;
}

static int
never_truncate (sqlite3_file *base, sqlite3_int64 size)
{
  (void)base, (void)size;
  return SQLITE_READONLY;
}

static int
do_nothing (sqlite3_file *base, int how)
{
  (void)base, (void)how;
  return SQLITE_OK;
}

static int
is_reserved (sqlite3_file *base, int *answer)
{
  (void)base;
  *answer = 0;
  return SQLITE_OK;
}

static int
know_no_words (sqlite3_file *base, int word, void *data)
{
  (void)base, (void)word, (void)data;
  return SQLITE_NOTFOUND;
}

static int
sector_bytes (sqlite3_file *base)
{
  (void)base;
  return 4096;
}

static int
characteristics (sqlite3_file *base)
{
  (void)base;
  return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods reader_methods = { .iVersion = 1,
                                                   .xClose = reader_close,
                                                   .xRead = reader_read,
                                                   .xWrite = never_write,
                                                   .xTruncate = never_truncate,
                                                   .xSync = do_nothing,
                                                   .xFileSize = reader_size,
                                                   .xLock = do_nothing,
                                                   .xUnlock = do_nothing,
                                                   .xCheckReservedLock = is_reserved,
                                                   .xFileControl = know_no_words,
                                                   .xSectorSize = sector_bytes,
                                                   .xDeviceCharacteristics = characteristics };

static sqlite3_vfs reader_over;

/* SQLite's own temporary files are none of ours. */
static int
reader_open (sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *flags_out)
{
  sqlite3_vfs *own = vfs->pAppData;
  Reader *reader = (Reader *)base;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
    return own->xOpen (own, name, base, flags, flags_out);
  memset (reader, 0, sizeof *reader);
  reader->file = (sqlite3_file *)(reader + 1);
  reader->arrival = arrival_open (name);
  int code = own->xOpen (own, name, reader->file, flags, flags_out);
  if (code == SQLITE_OK && reader->arrival != NULL)
    reader->bytes = (sqlite3_int64)arrival_bytes (reader->arrival);
  else if (code == SQLITE_OK)
    code = reader->file->pMethods->xFileSize (reader->file, &reader->bytes);
  if (code == SQLITE_OK)
    {
      reader->base.pMethods = &reader_methods;
      return SQLITE_OK;
    }
  g_clear_pointer (&reader->arrival, arrival_free);
  if (reader->file->pMethods != NULL)
    (void)reader->file->pMethods->xClose (reader->file);
  return code;
}

const char *
reader_vfs (void)
{
  static gsize once;
  if (g_once_init_enter (&once))
    {
      sqlite3_vfs *own = sqlite3_vfs_find (NULL);
      reader_over = *own;
      reader_over.pNext = NULL;
      reader_over.zName = "satin-reader";
      reader_over.pAppData = own;
      reader_over.szOsFile = (int)sizeof (Reader) + own->szOsFile;
      reader_over.xOpen = reader_open;
      g_once_init_leave (&once, sqlite3_vfs_register (&reader_over, 0) == SQLITE_OK ? 1 : 2);
    }
  return once == 1 ? reader_over.zName : NULL;
}
