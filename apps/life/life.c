/* SPDX-License-Identifier: BSD-3-Clause */
/* Conway's Life on an unbounded plane. A phase is several generations: the plane is cut into bands
 * of rows, and a job advances one of them, for which it gets the rows on both sides. Bands are
 * shared bytes. So a node that advanced a band has it for the next phase, and an unchanged band is
 * neither sent nor saved again. The plane is kept after each phase, so earlier phases are neither
 * stored nor computed again. For measuring the cost of protection, --border makes the borders
 * larger by bytes that are not used, and --keep keeps fewer phases. */
#include "rle.h"

#include "../write.h"

#include <satin.h>

#include <stddef.h>
#include <stdlib.h>

#define USAGE "FILE.rle GENERATION [--every N] [--rle FILE] [--border BYTES] [--keep N]"
#define PHASE 32 /* generations */
#define BANDS_MAX 64
#define BAND_WORDS 512 /* least words of cells in a band, so that it justifies a job */
#define GENERATION_MAX (1 << 28)
#define STOPS_MAX 10000
#define BORDER_MAX (1 << 24) /* bytes */

/* The generations to count, besides the last: multiples of `every`, or none. `border`: bytes added
 * to each border. Each `keep`-th phase is kept. */
SATIN_RECORD (Course, (int64_t, last), (int64_t, every), (uint16_t, birth), (uint16_t, survival),
              (int64_t, border), (int64_t, keep))

/* Some rows: their words, and copies of the first and last PHASE rows, which the neighbours
 * need. */
SATIN_RECORD (Band, (SatinShared, words), (int64_t, n_words), (int64_t, population),
              (SatinBytes, top), (SatinBytes, bottom))

/* Band i has the rows from from[i] up to, but without, the next one's. `counts`: eight bytes for
 * each counted generation. `cut_words`: the number of words when the plane was cut. */
SATIN_RECORD (World, (int64_t, generation), (int32_t, n), (int64_t, from, BANDS_MAX),
              (Band, bands, BANDS_MAX), (int64_t, cut_words), (SatinBytes, counts))

SATIN_RECORD (Plane, (SatinBytes, words), (SatinBytes, counts))

SATIN_CONST (Course, course)

/* The index of the first word whose row is at least `row`. */
static gsize
first_of (GBytes *words, gint64 row)
{
  gsize low = 0, high = plane_length (words);

  while (low < high)
    if (plane_word (words, (low + high) / 2).row < row)
      low = (low + high) / 2 + 1;
    else
      high = (low + high) / 2;
  return low;
}

/* A copy of the words in these rows. (transfer full) */
static GBytes *
rows_of (GBytes *words, gint64 from, gint64 to)
{
  gsize first = first_of (words, from), end = first_of (words, to);
  const char *data = g_bytes_get_data (words, NULL);

  return first == end ? g_bytes_new (NULL, 0)
                      : g_bytes_new (data + first * sizeof (Word), (end - first) * sizeof (Word));
}

/* Adds the bytes of --border. */
static SatinBytes
widened (GBytes *border)
{
  gsize more = (gsize)satin_const (course)->border, size = g_bytes_get_size (border);

  if (more == 0)
    return satin_bytes (border);
  guint8 *data = g_malloc0 (size + more);
  if (size > 0)
    memcpy (data, g_bytes_get_data (border, NULL), size);
  g_bytes_unref (border);
  return satin_bytes (g_bytes_new_take (data, size + more));
}

/* Without the bytes of --border. */
static SatinBytes
narrowed (SatinBytes border)
{
  gsize more = (gsize)satin_const (course)->border;

  if (border == NULL || more == 0)
    return border;
  return satin_bytes (g_bytes_new_from_bytes (border, 0, g_bytes_get_size (border) - more));
}

static Band
make_band (SatinBytes words, gint64 from, gint64 to)
{
  Band band = { satin_share (words), (int64_t)plane_length (words),
                (int64_t)plane_population (words), widened (rows_of (words, from, from + PHASE)),
                widened (rows_of (words, to - PHASE, to)) };

  return band;
}

static SatinBytes
join (const SatinBytes *parts, int n)
{
  GByteArray *all = g_byte_array_new ();

  for (int i = 0; i < n; i++)
    if (parts[i] != NULL && g_bytes_get_size (parts[i]) > 0)
      g_byte_array_append (all, g_bytes_get_data (parts[i], NULL),
                           (guint)g_bytes_get_size (parts[i]));
  return satin_bytes (g_byte_array_free_to_bytes (all));
}

