/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/screen.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "report/units.h"

static SCREEN *screen;

bool fx_screen_open(void)
{
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return false;
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	return true;
}

void fx_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

/* A line that is cut at the right edge; the last column of the last line stays free. */
static void screen_line(int y, const char *text)
{
	if (y < LINES)
		mvaddnstr(y, 0, text, COLS > 1 ? COLS - 1 : COLS);
	clrtoeol();
}

static void screen_row(const struct fx_live_row *row, char *text, size_t size)
{
	char calls[FX_UNIT_TEXT_MAX], wait[FX_UNIT_TEXT_MAX], bytes[FX_UNIT_TEXT_MAX];
	char locks[FX_UNIT_TEXT_MAX], heap[FX_UNIT_TEXT_MAX] = "", name[FX_ESCAPE_WIDTH * 64 + 1];
	size_t length = strlen(row->name);

	fx_unit_number(FX_UNIT_COUNT, (int64_t)(row->rates[FX_LIVE_CALLS] + 0.5), calls);
	fx_unit_number(FX_UNIT_NS, (int64_t)row->rates[FX_LIVE_WAITING], wait);
	fx_unit_number(FX_UNIT_BYTES, (int64_t)row->rates[FX_LIVE_BYTES], bytes);
	fx_unit_number(FX_UNIT_COUNT, (int64_t)(row->rates[FX_LIVE_LOCKS] + 0.5), locks);
	if (!row->key.tid)
		fx_unit_number(FX_UNIT_BYTES, row->heap, heap);
	name[fx_escape(name, sizeof(name) - 1, row->name, length, FX_ESCAPE_CONTROLS)] = '\0';
	snprintf(text, size, "%8llu %s%-20.20s %11s %10s %10s %9s %10s",
		 (unsigned long long)(row->key.tid ? row->key.tid : row->key.pid),
		 row->key.tid ? " " : "", name, calls, wait, bytes, locks, heap);
}

void fx_screen_draw(struct fx_live *live, const struct fx_screen_view *view)
{
	static const char *const orders[] = {
#define FX_SCREEN_ORDER_(name, text, unit) text,
	    FX_LIVE_COUNTS(FX_SCREEN_ORDER_)
#undef FX_SCREEN_ORDER_
		"heap",
	    "id"};
	struct fx_live_row *row = NULL, *next;
	char text[512];
	int y = 0;

	fx_live_sort(live, view->order);
	erase();
	snprintf(text, sizeof(text), "%s: by %s", view->title, orders[view->order]);
	screen_line(y++, text);
	screen_line(y++, "c calls  w waiting  b bytes  l locks  h heap  p id  t threads  q quit");
	attron(A_REVERSE);
	snprintf(text, sizeof(text), "%8s %-20s %11s %10s %10s %9s %10s", "ID", "NAME", "CALLS/s",
		 "WAITING/s", "BYTES/s", "LOCKS/s", "HEAP");
	screen_line(y++, text);
	attroff(A_REVERSE);
	HASH_ITER (hh, live->rows, row, next) {
		if (y >= LINES)
			break;
		if (row->key.tid && !view->threads)
			continue;
		screen_row(row, text, sizeof(text));
		screen_line(y++, text);
	}
	refresh();
}

bool fx_screen_keys(struct fx_screen_view *view)
{
	static const char keys[] = "cwblhp"; /* in the order of enum fx_live_count, and behind */
	int key;

	while ((key = getch()) != ERR) {
		const char *at = key > 0 && key < 0x80 ? strchr(keys, key) : NULL;

		if (key == 'q' || key == 'Q' || key == 3)
			return false;
		if (key == 't')
			view->threads = !view->threads;
		else if (at)
			view->order = (int)(at - keys);
	}
	return true;
}
