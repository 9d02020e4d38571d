/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives a target its seeds and changed copies of them, for a second or for SATIN_FUZZ_SECONDS, and
 * at least INPUTS_MIN copies. The test framework prints the random seed: --seed repeats a run. An
 * input that ends the process is left in the file fuzz-TARGET.input. `fuzz-TARGET FILE...` runs
 * only such files. */
#include "fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUTS_MIN 100

static struct
{
  const guint8 *data;
  gsize size;
  char file[100];
} current;

static void
on_death (int number)
{
  int fd = open (current.file, O_CREAT | O_TRUNC | O_WRONLY, 0600);

  if (fd >= 0 && write (fd, current.data, current.size) == (gssize)current.size)
    (void)close (fd);
  (void)signal (number, SIG_DFL);
  (void)raise (number);
}

static void
feed (const guint8 *data, gsize size)
{
  current.data = data;
  current.size = size;
  fuzz_one (data, size);
}

/* Flips, overwrites, repeats or removes bytes. */
static void
mutate (GByteArray *bytes)
{
  static const guint32 words[]
      = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff };
  for (gint n = g_test_rand_int_range (1, 6); n > 0 && bytes->len > 0; n--)
    {
      guint at = (guint)g_test_rand_int_range (0, (gint)bytes->len);
      guint32 word = words[g_test_rand_int_range (0, G_N_ELEMENTS (words))];
      guint size = (guint)g_test_rand_int_range (1, 5);
      size = MIN (bytes->len - at, size);
      switch (g_test_rand_int_range (0, 7))
        {
        case 0:
          bytes->data[at] ^= (guint8)(1 << g_test_rand_int_range (0, 8));
          break;
        case 1:
          memcpy (bytes->data + at, &word, size);
          break;
        case 2:
          word = GUINT32_TO_BE (word);
          memcpy (bytes->data + at, &word, size);
          break;
        case 3:
          g_byte_array_set_size (bytes, at);
          break;
        case 4:
          g_byte_array_remove_range (bytes, at, size);
          break;
        case 5:
          memmove (bytes->data, bytes->data + at, bytes->len - at);
          break;
        default:
          bytes->data[at] = (guint8)g_test_rand_int ();
        }
    }
}

static void
test_anything_is_taken (void)
{
  g_autoptr (GPtrArray) seeds = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  GBytes *seed;
  const char *seconds = g_getenv ("SATIN_FUZZ_SECONDS");
  gint64 us = seconds != NULL ? (gint64)(G_USEC_PER_SEC * g_ascii_strtod (seconds, NULL))
                              : G_USEC_PER_SEC;
  guint n = 0;
  while ((seed = fuzz_seed (seeds->len)) != NULL)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (seed, &size);
      feed (data, size);
      g_ptr_array_add (seeds, seed);
    }

  gint64 end = g_get_monotonic_time () + us;

  for (; n < INPUTS_MIN || g_get_monotonic_time () < end; n++)
    {
      gsize size;
      GBytes *from = seeds->pdata[g_test_rand_int_range (0, (gint)seeds->len)];
      const guint8 *data = g_bytes_get_data (from, &size);
      g_autoptr (GByteArray) bytes = g_byte_array_new ();
      g_byte_array_append (bytes, data, (guint)size);
      mutate (bytes);
      g_autofree guint8 *tight
          = g_memdup2 (bytes->data, bytes->len); /* a sanitizer sees an overrun */
      feed (tight, bytes->len);
    }
  g_test_message ("%u inputs", n);
}

static void
test_file (gconstpointer name)
{
  g_autofree char *data = NULL;
  gsize size;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (name, &data, &size, &error);
  g_assert_no_error (error);
  g_autofree guint8 *tight = g_memdup2 (data, size);
  fuzz_one (tight, size);
}

int
main (int argc, char **argv)
{
  static const int deadly[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };

  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    {
      g_autofree char *path = g_strdup_printf ("/fuzz/%s/%d", fuzz_name, i);
      g_test_add_data_func (path, argv[i], test_file);
    }
  if (argc > 1)
    return g_test_run ();
  (void)g_snprintf (current.file, sizeof current.file, "fuzz-%s.input", fuzz_name);
  for (guint i = 0; i < G_N_ELEMENTS (deadly); i++)
    (void)signal (deadly[i], on_death);
  g_autofree char *name = g_strdup_printf ("/fuzz/%s-takes-anything", fuzz_name);
  g_test_add_func (name, test_anything_is_taken);
  return g_test_run ();
}
