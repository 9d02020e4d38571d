/* SPDX-License-Identifier: BSD-3-Clause */
#include "rle.h"

#include "../words.h"

#define CELLS_MAX (1 << 26) /* live cells in a file */
#define ROW_MAX 70          /* characters of a line when writing */
#define CONWAY ((Rule){ 1 << 3, 1 << 2 | 1 << 3 })

static gboolean
parse_digits (const char **at, guint *set)
{
  for (*set = 0; g_ascii_isdigit (**at); (*at)++)
    {
      if (**at == '9')
        return FALSE;
      *set |= 1u << (**at - '0');
    }
  return TRUE;
}

/* Reads B3/S23, or in the old form 23/3: survival, then birth. */
static gboolean
parse_rule (const char *text, Rule *rule)
{
  gboolean letters = g_ascii_toupper (text[0]) == 'B';
  guint first, second;

  if (g_ascii_strcasecmp (text, "Life") == 0)
    {
      *rule = CONWAY;
      return TRUE;
    }
  text += letters;
  if (!parse_digits (&text, &first))
    return FALSE;
  if (*text != '/' && !letters)
    return FALSE;
  text += *text == '/';
  if (letters && g_ascii_toupper (*text++) != 'S')
    return FALSE;
  if (!parse_digits (&text, &second) || *text != '\0')
    return FALSE;
  *rule = letters ? (Rule){ first, second } : (Rule){ second, first };
  return TRUE;
}

/* Reads "x = 3, y = 3, rule = B3/S23". Only the rule matters; the size follows from the pattern. */
static gboolean
read_header (Words *in, Rule *rule, GError **error)
{
  gsize length = 0, room = (gsize)(in->end - in->at);
  g_autofree char *line = NULL, *small = NULL;
  char *word;

  while (length < room && in->at[length] != '\n')
    length++;
  line = g_strndup (in->at, length);
  in->at += length;
  small = g_ascii_strdown (line, -1);
  word = strstr (small, "rule");
  if (word == NULL)
    return TRUE;
  word += strlen ("rule");
  while (g_ascii_isspace (*word) || *word == '=')
    word++;
  word[strcspn (word, ",")] = '\0';
  g_strchomp (word);
  if (!parse_rule (word, rule))
    return words_refuse (in, error, "the rule '%.40s' is not of Life's kind, as B3/S23 is", word);
  if ((rule->birth & 1) != 0)
    return words_refuse (in, error, "by the rule '%.40s' the empty plane would fill", word);
  return TRUE;
}

/* Adds `n` live cells. Cells must come in ascending order. */
static void
add_cells (GArray *words, gint32 row, gint32 column, gint64 n)
{
  for (gint64 at = column; at < column + n;)
    {
      Word *last = words->len > 0 ? &g_array_index (words, Word, words->len - 1) : NULL;
      gint64 stop = MIN ((at / 64 + 1) * 64, column + n);
      guint64 run = (stop - at == 64 ? ~(guint64)0 : ((guint64)1 << (stop - at)) - 1) << at % 64;
      Word word = { row, (gint32)(at / 64), run };

      if (last != NULL && last->row == row && last->column == word.column)
        last->cells |= run;
      else
        g_array_append_val (words, word);
      at = stop;
    }
}

/* Reads the runs up to '!'. */
static gboolean
read_runs (Words *in, GArray *words, GError **error)
{
  gint64 count = -1, row = 0, column = 0, cells = 0, n;

  for (; in->at < in->end; in->at++)
    {
      char c = *in->at;

      if (c == '\n')
        in->line++;
      if (g_ascii_isdigit (c))
        count = MIN (MAX (count, 0) * 10 + (c - '0'), RLE_SIDE_MAX + 1);
      if (g_ascii_isdigit (c) || g_ascii_isspace (c))
        continue;
      if (c == '!')
        return count < 0 || words_refuse (in, error, "a number stands before the '!'");
      n = count < 0 ? 1 : count;
      count = -1;
      if (c == '$')
        {
          row += n;
          column = 0;
        }
      else if (c == 'b' || c == '.')
        column += n;
      else if (c == 'o' || c == 'A')
        {
          cells += n;
          if (cells > CELLS_MAX)
            return words_refuse (in, error, "there are more than %d cells", CELLS_MAX);
          if (column + n <= RLE_SIDE_MAX)
            add_cells (words, (gint32)row, (gint32)column, n);
          column += n;
        }
      else
        return words_refuse (in, error, "'%c' is no cell", c);
      if (row > RLE_SIDE_MAX || column > RLE_SIDE_MAX)
        return words_refuse (in, error, "the pattern is larger than %d cells", RLE_SIDE_MAX);
    }
  return words_refuse (in, error, "the file ends before its '!'");
}

