/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of run and resume. Everything that can be seen to be wrong before a process is
 * started is refused here, in one sentence. One thread; starts nothing. */
#include "arguments.h"

#include "coordinator/mark.h"

#include "host/outlet.h"
#include "host/step.h"

#include "node/options.h"

#include "storage/places/place.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* More than this on one machine is a slip of the finger. */
#define WORKERS_MAX 1024

void
arguments_clear (Arguments *options)
{
  g_free (options->checkpoint);
  g_free (options->name);
  g_free (options->listen);
  g_free (options->sites);
  g_free (options->stats);
  g_free (options->trace);
  g_strfreev (options->words);
  g_strfreev (options->program);
  memset (options, 0, sizeof *options);
}

/* What g_option hands over: texts, because its own number reading says too little when it fails. */
typedef struct
{
  char *nodes, *workers, *interval, *checkpoint, *name, *stats, *protect, *verify, *steal, *trace,
      *stack, *shared_memory, *listen, *sites, *heartbeat, *silence;
  gboolean tcp, live, dry, anew, copy, insecure, closed, mended, trust;
} Texts;

static void
texts_clear (Texts *texts)
{
  g_free (texts->nodes);
  g_free (texts->workers);
  g_free (texts->interval);
  g_free (texts->checkpoint);
  g_free (texts->name);
  g_free (texts->stats);
  g_free (texts->protect);
  g_free (texts->verify);
  g_free (texts->steal);
  g_free (texts->trace);
  g_free (texts->stack);
  g_free (texts->shared_memory);
  g_free (texts->listen);
  g_free (texts->sites);
  g_free (texts->heartbeat);
  g_free (texts->silence);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

static GOptionContext *
make_context (Texts *texts, const char *const about[3])
{
  /* What resume refuses. */
  const int of_run = strcmp (about[0], "resume") == 0 ? G_OPTION_FLAG_HIDDEN : 0;
  const GOptionEntry entries[] = {
    { "nodes", 'n', 0, G_OPTION_ARG_STRING, &texts->nodes, "Node processes to start (1)", "NODES" },
    { "workers", 'w', 0, G_OPTION_ARG_STRING, &texts->workers,
      "Workers of each node (this machine's cores, shared out)", "WORKERS" },
    { "checkpoint", 0, 0, G_OPTION_ARG_FILENAME, &texts->checkpoint, "Keep what is finished here",
      "URI" },
    { "new", 0, of_run, G_OPTION_ARG_NONE, &texts->anew,
      "Set the checkpoint that is there aside, under a name with the time, and begin anew", NULL },
    { "dry-run", 0, of_run, G_OPTION_ARG_NONE, &texts->dry,
      "Show which nodes would be started where, and start nothing", NULL },
    { "mended", 0, 0, G_OPTION_ARG_NONE, &texts->mended,
      "Use what another build of the program has saved in the checkpoint", NULL },
    { "trust", 0, 0, G_OPTION_ARG_NONE, &texts->trust,
      "Use what somebody else has saved in the checkpoint", NULL },
    { "insecure", 0, 0, G_OPTION_ARG_NONE, &texts->insecure,
      "URI may be plain ftp: or http:", NULL },
    { "interval", 0, 0, G_OPTION_ARG_STRING, &texts->interval,
      "Seconds between two publications and, if two are said, between copies to another node (auto:"
      " 2,0.2)",
      "auto|S[,S]" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &texts->name, "Name of the run (one is made up)", "RUN" },
    { "protect", 0, 0, G_OPTION_ARG_STRING, &texts->protect,
      "What a crash leaves: auto (all but the last moment, or the file), naive (nothing), orphan"
      " (what other nodes took from the dead one), checkpoint (that and the file), buddy (all"
      " but the last moment, with a file too), theft (the same, and each steal waits for it),"
      " mirror (the same, and nothing waits: each result of a stolen job is sent twice), cut (the"
      " file, which all nodes save together)",
      "PLAN" },
    { "verify", 0, 0, G_OPTION_ARG_STRING, &texts->verify,
      "Compute this share (0 to 1) of what other nodes return twice, and compare", "SHARE" },
    { "steal", 0, 0, G_OPTION_ARG_STRING, &texts->steal,
      "Whom idle nodes ask: crs (their site, then another one too; the default), rs"
      " (anybody), mw (the master)",
      "WAY" },
    { "heartbeat", 0, 0, G_OPTION_ARG_STRING, &texts->heartbeat,
      "Seconds between two signs of life of a node (5)", "S" },
    { "silence", 0, 0, G_OPTION_ARG_STRING, &texts->silence,
      "Seconds after which a node that gives none is dead (28)", "S" },
    { "stats", 0, 0, G_OPTION_ARG_FILENAME, &texts->stats,
      "Write figures there at the end, as JSON", "FILE" },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &texts->trace,
      "Write what each worker does and when, for https://ui.perfetto.dev", "FILE" },
    { "stack", 0, 0, G_OPTION_ARG_STRING, &texts->stack,
      "C stack of each worker, like 64M or 4G (1G)", "SIZE" },
    { "shared-memory", 0, 0, G_OPTION_ARG_STRING, &texts->shared_memory,
      "Memory of each node for shared bytes of other nodes, like 64M or 4G (1G)", "SIZE" },
    { "tcp", 0, 0, G_OPTION_ARG_NONE, &texts->tcp, "Talk over loopback TCP, not Unix sockets",
      NULL },
    { "listen", 0, 0, G_OPTION_ARG_STRING, &texts->listen,
      "Talk over TCP at this address of this host, so that nodes of other hosts can join",
      "ADDRESS" },
    { "sites", 0, 0, G_OPTION_ARG_FILENAME, &texts->sites,
      "Start nodes at the sites that this file names, see satin(1)", "FILE" },
    { "closed", 0, 0, G_OPTION_ARG_NONE, &texts->closed, "Let no more nodes in by `satin add`",
      NULL },
    { "copy", 0, 0, G_OPTION_ARG_NONE, &texts->copy, "Send the program to other hosts first",
      NULL },
    { "live", 0, 0, G_OPTION_ARG_NONE, &texts->live,
      "Show the live line even when not on a terminal", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };
  GOptionContext *context = g_option_context_new (about[1]);

  g_option_context_set_summary (context, about[2]);
  g_option_context_add_main_entries (context, entries, NULL);
  return context;
}

/* An unset text leaves `number` alone. */
static gboolean
read_count (const char *text, gint64 most, int *number)
{
  gint64 value;

  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (text, 10, 1, most, &value, NULL))
    return FALSE;
  *number = (int)value;
  return TRUE;
}

