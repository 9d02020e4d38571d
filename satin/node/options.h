/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of Satin: each is a row that states once its names, help, place, limits, and the
 * message about a wrong value. One reader of rows serves programs and the command. The table of
 * options.c has the options of programs, which may stand anywhere before `--`; most of them are
 * also options of verbs. satin/command/arguments-table.c has the options of verbs alone. Pure,
 * except the help. */
#pragma once

#include "protocol/plan.h"

#include <glib.h>

typedef struct Option Option;
/* Reads `text` (NULL for a flag) into the struct at `values`. FALSE: `text` is wrong. */
typedef gboolean (*OptionRead) (const Option *row, const char *text, gpointer values);

struct Option
{
  GOptionEntry entry; /* names, help, the value's name in the help; no arg_data: see `field` */
  const char *usual;  /* (nullable) the default, as the help shows it */
  const char *where;  /* OPTIONS_PROGRAM and verbs, each with a space behind it */
  gsize field;        /* offset of the field in `values` */
  OptionRead read;    /* one of those below, or another function */
  double least, most; /* both 0: no limits */
  const char
      *takes; /* what a value is, for messages, without the limits; NULL: any text is valid */
};

/* The entry of an option with a value, and of one without. */
#define OPTIONS_VALUE(name, letter, value, help) \
  .entry = { name, letter, 0, G_OPTION_ARG_STRING, NULL, help, value }
#define OPTIONS_FLAG(name, letter, help) \
  .entry = { name, letter, 0, G_OPTION_ARG_NONE, NULL, help, NULL }

#define OPTIONS_PROGRAM "program"

/* Readers; the type of the field stands in parentheses. If the row has `takes`, an empty text is
 * wrong. A file becomes absolute. Bytes may have K, M or G: powers of 1024. */
gboolean options_flag (const Option *row, const char *text, gpointer values);   /* (gboolean) */
gboolean options_text (const Option *row, const char *text, gpointer values);   /* (char *) */
gboolean options_file (const Option *row, const char *text, gpointer values);   /* (char *) */
gboolean options_count (const Option *row, const char *text, gpointer values);  /* (int) */
gboolean options_number (const Option *row, const char *text, gpointer values); /* (double) */
gboolean options_bytes (const Option *row, const char *text, gpointer values);  /* (guint64) */
/* "from A to B"; NULL: the row has no limits. (transfer full) (nullable) */
char *options_limits (const Option *row);

/* The rows for `place`, a verb or OPTIONS_PROGRAM, of this table and of `more` (nullable); rows
 * with a letter come first. (transfer full; of const Option) */
GPtrArray *options_at (const char *place, const Option *more);
/* The row that `word` (-n, -n2, --nodes or --nodes=2) names; NULL: none. *value (out, nullable):
 * the value in the same word. (transfer none) */
const Option *options_find (const GPtrArray *rows, const char *word, const char **value);
/* Reads the option at argv[*i] and its value, and sets *i to the last word that it read. *taken
 * (out) FALSE: argv[*i] names no row, or is a flag with a value. Returns FALSE if the value is
 * missing or wrong: G_OPTION_ERROR in one sentence. */
gboolean options_take (const GPtrArray *rows, int argc, char **argv, int *i, gpointer values,
                       gboolean *taken, GError **error);
/* The text of the help, made by GLib. Sets GLib's program name to `name`, so the process must be
 * Satin's. (transfer full) */
char *options_page (const GPtrArray *rows, const char *name, const char *usage, const char *summary,
                    const char *end);

/* Values of the table in options.c. A struct that rows fill begins with an Options, since `field`
 * is an offset from its start. */
typedef struct
{
  int workers;       /* 0: not given */
  double interval_s; /* 0: not given; FOLDER_INTERVAL_AUTO_S */
  double keep_s;     /* second value of --interval; 0: the default (folder_interval_read) */
  PlanName protect;  /* not given: auto, the first */
  int spin_us;       /* how long an idle worker polls at most before it sleeps */
  char *checkpoint;  /* (nullable) as it was given; of a program: an absolute path or a URI
                        (place_check) */
  char *stats;       /* (nullable) absolute path */
  char *trace;       /* (nullable) absolute path */
  guint64 stack;     /* bytes of C stack of each thread that runs jobs; 0: not given */
  guint64 shared_memory; /* bytes of memory for fetched shared bytes; 0: not given */
  gboolean anew;         /* the file at `checkpoint` is renamed first */
  gboolean mended;       /* rows of another build are used */
  gboolean trust;        /* rows of another user are used */
  gboolean insecure;     /* plain ftp: and http: URIs are allowed */
  gboolean help;
  int argc;    /* of a program: ... */
  char **argv; /* ... the words that are left: argv[0] first, and --help, since the program may have
                  a help of its own */
} Options;

#define OPTIONS_SPIN_US 100 /* without --spin */

/* Reads a program's command line. FALSE, one sentence: G_OPTION_ERROR for a wrong value, or
 * PLACE_ERROR for --checkpoint. */
gboolean options_parse (Options *options, int argc, char **argv, GError **error);
/* Removes from argv, which ends with a NULL, the words that options_parse has read. The others keep
 * their order. */
void options_take_out (const Options *options, int *argc, char **argv);
/* The arguments of a program that are its own, without Satin's. `argv` begins behind the program's
 * name. (transfer full) (nullable): a value of an option of Satin is wrong. */
char **options_own_words (char *const *argv);
void options_clear (Options *options);
/* Prints the help of a program. `usage`: of its own arguments. Only if the process is Satin's. */
void options_show_help (const Options *options, const char *usage);
