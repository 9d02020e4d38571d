/* SPDX-License-Identifier: BSD-3-Clause */
/* How the command shows words, guesses the verb that was meant, and finds options among words. */
#include "captured.h"

#include "command/command.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Each byte at each place of a word: a shell reads the quoted word back unchanged. Words that a
 * shell would change are quoted. */
static void
a_shell_takes_words_back (void)
{
  static const char *const more[]
      = { "",     "-",        "~",       "~x",  "$HOME",  "$'a'",    "a b",    "*",
          "a\nb", "{a,b}",    "!x",      "#x",  "a#",     "\\",      "''",     "\"",
          "é",    "\xff\xfe", "\x1b[1m", "a=b", "=",      "[x]",     "`x`",    "x;y",
          "x&",   "x|y",      "x>y",     "(x)", "a'\x1b", "a\\\x1b", "'\xff'", "\\n\xff" };
  g_autoptr (GString) line = g_string_new ("printf '%s\\0'"), wanted = g_string_new (NULL);
  g_autofree char *shell = g_find_program_in_path ("bash");
  g_autoptr (GError) error = NULL;

  if (shell == NULL)
    {
      g_test_skip ("there is no bash");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (more) + 3 * 255; i++)
    {
      char words[3][4] = { "x", "ax", "ax" };
      guint k = i - G_N_ELEMENTS (more);
      const char *word = i < G_N_ELEMENTS (more) ? more[i] : words[k % 3];
      if (i >= G_N_ELEMENTS (more))
        words[k % 3][k % 3 == 0 ? 0 : 1] = (char)(1 + k / 3);
      if (i >= G_N_ELEMENTS (more) && k % 3 == 2)
        words[2][2] = 'b';
      g_autofree char *quoted = command_quote (word);
      g_assert_true (g_utf8_validate (quoted, -1, NULL));
      for (const char *p = quoted; *p != '\0'; p++)
        g_assert_false (g_ascii_iscntrl (*p)); /* a terminal might interpret it */
      g_string_append_printf (line, " %s", quoted);
      g_string_append_len (wanted, word, (gssize)strlen (word) + 1);
    }
  char *argv[] = { shell, (char *)"-c", line->str, NULL };
  gsize size = wanted->len;
  g_autoptr (GSubprocess) bash
      = g_subprocess_newv ((const char *const *)argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_assert_no_error (error);
  g_autoptr (GBytes) out = NULL;
  g_assert_true (g_subprocess_communicate (bash, NULL, NULL, &out, NULL, &error));
  g_assert_cmpmem (g_bytes_get_data (out, NULL), g_bytes_get_size (out), wanted->str, size);
}

/* What a terminal would obey or hide is shown by its bytes. */
static void
words_show_what_they_hold (void)
{
  static const char *const cases[][2]
      = { { "caf\u00e9", "'caf\u00e9'" },
          { "a\u202eb", "$'a\\342\\200\\256b'" }, /* turns what follows around */
          { "a\u200bb", "$'a\\342\\200\\213b'" }, /* has no width */
          { "a\nb", "$'a\\012b'" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *quoted = command_quote (cases[i][0]);
      g_assert_cmpstr (quoted, ==, cases[i][1]);
    }
}

/* Two wrong letters count as a misspelling, and the beginning of a name is enough. */
static void
the_nearest_is_meant (void)
{
  static const char *const names[] = { "status", "save", "suspend", "wait", NULL };
  static const struct
  {
    const char *word, *meant;
  } cases[] = { { "status", "status" }, { "stauts", "status" }, { "statu", "status" },
                { "st", "status" },     { "s", NULL },          { "sav", "save" },
                { "shave", "save" },    { "ssave", "save" },    { "slaves", "save" },
                { "slavers", NULL },    { "susp", "suspend" },  { "", NULL },
                { "wa", "wait" },       { "xx", NULL },         { "xxxx", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpstr (command_nearest (cases[i].word, names), ==, cases[i].meant);
}

/* Messages erase the live line, if there is one, and nothing else. */
static void
a_live_line_gives_way (void)
{
  Captured captured = captured_begin (STDERR_FILENO);

  command_show ("live 1", TRUE);
  command_show ("live 2", TRUE);
  command_say ("one");
  command_say ("two \xe2\x80\x9cthree\xe2\x80\x9d");
  command_show ("live 3", FALSE);
  command_show (NULL, FALSE);
  g_autofree char *text = captured_end (&captured);
  g_assert_cmpstr (text, ==,
                   "live 1\r\033[Klive 2\r\033[Ksatin: one\nsatin: two 'three'\nlive 3\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/command/words-show-what-they-hold", words_show_what_they_hold);
  g_test_add_func ("/command/a-shell-takes-words-back", a_shell_takes_words_back);
  g_test_add_func ("/command/the-nearest-is-meant", the_nearest_is_meant);
  g_test_add_func ("/command/a-live-line-gives-way", a_live_line_gives_way);
  return g_test_run ();
}
