/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of paths, and the table of stems. Any thread: the table has its own lock, the rest is
 * pure. */
#include "config.h"

#include "path.h"

#include "digest.h"

#include <string.h>

#define STEM_ID_LENGTH 16

/* One stem. `above` is looked up once. The table's lock protects everything. */
typedef struct Stem Stem;
struct Stem
{
  char id[STEM_ID_LENGTH + 1];
  char *text;
  Stem *above; /* the stem that `text` continues; NULL: none, or not known yet */
  guint level; /* its depth / PATH_STEM_LEVELS; 0: not known yet to have all stems above it */
};

struct Stems
{
  GMutex lock;
  GHashTable *by_id; /* Stem's id -> Stem; entries are never replaced or removed */
  GTree *by_text;    /* Stem's text -> Stem, in the order of the bytes */
};

static void
stem_free (gpointer data)
{
  Stem *stem = data;

  g_free (stem->text);
  g_free (stem);
}

Stems *
stems_new (void)
{
  Stems *stems = g_new0 (Stems, 1);

  g_mutex_init (&stems->lock);
  stems->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, stem_free);
  stems->by_text = g_tree_new ((GCompareFunc)strcmp);
  return stems;
}

void
stems_free (Stems *stems)
{
  if (stems == NULL)
    return;
  g_tree_unref (stems->by_text);
  g_hash_table_unref (stems->by_id);
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
  if (!g_hash_table_contains (stems->by_id, id))
    {
      Stem *stem = g_new0 (Stem, 1);

      memcpy (stem->id, id, sizeof stem->id);
      stem->text = g_strdup (path);
      g_hash_table_insert (stems->by_id, stem->id, stem);
      g_tree_insert (stems->by_text, stem->text, stem);
    }
  g_mutex_unlock (&stems->lock);
}

const char *
stems_lookup (Stems *stems, const char *id)
{
  const Stem *stem;

  g_mutex_lock (&stems->lock);
  stem = g_hash_table_lookup (stems->by_id, id);
  g_mutex_unlock (&stems->lock);
  return stem == NULL ? NULL : stem->text;
}

guint
stems_count (Stems *stems)
{
  guint count;

  g_mutex_lock (&stems->lock);
  count = g_hash_table_size (stems->by_id);
  g_mutex_unlock (&stems->lock);
  return count;
}

