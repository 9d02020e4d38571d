/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks of processes: whether the process lives, and when this host cannot know that. */
#include "host/process.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ProcessMark
mark_of (gint64 pid)
{
  g_autofree char *text = process_mark (pid);
  ProcessMark mark;

  g_assert_cmpuint (process_read_mark (text, &mark), ==, strlen (text));
  g_assert_cmpint (mark.pid, ==, pid);
  g_assert_cmpstr (mark.host, ==, process_host ());
  return mark;
}

static void
test_a_process_lives_until_it_has_ended (void)
{
  pid_t pid = fork ();

  if (pid == 0)
    for (;;)
      pause ();
  ProcessMark mark = mark_of (pid);
  siginfo_t info;
  g_assert_cmpuint (mark.birth, !=, 0);
  g_assert_cmpint (process_state (&mark), ==, PROCESS_ALIVE);
  kill (pid, SIGKILL);
  g_assert_cmpint (waitid (P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), ==, 0);
  g_assert_cmpint (process_state (&mark), ==, PROCESS_DEAD); /* a zombie */
  g_assert_false (process_is_alive (pid));
  waitpid (pid, NULL, 0);
  g_assert_cmpint (process_state (&mark), ==, PROCESS_DEAD);
}

static void *
stay (void *data)
{
  for (;;)
    pause ();
  return data;
}

/* TRUE if the first thread of the process has ended. */
static gboolean
is_headless (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", (int)pid), *text = NULL;
  const char *end = NULL;

  if (g_file_get_contents (path, &text, NULL, NULL))
    end = strrchr (text, ')');
  return end != NULL && end[2] == 'Z';
}

/* The same state occurs for a moment when another thread executes a program. */
static void
test_a_process_outlives_its_first_thread (void)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      pthread_t thread;
      alarm (30); /* in case the test fails */
      pthread_create (&thread, NULL, stay, NULL);
      pthread_exit (NULL);
    }
  ProcessMark mark = mark_of (pid);
  while (!is_headless (pid))
    g_usleep (1000);
  g_assert_cmpint (process_state (&mark), ==, PROCESS_ALIVE);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  g_assert_cmpint (process_state (&mark), ==, PROCESS_DEAD);
}

static void
test_a_number_that_was_given_again_is_another_process (void)
{
  ProcessMark mark = mark_of (getpid ());

  g_assert_cmpint (process_state (&mark), ==, PROCESS_ALIVE);
  mark.birth++;
  g_assert_cmpint (process_state (&mark), ==, PROCESS_DEAD);
  mark.birth = 0;
  g_assert_cmpint (process_state (&mark), ==, PROCESS_ALIVE);
}

static void
test_processes_of_other_hosts_are_not_known (void)
{
  ProcessMark mark = mark_of (getpid ());

  mark.host[0] = mark.host[0] == '0' ? '1' : '0';
  g_assert_cmpint (process_state (&mark), ==, PROCESS_ELSEWHERE);
}

static void
test_other_texts_are_no_marks (void)
{
  static const char *const texts[] = { "",
                                       "0badf00d",
                                       "0badf00d-",
                                       "0badf00d-1",
                                       "0badf00d-1-",
                                       "0badf00-1-1",
                                       "0badf00dd-1-1",
                                       "0badf00d--1-1",
                                       "0badf00d-0-1",
                                       "0BADF00D-1-1",
                                       "0badf00d- 1-1",
                                       "0badf00d-1-x",
                                       "0badf00d-99999999999-1",
                                       "0badf00d-1-4294967296" };
  ProcessMark mark;

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_cmpuint (process_read_mark (texts[i], &mark), ==, 0);
  g_assert_cmpuint (process_read_mark ("0badf00d-12-34-5.tmp", &mark), ==, 14);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/process/a-process-lives-until-it-has-ended",
                   test_a_process_lives_until_it_has_ended);
  g_test_add_func ("/process/a-process-outlives-its-first-thread",
                   test_a_process_outlives_its_first_thread);
  g_test_add_func ("/process/a-number-that-was-given-again-is-another-process",
                   test_a_number_that_was_given_again_is_another_process);
  g_test_add_func ("/process/processes-of-other-hosts-are-not-known",
                   test_processes_of_other_hosts_are_not_known);
  g_test_add_func ("/process/other-texts-are-no-marks", test_other_texts_are_no_marks);
  return g_test_run ();
}
