/* SPDX-License-Identifier: BSD-3-Clause */
/* See build.h. The build-ids are read where the loader mapped them, so a file that was replaced
 * since this process began does not count. The build-id of a program that links libsatin.a covers
 * the engine, too; libsatin.so counts like any shared object. Tests: test-build,
 * builds.sh, outside.sh */
#include "build.h"

#include "digest.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <satin.h>
#include <stdlib.h>
#include <string.h>

#define SELF "/proc/self/exe"

#pragma weak satin_app_version_ /* its address is NULL if the program states no version */

typedef struct
{
  char *name; /* "" for the executable */
  GBytes *id;
} Object;

typedef struct
{
  char *folder; /* (nullable) of the executable */
  GArray *objects;
  gboolean failed;
} Objects;

static void
object_clear (gpointer data)
{
  Object *object = data;
  g_free (object->name);
  g_clear_pointer (&object->id, g_bytes_unref);
}

static gsize
align_up (gsize size, gsize to)
{
  return (size + to - 1) / to * to;
}

/* The build-id in the notes of a segment. (transfer full) (nullable) */
static GBytes *
find_note (const guint8 *notes, gsize size, gsize align)
{
  gsize at = 0;
  while (size - at >= sizeof (ElfW (Nhdr)))
    {
      ElfW (Nhdr) head;
      memcpy (&head, notes + at, sizeof head);
      gsize name = at + sizeof head;
      gsize value = align_up (name + head.n_namesz, align);
      if (value > size || head.n_descsz > size - value)
        return NULL;
      if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && head.n_descsz > 0
          && memcmp (notes + name, "GNU", 4) == 0)
        return g_bytes_new (notes + value, head.n_descsz);
      at = MIN (align_up (value + head.n_descsz, align), size);
    }
  return NULL;
}

static GBytes *
find_build_id (const struct dl_phdr_info *info)
{
  GBytes *id = NULL;
  for (gsize i = 0; i < info->dlpi_phnum && id == NULL; i++)
    {
      const ElfW (Phdr) *segment = &info->dlpi_phdr[i];
      if (segment->p_type == PT_NOTE)
        id = find_note ((const guint8 *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz,
                        segment->p_align == 8 ? 8 : 4);
    }
  return id;
}

static GBytes *
read_content (const char *path)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, NULL);
  if (file == NULL)
    return NULL;
  Digest digest
      = digest_of_data (g_mapped_file_get_contents (file), g_mapped_file_get_length (file));
  return g_bytes_new (digest.bytes, sizeof digest.bytes);
}

/* Nothing is below NULL or "/". */
static gboolean
is_below (const char *path, const char *folder)
{
  gsize length = folder != NULL ? strlen (folder) : 0;
  return length > 0 && strncmp (path, folder, length) == 0 && path[length] == '/';
}

/* TRUE: the file belongs to the system. Its updates replace such files, and they differ between
 * hosts. */
static gboolean
is_of_system (const char *path)
{
  static const char *const folders[] = { "/lib", "/lib32", "/lib64", "/libx32", "/usr" };
  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++)
    if (is_below (path, folders[i]))
      return !is_below (path, "/usr/local");
  return FALSE;
}

/* TRUE: LD_PRELOAD names the object, as measuring tools do; it is no part of the program. */
static gboolean
is_preloaded (const char *name)
{
  g_auto (GStrv) names = g_strsplit_set (g_getenv ("LD_PRELOAD") ?: "", ": ", -1);
  return name[0] != '\0' && g_strv_contains ((const char *const *)names, name);
}

static int
add_object (struct dl_phdr_info *info, size_t size, void *data)
{
  Objects *objects = data;
  gboolean is_program = objects->objects->len == 0; /* the loader lists it first */
  char path[PATH_MAX];
  (void)size;
  if (!is_program && (strchr (info->dlpi_name, '/') == NULL || is_preloaded (info->dlpi_name)))
    return 0; /* the vdso, which is no file, or an object of LD_PRELOAD */
  if (!is_program && realpath (info->dlpi_name, path) == NULL)
    g_strlcpy (path, info->dlpi_name, sizeof path); /* the file was removed since it was loaded */
  if (!is_program && is_of_system (path) && !is_below (path, objects->folder))
    return 0;
  Object object = { .name = is_program ? g_strdup ("") : g_path_get_basename (path),
                    .id = find_build_id (info) };
  if (object.id == NULL)
    object.id = read_content (is_program ? SELF : path);
  objects->failed = objects->failed || object.id == NULL;
  g_array_append_val (objects->objects, object);
  return 0;
}

static int
compare_objects (gconstpointer a, gconstpointer b)
{
  const Object *one = a;
  const Object *other = b;
  int order = strcmp (one->name, other->name);
  return order != 0 ? order : g_bytes_compare (one->id, other->id);
}

static char *
write_digest (GArray *objects)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  char hex[DIGEST_HEX_LENGTH + 1];
  g_array_sort (objects, compare_objects);
  for (guint i = 0; i < objects->len; i++)
    {
      const Object *object = &g_array_index (objects, Object, i);
      g_ptr_array_add (parts, g_bytes_new (object->name, strlen (object->name)));
      g_ptr_array_add (parts, g_bytes_ref (object->id));
    }
  Digest digest = digest_of ((const GBytes *const *)parts->pdata, parts->len);
  digest_to_hex (&digest, hex);
  return g_strdup (hex);
}

char *
build_of_program (void)
{
  if (&satin_app_version_ != NULL)
    return g_strdup_printf ("version %" G_GUINT32_FORMAT, satin_app_version_);
  Objects objects = { .objects = g_array_new (FALSE, FALSE, sizeof (Object)) };
  char path[PATH_MAX];
  g_array_set_clear_func (objects.objects, object_clear);
  if (realpath (SELF, path) != NULL)
    objects.folder = g_path_get_dirname (path);
  dl_iterate_phdr (add_object, &objects);
  char *text = objects.failed ? NULL : write_digest (objects.objects);
  g_array_unref (objects.objects);
  g_free (objects.folder);
  return text;
}