/* Rows from `from` up to, but without, `to` after `steps` generations, at most PHASE. */
SATIN_JOB (advance, Band, (SatinShared, words), (SatinBytes, above), (SatinBytes, below),
           (int64_t, from), (int64_t, to), (int32_t, steps))
{
  const Course *its = satin_const (course);
  SatinBytes all
      = join ((SatinBytes[]){ narrowed (above), satin_shared (words), narrowed (below) }, 3);
  GArray *now = plane_from_bytes (all);
  SatinBytes result;

  while (steps-- > 0)
    {
      GArray *next
          = plane_step (now, (Rule){ its->birth, its->survival }, from - steps, to + steps);

      g_array_unref (now);
      now = next;
    }
  result = satin_bytes (plane_to_bytes (now));
  g_array_unref (now);
  return make_band (result, from, to);
}

/* Cuts the plane into bands of about equally many words, none with fewer rows than a phase. */
static void
cut (SatinBytes words, World *now)
{
  gsize n = plane_length (words);
  gint64 rows = n == 0 ? 0 : (gint64)plane_word (words, n - 1).row - plane_word (words, 0).row + 1;
  int count = (int)CLAMP (MIN ((gint64)n / BAND_WORDS, rows / (2 * PHASE)), 1, BANDS_MAX);

  now->n = 1;
  now->from[0] = G_MININT32;
  for (int i = 1; i < count; i++)
    {
      gint64 row = plane_word (words, n * (gsize)i / (gsize)count).row;

      if (row >= now->from[now->n - 1] + PHASE)
        now->from[now->n++] = row;
    }
  for (int i = 0; i < now->n; i++)
    {
      gint64 to = i + 1 < now->n ? now->from[i + 1] : G_MAXINT32;

      now->bands[i] = make_band (satin_bytes (rows_of (words, now->from[i], to)), now->from[i], to);
    }
  now->cut_words = (int64_t)n;
}

static int64_t
words_in (const World *now)
{
  int64_t n = 0;

  for (int i = 0; i < now->n; i++)
    n += now->bands[i].n_words;
  return n;
}

static guint64
population_of (const World *now)
{
  guint64 population = 0;

  for (int i = 0; i < now->n; i++)
    population += (guint64)now->bands[i].population;
  return population;
}

/* TRUE: one band has grown much larger than the others, or all of them since the last cut. */
static gboolean
is_uneven (const World *now)
{
  int64_t n = words_in (now), most = 0;

  for (int i = 0; i < now->n; i++)
    most = MAX (most, now->bands[i].n_words);
  return most > 2 * n / now->n + BAND_WORDS || n > 2 * now->cut_words + BAND_WORDS
         || n < now->cut_words / 2;
}

static SatinBytes
counted (SatinBytes counts, guint64 population)
{
  SatinBytes number;

  population = GUINT64_TO_LE (population);
  number = satin_bytes (g_bytes_new (&population, sizeof population));
  return join ((SatinBytes[]){ counts, number }, 2);
}

SATIN_JOB (life, Plane, (SatinBytes, words))
{
  SATIN_KEEPS (World);
  const Course *its = satin_const (course);
  SatinBytes parts[BANDS_MAX];
  World now;
  int64_t phases = 0; /* since the last kept one */

  memset (&now, 0, sizeof now);
  if (!satin_recall (&now))
    {
      cut (words, &now);
      if (its->every > 0)
        now.counts = counted (now.counts, population_of (&now));
    }
  while (now.generation < its->last && words_in (&now) > 0)
    {
      gint64 stop = its->every > 0 ? (now.generation / its->every + 1) * its->every : its->last;
      int steps = (int)MIN (MIN (stop, its->last) - now.generation, PHASE), n = now.n;
      World next = now;

      for (int i = 0; i < n; i++)
        satin_spawn (advance, &next.bands[i], now.bands[i].words,
                     i > 0 ? now.bands[i - 1].bottom : NULL,
                     i + 1 < n ? now.bands[i + 1].top : NULL, now.from[i],
                     i + 1 < n ? now.from[i + 1] : G_MAXINT32, steps);
      satin_sync ();
      now = next;
      now.generation += steps;
      if (is_uneven (&now))
        {
          for (int i = 0; i < n; i++)
            parts[i] = satin_shared (now.bands[i].words);
          cut (join (parts, n), &now);
        }
      if (its->every > 0 && now.generation % its->every == 0)
        now.counts = counted (now.counts, population_of (&now));
      if (++phases < its->keep)
        continue;
      satin_keep (&now);
      phases = 0;
    }
  for (int i = 0; i < now.n; i++)
    parts[i] = satin_shared (now.bands[i].words);
  return (Plane){ join (parts, now.n), now.counts };
}

/* ---- main ---- */

typedef struct
{
  const char *file, *rle;
  gint64 last, every, border, keep;
} Options;

