/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of this program. Each SATIN_JOB registers its own before main, and here they get the
 * numbers by which nodes speak of them: the same in every process of the same program. */
#pragma once

#include "satin.h"

/* All jobs that are registered now, NULL-terminated: those of `first` (NULL-terminated) in their
 * order, then the others by name. (transfer container) NULL and
 * `sentence` (transfer full): two jobs have one name. Before a run begins; its thread. */
const SatinJob *const *registry_close (const SatinJob *const *first, char **sentence);
/* (transfer full) (nullable): the sentence about a job that was registered since. It came with a
 * library that main has loaded, and no other node knows it. Any thread. */
char *registry_late (void);
