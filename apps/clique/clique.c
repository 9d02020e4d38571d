/* SPDX-License-Identifier: BSD-3-Clause */
/* A largest clique of a graph, by branch and bound with a greedy colouring as bound, on bit sets
 * (Tomita and Seki, MCQ, 2003; San Segundo and others, BBMC, 2011).
 *
 * A job is a clique and the candidates, which are adjacent to all its members. Its children follow
 * from a colouring of the candidates, so only from its arguments. The best clique known closes jobs
 * and ends a job's children early, but never changes child k. A few candidates are searched inside
 * the job, renumbered to fit in one word. */
#include <satin.h>

#include "../words.h"

#include <stdlib.h>

#define WORD 64
#define WORDS_OF_SET 64
#define VERTICES_MAX \
  (WORD * WORDS_OF_SET) /* the largest graph of the DIMACS challenge has 4000 \
                         */
#define SPAWNED_MAX 12  /* children between two syncs */

SATIN_RECORD (Set, (uint64_t, word, WORDS_OF_SET))
SATIN_RECORD (Clique, (uint16_t, size), (Set, members))

/* Vertices are renumbered by degree, the greatest first. Row v of `rows` has the neighbours of v,
 * in `words` words. `start` is a clique found at the beginning. */
SATIN_RECORD (Graph, (uint16_t, n), (uint16_t, words), (Clique, start), (SatinBytes, rows))

/* A total order: the larger clique, then the smaller set. */
static const Clique *
clique_better (const Clique *a, const Clique *b)
{
  if (a->size != b->size)
    return a->size > b->size ? a : b;
  return memcmp (&a->members, &b->members, sizeof a->members) <= 0 ? a : b;
}

SATIN_CONST (Graph, graph)
SATIN_BEST (Clique, best, clique_better, { 0, { { 0 } } })

static inline const uint64_t *
row_of (const Graph *g, unsigned vertex)
{
  const uint64_t *rows = g_bytes_get_data (g->rows, NULL);

  return rows + (size_t)vertex * g->words;
}

static inline void
set_put (Set *set, unsigned vertex)
{
  set->word[vertex / WORD] |= (uint64_t)1 << vertex % WORD;
}

static inline void
set_drop (Set *set, unsigned vertex)
{
  set->word[vertex / WORD] &= ~((uint64_t)1 << vertex % WORD);
}

static unsigned
set_count (const Graph *g, const Set *set)
{
  unsigned count = 0;

  for (unsigned i = 0; i < g->words; i++)
    count += (unsigned)__builtin_popcountll (set->word[i]);
  return count;
}

/* ---- searching ---- */

static Clique
best_known (void)
{
  Clique known = satin_best (best);

  return *clique_better (&known, &satin_const (graph)->start);
}

static unsigned
best_size (void)
{
  return MAX (satin_best (best).size, satin_const (graph)->start.size);
}

/* At most 64 renumbered candidates, with the search in them and its result. */
typedef struct
{
  uint64_t row[WORD];
  uint8_t pick[WORD + 1]; /* the clique under construction */
  uint8_t found[WORD];    /* the largest one, if it is larger than `best` */
  unsigned best;          /* its size, or the size to exceed */
  gboolean improved;
} Small;

/* Colours the candidates class by class. Returns those that may lead to more than the best, in this
 * order, with their colours, and their number. */
static unsigned
colour_small (const Small *small, uint64_t candidates, unsigned needed, uint8_t *order,
              uint8_t *colour)
{
  unsigned n = 0;

  for (unsigned c = 1; candidates != 0; c++)
    for (uint64_t class = candidates; class != 0;)
      {
        unsigned v = (unsigned)__builtin_ctzll (class);

        candidates &= ~((uint64_t)1 << v);
        class &= ~((uint64_t)1 << v) & ~small->row[v];
        if (c >= needed)
          {
            order[n] = (uint8_t)v;
            colour[n++] = (uint8_t)c;
          }
      }
  return n;
}

static void
search_small (Small *small, uint64_t candidates, unsigned size)
{
  uint8_t order[WORD], colour[WORD];
  unsigned needed = small->best >= size ? small->best - size + 1 : 1;
  unsigned n = colour_small (small, candidates, needed, order, colour);

  while (n-- > 0)
    {
      uint64_t below = candidates & small->row[order[n]];

      if (size + colour[n] <= small->best)
        return;
      small->pick[size] = order[n];
      candidates &= ~((uint64_t)1 << order[n]);
      if (below != 0)
        search_small (small, below, size + 1);
      else if (size + 1 > small->best)
        {
          small->best = size + 1;
          small->improved = TRUE;
          memcpy (small->found, small->pick, sizeof small->found);
        }
    }
}

