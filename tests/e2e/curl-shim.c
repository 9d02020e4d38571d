/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces libcurl.so.4 in a test. Passes each call on to the real library, which REAL_CURL in the
 * environment names, except the call that curl_shim_arm chose. place-fail.c arms it.
 * CURL_SHIM_TRY_MS: each transfer of a trial file takes so many milliseconds longer.
 * CURL_SHIM_GET_MS: each download of a large file does. CURL_SHIM_RATE: the limit of downloads in
 * bytes a second. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE_BYTES (1 << 20)
#undef curl_easy_setopt
#undef curl_easy_getinfo

typedef enum
{
  SHIM_NOTHING,
  SHIM_REFUSE, /* perform fails without a transfer */
  SHIM_LOSE,   /* perform makes the transfer but returns an error */
  SHIM_SETTING,
  SHIM_LIST,
  SHIM_INIT
} ShimFault;

static ShimFault shim_fault;
static int shim_left, shim_fired;
static __thread int shim_is_trial;

#define REAL(name) ((__typeof__ (&name))real (#name))

static void *
real (const char *name)
{
  static void *library;

  if (library == NULL)
    library = dlopen (getenv ("REAL_CURL"), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    abort ();
  return dlsym (library, name);
}

/* The n-th call of that kind fails. */
void
curl_shim_arm (int fault, int n)
{
  shim_fault = (ShimFault)fault;
  shim_left = n;
  shim_fired = 0;
}

int
curl_shim_fired (void)
{
  return shim_fired;
}

static int
fails (ShimFault fault)
{
  if (fault != shim_fault || --shim_left != 0)
    return 0;
  shim_fired = 1;
  return 1;
}

CURLcode
curl_global_init (long flags)
{
  return REAL (curl_global_init) (flags);
}

CURL *
curl_easy_init (void)
{
  return fails (SHIM_INIT) ? NULL : REAL (curl_easy_init) ();
}

void
curl_easy_cleanup (CURL *curl)
{
  REAL (curl_easy_cleanup) (curl);
}

void
curl_easy_reset (CURL *curl)
{
  shim_is_trial = 0;
  REAL (curl_easy_reset) (curl);
}

static int
is_trial (CURLoption option, const void *value)
{
  const struct curl_slist *list = option == CURLOPT_QUOTE ? value : NULL;

  for (; list != NULL; list = list->next)
    if (strstr (list->data, ".try") != NULL)
      return 1;
  return option == CURLOPT_URL && strstr (value, ".try") != NULL;
}

/* The one argument has 64 bits, whatever its type. */
CURLcode
curl_easy_setopt (CURL *curl, CURLoption option, ...)
{
  va_list arguments;
  void *value;

  va_start (arguments, option);
  value = va_arg (arguments, void *);
  va_end (arguments);
  shim_is_trial |= is_trial (option, value);
  return fails (SHIM_SETTING) ? CURLE_OUT_OF_MEMORY : REAL (curl_easy_setopt) (curl, option, value);
}

CURLcode
curl_easy_perform (CURL *curl)
{
  const char *try_ms = getenv ("CURL_SHIM_TRY_MS"), *get_ms = getenv ("CURL_SHIM_GET_MS");
  const char *rate = getenv ("CURL_SHIM_RATE");
  curl_off_t received = 0;

  if (rate != NULL)
    (void)REAL (curl_easy_setopt) (curl, CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)atol (rate));
  if (fails (SHIM_REFUSE))
    return CURLE_COULDNT_CONNECT;
  if (shim_is_trial && try_ms != NULL)
    usleep ((useconds_t)atoi (try_ms) * 1000);
  CURLcode code = REAL (curl_easy_perform) (curl);
  if (get_ms != NULL
      && REAL (curl_easy_getinfo) (curl, CURLINFO_SIZE_DOWNLOAD_T, &received) == CURLE_OK
      && received >= LARGE_BYTES)
    usleep ((useconds_t)atoi (get_ms) * 1000);
  return fails (SHIM_LOSE) ? CURLE_RECV_ERROR : code;
}

CURLcode
curl_easy_getinfo (CURL *curl, CURLINFO info, ...)
{
  va_list arguments;
  void *value;

  va_start (arguments, info);
  value = va_arg (arguments, void *);
  va_end (arguments);
  return REAL (curl_easy_getinfo) (curl, info, value);
}

const char *
curl_easy_strerror (CURLcode code)
{
  return REAL (curl_easy_strerror) (code);
}

struct curl_slist *
curl_slist_append (struct curl_slist *list, const char *text)
{
  return fails (SHIM_LIST) ? NULL : REAL (curl_slist_append) (list, text);
}

void
curl_slist_free_all (struct curl_slist *list)
{
  REAL (curl_slist_free_all) (list);
}
