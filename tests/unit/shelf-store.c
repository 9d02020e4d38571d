/* SPDX-License-Identifier: BSD-3-Clause */
/* The store itself: files and folders in memory, and how each kind of store answers requests. */
#include "shelf-private.h"

#include <string.h>

Shelf shelf;

void
shelf_item_free (gpointer data)
{
  ShelfItem *item = data;
  g_clear_pointer (&item->bytes, g_bytes_unref);
  g_free (item);
}

static ShelfItem *
item_at (const char *path)
{
  return g_hash_table_lookup (shelf.items, path);
}

static gboolean
is_file (const char *path)
{
  const ShelfItem *item = item_at (path);
  return item != NULL && item->bytes != NULL;
}

void
shelf_put_item (const char *path, GBytes *bytes)
{
  ShelfItem *item = g_new0 (ShelfItem, 1);
  item->bytes = bytes;
  item->version = ++shelf.versions;
  g_hash_table_replace (shelf.items, g_strdup (path), item);
}

static gboolean
has_parent (const char *path)
{
  g_autofree char *parent = g_path_get_dirname (path);
  const ShelfItem *item = item_at (parent);
  return item != NULL && item->bytes == NULL;
}

static gboolean
lies_in (const char *path, const char *folder)
{
  gsize length = strlen (folder);
  return strncmp (path, folder, length) == 0 && path[length] == '/';
}

static gboolean
is_empty (const char *folder)
{
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init (&iter, shelf.items);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    if (lies_in (path, folder))
      return FALSE;
  return TRUE;
}

static gboolean
make_folder (const char *path)
{
  if (shelf.makes_no_folders || item_at (path) != NULL || !has_parent (path))
    return FALSE;
  shelf_put_item (path, NULL);
  return TRUE;
}

static gboolean
move_file (const char *from, const char *to)
{
  if (!is_file (from) || !has_parent (to))
    return FALSE;
  shelf_put_item (to, g_bytes_ref (item_at (from)->bytes));
  return g_hash_table_remove (shelf.items, from);
}

/* (transfer full): the path that a URL names, without a slash at its end. */
static char *
path_of_url (const char *url)
{
  const char *host = strstr (url, "://") + 3, *path = strchr (host, '/');
  char *plain = g_uri_unescape_string (path != NULL ? path : "/", NULL);
  gsize length = strlen (plain);
  if (length > 1 && plain[length - 1] == '/')
    plain[length - 1] = '\0';
  return plain;
}

/* ---- sftp and ftp ---- */

/* (transfer full): the n-th word of a command. sftp quotes words; ftp has only one. */
static char *
word (const char *command, guint n, gboolean is_sftp)
{
  const char *at = strchr (command, ' ') + 1;
  if (!is_sftp)
    return g_strconcat ("/", at, NULL);
  for (at++; n > 0; n--)
    at = strchr (at, '"') + 3;
  return g_strndup (at, strcspn (at, "\""));
}

static gboolean
rename_file (const char *from, const char *to)
{
  return (shelf.renames_over || item_at (to) == NULL) && move_file (from, to);
}

static gboolean
run_command (const char *command, char **renamed)
{
  gboolean is_sftp = g_ascii_islower (command[0]);
  g_autofree char *path = word (command, 0, is_sftp);
  if (g_str_has_prefix (command, "rm ") || g_str_has_prefix (command, "DELE "))
    return is_file (path) && g_hash_table_remove (shelf.items, path);
  if (g_str_has_prefix (command, "mkdir ") || g_str_has_prefix (command, "MKD "))
    return make_folder (path);
  if (g_str_has_prefix (command, "rmdir ") || g_str_has_prefix (command, "RMD "))
    return item_at (path) != NULL && !is_file (path) && is_empty (path)
           && g_hash_table_remove (shelf.items, path);
  if (g_str_has_prefix (command, "RNFR "))
    {
      g_free (*renamed);
      *renamed = g_steal_pointer (&path);
      return is_file (*renamed);
    }
  if (g_str_has_prefix (command, "RNTO "))
    return *renamed != NULL && rename_file (*renamed, path);
  g_assert_true (g_str_has_prefix (command, "rename "));
  g_autofree char *to = word (command, 1, TRUE);
  return rename_file (path, to);
}

