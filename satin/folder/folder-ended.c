/* SPDX-License-Identifier: BSD-3-Clause */
/* See folder-ended.h. The files are hard links, so they keep their times. A record is made in a
 * draft, a folder beside it, and renamed, since several processes may record one run at the same
 * time. Tests: status.sh. */
#include "folder-ended.h"
#include "folder-run.h"

#include "host/process.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* `end` comes last: a folder without it is no record. */
static const char *const kept[] = { FOLDER_RUN_FILE, FOLDER_FILE_ERROR, FOLDER_FILE_ANSWER_CODE,
                                    FOLDER_FILE_ANSWER, FOLDER_FILE_END };

static char *
root (void)
{
  return g_build_filename (g_get_user_state_dir (), "satin", "ended", NULL);
}

static char *
place_of (const char *name)
{
  g_autofree char *above = root ();

  return g_build_filename (above, name, NULL);
}

/* Removes the files in the folder, and the folder. */
static void
remove_record (const char *place)
{
  g_autoptr (GDir) dir = g_dir_open (place, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (place, name, NULL);
      (void)g_unlink (file);
    }
  (void)g_rmdir (place);
}

gint64
folder_ended_us (const char *path)
{
  g_autofree char *end = g_build_filename (path, FOLDER_FILE_END, NULL);
  GStatBuf info;

  if (g_stat (end, &info) != 0)
    return 0;
  return (gint64)info.st_mtim.tv_sec * G_USEC_PER_SEC + info.st_mtim.tv_nsec / 1000;
}

#define DRAFT ".draft-"
#define PUT_TRIES 5
/* For drafts of processes whose state cannot be known here, in seconds. */
#define DRAFT_KEEP_S 60

/* The name of a draft contains its maker's mark. */
static gboolean
is_dead_draft (const char *name, const char *place)
{
  ProcessMark maker;
  GStatBuf info;

  if (!g_str_has_prefix (name, DRAFT))
    return FALSE;
  if (process_read_mark (name + strlen (DRAFT), &maker) > 0)
    switch (process_state (&maker))
      {
      case PROCESS_ALIVE:
        return FALSE;
      case PROCESS_DEAD:
        return TRUE;
      case PROCESS_ELSEWHERE:
        break;
      }
  return g_stat (place, &info) == 0
         && g_get_real_time () / G_USEC_PER_SEC - info.st_mtime > DRAFT_KEEP_S;
}

static gboolean
is_old (const char *place)
{
  return g_get_real_time () - folder_ended_us (place) > (gint64)FOLDER_KEEP_S * G_USEC_PER_SEC;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *
folder_ended_list (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *above = root ();
  g_autoptr (GDir) dir = g_dir_open (above, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *place = place_of (name);

      if (is_dead_draft (name, place))
        remove_record (place);
      if (!folder_name_is_valid (name))
        continue;
      if (is_old (place))
        remove_record (place);
      else
        g_ptr_array_add (names, g_strdup (name));
    }
  g_ptr_array_sort (names, compare_names);
  return names;
}

char *
folder_ended_find (const char *name)
{
  g_autofree char *place = folder_name_is_valid (name) ? place_of (name) : NULL;

  return place != NULL && folder_ended_us (place) != 0 && !is_old (place) ? g_steal_pointer (&place)
                                                                          : NULL;
}

void
folder_ended_forget (const char *name)
{
  g_autofree char *place = place_of (name);

  remove_record (place);
}

/* Of the answer only its existence is kept: it was shown. */
static gboolean
keep (const char *path, const char *place, const char *file)
{
  g_autofree char *from = g_build_filename (path, file, NULL);
  g_autofree char *to = g_build_filename (place, file, NULL);

  if (strcmp (file, FOLDER_FILE_ANSWER) == 0)
    return folder_size (path, file) < 0 || folder_claim (place, file);
  return link (from, to) == 0 || folder_size (path, file) < 0;
}

/* TRUE: both have the same file `end`, so another process has recorded this run. */
static gboolean
is_same_end (const char *path, const char *place)
{
  g_autofree char *one = g_build_filename (path, FOLDER_FILE_END, NULL);
  g_autofree char *other = g_build_filename (place, FOLDER_FILE_END, NULL);
  GStatBuf a, b;

  return g_stat (one, &a) == 0 && g_stat (other, &b) == 0 && a.st_ino == b.st_ino
         && a.st_dev == b.st_dev;
}

/* FALSE: the record is incomplete. */
static gboolean
write_draft (const char *path, const char *draft)
{
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    if (!keep (path, draft, kept[i]))
      return FALSE;
  return folder_ended_us (draft) != 0;
}

/* Replaces the record of an earlier run. FALSE: another process has recorded this run, or it
 * failed. */
static gboolean
put (const char *draft, const char *place)
{
  for (int i = 0; i < PUT_TRIES; i++)
    {
      if (g_rename (draft, place) == 0)
        return TRUE;
      if (is_same_end (draft, place))
        return FALSE;
      remove_record (place);
    }
  return FALSE;
}

void
folder_ended_record (const char *path)
{
  g_autofree char *name = g_path_get_basename (path), *above = root (), *place = place_of (name);
  g_autofree char *runs = folder_root (), *parent = g_path_get_dirname (path), *draft = NULL;

  if (folder_ended_us (path) == 0 || strcmp (runs, parent) != 0)
    return;
  g_ptr_array_unref (folder_ended_list ()); /* removes old records */
  g_autofree char *mark = process_mark (getpid ());
  g_autofree char *pattern = g_strconcat (DRAFT, mark, "-XXXXXX", NULL);
  draft = g_build_filename (above, pattern, NULL);
  if (g_mkdir_with_parents (above, 0700) != 0 || g_mkdtemp (draft) == NULL)
    return;
  if (!write_draft (path, draft) || !put (draft, place))
    remove_record (draft);
}
