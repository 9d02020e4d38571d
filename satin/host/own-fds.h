/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that a process which a job forks must not hold: as long as it did, others would take
 * a dead node for alive, and its port and socket be in use. Any thread. */
#pragma once

/* From now on, until it is taken out again, each forked process closes it. */
void own_fds_add (int fd);
/* Before it is closed. */
void own_fds_remove (int fd);
