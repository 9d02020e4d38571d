/* SPDX-License-Identifier: BSD-3-Clause */
/* The quadratic assignment problem, exactly: facilities with flows between them are placed on
 * locations with distances between them, by branch and bound. Owns the jobs and main; level.c
 * bounds and branches, start.c finds a first placing and symmetries.
 *
 * A job is a list of facilities that are placed. Its children depend on that list and on constants
 * alone; the best placing known closes jobs, and orders what is searched inside a job, but never
 * changes what child k is. What few facilities are left is searched by one job of another kind. */
#include "config.h"

#include <satin.h>

#include "../words.h"
#include "level.h"
#include "start.h"

#include <inttypes.h>

#define SQUARE (QAP_MAX * QAP_MAX)
/* With at most GRAIN_MAX facilities left, and at least SPAWNED placed, a job searches all the rest.
 */
#define GRAIN_MAX 14
#define SPAWNED 4
#define NODES_OF_A_POLL 64 /* about a tenth of a millisecond */
#define SYMMETRIES_MAX 2048
#define COST_MAX (G_MAXINT64 / 8)

SATIN_RECORD (Placing, (int64_t, cost), (uint8_t, location, QAP_MAX))

/* What all jobs share. Every cost is a multiple of `unit`. Symmetries: n bytes each. */
SATIN_RECORD (Instance, (uint8_t, n), (int64_t, unit), (Placing, start), (int32_t, flow, SQUARE),
              (int32_t, distance, SQUARE), (SatinBytes, of_flow), (SatinBytes, of_distance))

/* A job: `placed` facilities and where each went; none of its placings costs less than `bound`. */
SATIN_RECORD (Branch, (uint8_t, placed), (int64_t, bound), (uint8_t, facility, QAP_MAX),
              (uint8_t, location, QAP_MAX))

/* A total order: cheaper, then the smaller placing. */
static const Placing *
placing_better (const Placing *a, const Placing *b)
{
  if (a->cost != b->cost)
    return a->cost < b->cost ? a : b;
  return memcmp (a->location, b->location, sizeof a->location) <= 0 ? a : b;
}

SATIN_CONST (Instance, instance)
SATIN_BEST (Placing, best, placing_better, { INT64_MAX, { 0 } })

static inline Qap
qap_of (const Instance *shared)
{
  return (Qap){ shared->n, shared->flow, shared->distance };
}

/* Searching ---------------------------------------------------------------------------------- */

static Placing
best_known (void)
{
  Placing known = satin_best (best);

  return *placing_better (&known, &satin_const (instance)->start);
}

/* The highest cost that is worth looking for. */
static inline gint64
most_wanted (void)
{
  const Instance *shared = satin_const (instance);

  return MIN (satin_best (best).cost, shared->start.cost) - shared->unit;
}

/* A search of all that is left by a level, depth first; lies on the stack, since a job that polls
 * owns nothing else. level[m] has m facilities left. */
typedef struct
{
  Level level[GRAIN_MAX + 1];
  gint64 memory[LEVEL_WORDS (GRAIN_MAX) * (GRAIN_MAX + 1) / 2];
  int m, top;
  guint8 location[QAP_MAX]; /* of the facilities that are placed */
} Search;

/* Bounds the level that the search has come to. FALSE: nothing better lies below it. */
static gboolean
enter (Search *search)
{
  Level *level = &search->level[search->m];
  gint64 most = most_wanted ();

  if (!level_bound (level, most))
    return FALSE;
  if (search->m > 1)
    {
      level_branch (level, most, NULL, NULL);
      return level->n_children > 0;
    }
  /* The last one: its bound is what it costs. */
  {
    Placing placing = { .cost = level->bound };

    memcpy (placing.location, search->location, sizeof placing.location);
    placing.location[level->facility[0]] = level->location[0];
    satin_improve (best, &placing);
  }
  return FALSE;
}

/* Goes on for some nodes. FALSE: all is searched. */
static gboolean
search_on (Search *search)
{
  Qap qap = qap_of (satin_const (instance));

  for (int nodes = 0; nodes < NODES_OF_A_POLL; nodes++)
    {
      Level *level = &search->level[search->m];
      LevelChild child;

      /* The children left are no better than the next one. */
      while (level->n_children == 0 || level->child[level->n_children - 1].bound > most_wanted ())
        {
          if (search->m == search->top)
            return FALSE;
          level = &search->level[++search->m];
        }
      child = level->child[--level->n_children];
      level_place (&search->level[--search->m], level, &qap, child.facility, child.location);
      search->location[child.facility] = child.location;
      if (!enter (search))
        search->m++;
    }
  return TRUE;
}

/* Begins a search below the branch. FALSE: there is nothing to search. */
static gboolean
search_start (Search *search, const Level *from, const Branch *branch)
{
  gint64 *memory = search->memory;

  search->m = search->top = from->m;
  for (int m = from->m; m > 0; memory += LEVEL_WORDS (m), m--)
    level_lay (&search->level[m], m, memory);
  memcpy (search->memory, from->linear, LEVEL_WORDS (from->m) * sizeof *memory);
  search->level[from->m].placed = from->placed;
  memset (search->location, 0, sizeof search->location);
  for (int i = 0; i < branch->placed; i++)
    search->location[branch->facility[i]] = branch->location[i];
  return enter (search);
}