/* An unset text leaves `seconds` alone. */
static gboolean
read_seconds (const char *text, double least, double most, double *seconds)
{
  char *end;
  double value;

  if (text == NULL)
    return TRUE;
  value = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !(value >= least && value <= most))
    return FALSE;
  *seconds = value;
  return TRUE;
}

static gboolean
check_texts (const Texts *texts, Arguments *options, const char *verb)
{
  if (!read_count (texts->nodes, FOLDER_NODES_MAX, &options->nodes))
    return command_usage (verb, "-n takes a number from 1 to %d, not '%s'", FOLDER_NODES_MAX,
                          texts->nodes),
           FALSE;
  if (!read_count (texts->workers, WORKERS_MAX, &options->workers))
    return command_usage (verb, "-w takes a number from 1 to %d, not '%s'", WORKERS_MAX,
                          texts->workers),
           FALSE;
  if (texts->interval != NULL
      && !folder_interval_read (texts->interval, &options->interval_s, &options->keep_s))
    return command_usage (verb, "--interval takes " FOLDER_INTERVAL_WORDS "; not '%s'",
                          texts->interval),
           FALSE;
  if (texts->name != NULL && !folder_name_is_valid (texts->name))
    return command_usage (
               verb, "'%s' is not a name for a run: use up to %d letters, digits, '.', '_', '-'",
               texts->name, FOLDER_NAME_MAX),
           FALSE;
  if (texts->checkpoint != NULL && texts->checkpoint[0] == '\0')
    return command_usage (verb, "--checkpoint needs a file or a URI"), FALSE;
  if (texts->stats != NULL && texts->stats[0] == '\0')
    return command_usage (verb, "--stats needs a file"), FALSE;
  if (texts->trace != NULL && texts->trace[0] == '\0')
    return command_usage (verb, "--trace needs a file"), FALSE;
  if (texts->stack != NULL && !options_read_stack (texts->stack, &options->stack))
    return command_usage (verb,
                          "--stack takes bytes from 128K on, such as 512K, 64M or 4G, not '%s'",
                          texts->stack),
           FALSE;
  if (texts->shared_memory != NULL
      && !options_read_bytes (texts->shared_memory, &options->shared_memory))
    return command_usage (
               verb, "--shared-memory takes bytes from 1 on, such as 512K, 64M or 4G, not '%s'",
               texts->shared_memory),
           FALSE;
  return TRUE;
}

