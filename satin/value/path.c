/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the text of paths and the table of stems. Any thread: the table has its own lock, the rest
 * is pure. Must not know jobs, nodes or files. */
#include "config.h"

#include "path.h"

#include "digest.h"

#include <string.h>

#define STEM_ID_LENGTH 16

struct Stems
{
  GMutex lock;
  GHashTable *texts; /* id -> the stem's own text; entries are never replaced or removed */
};

Stems *
stems_new (void)
{
  Stems *stems = g_new0 (Stems, 1);

  g_mutex_init (&stems->lock);
  stems->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return stems;
}

void
stems_free (Stems *stems)
{
  if (stems == NULL)
    return;
  g_hash_table_unref (stems->texts);
  g_mutex_clear (&stems->lock);
  g_free (stems);
}

static void
stem_id_of (const char *path, char id[STEM_ID_LENGTH + 1])
{
  Digest digest = digest_of_string (path);
  char hex[DIGEST_HEX_LENGTH + 1];

  digest_to_hex (&digest, hex);
  memcpy (id, hex, STEM_ID_LENGTH);
  id[STEM_ID_LENGTH] = '\0';
}

static void
stems_enter (Stems *stems, const char *id, const char *path)
{
  g_mutex_lock (&stems->lock);
  if (!g_hash_table_contains (stems->texts, id))
    g_hash_table_insert (stems->texts, g_strdup (id), g_strdup (path));
  g_mutex_unlock (&stems->lock);
}

const char *
stems_lookup (Stems *stems, const char *id)
{
  const char *text;

  g_mutex_lock (&stems->lock);
  text = g_hash_table_lookup (stems->texts, id);
  g_mutex_unlock (&stems->lock);
  return text;
}

guint
stems_count (Stems *stems)
{
  guint count;

  g_mutex_lock (&stems->lock);
  count = g_hash_table_size (stems->texts);
  g_mutex_unlock (&stems->lock);
  return count;
}

/* Takes "/NUMBER" from the front of `*text`. FALSE: it does not stand there in canonical form. */
static gboolean
take_component (const char **text, guint32 *number)
{
  const char *at = *text;
  guint64 value = 0;

  if (*at++ != '/' || !g_ascii_isdigit (*at))
    return FALSE;
  if (*at == '0' && g_ascii_isdigit (at[1]))
    return FALSE;
  for (; g_ascii_isdigit (*at); at++)
    {
      value = value * 10 + (guint64)(*at - '0');
      if (value > G_MAXUINT32)
        return FALSE;
    }
  *text = at;
  *number = (guint32)value;
  return TRUE;
}

/* The components after the stem's id, if `path` begins with one; all of it otherwise. NULL: what
 * begins like an id is none. */
static const char *
skip_stem (const char *path)
{
  if (*path != '~')
    return path;
  for (int i = 1; i <= STEM_ID_LENGTH; i++)
    if (!g_ascii_isdigit (path[i]) && !(path[i] >= 'a' && path[i] <= 'f'))
      return NULL;
  return path + 1 + STEM_ID_LENGTH;
}

/* How many components stand in this text; -1 when it is not canonical. Appends them to `numbers`.
 */
static int
path_parse (const char *path, GArray *numbers)
{
  const char *at = skip_stem (path);
  int count = 0;

  if (at == NULL)
    return -1;
  while (*at != '\0')
    {
      guint32 number;

      if (count == PATH_STEM_LEVELS || !take_component (&at, &number))
        return -1;
      if (numbers != NULL)
        g_array_append_val (numbers, number);
      count++;
    }
  /* A stem alone has its own text; it is not written as its continuation by nothing. */
  return *path == '~' && count == 0 ? -1 : count;
}

gboolean
path_is_canonical (const char *path)
{
  return path_parse (path, NULL) >= 0;
}

gboolean
stems_add (Stems *stems, const char *id, const char *path)
{
  char own[STEM_ID_LENGTH + 1];

  if (path_parse (path, NULL) != PATH_STEM_LEVELS)
    return FALSE;
  stem_id_of (path, own);
  if (strcmp (own, id) != 0)
    return FALSE;
  stems_enter (stems, id, path);
  return TRUE;
}

