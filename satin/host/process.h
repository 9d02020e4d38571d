/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells whether a process is alive that left its mark in a file or in a file's name. This is the
 * only such test: folders and stores may be shared by hosts and containers, where a process number
 * alone means nothing, and numbers are used again. Any thread; reads /proc. */
#pragma once

#include <glib.h>

/* The mark of a process, as text "HOST-PID-BIRTH". */
#define PROCESS_HOST_LENGTH 8
typedef struct
{
  char host[PROCESS_HOST_LENGTH + 1]; /* hex digits: host name, machine id and PID namespace */
  gint64 pid;
  guint32 birth; /* boot id and start time of the process; 0: not known */
} ProcessMark;

typedef enum
{
  PROCESS_DEAD,     /* of this host and PID namespace, and gone: it ended or is a zombie, another
                     * process has its number, or the host was booted again */
  PROCESS_ALIVE,    /* of this host and PID namespace, and running */
  PROCESS_ELSEWHERE /* of another host or PID namespace: its state cannot be known here */
} ProcessState;

/* The mark of process `pid` of this host and namespace. (transfer full) */
char *process_mark (gint64 pid);
/* Reads a mark at the beginning of `text`. Returns its length; 0: there is none. */
gsize process_read_mark (const char *text, ProcessMark *mark);
ProcessState process_state (const ProcessMark *mark);
/* For a process of which only the number is known. It must be of this host and namespace. */
gboolean process_is_alive (gint64 pid);
/* The `host` in marks of this process. */
const char *process_host (void);
