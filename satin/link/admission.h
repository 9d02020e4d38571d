/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepted connections that have not proved themselves, counted by class: a flood in one class
 * takes no place of another one. When a class is full its oldest connection goes. Pure; driver's
 * thread. */
#pragma once

#include <glib.h>

typedef enum
{
  ADMISSION_LOCAL,    /* by the Unix socket in the run's folder */
  ADMISSION_MEMBER,   /* by TCP from a host on which a member of the run is */
  ADMISSION_STRANGER, /* by TCP from anywhere else */
  ADMISSION_CLASSES
} AdmissionClass;

/* Places of each class. A stranger may be a node that joins from far away: at 1000 connections a
 * second it has a quarter of a second to answer. */
#define ADMISSION_LOCAL_MAX 64
#define ADMISSION_MEMBER_MAX 128
#define ADMISSION_STRANGER_MAX 256

/* All zero: nobody waits. */
typedef struct
{
  GQueue waiting[ADMISSION_CLASSES]; /* oldest first; not owned */
} Admission;

/* `who` waits in `class`. Returns (nullable) the one that has to go for it, which waits no more. */
void *admission_enter (Admission *admission, AdmissionClass class, void *who);
/* `who` has proved itself, or is gone. Nothing to do for one that does not wait. */
void admission_leave (Admission *admission, const void *who);
/* Where descriptors run out: returns (nullable) the one that has to go, which waits no more. It is
 * the oldest of the class in which most wait, of the last such class. */
void *admission_evict (Admission *admission);
