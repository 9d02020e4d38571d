/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts accepted connections that have not proved themselves, by class. A flood in one class takes
 * no places of another. A full class closes its oldest connection. Pure. Driver's thread. */
#pragma once

#include <glib.h>

typedef enum
{
  ADMISSION_LOCAL,    /* by the Unix socket in the run's folder */
  ADMISSION_MEMBER,   /* by TCP from a host on which a member of the run is */
  ADMISSION_STRANGER, /* by TCP from anywhere else */
  ADMISSION_CLASSES
} AdmissionClass;

/* Places of each class. A stranger may be a node that joins from far away. At 1000 connections a
 * second it has a quarter of a second to prove itself. */
#define ADMISSION_LOCAL_MAX 64
#define ADMISSION_MEMBER_MAX 128
#define ADMISSION_STRANGER_MAX 256

/* All zero: no connection waits. */
typedef struct
{
  GQueue waiting[ADMISSION_CLASSES]; /* oldest first; not owned */
} Admission;

/* Lets connection `who` wait in `class`. Returns (nullable) the oldest connection of a full class:
 * the caller closes it, and it no longer counts. */
void *admission_enter (Admission *admission, AdmissionClass class, void *who);
/* Connection `who` has proved itself or is closed. Does nothing if it does not wait. */
void admission_leave (Admission *admission, const void *who);
/* No descriptor is free. Returns (nullable) the oldest connection of the class with the most: the
 * caller closes it, and it no longer counts. Of classes with equally many the last is taken. */
void *admission_evict (Admission *admission);
