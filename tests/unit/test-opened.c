/* SPDX-License-Identifier: BSD-3-Clause */
/* Each setting of a run reaches the part of the node that it is for: what `satin run` wrote into
 * the run's folder, what the environment says, and the options of a program alone. The functions
 * that make driver, engine and Node note what they are told; the process ends before there is a
 * Node. */
#include "node/driver-private.h"
#include "node/run-private.h"

#include "folder/folder-run.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

SATIN_JOB (square, int64_t, (int32_t, n))
{
  return (int64_t)n * n;
}

static GString *told;
static char *here; /* the folder of this test */

static void G_GNUC_PRINTF (1, 2) tell (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_string_append_vprintf (told, format, list);
  va_end (list);
}

static const char *
or_none (const char *text)
{
  return text != NULL ? text : "-";
}

static const char *
flag (gboolean value, const char *name)
{
  return value ? name : "";
}

Driver *__real_driver_new (const DriverConfig *config, GError **error);
Driver *__wrap_driver_new (const DriverConfig *config, GError **error);

Driver *
__wrap_driver_new (const DriverConfig *config, GError **error)
{
  tell ("run %s name %s silence %g\n", config->run.id != NULL ? "with an id" : "-",
        g_str_has_prefix (config->run.name, "test-opened") ? "own" : config->run.name,
        config->run.silence_s);
  tell ("checkpoint %s trace %s stats %s\n", or_none (config->checkpoint), or_none (config->trace),
        or_none (config->stats));
  tell ("tcp %s %d to %d, shared %" G_GUINT64_FORMAT ", spin %d%s%s%s\n",
        or_none (config->tcp.address), config->tcp.first, config->tcp.last, config->shared_memory,
        (int)config->spin_us, flag (config->solo, " solo"), flag (config->embedded, " embedded"),
        flag (config->far, " far"));
  return __real_driver_new (config, error);
}

Engine *__real_engine_new (const EngineConfig *config, GError **error);
Engine *__wrap_engine_new (const EngineConfig *config, GError **error);

Engine *
__wrap_engine_new (const EngineConfig *config, GError **error)
{
  tell ("engine: workers %u stack %" G_GSIZE_FORMAT " twice %g%s, job %s\n", config->workers,
        config->stack_bytes, config->twice, flag (config->idle != NULL, " drives"),
        config->jobs[0]->name);
  return __real_engine_new (config, error);
}

static void G_GNUC_NORETURN
end_here (void)
{
  g_autofree char *path = g_build_filename (here, "told", NULL);

  _exit (g_file_set_contents (path, told->str, -1, NULL) ? 0 : 1);
}

/* (transfer none) */
static const char *
plan_of (const PlanKnobs *knobs)
{
  for (guint i = PLANS; i-- > 0;)
    {
      PlanKnobs all = plan_knobs ((PlanName)i);
      if (memcmp (&all, knobs, sizeof all) == 0)
        return plan_name ((PlanName)i);
    }
  return "no plan";
}

Node *__wrap_node_new (const NodeConfig *config);

Node *
__wrap_node_new (const NodeConfig *config)
{
  static const char *const ways[] = { "crs", "rs", "mw" };

  tell ("node: site %s workers %u steal %s plan %s verify %g%s%s%s%s%s\n", config->site,
        config->workers, ways[config->steal], plan_of (&config->plan), config->verify,
        flag (config->founder, " founder"), flag (config->closed, " closed"),
        flag (config->invited, " invited"), flag (config->checkpoint, " saves"),
        flag (config->checkpoint == NODE_CHECKPOINT_KEPT, " kept"));
  tell ("node: heartbeat %" G_GUINT64_FORMAT " silence %" G_GUINT64_FORMAT
        " saves %" G_GUINT64_FORMAT " copies %" G_GUINT64_FORMAT "%s\n",
        config->heartbeat_us, config->silence_us, config->save_interval_us, config->copy_us,
        flag (config->row_byte_ns > 0, " waits for rows"));
  g_assert_cmpuint (config->pid, ==, (guint)getpid ());
  g_assert_cmpstr (config->host, ==, g_get_host_name ());
  tell ("node: build %s\n", config->build != NULL ? "known" : "-");
  end_here ();
}

/* (transfer full): what was told in a process of its own, with these words and variables of the
 * environment (NAME=VALUE, in one text). HERE stands for the folder. */