/* With `half` the connection ends in the middle of the commands. */
static CURLcode
run_commands (const ShelfHandle *handle, gboolean half)
{
  g_autofree char *renamed = NULL;
  guint n = 0;
  for (const struct curl_slist *at = handle->commands; at != NULL; at = at->next)
    n++;
  n = half ? n / 2 : n;
  for (const struct curl_slist *at = handle->commands; at != NULL && n > 0; at = at->next, n--)
    {
      gboolean may_fail = at->data[0] == '*';
      if (!run_command (at->data + may_fail, &renamed) && !may_fail)
        return CURLE_QUOTE_ERROR;
    }
  return half ? CURLE_RECV_ERROR : CURLE_OK;
}

/* ---- bytes ---- */

static gboolean
goes_on (ShelfHandle *handle, gsize received, gsize sent)
{
  return handle->progress (handle->progress_of, 0, (curl_off_t)received, 0, (curl_off_t)sent) == 0;
}

/* Before the next part of a file. FALSE: the client gives up. */
static gboolean
waits (ShelfHandle *handle, gsize received, gsize sent)
{
  void (*act) (void) = __atomic_load_n (&shelf.each_chunk, __ATOMIC_SEQ_CST);
  if (act != NULL)
    act ();
  return goes_on (handle, received, sent);
}

/* (transfer full): what the client sends. After a part the client has to send all again from the
 * beginning, as when a reused connection turns out to be closed. NULL: the data cannot be read,
 * or the client gives up. */
static GByteArray *
receive (ShelfHandle *handle)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  char chunk[SHELF_CHUNK];
  (void)handle->read (chunk, 1, sizeof chunk, handle->read_from);
  if (handle->seek (handle->seek_in, 0, SEEK_SET) != CURL_SEEKFUNC_OK)
    return NULL;
  for (;;)
    {
      if (!waits (handle, 0, bytes->len))
        return NULL;
      gsize n = handle->read (chunk, 1, sizeof chunk, handle->read_from);
      if (n == CURL_READFUNC_ABORT)
        return NULL;
      if (n == 0)
        break;
      g_byte_array_append (bytes, (guint8 *)chunk, (guint)n);
    }
  handle->sent = (curl_off_t)bytes->len;
  return g_steal_pointer (&bytes);
}

static CURLcode
deliver (ShelfHandle *handle, const guint8 *bytes, gsize size, gboolean half)
{
  gsize all = half ? size / 2 : size;
  for (gsize at = 0; at < all; at += SHELF_CHUNK)
    {
      gsize n = MIN (SHELF_CHUNK, all - at);
      if (!waits (handle, at, 0) || !goes_on (handle, at + 1, 0))
        return CURLE_ABORTED_BY_CALLBACK;
      if (handle->write ((char *)bytes + at, 1, n, handle->write_to) != n)
        return CURLE_WRITE_ERROR;
      if (at + n >= shelf.during_after)
        shelf_call_during ();
    }
  return half ? CURLE_PARTIAL_FILE : CURLE_OK;
}

/* FALSE if the range begins after the end. */
static gboolean
take_range (const char *range, gsize size, gsize *from, gsize *to)
{
  char *end = NULL;
  *from = 0;
  *to = size;
  if (range == NULL)
    return TRUE;
  *from = g_ascii_strtoull (range, &end, 10);
  if (end[1] != '\0')
    *to = MIN (size, g_ascii_strtoull (end + 1, NULL, 10) + 1);
  return *from < size;
}

/* (transfer full): a listing in the format of the store. */
static char *
listing (const char *folder, gboolean is_dav)
{
  GString *text = g_string_new (is_dav ? "<D:multistatus>" : "");
  g_autoptr (GList) paths = g_list_sort (g_hash_table_get_keys (shelf.items), (GCompareFunc)strcmp);
  for (GList *at = paths; at != NULL; at = at->next)
    {
      const char *path = at->data, *name = strrchr (path, '/') + 1;
      const ShelfItem *item = item_at (path);
      gsize size = item->bytes != NULL ? g_bytes_get_size (item->bytes) : 0;
      if (!lies_in (path, folder) || (gsize)(name - path) != strlen (folder) + 1)
        continue;
      if (is_dav)
        g_string_append_printf (text, "<D:href>%s</D:href><D:size>%zu-%u</D:size>", path, size,
                                item->version);
      else
        g_string_append_printf (text, "-rw-r--r-- 1 me me %zu v%u %s\n", size, item->version, name);
    }
  return g_string_free (text, FALSE);
}