/* Flags what a symmetry that keeps all of `placed` in its place maps to something smaller: what
 * can be done with it can be done with that. */
static void
mark_alike (GBytes *symmetries, int n, const guint8 *placed, int n_placed, gboolean *skip)
{
  gsize size;
  const guint8 *to = g_bytes_get_data (symmetries, &size);

  for (const guint8 *end = to + size; to < end; to += n)
    {
      gboolean keeps = TRUE;

      for (int i = 0; i < n_placed && keeps; i++)
        keeps = to[placed[i]] == placed[i];
      for (int i = 0; keeps && i < n; i++)
        skip[i] = skip[i] || to[i] < i;
    }
}

/* (transfer full): what is left below the branch. */
static gint64 *
level_of (const Branch *branch, Level *level)
{
  Qap qap = qap_of (satin_const (instance));
  gint64 *memory = g_new (gint64, LEVEL_WORDS (qap.n));

  level_lay (level, qap.n, memory);
  level_first (level, &qap);
  for (int i = 0; i < branch->placed; i++)
    {
      gint64 *below = g_new (gint64, LEVEL_WORDS (level->m - 1));
      Level next;

      level_lay (&next, level->m - 1, below);
      level_place (&next, level, &qap, branch->facility[i], branch->location[i]);
      *level = next;
      g_free (memory);
      memory = below;
    }
  return memory;
}

/* Fills the children of a branch with many facilities left. They do not depend on the best. */
static int
children_of (const Branch *branch, Level *level, LevelChild *child)
{
  const Instance *shared = satin_const (instance);
  gboolean skip_facility[QAP_MAX] = { FALSE }, skip_location[QAP_MAX] = { FALSE };
  gint64 most = shared->start.cost - shared->unit;

  if (!level_bound (level, most) || level->bound > most_wanted ())
    return 0;
  mark_alike (shared->of_flow, shared->n, branch->facility, branch->placed, skip_facility);
  mark_alike (shared->of_distance, shared->n, branch->location, branch->placed, skip_location);
  level_branch (level, most, skip_facility, skip_location);
  memcpy (child, level->child, (gsize)level->n_children * sizeof *child);
  return level->n_children;
}

/* The cheapest placing below the branch, or a better one, found in this job. */
SATIN_JOB (finish, Placing, (Branch, branch))
{
  Search here;
  gboolean more;

  if (branch.bound > most_wanted ())
    return best_known ();
  {
    Level level;
    g_autofree gint64 *memory = level_of (&branch, &level);

    more = search_start (&here, &level, &branch);
  }
  while (more && search_on (&here))
    satin_aborted ();
  return best_known ();
}

/* The same by jobs. */
SATIN_JOB (search, Placing, (Branch, branch))
{
  Placing cheapest, found[QAP_MAX];
  LevelChild child[QAP_MAX];
  int n = satin_const (instance)->n, n_children, at = branch.placed;

  if (branch.bound > most_wanted ())
    return best_known ();
  {
    Level level;
    g_autofree gint64 *memory = level_of (&branch, &level);

    n_children = children_of (&branch, &level, child);
  }
  branch.placed++;
  /* The last spawned runs first: the one of the least bound. */
  for (int k = 0; k < n_children; k++)
    {
      branch.bound = child[k].bound;
      branch.facility[at] = child[k].facility;
      branch.location[at] = child[k].location;
      if (n - branch.placed <= MAX (1, MIN (GRAIN_MAX, n - SPAWNED)))
        satin_spawn (finish, &found[k], branch);
      else
        satin_spawn (search, &found[k], branch);
    }
  satin_sync ();
  cheapest = best_known ();
  for (int k = 0; k < n_children; k++)
    cheapest = *placing_better (&cheapest, &found[k]);
  return cheapest;
}

/* Reading ------------------------------------------------------------------------------------ */

/* The next word that is not in a comment: a line that begins with # or %. */
static gboolean
next_number (Words *words, gint64 min, gint64 max, const char *what, gint64 *number, GError **error)
{
  while (words_next (words) && words->first && strchr ("#%", words->word[0]) != NULL)
    words_skip_line (words);
  return words_as_number (words, what, min, max, number, error);
}

/* QAPLIB: n, then two matrices of n x n; line ends mean nothing, but that n may have the best cost
 * known beside it, as in Taillard's files. */
