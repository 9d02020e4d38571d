/* SPDX-License-Identifier: BSD-3-Clause */
/* satin/engine/tree/known.c compared with a list of facts: after each of many random steps every
 * question has the answer that the list gives. */
#include "config.h"

#include "tree/known.h"

#include <string.h>

#define SEED 4711
#define STEPS 3000
#define PATHS (1 + 2 + 4 + 8)
#define HOLDERS 4
#define DIGESTS 2

/* Path number p has the children 2p + 1 (number 0) and 2p + 2 (number 1). */
typedef struct
{
  Stems *stems;
  Known *known;
  GRand *rand;
  char *paths[PATHS];
  Digest digests[DIGESTS];
  NodeId holders[HOLDERS];
  int facts[PATHS][HOLDERS][DIGESTS]; /* -1: none, 0: runs, else so many children are finished */
  gboolean told[PATHS];
} Model;

static gboolean
is_at_or_below (guint path, guint top)
{
  for (; path > top; path = (path - 1) / 2)
    ;
  return path == top;
}

static guint
draw (Model *model, guint n)
{
  return (guint)g_rand_int_range (model->rand, 0, (gint)n);
}

static Model *
model_new (void)
{
  Model *model = g_new0 (Model, 1);

  model->stems = stems_new ();
  model->known = known_new (model->stems);
  model->rand = g_rand_new_with_seed (SEED);
  for (guint i = 0; i < PATHS; i++)
    model->paths[i] = i == 0 ? g_strdup ("")
                             : g_strdup_printf ("%s/%u", model->paths[(i - 1) / 2], (i - 1) % 2);
  for (guint i = 0; i < DIGESTS; i++)
    model->digests[i] = digest_of_string (model->paths[i + 1]);
  for (guint i = 0; i < HOLDERS; i++)
    model->holders[i] = (NodeId){ 1, i + 1, 9 };
  memset (model->facts, -1, sizeof model->facts);
  return model;
}

static void
model_free (Model *model)
{
  for (guint i = 0; i < PATHS; i++)
    g_free (model->paths[i]);
  known_free (model->known);
  stems_free (model->stems);
  g_rand_free (model->rand);
  g_free (model);
}

/* The number of facts at this path; sets `finished` to the number of finished ones. */
static guint
count (const Model *model, guint path, guint *finished)
{
  guint n = 0;

  *finished = 0;
  for (guint h = 0; h < HOLDERS; h++)
    for (guint d = 0; d < DIGESTS; d++)
      {
        n += model->facts[path][h][d] >= 0;
        *finished += model->facts[path][h][d] > 0;
      }
  return n;
}

static void
count_below (const Model *model, guint top, guint *n, guint *finished)
{
  *n = *finished = 0;
  for (guint i = top; i < PATHS; i++)
    if (is_at_or_below (i, top))
      {
        guint some;
        *n += count (model, i, &some);
        *finished += some;
      }
}

static void
insert (Model *model)
{
  guint path = draw (model, PATHS), h = draw (model, HOLDERS), d = draw (model, DIGESTS);
  guint finished = draw (model, 3);

  g_assert_true (known_insert (model->known, model->paths[path], &model->digests[d],
                               &model->holders[h], finished));
  model->facts[path][h][d] = (int)finished;
  for (guint i = 0; i < PATHS; i++)
    if (is_at_or_below (path, i))
      model->told[i] = FALSE;
}

static void
forget (Model *model)
{
  guint path = draw (model, PATHS), h = draw (model, HOLDERS);
  gboolean all = draw (model, 10) == 0;

  known_forget (model->known, all ? NULL : model->paths[path], &model->holders[h]);
  for (guint i = 0; i < PATHS; i++)
    if (all || i == path)
      memset (model->facts[i][h], -1, sizeof model->facts[i][h]);
}

