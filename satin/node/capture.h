/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds back what a process writes to a descriptor. Under a launcher, or with a checkpoint, main's
 * stdout is the run's answer, which is shown once, at the end. Main thread only. */
#pragma once

#include <glib.h>
#include <stdio.h>
#include <sys/types.h>

/* A descriptor and the file that it referred to at first. Some program may close all descriptors,
 * and its number may then be another file's. */
typedef struct
{
  int fd;
  dev_t device;
  ino_t inode;
} CapturePlace;

typedef struct
{
  int fd;             /* the descriptor whose output is held back; -1: none */
  CapturePlace saved; /* a duplicate of what `fd` was before */
  CapturePlace file;  /* the file to which `fd` writes now */
} Capture;

#define CAPTURE_NONE ((Capture){ .fd = -1 })

/* From now on, writes to `fd` go to a file: `path`, which stays, so that it can be read after a
 * crash; or an unnamed one (NULL). FALSE: no file could be made, and nothing is held back. */
gboolean capture_begin (Capture *capture, int fd, const char *path);
/* Returns what was written (transfer full), and makes `fd` what it was before. Flushes stdio. NULL:
 * the output is lost; *why (out, transfer none). */
GBytes *capture_end (Capture *capture, const char **why);
/* Flushes `stream`. FALSE: not all of its output was written; *why (out, transfer none). */
gboolean capture_flush (FILE *stream, const char **why);
/* From now on only stdout and stderr are flushed: in a program with its own main, a thread may hold
 * the lock of another stream for long while it reads. */
void capture_spare_streams (void);
/* Flushes all streams, or stdout and stderr after capture_spare_streams. */
void capture_flush_streams (void);
/* Writes all `bytes` to the descriptor, since the program may have closed its stream. FALSE: *why
 * (out, transfer none). */
gboolean capture_write (int fd, GBytes *bytes, const char **why);
/* To be called at the start of a process: opens those of the descriptors 0 to 2 that are closed,
 * each so that its use fails. Else the next file or socket would get that number, and what the
 * program prints. */
void capture_guard (void);
