/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes two builds of a program the same (node/build.c): the build-ids of the program and of
 * its own shared objects, or the bytes of a file without one. The test plays the loader. */
#include "node/build.h"

#include <elf.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 4
#define NO_ID "" /* the object has notes, but none with a build-id */

/* An object that is loaded. The first one is the program. */
typedef struct
{
  const char *name;
  const char *id; /* (nullable) the build-id; NULL: no notes at all */
} Part;

typedef struct
{
  GByteArray *notes;
  gsize align, begin, size; /* of the segment of notes: where it begins, and its size */
} Segment;

static const Part *loaded;
static Segment (*segment_of) (const Part *part);
static const char *program_at = "/opt/app/bin/app";

/* ---- the loader, played here ---- */

static void
pad (GByteArray *to, gsize align)
{
  static const guint8 zeros[8];

  g_byte_array_append (to, zeros, (guint)((align - to->len % align) % align));
}

static void
add_note (Segment *segment, guint32 type, const char *name, gsize name_size, const char *value)
{
  ElfW (Nhdr) head
      = { .n_namesz = (guint32)name_size, .n_descsz = (guint32)strlen (value), .n_type = type };

  g_byte_array_append (segment->notes, (const guint8 *)&head, sizeof head);
  g_byte_array_append (segment->notes, (const guint8 *)name, (guint)name_size);
  pad (segment->notes, segment->align);
  g_byte_array_append (segment->notes, (const guint8 *)value, head.n_descsz);
  pad (segment->notes, segment->align);
  segment->size = segment->notes->len;
}

static Segment
only_the_id (const Part *part)
{
  Segment segment = { g_byte_array_new (), 4, 0, 0 };

  add_note (&segment, *part->id != '\0' ? NT_GNU_BUILD_ID : NT_GNU_ABI_TAG, "GNU", 4, part->id);
  return segment;
}

int __wrap_dl_iterate_phdr (int (*call) (struct dl_phdr_info *, size_t, void *), void *data);

int
__wrap_dl_iterate_phdr (int (*call) (struct dl_phdr_info *, size_t, void *), void *data)
{
  for (guint i = 0; i < PARTS_MAX && loaded[i].name != NULL; i++)
    {
      Segment segment = { 0 };
      ElfW (Phdr) phdrs[2] = { { .p_type = PT_LOAD }, { .p_type = PT_LOAD } };
      struct dl_phdr_info info
          = { .dlpi_name = loaded[i].name, .dlpi_phdr = phdrs, .dlpi_phnum = G_N_ELEMENTS (phdrs) };

      if (loaded[i].id != NULL)
        {
          segment = segment_of (&loaded[i]);
          phdrs[0].p_memsz = phdrs[1].p_memsz = segment.size;
          phdrs[1].p_type = PT_NOTE;
          phdrs[1].p_align = segment.align;
          phdrs[1].p_vaddr = segment.begin;
          info.dlpi_addr = (guintptr)segment.notes->data;
        }
      g_assert_cmpint (call (&info, sizeof info, data), ==, 0);
      if (segment.notes != NULL)
        g_byte_array_unref (segment.notes);
    }
  return 0;
}

char *__real_realpath (const char *path, char *resolved);
char *__wrap_realpath (const char *path, char *resolved);
char *__wrap___realpath_chk (const char *path, char *resolved, size_t size);

char *
__wrap_realpath (const char *path, char *resolved)
{
  if (strcmp (path, "/proc/self/exe") != 0)
    return __real_realpath (path, resolved);
  g_strlcpy (resolved, program_at, PATH_MAX);
  return resolved;
}

/* The name that the compiler may give it. */
char *
__wrap___realpath_chk (const char *path, char *resolved, size_t size)
{
  g_assert_cmpuint (size, >=, PATH_MAX);
  return __wrap_realpath (path, resolved);
}

/* (transfer full) (nullable) */
static char *
build_of (const Part parts[PARTS_MAX])
{
  loaded = parts;
  return build_of_program ();
}

static gboolean
are_same (const Part one[PARTS_MAX], const Part other[PARTS_MAX])
{
  g_autofree char *first = build_of (one), *second = build_of (other);

  g_assert_nonnull (first);
  g_assert_nonnull (second);
  return strcmp (first, second) == 0;
}

