/* SPDX-License-Identifier: BSD-3-Clause */
/* The quadratic assignment problem, exactly: facilities with flows between them are placed at
 * locations with distances between them, by branch and bound. This file has the jobs and main;
 * level.c bounds large remaining problems, a dual smaller ones; start.c finds a first placing and
 * symmetries.
 *
 * A job is a list of placed facilities. Its children follow only from that list and constants. The
 * best placing known closes jobs, and orders the search inside a job, but never changes child k. If
 * few facilities are left, one job of another kind searches them. */
#include "config.h"

#include <satin.h>

#include "dual.h"
#include "qaplib.h"
#include "start.h"

#include <inttypes.h>

#define SQUARE (QAP_MAX * QAP_MAX)
/* With at most GRAIN_MAX facilities left, and at least SPAWNED placed, one job searches the
 * rest. */
#define GRAIN_MAX 17
#define SPAWNED 2
/* Rounds of the ascent at a node. More follow while HOPE more rounds like the last would close
 * it. */
#define ROUNDS 2
#define ROUNDS_ROOT 30
#define HOPE 8
#define NODES_OF_A_POLL 4 /* about a millisecond */
#define SYMMETRIES_MAX 2048

SATIN_RECORD (Placing, (int64_t, cost), (uint8_t, location, QAP_MAX))

/* The data of all jobs. Every cost is a multiple of `unit`. Symmetries: n bytes each. */
SATIN_RECORD (Instance, (uint8_t, n), (int64_t, unit), (Placing, start), (int32_t, flow, SQUARE),
              (int32_t, distance, SQUARE), (SatinBytes, of_flow), (SatinBytes, of_distance))

/* A job: `placed` facilities and their locations; none of its placings costs less than `bound`. */
SATIN_RECORD (Branch, (uint8_t, placed), (int64_t, bound), (uint8_t, facility, QAP_MAX),
              (uint8_t, location, QAP_MAX))

/* A total order: the lower cost, then the smaller placing. */
static const Placing *
placing_better (const Placing *a, const Placing *b)
{
  if (a->cost != b->cost)
    return a->cost < b->cost ? a : b;
  return memcmp (a->location, b->location, sizeof a->location) <= 0 ? a : b;
}

SATIN_CONST (Instance, instance)
SATIN_BEST (Placing, best, placing_better, { INT64_MAX, { 0 } })

static char *
placing_show (const Placing *placing)
{
  return placing->cost < INT64_MAX ? g_strdup_printf ("cost %" PRId64, placing->cost) : NULL;
}

SATIN_BEST_SHOW (best, placing_show)

static inline Qap
qap_of (const Instance *shared)
{
  return (Qap){ shared->n, shared->flow, shared->distance };
}

/* ---- searching ---- */

static Placing
best_known (void)
{
  Placing known = satin_best (best);

  return *placing_better (&known, &satin_const (instance)->start);
}

/* The highest cost that is still wanted. */
static inline gint64
most_wanted (void)
{
  const Instance *shared = satin_const (instance);

  return MIN (satin_best (best).cost, shared->start.cost) - shared->unit;
}

/* The same at the beginning of the search. It is a constant, so children may depend on it. */
static inline gint64
first_wanted (void)
{
  const Instance *shared = satin_const (instance);

  return shared->start.cost - shared->unit;
}

/* Lets the bound rise and fills `child` as dual_probe does. FALSE: everything below costs more than
 * `most`. */
static gboolean
settle (Dual *dual, gint64 most, int rounds, Small *child)
{
  gint64 before;

  do
    {
      before = dual->risen;
      if (!dual_rise (dual, most))
        return FALSE;
    }
  while (--rounds > 0 && (dual->risen - before) * HOPE >= dual_slack (dual, most));
  return dual_probe (dual, most, child);
}

/* A part of the tree that one job searches, depth first. It is on the stack, since a job that polls
 * must not own anything else. dual[m] has m facilities left. */
typedef struct
{
  Dual dual[GRAIN_MAX + 1];
  LevelChild child[GRAIN_MAX + 1][GRAIN_MAX]; /* the least bound last */
  int n_children[GRAIN_MAX + 1];
  int m, top;
  guint8 location[QAP_MAX]; /* of the placed facilities */
  _Alignas(16) Small memory[GRAIN_MAX * DUAL_WORDS (GRAIN_MAX) / 2];
} Search;

/* Only one location is left for the last facility. */
static void
complete (Search *search)
{
  Qap qap = qap_of (satin_const (instance));
  Placing placing;

  search->location[search->dual[1].facility[0]] = search->dual[1].location[0];
  memcpy (placing.location, search->location, sizeof placing.location);
  placing.cost = start_cost (&qap, placing.location);
  if (placing.cost <= most_wanted ())
    satin_improve (best, &placing);
}

