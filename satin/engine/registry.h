/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of this program. Each SATIN_JOB registers its job before main. Here the jobs get the
 * numbers that nodes use in messages: the same in every process of the program. */
#pragma once

#include "satin.h"

/* (transfer container): all registered jobs, NULL-terminated: those of `first` (NULL-terminated) in
 * their order, then the others by name. NULL: two jobs have one name, and *sentence (transfer full)
 * says which. Called before a run begins, on the thread that begins it. */
const SatinJob *const *registry_close (const SatinJob *const *first, char **sentence);
/* (transfer full) (nullable): a message about a job that was registered since. It came with a
 * library that main has loaded, so no other node knows it. Any thread. */
char *registry_late (void);
