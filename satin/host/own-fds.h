/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that processes forked by a job must not inherit. Otherwise a dead node would look
 * alive, and its port and socket would stay in use. Any thread. */
#pragma once

/* From now on each forked process closes `fd`, until own_fds_remove. */
void own_fds_add (int fd);
/* Call this before `fd` is closed. */
void own_fds_remove (int fd);