/* FALSE: invalid; a message was printed. */
static gboolean
parse_number (const char *what, const char *text, gint64 least, gint64 most, gint64 *number)
{
  char *end;

  *number = g_ascii_strtoll (text, &end, 10);
  if (end != text && *end == '\0' && *number >= least && *number <= most)
    return TRUE;
  fprintf (stderr,
           "life: %s must be a number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
           ", not '%s'\n",
           what, least, most, text);
  return FALSE;
}

/* An option with a number, the member of Options at `at`. */
typedef struct
{
  const char *name;
  gint64 least, most;
  gsize at;
} Number;

static const Number numbers[] = {
  { "--every", 1, GENERATION_MAX, offsetof (Options, every) },
  { "--border", 0, BORDER_MAX, offsetof (Options, border) },
  { "--keep", 1, GENERATION_MAX, offsetof (Options, keep) },
};

/* (nullable) */
static const Number *
find_number (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (strcmp (name, numbers[i].name) == 0)
      return &numbers[i];
  return NULL;
}

static gboolean
options_parse (int argc, char **argv, Options *options)
{
  int n = 0;

  *options = (Options){ .keep = 1 };
  for (int i = 1; i < argc; i++)
    {
      const Number *number = find_number (argv[i]);
      gboolean rle = strcmp (argv[i], "--rle") == 0;

      if ((number != NULL || rle) && i + 1 == argc)
        {
          fprintf (stderr, "life: %s needs a value\n", argv[i]);
          return FALSE;
        }
      if (rle)
        options->rle = argv[++i];
      else if (number != NULL)
        {
          if (!parse_number (number->name, argv[++i], number->least, number->most,
                             (gint64 *)((char *)options + number->at)))
            return FALSE;
        }
      else if (n == 0 && (argv[i][0] != '-' || argv[i][1] == '\0'))
        options->file = argv[i], n++;
      else if (n++ != 1)
        {
          fprintf (stderr, "life: there is no use for '%s'; usage: life " USAGE "\n", argv[i]);
          return FALSE;
        }
      else if (!parse_number ("GENERATION", argv[i], 0, GENERATION_MAX, &options->last))
        return FALSE;
    }
  if (n != 2)
    fprintf (stderr, "life: FILE and GENERATION are needed; usage: life " USAGE "\n");
  else if (options->every > 0 && options->last / options->every > STOPS_MAX)
    fprintf (stderr, "life: --every is too small for so many generations\n");
  else
    return TRUE;
  return FALSE;
}

static void
print_count (gint64 generation, guint64 population)
{
  printf ("generation %" G_GINT64_FORMAT " population %" G_GUINT64_FORMAT "\n", generation,
          population);
}

static int
print_plane (const Options *options, const Plane *plane, Rule rule)
{
  const guint8 *counts = g_bytes_get_data (plane->counts, NULL);
  gsize n = g_bytes_get_size (plane->counts) / 8;
  g_autoptr (GArray) words = plane_from_bytes (plane->words);
  g_autoptr (GError) error = NULL;
  GString *text;

  /* An empty plane stays empty, so its counts need not be computed. */
  for (gint64 i = 0; options->every > 0 && i * options->every < options->last; i++)
    {
      guint64 population = 0;

      if ((gsize)i < n)
        memcpy (&population, counts + i * 8, 8);
      print_count (i * options->every, GUINT64_FROM_LE (population));
    }
  print_count (options->last, plane_population (plane->words));
  if (options->rle == NULL)
    return 0;
  text = rle_write (words, rule);
  write_file (options->rle, text->str, text->len, &error);
  g_string_free (text, TRUE);
  if (error == NULL)
    return 0;
  fprintf (stderr, "life: %s\n", error->message);
  return 1;
}

static int
life_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) words = NULL;
  g_autoptr (GBytes) start = NULL;
  Options options;
  GBytes *text;
  Course its;
  Plane plane;
  Rule rule;

  if (!options_parse (argc, argv, &options))
    return 2;
  text = satin_input (run, options.file, &error);
  words = text == NULL ? NULL : rle_read (options.file, text, &rule, &error);
  if (words == NULL)
    {
      fprintf (stderr, "life: %s\n", error->message);
      return 1;
    }
  its = (Course){ options.last,   options.every, (uint16_t)rule.birth, (uint16_t)rule.survival,
                  options.border, options.keep };
  satin_publish (run, course, &its);
  start = plane_to_bytes (words);
  if (!satin_root (run, life, &plane, start))
    return satin_stopped (run);
  return print_plane (&options, &plane, rule);
}

SATIN_APP ("life", USAGE, life_main, &life_job, &advance_job)