/* Returns the candidates that may extend a clique of `size` beyond `beat`, in the order of a greedy
 * colouring, with their colours, and their number. */
static unsigned
colour_all (const Graph *g, const Set *candidates, unsigned size, unsigned beat, uint16_t *order,
            uint16_t *colour)
{
  unsigned needed = beat >= size ? beat - size + 1 : 1, n = 0;
  Set left, class;

  memcpy (&left, candidates, g->words * sizeof left.word[0]);

  for (unsigned c = 1, first = 0; first < g->words; c++)
    {
      memcpy (&class, &left, g->words * sizeof left.word[0]);
      for (unsigned i = first; i < g->words; i++)
        while (class.word[i] != 0)
          {
            unsigned v = i * WORD + (unsigned)__builtin_ctzll (class.word[i]);
            const uint64_t *row = row_of (g, v);

            set_drop (&left, v);
            set_drop (&class, v);
            for (unsigned j = i; j < g->words; j++)
              class.word[j] &= ~row[j];
            if (c >= needed)
              {
                order[n] = (uint16_t)v;
                colour[n++] = (uint16_t)c;
              }
          }
      while (first < g->words && left.word[first] == 0)
        first++;
    }
  return n;
}

/* The largest clique that adds at most 64 candidates to `clique`, or the best known. */
static Clique
search_few (const Graph *g, const Clique *clique, const Set *candidates)
{
  unsigned known = best_size (), n = 0;
  uint16_t vertex[WORD], colour[WORD];
  Small small = { .best = known > clique->size ? known - clique->size : 0 };
  Clique found = *clique;

  if (colour_all (g, candidates, clique->size, known, vertex, colour) == 0 && known >= clique->size)
    return best_known ();
  for (unsigned i = 0; i < g->words; i++)
    for (uint64_t w = candidates->word[i]; w != 0; w &= w - 1)
      vertex[n++] = (uint16_t)(i * WORD + (unsigned)__builtin_ctzll (w));
  for (unsigned a = 0; a < n; a++)
    {
      const uint64_t *row = row_of (g, vertex[a]);

      for (unsigned b = 0; b < a; b++)
        {
          uint64_t joined = row[vertex[b] / WORD] >> vertex[b] % WORD & 1;

          small.row[a] |= joined << b;
          small.row[b] |= joined << a;
        }
    }
  search_small (&small, n < WORD ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0, 0);
  if (!small.improved && known >= clique->size)
    return best_known ();
  for (unsigned i = 0; i < small.best; i++)
    set_put (&found.members, vertex[small.found[i]]);
  found.size = (uint16_t)(clique->size + small.best);
  satin_improve (best, &found);
  return found;
}

/* The largest clique that adds candidates to `clique`, or a better one. `bound`: the most that it
 * can add. */
SATIN_JOB (search, Clique, (Clique, clique), (Set, candidates), (uint16_t, bound))
{
  const Graph *g = satin_const (graph);
  uint16_t order[VERTICES_MAX], colour[VERTICES_MAX];
  Clique most, found[SPAWNED_MAX];
  unsigned left;

  if (clique.size + bound <= best_size ())
    return best_known ();
  if (set_count (g, &candidates) <= WORD)
    return search_few (g, &clique, &candidates);
  left = colour_all (g, &candidates, clique.size, g->start.size, order, colour);
  most = best_known ();
  while (left > 0 && clique.size + colour[left - 1] > best_size ())
    {
      unsigned n = MIN (left, SPAWNED_MAX);
      Set behind = candidates;

      for (unsigned k = left - n + 1; k < left; k++)
        set_drop (&behind, order[k]);
      /* The child spawned last runs first: the candidate of the highest colour, with all others
       * before it. */
      for (unsigned k = left - n; k < left; k++)
        {
          const uint64_t *row = row_of (g, order[k]);
          Clique child = { (uint16_t)(clique.size + 1), clique.members };
          Set below = behind;

          for (unsigned i = 0; i < g->words; i++)
            below.word[i] &= row[i];
          set_put (&child.members, order[k]);
          satin_spawn (search, &found[k - (left - n)], child, below, (uint16_t)(colour[k] - 1));
          if (k + 1 < left)
            set_put (&behind, order[k + 1]);
        }
      satin_sync ();
      for (unsigned k = 0; k < n; k++)
        most = *clique_better (&most, &found[k]);
      for (; n > 0; n--)
        set_drop (&candidates, order[--left]);
    }
  found[0] = best_known ();
  return *clique_better (&most, &found[0]);
}

