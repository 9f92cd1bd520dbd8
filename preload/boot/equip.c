/* SPDX-License-Identifier: MIT */
#include "preload/boot/equip.h"

#include "engine/provider/engine.h"
#include "engine/provider/function.h"
#include "preload/call/heap.h"
#include "preload/hooks/choices.h"
#include "preload/hooks/recipes.h"
#include "preload/host/modules.h"
#include "preload/strings.h"

void fx_equip(void)
{
	fx_function_set_category(FX_STR_function);
	fx_function_seen = fx_modules_see;
	fx_function_key = fx_recipes_key;
	fx_thread_adopts = fx_choices_look;
	fx_thread_began = fx_heap_thread_began;
}
