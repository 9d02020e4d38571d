/* SPDX-License-Identifier: BSD-3-Clause */
/* The 0/1 knapsack, exactly. Items are sorted by value per weight. The first item that does not
 * fit, when all are taken in this order, is the break item. Decisions are made from there outwards
 * (Pisinger's core). A job is a list of decisions. It tries to finish within a fixed effort, by
 * dynamic programming over the packings that may be best; else it has two children, which decide
 * the next item. The best packing known closes jobs, but never changes what a child is. */
#include <satin.h>

#include "../words.h"

#include <inttypes.h>
#include <stdlib.h>

#define ITEMS_MAX 10240
#define SET_WORDS (ITEMS_MAX / 64)
#define SUM_MAX ((gint64)1 << 61)   /* of all values, of all weights */
#define DIGITS_MAX 9                /* after the decimal point */
#define EFFORT_MAX 200000           /* packings that a job makes before it branches */
#define TABLE_MAX ((gint64)1 << 30) /* cells of a table over all weights, if that is cheaper */

SATIN_RECORD (Set, (uint64_t, word, SET_WORDS))
SATIN_RECORD (Packing, (int64_t, value), (Set, taken))
SATIN_RECORD (Decisions, (uint16_t, n), (Set, turned))

/* The items that fit alone, the best value per weight first: values, then weights,
 * little-endian. */
SATIN_RECORD (Problem, (uint16_t, n), (uint16_t, broken), (int64_t, capacity), (Packing, start),
              (SatinBytes, items))

/* A total order: the greater value, then the smaller set. */
static const Packing *
packing_better (const Packing *a, const Packing *b)
{
  if (a->value != b->value)
    return a->value > b->value ? a : b;
  return memcmp (&a->taken, &b->taken, sizeof a->taken) <= 0 ? a : b;
}

SATIN_CONST (Problem, problem)
SATIN_BEST (Packing, best, packing_better, { 0, { { 0 } } })

static inline gboolean
set_has (const Set *set, unsigned i)
{
  return (set->word[i / 64] >> i % 64 & 1) != 0;
}

static inline void
set_turn (Set *set, unsigned i)
{
  set->word[i / 64] ^= (uint64_t)1 << i % 64;
}

static inline gint64
value_of (const Problem *k, int i)
{
  return GINT64_FROM_LE (((const gint64 *)g_bytes_get_data (k->items, NULL))[i]);
}

static inline gint64
weight_of (const Problem *k, int i)
{
  return GINT64_FROM_LE (((const gint64 *)g_bytes_get_data (k->items, NULL))[k->n + i]);
}

/* ---- searching ---- */

static Packing
best_known (void)
{
  Packing known = satin_best (best);

  return *packing_better (&known, &satin_const (problem)->start);
}

static gint64
best_value (void)
{
  return MAX (satin_best (best).value, satin_const (problem)->start.value);
}

/* The decided items: from `from` up to, but without, `to`. Items before it are taken, items behind
 * it are not. */
typedef struct
{
  int from, to;
} Core;

/* The next item to decide, alternately behind and before the core; -1: all are decided. */
static int
core_grow (const Problem *k, Core *core)
{
  gboolean behind = k->broken - core->from >= core->to - k->broken;

  if (core->to < k->n && (behind || core->from == 0))
    return core->to++;
  return core->from > 0 ? --core->from : -1;
}

/* A packing of the core; all items before it are taken, none behind it. */
typedef struct
{
  gint64 weight, value;
  guint32 turn; /* index in `turns` of the last changed item; 0: none */
} State;

typedef struct
{
  guint32 before; /* index of the previous change */
  guint16 item;
} Turn;

/* The greatest value that this state can reach outside the core; -1: it cannot be made to fit. */
static gint64
bound (const Problem *k, Core core, gint64 weight, gint64 value)
{
  gint64 room = k->capacity - weight;

  if (room >= 0)
    return core.to == k->n
               ? value
               : value + (gint64)((__int128)room * value_of (k, core.to) / weight_of (k, core.to));
  if (core.from == 0 || weight_of (k, core.from - 1) == 0)
    return -1;
  return value
         - (gint64)(((__int128)-room * value_of (k, core.from - 1) + weight_of (k, core.from - 1)
                     - 1)
                    / weight_of (k, core.from - 1));
}

