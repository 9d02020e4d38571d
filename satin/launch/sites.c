/* SPDX-License-Identifier: BSD-3-Clause */
/* See sites.h. Each error message names the site and the wrong word. */
#include "sites.h"
#include "batch.h"

#include "folder/folder.h"
#include "folder/relay.h"

#include "host/step.h"

#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#define GROUP "site "
/* A byte order mark, with which some editors begin a file. */
#define ORDER_MARK "\xef\xbb\xbf"

static const char *const launchers[] = { "local", "ssh", "slurm", "tasks", "command" };
static const char *const keys[] = { "hosts",  "nodes", "workers", "launcher", "options", "command",
                                    "folder", "setup", "program", "listen",   "ports",   "again" };

static void
site_free (gpointer data)
{
  Site *site = data;

  for (guint i = 0; site->hosts != NULL && i < site->hosts->len; i++)
    g_free (g_array_index (site->hosts, SiteHost, i).name);
  if (site->hosts != NULL)
    g_array_unref (site->hosts);
  g_strfreev (site->options);
  g_strfreev (site->command);
  g_free (site->name);
  g_free (site->folder);
  g_free (site->setup);
  g_free (site->program);
  g_free (site->listen);
  g_free (site);
}

static gboolean G_GNUC_PRINTF (3, 4)
    refuse (GError **error, const Site *site, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *words = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "site '%s': %s", site->name,
               words);
  return FALSE;
}

/* Reads the value of `key` without the blanks around it into *text (out); NULL: there is none, or
 * it is empty. FALSE: it is not UTF-8. */
static gboolean
read_text (GKeyFile *file, const char *group, const char *key, const Site *site, char **text,
           GError **error)
{
  g_autoptr (GError) cause = NULL;

  *text = g_key_file_get_string (file, group, key, &cause);
  if (*text != NULL)
    {
      if (g_strstrip (*text)[0] == '\0')
        g_clear_pointer (text, g_free);
      return TRUE;
    }
  if (g_error_matches (cause, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND))
    return TRUE;
  return refuse (error, site, "%s is not UTF-8", key);
}

static gboolean
read_number (GKeyFile *file, const char *group, const char *key, Site *site, int *number,
             GError **error)
{
  g_autofree char *text = NULL;
  gint64 value;

  if (!read_text (file, group, key, site, &text, error))
    return FALSE;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (text, 10, 1, FOLDER_NODES_MAX, &value, NULL))
    return refuse (error, site, "%s takes a number from 1 to %d, not '%s'", key, FOLDER_NODES_MAX,
                   text);
  *number = (int)value;
  return TRUE;
}

static gboolean
read_choice (GKeyFile *file, const char *group, const char *key, Site *site, gboolean *choice,
             GError **error)
{
  g_autofree char *text = NULL;

  if (!read_text (file, group, key, site, &text, error))
    return FALSE;
  *choice = g_strcmp0 (text, "yes") == 0 || g_strcmp0 (text, "true") == 0;
  if (*choice || text == NULL || strcmp (text, "no") == 0 || strcmp (text, "false") == 0)
    return TRUE;
  return refuse (error, site, "%s takes yes or no, not '%s'", key, text);
}

static gboolean
read_words (GKeyFile *file, const char *group, const char *key, Site *site, char ***words,
            GError **error)
{
  g_autofree char *text = NULL;

  if (!read_text (file, group, key, site, &text, error))
    return FALSE;
  if (text == NULL || g_shell_parse_argv (text, NULL, words, NULL))
    return TRUE;
  return refuse (error, site, "%s cannot be read as words of a shell: '%s'", key, text);
}

static gboolean
read_ports (GKeyFile *file, const char *group, Site *site, GError **error)
{
  g_autofree char *text = NULL;
  guint64 first, last;

  if (!read_text (file, group, "ports", site, &text, error))
    return FALSE;
  if (text == NULL)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (text, "-", 3);
  if (g_strv_length (parts) != 2
      || !g_ascii_string_to_unsigned (g_strstrip (parts[0]), 10, 1, 65535, &first, NULL)
      || !g_ascii_string_to_unsigned (g_strstrip (parts[1]), 10, first, 65535, &last, NULL))
    return refuse (error, site, "ports takes two numbers like 7000-7100, not '%s'", text);
  site->port_first = (int)first;
  site->port_last = (int)last;
  return TRUE;
}

