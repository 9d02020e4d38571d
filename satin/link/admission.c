/* SPDX-License-Identifier: BSD-3-Clause */
/* See admission.h. */
#include "admission.h"

void *
admission_enter (Admission *admission, AdmissionClass class, void *who)
{
  static const guint places[ADMISSION_CLASSES]
      = { ADMISSION_LOCAL_MAX, ADMISSION_MEMBER_MAX, ADMISSION_STRANGER_MAX };
  GQueue *waiting = &admission->waiting[class];
  void *oldest = waiting->length >= places[class] ? g_queue_pop_head (waiting) : NULL;

  g_queue_push_tail (waiting, who);
  return oldest;
}

void
admission_leave (Admission *admission, const void *who)
{
  for (guint i = 0; i < ADMISSION_CLASSES; i++)
    if (g_queue_remove (&admission->waiting[i], who))
      return;
}

void *
admission_evict (Admission *admission)
{
  GQueue *fullest = &admission->waiting[0];

  for (guint i = 1; i < ADMISSION_CLASSES; i++)
    if (admission->waiting[i].length >= fullest->length)
      fullest = &admission->waiting[i];
  return g_queue_pop_head (fullest);
}
