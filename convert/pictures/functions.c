/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/pictures/functions.h"

/* A function while paths are walked. */
struct function_state {
	uint32_t edge;	/* the call that its outermost open one is in */
	uint32_t depth; /* how many of it are open */
};

struct function_walk {
	struct fx_functions *functions;
	const struct fx_path *list;
	const uint64_t *totals;
	enum fx_measure weight;
	FX_VECTOR(struct function_state) states;
	FX_VECTOR(uint32_t) open; /* paths */
	FX_VECTOR(uint32_t) open_functions;
};

/* A function below the root, or a call below a function. */
static uint32_t function_find(struct function_walk *walk, uint32_t parent,
			      const struct fx_path *path)
{
	struct fx_functions *functions = walk->functions;
	uint32_t id = fx_paths_child(&functions->paths, parent, path->name, path->category);

	if (id == FX_PATH_NONE)
		return id;
	while (functions->costs.count <= id) {
		if (fx_vector_reserve(&functions->costs, 1) < 0 ||
		    fx_vector_reserve(&functions->calls, 1) < 0 ||
		    fx_vector_reserve(&walk->states, 1) < 0)
			return FX_PATH_NONE;
		functions->costs.items[functions->costs.count++] = 0;
		functions->calls.items[functions->calls.count++] = 0;
		walk->states.items[walk->states.count++] = (struct function_state){0};
	}
	return id;
}

static int function_count_call(struct function_walk *walk, uint32_t path)
{
	uint32_t caller = walk->open_functions.items[walk->open_functions.count - 1];
	struct function_state *state;
	uint32_t edge = function_find(walk, caller, &walk->list[path]);

	if (edge == FX_PATH_NONE)
		return -ENOMEM;
	state = &walk->states.items[caller];
	walk->functions->calls.items[edge] += walk->list[path].self[FX_MEASURE_CALLS];
	if (state->depth == 1) {
		walk->functions->costs.items[edge] += walk->totals[path];
		state->edge = edge;
	}
	return 0;
}

static int function_enter(struct function_walk *walk, uint32_t path)
{
	uint64_t self = walk->list[path].self[walk->weight];
	uint32_t function = function_find(walk, 0, &walk->list[path]);
	struct function_state *state;

	if (function == FX_PATH_NONE || fx_vector_reserve(&walk->open, 1) < 0 ||
	    fx_vector_reserve(&walk->open_functions, 1) < 0)
		return -ENOMEM;
	if (walk->open.count > 0 && function_count_call(walk, path) < 0)
		return -ENOMEM;
	state = &walk->states.items[function];
	walk->functions->costs.items[function] += self;
	walk->functions->calls.items[function] += walk->list[path].self[FX_MEASURE_CALLS];
	if (state->depth > 0)
		walk->functions->costs.items[state->edge] -= self;
	state->depth++;
	walk->open.items[walk->open.count++] = path;
	walk->open_functions.items[walk->open_functions.count++] = function;
	return 0;
}

static void function_leave_to(struct function_walk *walk, uint32_t path)
{
	while (walk->open.count > 0 && walk->open.items[walk->open.count - 1] != path) {
		walk->open.count--;
		walk->states.items[walk->open_functions.items[--walk->open_functions.count]]
		    .depth--;
	}
}

int fx_functions_make(const struct fx_picture *picture, const uint64_t *totals,
		      struct fx_functions *ret)
{
	struct function_walk walk = {
	    .functions = ret,
	    .list = picture->paths.list.items,
	    .totals = totals,
	    .weight = picture->options.weight,
	};
	uint32_t path = 0;
	int r;

	*ret = (struct fx_functions){0};
	r = fx_paths_init(&ret->paths, UINT32_MAX, 0);
	while (r == 0 && (path = fx_paths_next(&picture->paths, path)) != FX_PATH_NONE) {
		if (totals[path] == 0)
			continue;
		function_leave_to(&walk, walk.list[path].parent);
		r = function_enter(&walk, path);
	}
	fx_vector_free(&walk.states);
	fx_vector_free(&walk.open);
	fx_vector_free(&walk.open_functions);
	return r;
}

uint32_t fx_functions_callee(struct fx_functions *functions, uint32_t edge)
{
	const struct fx_path *path = &functions->paths.list.items[edge];

	return fx_paths_child(&functions->paths, 0, path->name, path->category);
}

void fx_functions_destroy(struct fx_functions *functions)
{
	fx_paths_destroy(&functions->paths);
	fx_vector_free(&functions->costs);
	fx_vector_free(&functions->calls);
}
