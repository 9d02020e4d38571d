/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates of the work that is left: of trees whose costs are known, and of real runs.
 * tests/unit/left-runs.txt has the growing checkpoints of these runs (`make record-left` records
 * them anew). */
#include "config.h"

#include "left-rows.h"

#include <math.h>
#include <string.h>

static gboolean
add_weight (gpointer key, gpointer value, gpointer data)
{
  (void)key;
  *(double *)data += ((const Row *)value)->weight;
  return FALSE;
}

static double
share (GTree *rows)
{
  double sum = 0;

  g_tree_foreach (rows, add_weight, &sum);
  return MIN (sum, 1);
}

/* A tree in which each job has BRANCH children. The first costs `first` times as much as each of
 * the others. Children finish from the last to the first. */
#define BRANCH 3
#define DEPTH 6
#define MODEL_S 100.0 /* its cost */

typedef struct
{
  GTree *rows;
  Left *left;
  double first, done_s;
  guint leaves, looked;
  double from, to; /* the least and greatest ratio of the truth to the estimate … */
  guint answers, held;
} Model;

static void
judge (Model *model)
{
  LeftRange work;

  look (model->left, model->rows);
  model->looked++;
  if (!left_work (model->left, &work))
    return;
  double truth_s = MODEL_S - model->done_s;
  g_assert_cmpfloat (work.low_s, <=, work.best_s);
  g_assert_cmpfloat (work.high_s, >=, work.best_s);
  g_assert_cmpfloat (work.high_s, <=, LEFT_WIDEST * work.best_s);
  g_assert_cmpfloat (work.low_s, >=, work.best_s / LEFT_WIDEST);
  model->answers++;
  model->held += truth_s >= work.low_s && truth_s <= work.high_s;
  model->from = MIN (model->from, truth_s / work.best_s);
  model->to = MAX (model->to, truth_s / work.best_s);
}

static void
run_job (Model *model, const char *path, guint depth, double weight, double cost_s)
{
  for (guint i = BRANCH; depth < DEPTH && i-- > 0;)
    {
      g_autofree char *child = g_strdup_printf ("%s/%u", path, i);
      double parts = model->first + BRANCH - 1;

      run_job (model, child, depth + 1, weight / BRANCH,
               cost_s * (i == 0 ? model->first : 1) / parts);
    }
  if (depth == DEPTH)
    {
      model->done_s += cost_s;
      model->leaves++;
    }
  put (model->rows, path, weight, cost_s);
  if (depth == DEPTH && model->leaves % 10 == 0)
    judge (model);
}

static Model
run_model (double first)
{
  g_autoptr (GTree) rows = rows_new ();
  g_autoptr (Left) left = left_new ();
  Model model = { .rows = rows, .left = left, .first = first, .from = 1, .to = 1 };
  LeftRange work;

  run_job (&model, "", 0, 1, MODEL_S);
  look (left, rows);
  g_assert_false (left_work (left, &work)); /* the tree is finished */
  g_test_message ("first child %g times as heavy: %u answers of %u, %u held, truth %.2f to %.2f of "
                  "what was said",
                  first, model.answers, model.looked, model.held, model.from, model.to);
  return model;
}

static void
test_even (void)
{
  Model model = run_model (1);

  g_assert_cmpuint (model.answers, >=, model.looked * 3 / 4);
  g_assert_cmpuint (model.held, ==, model.answers);
  g_assert_cmpfloat (model.from, >=, 0.7);
  g_assert_cmpfloat (model.to, <=, 1.3);
}

/* The share of the tree is 1/3 when 1/6 of the work is done, and so on at each level. */
static void
test_skew (void)
{
  Model model = run_model (4);

  g_assert_cmpuint (model.answers, >=, model.looked / 2);
  g_assert_cmpuint (model.held * 10, >=, model.answers * 8);
}

