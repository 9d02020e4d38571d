/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of verbs alone; node/options.c has those that programs take, too. Pure.
 * Tests: test-arguments, test-option-pages */
#include "arguments.h"
#include "forest.h"

#include "launch/submit-script.h"

#include <gio/gio.h>

#define FIELD(name) G_STRUCT_OFFSET (Arguments, name)
#define OF_RUNS "run resume "
#define ALL \
  OF_RUNS "replay add leave suspend save cancel wait log status view top jobs metrics inspect " \
          "merge trust submit "
#define WITHIN_MAX_S (24.0 * 3600)

static gboolean
read_name (const Option *row, const char *text, gpointer values)
{
  return folder_name_is_valid (text) && options_text (row, text, values);
}

static gboolean
read_steal (const Option *row, const char *text, gpointer values)
{
  (void)row;
  return folder_steal_read (text, &((Arguments *)values)->steal);
}

static gboolean
read_share (const Option *row, const char *text, gpointer values)
{
  char *end;
  double share = g_ascii_strtod (text, &end);

  (void)row;
  if (end == text || *end != '\0' || !(share > 0 && share <= 1))
    return FALSE;
  ((Arguments *)values)->verify = share;
  return TRUE;
}

static gboolean
read_address (const Option *row, const char *text, gpointer values)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (text);

  return address != NULL && !g_inet_address_get_is_any (address)
         && options_text (row, text, values);
}

static gboolean
read_time (const Option *row, const char *text, gpointer values)
{
  return submit_script_seconds (text) > 0 && options_text (row, text, values);
}

