/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/admission.h"

static void *
who (guint number)
{
  return GUINT_TO_POINTER (number + 1);
}

static void
the_oldest_of_a_full_class_goes (void)
{
  Admission admission = { 0 };

  for (guint i = 0; i < ADMISSION_STRANGER_MAX; i++)
    g_assert_null (admission_enter (&admission, ADMISSION_STRANGER, who (i)));
  for (guint i = 0; i < 10; i++)
    g_assert_true (
        admission_enter (&admission, ADMISSION_STRANGER, who (ADMISSION_STRANGER_MAX + i))
        == who (i));
  /* A connection that has authenticated is not the oldest any more, and has freed a place. */
  admission_leave (&admission, who (10));
  g_assert_null (admission_enter (&admission, ADMISSION_STRANGER, who (5000)));
  g_assert_true (admission_enter (&admission, ADMISSION_STRANGER, who (5001)) == who (11));
  while (admission_evict (&admission) != NULL)
    ;
}

static void
no_class_takes_places_of_another_one (void)
{
  Admission admission = { 0 };

  g_assert_null (admission_enter (&admission, ADMISSION_MEMBER, who (0)));
  g_assert_null (admission_enter (&admission, ADMISSION_LOCAL, who (1)));
  for (guint i = 2; i < 10 * ADMISSION_STRANGER_MAX; i++)
    {
      void *gone = admission_enter (&admission, ADMISSION_STRANGER, who (i));
      g_assert_true (gone != who (0) && gone != who (1));
    }
  for (guint i = 0; i < ADMISSION_MEMBER_MAX - 1; i++)
    g_assert_null (admission_enter (&admission, ADMISSION_MEMBER, who (6000 + i)));
  for (guint i = 0; i < ADMISSION_LOCAL_MAX - 1; i++)
    g_assert_null (admission_enter (&admission, ADMISSION_LOCAL, who (7000 + i)));
  g_assert_true (admission_enter (&admission, ADMISSION_MEMBER, who (8000)) == who (0));
  g_assert_true (admission_enter (&admission, ADMISSION_LOCAL, who (8001)) == who (1));
  while (admission_evict (&admission) != NULL)
    ;
}

/* A flood loses its places to all others, whichever class it is in; between classes of equal size
 * strangers go first. */
static void
descriptors_are_taken_from_the_fullest_class (void)
{
  Admission admission = { 0 };

  g_assert_null (admission_evict (&admission));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (admission_enter (&admission, ADMISSION_LOCAL, who (10 + i)));
      g_assert_null (admission_enter (&admission, ADMISSION_MEMBER, who (20 + i)));
      g_assert_null (admission_enter (&admission, ADMISSION_STRANGER, who (30 + i)));
    }
  g_assert_null (admission_enter (&admission, ADMISSION_LOCAL, who (12)));
  const guint order[] = { 10, 30, 20, 11, 31, 21, 12 };
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    g_assert_true (admission_evict (&admission) == who (order[i]));
  g_assert_null (admission_evict (&admission));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/admission/the-oldest-of-a-full-class-goes", the_oldest_of_a_full_class_goes);
  g_test_add_func ("/admission/no-class-takes-places-of-another-one",
                   no_class_takes_places_of_another_one);
  g_test_add_func ("/admission/descriptors-are-taken-from-the-fullest-class",
                   descriptors_are_taken_from_the_fullest_class);
  return g_test_run ();
}