static void
test_too_little (void)
{
  g_autoptr (GTree) rows = rows_new ();
  g_autoptr (Left) left = left_new ();
  LeftRange work = { 1, 2, 3 };

  g_assert_false (left_work (left, &work));
  look (left, rows);
  g_assert_false (left_work (left, &work));
  put (rows, "/1", 0.5, 10);
  look (left, rows);
  g_assert_false (left_work (left, &work)); /* one look alone gives no estimate */
  look (left, rows);
  g_assert_false (left_work (left, &work)); /* … nor does a second look at the same rows */
  g_assert_cmpfloat (work.best_s, ==, 1);
  put (rows, "/0/1", 0.25, 4);
  look (left, rows);
  g_assert_true (left_work (left, &work));
  g_assert_cmpfloat (work.high_s, <=, LEFT_WIDEST * LEFT_WIDEST * work.low_s * 1.0001);
}

/* Before a second of work is saved there is no estimate: the first results are random. */
static void
test_too_early (void)
{
  g_autoptr (GTree) rows = rows_new ();
  g_autoptr (Left) left = left_new ();
  LeftRange work;

  put (rows, "/1", 0.5, 0.4);
  look (left, rows);
  put (rows, "/0/1", 0.25, 0.4);
  look (left, rows);
  g_assert_false (left_work (left, &work));
  put (rows, "/0/0/1", 0.125, 0.4);
  look (left, rows);
  g_assert_true (left_work (left, &work));
}

/* A search whose first jobs seem to be nearly the whole tree: by the share it would be over. */
static void
test_overtaken (void)
{
  g_autoptr (GTree) rows = rows_new ();
  g_autoptr (Left) left = left_new ();
  LeftRange work;

  put (rows, "/1", 0.9, 1);
  look (left, rows);
  for (guint i = 1; i <= 20; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%u", i);

      put (rows, path, 0.1 / 100, 1);
      look (left, rows);
    }
  g_assert_true (left_work (left, &work));
  g_assert_cmpfloat (work.best_s, >, 10); /* the share alone would give 1.8 */
}

/* If only a tiny part of a job is saved, the estimate by its children is not used. */
static void
test_not_believed (void)
{
  g_autoptr (GTree) rows = rows_new ();
  g_autoptr (Left) left = left_new ();
  LeftRange work;

  put (rows, "/1", 0.5, 10);
  look (left, rows);
  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%u", i);

      put (rows, path, 1e-9, 1);
      look (left, rows);
    }
  g_assert_true (left_work (left, &work));
  g_assert_cmpfloat (work.best_s, <, 20 * 15 + 1); /* the children alone would give 5e8 */
}

/* Rows of any form do no harm: with stems, with invalid numbers, not canonical. */
static void
test_odd_rows (void)
{
  g_autoptr (Left) left = left_new ();
  LeftRange work;

  for (guint i = 1; i < 20; i++)
    {
      left_begin (left);
      left_row (left, "/1/4294967295", 1e-300, i);
      left_row (left, "/1/5", NAN, INFINITY);
      left_row (left, "/2", -1, 5);
      left_row (left, "/x", 0.5, 5);
      left_row (left, "~0123456789abcdef/1", 0.001, 5);
      left_end (left);
      (void)left_work (left, &work);
    }
}

/* The root has ten equal children, one more at each look. After each look invalid rows follow.
 * FALSE: there is no estimate. */
static gboolean
count_ten (Left *left, const char *root, guint looks, double weight, double bad_s, LeftRange *work)
{
  for (guint i = 1; i <= looks; i++)
    {
      left_begin (left);
      for (guint k = 0; k < i; k++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%u", root, k);
          left_row (left, path, weight, 10);
        }
      left_row (left, "/0/9", 0.01, bad_s);
      left_end (left);
    }
  return left_work (left, work);
}

/* … nor do they change the estimate. Work that is no number counts as none, an earlier root is not
 * a part of the tree, and no more than the whole can be done. */
