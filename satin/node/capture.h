/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds a file descriptor's output back until it is known whether it counts: main's stdout under a
 * launcher or with a checkpoint is the run's answer, and is shown once. Main thread only. */
#pragma once

#include <glib.h>
#include <stdio.h>
#include <sys/types.h>

/* A descriptor, and what it led to when it was made: somebody may close all that are open, and the
 * number be used again. */
typedef struct
{
  int fd;
  dev_t device;
  ino_t inode;
} CapturePlace;

typedef struct
{
  int fd;             /* the descriptor held back; -1: nothing is */
  CapturePlace saved; /* where it led before */
  CapturePlace file;  /* where it leads now: the file */
} Capture;

#define CAPTURE_NONE ((Capture){ .fd = -1 })

/* From now on what is written to `fd` is kept: in the file `path`, which stays, so that a crash's
 * last words can be read; or in an unnamed one (NULL). FALSE: no file could be made; nothing is
 * held back. */
gboolean capture_begin (Capture *capture, int fd, const char *path);
/* (transfer full): what was written; `fd` leads where it led before. Flushes stdio. NULL: that is
 * lost, and why. */
GBytes *capture_end (Capture *capture, const char **why);
/* FALSE: not all that was printed to it has arrived, and why. */
gboolean capture_flush (FILE *stream, const char **why);
/* A program may have streams that a thread of its own has locked for long, since it reads there:
 * from now on only stdout and stderr are flushed. */
void capture_spare_streams (void);
/* Flushes all streams, or those. */
void capture_flush_streams (void);
/* All of it to the descriptor itself: the program may have closed its stream. FALSE, and why. */
gboolean capture_write (int fd, GBytes *bytes, const char **why);
/* At the start of a process: gives those of the descriptors 0 to 2 that are closed to something
 * that cannot be used, else the next file or socket gets that number and what is printed. */
void capture_guard (void);
