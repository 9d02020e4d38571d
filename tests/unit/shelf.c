/* SPDX-License-Identifier: BSD-3-Clause */
/* See shelf.h. A lock is held while a request runs, so requests of several threads follow one
 * another, as at a store that handles one at a time. */
#include "shelf-private.h"

#include <stdarg.h>
#include <string.h>

static __thread gboolean is_between;

static gboolean
is_hit (guint number)
{
  gboolean is_it = !is_between && number >= shelf.first && number <= shelf.last;
  shelf.has_failed = shelf.has_failed || is_it;
  return is_it;
}

static CURLcode
run_request (ShelfHandle *handle, ShelfFault fault)
{
  if (fault == SHELF_REFUSES)
    return CURLE_COULDNT_CONNECT;
  if (fault == SHELF_SILENT)
    return CURLE_OPERATION_TIMEDOUT;
  if (fault == SHELF_ANSWERS)
    {
      handle->status = shelf.status;
      return shelf_refuse (handle, (CURLcode)shelf.code);
    }
  CURLcode code = shelf_run (handle, fault == SHELF_TEARS);
  return fault == SHELF_LOSES ? CURLE_RECV_ERROR : code;
}

static void
log_request (const ShelfHandle *handle, guint number)
{
  const char *verb = handle->method != NULL  ? handle->method
                     : handle->sends != NULL ? "PUT"
                                             : "GET";
  g_printerr ("%u %s %s %s", number, verb, handle->url, handle->range != NULL ? handle->range : "");
  for (const struct curl_slist *at = handle->commands; at != NULL; at = at->next)
    g_printerr (" [%s]", at->data);
  g_printerr ("\n");
}

static void
set_busy (ShelfHandle *handle, gboolean is_busy)
{
  if (handle->is_busy != is_busy)
    g_atomic_int_add (&shelf.n_busy, is_busy ? 1 : -1);
  handle->is_busy = is_busy;
}

static CURLcode
shelf_perform (CURL *curl)
{
  ShelfHandle *handle = curl;
  handle->status = 0;
  handle->sent = 0;
  g_mutex_lock (&shelf.lock);
  guint number = is_between ? 0 : ++shelf.requests;
  void (*act) (gpointer)
      = shelf.between_at == 0 || shelf.between_at == number ? shelf.between : NULL;
  gpointer data = shelf.between_data;
  g_mutex_unlock (&shelf.lock);
  if (g_getenv ("SHELF_LOG") != NULL)
    log_request (handle, number);
  if (act != NULL && !is_between)
    {
      is_between = TRUE;
      act (data);
      is_between = FALSE;
    }
  g_mutex_lock (&shelf.lock);
  gboolean is_request = shelf.fault >= SHELF_REFUSES && shelf.fault <= SHELF_SILENT;
  CURLcode code = run_request (handle, is_request && is_hit (number) ? shelf.fault : SHELF_SOUND);
  g_mutex_unlock (&shelf.lock);
  set_busy (handle, FALSE);
  return code;
}

void
shelf_call_during (void)
{
  void (*act) (gpointer) = shelf.during;
  if (act == NULL || is_between)
    return;
  shelf.during = NULL;
  g_mutex_unlock (&shelf.lock);
  act (shelf.during_data);
  g_mutex_lock (&shelf.lock);
}

static gboolean
lacks_memory (ShelfFault fault)
{
  g_mutex_lock (&shelf.lock);
  gboolean is_so = shelf.fault == fault && !is_between && is_hit (++shelf.calls);
  g_mutex_unlock (&shelf.lock);
  return is_so;
}

static CURL *
shelf_init (void)
{
  return lacks_memory (SHELF_NO_HANDLE) ? NULL : g_new0 (ShelfHandle, 1);
}

static void
clear (ShelfHandle *handle)
{
  set_busy (handle, FALSE);
  g_free (handle->url);
  g_free (handle->method);
  g_free (handle->range);
  g_free (handle->signs);
  memset (handle, 0, sizeof *handle);
}

/* Begins the settings of a request. */
static void
shelf_reset (CURL *curl)
{
  clear (curl);
  set_busy (curl, TRUE);
  g_mutex_lock (&shelf.lock);
  g_hash_table_remove_all (shelf.options);
  g_mutex_unlock (&shelf.lock);
}

static void
shelf_cleanup (CURL *curl)
{
  clear (curl);
  g_free (curl);
}

#define TEXT(option, field) \
  { \
    option, G_STRUCT_OFFSET (ShelfHandle, field), TRUE \
  }
#define PLAIN(option, field) \
  { \
    option, G_STRUCT_OFFSET (ShelfHandle, field), FALSE \
  }

