/* SPDX-License-Identifier: BSD-3-Clause */
/* See registry.h. Tests: test-registry, laws.sh */
#include "config.h"

#include "registry.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static SatinJobEntry_ *entries; /* the last registered first */
static SatinJobEntry_ *closed;  /* `entries` as it was when the numbers were given */

void
satin_job_register_ (SatinJobEntry_ *entry)
{
  pthread_mutex_lock (&registry_mutex);
  entry->next = entries;
  entries = entry;
  pthread_mutex_unlock (&registry_mutex);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(const SatinJob *const *)a)->name, (*(const SatinJob *const *)b)->name);
}

static char *
find_namesake (const GPtrArray *by_name)
{
  for (guint i = 1; i < by_name->len; i++)
    if (compare_names (&by_name->pdata[i - 1], &by_name->pdata[i]) == 0)
      return g_strdup_printf ("two jobs are called '%s': rename one of them",
                              ((const SatinJob *)by_name->pdata[i])->name);
  return NULL;
}

const SatinJob *const *
registry_close (const SatinJob *const *first, char **sentence)
{
  GPtrArray *jobs = g_ptr_array_new ();
  g_autoptr (GPtrArray) by_name = g_ptr_array_new ();

  pthread_mutex_lock (&registry_mutex);
  closed = entries;
  for (const SatinJobEntry_ *entry = entries; entry != NULL; entry = entry->next)
    g_ptr_array_add (by_name, (gpointer)entry->job);
  pthread_mutex_unlock (&registry_mutex);
  g_ptr_array_sort (by_name, compare_names);
  *sentence = find_namesake (by_name);
  for (; *first != NULL; first++)
    if (g_ptr_array_remove (by_name, (gpointer)*first))
      g_ptr_array_add (jobs, (gpointer)*first);
  g_ptr_array_extend (jobs, by_name, NULL, NULL);
  g_ptr_array_add (jobs, NULL);
  gpointer *all = g_ptr_array_free (jobs, *sentence != NULL);
  return (const SatinJob *const *)all;
}

char *
registry_late (void)
{
  const SatinJob *late = NULL;

  pthread_mutex_lock (&registry_mutex);
  if (entries != closed)
    late = entries->job;
  pthread_mutex_unlock (&registry_mutex);
  return late == NULL ? NULL
                      : g_strdup_printf ("job '%s' came with a library that main has loaded, so no "
                                         "other node knows it: link the program to it",
                                         late->name);
}