/* (transfer full): "~ID" of the full path `path`, which is entered as a stem. */
static char *
open_stem (Stems *stems, const char *path)
{
  char id[STEM_ID_LENGTH + 1];

  stem_id_of (path, id);
  stems_enter (stems, id, path);
  return g_strconcat ("~", id, NULL);
}

char *
path_child (Stems *stems, const char *path, guint32 number)
{
  g_autofree char *stem = NULL;
  int count = path_parse (path, NULL);

  g_assert (count >= 0);
  if (count == PATH_STEM_LEVELS)
    stem = open_stem (stems, path);
  return g_strdup_printf ("%s/%" G_GUINT32_FORMAT, stem != NULL ? stem : path, number);
}

char *
path_from_numbers (Stems *stems, const guint32 *numbers, gsize n)
{
  g_autoptr (GString) text = g_string_sized_new (PATH_TEXT_MAX);

  for (gsize i = 0; i < n; i++)
    {
      if (i > 0 && i % PATH_STEM_LEVELS == 0)
        {
          g_autofree char *stem = open_stem (stems, text->str);

          g_string_assign (text, stem);
        }
      g_string_append_printf (text, "/%" G_GUINT32_FORMAT, numbers[i]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
path_stem (const char *path, char id[17])
{
  if (*path != '~' || skip_stem (path) == NULL)
    return FALSE;
  memcpy (id, path + 1, STEM_ID_LENGTH);
  id[STEM_ID_LENGTH] = '\0';
  return TRUE;
}

/* (transfer container) (nullable): the texts of the stems that `path` continues, innermost first.
 * NULL: one is unknown. A chain longer than the table would be a circle, which only a forged hash
 * could make. */
static GPtrArray *
stem_chain (Stems *stems, const char *path)
{
  g_autoptr (GPtrArray) chain = g_ptr_array_new ();
  guint limit = stems_count (stems);
  char id[STEM_ID_LENGTH + 1];

  while (path_stem (path, id))
    {
      path = stems_lookup (stems, id);
      if (path == NULL || chain->len >= limit)
        return NULL;
      g_ptr_array_add (chain, (gpointer)path);
    }
  return g_steal_pointer (&chain);
}

gboolean
path_to_numbers (Stems *stems, const char *path, GArray *numbers)
{
  g_autoptr (GPtrArray) chain = NULL;

  if (!path_is_canonical (path))
    return FALSE;
  chain = stem_chain (stems, path);
  if (chain == NULL)
    return FALSE;
  for (guint i = chain->len; i > 0; i--)
    path_parse (g_ptr_array_index (chain, i - 1), numbers);
  path_parse (path, numbers);
  return TRUE;
}

/* TRUE: `path` is the text of `ancestor` and at least one component more. */
static gboolean
continues (const char *path, const char *ancestor)
{
  gsize length = strlen (ancestor);

  return strncmp (path, ancestor, length) == 0 && path[length] == '/';
}

gboolean
path_is_below (Stems *stems, const char *path, const char *ancestor)
{
  g_autoptr (GPtrArray) chain = NULL;

  if (continues (path, ancestor))
    return TRUE;
  if (*path != '~')
    return FALSE;
  chain = stem_chain (stems, path);
  for (guint i = 0; chain != NULL && i < chain->len; i++)
    {
      const char *stem = g_ptr_array_index (chain, i);

      if (strcmp (stem, ancestor) == 0 || continues (stem, ancestor))
        return TRUE;
    }
  return FALSE;
}

gboolean
path_each_stem (Stems *stems, const char *path,
                void (*each) (const char *id, const char *stem, void *data), void *data)
{
  g_autoptr (GPtrArray) chain = stem_chain (stems, path);

  if (chain == NULL)
    return FALSE;
  for (guint i = chain->len; i > 0; i--)
    {
      const char *stem = g_ptr_array_index (chain, i - 1);
      char id[STEM_ID_LENGTH + 1];

      stem_id_of (stem, id);
      each (id, stem, data);
    }
  return TRUE;
}