static char *
opened (const char *words, const char *variables)
{
  g_autofree char *path = g_build_filename (here, "told", NULL), *text = NULL;
  g_auto (GStrv) all = g_strsplit (words, "HERE", -1), set = g_strsplit (variables, " ", -1);
  g_autofree char *line = g_strjoinv (here, all);
  int status;
  pid_t child = fork ();

  if (child == 0)
    {
      g_auto (GStrv) argv = g_strsplit (line, " ", -1);
      int argc = (int)g_strv_length (argv);
      char **rest = argv;
      g_autoptr (GError) error = NULL;

      told = g_string_new (NULL);
      for (guint i = 0; set[i] != NULL && *set[i] != '\0'; i++)
        {
          char *value = strchr (set[i], '=');
          *value = '\0';
          g_setenv (set[i], value + 1, TRUE);
        }
      g_assert_null (satin_open_ (SATIN_LAYOUT_, &argc, &rest, &error));
      tell ("refused %d: %s\n", error->code, error->message);
      end_here ();
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_remove (path);
  g_auto (GStrv) parts = g_strsplit (text, here, -1);
  return g_strjoinv ("HERE", parts);
}

/* A run with this description; its nodes have these variables. */
static void
is_opened (FolderRun *run, const char *words, const char *variables, const char *wanted)
{
  const char *argv[] = { "8", NULL };

  run->name = g_strdup ("tour");
  run->program = g_strdup ("/opt/fib");
  run->argv = g_strdupv ((char **)argv);
  run->folder = g_strdup ("/");
  g_autofree char *path = folder_create (run, NULL);
  g_assert_nonnull (path);
  g_autofree char *all = g_strdup_printf ("%s=%s %s", FOLDER_ENV, path, variables);
  g_strchomp (all);
  g_autofree char *text = opened (words, all);
  g_assert_cmpstr (text, ==, wanted);
  (void)folder_remove (path, NULL);
  folder_run_clear (run);
}

#define NOTHING_WRITTEN "checkpoint - trace - stats -\n"
#define USUAL_TIMES \
  "node: heartbeat 0 silence 0 saves 2000000 copies 0 waits for rows\n" \
  "node: build known\n"

/* The run's own description comes first, but the command line of a node wins, and the number of
 * workers that the launcher gives one node. */
static void
a_node_is_what_its_run_says (void)
{
  const FolderRun full = { .workers = 5,
                           .interval_s = 7,
                           .keep_s = 2,
                           .heartbeat_s = 1.5,
                           .silence_s = 9,
                           .stack = 1 << 20,
                           .shared_memory = 4 << 20,
                           .nodes = 3,
                           .tcp = TRUE,
                           .port_first = 20000,
                           .port_last = 40000,
                           .protect = PLAN_MIRROR,
                           .verify = 0.25,
                           .steal = NODE_STEAL_MW,
                           .closed = TRUE };
  FolderRun all = full, typed = full, none = { .nodes = 3, .workers = 2 }, joins = none;

  all.checkpoint = g_build_filename (here, "c", NULL);
  all.trace = g_build_filename (here, "t", NULL);
  all.listen = g_strdup ("127.0.0.1");
  all.site = g_strdup ("delft");
  is_opened (&all, "fib 8", "SATIN_FOUNDER=1 SATIN_SITE=other",
             "run with an id name tour silence 9\n"
             "checkpoint HERE/c trace HERE/t stats -\n"
             "tcp 127.0.0.1 20000 to 40000, shared 4194304, spin 100\n"
             "engine: workers 5 stack 1048576 twice 0.25 drives, job square\n"
             "node: site delft workers 5 steal mw plan mirror verify 0.25 founder closed saves\n"
             "node: heartbeat 1500000 silence 9000000 saves 7000000 copies 2000000\n"
             "node: build known\n");
  is_opened (&typed, "fib -w 6 --interval 3 --stack 2M --shared-memory 8M 8", "SATIN_WORKERS=4",
             "run with an id name tour silence 9\n" NOTHING_WRITTEN
             "tcp 127.0.0.1 20000 to 40000, shared 8388608, spin 100\n"
             "engine: workers 6 stack 2097152 twice 0.25 drives, job square\n"
             "node: site local workers 6 steal mw plan mirror verify 0.25 closed\n"
             "node: heartbeat 1500000 silence 9000000 saves 3000000 copies 0\n"
             "node: build known\n");
  is_opened (&none, "fib 8", "SATIN_FOUNDER=1",
             "run with an id name tour silence 28\n" NOTHING_WRITTEN
             "tcp - 0 to 0, shared 0, spin 100\n"
             "engine: workers 2 stack 0 twice 0 drives, job square\n"
             "node: site local workers 2 steal crs plan auto verify 0 founder\n" USUAL_TIMES);
  is_opened (&joins, "fib 8", "SATIN_WORKERS=3 SATIN_SITE=here SATIN_INVITED=1",
             "run with an id name tour silence 28\n" NOTHING_WRITTEN
             "tcp - 0 to 0, shared 0, spin 100\n"
             "engine: workers 3 stack 0 twice 0 drives, job square\n"
             "node: site here workers 3 steal crs plan auto verify 0 invited\n" USUAL_TIMES);
}

static void
a_program_alone_is_what_its_options_say (void)
{
  g_autofree char *plain = opened ("fib -w 2 8", "");
  g_autofree char *all
      = opened ("fib -w 4 --interval 5,3 --checkpoint HERE/c --stats HERE/s --trace HERE/t "
                "--stack 1M --shared-memory 8M 8",
                "");

  g_assert_cmpstr (plain, ==,
                   "run with an id name own silence 28\n" NOTHING_WRITTEN
                   "tcp - 0 to 0, shared 0, spin 100 solo embedded\n"
                   "engine: workers 2 stack 0 twice 0, job square\n"
                   "node: site local workers 2 steal crs plan auto verify 0 founder\n"
                   "node: heartbeat 0 silence 0 saves 2000000 copies 0 waits for rows\n"
                   "node: build -\n");
  g_assert_cmpstr (all, ==,
                   "run with an id name own silence 28\n"
                   "checkpoint HERE/c trace HERE/t stats HERE/s\n"
                   "tcp - 0 to 0, shared 8388608, spin 100 solo embedded\n"
                   "engine: workers 4 stack 1048576 twice 0, job square\n"
                   "node: site local workers 4 steal crs plan auto verify 0 founder saves\n"
                   "node: heartbeat 0 silence 0 saves 5000000 copies 3000000\n"
                   "node: build known\n");
}

int
main (int argc, char **argv)
{
  here = g_dir_make_tmp ("satin-opened-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", here, TRUE);
  g_setenv ("XDG_CONFIG_HOME", here, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opened/node", a_node_is_what_its_run_says);
  g_test_add_func ("/opened/alone", a_program_alone_is_what_its_options_say);
  int failed = g_test_run ();
  static const char *const files[] = { "t", "s", "c", "satin/key", "satin/runs", "satin", "" };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (here, files[i], NULL);
      g_remove (path);
    }
  g_free (here);
  return failed;
}
