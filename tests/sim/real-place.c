/* SPDX-License-Identifier: BSD-3-Clause */
/* See real-place.h. */
#include "config.h"

#include "real-place.h"

#include "../unit/disk.h"
#include "real-file.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYNCS 5 /* Syncs of a batch that is written and published. */
#define SLOW_FACTOR 20

/* FALSE: the call must have no effect, since its process has ended. A sync takes virtual time. */
static gboolean
gate (gboolean is_sync)
{
  const Threads *threads = threads_here ();

  if (threads == NULL)
    return TRUE;
  if (is_sync && threads_is_one () && !threads_is_ending (threads))
    {
      const RealOwner *owner = threads_data (threads);
      const Process *process = owner->process;
      Sim *sim = process->sim;
      guint64 us = sim->plan->commit_us;
      if (sim->plan->fast > 0)
        us = process->number + 1 == sim->plan->fast ? us / 20 : us;
      else
        us >>= rng_mix (sim->plan->seed * 31 + process->number) % 8;
      us *= process->slow_us > sim->now_us ? SLOW_FACTOR : 1;
      threads_sleep (us / SYNCS / 2 + rng_below (&sim->world_rng, us / SYNCS + 1));
    }
  return !threads_is_ending (threads);
}

void
keeper_begin (Sim *sim)
{
  const char *above = g_access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir ();
  RealPlace *place = g_new0 (RealPlace, 1);

  sim->place = place;
  store_init (&place->acknowledged, sim->plan->tree);
  if (!sim->plan->checkpoint)
    return;
  place->folder = g_build_filename (above, "satin-sim-XXXXXX", NULL);
  g_assert (g_mkdtemp (place->folder) != NULL);
  place->target = g_build_filename (place->folder, "run.ckpt", NULL);
  place->delta = g_strconcat (place->target, "-delta", NULL);
  disk_watch (place->folder, (guint32)rng_mix (sim->plan->seed), gate);
}

void
keeper_end (Sim *sim)
{
  RealPlace *place = sim->place;
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (place->folder != NULL)
    {
      (void)disk_end ();
      dir = g_dir_open (place->folder, 0, NULL);
      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *path = g_build_filename (place->folder, name, NULL);
          (void)g_unlink (path);
        }
      (void)g_rmdir (place->folder);
    }
  g_free (place->folder);
  g_free (place->target);
  g_free (place->delta);
  g_free (place);
}

/* TRUE: the files differ from those at the last call. */
static gboolean
has_changed (RealPlace *place)
{
  const char *const paths[] = { place->target, place->delta };
  gboolean changed = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      struct stat status = { 0 };
      guint64 seen = stat (paths[i], &status) == 0
                         ? rng_mix (status.st_ino) ^ (guint64)status.st_mtim.tv_nsec
                               ^ (guint64)status.st_size << 32
                         : 0;
      changed = changed || seen != place->seen[i];
      place->seen[i] = seen;
    }
  return changed;
}

static void
read_place (Sim *sim)
{
  RealPlace *place = sim->place;

  threads_enter (NULL);
  g_autofree char *wrong = real_file_read (place->target, sim->plan->tree, &sim->published);
  if (wrong != NULL)
    sim_fail (sim, "I1: the checkpoint has %s", wrong);
  sim->tag++;
}

void
real_place_look (Sim *sim)
{
  Store before = sim->published;

  if (!has_changed (sim->place))
    return;
  read_place (sim);
  check_published (sim, &before);
}

/* Checks that everything acknowledged is in the published file. */
static void
check_acknowledged_file (Sim *sim)
{
  const RealPlace *place = sim->place;

  for (guint32 i = 0; i < sim->plan->tree->n; i++)
    if (store_covers (&place->acknowledged, i) && !store_covers (&sim->published, i))
      sim_fail (sim, "I6: '%s' was published, and is not after the power was lost",
                sim->plan->tree->jobs[i].path);
  if (place->acknowledged.answered && !sim->published.answered)
    sim_fail (sim, "I6: the answer was published, and is not after the power was lost");
}

void
real_place_acknowledge (Sim *sim)
{
  RealPlace *place = sim->place;

  place->acknowledged = sim->published;
}

void
real_place_lose_power (Sim *sim)
{
  sim_say (sim, "the power is lost");
  sim->outcome->power_lost++;
  disk_lose_power ();
  (void)has_changed (sim->place);
  read_place (sim);
  check_acknowledged_file (sim);
}