/* ---- reading ---- */

typedef struct
{
  unsigned n;
  GByteArray *matrix; /* n rows of n bytes, 1 where there is an edge */
} Edges;

static gboolean
read_header (Words *words, Edges *edges, gint64 *announced, GError **error)
{
  gint64 n = 0;

  if (edges->n > 0)
    return words_refuse (words, error, "a second 'p' line");
  words_next (words);
  if (strcmp (words->word, "edge") != 0 && strcmp (words->word, "col") != 0
      && strcmp (words->word, "edges") != 0)
    return words_refuse (words, error, "'p edge' or 'p col' is expected, not 'p %s'", words->word);
  if (!words_number (words, "the number of vertices", 1, VERTICES_MAX, &n, error)
      || !words_number (words, "the number of edges", 0, G_MAXINT32, announced, error))
    return FALSE;
  edges->n = (unsigned)n;
  edges->matrix = g_byte_array_new ();
  g_byte_array_set_size (edges->matrix, (guint)(n * n));
  memset (edges->matrix->data, 0, edges->matrix->len);
  return TRUE;
}

/* Reads the lines of a DIMACS file: c comment, p header, e edge; n, d, v and x have no edges. */
static gboolean
read_lines (Words *words, Edges *edges, GError **error)
{
  gint64 announced = 0, lines = 0, distinct = 0, u = 0, v = 0;

  while (words_next (words))
    {
      guint more = words_left_in_line (words);

      if (words->word[0] != '\0' && words->word[1] == '\0' && strchr ("cndvx", words->word[0]))
        {
          words_skip_line (words);
          continue;
        }
      if (strcmp (words->word, "p") == 0 && more == 3)
        {
          if (!read_header (words, edges, &announced, error))
            return FALSE;
          continue;
        }
      if (strcmp (words->word, "e") != 0 || more != 2 || edges->n == 0)
        return words_refuse (words, error, "'%s' and %u words more are no line of a graph%s",
                             words->word, more, edges->n == 0 ? " before its 'p' line" : "");
      if (!words_number (words, "a vertex", 1, edges->n, &u, error)
          || !words_number (words, "a vertex", 1, edges->n, &v, error))
        return FALSE;
      lines++;
      if (u == v)
        continue;
      distinct += edges->matrix->data[(u - 1) * edges->n + v - 1] == 0;
      edges->matrix->data[(u - 1) * edges->n + v - 1] = 1;
      edges->matrix->data[(v - 1) * edges->n + u - 1] = 1;
    }
  if (edges->n == 0)
    return words_refuse (words, error, "there is no 'p' line: this is no DIMACS graph");
  /* Some headers count each edge twice. */
  if (lines < announced && 2 * distinct != announced)
    return words_refuse (words, error, "the file ends after %d of %d edges", (int)lines,
                         (int)announced);
  return TRUE;
}

/* ---- main ---- */

/* label[i]: the vertex of the file that is number i here: by degree, the greatest first. */
static void
number_vertices (const Edges *edges, uint16_t *label)
{
  g_autofree unsigned *degree = g_new0 (unsigned, edges->n);
  unsigned n = 0;

  for (unsigned a = 0; a < edges->n; a++)
    for (unsigned b = 0; b < edges->n; b++)
      degree[a] += edges->matrix->data[a * edges->n + b];
  for (unsigned d = edges->n; d-- > 0;)
    for (unsigned a = 0; a < edges->n; a++)
      if (degree[a] == d)
        label[n++] = (uint16_t)a;
}

/* The largest of the greedy cliques: starting with each vertex, always adds the next one that
 * fits. */