static gboolean
read_launcher (GKeyFile *file, const char *group, Site *site, GError **error)
{
  g_autofree char *text = NULL;

  if (!read_text (file, group, "launcher", site, &text, error))
    return FALSE;
  if (text == NULL)
    {
      site->launcher = g_key_file_has_key (file, group, "command", NULL) ? SITE_COMMAND
                       : g_key_file_has_key (file, group, "hosts", NULL) ? SITE_SSH
                                                                         : SITE_LOCAL;
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (launchers); i++)
    if (strcmp (text, launchers[i]) == 0 && (i != SITE_TASKS || step_has_tasks ()))
      {
        site->launcher = (SiteLauncher)i;
        return TRUE;
      }
  return refuse (error, site, "launcher is local, ssh, slurm or command, not '%s'", text);
}

static void
add_host (Site *site, const char *name, int nodes)
{
  SiteHost host = { g_strdup (name), nodes };

  g_array_append_val (site->hosts, host);
}

/* Splits `word`, HOST or HOST:NODES, and writes NULs into it. *behind (out, nullable): what follows
 * the colon. An IPv6 address stands in brackets. Returns the host (transfer full) (nullable):
 * `word` is not valid. */
static char *
split_host (char *word, char **behind)
{
  char *open = strchr (word, '['), *close = open != NULL ? strchr (open, ']') : NULL;
  char *colon = strchr (close != NULL ? close : word, ':');

  *behind = colon != NULL ? colon + 1 : NULL;
  if (colon != NULL)
    *colon = '\0';
  if ((open == NULL) != (close == NULL)
      || (close != NULL && (close[1] != '\0' || (open > word && open[-1] != '@'))))
    return NULL;
  const char *address = "";
  if (close != NULL)
    {
      *open = *close = '\0';
      address = open + 1;
    }
  g_autofree char *host = g_strconcat (word, address, NULL);
  if ((close != NULL && address[0] == '\0') || host[0] == '\0' || strpbrk (host, "-#'\"") == host)
    return NULL; /* a leading '-' would be an option of ssh */
  return g_steal_pointer (&host);
}

/* `fs0.delft`, or `fs1.delft:4` */
static gboolean
read_host (Site *site, const char *word, GError **error)
{
  g_autofree char *pieces = g_strdup (word);
  char *count = NULL;
  g_autofree char *name = split_host (pieces, &count);
  guint64 number = 1;

  if (name == NULL)
    return refuse (error, site, "'%s' is not a host", word);
  if (count != NULL && strchr (count, ':') != NULL)
    return refuse (error, site, "an IPv6 address takes brackets, like [::1]:2, not '%s'", word);
  if (count != NULL && !g_ascii_string_to_unsigned (count, 10, 1, FOLDER_NODES_MAX, &number, NULL))
    return refuse (error, site, "hosts are host or host:nodes, up to %d nodes, not '%s'",
                   FOLDER_NODES_MAX, word);
  add_host (site, name, (int)number);
  return TRUE;
}

