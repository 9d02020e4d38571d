/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin run --dry-run`: which nodes would be started, where, and by which command. One thread.
 * Tests: dry-run.sh. */
#include "spread.h"

#include "command-words.h"

#include <sys/stat.h>

/* Printed in place of the run's folder, which does not exist yet. */
#define NO_FOLDER "RUN-FOLDER"

/* The command that starts the node, with a space before each word. `copied`: size of the program if
 * it is sent; else 0. (transfer full) */
static char *
command_of (const Spot *place, const FolderRun *run, gsize copied)
{
  GString *command = g_string_new (NULL);

  if (spot_is_far (place))
    {
      g_autofree char *line = site_line (place->site, run->program, run->argv, run->folder, copied);
      g_auto (GStrv) words
          = site_argv (place->site, NO_FOLDER, place->host, place->number, line, copied);

      command_append_words (command, words);
    }
  else
    {
      char *const program[] = { run->program, NULL };

      command_append_words (command, program);
      command_append_words (command, run->argv);
    }
  return g_string_free (command, FALSE);
}

void
spread_show (const FolderRun *run, const GPtrArray *sites, int workers, gboolean copy)
{
  g_autoptr (GArray) places = spread_places (run, sites, workers);
  g_autofree char *place = run->checkpoint != NULL ? command_quote (run->checkpoint) : NULL;
  struct stat info;
  gsize copied = copy && stat (run->program, &info) == 0 ? (gsize)info.st_size : 0;

  if (place != NULL)
    g_print ("checkpoint: %s, each %g s%s\n", place,
             (double)folder_interval_us (run->interval_s) / 1e6,
             run->interval_s > 0 ? "" : " or more");
  else
    g_print ("checkpoint: none\n");
  g_print ("nodes: %u\n", places->len);
  for (guint i = 0; i < places->len; i++)
    {
      const Spot *spot = &g_array_index (places, Spot, i);
      g_autofree char *command = command_of (spot, run, copied);

      g_print ("%u: site %s, host %s, workers %d%s:%s\n", i + 1,
               spot->site != NULL ? spot->site->name : "local",
               spot->host != NULL   ? spot->host
               : spot_is_far (spot) ? "chosen there"
                                    : "this one",
               spot->workers > 0 ? spot->workers : run->workers,
               spot->site != NULL && spot->site->again ? ", again" : "", command);
    }
  g_print ("nothing was started\n");
}