static void
test_odd_rows_change_nothing (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, -1 };
  LeftRange right, work;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Left) left = left_new (), odd = left_new ();
      g_assert_true (count_ten (left, "", 5, 0.1, -1, &right));
      g_assert_true (count_ten (odd, "", 5, 0.1, bad[i], &work));
      g_assert_cmpfloat (work.best_s, ==, right.best_s);
      g_assert_cmpfloat (work.high_s, ==, right.high_s);
    }

  g_autoptr (Left) left = left_new ();
  for (guint i = 1; i <= 5; i++)
    {
      left_begin (left);
      left_row (left, "", 0, 1e6);
      for (guint k = 0; k < i; k++)
        {
          g_autofree char *path = g_strdup_printf ("1:/%u", k);
          left_row (left, path, 0.1, 10);
        }
      left_end (left);
    }
  g_assert_true (left_work (left, &work));
  g_assert_cmpfloat (work.best_s, <, 1000);
  g_autoptr (Left) much = left_new ();
  if (count_ten (much, "", 5, 0.3, -1, &work))
    g_assert_true (work.best_s > 0 && work.low_s <= work.best_s && work.best_s <= work.high_s);
}

/* Results of one root say nothing about the next one. */
static void
test_another_root (void)
{
  g_autoptr (Left) left = left_new ();
  LeftRange work;

  g_assert_true (count_ten (left, "", 5, 0.1, -1, &work));
  g_assert_false (count_ten (left, "1:", 1, 0.1, -1, &work));
  g_assert_true (count_ten (left, "1:", 3, 0.1, -1, &work));
}

static void
test_pace (void)
{
  LeftPace pace = { 0 };

  g_assert_cmpfloat (left_pace (&pace, 8, 100), ==, 8);
  g_assert_cmpfloat (left_pace (&pace, 4, 100), ==, 8);
  g_assert_cmpfloat (left_pace (&pace, 4, 110), ==, 6);
  g_assert_cmpfloat (left_pace (&pace, 4, 105), ==, 6); /* a clock may go back */
  g_assert_cmpfloat (left_pace (&pace, 4, 1e6), <, 4.01);
}

/* The time before any node worked does not count, and at first the average covers a short time. */
static void
test_pace_begins_with_work (void)
{
  LeftPace pace = { 0 };

  g_assert_cmpfloat (left_pace (&pace, 0, 100), ==, 0);
  g_assert_cmpfloat (left_pace (&pace, 2, 101), ==, 2);
  g_assert_cmpfloat (left_pace (&pace, 8, 102), ==, 5);
  g_assert_cmpfloat_with_epsilon (left_pace (&pace, 8, 104), 6.2, 1e-9);
  g_assert_cmpfloat (left_pace (&pace, 8, 150), >, 7.6);
}

static void
test_time (void)
{
  const LeftRange work = { 40, 20, 80 };
  LeftRange time = { 7, 7, 7 };

  g_assert_true (left_time (&work, 4, 0, &time));
  g_assert_cmpfloat (time.best_s, ==, 10);
  g_assert_cmpfloat (time.low_s, ==, 5);
  g_assert_cmpfloat (time.high_s, ==, 20);
  g_assert_true (left_time (&work, 4, 2, &time));
  g_assert_cmpfloat (time.best_s, ==, 8);
  g_assert_false (left_time (&work, 0, 0, &time));  /* no node works */
  g_assert_false (left_time (&work, 4, 12, &time)); /* it should be over */
  g_assert_cmpfloat (time.best_s, ==, 8);
  g_assert_true (left_time (&work, 4, 4.9, &time));
  g_assert_cmpfloat_with_epsilon (time.best_s, 5.1, 1e-9);
  g_assert_cmpfloat_with_epsilon (time.low_s, 5.1 / LEFT_WIDEST, 1e-9); /* 0.1 would be too wide */
}

/* Plays a recorded run to its end, which is known only then, and keeps the estimates at the moments
 * that count. */
typedef struct
{
  double at_s, share, naive_s;
  guint moment; /* the last of those that count that has passed */
  gboolean is_known;
  LeftRange time;
} Said;

typedef struct
{
  guint moments, answers, held;
  GArray *unknown; /* of double: how wrong the share alone would be where there was no estimate; */
  GArray *widths, *naive, *factors; /* high / low; how wrong the share alone would be elsewhere; how
                                       wrong `best_s` was */
} Score;

static const double counted[] = { 0.1, 0.5, 0.9 };