GArray *
rle_read (const char *file, GBytes *text, Rule *rule, GError **error)
{
  g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof (Word));
  Words in = words_of (file, text);

  *rule = CONWAY;
  if (in.at < in.end && memchr (in.at, '\0', (gsize)(in.end - in.at)) != NULL)
    {
      words_refuse (&in, error, "the file is not text");
      return NULL;
    }
  for (; in.at < in.end; in.at++)
    {
      if (*in.at == '\n')
        in.line++;
      else if (!g_ascii_isspace (*in.at) && *in.at != '#')
        break;
      if (*in.at == '#')
        {
          words_skip_line (&in);
          in.at--;
        }
    }
  if (in.at < in.end && *in.at == 'x' && !read_header (&in, rule, error))
    return NULL;
  return read_runs (&in, words, error) ? g_steal_pointer (&words) : NULL;
}

char *
rle_rule (Rule rule)
{
  GString *text = g_string_new ("B");

  for (int n = 0; n <= 8; n++)
    if ((rule.birth >> n & 1) != 0)
      g_string_append_printf (text, "%d", n);
  g_string_append (text, "/S");
  for (int n = 0; n <= 8; n++)
    if ((rule.survival >> n & 1) != 0)
      g_string_append_printf (text, "%d", n);
  return g_string_free (text, FALSE);
}

/* Appends one run; `begun` is the place where its line begins. */
static void
put_run (GString *text, gsize *begun, gint64 n, char what)
{
  g_autofree char *run
      = n == 1 ? g_strdup_printf ("%c", what) : g_strdup_printf ("%" G_GINT64_FORMAT "%c", n, what);

  if (n == 0)
    return;
  if (text->len + strlen (run) > *begun + ROW_MAX)
    {
      g_string_append_c (text, '\n');
      *begun = text->len;
    }
  g_string_append (text, run);
}

/* The first and last columns of the pattern. */
static void
measure (const GArray *words, gint64 *left, gint64 *right)
{
  *left = words->len == 0 ? 0 : G_MAXINT64;
  *right = words->len == 0 ? 0 : G_MININT64;
  for (guint i = 0; i < words->len; i++)
    {
      Word word = g_array_index (words, Word, i);

      *left = MIN (*left, word.column * (gint64)64 + __builtin_ctzll (word.cells));
      *right = MAX (*right, word.column * (gint64)64 + 64 - __builtin_clzll (word.cells));
    }
}

GString *
rle_write (const GArray *words, Rule rule)
{
  GString *text = g_string_new (NULL);
  g_autofree char *name = rle_rule (rule);
  gint64 left, right, row = 0, at, live = 0;
  gsize begun;

  measure (words, &left, &right);
  at = left;
  if (words->len > 0)
    row = g_array_index (words, Word, 0).row;
  g_string_printf (
      text, "x = %" G_GINT64_FORMAT ", y = %" G_GINT64_FORMAT ", rule = %s\n", right - left,
      words->len == 0 ? 0 : g_array_index (words, Word, words->len - 1).row - row + 1, name);
  begun = text->len;
  for (guint i = 0; i < words->len; i++)
    {
      Word word = g_array_index (words, Word, i);

      if (word.row != row)
        {
          put_run (text, &begun, live, 'o');
          put_run (text, &begun, word.row - row, '$');
          row = word.row;
          at = left;
          live = 0;
        }
      for (int bit = 0; bit < 64; bit++)
        {
          gint64 column = word.column * (gint64)64 + bit;

          if ((word.cells >> bit & 1) == 0)
            continue;
          if (column > at + live)
            {
              put_run (text, &begun, live, 'o');
              put_run (text, &begun, column - at - live, 'b');
              at = column;
              live = 0;
            }
          live++;
        }
    }
  put_run (text, &begun, live, 'o');
  g_string_append (text, "!\n");
  return text;
}