/* One that is not said follows the other. */
static gboolean
check_patience (const Texts *texts, Arguments *options, const char *verb)
{
  const double most = FOLDER_SILENCE_MAX_S, part = FOLDER_SILENCE_HEARTBEATS;
  const double usual = FOLDER_SILENCE_DEFAULT_S / FOLDER_HEARTBEAT_DEFAULT_S;
  const double least = FOLDER_HEARTBEAT_MIN_S * part - 1e-7; /* 0.15 is 3 times 0.05 */
  double heartbeat_s = 0, silence_s = 0;

  if (!read_seconds (texts->heartbeat, FOLDER_HEARTBEAT_MIN_S, most / part, &heartbeat_s))
    return command_usage (verb, "--heartbeat takes seconds from %g to %g, not '%s'",
                          FOLDER_HEARTBEAT_MIN_S, most / part, texts->heartbeat),
           FALSE;
  if (!read_seconds (texts->silence, least, most, &silence_s))
    return command_usage (verb, "--silence takes seconds from %g to %g, not '%s'", least, most,
                          texts->silence),
           FALSE;
  if (silence_s > 0 && heartbeat_s > 0 && !folder_patience_fits (heartbeat_s, silence_s))
    return command_usage (verb, "--silence must be at least %g times --heartbeat, %g seconds", part,
                          part * heartbeat_s),
           FALSE;
  if (texts->silence == NULL && texts->heartbeat != NULL)
    silence_s = CLAMP (usual * heartbeat_s, FOLDER_SILENCE_DEFAULT_S, most);
  else if (texts->heartbeat == NULL && texts->silence != NULL)
    heartbeat_s = CLAMP (silence_s / usual, FOLDER_HEARTBEAT_MIN_S, FOLDER_HEARTBEAT_DEFAULT_S);
  options->heartbeat_s = heartbeat_s;
  options->silence_s = silence_s;
  return TRUE;
}

/* FALSE: said on stderr. */
static gboolean
check_steal (const Texts *texts, Arguments *options, const char *verb)
{
  options->steal = -1;
  if (texts->steal == NULL || folder_steal_read (texts->steal, &options->steal))
    return TRUE;
  return command_usage (verb, "--steal takes crs, rs or mw, not '%s'", texts->steal), FALSE;
}

/* How many nodes the run begins with; 0: that stands elsewhere, in a file, or srun or mpirun has
 * started them. */
static guint
known_nodes (const Texts *texts, const Arguments *options, const char *verb)
{
  gboolean resumes = strcmp (verb, "resume ") == 0;

  if (texts->sites != NULL || step_has_tasks () || (resumes && options->nodes == 0))
    return 0;
  return (guint)MAX (options->nodes, 1);
}

/* FALSE: said on stderr. */
static gboolean
check_protect (const Texts *texts, Arguments *options, const char *verb)
{
  const char *plan = texts->protect;

  if (plan == NULL)
    return TRUE;
  g_autofree char *names = plan_names ();
  if (!plan_read (plan, &options->protect))
    return command_usage (verb, "--protect takes %s, not '%s'", names, plan), FALSE;
  gboolean resumes = strcmp (verb, "resume ") == 0;
  g_autofree char *wrong = plan_refuses (options->protect, resumes || texts->checkpoint != NULL,
                                         known_nodes (texts, options, verb));
  if (wrong != NULL)
    return command_usage (verb, "%s", wrong), FALSE;
  return TRUE;
}

/* FALSE: said on stderr. */
static gboolean
check_verify (const Texts *texts, Arguments *options, const char *verb)
{
  if (texts->verify == NULL)
    return TRUE;
  if (!read_seconds (texts->verify, 0, 1, &options->verify) || options->verify == 0)
    return command_usage (verb, "--verify takes a share above 0, up to 1, not '%s'", texts->verify),
           FALSE;
  if (plan_knobs (options->protect).epochs)
    return command_usage (verb, "--verify does not go with --protect cut, whose epochs do not wait"
                                " for a second result"),
           FALSE;
  if (known_nodes (texts, options, verb) == 1)
    return command_usage (verb, "--verify compares results of two nodes: say -n 2 or more"), FALSE;
  return TRUE;
}

static gboolean
check_sites (const Texts *texts, const char *verb)
{
  if (texts->sites != NULL && texts->nodes != NULL)
    return command_usage (verb, "-n conflicts with --sites: the file says how many nodes"), FALSE;
  if (texts->copy && texts->sites == NULL)
    return command_usage (verb, "--copy needs --sites"), FALSE;
  return TRUE;
}

static gboolean
check_listen (const Texts *texts, const char *verb)
{
  g_autoptr (GInetAddress) address
      = texts->listen != NULL ? g_inet_address_new_from_string (texts->listen) : NULL;

  if (texts->listen == NULL || (address != NULL && !g_inet_address_get_is_any (address)))
    return TRUE;
  return command_usage (verb, "--listen takes a numeric address of this host, not '%s'",
                        texts->listen),
         FALSE;
}