static gboolean
read_hosts (GKeyFile *file, const char *group, Site *site, int nodes, GError **error)
{
  g_autofree char *text = NULL;

  if (!read_text (file, group, "hosts", site, &text, error))
    return FALSE;
  g_auto (GStrv) words = g_strsplit_set (text == NULL ? "" : text, " \t,;", -1);
  for (int i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0' && !read_host (site, words[i], error))
      return FALSE;
  if (site->hosts->len > 0 && nodes > 0)
    return refuse (error, site, "nodes conflicts with hosts: write hosts as host:nodes");
  if (site->hosts->len > 0 && site->launcher == SITE_LOCAL)
    return refuse (error, site, "the launcher local knows this host only: leave hosts out");
  if (site->hosts->len == 0 && site->launcher == SITE_SSH)
    return refuse (error, site, "ssh needs hosts");
  if (site->hosts->len == 0)
    add_host (site, NULL, MAX (nodes, 1));
  return TRUE;
}

static gboolean
check_keys (GKeyFile *file, const char *group, const Site *site, GError **error)
{
  g_auto (GStrv) found = g_key_file_get_keys (file, group, NULL, NULL);

  for (int i = 0; found != NULL && found[i] != NULL; i++)
    {
      gboolean known = FALSE;
      for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
        known = known || strcmp (found[i], keys[k]) == 0;
      if (!known)
        return refuse (error, site, "unknown key '%s'", found[i]);
    }
  return TRUE;
}

static gboolean
check_site (const Site *site, GError **error)
{
  g_autoptr (GInetAddress) address
      = site->listen != NULL ? g_inet_address_new_from_string (site->listen) : NULL;

  if (site->listen != NULL && (address == NULL || g_inet_address_get_is_any (address)))
    return refuse (error, site, "listen takes a numeric address, not '%s'", site->listen);
  if ((site->launcher == SITE_COMMAND) != (site->command != NULL))
    return refuse (error, site, "%s",
                   site->command != NULL ? "command is for the launcher command only"
                                         : "the launcher command needs command");
  if (site->options != NULL && site->launcher != SITE_SSH && site->launcher != SITE_SLURM)
    return refuse (error, site, "options are for ssh and slurm only");
  if (site->launcher == SITE_TASKS && site->again)
    return refuse (error, site, "again is not for the launcher tasks: a step has each task once");
  if (site->launcher == SITE_LOCAL && (site->program || site->setup || site->folder))
    return refuse (error, site, "program, setup and folder are not for the launcher local");
  return TRUE;
}

static Site *
read_site (GKeyFile *file, const char *group, GError **error)
{
  Site *site = g_new0 (Site, 1);
  int nodes = 0;

  site->name = g_strstrip (g_strdup (group + strlen (GROUP)));
  site->hosts = g_array_new (FALSE, FALSE, sizeof (SiteHost));
  if (check_keys (file, group, site, error) && read_launcher (file, group, site, error)
      && read_text (file, group, "folder", site, &site->folder, error)
      && read_text (file, group, "setup", site, &site->setup, error)
      && read_text (file, group, "program", site, &site->program, error)
      && read_text (file, group, "listen", site, &site->listen, error)
      && read_number (file, group, "nodes", site, &nodes, error)
      && read_number (file, group, "workers", site, &site->workers, error)
      && read_words (file, group, "options", site, &site->options, error)
      && read_words (file, group, "command", site, &site->command, error)
      && read_choice (file, group, "again", site, &site->again, error)
      && read_ports (file, group, site, error) && read_hosts (file, group, site, nodes, error)
      && check_site (site, error))
    return site;
  site_free (site);
  return NULL;
}

static gboolean
read_group (GKeyFile *file, const char *group, GPtrArray *sites, GError **error)
{
  Site *site;

  if (!g_str_has_prefix (group, GROUP) || !folder_name_is_valid (group + strlen (GROUP)))
    {
      g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                   "'[%s]' is not a site: write [site NAME]", group);
      return FALSE;
    }
  site = read_site (file, group, error);
  if (site != NULL)
    g_ptr_array_add (sites, site);
  return site != NULL;
}

/* GKeyFile silently keeps only one of two groups, or keys of a group, with the same name. */
static gboolean
check_names (const char *text, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const char *group = "";

  for (int i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]), *equals = strchr (line, '=');
      gboolean begins = line[0] == '[';

      if (line[0] == '#' || (!begins && equals == NULL))
        continue;
      if (begins)
        group = line;
      else
        *equals = '\0';
      if (g_hash_table_add (seen,
                            g_strdup_printf ("%s %s", group, begins ? "" : g_strchomp (line))))
        continue;
      g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                   begins ? "'%s' appears twice" : "'%s' appears twice in '%s'", line, group);
      return FALSE;
    }
  return TRUE;
}

guint
sites_nodes (const GPtrArray *sites)
{
  guint n = 0;

  for (guint i = 0; i < sites->len; i++)
    for (guint k = 0; k < ((const Site *)sites->pdata[i])->hosts->len; k++)
      n += (guint)g_array_index (((const Site *)sites->pdata[i])->hosts, SiteHost, k).nodes;
  return n;
}