typedef struct
{
  Score few, all; /* at the moments that count; at all times */
  Score at[G_N_ELEMENTS (counted)];
} Scores;

static Score
score_new (void)
{
  return (Score){ .widths = g_array_new (FALSE, FALSE, sizeof (double)),
                  .naive = g_array_new (FALSE, FALSE, sizeof (double)),
                  .factors = g_array_new (FALSE, FALSE, sizeof (double)),
                  .unknown = g_array_new (FALSE, FALSE, sizeof (double)) };
}

static void
score_clear (Score *score)
{
  g_array_unref (score->widths);
  g_array_unref (score->naive);
  g_array_unref (score->factors);
  g_array_unref (score->unknown);
}

static void
add (GArray *numbers, double number)
{
  g_array_append_val (numbers, number);
}

static double
off_by (double one, double other)
{
  return MAX (one, other) / MIN (one, other);
}

static void
count_said (Score *score, const Said *said, double end_s)
{
  double truth_s = end_s - said->at_s;

  score->moments++;
  if (!said->is_known)
    {
      add (score->unknown, off_by (said->naive_s, truth_s));
      return;
    }
  score->answers++;
  score->held += truth_s >= said->time.low_s && truth_s <= said->time.high_s;
  add (score->widths, said->time.high_s / said->time.low_s);
  add (score->naive, off_by (said->naive_s, truth_s));
  add (score->factors, off_by (said->time.best_s, truth_s));
}

static void
show_said (const Said *said, const char *run, double end_s)
{
  double truth_s = end_s - said->at_s;

  if (said->is_known)
    g_test_message (
        "%-32s %3.0f %% done: %5.1f s left, said %5.1f (%.1f to %.1f): %s", run, said->share * 100,
        truth_s, said->time.best_s, said->time.low_s, said->time.high_s,
        truth_s >= said->time.low_s && truth_s <= said->time.high_s ? "held" : "MISSED");
  else
    g_test_message ("%-32s %3.0f %% done: %5.1f s left, said not yet", run, said->share * 100,
                    truth_s);
}

typedef struct
{
  char *name;
  GTree *rows;
  Left *left;
  LeftPace pace;
  double at_s, busy;
  gboolean is_open;  /* the rows of a moment are being read */
  guint next;        /* of those that count */
  GArray *all, *few; /* of Said: each moment; those that count */
} Play;

static void
play_begin (Play *play, const char *name)
{
  *play = (Play){ .name = g_strdup (name),
                  .rows = rows_new (),
                  .left = left_new (),
                  .all = g_array_new (FALSE, FALSE, sizeof (Said)),
                  .few = g_array_new (FALSE, FALSE, sizeof (Said)) };
}

/* Called when all rows of a moment are read. */
static void
play_look (Play *play)
{
  Said said = { .at_s = play->at_s, .share = share (play->rows) };
  double pace = left_pace (&play->pace, play->busy, play->at_s);
  LeftRange work;

  if (!play->is_open)
    return;
  play->is_open = FALSE;
  look (play->left, play->rows);
  said.naive_s = said.at_s * (1 - said.share) / said.share;
  said.is_known = left_work (play->left, &work) && left_time (&work, pace, 0, &said.time);
  if (said.share >= 1)
    return;
  g_array_append_val (play->all, said);
  guint before = play->next;
  while (play->next < G_N_ELEMENTS (counted) && said.share >= counted[play->next])
    play->next++;
  said.moment = play->next - 1;
  if (play->next > before)
    g_array_append_val (play->few, said);
}

static void
play_end (Play *play, double end_s, Scores *scores)
{
  play_look (play);
  for (guint i = 0; i < play->all->len; i++)
    count_said (&scores->all, &g_array_index (play->all, Said, i), end_s);
  for (guint i = 0; i < play->few->len; i++)
    {
      const Said *said = &g_array_index (play->few, Said, i);

      count_said (&scores->few, said, end_s);
      count_said (&scores->at[said->moment], said, end_s);
      show_said (said, play->name, end_s);
    }
  g_free (play->name);
  g_tree_unref (play->rows);
  left_free (play->left);
  g_array_unref (play->all);
  g_array_unref (play->few);
}