/* The packing with all items before the break item, then with these items changed. */
static Packing
packing_of (const Problem *k, const Set *turned, const GArray *turns, State state)
{
  Packing packing = { state.value, *turned };

  for (int i = 0; i < k->broken; i++)
    set_turn (&packing.taken, (unsigned)i);
  for (guint32 t = state.turn; t != 0; t = g_array_index (turns, Turn, t).before)
    set_turn (&packing.taken, g_array_index (turns, Turn, t).item);
  return packing;
}

/* Appends a state, unless an earlier (lighter) one has at least its value, or it cannot beat
 * `beat`. */
static void
keep_state (const Problem *k, Core core, GArray *list, State state, gint64 *worth, gint64 beat)
{
  if (state.value <= *worth)
    return;
  *worth = state.value;
  if (bound (k, core, state.weight, state.value) > beat)
    g_array_append_val (list, state);
}

/* Decides one more item: each state with and without the change, by weight. */
static void
extend (const Problem *k, Core core, int item, const GArray *list, GArray *longer, GArray *turns,
        gint64 beat)
{
  int sign = item >= k->broken ? 1 : -1;
  gint64 weight = sign * weight_of (k, item), value = sign * value_of (k, item);
  gint64 worth = G_MININT64;
  guint i = 0, j = 0;

  g_array_set_size (longer, 0);
  while (i < list->len || j < list->len)
    {
      State *stays = i < list->len ? &g_array_index (list, State, i) : NULL;
      State *turns_to = j < list->len ? &g_array_index (list, State, j) : NULL;

      if (turns_to == NULL || (stays != NULL && stays->weight <= turns_to->weight + weight))
        {
          keep_state (k, core, longer, *stays, &worth, beat);
          i++;
        }
      else
        {
          State state = { turns_to->weight + weight, turns_to->value + value, turns->len };
          Turn turn = { turns_to->turn, (guint16)item };
          guint before = longer->len;

          keep_state (k, core, longer, state, &worth, beat);
          if (longer->len > before)
            g_array_append_val (turns, turn);
          j++;
        }
    }
}

/* Completes the decisions, from state `first`. FALSE: this takes more than the effort. `found`:
 * what was known before, or better. */
static gboolean
finish (const Problem *k, Core core, const Set *turned, State first, Packing *found)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (State));
  g_autoptr (GArray) longer = g_array_new (FALSE, FALSE, sizeof (State));
  g_autoptr (GArray) turns = g_array_new (FALSE, TRUE, sizeof (Turn));
  GArray *swap;
  gint64 effort = 0;
  int item;

  g_array_set_size (turns, 1);
  g_array_append_val (list, first);
  while (list->len > 0)
    {
      State most = { 0, -1, 0 };

      /* The list is sorted: of the states that fit, the last has the greatest value. */
      for (guint i = 0; i < list->len && g_array_index (list, State, i).weight <= k->capacity; i++)
        most = g_array_index (list, State, i);
      if (most.value > MAX (found->value, best_value ()))
        {
          *found = packing_of (k, turned, turns, most);
          satin_improve (best, found);
        }
      item = core_grow (k, &core);
      if (item < 0)
        return TRUE;
      effort += list->len;
      if (effort > EFFORT_MAX)
        return FALSE;
      extend (k, core, item, list, longer, turns, MAX (found->value, best_value ()));
      swap = list;
      list = longer;
      longer = swap;
    }
  return TRUE;
}

