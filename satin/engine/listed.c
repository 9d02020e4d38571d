/* SPDX-License-Identifier: BSD-3-Clause */
/* See listed.h. The linker collects a reference to each job for which a spawn or call was compiled,
 * in the section `satin_spawned` of each module (program or shared library). */
#include "config.h"

#include "listed.h"

#include <pthread.h>

/* The references of one module; NULL entries mean nothing. */
typedef struct Module Module;
struct Module
{
  const SatinJob **begin, **end;
  Module *next;
};

static pthread_mutex_t modules_mutex = PTHREAD_MUTEX_INITIALIZER;
static Module *modules;

void
satin_spawned_register_ (const SatinJob **begin, const SatinJob **end)
{
  Module *module;

  pthread_mutex_lock (&modules_mutex);
  module = modules;
  while (module != NULL && module->begin != begin)
    module = module->next;
  if (module == NULL)
    {
      module = g_new (Module, 1); /* as long as the process */
      *module = (Module){ begin, end, modules };
      modules = module;
    }
  pthread_mutex_unlock (&modules_mutex);
}

static gboolean
is_listed (const SatinJob *const *jobs, const SatinJob *job)
{
  while (*jobs != NULL && *jobs != job)
    jobs++;
  return *jobs != NULL;
}

static const SatinJob *
find_missing (const SatinJob *const *jobs)
{
  const SatinJob *missing = NULL;

  pthread_mutex_lock (&modules_mutex);
  for (const Module *module = modules; module != NULL; module = module->next)
    for (const SatinJob **job = module->begin; job < module->end; job++)
      if (*job != NULL && !is_listed (jobs, *job))
        missing = *job;
  pthread_mutex_unlock (&modules_mutex);
  return missing;
}

char *
listed_sentence (const SatinJob *const *jobs, const SatinJob *root)
{
  const SatinJob *missing = root != NULL && !is_listed (jobs, root) ? root : find_missing (jobs);

  return missing == NULL ? NULL
                         : g_strdup_printf ("job '%s' is not listed in SATIN_APP: add &%s_job",
                                            missing->name, missing->name);
}