/* Reads a canonical number below 2^32 from the front of `*text`. FALSE: there is none. */
static gboolean
take_number (const char **text, guint32 *number)
{
  const char *at = *text;
  guint64 value = 0;

  if (!g_ascii_isdigit (*at))
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

/* The components after the root's number or the stem's id, if `path` begins with one; otherwise all
 * of `path`. NULL: this beginning is invalid. */
static const char *
skip_start (const char *path)
{
  guint32 root;

  if (g_ascii_isdigit (*path))
    return take_number (&path, &root) && root > 0 && *path == ':' ? path + 1 : NULL;
  if (*path != '~')
    return path;
  for (int i = 1; i <= STEM_ID_LENGTH; i++)
    if (!g_ascii_isdigit (path[i]) && !(path[i] >= 'a' && path[i] <= 'f'))
      return NULL;
  return path + 1 + STEM_ID_LENGTH;
}

char *
path_of_root (guint32 root)
{
  return root == 0 ? g_strdup ("") : g_strdup_printf ("%" G_GUINT32_FORMAT ":", root);
}

gboolean
path_is_root (const char *path)
{
  const char *rest = skip_start (path);

  return *path != '~' && rest != NULL && *rest == '\0';
}

guint32
path_root (const char *path)
{
  guint32 root = 0;

  (void)take_number (&path, &root);
  return root;
}

/* People need not know stems: any number of plain numbers is accepted. */
static gboolean
read_numbers (const char *text, guint32 *root, GArray *numbers)
{
  const char *colon = strchr (text, ':');
  g_autofree char *start = g_strndup (text, colon != NULL ? (gsize)(colon + 1 - text) : 0);
  g_array_set_size (numbers, 0);
  text += strlen (start);
  *root = path_root (start);
  if (!path_is_root (start) || text[0] != '/')
    return FALSE;
  g_auto (GStrv) parts = g_strsplit (text + 1, "/", -1);
  for (char **part = parts; *part != NULL; part++)
    {
      guint64 number;
      if (((*part)[0] == '0' && (*part)[1] != '\0')
          || !g_ascii_string_to_unsigned (*part, 10, 0, G_MAXUINT32, &number, NULL))
        return FALSE;
      guint32 small = (guint32)number;
      g_array_append_val (numbers, small);
    }
  return TRUE;
}

gboolean
path_read (Stems *stems, const char *text, guint32 *root, GArray *numbers)
{
  if (strcmp (text, "/") == 0)
    text = "";
  return path_to_numbers (stems, text, root, numbers) || read_numbers (text, root, numbers);
}

int
path_read_last (const char *path, guint32 *numbers)
{
  const char *at = skip_start (path);
  int count = 0;

  if (at == NULL)
    return -1;
  for (; *at != '\0'; count++)
    if (count == PATH_STEM_LEVELS || *at++ != '/' || !take_number (&at, &numbers[count]))
      return -1;
  /* a stem itself is written by its own text, never as "~S" */
  return *path == '~' && count == 0 ? -1 : count;
}

/* The number of components in this text; -1: not canonical. Appends them to `numbers`
 * (nullable). */
static int
path_parse (const char *path, GArray *numbers)
{
  guint32 last[PATH_STEM_LEVELS];
  int count = path_read_last (path, last);

  if (numbers != NULL && count > 0)
    g_array_append_vals (numbers, last, (guint)count);
  return count;
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

/* Writes "/", a number and a NUL. Returns the length without the NUL. */
static gsize
write_number (char *to, guint32 number)
{
  char digits[12];
  gsize at = sizeof digits;

  do
    digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  digits[--at] = '/';
  memcpy (to, digits + at, sizeof digits - at);
  to[sizeof digits - at] = '\0';
  return sizeof digits - at;
}

char *
path_write (const char *start, const guint32 *numbers, gsize n)
{
  GString *text = g_string_new (start);
  char component[13];

  for (gsize i = 0; i < n; i++)
    g_string_append_len (text, component, (gssize)write_number (component, numbers[i]));
  return g_string_free (text, FALSE);
}

char *
path_extend (Stems *stems, const char *path, const guint32 *numbers, gsize n)
{
  char text[PATH_TEXT_MAX];
  int count = path_parse (path, NULL);
  gsize length = strlen (path);

  g_assert (count >= 0); /* so `text` has room for `path` and for the components up to the next
                          * stem */
  memcpy (text, path, length + 1);
  for (gsize i = 0; i < n; i++, count++)
    {
      if (count == PATH_STEM_LEVELS)
        {
          char id[STEM_ID_LENGTH + 1];

          stem_id_of (text, id);
          stems_enter (stems, id, text);
          text[0] = '~';
          memcpy (text + 1, id, sizeof id);
          length = 1 + STEM_ID_LENGTH;
          count = 0;
        }
      length += write_number (text + length, numbers[i]);
    }
  return g_memdup2 (text, length + 1);
}

char *
path_child (Stems *stems, const char *path, guint32 number)
{
  return path_extend (stems, path, &number, 1);
}

char *
path_from_numbers (Stems *stems, const guint32 *numbers, gsize n)
{
  return path_extend (stems, "", numbers, n);
}

gboolean
path_stem (const char *path, char id[17])
{
  if (*path != '~' || skip_start (path) == NULL)
    return FALSE;
  memcpy (id, path + 1, STEM_ID_LENGTH);
  id[STEM_ID_LENGTH] = '\0';
  return TRUE;
}

/* The stem that `path` continues; NULL: that stem or one above it is unknown. Called with the lock
 * held. Each stem is climbed only once in its life. A chain longer than the table would be a cycle,
 * which only a forged hash can make. */
static Stem *
whole_stem (Stems *stems, const char *path)
{
  guint limit = g_hash_table_size (stems->by_id), n = 0;
  char id[STEM_ID_LENGTH + 1];
  Stem *innermost = NULL, *below = NULL, *stem = NULL;

  for (; path_stem (path, id); path = stem->text, below = stem, n++)
    {
      stem = below != NULL && below->above != NULL ? below->above
                                                   : g_hash_table_lookup (stems->by_id, id);
      if (stem == NULL || n > limit)
        return NULL;
      if (below != NULL)
        below->above = stem;
      else
        innermost = stem;
      if (stem->level > 0)
        break;
    }
  /* `stem` is the outermost, or known to be complete, so `innermost` is, too. */
  n += stem != NULL && stem->level > 0 ? stem->level : 0;
  for (Stem *at = innermost; at != NULL && at->level == 0; at = at->above)
    at->level = n--;
  return innermost;
}

static gboolean
has_stem (const char *path)
{
  return *path == '~';
}

gboolean
path_is_whole (Stems *stems, const char *path)
{
  gboolean whole;

  if (!has_stem (path))
    return TRUE;
  g_mutex_lock (&stems->lock);
  whole = whole_stem (stems, path) != NULL;
  g_mutex_unlock (&stems->lock);
  return whole;
}

gboolean
path_each_stem (Stems *stems, const char *path, gboolean (*is_known) (const char *id, void *data),
                void (*each) (const char *id, const char *stem, void *data), void *data)
{
  g_autoptr (GPtrArray) chain = NULL;
  Stem *innermost;

  if (!has_stem (path))
    return TRUE;
  chain = g_ptr_array_new ();
  g_mutex_lock (&stems->lock);
  innermost = whole_stem (stems, path);
  for (Stem *stem = innermost; stem != NULL; stem = stem->above)
    {
      if (is_known != NULL && is_known (stem->id, data))
        break;
      g_ptr_array_add (chain, stem);
    }
  g_mutex_unlock (&stems->lock);
  for (guint i = chain->len; i > 0; i--)
    {
      const Stem *stem = g_ptr_array_index (chain, i - 1);

      each (stem->id, stem->text, data);
    }
  return innermost != NULL;
}

typedef struct
{
  guint32 root;
  GArray *numbers;
} Reading;

static void
parse_stem (const char *id G_GNUC_UNUSED, const char *stem, void *data)
{
  Reading *reading = data;

  if (!has_stem (stem))
    reading->root = path_root (stem);
  path_parse (stem, reading->numbers);
}

gboolean
path_to_numbers (Stems *stems, const char *path, guint32 *root, GArray *numbers)
{
  Reading reading = { 0, numbers };

  if (!path_is_canonical (path) || !path_each_stem (stems, path, NULL, parse_stem, &reading))
    return FALSE;
  parse_stem (NULL, path, &reading);
  if (root != NULL)
    *root = reading.root;
  return TRUE;
}

gboolean
path_continues (const char *path, const char *ancestor)
{
  gsize length = strlen (ancestor);

  return strncmp (path, ancestor, length) == 0 && path[length] == '/';
}

gboolean
path_is_below (Stems *stems, const char *path, const char *ancestor)
{
  const Stem *stem, *other;
  guint level;

  if (path_continues (path, ancestor))
    return TRUE;
  if (!has_stem (path))
    return FALSE;
  g_mutex_lock (&stems->lock);
  stem = whole_stem (stems, path);
  other = whole_stem (stems, ancestor);
  /* Only one stem of `path` can lie at or below `ancestor`: the one a level below the stem of
   * `ancestor`. */
  level = other != NULL ? other->level + 1 : 1;
  while (stem != NULL && stem->level > level)
    stem = stem->above;
  g_mutex_unlock (&stems->lock);
  return stem != NULL && stem->level == level
         && (strcmp (stem->text, ancestor) == 0 || path_continues (stem->text, ancestor));
}

GPtrArray *
path_stems_below (Stems *stems, const char *path)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autofree char *base = g_strdup (path);

  g_mutex_lock (&stems->lock);
  /* `found` is also the queue: other stems may continue each of its stems. */
  for (guint next = 0; base != NULL; next++)
    {
      GTreeNode *at = g_tree_lower_bound (stems->by_text, base);

      for (; at != NULL; at = g_tree_node_next (at))
        {
          const Stem *stem = g_tree_node_value (at);

          if (strcmp (stem->text, base) != 0 && !path_continues (stem->text, base))
            break;
          g_ptr_array_add (found, (gpointer)stem->id);
        }
      g_free (base);
      base = next < found->len ? g_strconcat ("~", g_ptr_array_index (found, next), NULL) : NULL;
    }
  g_mutex_unlock (&stems->lock);
  return found;
}

gboolean
path_is_drawn (const char *path, double share)
{
  Digest digest = digest_of_string (path);
  guint64 head;

  memcpy (&head, digest.bytes, sizeof head);
  return (double)GUINT64_FROM_BE (head) / 18446744073709551616.0 < share;
}