/* The same, by a table over all weights up to the remaining capacity, if these are few. */
static void
finish_by_table (const Problem *k, Core core, const Set *turned, Packing *found)
{
  Packing packing = packing_of (k, turned, NULL, (State){ 0, 0, 0 });
  gint64 room = k->capacity, row, value = 0;
  g_autofree gint64 *most = NULL;
  g_autofree guint8 *taken = NULL;

  for (int i = core.from; i < core.to; i++)
    if (set_has (&packing.taken, (unsigned)i))
      {
        room -= weight_of (k, i);
        value += value_of (k, i);
      }
  for (int i = 0; i < core.from; i++)
    set_turn (&packing.taken, (unsigned)i);
  if (room < 0)
    return;
  row = room / 8 + 1;
  most = g_new0 (gint64, room + 1);
  taken = g_malloc0 ((gsize)(row * k->n));
  for (int i = 0; i < k->n; i++)
    {
      gint64 w = weight_of (k, i), v = value_of (k, i);

      for (gint64 at = room; (i < core.from || i >= core.to) && at >= w; at--)
        if (most[at - w] + v > most[at])
          {
            most[at] = most[at - w] + v;
            taken[row * i + at / 8] |= (guint8)(1 << at % 8);
          }
    }
  packing.value = value + most[room];
  if (packing.value <= found->value)
    return;
  for (int i = k->n - 1; i >= 0; i--)
    if ((taken[row * i + room / 8] >> room % 8 & 1) != 0)
      {
        set_turn (&packing.taken, (unsigned)i);
        room -= weight_of (k, i);
      }
  *found = packing;
  satin_improve (best, found);
}

/* A job without its children. -1: `found` is the answer; else the item that the children decide. */
static int
step (const Decisions *decisions, Packing *found)
{
  const Problem *k = satin_const (problem);
  Core core = { k->broken, k->broken };
  State first = { 0, 0, 0 };
  gint64 inside = 0;

  *found = best_known ();
  for (int i = 0; i < k->broken; i++)
    {
      first.weight += weight_of (k, i);
      first.value += value_of (k, i);
    }
  for (int n = 0; n < decisions->n; n++)
    {
      int item = core_grow (k, &core), sign = item >= k->broken ? 1 : -1;

      if (item >= 0 && set_has (&decisions->turned, (unsigned)item))
        {
          first.weight += sign * weight_of (k, item);
          first.value += sign * value_of (k, item);
        }
    }
  for (int i = core.from; i < core.to; i++)
    inside += set_has (&decisions->turned, (unsigned)i) == (i >= k->broken) ? weight_of (k, i) : 0;
  if (bound (k, core, first.weight, first.value) <= found->value
      || finish (k, core, &decisions->turned, first, found))
    return -1;
  if (k->capacity - inside < TABLE_MAX / k->n)
    {
      finish_by_table (k, core, &decisions->turned, found);
      return -1;
    }
  return core_grow (k, &core);
}

/* The best packing with these decisions, or a better one. */
SATIN_JOB (search, Packing, (Decisions, decisions))
{
  Packing found, with, without;
  int item = step (&decisions, &found);

  if (item < 0)
    return found;
  decisions.n++;
  satin_spawn (search, &without, decisions);
  set_turn (&decisions.turned, (unsigned)item);
  satin_spawn (search, &with, decisions);
  satin_sync ();
  found = *packing_better (&with, &without);
  with = best_known ();
  return *packing_better (&found, &with);
}

/* ---- reading ---- */

/* A number as written: its digits, and how many of them are after the point. */
typedef struct
{
  gint64 digits;
  int behind;
} Decimal;

typedef struct
{
  int n;
  int value_digits; /* after the decimal point of the printed value */
  gint64 *label, *value, *weight, capacity;
} File;