static void
play_line (Play *play, char *line, Scores *scores)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 3);
  guint n = g_strv_length (words);

  if (n < 2)
    return;
  if (strcmp (words[0], "run") == 0)
    play_begin (play, line + strlen ("run "));
  else if (strcmp (words[0], "end") == 0)
    play_end (play, g_ascii_strtod (words[1], NULL), scores);
  else if (n == 3 && strcmp (words[0], "at") == 0)
    {
      play_look (play);
      play->at_s = g_ascii_strtod (words[1], NULL);
      play->busy = g_ascii_strtod (words[2], NULL);
      play->is_open = TRUE;
    }
  else if (n == 3)
    put (play->rows, strcmp (words[0], "/") == 0 ? "" : words[0], g_ascii_strtod (words[1], NULL),
         g_ascii_strtod (words[2], NULL));
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  double one = *(const double *)a, other = *(const double *)b;

  return one < other ? -1 : one > other;
}

static double
median (GArray *numbers)
{
  g_array_sort (numbers, compare_numbers);
  return numbers->len > 0 ? g_array_index (numbers, double, numbers->len / 2) : NAN;
}

static void
show_score (const char *when, Score *score)
{
  g_test_message ("%s: %u answers of %u, the range held in %u; medians: high/low %.1f, off by a "
                  "factor of %.2f (by the share alone: %.2f, and %.2f where nothing was said)",
                  when, score->answers, score->moments, score->held, median (score->widths),
                  median (score->factors), median (score->naive), median (score->unknown));
}

static void
test_runs (void)
{
  const char *source = g_getenv ("SATIN_SOURCE");
  g_autofree char *path = NULL, *text = NULL;
  g_auto (GStrv) lines = NULL;
  Scores scores;
  Play play;

  if (source == NULL)
    {
      g_test_skip ("SATIN_SOURCE is not set");
      return;
    }
  scores = (Scores){ score_new (), score_new (), { score_new (), score_new (), score_new () } };
  path = g_build_filename (source, "tests/unit/left-runs.txt", NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    play_line (&play, lines[i], &scores);
  show_score ("at 10, 50 and 90 % done", &scores.few);
  show_score ("at 10 %", &scores.at[0]);
  show_score ("at 50 %", &scores.at[1]);
  show_score ("at 90 %", &scores.at[2]);
  show_score ("at all times", &scores.all);
  g_assert_cmpuint (scores.few.answers * 10, >=, scores.few.moments * 7);
  g_assert_cmpuint (scores.at[1].answers * 10, >=, scores.at[1].moments * 7);
  g_assert_cmpuint (scores.at[2].answers * 10, >=, scores.at[2].moments * 9);
  g_assert_cmpuint (scores.few.held * 10, >=, scores.few.answers * 8);
  g_assert_cmpuint (scores.all.held * 10, >=, scores.all.answers * 8);
  /* "Between a second and a year" is always right. */
  g_assert_cmpfloat (median (scores.few.widths), <=, 10);
  g_assert_cmpfloat (median (scores.all.widths), <=, 10);
  score_clear (&scores.few);
  score_clear (&scores.all);
  for (guint i = 0; i < G_N_ELEMENTS (counted); i++)
    score_clear (&scores.at[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/left/even", test_even);
  g_test_add_func ("/left/skew", test_skew);
  g_test_add_func ("/left/too-little", test_too_little);
  g_test_add_func ("/left/too-early", test_too_early);
  g_test_add_func ("/left/overtaken", test_overtaken);
  g_test_add_func ("/left/not-believed", test_not_believed);
  g_test_add_func ("/left/odd-rows", test_odd_rows);
  g_test_add_func ("/left/odd-rows-change-nothing", test_odd_rows_change_nothing);
  g_test_add_func ("/left/another-root", test_another_root);
  g_test_add_func ("/left/pace", test_pace);
  g_test_add_func ("/left/pace-begins-with-work", test_pace_begins_with_work);
  g_test_add_func ("/left/time", test_time);
  g_test_add_func ("/left/runs", test_runs);
  return g_test_run ();
}
