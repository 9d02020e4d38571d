/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of Satin as rows of tables, and the one reader of them, for programs and for the
 * command. The table here has what a program takes, anywhere before `--`; verbs take most of it,
 * too, and satin/command/arguments-table.c has what verbs alone take. Each is stated once: names,
 * help, where it stands, its limits and what is said of a wrong value. Pure but for the help. */
#pragma once

#include "protocol/plan.h"

#include <gio/gio.h>

typedef struct Option Option;
/* Puts what `text` says (NULL for a flag) into the struct at `values`. FALSE: it is wrong. */
typedef gboolean (*OptionRead) (const Option *row, const char *text, gpointer values);

struct Option
{
  GOptionEntry entry; /* names, help, how help calls the value; no arg_data: see `field` */
  const char *usual;  /* (nullable) the default, as help shows it behind the text */
  const char *where;  /* OPTIONS_PROGRAM and verbs, with a space behind each */
  gsize field;        /* of the values */
  OptionRead read;    /* below, or a function of its own */
  double least, most; /* both 0: no limits */
  const char *takes;  /* what a value is, without its limits; NULL: any text is good */
};

/* The entry of an option with a value, and of one without. */
#define OPTIONS_VALUE(name, letter, value, help) \
  .entry = { name, letter, 0, G_OPTION_ARG_STRING, NULL, help, value }
#define OPTIONS_FLAG(name, letter, help) \
  .entry = { name, letter, 0, G_OPTION_ARG_NONE, NULL, help, NULL }

#define OPTIONS_PROGRAM "program"

/* Readers; in parentheses the type of the field. Text is not empty if the row says what it takes; a
 * file becomes absolute; bytes may have K, M or G, powers of 1024. */
gboolean options_flag (const Option *row, const char *text, gpointer values);   /* (gboolean) */
gboolean options_text (const Option *row, const char *text, gpointer values);   /* (char *) */
gboolean options_file (const Option *row, const char *text, gpointer values);   /* (char *) */
gboolean options_count (const Option *row, const char *text, gpointer values);  /* (int) */
gboolean options_number (const Option *row, const char *text, gpointer values); /* (double) */
gboolean options_bytes (const Option *row, const char *text, gpointer values);  /* (guint64) */
/* "from A to B"; NULL: the row has none. (transfer full) (nullable) */
char *options_limits (const Option *row);

/* The rows that stand at `place`, those with a letter first: of this table and of `more`
 * (nullable). (transfer full; of const Option) */
GPtrArray *options_at (const char *place, const Option *more);
/* (nullable) The row that `word` (-n, -n2, --nodes or --nodes=2) names. *value: what stands in the
 * same word (nullable). */
const Option *options_find (const GPtrArray *rows, const char *word, const char **value);
/* Reads the option at argv[*i] and its value, and sets *i to the last word that it read. *taken
 * FALSE: argv[*i] names no row, or a flag with a value. Returns FALSE if the value is missing or
 * wrong; *error says so in one sentence. */
gboolean options_take (const GPtrArray *rows, int argc, char **argv, int *i, gpointer values,
                       gboolean *taken, GError **error);
/* The page of help, by GLib. Sets the program's name of GLib to `name`, so the process must be
 * Satin's. (transfer full) */
char *options_page (const GPtrArray *rows, const char *name, const char *usage, const char *summary,
                    const char *end);

/* Values of the table in options.c. Each struct that rows fill begins with it, since `field` counts
 * from its start. */
typedef struct
{
  int workers;       /* 0: not said */
  double interval_s; /* 0: not said; FOLDER_INTERVAL_AUTO_S */
  double keep_s;     /* with it; 0: the default (folder_interval_read) */
  PlanName protect;  /* not said: auto, the first */
  int spin_us;       /* how long an idle worker polls at most before it sleeps */
  char *checkpoint;  /* (nullable) as it was said; of a program: absolute or URI (place_check) */
  char *stats;       /* (nullable) absolute path */
  char *trace;       /* (nullable) absolute path */
  guint64 stack;     /* bytes of C stack of each thread that runs jobs; 0: not said */
  guint64 shared_memory; /* for shared bytes that were fetched; 0: not said */
  gboolean anew;         /* what stands at `checkpoint` is set aside */
  gboolean mended;       /* rows of another build are used */
  gboolean trust;        /* rows of another user are used */
  gboolean insecure;     /* URIs that are sent in clear are allowed */
  gboolean help;
  int argc;    /* of a program: */
  char **argv; /* what is left, argv[0] first, --help included: it may have a page of its own */
} Options;

#define OPTIONS_SPIN_US 100 /* when --spin does not say it */

/* Reads a program's command line. FALSE: a wrong value, or PLACE_ERROR for what --checkpoint names;
 * one sentence. */
gboolean options_parse (Options *options, int argc, char **argv, GError **error);
/* Leaves in argv, which ends with a NULL, what options_parse has left of it: the same words, in
 * their order. */
void options_take_out (const Options *options, int *argc, char **argv);
/* The arguments behind the program that are its own. (transfer full) (nullable): one of Satin's is
 * wrong. */
char **options_own_words (char *const *argv);
void options_clear (Options *options);
/* The page of --help of a program, on stdout. `usage`: its own. Only where the process is Satin's.
 */
void options_show_help (const Options *options, const char *usage);
