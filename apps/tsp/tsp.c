/* SPDX-License-Identifier: BSD-3-Clause */
/* The travelling salesman, exactly: branch and bound over the edges of a tour, with one job for
 * each set of decisions. This file has the jobs and main; tsplib.c reads, start.c finds a first
 * tour, bound.c bounds and branches. If distances depend on the direction, directed.c makes two
 * cities of each, and edges are edges of those.
 *
 * How the laws are kept. Steady: the branch of a job depends only on its decisions and the
 * constant; the best tour known may close a job, but never changes its children. Witnessed: a
 * closed job returns the whole best tour. */
#include "config.h"

#include <satin.h>

#include "bound.h"
#include "directed.h"
#include "start.h"
#include "tsplib.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CITIES_MAX TSPLIB_CITIES_MAX
#define MATRIX_MAX (CITIES_MAX * CITIES_MAX)
/* Most decisions of a job; deeper ones are searched inside it. */
#define DEPTH_MAX 96
/* Less than the length of any tour. */
#define LENGTH_MIN (-(gint64)CITIES_MAX * TSPLIB_DISTANCE_MAX - 1)
/* After an ascent that decided some edges, so many shorter ascents follow. */
#define REDUCE_ROUNDS 3

SATIN_RECORD (Tour, (int64_t, length), (uint16_t, n), (uint8_t, city, CITIES_MAX))

/* The data of all jobs. Edges that no tour shorter than `start` uses are removed from the matrix;
 * no tour is shorter than `least`. Directed: the cities are those of the doubled instance. */
SATIN_RECORD (Instance, (Tour, start), (int64_t, least), (uint16_t, n), (uint8_t, directed),
              (int32_t, scale), (int32_t, penalty, CITIES_MAX), (int32_t, distance, MATRIX_MAX))

/* The decisions of a job, and the penalties that its parent found. */
SATIN_RECORD (Branch, (uint16_t, depth), (uint8_t, a, DEPTH_MAX), (uint8_t, b, DEPTH_MAX),
              (uint8_t, in, DEPTH_MAX), (int32_t, penalty, CITIES_MAX))

G_STATIC_ASSERT (CITIES_MAX <= 256); /* a city fits in a byte */
G_STATIC_ASSERT (TSPLIB_DISTANCE_MAX <= BOUND_DISTANCE_MAX);
G_STATIC_ASSERT (2 * TSPLIB_DIRECTED_MAX <= CITIES_MAX);
G_STATIC_ASSERT (TSPLIB_DIRECTED_MAX <= DIRECTED_CITIES_MAX);

/* A total order: the shorter tour, then any tour before none, then the smaller one. */
static const Tour *
tour_better (const Tour *a, const Tour *b)
{
  if (a->length != b->length)
    return a->length < b->length ? a : b;
  if (a->n != b->n)
    return a->n > b->n ? a : b;
  return memcmp (a->city, b->city, sizeof a->city) <= 0 ? a : b;
}

SATIN_CONST (Instance, instance)
SATIN_BEST (Tour, best, tour_better, { INT64_MAX, 0, { 0 } })

static char *
tour_show (const Tour *tour)
{
  return tour->n > 0 ? g_strdup_printf ("length %" PRId64, tour->length) : NULL;
}

SATIN_BEST_SHOW (best, tour_show)

static const BoundEffort effort_root = { 2000, 20, 2048, 4 };
static const BoundEffort effort_job = { 40, 5, 1024, 64 };
static const BoundEffort effort_again = { 15, 4, 512, 64 };

/* ---- searching ---- */

static Tour
best_known (void)
{
  Tour known = satin_best (best);

  return *tour_better (&known, &satin_const (instance)->start);
}

