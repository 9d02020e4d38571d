/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the plain exchange of a steal's bytes: `raw spinning|asleep|tcp COUNT GAP_US
 * REQUEST_BYTES REPLY_BYTES` prints the p50 and p99, in microseconds, of a request and its reply
 * over a Unix socket (tcp: loopback TCP, spinning). The process that answers waits in epoll_wait
 * while another of its threads computes, like a victim's worker. The process that asks calls
 * epoll_wait, too: without a timeout when asleep, and with timeout 0, again and again, when
 * spinning. */
#include "shared.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES_MAX 65536

static char buffer[BYTES_MAX];

static void
fail (const char *what)
{
  perror (what);
  exit (1);
}

static int
epoll_of (int fd)
{
  struct epoll_event event = { .events = EPOLLIN };
  int poll = epoll_create1 (EPOLL_CLOEXEC);

  if (poll < 0 || epoll_ctl (poll, EPOLL_CTL_ADD, fd, &event) != 0)
    fail ("raw: epoll");
  return poll;
}

/* FALSE if the other end has closed the connection. */
static int
receive (int poll, int fd, size_t bytes, int spinning)
{
  struct epoll_event event;

  for (size_t got = 0; got < bytes;)
    {
      ssize_t n;

      while (epoll_wait (poll, &event, 1, spinning ? 0 : -1) <= 0)
        sched_yield ();
      n = recv (fd, buffer + got, bytes - got, MSG_DONTWAIT);
      if (n <= 0)
        return 0;
      got += (size_t)n;
    }
  return 1;
}

static void *
compute (void *data)
{
  for (volatile uint64_t i = 0;; i++)
    continue;
  return data;
}

static void
victim (int fd, size_t request, size_t reply)
{
  int poll = epoll_of (fd);
  pthread_t worker;

  if (pthread_create (&worker, NULL, compute, NULL) != 0)
    fail ("raw: thread");
  while (receive (poll, fd, request, 0))
    if (send (fd, buffer, reply, MSG_NOSIGNAL) != (ssize_t)reply)
      break;
  _exit (0);
}

/* The pause between two steals: the thread computes when spinning, else it sleeps. */
static void
pause_us (int64_t gap_us, int spinning)
{
  int64_t until = shared_now () + gap_us * 1000;

  if (!spinning)
    usleep ((useconds_t)gap_us);
  while (shared_now () < until)
    continue;
}

/* A TCP connection with the options of a link between nodes. */
static int
tcp_pair (int ends[2])
{
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof at;
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

  ends[0] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || ends[0] < 0 || bind (listener, (struct sockaddr *)&at, size) != 0
      || listen (listener, 1) != 0 || getsockname (listener, (struct sockaddr *)&at, &size) != 0
      || connect (ends[0], (struct sockaddr *)&at, size) != 0
      || (ends[1] = accept (listener, NULL, NULL)) < 0)
    return -1;
  for (int i = 0; i < 2; i++)
    if (setsockopt (ends[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0)
      return -1;
  return close (listener);
}

int
main (int argc, char **argv)
{
  static int64_t took_ns[SHARED_SAMPLES_MAX];
  int tcp = argc == 6 && strcmp (argv[1], "tcp") == 0;
  int spinning = tcp || (argc == 6 && strcmp (argv[1], "spinning") == 0);
  int64_t count = argc == 6 ? atoi (argv[2]) : 0, gap_us = argc == 6 ? atoi (argv[3]) : 0;
  size_t request = argc == 6 ? (size_t)atoi (argv[4]) : 0,
         reply = argc == 6 ? (size_t)atoi (argv[5]) : 0;
  int ends[2], poll;
  pid_t other;

  if (count < 1 || count > SHARED_SAMPLES_MAX || request < 1 || request > BYTES_MAX || reply < 1
      || reply > BYTES_MAX)
    {
      fprintf (stderr, "usage: raw spinning|asleep|tcp COUNT GAP_US REQUEST_BYTES REPLY_BYTES\n");
      return 2;
    }
  if ((tcp ? tcp_pair (ends) : socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) != 0
      || (other = fork ()) < 0)
    fail ("raw: two processes");
  if (other == 0)
    {
      close (ends[0]);
      victim (ends[1], request, reply);
    }
  close (ends[1]);
  poll = epoll_of (ends[0]);
  usleep (50000);
  for (int64_t i = 0; i < count; i++)
    {
      int64_t begin;

      pause_us (gap_us, spinning);
      begin = shared_now ();
      if (send (ends[0], buffer, request, MSG_NOSIGNAL) != (ssize_t)request
          || !receive (poll, ends[0], reply, spinning))
        fail ("raw: exchange");
      took_ns[i] = shared_now () - begin;
    }
  close (ends[0]);
  waitpid (other, NULL, 0);
  printf ("%.2f %.2f\n", (double)shared_percentile (took_ns, count, 0.5) / 1000,
          (double)shared_percentile (took_ns, count, 0.99) / 1000);
  return 0;
}
