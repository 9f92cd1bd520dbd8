/* SPDX-License-Identifier: MIT */
/*
 * This library's own memcpy(), strlen() and the like, by the names that <string.h> and the compiler know. Nobody
 * else sees them (libfxtrace.map). A program's own may be instrumented, or make calls that are recorded, and would lead
 * back to their caller, without end.
 *
 * Bytes go by words of eight; the compiler makes plain loads and stores of copies of a fixed size. What takes long on
 * x86-64 is left to the processor.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

#define WORD sizeof(uint64_t)
#define ONES 0x0101010101010101u
#define TOPS 0x8080808080808080u

/* From this many bytes on an instruction of the processor's own is faster. */
#define LONG 512u

/* In a loop: else the compiler makes a call of the function that it stands in. */
#define KEEP_LOOP(pointer) __asm__("" : "+r"(pointer))

static inline uint64_t bytes_get(const void *from)
{
	uint64_t word;

	__builtin_memcpy(&word, from, WORD);
	return word;
}

static inline void put(void *to, uint64_t word)
{
	__builtin_memcpy(to, &word, WORD);
}

/* --- Memory ------------------------------------------------------------------------------------ */

static inline void copy_long(unsigned char *to, const unsigned char *from, size_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
#else
	while (n >= WORD) {
		put(to, bytes_get(from));
		to += WORD;
		from += WORD;
		n -= WORD;
		KEEP_LOOP(to);
	}
	for (; n; n--) {
		*to++ = *from++;
		KEEP_LOOP(to);
	}
#endif
}

/* Less than a word: two halves that overlap, of four bytes or of two. */
static inline void copy_short(unsigned char *to, const unsigned char *from, size_t n)
{
	uint32_t first4, last4;
	uint16_t first2, last2;

	if (n >= sizeof(first4)) {
		__builtin_memcpy(&first4, from, sizeof(first4));
		__builtin_memcpy(&last4, from + n - sizeof(last4), sizeof(last4));
		__builtin_memcpy(to, &first4, sizeof(first4));
		__builtin_memcpy(to + n - sizeof(last4), &last4, sizeof(last4));
	} else if (n >= sizeof(first2)) {
		__builtin_memcpy(&first2, from, sizeof(first2));
		__builtin_memcpy(&last2, from + n - sizeof(last2), sizeof(last2));
		__builtin_memcpy(to, &first2, sizeof(first2));
		__builtin_memcpy(to + n - sizeof(last2), &last2, sizeof(last2));
	} else if (n) {
		*to = *from;
	}
}

void *memcpy(void *restrict ret, const void *restrict source, size_t n)
{
	unsigned char *to = ret;
	const unsigned char *from = source, *last = from + n - WORD;

	if (n >= LONG) {
		copy_long(to, from, n);
		return ret;
	}
	if (n < WORD) {
		copy_short(to, from, n);
		return ret;
	}
	put(to + n - WORD, bytes_get(last)); /* overlaps what the loop ends with */
	for (; from < last; from += WORD, to += WORD) {
		put(to, bytes_get(from));
		KEEP_LOOP(to);
	}
	return ret;
}

void *memmove(void *ret, const void *source, size_t n)
{
	unsigned char *to = ret;
	const unsigned char *from = source;

	if ((uintptr_t)to - (uintptr_t)from >= n) { /* what is read is not written before */
		copy_long(to, from, n);
		return ret;
	}
	while (n--) {
		to[n] = from[n];
		KEEP_LOOP(to);
	}
	return ret;
}

void *memset(void *ret, int value, size_t n)
{
	unsigned char *to = ret;
	uint64_t word = (unsigned char)value * ONES;

#if defined(__x86_64__)
	if (n >= LONG) {
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
		return ret;
	}
#endif
	for (; n >= WORD; n -= WORD, to += WORD) {
		put(to, word);
		KEEP_LOOP(to);
	}
	for (; n; n--) {
		*to++ = (unsigned char)value;
		KEEP_LOOP(to);
	}
	return ret;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n >= WORD && bytes_get(x) == bytes_get(y); n -= WORD) {
		x += WORD;
		y += WORD;
	}
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

/* What clang makes of a memcmp() that is asked for equality alone. */
int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

void *memchr(const void *bytes, int value, size_t n)
{
	for (const unsigned char *at = bytes; n; n--, at++)
		if (*at == (unsigned char)value)
			return (void *)at;
	return NULL;
}

/* --- Strings ----------------------------------------------------------------------------------- */

/* Not 0 if one of the bytes is; its lowest bit is then in the first of them. */
static inline uint64_t find_zero(uint64_t word)
{
	return (word - ONES) & ~word & TOPS;
}

/* Words that are read whole begin at multiples of their size: they lie in a page that the string has a byte in. */
size_t strnlen(const char *s, size_t most)
{
	const unsigned before = (uintptr_t)s % WORD; /* bytes in front of it in its first word */
	uint64_t word, zero;
	size_t n = 0 - (size_t)before;

	if (!most)
		return 0;
	word = bytes_get(s - before) | ((UINT64_C(1) << 8 * before) - 1);
	for (zero = find_zero(word); !zero; zero = find_zero(bytes_get(s + n))) {
		n += WORD;
		if (n >= most)
			return most;
	}
	n += (unsigned)__builtin_ctzll(zero) / 8;
	return n < most ? n : most;
}

size_t strlen(const char *s)
{
	return strnlen(s, PTRDIFF_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; n--) {
		a++;
		b++;
	}
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, PTRDIFF_MAX);
}

char *strchr(const char *s, int value)
{
	while (*s && *s != (char)value)
		s++;
	return *s == (char)value ? (char *)s : NULL;
}

char *strrchr(const char *s, int value)
{
	const char *found = NULL;

	for (; *s; s++)
		if (*s == (char)value)
			found = s;
	return (char *)(value ? found : s);
}

size_t strcspn(const char *s, const char *set)
{
	size_t n = 0;

	while (s[n] && !strchr(set, s[n]))
		n++;
	return n;
}

size_t strspn(const char *s, const char *set)
{
	size_t n = 0;

	while (s[n] && strchr(set, s[n]))
		n++;
	return n;
}

char *strstr(const char *s, const char *part)
{
	size_t n = strlen(part);

	for (; *s || !n; s++)
		if (strncmp(s, part, n) == 0)
			return (char *)s;
	return NULL;
}