/* ---- rules ---- */

static const Part usual[PARTS_MAX] = { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" } };

static void
each_object_of_the_program_counts (void)
{
  static const Part others[][PARTS_MAX] = {
    { { "", "aaab" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbc" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbbb" } },
    { { "", "aaaa" }, { "/opt/lib/liby.so", "bbbb" } },
    { { "", "bbbb" }, { "/opt/lib/libx.so", "aaaa" } },
    { { "", "aaaa" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" }, { "/opt/lib/liby.so", "cccc" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" }, { "/usr/local/lib/liby.so", "cccc" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" }, { "/usrlocal/liby.so", "cccc" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" }, { "/library/liby.so", "cccc" } },
    { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" }, { "/opt/lib/libx.so", "bbbb" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (are_same (usual, others[i]))
      g_error ("build %u counts as the same", i);
}

/* Hosts of one run differ in their systems, in their folders, and in the order of loading. */
static void
what_differs_between_hosts_does_not_count (void)
{
  static const Part two[PARTS_MAX]
      = { { "", "aaaa" }, { "/opt/lib/libx.so", "bbbb" }, { "/opt/lib/liby.so", "cccc" } };
  static const Part turned[PARTS_MAX]
      = { { "", "aaaa" }, { "/home/me/liby.so", "cccc" }, { "/opt/lib/libx.so", "bbbb" } };
  static const Part others[][PARTS_MAX] = {
    { { "app", "aaaa" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/home/me/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "linux-vdso.so.1", "dddd" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/lib/libq.so", "dddd" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/lib64/libq.so", "dddd" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/usr/lib/none/libq.so", "dddd" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/opt/tool/libtool.so", "dddd" }, { "/opt/lib/libx.so", "bbbb" } },
    { { "", "aaaa" }, { "/opt/more/libmore.so", "dddd" }, { "/opt/lib/libx.so", "bbbb" } },
  };

  g_setenv ("LD_PRELOAD", "/opt/tool/libtool.so:/opt/more/libmore.so", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (!are_same (usual, others[i]))
      g_error ("build %u counts as another", i);
  g_setenv ("LD_PRELOAD", "/opt/tool/libtool.so", TRUE);
  g_assert_false (are_same (usual, others[G_N_ELEMENTS (others) - 1]));
  g_unsetenv ("LD_PRELOAD");
  g_assert_true (are_same (two, turned));
}

/* A program that is installed in a folder of the system brings its objects there, too. */
static void
objects_beside_the_program_count (void)
{
  static const Part with[PARTS_MAX] = { { "", "aaaa" }, { "/usr/lib/app/libq.so", "dddd" } };
  static const Part without[PARTS_MAX] = { { "", "aaaa" } };

  g_assert_true (are_same (with, without));
  program_at = "/usr/lib/app/app";
  g_assert_false (are_same (with, without));
  program_at = "/usr/lib/ap/app";
  g_assert_true (are_same (with, without));
  program_at = "/opt/app/bin/app";
}

/* ---- where the build-id stands among the notes ---- */

static gsize notes_align;

/* Notes that look like a build-id stand before it, and one behind it. */
static Segment
among_others (const Part *part)
{
  Segment segment = { g_byte_array_new (), notes_align, 0, 0 };

  add_note (&segment, NT_GNU_ABI_TAG, "GNU", 4, "wrong type");
  add_note (&segment, NT_GNU_BUILD_ID, "GNV", 4, "name");
  add_note (&segment, NT_GNU_BUILD_ID, "GNU\0", 5, "longer name");
  add_note (&segment, NT_GNU_BUILD_ID, "GNU", 3, "shorter name");
  add_note (&segment, NT_GNU_BUILD_ID, "GNU", 4, "");
  add_note (&segment, NT_GNU_BUILD_ID, "GNU", 4, part->id);
  add_note (&segment, NT_GNU_BUILD_ID, "GNU", 4, "second");
  return segment;
}

static Segment
behind_the_start (const Part *part)
{
  Segment segment = only_the_id (part);
  gsize before = segment.notes->len;

  add_note (&segment, NT_GNU_BUILD_ID, "GNU", 4, "other");
  segment.begin = before;
  segment.size -= before;
  return segment;
}

/* The last note has no room for padding. */
static Segment
up_to_the_end (const Part *part)
{
  Segment segment = only_the_id (part);

  segment.size = sizeof (ElfW (Nhdr)) + 4 + strlen (part->id);
  g_byte_array_set_size (segment.notes, (guint)segment.size);
  return segment;
}

static gsize cut_by;

/* The notes of a shared object have lost their end. */
static Segment
cut_off (const Part *part)
{
  Segment segment = only_the_id (part);

  if (part->name[0] == '\0')
    return segment;
  segment.size -= cut_by;
  segment.notes->data = g_realloc (segment.notes->data, MAX (segment.size, 1));
  return segment;
}

static void
the_note_of_the_id_is_found (void)
{
  static const Part other[PARTS_MAX] = { { "", "other" } };

  segment_of = only_the_id;
  g_autofree char *wanted = build_of (usual), *of_other = build_of (other);
  segment_of = up_to_the_end;
  g_autofree char *tight = build_of (usual);
  g_assert_cmpstr (tight, ==, wanted);
  segment_of = among_others;
  for (notes_align = 4; notes_align <= 8; notes_align += 4)
    {
      g_autofree char *found = build_of (usual);
      g_assert_cmpstr (found, ==, wanted);
    }
  segment_of = behind_the_start;
  static const Part one[PARTS_MAX] = { { "", "1234" } };
  g_autofree char *behind = build_of (one);
  g_assert_cmpstr (behind, ==, of_other);
  segment_of = only_the_id;
}

/* ---- files without a build-id ---- */

static void
the_bytes_of_a_file_without_an_id_count (void)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-build-XXXXXX", NULL);
  g_autofree char *one = g_build_filename (folder, "libx.so", NULL);
  g_autofree char *link = g_build_filename (folder, "libx.so.1", NULL);
  const Part parts[PARTS_MAX] = { { "", "aaaa" }, { one, NULL } };
  const Part linked[PARTS_MAX] = { { "", "aaaa" }, { link, NULL } };
  const Part without[PARTS_MAX] = { { "", "aaaa" }, { one, NO_ID } };
  const Part with[PARTS_MAX] = { { "", "aaaa" }, { one, "abcdefgh" } };
  const Part program[PARTS_MAX] = { { "", NULL } };

  g_assert_true (g_file_set_contents (one, "bytes", -1, NULL));
  g_assert_cmpint (symlink (one, link), ==, 0);
  g_autofree char *first = build_of (parts), *of_with = build_of (with);
  g_assert_true (are_same (parts, parts));
  g_assert_true (are_same (parts, without));
  g_assert_true (are_same (parts, linked));
  segment_of = cut_off;
  for (cut_by = 1; cut_by < 24; cut_by++)
    if (!are_same (parts, with))
      g_error ("a note that has lost %d bytes is read", (int)cut_by);
  segment_of = only_the_id;
  g_assert_true (g_file_set_contents (one, "other", -1, NULL));
  g_autofree char *second = build_of (parts), *still = build_of (with);
  g_assert_cmpstr (first, !=, second);
  g_assert_cmpstr (of_with, ==, still);
  g_unlink (link);
  g_unlink (one);
  g_rmdir (folder);
  g_assert_null (build_of (parts));
  g_assert_true (are_same (with, with));
  g_assert_true (are_same (program, program));
  g_assert_false (are_same (program, usual));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  segment_of = only_the_id;
  g_unsetenv ("LD_PRELOAD");
  g_test_add_func ("/build/each-object", each_object_of_the_program_counts);
  g_test_add_func ("/build/hosts", what_differs_between_hosts_does_not_count);
  g_test_add_func ("/build/beside-the-program", objects_beside_the_program_count);
  g_test_add_func ("/build/note", the_note_of_the_id_is_found);
  g_test_add_func ("/build/bytes", the_bytes_of_a_file_without_an_id_count);
  return g_test_run ();
}