char *
arguments_target (const char *text, gboolean insecure)
{
  g_autoptr (GError) error = NULL;
  char *target = place_check (text, insecure, &error);

  if (target == NULL)
    command_say ("%s", error->message);
  return target;
}

gboolean
arguments_target_is_writable (const char *target)
{
  return place_is_remote (target) || arguments_place_is_writable ("checkpoint", target);
}

char **
arguments_cut_program (int *argc, char **argv)
{
  for (int i = 1; i < *argc; i++)
    if (strcmp (argv[i], "--") == 0)
      {
        char **program = g_strdupv (argv + i + 1);

        argv[i] = NULL;
        *argc = i;
        return program;
      }
  return NULL;
}

/* g_option_context_parse stops at the first word; `resume URI -n 2` has options behind it. */
static gboolean
parse_between (GOptionContext *context, const char *verb, Arguments *options, int argc, char **argv)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  gboolean with_program = options->program != NULL || strcmp (verb, "resume") == 0;

  for (;;)
    {
      if (!command_parse (context, verb, &argc, &argv))
        return FALSE;
      if (argc < 2)
        break;
      if (!with_program)
        {
          /* `satin run fib 30`: the first word is PROGRAM, the rest its arguments. */
          options->program = g_strdupv (argv + 1);
          break;
        }
      g_ptr_array_add (words, g_strdup (argv[1]));
      argv[1] = argv[0];
      argc--, argv++;
    }
  g_ptr_array_add (words, NULL);
  options->words = (char **)g_ptr_array_free (g_steal_pointer (&words), FALSE);
  return TRUE;
}

gboolean
arguments_read (Arguments *options, const char *const about[3], int argc, char **argv)
{
  g_auto (Texts) texts = { 0 };
  g_autoptr (GOptionContext) context = make_context (&texts, about);
  g_autofree char *verb = g_strdup_printf ("%s ", about[0]);
  g_autofree char **copy = g_memdup2 (argv, ((gsize)argc + 1) * sizeof *argv);

  options->program = arguments_cut_program (&argc, copy);
  if (!parse_between (context, about[0], options, argc, copy)
      || !check_texts (&texts, options, verb) || !check_listen (&texts, verb)
      || !check_patience (&texts, options, verb) || !check_steal (&texts, options, verb)
      || !check_sites (&texts, verb) || !check_protect (&texts, options, verb)
      || !check_verify (&texts, options, verb))
    return FALSE;
  options->tcp = texts.tcp || texts.listen != NULL;
  options->listen = g_steal_pointer (&texts.listen);
  options->live = texts.live;
  options->copy = texts.copy;
  options->closed = texts.closed;
  options->sites = g_steal_pointer (&texts.sites);
  options->anew = texts.anew;
  options->dry = texts.dry;
  options->insecure = texts.insecure;
  options->mended = texts.mended;
  options->trust = texts.trust;
  options->checkpoint = g_steal_pointer (&texts.checkpoint);
  options->stats = texts.stats == NULL ? NULL : g_canonicalize_filename (texts.stats, NULL);
  options->trace = texts.trace == NULL ? NULL : g_canonicalize_filename (texts.trace, NULL);
  options->name = g_steal_pointer (&texts.name);
  return TRUE;
}

char *
arguments_program (const char *word)
{
  g_autofree char *found = g_find_program_in_path (word);

  if (found != NULL)
    return g_canonicalize_filename (found, NULL);
  if (g_file_test (word, G_FILE_TEST_IS_DIR))
    command_say ("cannot run '%s': it is a folder", word);
  else if (g_file_test (word, G_FILE_TEST_EXISTS) && strchr (word, '/') != NULL)
    command_say ("cannot run '%s': it is not an executable file", word);
  else
    command_say ("cannot run '%s': there is no such program%s", word,
                 strchr (word, '/') == NULL ? " in PATH (a path needs a '/', like ./prog)" : "");
  return NULL;
}

gboolean
arguments_place_is_writable (const char *what, const char *file)
{
  g_autoptr (GError) error = NULL;

  if (outlet_is_writable (what, file, &error))
    return TRUE;
  command_say ("%s", error->message);
  return FALSE;
}

gboolean
arguments_files_are_writable (const Arguments *options)
{
  return (options->stats == NULL || arguments_place_is_writable ("stats file", options->stats))
         && (options->trace == NULL || arguments_place_is_writable ("trace file", options->trace));
}

void
arguments_sign (FolderRun *run)
{
  g_auto (GStrv) words = options_own_words (run->argv);

  run->token = words != NULL ? mark_token (run->program, run->folder, words) : NULL;
  run->rows_token = words != NULL ? mark_rows_token (words) : NULL;
}
