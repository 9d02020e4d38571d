/* SPDX-License-Identifier: BSD-3-Clause */
/* Satisfiability of a formula in conjunctive normal form, by the search of Davis, Putnam, Logemann
 * and Loveland with unit propagation. A job is a list of decisions. It branches on a literal that
 * follows only from the formula with these decisions. The first model found ends the search
 * everywhere. */
#include <satin.h>

#include "../words.h"

#include <stdlib.h>

#define VARIABLES_MAX (1 << 22)
#define DECISIONS_MAX 64 /* deeper decisions are searched inside the job */
#define TRY_EVERY 4      /* each fourth level tries to finish without branching, … */
#define TRY_NODES 200    /* … within so many nodes */

/* Little-endian 32-bit literals, a 0 after each clause. */
SATIN_RECORD (Formula, (int32_t, variables), (int32_t, clauses), (SatinBytes, literals))
SATIN_RECORD (Decisions, (uint16_t, n), (int32_t, literal, DECISIONS_MAX))

/* A bit for each variable, 1 is true; empty: there is no model. */
SATIN_RECORD (Verdict, (uint8_t, satisfiable), (SatinBytes, model))

SATIN_CONST (Formula, formula)

/* The formula indexed by literals, for all threads of the process. Literal v > 0 has number 2v, -v
 * has 2v + 1. Clause c is literal[clause[c]] … literal[clause[c + 1] - 1]. The clauses with literal
 * number l are occurrence[first[l]] … occurrence[first[l + 1] - 1]. */
typedef struct
{
  int n_variables, n_clauses;
  guint32 *literal, *clause, *occurrence, *first;
} Index;

static const Index *
the_index (void)
{
  static Index *made;
  Index *index;
  const Formula *f = satin_const (formula);
  const gint32 *text;
  gsize size;
  guint32 n = 0, c = 0;

  if (!g_once_init_enter (&made))
    return made;
  text = g_bytes_get_data (f->literals, &size);
  size /= sizeof *text;
  index = g_new0 (Index, 1);
  index->n_variables = f->variables;
  index->n_clauses = f->clauses;
  index->literal = g_new (guint32, size + 1);
  index->clause = g_new0 (guint32, (gsize)f->clauses + 1);
  index->occurrence = g_new (guint32, size + 1);
  index->first = g_new0 (guint32, 2 * (gsize)f->variables + 4);
  for (gsize i = 0; i < size; i++)
    {
      gint32 l = GINT32_FROM_LE (text[i]);

      if (l == 0)
        index->clause[++c] = n;
      else
        index->first[(index->literal[n++] = (guint32)(l > 0 ? 2 * l : -2 * l + 1)) + 2]++;
    }
  for (int l = 2; l < 2 * f->variables + 4; l++)
    index->first[l] += index->first[l - 1];
  for (c = 0; c < (guint32)f->clauses; c++)
    for (guint32 i = index->clause[c]; i < index->clause[c + 1]; i++)
      index->occurrence[index->first[index->literal[i] + 1]++] = c;
  g_once_init_leave (&made, index);
  return index;
}

/* ---- searching ---- */

typedef struct
{
  const Index *index;
  gint8 *value;    /* of each literal: 1 true, -1 false, 0 open */
  guint32 *truth;  /* of each clause: number of true literals */
  guint32 *open;   /* of each clause: number of literals that are not false */
  guint32 *trail;  /* the literals that were made true, in order */
  guint32 n_trail; /* their number; those from n_done on were not propagated */
  guint32 n_done;
  guint64 *probed; /* the last round in which each literal was probed */
  guint64 round;
  double *score; /* of each literal, while a branch is chosen */
  gint64 nodes;  /* number of nodes that may still be searched */
} State;

typedef enum
{
  NO_MODEL,
  MODEL,
  TOO_MANY
} Outcome;

