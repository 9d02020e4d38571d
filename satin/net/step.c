/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <unistd.h>

int
step_number (const char *variable)
{
  const char *text = g_getenv (variable);
  guint64 number;

  return text != NULL && g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, &number, NULL)
             ? (int)number
             : -1;
}

gboolean
step_has_tasks (void)
{
  return step_number ("SLURM_STEP_NUM_TASKS") > 1 && step_number ("SLURM_PROCID") >= 0
         && step_number ("SLURM_JOB_ID") >= 0 && step_number ("SLURM_STEP_ID") >= 0;
}

void
step_become_run (const char *program, char **argv)
{
  g_autofree char *folder = g_path_get_dirname (program);
  g_autofree char *beside = g_build_filename (folder, "satin", NULL);
  g_autofree char *found = g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE)
                               ? g_strdup (beside)
                               : g_find_program_in_path ("satin");
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  if (found == NULL)
    return;
  g_ptr_array_add (words, found);
  g_ptr_array_add (words, (char *)"run");
  g_ptr_array_add (words, (char *)"--");
  g_ptr_array_add (words, (char *)program);
  for (int i = 1; argv[i] != NULL; i++)
    g_ptr_array_add (words, argv[i]);
  g_ptr_array_add (words, NULL);
  execv (found, (char **)words->pdata);
}
