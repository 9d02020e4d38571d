/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin top`: shows a run live in a terminal. A thread asks the nodes each second, so a silent
 * node delays the figures but never the keys. The main thread reads keys and draws.
 * Tests: test-top-keys, test-top, top.sh. */
#include "arguments.h"
#include "ask.h"
#include "command.h"
#include "top-view.h"

#include "folder/control.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define PERIOD_US G_USEC_PER_SEC
#define LOOK_MS 100
#define EVENTS_MAX 200
#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"

typedef struct
{
  AskRun *ask;
  GMutex mutex;
  GCond cond;
  /* Under the mutex. */
  TopSample *sample; /* the last sample; NULL: none yet */
  GPtrArray *events; /* of char * */
  guint number;      /* the number of samples so far */
  gboolean stop, gone;
} Top;

static volatile sig_atomic_t interrupted;

static void
on_signal (int signal_number)
{
  interrupted = signal_number;
}

static void
add_events (Top *top, const TopSample *before, const TopSample *after)
{
  g_autoptr (GPtrArray) events = top_sample_events (before, after);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *clock = g_date_time_format (now, "%H:%M:%S");

  for (guint i = 0; i < events->len; i++)
    g_ptr_array_add (top->events, g_strdup_printf ("%s %s", clock, (const char *)events->pdata[i]));
  if (top->events->len > EVENTS_MAX)
    g_ptr_array_remove_range (top->events, 0, top->events->len - EVENTS_MAX);
}

/* Takes a sample, unless no node replies. FALSE: the run is over. */
static gboolean
take_sample (Top *top)
{
  g_autoptr (Gather) gather = gather_new (top->ask->path, NULL);
  TopSample *sample, *before;
  int code;

  if (gather == NULL)
    return !folder_has_ended (top->ask->path, &code, NULL) && folder_is_live (top->ask->path);
  gather_ask (gather, CONTROL_TOP);
  before = top->sample; /* only this thread changes it */
  sample = top_sample_new (gather, g_get_monotonic_time (), before);
  g_mutex_lock (&top->mutex);
  if (before != NULL)
    add_events (top, before, sample);
  top->sample = sample;
  top->number++;
  g_mutex_unlock (&top->mutex);
  top_sample_free (before);
  return TRUE;
}

static gpointer
ask_in_thread (gpointer data)
{
  Top *top = data;
  gboolean goes_on = TRUE;

  while (goes_on)
    {
      gint64 next_us = g_get_monotonic_time () + PERIOD_US;

      goes_on = take_sample (top);
      g_mutex_lock (&top->mutex);
      while (!top->stop && goes_on && g_cond_wait_until (&top->cond, &top->mutex, next_us))
        continue;
      if (top->stop)
        goes_on = FALSE;
      else if (!goes_on)
        top->gone = TRUE;
      g_mutex_unlock (&top->mutex);
    }
  return NULL;
}

static double
elapsed_s (const Top *top)
{
  gint64 started_us = top->ask->run.started_us;

  return started_us > 0 ? (double)(g_get_real_time () - started_us) / G_USEC_PER_SEC : NAN;
}

/* The screen as text. (transfer full) NULL: there is no sample yet. */
static char *
draw (Top *top, TopView *view)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *clock = g_date_time_format (now, "%H:%M:%S");
  char *screen = NULL;

  g_mutex_lock (&top->mutex);
  view->events = top->events;
  view->elapsed_s = elapsed_s (top);
  view->clock = clock;
  if (top->sample != NULL)
    screen = top_view_draw (view, top->sample);
  g_mutex_unlock (&top->mutex);
  return screen;
}

static void
read_size (TopView *view)
{
  struct winsize size;

  view->columns = 80;
  view->lines = 24;
  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    {
      view->columns = size.ws_col;
      view->lines = size.ws_row;
    }
}

/* The cursor stays at the end of the last line, so that the screen never scrolls. */
static void
show_screen (Top *top, TopView *view)
{
  g_autofree char *screen = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GString) text = g_string_new ("\033[H");

  read_size (view);
  screen = draw (top, view);
  if (screen == NULL)
    return;
  g_strchomp (screen);
  lines = g_strsplit (screen, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    g_string_append_printf (text, "%s%s\033[K", i > 0 ? "\r\n" : "", lines[i]);
  g_string_append (text, "\033[J");
  fputs (text->str, stdout);
  fflush (stdout);
}

/* Handles `n` bytes of keys. FALSE: quit. */
static gboolean
obey (TopView *view, const char *keys, gssize n)
{
  for (gssize i = 0; i < n; i++)
    {
      gboolean is_arrow = keys[i] == '\033' && i + 2 < n && keys[i + 1] == '[';
      char key = is_arrow ? keys[i + 2] : keys[i];

      if (is_arrow)
        i += 2;
      if (key == 'q' || key == 'Q')
        return FALSE;
      if (key == 's')
        view->sort = (view->sort + 1) % TOP_SORTS;
      if (key == 'f')
        view->folded = !view->folded;
      if (key == 'j' || (is_arrow && key == 'B'))
        view->first++;
      if ((key == 'k' || (is_arrow && key == 'A')) && view->first > 0)
        view->first--;
    }
  return TRUE;
}

/* Makes the terminal deliver keys one by one, without showing them. FALSE: stdin is no terminal. */
static gboolean
set_keys (struct termios *before)
{
  struct termios raw;

  if (tcgetattr (STDIN_FILENO, before) != 0)
    return FALSE;
  raw = *before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  return tcsetattr (STDIN_FILENO, TCSANOW, &raw) == 0;
}

static gboolean
has_gone (Top *top)
{
  gboolean gone;

  g_mutex_lock (&top->mutex);
  gone = top->gone;
  g_mutex_unlock (&top->mutex);
  return gone;
}

static void
watch (Top *top, TopView *view)
{
  struct pollfd fds = { .fd = STDIN_FILENO, .events = POLLIN };
  gboolean goes_on = TRUE;
  gint64 due_us = 0;

  while (goes_on && !interrupted && !has_gone (top))
    {
      char keys[64];
      gboolean pressed = poll (&fds, 1, LOOK_MS) > 0;

      if (pressed)
        {
          gssize n = read (STDIN_FILENO, keys, sizeof keys);

          goes_on = n > 0 && obey (view, keys, n);
        }
      if (goes_on && (pressed || g_get_monotonic_time () >= due_us))
        {
          show_screen (top, view);
          due_us = g_get_monotonic_time () + PERIOD_US / 4;
        }
    }
}

static int
run_in_terminal (Top *top, TopView *view)
{
  const struct sigaction action = { .sa_handler = on_signal };
  struct termios before;
  GThread *asker;

  if (!set_keys (&before))
    return command_usage ("top ", "standard input is not a terminal, so no key can be read");
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  sigaction (SIGHUP, &action, NULL);
  fputs (ENTER_SCREEN, stdout);
  fflush (stdout);
  asker = g_thread_new ("satin-top", ask_in_thread, top);
  watch (top, view);
  fputs (LEAVE_SCREEN, stdout);
  fflush (stdout);
  tcsetattr (STDIN_FILENO, TCSANOW, &before);
  g_mutex_lock (&top->mutex);
  top->stop = TRUE;
  g_cond_signal (&top->cond);
  g_mutex_unlock (&top->mutex);
  if (has_gone (top))
    command_say ("run '%s' has ended", top->ask->run.name);
  g_thread_join (asker);
  return COMMAND_DONE;
}

/* Prints one screen, of two samples, since rates need two. */
static int
print_once (Top *top, TopView *view)
{
  g_autofree char *screen = NULL;

  command_say ("the output is no terminal: this is one picture of run '%s'", top->ask->run.name);
  for (int i = 0; i < 2; i++)
    {
      if (i > 0)
        g_usleep (PERIOD_US);
      if (!take_sample (top))
        break;
    }
  view->columns = G_MAXINT;
  screen = draw (top, view);
  if (screen == NULL)
    return command_say ("no node of run '%s' answers", top->ask->run.name), COMMAND_ERROR;
  g_print ("%s", screen);
  return COMMAND_DONE;
}

static gboolean
is_terminal (void)
{
  const char *term = g_getenv ("TERM");

  return isatty (STDOUT_FILENO) && term != NULL && *term != '\0' && strcmp (term, "dumb") != 0;
}

/* The name of the only live run. NULL, after a message: there is none, or several. (transfer
 * full) */
static char *
find_only (void)
{
  g_autoptr (GPtrArray) names = folder_list ();
  g_autofree char *only = NULL;

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = folder_find (names->pdata[i], NULL);

      if (path == NULL || !folder_is_live (path))
        continue;
      if (only != NULL)
        {
          command_say ("several runs go on: name one, such as '%s' or '%s'", only,
                       (const char *)names->pdata[i]);
          return NULL;
        }
      only = g_strdup (names->pdata[i]);
    }
  if (only == NULL)
    command_say ("no run goes on");
  return g_steal_pointer (&only);
}

int
command_top (int argc, char **argv)
{
  static const ArgumentsVerb verb
      = { "top", "[RUN]",
          "Shows RUN live in this terminal: progress, risk, nodes, oldest jobs, events.\n"
          "Keys: q quits, s sorts, f folds sites, arrows scroll. Where the output is no\n"
          "terminal it prints one picture.",
          ARGUMENTS_WORDS };
  g_auto (Arguments) said = { 0 };
  const char *no_colour = g_getenv ("NO_COLOR");
  g_autofree char *name = NULL;
  g_auto (AskRun) ask = { 0 };
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func (g_free);
  TopView view = { .keys = is_terminal () };
  Top top = { .ask = &ask, .events = events };
  int code;

  if (!arguments_read_one (&said, &verb, argc, argv))
    return COMMAND_USAGE;
  name = said.words[0] != NULL ? g_strdup (said.words[0]) : find_only ();
  if (name == NULL || !ask_find (name, &ask))
    return COMMAND_ERROR;
  if (!ask_is_live (&ask))
    return COMMAND_ERROR;
  view.colour = view.keys && (no_colour == NULL || *no_colour == '\0');
  g_mutex_init (&top.mutex);
  g_cond_init (&top.cond);
  code = view.keys ? run_in_terminal (&top, &view) : print_once (&top, &view);
  top_sample_free (top.sample);
  g_cond_clear (&top.cond);
  g_mutex_clear (&top.mutex);
  return code;
}