static void
tell (Model *model)
{
  guint top = draw (model, PATHS), finished;
  gboolean any = FALSE;

  for (guint i = top; i < PATHS; i++)
    if (is_at_or_below (i, top))
      {
        any = any || (!model->told[i] && count (model, i, &finished) > 0);
        model->told[i] = TRUE;
      }
  g_assert_cmpint (known_tell (model->known, known_lookup (model->known, model->paths[top])), ==,
                   any);
}

static void
check_best (Model *model, guint path, guint d)
{
  const KnownNode *node = known_lookup (model->known, model->paths[path]);
  guint best = HOLDERS, others = 0;
  gboolean finished = FALSE;
  NodeId holder;

  for (guint h = 0; h < HOLDERS; h++)
    {
      int fact = model->facts[path][h][d];
      others += model->facts[path][h][1 - d] > 0;
      if (fact >= 0 && (best == HOLDERS || fact > model->facts[path][best][d]))
        best = h;
    }
  g_assert_cmpint (known_best (model->known, node, &model->digests[d], &holder, &finished), ==,
                   best < HOLDERS);
  if (node != NULL)
    {
      g_assert_cmpuint (known_count_others (model->known, node, &model->digests[d], NULL), ==,
                        others);
      g_assert_cmpuint (
          known_count_others (model->known, node, &model->digests[d], &model->digests[1 - d]), ==,
          0);
    }
  if (best == HOLDERS)
    return;
  g_assert_true (node_id_equal (&holder, &model->holders[best]));
  g_assert_cmpint (finished, ==, model->facts[path][best][d] > 0);
}

static void
add_child (KnownNode *child, guint32 number, void *data)
{
  g_assert_nonnull (child);
  *(guint *)data += number == 0 ? 1 : 100;
}

/* Checks all answers about one path. */
static void
check_path (Model *model, guint path)
{
  KnownNode *node = known_lookup (model->known, model->paths[path]);
  guint here, below, finished, children = 0, expected = 0;

  here = count (model, path, &finished);
  count_below (model, path, &below, &finished);
  g_assert_cmpint (node != NULL, ==, below > 0);
  g_assert_cmpint (known_is_held (node), ==, here > 0);
  g_assert_cmpint (known_has_below (node), ==, below > here);
  for (guint d = 0; d < DIGESTS; d++)
    check_best (model, path, d);
  known_each_child (model->known, node, add_child, &children);
  for (guint number = 0; 2 * path + 2 < PATHS && number < 2; number++)
    {
      guint child = 2 * path + 1 + number, n, some;
      count_below (model, child, &n, &some);
      expected += n > 0 ? (number == 0 ? 1 : 100) : 0;
      g_assert_true (known_child (model->known, node, number)
                     == known_lookup (model->known, model->paths[child]));
    }
  g_assert_cmpuint (children, ==, expected);
  if (node == NULL)
    return;
  g_autofree char *name = known_path (model->known, node);
  g_assert_cmpstr (name, ==, model->paths[path]);
  g_assert_cmpuint (known_count_below (model->known, node), ==, finished);
}

/* Questions create no nodes: there are only the top node and the nodes at or above a fact. */
static void
check (Model *model)
{
  guint all, finished, size = 1;

  for (guint i = 0; i < PATHS; i++)
    check_path (model, i);
  count_below (model, 0, &all, &finished);
  g_assert_cmpuint (known_count (model->known), ==, all);
  for (guint i = 0; i < PATHS; i++)
    {
      count_below (model, i, &all, &finished);
      size += all > 0;
    }
  g_assert_cmpuint (known_size (model->known), ==, size);
}

static void
test_model (void)
{
  Model *model = model_new ();

  g_test_message ("seed %u", SEED);
  for (guint i = 0; i < STEPS; i++)
    {
      guint what = draw (model, 8), n = draw (model, 12) == 0 ? 10 : 1;
      for (; n > 0; n--)
        if (what < 4)
          insert (model);
        else if (what < 7)
          forget (model);
        else
          tell (model);
      check (model);
    }
  model_free (model);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/known/answers-as-a-list-of-facts", test_model);
  return g_test_run ();
}
