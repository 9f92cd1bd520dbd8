/* SPDX-License-Identifier: MIT */
/* What a provider wishes, and what it gets. */
#include <criterion/criterion.h>

#include "manager/settings/terms.h"

#define MB (UINT64_C(1) << 20)

static struct fx_provider_terms terms_of(const struct fx_session_config *config, uint64_t size,
					 uint32_t mode)
{
	const struct fx_msg_wish wish = {.buffer_size = size, .mode = mode};

	return fx_terms_for(config, FX_CLOCK_BOOTTIME, (struct fx_anchor){1, 1}, "mine", &wish);
}

Test(terms, a_larger_buffer_up_to_a_limit)
{
	static const struct {
		uint64_t wish, given;
	} sizes[] = {
	    {0, 16 * MB},
	    {1, 16 * MB},
	    {16 * MB, 16 * MB},
	    {16 * MB + 1, 16 * MB + 4096},
	    {64 * MB, FX_BUFFER_WISH_MAX},
	    {64 * MB + 1, FX_BUFFER_WISH_MAX},
	    {UINT64_MAX, FX_BUFFER_WISH_MAX},
	};
	struct fx_session_config config = {.mode = FX_MODE_STREAMING, .buffer_size = 16 * MB};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		cr_expect_eq(terms_of(&config, sizes[i].wish, 0).buffer_size, sizes[i].given);
	config.buffer_size = 128 * MB;
	cr_expect_eq(terms_of(&config, UINT64_MAX, 0).buffer_size, 128 * MB);
}

Test(terms, the_users_size_for_this_provider_counts_more)
{
	struct fx_provider_size sizes[] = {{.name = "other", .size = MB},
					   {.name = "mine", .size = 2 * MB}};
	struct fx_session_config config = {
	    .mode = FX_MODE_STREAMING, .buffer_size = 16 * MB, .sizes = sizes, .size_count = 1};

	cr_expect_eq(terms_of(&config, 32 * MB, 0).buffer_size, 32 * MB);
	config.size_count = 2;
	cr_expect_eq(terms_of(&config, 32 * MB, 0).buffer_size, 2 * MB);
}

Test(terms, another_mode_where_the_session_streams_and_nobody_waits)
{
	struct fx_session_config config = {.buffer_size = 16 * MB};

	for (uint32_t mode = FX_MODE_ONESHOT; mode <= FX_MODE_STREAMING; mode++) {
		for (uint32_t wish = 0; wish <= 5; wish++) {
			bool is_mode = wish == FX_MODE_ONESHOT || wish == FX_MODE_CIRCULAR;

			config.mode = (enum fx_buffering_mode)mode;
			config.on_full = FX_ON_FULL_DROP;
			cr_expect_eq(terms_of(&config, 0, wish).mode,
				     mode == FX_MODE_STREAMING && is_mode ? wish : mode);
			config.on_full = FX_ON_FULL_BLOCK;
			cr_expect_eq(terms_of(&config, 0, wish).mode, mode);
		}
	}
}