/* Bounds the tours that obey these decisions. OPEN: the bound is ready to branch. */
static BoundOutcome
bound_tours (Bound *bound, const BoundDecision *decisions, int n_decisions, gint64 upper)
{
  gint64 target = satin_const (instance)->start.length;
  BoundOutcome outcome;

  if (!bound_start (bound, decisions, n_decisions))
    return BOUND_CLOSED;
  outcome = bound_ascend (bound, upper, target, &effort_job);
  for (int round = 0; outcome == BOUND_OPEN && round < REDUCE_ROUNDS; round++)
    {
      int n_decided = bound_reduce (bound, target);

      if (n_decided < 0)
        return BOUND_CLOSED;
      if (n_decided == 0)
        return BOUND_OPEN;
      outcome = bound_ascend (bound, upper, target, &effort_again);
    }
  return outcome;
}

/* Announces the tour that the bound found. */
static void
found_tour (const Bound *bound)
{
  const Instance *shared = satin_const (instance);
  Tour tour = { .n = (uint16_t)(shared->directed ? shared->n / 2 : shared->n) };
  guint8 city[CITIES_MAX];

  bound_tour (bound, city);
  tour.length = start_length (shared->n, shared->distance, city);
  if (shared->directed)
    directed_tour (tour.n, city, tour.city);
  else
    memcpy (tour.city, city, tour.n);
  satin_improve (best, &tour);
}

/* The decisions that every tour obeys, and those of the branch. (transfer full) */
static GArray *
decisions_of (const Instance *shared, const Branch *branch)
{
  GArray *decisions = g_array_new (FALSE, FALSE, sizeof (BoundDecision));

  if (shared->directed)
    {
      g_array_set_size (decisions, shared->n / 2);
      directed_decide (shared->n / 2, (BoundDecision *)(gpointer)decisions->data);
    }
  for (int i = 0; i < branch->depth; i++)
    {
      BoundDecision next = { branch->a[i], branch->b[i], branch->in[i] };

      g_array_append_val (decisions, next);
    }
  return decisions;
}

/* Searches everything below these decisions inside this job. The depth is at most the number of
 * edges. */
static void
search_here (Bound *bound, GArray *decisions)
{
  gsize size = satin_const (instance)->n * sizeof (gint32);
  g_autofree gint32 *penalty = g_memdup2 (bound_penalties (bound), size);
  BoundOutcome outcome = bound_tours (bound, (BoundDecision *)(gpointer)decisions->data,
                                      (int)decisions->len, best_known ().length);
  BoundDecision branch;

  if (outcome == BOUND_TOUR)
    found_tour (bound);
  if (outcome != BOUND_OPEN)
    return;
  memcpy (penalty, bound_penalties (bound), size);
  branch = bound_branch (bound);
  for (int in = 1; in >= 0; in--)
    {
      branch.in = in;
      g_array_append_val (decisions, branch);
      memcpy (bound_penalties (bound), penalty, size);
      search_here (bound, decisions);
      g_array_set_size (decisions, decisions->len - 1);
    }
}

/* A job without its children. TRUE: it has children, which add one decision to `branch`, whose
 * penalties were renewed. FALSE: the tours below it are done. */
static gboolean
branch_step (Branch *branch)
{
  const Instance *shared = satin_const (instance);
  g_autoptr (Bound) bound = NULL;
  g_autoptr (GArray) decisions = NULL;
  gsize size = shared->n * sizeof (gint32);
  BoundOutcome outcome;
  BoundDecision next;

  if (shared->n < BOUND_CITIES_MIN)
    return FALSE;
  bound = bound_new (shared->n, shared->distance, shared->scale);
  decisions = decisions_of (shared, branch);
  memcpy (bound_penalties (bound), branch->penalty, size);
  if (branch->depth == DEPTH_MAX)
    {
      search_here (bound, decisions);
      return FALSE;
    }
  outcome = bound_tours (bound, (BoundDecision *)(gpointer)decisions->data, (int)decisions->len,
                         best_known ().length);
  if (outcome == BOUND_TOUR)
    found_tour (bound);
  if (outcome != BOUND_OPEN)
    return FALSE;
  next = bound_branch (bound);
  branch->a[branch->depth] = next.a;
  branch->b[branch->depth] = next.b;
  memcpy (branch->penalty, bound_penalties (bound), size);
  return TRUE;
}