static CURLcode
run_file_transfer (ShelfHandle *handle, gboolean half)
{
  g_autofree char *path = path_of_url (handle->url);
  gboolean is_sftp = g_str_has_prefix (handle->url, "sftp"), is_missing;
  gsize from, to;
  CURLcode code = run_commands (handle, half && handle->commands != NULL);
  if (code != CURLE_OK || handle->no_body != NULL)
    return code;
  if (handle->sends != NULL)
    {
      g_autoptr (GByteArray) bytes = receive (handle);
      if (bytes == NULL)
        return goes_on (handle, 0, 0) ? CURLE_READ_ERROR : CURLE_ABORTED_BY_CALLBACK;
      if (!has_parent (path))
        return is_sftp ? CURLE_REMOTE_FILE_NOT_FOUND : CURLE_UPLOAD_FAILED;
      if (half) /* a full disk is not always reported */
        g_byte_array_set_size (bytes, bytes->len / 2);
      shelf_put_item (path, g_byte_array_free_to_bytes (g_steal_pointer (&bytes)));
      return CURLE_OK;
    }
  if (g_str_has_suffix (handle->url, "/") && item_at (path) != NULL)
    {
      g_autofree char *text = listing (path, FALSE);
      return deliver (handle, (guint8 *)text, strlen (text), half);
    }
  is_missing = !is_file (path);
  handle->status = is_sftp ? 0 : is_missing ? 550 : 226;
  if (is_missing)
    return is_sftp ? CURLE_REMOTE_FILE_NOT_FOUND : CURLE_FTP_COULDNT_RETR_FILE;
  g_autoptr (GBytes) bytes = g_bytes_ref (item_at (path)->bytes);
  if (!take_range (handle->range, g_bytes_get_size (bytes), &from, &to))
    return CURLE_BAD_DOWNLOAD_RESUME;
  return deliver (handle, (const guint8 *)g_bytes_get_data (bytes, NULL) + from, to - from, half);
}

/* ---- http ---- */

static char *
etag_of (const char *path)
{
  return is_file (path) ? g_strdup_printf ("%s\"v%u\"", shelf.tags_are_weak ? "W/" : "",
                                           item_at (path)->version)
                        : g_strdup ("");
}

/* (transfer none) (nullable): the value of a header that the client sends. */
static const char *
header (const ShelfHandle *handle, const char *name)
{
  for (const struct curl_slist *at = handle->headers; at != NULL; at = at->next)
    if (g_str_has_prefix (at->data, name))
      return at->data + strlen (name);
  return NULL;
}

static void
tell_tag (const ShelfHandle *handle, const char *path)
{
  g_autofree char *etag = etag_of (path);
  /* Names of headers have no case; HTTP/2 writes them small. */
  g_autofree char *line
      = g_strdup_printf ("%s: %s\r\n", handle->signs != NULL ? "etag" : "ETag", etag);
  (void)handle->header ("HTTP/1.1 200 OK\r\n", 1, 17, handle->header_to);
  if (!shelf.knows_no_tags)
    (void)handle->header (line, 1, strlen (line), handle->header_to);
}

/* TRUE if the client's condition on `path` holds. */
static gboolean
is_expected (const ShelfHandle *handle, const char *path)
{
  const char *match = header (handle, "If-Match: "), *none = header (handle, "If-None-Match: ");
  const char *dav = header (handle, "If: "), *overwrite = header (handle, "Overwrite: ");
  g_autofree char *etag = etag_of (path);
  g_autofree char *list = g_strdup_printf ("([%s])", etag);
  return (shelf.knows_no_tags || match == NULL || strcmp (match, etag) == 0)
         && (shelf.knows_no_tags || none == NULL || !is_file (path))
         && (shelf.knows_no_tags || dav == NULL
             || (!shelf.tags_are_weak && g_str_has_suffix (dav, list)))
         && (overwrite == NULL || *overwrite == 'T' || !is_file (path));
}