static const struct
{
  CURLoption option;
  gsize at;
  gboolean is_text;
} shelf_options[] = { TEXT (CURLOPT_URL, url),
                      TEXT (CURLOPT_CUSTOMREQUEST, method),
                      TEXT (CURLOPT_RANGE, range),
                      TEXT (CURLOPT_AWS_SIGV4, signs),
                      PLAIN (CURLOPT_HTTPHEADER, headers),
                      PLAIN (CURLOPT_QUOTE, commands),
                      PLAIN (CURLOPT_NOBODY, no_body),
                      PLAIN (CURLOPT_UPLOAD, sends),
                      PLAIN (CURLOPT_WRITEFUNCTION, write),
                      PLAIN (CURLOPT_WRITEDATA, write_to),
                      PLAIN (CURLOPT_HEADERFUNCTION, header),
                      PLAIN (CURLOPT_HEADERDATA, header_to),
                      PLAIN (CURLOPT_READFUNCTION, read),
                      PLAIN (CURLOPT_READDATA, read_from),
                      PLAIN (CURLOPT_SEEKFUNCTION, seek),
                      PLAIN (CURLOPT_SEEKDATA, seek_in),
                      PLAIN (CURLOPT_XFERINFOFUNCTION, progress),
                      PLAIN (CURLOPT_XFERINFODATA, progress_of) };

static const CURLoption shelf_texts[]
    = { CURLOPT_URL,     CURLOPT_AWS_SIGV4,     CURLOPT_SSH_KNOWNHOSTS,
        CURLOPT_USERPWD, CURLOPT_PROTOCOLS_STR, CURLOPT_SSH_PRIVATE_KEYFILE,
        CURLOPT_CAINFO,  CURLOPT_CUSTOMREQUEST };

/* With the lock. */
static void
note_option (CURLoption option, void *value)
{
  char *text = NULL;
  if (option < CURLOPTTYPE_OBJECTPOINT)
    text = g_strdup_printf ("%ld", (long)value);
  for (gsize i = 0; i < G_N_ELEMENTS (shelf_texts); i++)
    if (shelf_texts[i] == option)
      text = g_strdup (value);
  if (option == CURLOPT_HTTPHEADER)
    {
      GString *lines = g_string_new (NULL);
      for (const struct curl_slist *at = value; at != NULL; at = at->next)
        g_string_append_printf (lines, "%s\n", at->data);
      text = g_string_free (lines, FALSE);
    }
  if (text != NULL)
    g_hash_table_replace (shelf.options, GINT_TO_POINTER (option), text);
}

static CURLcode
shelf_setopt (CURL *curl, CURLoption option, ...)
{
  ShelfHandle *handle = curl;
  va_list list;
  va_start (list, option);
  void *value = va_arg (list, void *);
  va_end (list);
  if (lacks_memory (SHELF_NO_SETTING))
    return CURLE_OUT_OF_MEMORY;
  g_mutex_lock (&shelf.lock);
  note_option (option, value);
  g_mutex_unlock (&shelf.lock);
  for (gsize i = 0; i < G_N_ELEMENTS (shelf_options); i++)
    if (shelf_options[i].option == option)
      *(void **)((char *)handle + shelf_options[i].at)
          = shelf_options[i].is_text ? g_strdup (value) : value;
  return CURLE_OK;
}

static CURLcode
shelf_getinfo (CURL *curl, CURLINFO info, ...)
{
  const ShelfHandle *handle = curl;
  va_list list;
  va_start (list, info);
  void *to = va_arg (list, void *);
  va_end (list);
  if (info == CURLINFO_RESPONSE_CODE)
    *(long *)to = handle->status;
  else if (info == CURLINFO_SIZE_UPLOAD_T)
    *(curl_off_t *)to = handle->sent;
  return CURLE_OK;
}

static const char *
shelf_message (CURLcode code)
{
  static __thread char text[32];
  g_snprintf (text, sizeof text, "libcurl's error %d", (int)code);
  return text;
}

static struct curl_slist *
shelf_list_append (struct curl_slist *list, const char *text)
{
  if (lacks_memory (SHELF_NO_LIST))
    return NULL;
  struct curl_slist *last = list, *one = g_new0 (struct curl_slist, 1);
  one->data = g_strdup (text);
  while (last != NULL && last->next != NULL)
    last = last->next;
  if (last != NULL)
    last->next = one;
  return list != NULL ? list : one;
}

static void
shelf_list_free (struct curl_slist *list)
{
  while (list != NULL)
    {
      struct curl_slist *next = list->next;
      g_free (list->data);
      g_free (list);
      list = next;
    }
}

const Curl *
place_curl (void)
{
  static const Curl curl = { .init = shelf_init,
                             .cleanup = shelf_cleanup,
                             .reset = shelf_reset,
                             .setopt = shelf_setopt,
                             .perform = shelf_perform,
                             .getinfo = shelf_getinfo,
                             .message = shelf_message,
                             .list_append = shelf_list_append,
                             .list_free = shelf_list_free };
  return &curl;
}

