/* SPDX-License-Identifier: MIT */
/* What containers say of their images and pods. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

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