static gboolean
check_count (const GPtrArray *sites, GError **error)
{
  guint n = sites_nodes (sites);

  if (sites->len == 0)
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_NOT_FOUND,
                 "it names no site: write [site NAME]");
  else if (n > FOLDER_NODES_MAX)
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
                 "%u nodes are more than the %d that a run can begin with", n, FOLDER_NODES_MAX);
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_sites (const char *text, GPtrArray *sites, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) groups = NULL;

  if (!g_key_file_load_from_data (file, text, strlen (text), G_KEY_FILE_NONE, error)
      || !check_names (text, error))
    return FALSE;
  groups = g_key_file_get_groups (file, NULL);
  for (int i = 0; groups[i] != NULL; i++)
    if (!read_group (file, groups[i], sites, error))
      return FALSE;
  return check_count (sites, error);
}

/* Names the file in the message. The message may quote bytes of the file that are not UTF-8. */
static void
refuse_file (GError **error, const char *name)
{
  g_prefix_error (error, "'%s': ", name);
  if (error == NULL || g_utf8_validate ((*error)->message, -1, NULL))
    return;
  char *valid = g_utf8_make_valid ((*error)->message, -1);
  g_free ((*error)->message);
  (*error)->message = valid;
}

GPtrArray *
sites_read (const char *name, char **text, GError **error)
{
  g_autofree char *all = NULL;
  g_autoptr (GPtrArray) sites = g_ptr_array_new_with_free_func (site_free);

  if (!g_file_get_contents (name, &all, NULL, error))
    {
      g_prefix_error (error, "cannot read the sites in '%s': ", name);
      return NULL;
    }
  if (!read_sites (g_str_has_prefix (all, ORDER_MARK) ? all + strlen (ORDER_MARK) : all, sites,
                   error))
    {
      refuse_file (error, name);
      return NULL;
    }
  if (text != NULL)
    *text = g_steal_pointer (&all);
  return g_steal_pointer (&sites);
}

/* ---- command lines ---- */

static void
add_words (GStrvBuilder *to, char **words)
{
  if (words != NULL)
    g_strv_builder_addv (to, (const char **)words);
}

static char *
replace (const char *word, const char *what, const char *by)
{
  g_auto (GStrv) parts = g_strsplit (word, what, -1);

  return g_strjoinv (by, parts);
}

/* Adds the words of `command` with {node} replaced by the host or number, and {run} by the shell
 * command. Without {run} the shell command becomes the last word. */
static void
add_command (GStrvBuilder *to, char **command, const char *node, const char *line)
{
  gboolean has_run = FALSE;

  for (int i = 0; command[i] != NULL; i++)
    {
      g_autofree char *first = replace (command[i], "{node}", node);
      g_autofree char *word = replace (first, "{run}", line);

      has_run = has_run || strstr (command[i], "{run}") != NULL;
      g_strv_builder_add (to, word);
    }
  if (!has_run)
    g_strv_builder_add (to, line);
}

/* The path of this process's program. If another build has replaced the file, /proc still leads to
 * this one. (transfer full) */
static char *
own_program (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);

  if (self != NULL && !g_str_has_suffix (self, " (deleted)"))
    return g_steal_pointer (&self);
  return self != NULL ? g_strdup_printf ("/proc/%d/exe", (int)getpid ()) : g_strdup ("satin");
}

static void
add_task (GStrvBuilder *to, const char *path, int number, const char *line, gsize copied)
{
  g_autofree char *self = own_program ();
  g_autofree char *skip = g_strdup_printf ("%" G_GSIZE_FORMAT, copied);
  g_autofree char *task = g_strdup_printf ("%s%d", BATCH_TASK, number);

  g_strv_builder_add_many (to, self, BATCH_VERB, path, skip, line, task, NULL);
}