static Clique
greedy_clique (const Graph *g)
{
  Clique most = { 0 };

  for (unsigned first = 0; first < g->n; first++)
    {
      Clique clique = { 0 };
      Set fits = { { 0 } };

      memset (&fits, 0xff, g->words * sizeof fits.word[0]);
      for (unsigned v = first, turns = 0; turns < g->n; v = (v + 1) % g->n, turns++)
        if ((fits.word[v / WORD] >> v % WORD & 1) != 0)
          {
            const uint64_t *row = row_of (g, v);

            set_put (&clique.members, v);
            clique.size++;
            for (unsigned i = 0; i < g->words; i++)
              fits.word[i] &= row[i];
          }
      most = *clique_better (&most, &clique);
    }
  return most;
}

/* Fills the graph that all jobs share; g->rows is (transfer full). */
static void
prepare (const Edges *edges, const uint16_t *label, Graph *g)
{
  uint64_t *rows;

  g->n = (uint16_t)edges->n;
  g->words = (uint16_t)((edges->n + WORD - 1) / WORD);
  rows = g_new0 (uint64_t, (size_t)g->n * g->words);
  for (unsigned a = 0; a < edges->n; a++)
    for (unsigned b = 0; b < edges->n; b++)
      if (edges->matrix->data[(size_t)label[a] * edges->n + label[b]])
        rows[a * g->words + b / WORD] |= (uint64_t)1 << b % WORD;
  g->rows = g_bytes_new_take (rows, (size_t)g->n * g->words * sizeof *rows);
  g->start = greedy_clique (g);
}

/* What is known when a run is suspended: the largest clique so far, and the bound of the first
 * colouring. */
static void
print_gap (const Graph *g)
{
  uint16_t order[VERTICES_MAX], colour[VERTICES_MAX];
  Set all = { { 0 } };
  unsigned n, least = best_size (), most;

  for (unsigned v = 0; v < g->n; v++)
    set_put (&all, v);
  n = colour_all (g, &all, 0, least, order, colour);
  most = n > 0 ? colour[n - 1] : least;
  fprintf (stderr, "clique: so far %u, at most %u, gap %u\n", least, most, most - least);
}

/* Prints the clique, if each two of its vertices are adjacent in the file. */
static int
print_clique (const Edges *edges, const uint16_t *label, const Clique *clique)
{
  g_autoptr (GString) line = g_string_new ("vertices");
  g_autofree gboolean *in = g_new0 (gboolean, edges->n);
  unsigned size = 0;
  gboolean right = TRUE;

  for (unsigned i = 0; i < edges->n; i++)
    in[label[i]] = (clique->members.word[i / WORD] >> i % WORD & 1) != 0;
  for (unsigned a = 0; a < edges->n; a++)
    {
      size += in[a] != 0;
      if (in[a])
        g_string_append_printf (line, " %u", a + 1);
      for (unsigned b = 0; b < a; b++)
        right = right && (!in[a] || !in[b] || edges->matrix->data[(size_t)a * edges->n + b] != 0);
    }
  if (!right || size != clique->size)
    {
      fprintf (stderr, "clique: the clique found fails its check; this is a bug\n");
      return 1;
    }
  printf ("clique %u\n%s\n", size, line->str);
  return 0;
}

static int
clique_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) matrix = NULL;
  g_autofree uint16_t *label = NULL;
  Graph shared = { 0 };
  Clique found, none = { 0 };
  Set all = { { 0 } };
  Edges edges = { 0 };
  GBytes *bytes;
  Words words;
  gboolean read;

  if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0'))
    {
      fprintf (stderr, "clique: one FILE is needed; usage: clique FILE\n");
      return 2;
    }
  bytes = satin_input (run, argv[1], &error);
  words = bytes == NULL ? (Words){ 0 } : words_of (argv[1], bytes);
  read = bytes != NULL && read_lines (&words, &edges, &error);
  matrix = edges.matrix;
  if (!read)
    {
      fprintf (stderr, "clique: %s\n", error->message);
      return 1;
    }
  label = g_new0 (uint16_t, edges.n);
  number_vertices (&edges, label);
  prepare (&edges, label, &shared);
  satin_publish (run, graph, &shared);
  g_bytes_unref (shared.rows);
  for (unsigned v = 0; v < edges.n; v++)
    set_put (&all, v);
  if (!satin_root (run, search, &found, none, all, (uint16_t)edges.n))
    {
      print_gap (satin_const (graph));
      return satin_stopped (run);
    }
  return print_clique (&edges, label, &found);
}

SATIN_APP ("clique", "FILE", clique_main)