static const Option table[] = {
  { OPTIONS_FLAG ("help", 'h', "Show help options"), .where = ALL, .field = FIELD (own.help),
    .read = options_flag },
  { OPTIONS_VALUE ("nodes", 'n', "NODES", "Nodes to start"),
    .usual = "1, or as a file of sites says", .where = OF_RUNS "add submit ",
    .field = FIELD (nodes), .read = options_count, .least = 1, .most = FOLDER_NODES_MAX,
    .takes = "a number" },
  { OPTIONS_FLAG ("dry-run", 0, "Show which nodes would be started where, and start nothing"),
    .where = "run ", .field = FIELD (dry), .read = options_flag },
  { OPTIONS_VALUE ("name", 0, "NAME", "Name of the run, or of the job"),
    .usual = "made from the program's", .where = OF_RUNS "submit ", .field = FIELD (name),
    .read = read_name,
    .takes
    = "a name of up to " G_STRINGIFY (FOLDER_NAME_MAX) " letters, digits, '.', '_' and '-'" },
  { OPTIONS_VALUE ("verify", 0, "SHARE",
                   "Do this share (above 0, up to 1) of the work twice, and compare"),
    .where = OF_RUNS, .field = FIELD (verify), .read = read_share,
    .takes = "a share above 0 and up to 1" },
  { OPTIONS_VALUE ("steal", 0, "WAY",
                   "Whom idle nodes ask: crs (their site, then another one too; the default), rs"
                   " (anybody), mw (the master)"),
    .where = OF_RUNS, .field = FIELD (steal), .read = read_steal, .takes = "crs, rs or mw" },
  { OPTIONS_VALUE ("heartbeat", 0, "S", "Seconds between two signs of life of a node"),
    .usual = "5", .where = OF_RUNS, .field = FIELD (heartbeat_s), .read = options_number,
    .least = FOLDER_HEARTBEAT_MIN_S, .most = FOLDER_SILENCE_MAX_S / FOLDER_SILENCE_HEARTBEATS,
    .takes = "seconds" },
  { OPTIONS_VALUE ("silence", 0, "S", "Seconds without a sign of life after which a node is dead"),
    .usual = "28", .where = OF_RUNS, .field = FIELD (silence_s), .read = options_number,
    .least = 0.15, .most = FOLDER_SILENCE_MAX_S, .takes = "seconds" },
  { OPTIONS_FLAG ("tcp", 0, "Talk over loopback TCP, not Unix sockets"), .where = OF_RUNS,
    .field = FIELD (tcp), .read = options_flag },
  { OPTIONS_VALUE (
        "listen", 0, "ADDRESS",
        "Talk over TCP at this address of this host, so that nodes of other hosts can join"),
    .where = OF_RUNS, .field = FIELD (listen), .read = read_address,
    .takes = "a numeric address of this host" },
  { OPTIONS_VALUE ("sites", 0, "FILE",
                   "Start nodes at the sites that this file names, see satin(1)"),
    .where = OF_RUNS "add ", .field = FIELD (sites), .read = options_text, .takes = "a file" },
  { OPTIONS_FLAG ("closed", 0, "Let no more nodes in by `satin add`"), .where = OF_RUNS,
    .field = FIELD (closed), .read = options_flag },
  { OPTIONS_FLAG ("copy", 0, "Send the program to other hosts first"), .where = OF_RUNS,
    .field = FIELD (copy), .read = options_flag },
  { OPTIONS_FLAG ("live", 0, "Show the live line even when not on a terminal"), .where = OF_RUNS,
    .field = FIELD (live), .read = options_flag },
  { OPTIONS_VALUE ("site", 0, "SITE",
                   "Only at this site, of FILE or of those that the run began with"),
    .where = "add ", .field = FIELD (site), .read = options_text, .takes = "a site" },
  { OPTIONS_FLAG ("mended", 0, "Let nodes in though their program is another build than the run's"),
    .where = "add ", .field = FIELD (own.mended), .read = options_flag },
  { OPTIONS_VALUE ("site", 0, "SITE", "All nodes of this site leave"), .where = "leave ",
    .field = FIELD (site), .read = options_text, .takes = "a site" },
  { OPTIONS_VALUE ("within", 0, "S", "Leave after so many seconds, even if not all is handed over"),
    .usual = G_STRINGIFY (ARGUMENTS_LEAVE_WITHIN_S), .where = "leave ", .field = FIELD (within_s),
    .read = options_number, .least = 0, .most = WITHIN_MAX_S, .takes = "seconds" },
  { OPTIONS_VALUE ("within", 0, "S", "Wait so many seconds at most for jobs that run"),
    .usual = "20", .where = "suspend ", .field = FIELD (within_s), .read = options_number,
    .least = 0, .most = WITHIN_MAX_S, .takes = "seconds" },
  { OPTIONS_VALUE ("within", 0, "S", "Wait so many seconds at most for jobs that run"),
    .usual = G_STRINGIFY (ARGUMENTS_SAVE_WITHIN_S), .where = "save ", .field = FIELD (within_s),
    .read = options_number, .least = 0, .most = WITHIN_MAX_S, .takes = "seconds" },
  { OPTIONS_VALUE ("to", 0, "URI",
                   "Give a run without a checkpoint one here, where it is kept from now on"),
    .where = "save ", .field = FIELD (to), .read = options_text, .takes = "a file or a URI" },
  { OPTIONS_FLAG ("follow", 'f', "Show what comes, until the run has ended"), .where = "log ",
    .field = FIELD (follow), .read = options_flag },
  { OPTIONS_FLAG ("all", 'a', "Show also the runs that ended in the last seven days"),
    .where = "status ", .field = FIELD (all), .read = options_flag },
  { OPTIONS_FLAG ("json", 0, "Print all of it as one JSON object"), .where = "status jobs inspect ",
    .field = FIELD (json), .read = options_flag },
  { OPTIONS_VALUE ("html", 0, "FILE",
                   "Write the page as it is now to FILE, which needs nothing else"),
    .where = "view ", .field = FIELD (html), .read = options_text, .takes = "a file" },
  { OPTIONS_FLAG ("prometheus", 0,
                  "Prometheus' own text format, as its node exporter and promtool read it"),
    .where = "metrics ", .field = FIELD (prometheus), .read = options_flag },
  { OPTIONS_FLAG ("tree", 0, "Show the saved part of the job tree"), .where = "inspect ",
    .field = FIELD (tree), .read = options_flag },
  { OPTIONS_VALUE ("depth", 0, "N", "Levels that --tree shows"),
    .usual = G_STRINGIFY (ARGUMENTS_DEPTH), .where = "inspect ", .field = FIELD (depth),
    .read = options_count, .least = 0, .most = FOREST_DEPTH_MAX, .takes = "a number" },
  { OPTIONS_VALUE ("from", 0, "PATH", "The job at which --tree begins"), .usual = "each root",
    .where = "inspect ", .field = FIELD (from), .read = options_text },
  { OPTIONS_VALUE ("why", 0, "PATH",
                   "Show which node computed a job, when, at what cost, and what is missing below"),
    .where = "inspect ", .field = FIELD (why), .read = options_text },
  { OPTIONS_FLAG ("verify", 0, "Check every row of every table"), .where = "inspect ",
    .field = FIELD (verify_all), .read = options_flag },
  { OPTIONS_FLAG ("whole", 0,
                  "The words behind -- are the whole command line, with PROGRAM and its arguments"),
    .where = "replay ", .field = FIELD (whole), .read = options_flag },
  { OPTIONS_FLAG ("anyway", 0, "Search for a job that the checkpoint does not mention"),
    .where = "replay ", .field = FIELD (anyway), .read = options_flag },
  { OPTIONS_VALUE ("verify", 0, "SHARE",
                   "Run this share of all saved jobs, such as 0.01, in place of the one at PATH"),
    .where = "replay ", .field = FIELD (verify), .read = read_share,
    .takes = "a share above 0 and up to 1" },
  { OPTIONS_VALUE ("time", 't', "TIME",
                   "Time limit of each job as Slurm writes it, like 30 or 1-12:00:00"),
    .where = "submit ", .field = FIELD (time), .read = read_time,
    .takes = "minutes, hours:minutes:seconds or days-hours" },
  { OPTIONS_VALUE ("max-restarts", 0, "NUMBER", "Go on in a next job at most so many times"),
    .usual = G_STRINGIFY (SUBMIT_RESTARTS_DEFAULT), .where = "submit ", .field = FIELD (restarts),
    .read = options_count, .least = 0, .most = G_MAXINT - 1, .takes = "a number" },
  { OPTIONS_VALUE ("warning", 0, "S", "Suspend so long before the end of the time"),
    .usual = G_STRINGIFY (SUBMIT_WARNING_DEFAULT_S), .where = "submit ", .field = FIELD (warning_s),
    .read = options_count, .least = 1, .most = 65535, .takes = "seconds" },
  { OPTIONS_VALUE ("sbatch", 0, "OPTIONS",
                   "Options for sbatch, like '--partition=long --mail-type=END'"),
    .where = "submit ", .field = FIELD (batch), .read = options_text },
  { OPTIONS_VALUE ("run", 0, "OPTIONS", "More options of `satin run`, like '--interval 10'"),
    .where = "submit ", .field = FIELD (run), .read = options_text },
  { OPTIONS_VALUE ("script", 0, "FILE", "Keep the batch script here"), .usual = "NAME.sbatch",
    .where = "submit ", .field = FIELD (script), .read = options_text, .takes = "a file" },
  { OPTIONS_FLAG ("print", 0, "Print the batch script; write and submit nothing"),
    .where = "submit ", .field = FIELD (print), .read = options_flag },
  { .entry = G_OPTION_ENTRY_NULL }
};

GPtrArray *
arguments_rows (const char *verb)
{
  return options_at (verb, table);
}

char *
arguments_takers (const char *word)
{
  g_auto (GStrv) verbs = g_strsplit (ALL, " ", -1);
  g_autoptr (GPtrArray) takers = g_ptr_array_new ();
  const char *value;

  for (guint i = 0; *verbs[i] != '\0'; i++)
    {
      g_autoptr (GPtrArray) rows = arguments_rows (verbs[i]);
      if (options_find (rows, word, &value) != NULL)
        g_ptr_array_add (takers, verbs[i]);
    }
  g_ptr_array_add (takers, NULL);
  return takers->len > 1 ? g_strjoinv (", ", (char **)takers->pdata) : NULL;
}