/* Inside an allocation srun starts at once; else a batch job is submitted. */
static void
add_slurm (GStrvBuilder *to, const Site *site, const char *path, const char *host, const char *line,
           gsize copied)
{
  g_autofree char *self = own_program ();
  g_autofree char *skip = g_strdup_printf ("%" G_GSIZE_FORMAT, copied);
  gboolean inside = g_getenv ("SLURM_JOB_ID") != NULL;

  if (inside)
    g_strv_builder_add_many (to, "srun", "--nodes=1", "--ntasks=1", "--quiet", "--overlap", NULL);
  else
    g_strv_builder_add_many (to, self, BATCH_VERB, path, skip, line, NULL);
  if (host != NULL)
    g_strv_builder_add_many (to, "--nodelist", host, NULL);
  add_words (to, site->options);
  if (inside)
    g_strv_builder_add_many (to, "sh", "-c", line, NULL);
}

char **
site_argv (const Site *site, const char *path, const char *host, int number, const char *line,
           gsize copied)
{
  g_autoptr (GStrvBuilder) argv = g_strv_builder_new ();
  g_autofree char *node = host != NULL ? g_strdup (host) : g_strdup_printf ("%d", number);
  g_autofree char *quoted = g_shell_quote (line);
  g_autofree char *as_shell = g_strdup_printf ("exec sh -c %s", quoted);

  switch (site->launcher)
    {
    case SITE_SSH:
      g_strv_builder_add_many (argv, "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10",
                               "-o", "ServerAliveInterval=15", NULL);
      add_words (argv, site->options);
      g_strv_builder_add_many (argv, "--", host, as_shell, NULL);
      break;
    case SITE_SLURM:
      add_slurm (argv, site, path, host, line, copied);
      break;
    case SITE_TASKS:
      add_task (argv, path, number, line, copied);
      break;
    case SITE_COMMAND:
      add_command (argv, site->command, node, line);
      break;
    case SITE_LOCAL:
      g_strv_builder_add_many (argv, "sh", "-c", line, NULL);
      break;
    }
  return g_strv_builder_end (argv);
}

/* `path` quoted for a shell there; `~/` stays the user's home there. (transfer full) */
static char *
quote_path (const char *path)
{
  gboolean at_home = g_str_has_prefix (path, "~/");
  g_autofree char *quoted = g_shell_quote (at_home ? path + 2 : path);

  return g_strconcat (at_home ? "~/" : "", quoted, NULL);
}

char *
site_line (const Site *site, const char *program, char **argv, const char *folder, gsize copied)
{
  g_autoptr (GString) line = g_string_new (NULL);
  g_autofree char *place
      = site->folder != NULL ? quote_path (site->folder) : g_shell_quote (folder);
  g_autofree char *path
      = site->program != NULL ? quote_path (site->program) : g_shell_quote (program);
  g_autofree char *base = g_path_get_basename (program);
  g_autofree char *name = g_shell_quote (base);

  if (copied > 0)
    g_string_append_printf (line,
                            "trap : TERM; t=$(mktemp -d) && head -c %" G_GSIZE_FORMAT
                            " >\"$t\"/%s && chmod 700 \"$t\"/%s || exit 1; ",
                            copied, name, name);
  g_string_append_printf (
      line, site->folder != NULL ? "cd %s || exit 1; " : "cd %s 2>/dev/null || cd; ", place);
  if (site->setup != NULL)
    g_string_append_printf (line, "{ %s\n} </dev/null >&2 || exit 1; ", site->setup);
  g_string_append (line, RELAY_ENV "=1; " FOLDER_ENV_SLICES "=${" FOLDER_ENV_SLICES
                                   "-" FOLDER_SLICES "}; " FOLDER_ENV_MALLOC "=${" FOLDER_ENV_MALLOC
                                   "-" FOLDER_MALLOC "}; export " RELAY_ENV " " FOLDER_ENV_SLICES
                                   " " FOLDER_ENV_MALLOC "; ");
  if (copied > 0)
    g_string_append_printf (line, "\"$t\"/%s", name);
  else
    g_string_append_printf (line, "exec %s", path);
  for (int i = 0; argv != NULL && argv[i] != NULL; i++)
    {
      g_autofree char *quoted = g_shell_quote (argv[i]);
      g_string_append_printf (line, " %s", quoted);
    }
  if (copied > 0)
    g_string_append (line, "; c=$?; rm -rf \"$t\"; exit $c");
  return g_string_free (g_steal_pointer (&line), FALSE);
}
