/* SPDX-License-Identifier: BSD-3-Clause */
/* Values for each row of the tables of options (node/options.h), two valid and one invalid, and the
 * text of what a row has stored in its field. A row with an unknown reader fails. */
#pragma once

#include "node/options.h"

#include <string.h>

typedef struct
{
  const char *name; /* NULL: the sample depends on the option's reader, see option_sample_fill */
  const char *good[2];
  const char *wrong; /* (nullable) */
  enum
  {
    SAMPLE_TEXT,
    SAMPLE_INT,
    SAMPLE_DOUBLE,
    SAMPLE_BYTES,
  } kind;
  char texts[3][32];
} OptionSample;

static inline void
option_sample_numbers (const Option *row, OptionSample *sample)
{
  g_assert_cmpfloat (row->most, >, row->least);
  g_assert_nonnull (row->takes);
  const double values[] = { row->least, row->most, row->most + 1 };
  for (guint i = 0; i < 3; i++)
    g_snprintf (sample->texts[i], sizeof sample->texts[i], "%.15g", values[i]);
  sample->good[0] = sample->texts[0];
  sample->good[1] = sample->texts[1];
  sample->wrong = sample->texts[2];
}

/* `sample` must not move. */
static inline void
option_sample_fill (const Option *row, OptionSample *sample)
{
  static const OptionSample own[]
      = { { "interval", { "1", "2,0.5" }, "0.04", SAMPLE_DOUBLE, { "" } },
          { "name", { "a", "b.c" }, "a/b", SAMPLE_TEXT, { "" } },
          { "protect", { "naive", "orphan" }, "Naive", SAMPLE_INT, { "" } },
          { "verify", { "0.25", "1" }, "0", SAMPLE_DOUBLE, { "" } },
          { "steal", { "rs", "mw" }, "r", SAMPLE_INT, { "" } },
          { "listen", { "::1", "10.1.2.3" }, "0.0.0.0", SAMPLE_TEXT, { "" } },
          { "time", { "30", "1-12:00:00" }, "soon", SAMPLE_TEXT, { "" } } };

  memset (sample, 0, sizeof *sample);
  if (row->read == options_text || row->read == options_file)
    *sample = (OptionSample){ .good = { "/a", "/b" }, .wrong = row->takes != NULL ? "" : NULL };
  else if (row->read == options_count || row->read == options_number || row->read == options_bytes)
    {
      option_sample_numbers (row, sample);
      sample->kind = row->read == options_count    ? SAMPLE_INT
                     : row->read == options_number ? SAMPLE_DOUBLE
                                                   : SAMPLE_BYTES;
    }
  for (guint i = 0; i < G_N_ELEMENTS (own) && sample->good[0] == NULL; i++)
    if (strcmp (own[i].name, row->entry.long_name) == 0)
      *sample = own[i];
  if (sample->good[0] == NULL)
    g_error ("--%s needs values in option-samples.h", row->entry.long_name);
}

/* (transfer full) */
static inline char *
option_sample_show (const Option *row, const OptionSample *sample, gconstpointer values)
{
  const char *field = (const char *)values + row->field;

  switch (sample->kind)
    {
    case SAMPLE_TEXT:
      return g_strdup (*(char *const *)(const void *)field);
    case SAMPLE_INT:
      return g_strdup_printf ("%d", *(const int *)(const void *)field);
    case SAMPLE_DOUBLE:
      return g_strdup_printf ("%.15g", *(const double *)(const void *)field);
    case SAMPLE_BYTES:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, *(const guint64 *)(const void *)field);
    }
  return NULL;
}