static gboolean
read_file (Words *words, Instance *shared, GError **error)
{
  gint32 *matrix[] = { shared->flow, shared->distance };
  gint64 n = 0, value = 0;
  gboolean alone;

  if (!next_number (words, 1, QAP_MAX, "the number of facilities", &n, error))
    return FALSE;
  shared->n = (uint8_t)n;
  alone = words_left_in_line (words) == 1;
  if (alone && n > 1 && !next_number (words, 0, G_MAXINT64, "the best cost known", &value, error))
    return FALSE;
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < n * n; i++)
      {
        g_autofree char *what = g_strdup_printf ("element %d of row %d of matrix %d",
                                                 (int)(i % n + 1), (int)(i / n + 1), which + 1);

        if (!next_number (words, -G_MAXINT32, G_MAXINT32, what, &value, error))
          return FALSE;
        matrix[which][i] = (gint32)value;
      }
  while (words_next (words))
    {
      if (!words->first || strchr ("#%", words->word[0]) == NULL)
        return words_refuse (words, error, "'%s' stands behind the two matrices of %d x %d",
                             words->word, (int)n, (int)n);
      words_skip_line (words);
    }
  return TRUE;
}

/* FALSE: a cost might not fit in a number. */
static gboolean
costs_fit (const Instance *shared)
{
  int square = shared->n * shared->n;
  gint64 flow = 1, distance = 1;

  for (int i = 0; i < square; i++)
    {
      flow = MAX (flow, ABS ((gint64)shared->flow[i]));
      distance = MAX (distance, ABS ((gint64)shared->distance[i]));
    }
  return flow <= COST_MAX / square / distance;
}

/* Main --------------------------------------------------------------------------------------- */

static gint64
greatest_divisor (gint64 a, gint64 b)
{
  while (b != 0)
    {
      gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return ABS (a);
}

/* The greatest number that divides what each part of a matrix adds: what two elements that mirror
 * each other add together when the other matrix is symmetric, and the diagonal. */
static gint64
unit_of (int n, const gint32 *matrix, const gint32 *other)
{
  gint64 unit = 0;
  gboolean symmetric = TRUE;

  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      symmetric = symmetric && other[i * n + k] == other[k * n + i];
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= i; k++)
      {
        gint64 there = matrix[i * n + k], back = matrix[k * n + i];

        unit = greatest_divisor (unit, symmetric && i != k ? there + back : there);
        unit = greatest_divisor (unit, symmetric && i != k ? 0 : back);
      }
  return MAX (unit, 1);
}

/* Fills what follows from the two matrices; the bytes are (transfer full). */
static void
prepare (Instance *shared)
{
  Qap qap = qap_of (shared);

  shared->start.cost = start_search (&qap, shared->start.location);
  shared->unit
      = MAX (unit_of (qap.n, qap.flow, qap.distance), unit_of (qap.n, qap.distance, qap.flow));
  shared->of_flow = g_byte_array_free_to_bytes (start_symmetries (qap.n, qap.flow, SYMMETRIES_MAX));
  shared->of_distance
      = g_byte_array_free_to_bytes (start_symmetries (qap.n, qap.distance, SYMMETRIES_MAX));
}

/* Prints the placing, if it is one and costs what it says. */
static int
print_placing (const Instance *shared, const Placing *placing)
{
  Qap qap = qap_of (shared);
  gboolean taken[QAP_MAX] = { FALSE }, right = TRUE;

  for (int i = 0; i < qap.n; i++)
    {
      right = right && placing->location[i] < qap.n && !taken[placing->location[i]];
      taken[placing->location[i] % QAP_MAX] = TRUE;
    }
  if (!right || start_cost (&qap, placing->location) != placing->cost)
    {
      fprintf (stderr, "qap: the placing found fails its check; this is a bug\n");
      return 1;
    }
  printf ("cost %" PRId64 "\nplacing", placing->cost);
  for (int i = 0; i < qap.n; i++)
    printf (" %d", placing->location[i] + 1);
  printf ("\n");
  return 0;
}

/* What is known when a run is suspended: the cheapest placing so far, and what the first bound
 * proves. */
static void
print_gap (void)
{
  Branch all = { 0 };
  Level level;
  g_autofree gint64 *memory = level_of (&all, &level);
  gint64 most = best_known ().cost, least;

  level_bound (&level, most);
  least = MIN (level.bound, most);
  fprintf (stderr, "qap: so far %" PRId64 ", at least %" PRId64 ", gap %" PRId64 "\n", most, least,
           most - least);
}

static int
qap_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree Instance *shared = g_new0 (Instance, 1);
  Branch all = { .bound = INT64_MIN };
  Placing found;
  GBytes *bytes;
  Words words;

  if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0'))
    {
      fprintf (stderr, "qap: one FILE is needed; usage: qap FILE\n");
      return 2;
    }
  bytes = satin_input (run, argv[1], &error);
  words = bytes == NULL ? (Words){ 0 } : words_of (argv[1], bytes);
  if (bytes != NULL && read_file (&words, shared, &error) && !costs_fit (shared))
    words_refuse (&words, &error, "the numbers are too large together");
  if (error != NULL)
    {
      fprintf (stderr, "qap: %s\n", error->message);
      return 1;
    }
  prepare (shared);
  satin_publish (run, instance, shared);
  g_bytes_unref (shared->of_flow);
  g_bytes_unref (shared->of_distance);
  if (!satin_root (run, search, &found, all))
    {
      print_gap ();
      return satin_stopped (run);
    }
  return print_placing (shared, &found);
}

SATIN_APP ("qap", "FILE", qap_main, &search_job, &finish_job)
