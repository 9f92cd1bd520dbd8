/* SPDX-License-Identifier: MIT */
/*
 * dlopen looks at its return address: whose RPATH or RUNPATH counts, and what $ORIGIN means, depends on
 * the module that calls it. So a wrapper may call the real function only where that makes no difference:
 * the path has a slash and no `$', or there is no path at all, or no module has a search path of its own.
 * Otherwise the wrapper jumps to the real function, which then sees its true caller, and an instant is
 * recorded instead of a slice.
 */
#include "preload/types.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/boot/patch.h"
#include "preload/boot/words.h"
#include "preload/call/call.h"
#include "preload/host/modules.h"
#include "preload/host/real.h"

/* Where a wrapper jumps to, instead of calling; NULL: it calls. Called by the assembly below. */
void *fx_dlopen_jump(const char *path, int mode) __attribute__((used, visibility("hidden")));
void *fx_dlmopen_jump(Lmid_t space, const char *path, int mode)
    __attribute__((used, visibility("hidden")));
void *fx_dlopen_call(const char *path, int mode) __attribute__((used, visibility("hidden")));
void *fx_dlmopen_call(Lmid_t space, const char *path, int mode)
    __attribute__((used, visibility("hidden")));

/* Whether a module says where what it loads is to be looked for. */
static bool has_search_path(const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RPATH || d->d_tag == DT_RUNPATH ||
		    (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NODEFLIB))
			return true;
	}
	return false;
}

