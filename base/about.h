/* SPDX-License-Identifier: MIT */
/*
 * What is told of a process as it is attached: FX_ABOUTS(X(SYMBOL, "name")). In an archive these are arguments, texts all,
 * of the Kernel Object Record that names the process; what is not known has none.
 */
#ifndef FX_BASE_ABOUT_H
#define FX_BASE_ABOUT_H

/*
 * Arguments with blanks between them; the file that runs; its working directory; the number of its user; when it began, in
 * nanoseconds of CLOCK_BOOTTIME, as near as the kernel tells, which is a hundredth of a second; what stands now in the
 * place of its arguments, where servers say what they are; the id of its container, 64 hexadecimal digits; the uid of its
 * Kubernetes pod; and, as the container says them, its image, and the pod's name and namespace.
 */
#define FX_ABOUTS(X)                                                                               \
	X(COMMAND, "command")                                                                      \
	X(EXECUTABLE, "executable")                                                                \
	X(DIRECTORY, "directory")                                                                  \
	X(USER, "user")                                                                            \
	X(STARTED, "started")                                                                      \
	X(TITLE, "title")                                                                          \
	X(CONTAINER, "container")                                                                  \
	X(POD, "pod")                                                                              \
	X(IMAGE, "image")                                                                          \
	X(POD_NAME, "pod_name")                                                                    \
	X(POD_NAMESPACE, "pod_namespace")

#define FX_ENUM_ABOUT_(symbol, name) FX_ABOUT_##symbol,
enum fx_about { FX_ABOUTS(FX_ENUM_ABOUT_) FX_ABOUT_COUNT };
#undef FX_ENUM_ABOUT_

/* The most bytes of one of them in an archive. */
#define FX_ABOUT_MAX 4096u

static inline const char *fx_about_name(enum fx_about about)
{
#define FX_NAME_ABOUT_(symbol, name) name,
	static const char *const names[] = {FX_ABOUTS(FX_NAME_ABOUT_)};
#undef FX_NAME_ABOUT_

	return names[about];
}

#endif
