/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of several roots, for roots.sh. Root k gets the result of root k - 1. Files in FOLDER
 * record and control the run. main writes its process id to between.K before it asks for root K,
 * and waits while stay.K exists. Each leaf of root K adds a byte to ran.K. The last leaf waits
 * while hold.K exists. */
#include <satin.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAVES 16
#define LOOK_US 2000

SATIN_CONST (uint32_t, base)

static char *
file_of (const char *folder, const char *what, uint32_t number)
{
  return g_strdup_printf ("%s/%s.%u", folder, what, number);
}

SATIN_JOB (leaf, uint64_t, (uint64_t, before), (uint32_t, root), (uint32_t, number),
           (SatinText, folder))
{
  char *ran = file_of (folder.text, "ran", root), *held = file_of (folder.text, "hold", root);
  int fd = open (ran, O_WRONLY | O_CREAT | O_APPEND, 0600);
  gboolean waits = number == LEAVES - 1;
  if (fd >= 0)
    {
      (void)!write (fd, "x", 1);
      close (fd);
    }
  waits = waits && g_file_test (held, G_FILE_TEST_EXISTS);
  g_free (ran);
  g_free (held);
  while (waits)
    {
      satin_aborted ();
      g_usleep (LOOK_US);
      held = file_of (folder.text, "hold", root);
      waits = g_file_test (held, G_FILE_TEST_EXISTS);
      g_free (held);
    }
  return (before ^ number) * 6364136223846793005u + *satin_const (base);
}

SATIN_JOB (sum, uint64_t, (uint64_t, before), (uint32_t, root), (SatinText, folder))
{
  uint64_t parts[LEAVES], all = before;
  for (uint32_t i = 0; i < LEAVES; i++)
    satin_spawn (leaf, &parts[i], before, root, i, folder);
  satin_sync ();
  for (uint32_t i = 0; i < LEAVES; i++)
    all = all * 31 + parts[i];
  return all;
}

static void
stay_between (const char *folder, uint32_t root)
{
  g_autofree char *stay = file_of (folder, "stay", root);
  g_autofree char *between = file_of (folder, "between", root);
  g_autofree char *pid = g_strdup_printf ("%d\n", (int)getpid ());
  (void)g_file_set_contents (between, pid, -1, NULL);
  while (g_file_test (stay, G_FILE_TEST_EXISTS))
    g_usleep (LOOK_US);
}

/* Calls that are allowed only before the first root. */
static int
be_late (SatinRun *run, const char *what)
{
  uint32_t other = 4;
  g_autoptr (GError) error = NULL;
  if (strcmp (what, "publish") == 0)
    satin_publish (run, base, &other);
  else if (strcmp (what, "input") == 0 && satin_input (run, "/proc/self/exe", &error) == NULL)
    fprintf (stderr, "roots: %s\n", error->message);
  return 1;
}

/* `late` (nullable): the call to make too late. */
static int
ask (SatinRun *run, uint32_t roots, const char *folder, const char *late)
{
  uint32_t three = 3;
  uint64_t all = 0;
  satin_publish (run, base, &three);
  for (uint32_t root = 0; root < roots; root++)
    {
      stay_between (folder, root);
      if (!satin_root (run, sum, &all, all, root, satin_text ("%s", folder)))
        return satin_stopped (run);
      if (late != NULL)
        return be_late (run, late);
    }
  stay_between (folder, roots);
  printf ("%" PRIu64 "\n", all);
  return 0;
}

static int
roots_main (SatinRun *run, int argc, char **argv)
{
  if (argc == 3 || argc == 4)
    return ask (run, (uint32_t)atoi (argv[1]), argv[2], argv[3]);
  fprintf (stderr, "usage: roots ROOTS FOLDER [publish | input]\n");
  return 2;
}

SATIN_APP ("roots", "ROOTS FOLDER", roots_main)