static int find_search_path(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return has_search_path(
			    (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	return 0;
}

static bool caller_matters(const char *path)
{
	if (!path || !path[0])
		return false;
	if (strchr(path, '$'))
		return true;
	return !strchr(path, '/') && dl_iterate_phdr(find_search_path, NULL) != 0;
}

/* An instant of the name and with the arguments that the slice would have. */
static void note_jump(unsigned name, const char *path, int mode)
{
	enum { WORDS = 2 + FX_WORDS_text + FX_WORDS_dl_mode };
	struct fx_thread *t = fx_thread_on(FX_CAT_DL);
	struct fx_call call = {.thread = t};
	uint64_t header = FX_EVENT_HEADER(FX_EVENT_INSTANT, 2, 0, FX_STR_dl, name);

	if (t)
		call.record = fx_record_reserve(t, WORDS, &call.reservation);
	if (!call.record)
		return;
	call.record[1] = fx_thread_now(t);
	call.next = call.record + 2;
	fx_arg_readable_text(&call, FX_STR_path, path);
	fx_arg_dl_mode(&call, FX_STR_mode, (unsigned)mode);
	fx_record_shrink(t, call.next, &call.reservation);
	fx_record_commit(t, call.record,
			 fx_header_with(header, (uint64_t)(call.next - call.record), call.nargs),
			 &call.reservation);
}

static bool dl_is_of_interest(void)
{
	return fx_category_on(FX_CAT_DL) || fx_patch_is_wanted() || fx_words_are_changed();
}

static void dl_loaded(void)
{
	fx_patch_loaded();
	fx_words_loaded();
}

void *fx_dlopen_jump(const char *path, int mode)
{
	if (dl_is_of_interest()) {
		if (!caller_matters(path))
			return NULL;
		note_jump(FX_STR_dlopen, path, mode);
	}
	return (void *)FX_REAL(dlopen);
}

void *fx_dlmopen_jump(Lmid_t space, const char *path, int mode)
{
	(void)space;
	if (dl_is_of_interest()) {
		if (!caller_matters(path))
			return NULL;
		note_jump(FX_STR_dlmopen, path, mode);
	}
	return (void *)FX_REAL(dlmopen);
}

/* The shape of the generated wrappers. */
static bool call_begin(struct fx_call *call, uint64_t header)
{
	return fx_call_try(call, FX_CAT_DL, header, FX_WRAPPER_SP(), 0);
}

static void call_end(struct fx_call *call, uint64_t header, const char *path, int mode,
		     const void *handle)
{
	enum {
		WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_text + FX_WORDS_dl_mode,
	};

	if (!fx_call_end(call, WORDS, 0))
		return;
	fx_arg_readable_text(call, FX_STR_path, path);
	fx_arg_dl_mode(call, FX_STR_mode, (unsigned)mode);
	fx_result_object(call, handle);
	fx_call_write(call, header);
}

void *fx_dlopen_call(const char *path, int mode)
{
	struct fx_call call;
	bool on = call_begin(&call, FX_CALL_HEADER(dl, dlopen));
	void *handle = FX_REAL(dlopen)(path, mode);

	if (handle)
		dl_loaded();
	if (on)
		call_end(&call, FX_CALL_HEADER(dl, dlopen), path, mode, handle);
	return handle;
}

void *fx_dlmopen_call(Lmid_t space, const char *path, int mode)
{
	struct fx_call call;
	bool on = call_begin(&call, FX_CALL_HEADER(dl, dlmopen));
	void *handle = FX_REAL(dlmopen)(space, path, mode);

	if (handle)
		dl_loaded();
	if (on)
		call_end(&call, FX_CALL_HEADER(dl, dlmopen), path, mode, handle);
	return handle;
}

/* The arguments are kept over the question; then both ways are jumps. */
#if defined(__x86_64__)
#define FX_DL_WRAPPER(name)                                                                        \
	__asm__(".text\n"                                                                          \
		".globl " name "\n"                                                                \
		".type " name ", @function\n" name ":\n"                                           \
		".cfi_startproc\n"                                                                 \
		"	endbr64\n"                                                                       \
		"	pushq %rdi\n"                                                                    \
		"	pushq %rsi\n"                                                                    \
		"	pushq %rdx\n"                                                                    \
		".cfi_adjust_cfa_offset 24\n"                                                      \
		"	call fx_" name "_jump\n"                                                   \
		"	popq %rdx\n"                                                                     \
		"	popq %rsi\n"                                                                     \
		"	popq %rdi\n"                                                                     \
		".cfi_adjust_cfa_offset -24\n"                                                     \
		"	testq %rax, %rax\n"                                                              \
		"	jz fx_" name "_call\n"                                                     \
		"	jmpq *%rax\n"                                                                    \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")
#elif defined(__aarch64__)
#define FX_DL_WRAPPER(name)                                                                        \
	__asm__(".text\n"                                                                          \
		".globl " name "\n"                                                                \
		".type " name ", %function\n" name ":\n"                                           \
		".cfi_startproc\n"                                                                 \
		"	hint #34\n" /* bti c */                                                    \
		"	stp x0, x1, [sp, #-32]!\n"                                                       \
		"	stp x2, x30, [sp, #16]\n"                                                        \
		".cfi_adjust_cfa_offset 32\n"                                                      \
		".cfi_rel_offset x30, 24\n"                                                        \
		"	bl fx_" name "_jump\n"                                                     \
		"	mov x16, x0\n"                                                                   \
		"	ldp x2, x30, [sp, #16]\n"                                                        \
		"	ldp x0, x1, [sp], #32\n"                                                         \
		".cfi_adjust_cfa_offset -32\n"                                                     \
		".cfi_restore x30\n"                                                               \
		"	cbz x16, 1f\n"                                                                   \
		"	br x16\n"                                                                        \
		"1:	b fx_" name "_call\n"                                                      \
		".cfi_endproc\n"                                                                   \
		".size " name ", .-" name "\n")
#else
#error "dlopen has no wrapper for this machine"
#endif

FX_DL_WRAPPER("dlopen");
FX_DL_WRAPPER("dlmopen");

static int fx_call_dlclose(void *handle)
{
	int ret = FX_REAL(dlclose)(handle);

	if (ret == 0)
		fx_modules_forget();
	return ret;
}

#include "preload/unit-dl.inc"