/* Bounds the present node. FALSE: there is nothing better below it. */
static gboolean
enter (Search *search)
{
  Dual *dual = &search->dual[search->m];
  Small child[GRAIN_MAX * GRAIN_MAX];

  if (search->m == 1)
    {
      complete (search);
      return FALSE;
    }
  if (!settle (dual, most_wanted (), ROUNDS, child))
    return FALSE;
  search->n_children[search->m] = dual_branch (dual, child, NULL, NULL, search->child[search->m]);
  return TRUE;
}

/* The index of a facility or location in a dual. */
static int
find (const guint8 *names, int name)
{
  int at = 0;

  while (names[at] != name)
    at++;
  return at;
}

/* Searches some nodes. FALSE: the search is complete. */
static gboolean
search_on (Search *search)
{
  for (int nodes = 0; nodes < NODES_OF_A_POLL; nodes++)
    {
      int m = search->m, count = search->n_children[m];
      const Dual *dual = &search->dual[m];
      LevelChild child;

      /* The remaining children are no better than the next one. */
      while (count == 0 || search->child[m][count - 1].bound > most_wanted ())
        {
          if (m == search->top)
            return FALSE;
          dual = &search->dual[++m];
          count = search->n_children[m];
        }
      search->n_children[m] = --count;
      child = search->child[m][count];
      search->m = m - 1;
      dual_place (&search->dual[m - 1], dual, find (dual->facility, child.facility),
                  find (dual->location, child.location), most_wanted ());
      search->location[child.facility] = child.location;
      if (!enter (search))
        search->m = m;
    }
  return TRUE;
}

/* Flags numbers that a symmetry which fixes all of `placed` maps to a smaller number: the two are
 * equivalent. */
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

/* ---- jobs ---- */

/* The remaining problem below the branch. (transfer full): its memory. */
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

/* A dual and the result of its probe. */
typedef struct
{
  gboolean open; /* FALSE: there is nothing better than the first placing below it */
  Dual dual;
  Small *memory;
  Small child[DUAL_MAX * DUAL_MAX];
} Node;

/* The first dual below a branch: with DUAL_MAX facilities left, or all if there are fewer. */
static void
node_first (Node *node, const Branch *branch)
{
  Qap qap = qap_of (satin_const (instance));
  gint64 most = first_wanted ();
  Level level;
  g_autofree gint64 *memory = level_of (branch, &level);

  node->memory = g_new (Small, DUAL_WORDS (level.m));
  dual_lay (&node->dual, level.m, node->memory);
  node->open = dual_first (&node->dual, &level, &qap, most)
               && settle (&node->dual, most, ROUNDS_ROOT, node->child);
}

/* The node at which all branches of a small instance begin. It follows from constants, so it is
 * made once. */
static const Node *
root_node (void)
{
  static Node *root;

  if (g_once_init_enter (&root))
    {
      Node *fresh = g_new (Node, 1);
      Branch all = { 0 };

      node_first (fresh, &all);
      g_once_init_leave (&root, fresh);
    }
  return root;
}

/* Fills the node of a branch with at most DUAL_MAX facilities left; its memory is (transfer full).
 * Depends on `most`, not on the best. */
static void
node_of (Node *node, const Branch *branch, gint64 most)
{
  Branch begun = *branch;

  begun.placed = (uint8_t)MAX (satin_const (instance)->n - DUAL_MAX, 0);
  if (begun.placed > 0)
    node_first (node, &begun);
  else
    {
      *node = *root_node ();
      node->memory = g_memdup2 (node->memory, DUAL_WORDS (node->dual.m) * sizeof (Small));
      dual_lay (&node->dual, node->dual.m, node->memory);
    }
  for (int i = begun.placed; i < branch->placed && node->open; i++)
    {
      Dual from = node->dual;
      g_autofree Small *memory = node->memory;
      int a = find (from.facility, branch->facility[i]),
          b = find (from.location, branch->location[i]);

      node->memory = g_new (Small, DUAL_WORDS (from.m - 1));
      dual_lay (&node->dual, from.m - 1, node->memory);
      node->open = from.leader[a * from.width + b] != SMALL_BARRED;
      if (!node->open)
        return;
      dual_place (&node->dual, &from, a, b, most);
      node->open = node->dual.m == 1 || settle (&node->dual, most, ROUNDS, node->child);
    }
}

/* Fills the children of a branch that is not searched by one job. They do not depend on the
 * best. */