static void
file_clear (File *file)
{
  g_free (file->label);
  g_free (file->value);
  g_free (file->weight);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (File, file_clear)

static gboolean
read_decimal (Words *words, const char *what, Decimal *number, GError **error)
{
  const char *c;

  words_next (words);
  *number = (Decimal){ 0, -1 };
  for (c = words->word; g_ascii_isdigit (*c) || (*c == '.' && number->behind < 0); c++)
    {
      if (*c == '.')
        number->behind = 0;
      else if (number->digits >= SUM_MAX / 16 || number->behind == DIGITS_MAX)
        return words_refuse (words, error, "'%s' has too many digits", words->word);
      else
        {
          number->digits = number->digits * 10 + (*c - '0');
          number->behind += number->behind >= 0;
        }
    }
  if (words->word[0] == '\0')
    return words_refuse (words, error, "the file ends where %s is expected", what);
  if (*c != '\0' || !g_ascii_isdigit (c[-1]))
    return words_refuse (words, error, "%s is expected, not '%s'", what, words->word);
  number->behind = MAX (number->behind, 0);
  return TRUE;
}

/* Scales all numbers to the greatest number of digits after the point. FALSE: the sum is too
 * large. */
static gboolean
to_scale (const Decimal *from, int n, gint64 *to, int *digits)
{
  __int128 sum = 0;

  *digits = 0;
  for (int i = 0; i < n; i++)
    *digits = MAX (*digits, from[i].behind);
  for (int i = 0; i < n; i++)
    {
      __int128 value = from[i].digits;

      for (int d = from[i].behind; d < *digits; d++)
        value *= 10;
      sum += value;
      if (sum > SUM_MAX)
        return FALSE;
      to[i] = (gint64)value;
    }
  return TRUE;
}

/* Reads "n capacity", then a value and a weight for each item, and perhaps a 0 or 1 for each (a
 * packing); or "n", then a label, a value and a weight for each item, then the capacity. */
static gboolean
read_file (Words *words, File *file, GError **error)
{
  g_autofree Decimal *value = NULL, *weight = NULL;
  gboolean labelled;
  gint64 n = 0, flags = 0;
  int ignored;

  if (!words_number (words, "the number of items", 1, ITEMS_MAX, &n, error))
    return FALSE;
  value = g_new0 (Decimal, n);
  weight = g_new0 (Decimal, n + 1);
  file->n = (int)n;
  file->label = g_new0 (gint64, n);
  file->value = g_new0 (gint64, n);
  file->weight = g_new0 (gint64, n + 1);
  {
    Words ahead = *words;

    labelled = words_left_in_line (words) == 0 && words_next (&ahead)
               && words_left_in_line (&ahead) == 2;
  }
  if (!labelled && !read_decimal (words, "the capacity", &weight[n], error))
    return FALSE;
  for (int i = 0; i < n; i++)
    {
      file->label[i] = i + 1;
      if ((labelled
           && !words_number (words, "the number of an item", 0, G_MAXINT32, &file->label[i], error))
          || !read_decimal (words, "a value", &value[i], error)
          || !read_decimal (words, "a weight", &weight[i], error))
        return FALSE;
    }
  if (labelled && !read_decimal (words, "the capacity", &weight[n], error))
    return FALSE;
  while (words_next (words))
    if (flags++ >= n || labelled || strlen (words->word) != 1
        || strchr ("01", words->word[0]) == NULL)
      return words_refuse (words, error, "'%s' stands behind the end", words->word);
  if (flags != 0 && flags != n)
    return words_refuse (words, error, "the packing behind the items ends early");
  if (!to_scale (value, file->n, file->value, &file->value_digits)
      || !to_scale (weight, file->n + 1, file->weight, &ignored))
    return words_refuse (words, error, "the numbers are too large together");
  file->capacity = file->weight[n];
  return TRUE;
}

/* ---- main ---- */

/* By value per weight, the greatest first; items without weight come before all others. */
static int
compare_items (gconstpointer a, gconstpointer b, gpointer data)
{
  const File *file = data;
  int i = *(const int *)a, j = *(const int *)b;
  __int128 x = (__int128)file->value[i] * file->weight[j];
  __int128 y = (__int128)file->value[j] * file->weight[i];

  if ((file->weight[i] == 0) != (file->weight[j] == 0))
    return file->weight[i] == 0 ? -1 : 1;
  if (x != y)
    return x > y ? -1 : 1;
  return i - j;
}

/* Fills the problem that all jobs share. order[i] is the item of the file that is number i here;
 * k->items is (transfer full). */
static void
prepare (const File *file, int *order, Problem *k)
{
  gint64 *items, room = file->capacity;
  int n = 0;

  for (int i = 0; i < file->n; i++)
    if (file->weight[i] <= file->capacity)
      order[n++] = i;
  g_qsort_with_data (order, n, sizeof *order, compare_items, (gpointer)file);
  k->n = (uint16_t)n;
  k->capacity = file->capacity;
  items = g_new0 (gint64, 2 * (gsize)n + 1);
  for (int i = 0; i < n; i++)
    {
      items[i] = GINT64_TO_LE (file->value[order[i]]);
      items[n + i] = GINT64_TO_LE (file->weight[order[i]]);
      if (file->weight[order[i]] > room)
        continue;
      if (k->broken == i)
        k->broken++;
      room -= file->weight[order[i]];
      k->start.value += file->value[order[i]];
      set_turn (&k->start.taken, (unsigned)i);
    }
  k->items = g_bytes_new_take (items, 2 * (gsize)n * sizeof *items);
}

static char *
value_text (const File *file, gint64 value)
{
  gint64 unit = 1;

  for (int i = 0; i < file->value_digits; i++)
    unit *= 10;
  if (unit == 1)
    return g_strdup_printf ("%" PRId64, value);
  return g_strdup_printf ("%" PRId64 ".%0*" PRId64, value / unit, file->value_digits, value % unit);
}

/* Prints the packing, if it fits and has its value by the numbers in the file. */
static int
print_packing (const File *file, const int *order, int n, const Packing *packing)
{
  g_autofree char *text = value_text (file, packing->value);
  g_autofree gboolean *in = g_new0 (gboolean, file->n);
  gint64 value = 0, weight = 0;

  for (int i = 0; i < n; i++)
    in[order[i]] = set_has (&packing->taken, (unsigned)i);
  for (int i = 0; i < file->n; i++)
    {
      value += in[i] ? file->value[i] : 0;
      weight += in[i] ? file->weight[i] : 0;
    }
  if (value != packing->value || weight > file->capacity)
    {
      fprintf (stderr, "knapsack: the packing found fails its check; this is a bug\n");
      return 1;
    }
  printf ("value %s\nitems", text);
  for (int i = 0; i < file->n; i++)
    if (in[i])
      printf (" %" PRId64, file->label[i]);
  printf ("\n");
  return 0;
}

static void
print_gap (const File *file, const Problem *k)
{
  gint64 weight = 0, value = 0, least = best_value ();
  g_autofree char *now = value_text (file, least), *most = NULL, *gap = NULL;

  for (int i = 0; i < k->broken; i++)
    {
      weight += weight_of (k, i);
      value += value_of (k, i);
    }
  value = MAX (least, bound (k, (Core){ k->broken, k->broken }, weight, value));
  most = value_text (file, value);
  gap = value_text (file, value - least);
  fprintf (stderr, "knapsack: so far %s, at most %s, gap %s\n", now, most, gap);
}

static int
knapsack_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree int *order = NULL;
  g_auto (File) file = { 0 };
  Problem shared = { 0 };
  Decisions none = { 0 };
  Packing packing;
  GBytes *bytes;
  Words words;

  if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0'))
    {
      fprintf (stderr, "knapsack: one FILE is needed; usage: knapsack FILE\n");
      return 2;
    }
  bytes = satin_input (run, argv[1], &error);
  words = bytes == NULL ? (Words){ 0 } : words_of (argv[1], bytes);
  if (bytes == NULL || !read_file (&words, &file, &error))
    {
      fprintf (stderr, "knapsack: %s\n", error->message);
      return 1;
    }
  order = g_new0 (int, file.n);
  prepare (&file, order, &shared);
  satin_publish (run, problem, &shared);
  g_bytes_unref (shared.items);
  if (!satin_root (run, search, &packing, none))
    {
      print_gap (&file, satin_const (problem));
      return satin_stopped (run);
    }
  return print_packing (&file, order, shared.n, &packing);
}

SATIN_APP ("knapsack", "FILE", knapsack_main)
