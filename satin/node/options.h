/* SPDX-License-Identifier: BSD-3-Clause */
/* Satin's own options on a program's command line: long ones and -w, anywhere before `--`; they are
 * taken out before main sees its arguments. Pure but for the help. */
#pragma once

#include <gio/gio.h>

typedef struct
{
  int workers;           /* 0: not said */
  double interval_s;     /* 0: not said */
  double keep_s;         /* with it; 0: the default (folder_interval_read) */
  gint64 spin_us;        /* how long an idle worker polls at most before it sleeps */
  char *checkpoint;      /* (nullable) absolute path or URI (place_check) */
  char *stats;           /* (nullable) */
  char *trace;           /* (nullable) absolute path */
  guint64 stack;         /* bytes of C stack of each thread that runs jobs; 0: not said */
  guint64 shared_memory; /* for shared bytes that were fetched; 0: not said */
  gboolean anew;         /* what stands at `checkpoint` is set aside */
  gboolean mended;       /* rows of another build are used */
  gboolean trust;        /* rows of another user are used */
  gboolean insecure;     /* --checkpoint may be a URI that is sent in clear */
  gboolean help; /* was said; it stays in argv, for a program that has a page of its own */
  int argc;
  char **argv; /* what is left, argv[0] first; owned */
} Options;

#define OPTIONS_WORKERS_MAX 1024
#define OPTIONS_SPIN_US 100 /* when --spin does not say it */
#define OPTIONS_SPIN_MAX_US 1000000

#define OPTIONS_STACK_MIN (G_GUINT64_CONSTANT (128) << 10)
#define OPTIONS_BYTES_MAX (G_GUINT64_CONSTANT (1) << 40)

/* A number of bytes from 1 on, with or without K, M or G (powers of 1024). FALSE: it is none, or
 * beyond OPTIONS_BYTES_MAX. Pure. */
gboolean options_read_bytes (const char *text, guint64 *bytes);
/* The same for a C stack. FALSE also below OPTIONS_STACK_MIN. */
gboolean options_read_stack (const char *text, guint64 *bytes);
/* FALSE: a wrong value, or PLACE_ERROR for what --checkpoint names; one sentence. */
gboolean options_parse (Options *options, int argc, char **argv, GError **error);
/* Leaves in argv, which ends with a NULL, what options_parse has left of it: the same words, in
 * their order. */
void options_take_out (const Options *options, int *argc, char **argv);
/* The arguments behind the program that are its own. (transfer full) (nullable): one of Satin's is
 * wrong. */
char **options_own_words (char *const *argv);
void options_clear (Options *options);
/* The page of --help, on stdout. `usage`: the program's own. */
void options_show_help (const Options *options, const char *usage);
