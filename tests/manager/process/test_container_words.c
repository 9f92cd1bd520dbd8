/* SPDX-License-Identifier: MIT */
/* What containers say of their images and pods. */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/container-words.h"

static struct fx_container_words words;

static void expect_words(const char *image, const char *name, const char *space)
{
	cr_expect_str_eq(words.image, image);
	cr_expect_str_eq(words.pod_name, name);
	cr_expect_str_eq(words.pod_namespace, space);
	memset(&words, 0, sizeof(words));
}

Test(container_words, variables)
{
	fx_container_words_variable("POD_NAME=web-0", &words);
	fx_container_words_variable("POD_NAMESPACE=shop", &words);
	fx_container_words_variable("CONTAINER_IMAGE=registry.example:5000/web@sha256:0123",
				    &words);
	expect_words("registry.example:5000/web@sha256:0123", "web-0", "shop");
}

Test(container_words, others_are_none)
{
	fx_container_words_variable("POD_NAME", &words);
	fx_container_words_variable("POD_NAME=", &words);
	fx_container_words_variable("POD_NAMES=web", &words);
	fx_container_words_variable("MY_POD_NAME=web", &words);
	fx_container_words_variable("", &words);
	fx_container_words_variable("OTEL_RESOURCE_ATTRIBUTES=", &words);
	fx_container_words_variable("OTEL_RESOURCE_ATTRIBUTES=,,k8s.pod.names=a,k8s.pod.name",
				    &words);
	expect_words("", "", "");
}

Test(container_words, attributes)
{
	fx_container_words_variable("OTEL_RESOURCE_ATTRIBUTES=service.name=x,k8s.pod.name=web-0,"
				    "k8s.namespace.name=shop,container.image.name=a%2Fweb%3a%zz",
				    &words);
	expect_words("a/web:%zz", "web-0", "shop");
	fx_container_words_variable("OTEL_RESOURCE_ATTRIBUTES=container.image.tags=1.2, "
				    "container.image.name=web",
				    &words);
	expect_words("web:1.2", "", "");
	fx_container_words_variable(
	    "OTEL_RESOURCE_ATTRIBUTES=container.image.tag=1.2,k8s.pod.name=a%00b%", &words);
	expect_words("", "", "");
	fx_container_words_variable("OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=a%", &words);
	expect_words("", "a%", "");
}

/* The first that says it, as in an environment. */
Test(container_words, first_counts)
{
	fx_container_words_variable("OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=one,k8s.pod.name=two",
				    &words);
	fx_container_words_variable("POD_NAME=three", &words);
	fx_container_words_variable("POD_NAMESPACE=shop", &words);
	expect_words("", "one", "shop");
}

Test(container_words, too_long)
{
	char variable[1000] = "OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=";
	size_t begin = strlen(variable);

	memset(variable + begin, 'n', FX_CONTAINER_WORD_MAX + 1);
	fx_container_words_variable(variable, &words);
	fx_container_words_variable(strstr(variable, "pod.name"), &words);
	expect_words("", "", "");
	variable[begin + FX_CONTAINER_WORD_MAX] = '\0';
	fx_container_words_variable(variable, &words);
	expect_words("", variable + begin, "");
	snprintf(variable, sizeof(variable), "CONTAINER_IMAGE=%0*d", FX_CONTAINER_WORD_MAX + 1, 1);
	fx_container_words_variable(variable, &words);
	expect_words("", "", "");
}

Test(container_words, lines)
{
	fx_container_words_line("name=\"web\"", &words);
	fx_container_words_line("imageid=\"0123\"", &words);
	fx_container_words_line("image=", &words);
	fx_container_words_line("image=\"", &words);
	fx_container_words_line("image=\"\"", &words);
	fx_container_words_line("image=web", &words);
	expect_words("", "", "");
	fx_container_words_line("image=\"localhost/web:latest\"", &words);
	expect_words("localhost/web:latest", "", "");
}

/* --- The file of a process's own root ---------------------------------------------------------- */

static char root[] = "/tmp/fxtrace-test.XXXXXX", run[64], file[96];

static void root_make(void)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	cr_assert(mkdtemp(root));
	snprintf(run, sizeof(run), "%s/run", root);
	snprintf(file, sizeof(file), "%s/.containerenv", run);
	cr_assert_eq(mkdir(run, 0755), 0);
}

static void root_remove(void)
{
	unlink(file);
	rmdir(run);
	rmdir(root);
}

/* FUSE that never answers, at this place. */
static bool inside_mount(const char *place, const char *mode)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=%s,user_id=0,group_id=0,allow_other", fd,
		 mode);
	return fd >= 0 && mount("silent", place, "fuse", 0, options) == 0;
}

/* Its root is a mount, as those of containers are. */
static bool inside_enter(const char *place, const char *mode)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(root, root, NULL, MS_BIND, NULL) == 0 &&
	       (!place || inside_mount(place, mode)) && chroot(root) == 0;
}

/* A process with this root; 0: it is not permitted. It ends after a time, and FUSE with it. */
static pid_t inside_start(const char *place, const char *mode)
{
	int ready[2];
	char is = 0;
	pid_t child;

	cr_assert_eq(pipe(ready), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		is = inside_enter(place, mode);
		if (write(ready[1], &is, 1) != 1)
			_exit(1);
		sleep(is ? 60 : 0);
		_exit(0);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &is, 1), 1);
	close(ready[0]);
	if (!is)
		waitpid(child, NULL, 0);
	return is ? child : 0;
}

/* Whether it was still there. */
static bool inside_end(pid_t child)
{
	bool was = waitpid(child, NULL, WNOHANG) == 0;

	if (was) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return was;
}

/* Reads, and says whether the file was opened by that. */
static bool root_is_opened(pid_t child)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char events[4096];
	ssize_t n;

	cr_assert_geq(inotify_add_watch(watch, file, IN_OPEN), 0);
	fx_container_words_read(child, &words);
	n = read(watch, events, sizeof(events));
	close(watch);
	return n > 0;
}

static void root_expect(const char *image, bool opened)
{
	pid_t child = inside_start(NULL, NULL);

	if (!child)
		root_remove();
	else {
		cr_expect_eq(root_is_opened(child), opened);
		cr_expect(inside_end(child));
		root_remove();
		expect_words(image, "", "");
	}
}

static void root_write(size_t more)
{
	FILE *to = fopen(file, "we");

	cr_assert(to);
	fprintf(to, "engine=\"podman\"\nimage=\"shop/web:1\"\n%*s", (int)more, "");
	fclose(to);
}

Test(container_words, file_is_read)
{
	root_make();
	root_write(0);
	root_expect("shop/web:1", true);
	root_make();
	root_write(4096);
	root_expect("", false);
}

/* What is opened may do something: a watchdog starts. */
Test(container_words, no_device_is_opened)
{
	static const mode_t kinds[] = {S_IFIFO, S_IFCHR};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		root_make();
		if (mknod(file, kinds[i] | 0644, makedev(1, 3)) == 0)
			root_expect("", false);
		else
			root_remove();
	}
}

static void expect_no_wait(const char *place, const char *mode)
{
	pid_t child;

	root_make();
	root_write(0);
	child = inside_start(place, mode);
	if (child) {
		fx_container_words_read(child, &words);
		cr_expect(inside_end(child), "it has waited for %s", place);
		expect_words("", "", "");
	}
	root_remove();
}

/* A file system that never answers is not asked. */
Test(container_words, nothing_is_waited_for)
{
	expect_no_wait(run, "40000");
	expect_no_wait(file, "100000");
}