/* TRUE: the digest that the client has signed is that of what it sent. */
static gboolean
is_signed (const ShelfHandle *handle, const GByteArray *bytes)
{
  const char *digest = header (handle, "x-amz-content-sha256: ");
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes->data, bytes->len);
  return handle->signs == NULL || g_strcmp0 (digest, sum) == 0;
}

static long
move_status (const ShelfHandle *handle, const char *path)
{
  g_autofree char *to = path_of_url (header (handle, "Destination: "));
  if (!is_file (path))
    return 404;
  if (!is_expected (handle, to))
    return 412;
  return move_file (path, to) ? 201 : 409;
}

static long
delete_status (const char *path)
{
  if (item_at (path) == NULL)
    return 404;
  GHashTableIter iter;
  gpointer other;
  g_hash_table_iter_init (&iter, shelf.items);
  while (g_hash_table_iter_next (&iter, &other, NULL))
    if (lies_in (other, path))
      g_hash_table_iter_remove (&iter);
  (void)g_hash_table_remove (shelf.items, path);
  return 204;
}

static CURLcode
receive_http (ShelfHandle *handle, const char *path, gboolean half)
{
  g_autoptr (GByteArray) bytes = receive (handle);
  if (bytes == NULL)
    return goes_on (handle, 0, 0) ? CURLE_READ_ERROR : CURLE_ABORTED_BY_CALLBACK;
  if (half)
    return CURLE_SEND_ERROR; /* the client announced more bytes */
  handle->status = !is_signed (handle, bytes)    ? 400
                   : !has_parent (path)          ? 409
                   : !is_expected (handle, path) ? 412
                                                 : 201;
  if (handle->status != 201)
    return CURLE_OK;
  shelf_put_item (path, g_byte_array_free_to_bytes (g_steal_pointer (&bytes)));
  if (handle->signs != NULL && !shelf.puts_tell_no_tags)
    tell_tag (handle, path);
  return CURLE_OK;
}

static CURLcode
run_http (ShelfHandle *handle, gboolean half)
{
  g_autofree char *path = path_of_url (handle->url);
  const char *method = handle->method != NULL  ? handle->method
                       : handle->sends != NULL ? "PUT"
                                               : "GET";
  gsize from, to;
  if (strcmp (method, "PUT") == 0)
    return receive_http (handle, path, half);
  if (strcmp (method, "DELETE") == 0)
    handle->status = delete_status (path);
  else if (strcmp (method, "MKCOL") == 0)
    handle->status = item_at (path) != NULL ? 405 : make_folder (path) ? 201 : 409;
  else if (strcmp (method, "MOVE") == 0)
    handle->status = move_status (handle, path);
  else if (strcmp (method, "PROPFIND") == 0)
    {
      g_autofree char *text = listing (path, TRUE);
      handle->status = item_at (path) != NULL ? 207 : 404;
      return deliver (handle, (guint8 *)text, handle->status == 207 ? strlen (text) : 0, half);
    }
  else if (!is_file (path))
    {
      handle->status = 404;
      return shelf_refuse (handle, half ? CURLE_RECV_ERROR : CURLE_OK);
    }
  else
    {
      g_autoptr (GBytes) bytes = g_bytes_ref (item_at (path)->bytes);
      gboolean has_any = take_range (handle->range, g_bytes_get_size (bytes), &from, &to);
      handle->status = !has_any && handle->range != NULL ? 416 : handle->range != NULL ? 206 : 200;
      tell_tag (handle, path);
      const guint8 *data = g_bytes_get_data (bytes, NULL);
      return deliver (handle, has_any ? data + from : data, has_any ? to - from : 0, half);
    }
  return half ? CURLE_RECV_ERROR : CURLE_OK;
}

/* ---- all kinds ---- */

CURLcode
shelf_refuse (ShelfHandle *handle, CURLcode code)
{
  static const char page[] = "not found";
  if (handle->status >= 400 && g_str_has_prefix (handle->url, "http"))
    (void)handle->write ((char *)page, 1, strlen (page), handle->write_to);
  return code;
}

CURLcode
shelf_run (ShelfHandle *handle, gboolean half)
{
  if (!goes_on (handle, 0, 0))
    return CURLE_ABORTED_BY_CALLBACK;
  return g_str_has_prefix (handle->url, "http") ? run_http (handle, half)
                                                : run_file_transfer (handle, half);
}
