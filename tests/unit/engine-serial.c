/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of the jobs of engine-jobs.h, as bytes, by their number in the table. */
#include "config.h"

#include "engine-jobs.h"

#include <string.h>

GBytes *
serial_kept (GBytes *bytes, guint32 children)
{
  satin_args_steps args;
  Progress now;

  g_assert_true (record_decode (steps_job.args, bytes, &args, NULL));
  now = serial_progress (args.depth, args.n, args.seed, (int32_t)children / 2);
  return record_encode (&satin_type_Progress, &now);
}

static GBytes *
number (int64_t n)
{
  return record_encode (&satin_type_int64_t, &n);
}

GBytes *
serial_encoded (guint32 job, GBytes *bytes)
{
  const SatinType *type = engine_test_jobs[job]->args;
  g_autofree char *args = g_malloc0 (type->size);
  GBytes *encoded = NULL;

  g_assert_true (record_decode (type, bytes, args, NULL));
  if (job == JOB_FIB)
    encoded = number (serial_fib (((satin_args_fib *)(void *)args)->n));
  if (job == JOB_CALLS)
    encoded = number (serial_calls (((satin_args_calls *)(void *)args)->n));
  if (job == JOB_QUEENS)
    encoded = number (serial_queens (((satin_args_queens *)(void *)args)->board));
  if (job == JOB_COMB)
    encoded = number (serial_comb (((satin_args_comb *)(void *)args)->depth));
  if (job == JOB_PHASES)
    {
      satin_args_phases *a = (void *)args;

      encoded = number (serial_phases (a->depth, a->seed));
    }
  if (job == JOB_STEPS)
    {
      satin_args_steps *a = (void *)args;

      encoded = number (a->depth == 0 ? a->seed % 97
                                      : serial_progress (a->depth, a->n, a->seed, a->n).sum);
    }
  if (job == JOB_RACE)
    {
      satin_args_race *a = (void *)args;

      encoded = number (serial_race (a->depth, a->seed));
    }
  if (job == JOB_WIDE)
    {
      satin_args_wide *a = (void *)args;
      Wide result = serial_wide (a->depth, a->in);

      encoded = record_encode (&satin_type_Wide, &result);
    }
  if (job == JOB_TEXT)
    {
      satin_args_text *a = (void *)args;
      gsize n;
      const char *p = g_bytes_get_data (a->prefix, &n);
      g_autofree char *prefix = g_strndup (p, n);
      char *result = serial_text (a->depth, prefix);
      g_autoptr (GBytes) value = g_bytes_new_take (result, strlen (result));

      encoded = record_encode (&satin_type_SatinBytes, &value);
    }
  record_clear (type, args);
  g_assert_nonnull (encoded);
  return encoded;
}