/* The best tour that obeys the decisions, or a better one that does not. */
SATIN_JOB (search, Tour, (Branch, branch))
{
  Tour with, without;
  int at = branch.depth;

  if (!branch_step (&branch))
    return best_known ();
  branch.depth++;
  branch.in[at] = TRUE;
  satin_spawn (search, &with, branch);
  branch.in[at] = FALSE;
  satin_spawn (search, &without, branch);
  satin_sync ();
  return *tour_better (&with, &without);
}

/* ---- main ---- */

typedef struct
{
  const char *file;
  gint64 upper; /* tours up to this length are wanted */
} Options;

static gboolean
parse_length (const char *text, gint64 *length)
{
  char *stop;

  if (text == NULL || *text == '\0')
    return FALSE;
  *length = g_ascii_strtoll (text, &stop, 10);
  return *stop == '\0' && *length > G_MININT64 && *length < G_MAXINT64;
}

static gboolean
parse_options (int argc, char **argv, Options *options)
{
  *options = (Options){ NULL, G_MAXINT64 - 1 };
  for (int i = 1; i < argc; i++)
    {
      gboolean joined = g_str_has_prefix (argv[i], "--upper=");

      if (joined || strcmp (argv[i], "--upper") == 0)
        {
          const char *value = joined ? strchr (argv[i], '=') + 1 : argv[++i];

          if (!parse_length (value, &options->upper))
            {
              fprintf (stderr, "tsp: --upper needs a whole number, the length of a tour\n");
              return FALSE;
            }
        }
      else if (argv[i][0] == '-' && argv[i][1] != '\0')
        {
          fprintf (stderr, "tsp: '%s' is no option of tsp; usage: tsp FILE [--upper LENGTH]\n",
                   argv[i]);
          return FALSE;
        }
      else if (options->file != NULL)
        {
          fprintf (stderr, "tsp: one FILE at a time, not '%s' too\n", argv[i]);
          return FALSE;
        }
      else
        options->file = argv[i];
    }
  if (options->file == NULL)
    fprintf (stderr, "tsp: no FILE given; usage: tsp FILE [--upper LENGTH]\n");
  return options->file != NULL;
}

/* (transfer full) (nullable) */
static Tsplib *
read_instance (SatinRun *run, const char *file)
{
  g_autoptr (GError) error = NULL;
  Tsplib *tsplib = NULL;
  GBytes *bytes = satin_input (run, file, &error);
  gsize size;

  if (bytes != NULL)
    {
      const char *text = g_bytes_get_data (bytes, &size);

      tsplib = tsplib_read (file, text, size, &error);
    }
  if (tsplib == NULL)
    fprintf (stderr, "tsp: %s%s%s\n", strstr (error->message, file) != NULL ? "" : file,
             strstr (error->message, file) != NULL ? "" : ": ", error->message);
  return tsplib;
}

/* Bounds the whole instance with great effort, and removes the edges that no tour shorter than the
 * start uses. Begins with the penalties in `shared`, and leaves the final ones there. */
static void
thin_out (Instance *shared)
{
  Branch none = { 0 };
  g_autoptr (Bound) bound = bound_new (shared->n, shared->distance, shared->scale);
  g_autoptr (GArray) decisions = decisions_of (shared, &none);
  gint64 target = shared->start.length;
  int n = shared->n;
  int n_decided = 1;

  memcpy (bound_penalties (bound), shared->penalty, (gsize)n * sizeof (gint32));
  if (!bound_start (bound, (BoundDecision *)(gpointer)decisions->data, (int)decisions->len))
    return;
  for (int round = 0; n_decided > 0 && round < REDUCE_ROUNDS; round++)
    {
      if (bound_ascend (bound, target, target, &effort_root) != BOUND_OPEN)
        break;
      shared->least = MAX (shared->least, bound_length (bound));
      n_decided = bound_reduce (bound, target);
    }
  memcpy (shared->penalty, bound_penalties (bound), (gsize)n * sizeof (gint32));
  if (n_decided < 0)
    return;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      if (bound_is_out (bound, a, b))
        shared->distance[a * n + b] = BOUND_NO_EDGE;
}

