/* SPDX-License-Identifier: MIT */
/* What an event says, in words. */
#ifndef FX_REPORT_SHOW_H
#define FX_REPORT_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "report/section.h"

enum { FX_SHOW_MAX = 640, FX_SHOW_NAME_MAX = 32, FX_SHOW_PATH_MAX = 4096 };

/* An argument that is a text; NULL: it has none of this name, or it is no text, or empty. */
const struct fxt_string *fx_event_string(const struct fx_event *event, const char *name);

/* The name of a call, as the number of a text: that of syscall() is the name of the system call. */
uint32_t fx_show_name(struct fx_report *report, const struct fx_event *event);

/* The same as a text: the event's own, or one in the scratch. */
struct fxt_string fx_show_name_of(const struct fx_event *event, char scratch[FX_SHOW_NAME_MAX]);

/* "open(path=/etc/passwd, flags=O_RDONLY) = -1 ENOENT", as UTF-8; what is long is cut, with an ellipsis. */
void fx_show_call(const struct fx_event *event, char text[FX_SHOW_MAX]);

/* The path that a call was given, with the folder that it is relative to where that is known, as the number of a text.
 * 0: it was given none, or there is no room for more (fx_report_intern_some()). */
uint32_t fx_show_path(struct fx_report *report, const struct fx_event *event);

/* The same as a text: the event's own, or one in `joined'; empty: it was given none. */
struct fxt_string fx_show_path_of(const struct fx_event *event, char joined[FX_SHOW_PATH_MAX]);

/* What a thread or process is called: its name, else its number. As UTF-8. */
void fx_show_thread(const struct fx_thread *thread, char text[FX_SHOW_MAX]);
void fx_show_process(const struct fx_process *process, char text[FX_SHOW_MAX]);

/* The same of a name, which may be NULL, of `what', which has this number. */
void fx_show_named(const struct fx_text *name, const char *what, uint64_t id,
		   char text[FX_SHOW_MAX]);

/* What a call is about: the first address among its arguments. */
struct fx_object {
	uint64_t address; /* 0: it has none */
	uint32_t what;	  /* the number of a text, such as "mutex" */
	uint32_t name;	  /* the same of its own name, such as "accounts+0x30"; 0: not known */
};

/* The same as arguments; NULL: there is none. The name is a text. */
struct fx_object_args {
	const struct fxt_arg *object, *name;
};

struct fx_object_args fx_show_object_args(const struct fx_event *event);

struct fx_object fx_show_object(struct fx_report *report, const struct fx_event *event);

/* "mutex accounts+0x30 (0x55e4b48960b0)", or "mutex 0x55e4b48960b0". */
void fx_show_object_text(const struct fx_report *report, const struct fx_object *object,
			 char text[FX_SHOW_MAX]);

/* A call stack, the number of a text of a line for each function, as a cell: on one line, the innermost first. */
void fx_show_stack(const struct fx_report *report, uint32_t stack, struct fx_table *table,
		   size_t column);

#endif
