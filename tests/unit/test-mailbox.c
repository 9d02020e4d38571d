/* SPDX-License-Identifier: BSD-3-Clause */
/* satin/engine/door/mailbox.c compared with a model, in random order: no event is lost or comes
 * twice, events come in order, and the driver is woken exactly once until it has found the mailbox
 * empty. */
#include "config.h"

#include "satin/engine/engine.h"

#define SEED 22
#define STEPS 20000

typedef struct
{
  Engine engine;
  GRand *rand;
  guint64 put, got; /* numbers of the last events */
  gboolean told;    /* the driver was woken and has not found the mailbox empty since */
  guint wakes, lates;
} Model;

static void
wake (void *data)
{
  ((Model *)data)->wakes++;
}

static void
wake_late (void *data)
{
  ((Model *)data)->lates++;
}

static void
model_init (Model *model, gboolean has_late)
{
  *model = (Model){ .rand = g_rand_new_with_seed (SEED) };
  pthread_mutex_init (&model->engine.mail.lock, NULL);
  g_queue_init (&model->engine.mail.events);
  model->engine.config = (EngineConfig){ .wake = wake, .data = model };
  if (has_late)
    model->engine.config.wake_late = wake_late;
}

static EngineEvent
next_event (Model *model)
{
  return (EngineEvent){ .kind = ENGINE_ABORTED, .loan = ++model->put };
}

/* An event arrives, or quiet events are announced. Checks how often that wakes the driver. */
static void
tell (Model *model, guint how)
{
  EngineEvent event;
  guint64 told_us
      = how == 3 ? G_MAXUINT64 / 2 : 0; /* the last wake is in the future, or long ago */

  if (how < 2)
    event = next_event (model);
  switch (how)
    {
    case 0:
      mailbox_raise (&model->engine, &event);
      break;
    case 1:
      mailbox_raise_quietly (&model->engine, &event);
      break;
    case 2:
      mailbox_tell (&model->engine);
      break;
    default:
      mailbox_tell_some (&model->engine, &told_us);
      g_assert_cmpint (told_us == G_MAXUINT64 / 2, ==, how == 3);
      g_assert_cmpuint (told_us, >, 0);
    }
}

static void
step (Model *model)
{
  guint how = (guint)g_rand_int_range (model->rand, 0, 5);
  guint wakes = model->wakes, lates = model->lates;

  tell (model, how);
  gboolean due = how != 1 && !model->told && model->put > model->got;
  gboolean late = how == 3 && model->engine.config.wake_late != NULL;
  g_assert_cmpuint (model->wakes - wakes, ==, due && !late);
  g_assert_cmpuint (model->lates - lates, ==, due && late);
  model->told = model->told || (due && !late);
}

static void
take (Model *model)
{
  EngineEvent event;

  if (model->got == model->put)
    {
      g_assert_false (mailbox_next (&model->engine, &event));
      model->told = FALSE;
      return;
    }
  g_assert_true (mailbox_next (&model->engine, &event));
  g_assert_cmpuint (event.loan, ==, ++model->got);
  engine_event_clear (&event);
}

static void
run (gboolean has_late)
{
  Model model;

  g_test_message ("seed %u", SEED);
  model_init (&model, has_late);
  for (guint i = 0; i < STEPS; i++)
    if (g_rand_int_range (model.rand, 0, 2) == 0)
      step (&model);
    else
      take (&model);
  g_assert_cmpuint (model.got, >, STEPS / 10);
  g_assert_cmpint (model.lates > 0, ==, has_late);
  while (model.got < model.put)
    take (&model);
  g_rand_free (model.rand);
  pthread_mutex_destroy (&model.engine.mail.lock);
}

static void
test_wakes_once (void)
{
  run (FALSE);
}

static void
test_wakes_late (void)
{
  run (TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mailbox/wakes-once", test_wakes_once);
  g_test_add_func ("/mailbox/wakes-late", test_wakes_late);
  return g_test_run ();
}