/* The data that jobs need. (transfer full) */
static Instance *
prepare (const Tsplib *tsplib, gint64 upper)
{
  Instance *shared = g_new0 (Instance, 1);
  int n = tsplib->n, n_all = tsplib->directed ? 2 * n : n;

  shared->n = (uint16_t)n_all;
  shared->directed = tsplib->directed != FALSE;
  shared->start.n = (uint16_t)n;
  shared->least = LENGTH_MIN;
  if (tsplib->directed)
    {
      directed_double (n, tsplib->distance, shared->distance);
      shared->scale = bound_scale (n_all, shared->distance);
      directed_penalties (n, tsplib->distance, shared->scale, shared->penalty);
      shared->start.length = directed_start (n, tsplib->distance, shared->start.city);
    }
  else
    {
      memcpy (shared->distance, tsplib->distance, (gsize)(n * n) * sizeof (gint32));
      shared->scale = bound_scale (n, shared->distance);
      shared->start.length = start_tour (n, tsplib->distance, shared->start.city);
    }
  if (shared->start.length > upper)
    shared->start = (Tour){ .length = MAX (upper, LENGTH_MIN) + 1 };
  if (n_all >= BOUND_CITIES_MIN)
    thin_out (shared);
  return shared;
}

/* TRUE: the tour visits every city once and has its length, by the distances that were read. */
static gboolean
is_right (const Tsplib *tsplib, const Tour *tour)
{
  gboolean seen[CITIES_MAX] = { FALSE };

  if (tour->n != tsplib->n)
    return FALSE;
  for (int i = 0; i < tsplib->n; i++)
    {
      if (tour->city[i] >= tsplib->n || seen[tour->city[i]])
        return FALSE;
      seen[tour->city[i]] = TRUE;
    }
  return start_length (tsplib->n, tsplib->distance, tour->city) == tour->length;
}

static void
print_tour (const Tsplib *tsplib, const Tour *tour)
{
  printf ("length %" PRId64 "\ntour", tour->length);
  for (int i = 0; i < tour->n; i++)
    printf (" %d", tsplib->label[tour->city[i]]);
  printf ("\n");
}

/* What is known when a run is suspended: the shortest tour so far, and the first bound. */
static void
print_gap (const Instance *shared)
{
  Tour known = best_known ();
  gint64 least = MIN (shared->least, known.length);

  if (known.n == 0)
    fprintf (stderr, "tsp: no tour so far, at least %" PRId64 "\n", least);
  else
    fprintf (stderr, "tsp: so far %" PRId64 ", at least %" PRId64 ", gap %" PRId64 "\n",
             known.length, least, known.length - least);
}

static int
tsp_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (Tsplib) tsplib = NULL;
  g_autofree Instance *shared = NULL;
  Branch root = { 0 };
  Options options;
  Tour tour;

  if (!parse_options (argc, argv, &options))
    return 2;
  tsplib = read_instance (run, options.file);
  if (tsplib == NULL)
    return 1;
  shared = prepare (tsplib, options.upper);
  satin_publish (run, instance, shared);
  memcpy (root.penalty, shared->penalty, sizeof root.penalty);
  if (!satin_root (run, search, &tour, root))
    {
      print_gap (shared);
      return satin_stopped (run);
    }
  if (tour.n == 0)
    {
      fprintf (stderr, "tsp: %s: no tour has a length of %" PRId64 " or less\n", options.file,
               options.upper);
      return 1;
    }
  if (!is_right (tsplib, &tour))
    {
      fprintf (stderr, "tsp: %s: the tour found fails its check; this is a bug\n", options.file);
      return 1;
    }
  print_tour (tsplib, &tour);
  return 0;
}

SATIN_APP ("tsp", "FILE [--upper LENGTH]", tsp_main)