static void
state_free (State *s)
{
  g_free (s->value);
  g_free (s->truth);
  g_free (s->open);
  g_free (s->trail);
  g_free (s->probed);
  g_free (s->score);
  g_free (s);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (State, state_free)

static State *
state_new (const Index *index)
{
  State *s = g_new0 (State, 1);
  gsize n_literals = 2 * (gsize)index->n_variables + 2;

  s->index = index;
  s->value = g_new0 (gint8, n_literals);
  s->truth = g_new0 (guint32, (gsize)index->n_clauses + 1);
  s->open = g_new0 (guint32, (gsize)index->n_clauses + 1);
  s->trail = g_new (guint32, n_literals);
  s->probed = g_new0 (guint64, n_literals);
  s->score = g_new0 (double, n_literals);
  for (int c = 0; c < index->n_clauses; c++)
    s->open[c] = index->clause[c + 1] - index->clause[c];
  return s;
}

static void
set_true (State *s, guint32 literal)
{
  s->value[literal] = 1;
  s->value[literal ^ 1] = -1;
  s->trail[s->n_trail++] = literal;
}

/* Counts in the clauses a literal that became true; undoing reverses exactly this. FALSE: a clause
 * is false. */
static gboolean
follow_up (State *s, guint32 literal)
{
  const Index *x = s->index;
  gboolean holds = TRUE;

  for (guint32 i = x->first[literal]; i < x->first[literal + 1]; i++)
    s->truth[x->occurrence[i]]++;
  for (guint32 i = x->first[literal ^ 1]; i < x->first[(literal ^ 1) + 1]; i++)
    {
      guint32 c = x->occurrence[i];

      s->open[c]--;
      if (s->truth[c] > 0 || s->open[c] > 1)
        continue;
      if (s->open[c] == 0)
        holds = FALSE;
      for (guint32 j = x->clause[c]; j < x->clause[c + 1]; j++)
        if (s->value[x->literal[j]] == 0)
          {
            set_true (s, x->literal[j]);
            break;
          }
    }
  return holds;
}

static gboolean
propagate (State *s)
{
  while (s->n_done < s->n_trail)
    if (!follow_up (s, s->trail[s->n_done++]))
      return FALSE;
  return TRUE;
}

/* TRUE: the literal and its consequences are true now. FALSE: contradiction. */
static gboolean
assume (State *s, guint32 literal)
{
  if (s->value[literal] == 0)
    set_true (s, literal);
  return s->value[literal] > 0 && propagate (s);
}

static void
undo (State *s, guint32 n_trail)
{
  const Index *x = s->index;

  while (s->n_trail > n_trail)
    {
      guint32 literal = s->trail[--s->n_trail];

      s->value[literal] = s->value[literal ^ 1] = 0;
      if (s->n_trail >= s->n_done)
        continue;
      s->n_done = s->n_trail;
      for (guint32 i = x->first[literal]; i < x->first[literal + 1]; i++)
        s->truth[x->occurrence[i]]--;
      for (guint32 i = x->first[literal ^ 1]; i < x->first[(literal ^ 1) + 1]; i++)
        s->open[x->occurrence[i]]++;
    }
}

/* Assumes the literals of unit clauses, with their consequences. */
static gboolean
assume_units (State *s)
{
  const Index *x = s->index;

  for (int c = 0; c < x->n_clauses; c++)
    if (s->open[c] == 0 && s->truth[c] == 0)
      return FALSE;
    else if (s->open[c] == 1 && s->truth[c] == 0)
      for (guint32 i = x->clause[c]; i < x->clause[c + 1]; i++)
        if (s->value[x->literal[i]] >= 0 && !assume (s, x->literal[i]))
          return FALSE;
  return TRUE;
}

/* Finds literals with short clauses that cannot be true, and makes their opposites true. FALSE:
 * contradiction. */
static gboolean
probe (State *s)
{
  const Index *x = s->index;

  s->round++;
  for (int c = 0; c < x->n_clauses; c++)
    if (s->truth[c] == 0 && s->open[c] == 2)
      for (guint32 i = x->clause[c]; i < x->clause[c + 1]; i++)
        {
          guint32 literal = x->literal[i] ^ 1, n_trail = s->n_trail;
          gboolean may;

          if (s->value[literal] != 0 || s->probed[literal] == s->round)
            continue;
          s->probed[literal] = s->round;
          may = assume (s, literal);
          undo (s, n_trail);
          if (!may && !assume (s, literal ^ 1))
            return FALSE;
        }
  return TRUE;
}

/* The literal to branch on: of a variable that occurs often in short clauses both ways, the way
 * that occurs more. 0: every clause is true. */
static guint32
choose (State *s)
{
  static const double weight[] = { 1, 1, 1, 0.2, 0.04, 0.008 };
  const Index *x = s->index;
  guint32 best = 0;
  double most = -1;

  memset (s->score, 0, (2 * (gsize)x->n_variables + 2) * sizeof (double));
  for (int c = 0; c < x->n_clauses; c++)
    if (s->truth[c] == 0)
      for (guint32 i = x->clause[c]; i < x->clause[c + 1]; i++)
        if (s->value[x->literal[i]] == 0)
          s->score[x->literal[i]] += weight[MIN (s->open[c], G_N_ELEMENTS (weight) - 1)];
  for (guint32 l = 2; l < 2 * (guint32)x->n_variables + 2; l += 2)
    {
      double a = s->score[l], b = s->score[l + 1], both = 1024 * a * b + a + b;

      if (both > 0 && both > most)
        {
          most = both;
          best = a >= b ? l : l + 1;
        }
    }
  return best;
}

static Outcome
search_here (State *s)
{
  guint32 literal, n_trail;

  if (!probe (s))
    return NO_MODEL;
  n_trail = s->n_trail;
  literal = choose (s);
  if (literal == 0)
    return MODEL;
  if (s->nodes-- <= 0)
    return TOO_MANY;
  for (int way = 0; way < 2; way++)
    {
      Outcome outcome = assume (s, literal ^ (guint32)way) ? search_here (s) : NO_MODEL;

      if (outcome != NO_MODEL)
        return outcome;
      undo (s, n_trail);
    }
  return NO_MODEL;
}

static GBytes *
model_of (const State *s)
{
  gsize size = (gsize)s->index->n_variables / 8 + 1;
  guint8 *bits = g_new0 (guint8, size);

  for (int v = 1; v <= s->index->n_variables; v++)
    if (s->value[2 * v] > 0)
      bits[v / 8] |= (guint8)(1 << v % 8);
  return g_bytes_new_take (bits, size);
}

/* A job without its children. TOO_MANY: it has two children, which decide *literal. `model` is
 * (transfer full). */
static Outcome
step (const Decisions *decisions, guint32 *literal, GBytes **model)
{
  g_autoptr (State) s = state_new (the_index ());
  guint32 n_trail;
  Outcome outcome;

  if (!assume_units (s))
    return NO_MODEL;
  for (int i = 0; i < decisions->n; i++)
    {
      int l = decisions->literal[i];

      if (!assume (s, (guint32)(l > 0 ? 2 * l : -2 * l + 1)))
        return NO_MODEL;
    }
  if (!probe (s))
    return NO_MODEL;
  n_trail = s->n_trail;
  *literal = choose (s);
  s->nodes = decisions->n == DECISIONS_MAX   ? G_MAXINT64
             : decisions->n % TRY_EVERY == 0 ? TRY_NODES
                                             : 0;
  outcome = search_here (s);
  if (outcome == MODEL)
    *model = model_of (s);
  else
    undo (s, n_trail);
  return outcome;
}

/* Whether the formula has a model with these decisions, and a model. */
SATIN_JOB (search, Verdict, (Decisions, decisions))
{
  Verdict none = { 0, NULL }, verdict[2] = { { 0, NULL }, { 0, NULL } };
  GBytes *model = NULL;
  guint32 literal = 0;
  int32_t way, at = decisions.n;

  switch (step (&decisions, &literal, &model))
    {
    case NO_MODEL:
      return none;
    case MODEL:
      return (Verdict){ 1, satin_bytes (model) };
    case TOO_MANY:
      break;
    }
  decisions.n++;
  decisions.literal[at] = (int32_t)(literal / 2) * ((literal & 1) != 0 ? 1 : -1);
  satin_spawn (search, &verdict[0], decisions);
  decisions.literal[at] = -decisions.literal[at]; /* the last spawned runs first */
  satin_spawn (search, &verdict[1], decisions);
  while ((way = satin_sync_next ()) >= 0)
    if (verdict[way].satisfiable)
      {
        satin_abort ();
        return verdict[way];
      }
  return none;
}

/* ---- reading ---- */

/* After a '%', with which the files of SATLIB's uf* and uuf* end, only a 0 may follow. */
static gboolean
read_tail (Words *words, GError **error)
{
  while (words_next (words))
    if (strcmp (words->word, "0") != 0)
      return words_refuse (words, error, "'%s' stands behind the end", words->word);
  return TRUE;
}

/* Appends the literals to `literals`, with a 0 after each clause. */
static gboolean
read_clauses (Words *words, gint64 variables, gint64 clauses, GArray *literals, GError **error)
{
  gint64 seen = 0, l = 0;
  gint32 last = 0;

  while (words_next (words))
    {
      if (words->first && words->word[0] == 'c')
        {
          words_skip_line (words);
          continue;
        }
      if (strcmp (words->word, "%") == 0)
        {
          if (!read_tail (words, error))
            return FALSE;
          break;
        }
      if (seen == clauses)
        return words_refuse (words, error, "more stands here than the %d clauses announced",
                             (int)clauses);
      if (!words_as_number (words, "a literal", -variables, variables, &l, error))
        return FALSE;
      last = GINT32_TO_LE ((gint32)l);
      g_array_append_val (literals, last);
      seen += l == 0;
    }
  if (last != 0 && words->end[-1] == '\n')
    {
      /* Some old files omit the last 0. */
      last = 0;
      g_array_append_val (literals, last);
      seen++;
    }
  if (last != 0 || seen < clauses)
    return words_refuse (words, error, "the file ends after %d of %d clauses", (int)seen,
                         (int)clauses);
  return TRUE;
}

static gboolean
read_formula (const char *file, GBytes *bytes, Formula *f, GArray *literals, GError **error)
{
  Words words = words_of (file, bytes);
  gint64 variables = 0, clauses = 0;

  do
    if (!words_next (&words))
      return words_refuse (&words, error, "there is no 'p cnf' line: this is no DIMACS formula");
    else if (words.word[0] == 'c')
      words_skip_line (&words);
  while (words.word[0] == 'c');
  if (strcmp (words.word, "p") != 0 || !words_next (&words) || strcmp (words.word, "cnf") != 0)
    return words_refuse (&words, error, "'p cnf' is expected, not '%s'", words.word);
  if (!words_number (&words, "the number of variables", 0, VARIABLES_MAX, &variables, error)
      || !words_number (&words, "the number of clauses", 0, G_MAXINT32, &clauses, error)
      || !read_clauses (&words, variables, clauses, literals, error))
    return FALSE;
  *f = (Formula){ (int32_t)variables, (int32_t)clauses, NULL };
  return TRUE;
}

/* ---- main ---- */

static gboolean
is_true (const guint8 *bits, gint32 literal)
{
  gint32 v = ABS (literal);

  return (bits[v / 8] >> v % 8 & 1) == (literal > 0);
}

/* TRUE: every clause, as it was read, has a true literal. */
static gboolean
is_model (const GArray *literals, const guint8 *bits)
{
  gboolean holds = FALSE;

  for (guint i = 0; i < literals->len; i++)
    {
      gint32 l = GINT32_FROM_LE (g_array_index (literals, gint32, i));

      if (l == 0 && !holds)
        return FALSE;
      holds = l != 0 && (holds || is_true (bits, l));
    }
  return TRUE;
}

static int
print_verdict (const Formula *f, const GArray *literals, const Verdict *verdict)
{
  const guint8 *bits;
  gsize size = 0;
  int column = 1;

  if (!verdict->satisfiable)
    {
      printf ("s UNSATISFIABLE\n");
      return 0;
    }
  bits = g_bytes_get_data (verdict->model, &size);
  if (size != (gsize)f->variables / 8 + 1 || !is_model (literals, bits))
    {
      fprintf (stderr, "sat: the model found fails its check; this is a bug\n");
      return 1;
    }
  printf ("s SATISFIABLE\nv");
  for (gint32 v = 1; v <= f->variables; v++)
    {
      if (column > 65)
        column = printf ("\nv") - 1;
      column += printf (" %d", is_true (bits, v) ? v : -v);
    }
  printf (" 0\n");
  return 0;
}

static int
sat_main (SatinRun *run, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) literals = g_array_new (FALSE, FALSE, sizeof (gint32));
  Formula shared = { 0 };
  Decisions none = { 0 };
  Verdict verdict;
  GBytes *bytes;

  if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0'))
    {
      fprintf (stderr, "sat: one FILE is needed; usage: sat FILE\n");
      return 2;
    }
  bytes = satin_input (run, argv[1], &error);
  if (bytes == NULL || !read_formula (argv[1], bytes, &shared, literals, &error))
    {
      fprintf (stderr, "sat: %s\n", error->message);
      return 1;
    }
  shared.literals = g_bytes_new (literals->data, literals->len * sizeof (gint32));
  satin_publish (run, formula, &shared);
  g_bytes_unref (shared.literals);
  if (!satin_root (run, search, &verdict, none))
    return satin_stopped (run);
  return print_verdict (&shared, literals, &verdict);
}

SATIN_APP ("sat", "FILE", sat_main)