static int
children_of (const Branch *branch, LevelChild *child)
{
  const Instance *shared = satin_const (instance);
  gboolean skip_facility[QAP_MAX] = { FALSE }, skip_location[QAP_MAX] = { FALSE };
  int count = 0;

  mark_alike (shared->of_flow, shared->n, branch->facility, branch->placed, skip_facility);
  mark_alike (shared->of_distance, shared->n, branch->location, branch->placed, skip_location);
  if (shared->n - branch->placed > DUAL_MAX)
    {
      Level level;
      g_autofree gint64 *memory = level_of (branch, &level);

      if (!level_bound (&level, first_wanted ()))
        return 0;
      level_branch (&level, first_wanted (), skip_facility, skip_location);
      memcpy (child, level.child, (gsize)level.n_children * sizeof *child);
      return level.n_children;
    }
  {
    Node node;

    node_of (&node, branch, first_wanted ());
    if (node.open)
      count = dual_branch (&node.dual, node.child, skip_facility, skip_location, child);
    g_free (node.memory);
  }
  return count;
}

/* Begins a search below the branch. FALSE: there is nothing to search. */
static gboolean
search_start (Search *search, const Branch *branch)
{
  Small *memory = search->memory;
  gsize words = 0;
  gboolean open;
  Node node;

  memset (search->location, 0, sizeof search->location);
  for (int i = 0; i < branch->placed; i++)
    search->location[branch->facility[i]] = branch->location[i];
  node_of (&node, branch, most_wanted ());
  search->m = search->top = node.dual.m;
  search->dual[search->m] = node.dual;
  for (int m = search->m; m > 0; words += DUAL_WORDS (m), m--)
    dual_lay (&search->dual[m], m, memory + words);
  g_assert (words <= G_N_ELEMENTS (search->memory));
  memcpy (memory, node.memory, DUAL_WORDS (node.dual.m) * sizeof (Small));
  g_free (node.memory);
  open = node.open;
  if (open && search->m == 1)
    {
      complete (search);
      return FALSE;
    }
  if (open)
    search->n_children[search->m]
        = dual_branch (&search->dual[search->m], node.child, NULL, NULL, search->child[search->m]);
  return open;
}

/* The cheapest placing below the branch, or a better one, found inside this job. */
SATIN_JOB (finish, Placing, (Branch, branch))
{
  Search here;
  gboolean more;

  if (branch.bound > most_wanted ())
    return best_known ();
  more = search_start (&here, &branch);
  while (more)
    {
      more = search_on (&here);
      satin_aborted ();
    }
  return best_known ();
}

/* The same with child jobs. */
SATIN_JOB (search, Placing, (Branch, branch))
{
  Placing cheapest, found[QAP_MAX];
  LevelChild child[QAP_MAX];
  int n = satin_const (instance)->n, n_children, at = branch.placed;

  if (branch.bound > most_wanted ())
    return best_known ();
  n_children = children_of (&branch, child);
  branch.placed++;
  /* The child spawned last runs first: the one with the least bound. */
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

/* ---- main ---- */

/* Fills what follows from the two matrices; the bytes are (transfer full). */
static void
prepare (Instance *shared)
{
  Qap qap = qap_of (shared);

  shared->start.cost = start_search (&qap, shared->start.location);
  shared->unit = start_unit (&qap);
  shared->of_flow = g_byte_array_free_to_bytes (start_symmetries (qap.n, qap.flow, SYMMETRIES_MAX));
  shared->of_distance
      = g_byte_array_free_to_bytes (start_symmetries (qap.n, qap.distance, SYMMETRIES_MAX));
}

/* Prints the placing, if it is valid and has its cost. */
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

/* What is known when a run is suspended: the cheapest placing so far, and the first bound. */
static void
print_gap (void)
{
  gint64 most = best_known ().cost, least = most;

  if (satin_const (instance)->n > DUAL_MAX)
    {
      Branch all = { 0 };
      Level level;
      g_autofree gint64 *memory = level_of (&all, &level);

      level_bound (&level, most);
      least = MIN (level.bound, most);
    }
  else if (root_node ()->open)
    least = MIN (dual_cost (&root_node ()->dual, 0), most);
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
  int n;

  if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0'))
    {
      fprintf (stderr, "qap: one FILE is needed; usage: qap FILE\n");
      return 2;
    }
  bytes = satin_input (run, argv[1], &error);
  words = bytes == NULL ? (Words){ 0 } : words_of (argv[1], bytes);
  if (bytes != NULL && qaplib_read (&words, &n, shared->flow, shared->distance, &error))
    shared->n = (uint8_t)n;
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