void
shelf_clear (void)
{
  g_mutex_lock (&shelf.lock);
  g_clear_pointer (&shelf.items, g_hash_table_unref);
  shelf.items = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, shelf_item_free);
  g_clear_pointer (&shelf.options, g_hash_table_unref);
  shelf.options = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  shelf_put_item ("/", NULL);
  shelf_put_item ("/files", NULL);
  shelf.requests = shelf.calls = 0;
  shelf.fault = SHELF_SOUND;
  shelf.between = shelf.during = NULL;
  shelf.each_chunk = NULL;
  shelf.has_failed = shelf.renames_over = shelf.makes_no_folders = FALSE;
  shelf.knows_no_tags = shelf.tags_are_weak = shelf.puts_tell_no_tags = FALSE;
  g_mutex_unlock (&shelf.lock);
}

void
shelf_fail (ShelfFault fault, guint first, guint last)
{
  g_mutex_lock (&shelf.lock);
  shelf.fault = fault;
  shelf.first = first;
  shelf.last = last;
  shelf.requests = shelf.calls = 0;
  shelf.has_failed = FALSE;
  g_mutex_unlock (&shelf.lock);
}

void
shelf_answer (long status, int curl_code)
{
  shelf.status = status;
  shelf.code = curl_code;
}

gboolean
shelf_has_failed (void)
{
  return shelf.has_failed;
}

guint
shelf_requests (void)
{
  return shelf.requests;
}

gboolean
shelf_is_busy (void)
{
  return g_atomic_int_get (&shelf.n_busy) > 0;
}

void
shelf_between (guint at, void (*act) (gpointer data), gpointer data)
{
  g_mutex_lock (&shelf.lock);
  shelf.between_at = at;
  shelf.between = act;
  shelf.between_data = data;
  shelf.requests = 0;
  g_mutex_unlock (&shelf.lock);
}

void
shelf_during (gsize after, void (*act) (gpointer data), gpointer data)
{
  g_mutex_lock (&shelf.lock);
  shelf.during_after = after;
  shelf.during = act;
  shelf.during_data = data;
  g_mutex_unlock (&shelf.lock);
}

void
shelf_put (const char *path, const void *bytes, gsize size)
{
  g_mutex_lock (&shelf.lock);
  shelf_put_item (path, g_bytes_new (bytes, size));
  g_mutex_unlock (&shelf.lock);
}

void
shelf_make_folder (const char *path)
{
  g_mutex_lock (&shelf.lock);
  shelf_put_item (path, NULL);
  g_mutex_unlock (&shelf.lock);
}

void
shelf_remove (const char *path)
{
  g_mutex_lock (&shelf.lock);
  (void)g_hash_table_remove (shelf.items, path);
  g_mutex_unlock (&shelf.lock);
}

GBytes *
shelf_get (const char *path)
{
  g_mutex_lock (&shelf.lock);
  const ShelfItem *item = g_hash_table_lookup (shelf.items, path);
  GBytes *bytes = item != NULL && item->bytes != NULL ? g_bytes_ref (item->bytes) : NULL;
  g_mutex_unlock (&shelf.lock);
  return bytes;
}

char *
shelf_names (void)
{
  GString *text = g_string_new (NULL);
  g_mutex_lock (&shelf.lock);
  g_autoptr (GList) paths = g_list_sort (g_hash_table_get_keys (shelf.items), (GCompareFunc)strcmp);
  for (GList *at = paths; at != NULL; at = at->next)
    if (g_str_has_prefix (at->data, "/files/"))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                              (char *)at->data + strlen ("/files/"));
  g_mutex_unlock (&shelf.lock);
  return g_string_free (text, FALSE);
}

void
shelf_renames_over (gboolean is_so)
{
  shelf.renames_over = is_so;
}

void
shelf_makes_no_folders (gboolean is_so)
{
  shelf.makes_no_folders = is_so;
}

void
shelf_knows_no_tags (gboolean is_so)
{
  shelf.knows_no_tags = is_so;
}

void
shelf_puts_tell_no_tags (gboolean is_so)
{
  shelf.puts_tell_no_tags = is_so;
}

void
shelf_tags_are_weak (gboolean is_so)
{
  shelf.tags_are_weak = is_so;
}

void
shelf_each_chunk (void (*act) (void))
{
  __atomic_store_n (&shelf.each_chunk, act, __ATOMIC_SEQ_CST);
}

char *
shelf_option (int option)
{
  g_mutex_lock (&shelf.lock);
  char *text = g_strdup (g_hash_table_lookup (shelf.options, GINT_TO_POINTER (option)));
  g_mutex_unlock (&shelf.lock);
  return text;
}
