/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with its own main that embeds Satin; see embed.sh. It has options, threads, signal
 * handlers, a child process and output of its own, and checks that Satin leaves them alone. Files
 * in FOLDER record and control the run. Each leaf of root K adds a byte to ran.K. The last leaf
 * waits while hold.K exists. main writes its process id to main.K before root K, and waits while
 * stay.K exists. With fail.K a job fails; with unsynced.K or unset.0 a rule is broken. */
#include <satin.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAVES 12
#define LOOK_US 2000
#define SIGNALS 32

SATIN_CONST (uint32_t, base)

static const uint32_t *
larger (const uint32_t *a, const uint32_t *b)
{
  return *a >= *b ? a : b;
}

SATIN_BEST (uint32_t, largest, larger, 0)

static char *
file_of (const char *folder, const char *what, uint32_t number)
{
  return g_strdup_printf ("%s/%s.%u", folder, what, number);
}

static gboolean
stands (const char *folder, const char *what, uint32_t number)
{
  g_autofree char *file = file_of (folder, what, number);
  return g_file_test (file, G_FILE_TEST_EXISTS);
}

static void
note_leaf (const char *folder, uint32_t root)
{
  g_autofree char *ran = file_of (folder, "ran", root);
  int fd = open (ran, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  (void)!write (fd, "x", 1);
  close (fd);
}

SATIN_JOB (leaf, uint64_t, (uint64_t, before), (uint32_t, root), (uint32_t, number),
           (SatinText, folder))
{
  uint32_t found = number + *satin_const (base);
  gboolean waits;
  note_leaf (folder.text, root);
  if (stands (folder.text, "fail", root))
    satin_fail ("leaf %u was told to", number);
  waits = number == LEAVES - 1 && stands (folder.text, "hold", root);
  while (waits)
    {
      satin_aborted ();
      g_usleep (LOOK_US);
      waits = stands (folder.text, "hold", root);
    }
  satin_improve (largest, &found);
  return (before ^ number) * 6364136223846793005u + *satin_const (base);
}

SATIN_JOB (sum, uint64_t, (uint64_t, before), (uint32_t, root), (SatinText, folder))
{
  uint64_t parts[LEAVES], all = before;
  for (uint32_t i = 0; i < LEAVES; i++)
    satin_spawn (leaf, &parts[i], before, root, i, folder);
  if (stands (folder.text, "unsynced", root))
    return before;
  satin_sync ();
  for (uint32_t i = 0; i < LEAVES; i++)
    all = all * 31 + parts[i];
  return all;
}

/* ---- what belongs to the host program ---- */

static SatinRun *open_run; /* atomic: the run that the watcher may suspend */
static volatile sig_atomic_t interrupts, children;
static gint ending;

static void
on_interrupt (int number)
{
  (void)number;
  interrupts = 1;
}

static void
on_child (int number)
{
  (void)number;
  children++;
}

static gpointer
watch (gpointer data)
{
  (void)data;
  while (!g_atomic_int_get (&ending))
    {
      SatinRun *run = interrupts ? g_atomic_pointer_exchange (&open_run, NULL) : NULL;
      if (run != NULL)
        satin_suspend (run);
      g_usleep (LOOK_US);
    }
  return NULL;
}

typedef struct
{
  struct sigaction actions[SIGNALS];
  sigset_t mask;
  ino_t streams[3];
} Own;

static Own
look_at_own (void)
{
  Own own;
  struct stat status;
  memset (&own, 0, sizeof own);
  for (int i = 1; i < SIGNALS; i++)
    (void)sigaction (i, NULL, &own.actions[i]);
  (void)pthread_sigmask (SIG_SETMASK, NULL, &own.mask);
  for (int i = 0; i < 3; i++)
    own.streams[i] = fstat (i, &status) == 0 ? status.st_ino : 0;
  return own;
}

static void
check_own (const Own *before, const char *when)
{
  Own now = look_at_own ();
  for (int i = 1; i < SIGNALS; i++)
    if (now.actions[i].sa_handler != before->actions[i].sa_handler)
      printf ("%s: signal %d was taken\n", when, i);
  for (int i = 1; i < SIGNALS; i++)
    if (sigismember (&now.mask, i) != sigismember (&before->mask, i))
      printf ("%s: signal %d is blocked or is not\n", when, i);
  for (int i = 0; i < 3; i++)
    if (now.streams[i] != before->streams[i])
      printf ("%s: descriptor %d leads elsewhere\n", when, i);
}

/* A child of the host program: SIGCHLD reports its end, and only the host waits for it. */
static void
have_child (void)
{
  int before = children, status = 0;
  pid_t child = fork ();
  if (child == 0)
    _exit (7);
  while (children == before)
    g_usleep (LOOK_US);
  if (waitpid (child, &status, 0) != child || WEXITSTATUS (status) != 7)
    printf ("somebody else has waited for the child\n");
}

/* ---- what the host asks of Satin ---- */

typedef struct
{
  char *label, *folder;
  int roots, code, base, again;
} Wish;

static gboolean
ask (SatinRun *run, const Wish *wish, uint32_t base_value, uint64_t *all)
{
  *all = base_value;
  if (!stands (wish->folder, "unset", 0))
    satin_publish (run, base, &base_value);
  for (uint32_t root = 0; root < (uint32_t)wish->roots; root++)
    {
      g_autofree char *file = file_of (wish->folder, "main", root);
      g_autofree char *pid = g_strdup_printf ("%d\n", (int)getpid ());
      (void)g_file_set_contents (file, pid, -1, NULL);
      while (stands (wish->folder, "stay", root))
        g_usleep (LOOK_US);
      if (!satin_root (run, sum, all, *all, root, satin_text ("%s", wish->folder)))
        return FALSE;
    }
  return TRUE;
}

static int
compute (SatinRun *run, const Wish *wish, uint32_t base_value)
{
  uint64_t all;
  gboolean well;
  g_atomic_pointer_set (&open_run, run);
  well = ask (run, wish, base_value, &all);
  if (!well)
    printf ("%s: stopped with %d\n", wish->label, satin_stopped (run));
  g_atomic_pointer_set (&open_run, NULL);
  int code = satin_close (run);
  if (code == 0)
    printf ("%s: %" PRIu64 ", %u\n", wish->label, all, satin_best (largest));
  else
    printf ("%s: closed with %d: %s\n", wish->label, code, satin_reason ());
  return code;
}

static gboolean
read_wish (Wish *wish, int argc, char **argv, GError **error)
{
  const GOptionEntry entries[]
      = { { "label", 0, 0, G_OPTION_ARG_STRING, &wish->label, "of its lines", "TEXT" },
          { "roots", 0, 0, G_OPTION_ARG_INT, &wish->roots, "how many", "N" },
          { "base", 0, 0, G_OPTION_ARG_INT, &wish->base, "to begin with", "N" },
          { "again", 0, 0, G_OPTION_ARG_INT, &wish->again, "other runs after the first", "N" },
          { "exit", 0, 0, G_OPTION_ARG_INT, &wish->code, "the exit code", "CODE" },
          { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("FOLDER");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  wish->folder = argc == 2 ? argv[1] : NULL;
  if (wish->folder == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "FOLDER is missing");
  return wish->folder != NULL;
}

static void
have_signals (void)
{
  struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
  (void)sigaction (SIGINT, &action, NULL);
  action.sa_handler = on_child;
  (void)sigaction (SIGCHLD, &action, NULL);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Wish wish = { .label = (char *)"host", .roots = 2, .base = 3 };
  have_signals ();
  g_autoptr (GThread) watcher = g_thread_new ("watch", watch, NULL);
  Own before = look_at_own ();
  SatinRun *run = satin_open (&argc, &argv, &error);
  if (run == NULL)
    {
      printf ("no run: %d: %s\n", error->code, error->message);
      check_own (&before, "refused");
      return 40;
    }
  if (g_getenv ("EMBED_ALONE") != NULL)
    check_own (&before, "open");
  if (!read_wish (&wish, argc, argv, &error))
    {
      printf ("usage: %s\n", error->message);
      (void)satin_close (run);
      return 2;
    }
  have_child ();
  if (satin_open (NULL, NULL, &error) != NULL
      || strcmp (error->message, "a run is open in this process already") != 0)
    printf ("two runs are open\n");
  g_clear_error (&error);
  (void)compute (run, &wish, (uint32_t)wish.base);
  for (int i = 1; i <= wish.again; i++)
    {
      run = satin_open (NULL, NULL, &error);
      if (run == NULL)
        printf ("not again: %s\n", error->message);
      g_clear_error (&error);
      if (run != NULL)
        (void)compute (run, &wish, (uint32_t)(wish.base - i));
    }
  if (g_getenv ("EMBED_ALONE") != NULL)
    check_own (&before, "closed");
  have_child ();
  g_atomic_int_set (&ending, TRUE);
  g_thread_join (g_steal_pointer (&watcher));
  printf ("%s: done\n", wish.label);
  return wish.code;
}
