/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/compiler.h"
#include "compiler-plugin/insert.h"

#include <stddef.h>
#include <string.h>

#include <vector>

#include "compiler-plugin/sites.h"
#include "compiler-plugin/wanted.h"
#include <fxtrace/gate.h>

namespace
{

/* Of a function that has its code from the beginning; the blank keeps it from sources. Its arguments are size and flags. */
const char EARLY[] = "fxtrace early";

/* Which of the two calls: where its pointer stands in struct fxtrace_calls. */
enum call_kind : size_t {
	CALL_ENTER = offsetof(struct fxtrace_calls, enter),
	CALL_LEAVE = offsetof(struct fxtrace_calls, leave),
};

/* --- Its parts -------------------------------------------------------------------------------- */

/* The module's word. It is found by its name, since the front end's own list of variables is none of ours. */
tree gate_variable()
{
	tree gate = build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier("__fxtrace_gate"),
			       ptr_type_node);

	SET_DECL_ASSEMBLER_NAME(gate, get_identifier("__fxtrace_gate"));
	TREE_PUBLIC(gate) = 1;
	DECL_EXTERNAL(gate) = 1;
	TREE_USED(gate) = 1;
	TREE_ADDRESSABLE(gate) = 1;
	DECL_ARTIFICIAL(gate) = 1;
	DECL_IGNORED_P(gate) = 1;
	DECL_VISIBILITY(gate) = VISIBILITY_HIDDEN;
	DECL_VISIBILITY_SPECIFIED(gate) = 1;
	return gate;
}

tree call_type()
{
	return build_function_type_list(void_type_node, ptr_type_node, ptr_type_node, NULL_TREE);
}

tree call_pointer(tree calls, enum call_kind kind)
{
	return build2(MEM_REF, build_pointer_type(call_type()), calls,
		      build_int_cst(ptr_type_node, (HOST_WIDE_INT)kind));
}

/* The three statements behind the gate; `value` makes a place for what they hand on. */
void call_build(gimple_seq *seq, tree calls, enum call_kind kind, tree (*value)(tree type))
{
	tree pointer = value(build_pointer_type(call_type())), site = value(ptr_type_node);
	gcall *where =
	    gimple_build_call(builtin_decl_implicit(BUILT_IN_RETURN_ADDRESS), 1, integer_zero_node);
	gcall *call =
	    gimple_build_call(pointer, 2, build_fold_addr_expr(current_function_decl), site);

	gimple_call_set_lhs(where, site);
	gimple_call_set_fntype(call, call_type());
	gimple_call_set_nothrow(call, true);
	gimple_seq_add_stmt(seq, gimple_build_assign(pointer, call_pointer(calls, kind)));
	gimple_seq_add_stmt(seq, where);
	gimple_seq_add_stmt(seq, call);
}

/* --- Late: into a function's graph ------------------------------------------------------------ */

tree value_in_graph(tree type)
{
	return make_ssa_name(type);
}

/*
 * Before the statement at `at`:
 *
 *	calls = __fxtrace_gate;
 *	if (calls != NULL)		(never, as far as the compiler knows)
 *		call_build();
 */
void gate_insert(gimple_stmt_iterator *at, tree gate, enum call_kind kind)
{
	basic_block before = gsi_bb(*at), after, inside;
	tree calls = make_ssa_name(ptr_type_node);
	gassign *load = gimple_build_assign(calls, gate);
	gcond *test = gimple_build_cond(NE_EXPR, calls, null_pointer_node, NULL_TREE, NULL_TREE);
	gimple_seq seq = NULL;
	gimple_stmt_iterator end;
	edge skip, into;

	gsi_insert_before(at, load, GSI_SAME_STMT);
	gsi_insert_before(at, test, GSI_SAME_STMT);
	skip = split_block(before, test);
	after = skip->dest;
	inside = create_empty_bb(before);
	skip->flags = (skip->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
	into = make_edge(before, inside, EDGE_TRUE_VALUE);
	into->probability = profile_probability::very_unlikely();
	skip->probability = into->probability.invert();
	inside->count = into->count();
	make_single_succ_edge(inside, after, EDGE_FALLTHRU);
	if (current_loops && before->loop_father)
		add_bb_to_loop(inside, before->loop_father);
	call_build(&seq, calls, kind, value_in_graph);
	end = gsi_start_bb(inside);
	gsi_insert_seq_after(&end, seq, GSI_CONTINUE_LINKING);
}

void enter_insert(tree gate)
{
	edge first = single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun));
	basic_block block = split_edge(first);
	gimple_stmt_iterator at = gsi_start_bb(block);
	gimple *nothing = gimple_build_nop();

	/* Something to stand before. */
	gsi_insert_before(&at, nothing, GSI_NEW_STMT);
	gate_insert(&at, gate, CALL_ENTER);
	at = gsi_for_stmt(nothing);
	gsi_remove(&at, true);
}

void leave_insert(tree gate)
{
	std::vector<gimple *> returns;
	edge_iterator i;
	edge e;

	FOR_EACH_EDGE(e, i, EXIT_BLOCK_PTR_FOR_FN(cfun)->preds)
	{
		gimple *last = last_stmt(e->src);

		if (last && gimple_code(last) == GIMPLE_RETURN)
			returns.push_back(last);
	}
	for (gimple *last : returns) {
		gimple_stmt_iterator at = gsi_for_stmt(last);

		gate_insert(&at, gate, CALL_LEAVE);
	}
}

/*
 * The part of a C++ coroutine that goes on where it was left. Where it hands on to another coroutine, that is a jump in all
 * cases: such a chain may be of any length. The front end marks it as any tail call, and names the function so.
 */
bool is_coroutine(tree function)
{
	const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
	const char *suffix = strstr(name, ".actor");

	return suffix && (!suffix[6] || suffix[6] == '.');
}

/* Whether the caller jumps to it, whatever that hides. */
bool stays_jump(gcall *call, bool in_coroutine)
{
	return gimple_call_must_tail_p(call) || (in_coroutine && !gimple_call_fndecl(call));
}

/* A call whose caller still has to say that it leaves is none that the caller can jump to. One that must be a jump stays it:
 * its caller's exit is not seen, and found by libfxtrace as after longjmp. */
void tail_calls_unmark()
{
	const bool in_coroutine = is_coroutine(current_function_decl);
	basic_block block;

	FOR_EACH_BB_FN(block, cfun)
	{
		for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i)) {
			gcall *call = dyn_cast<gcall *>(gsi_stmt(i));

			if (call && !stays_jump(call, in_coroutine))
				gimple_call_set_tail(call, false);
		}
	}
}

bool is_call_of_others(gimple *statement)
{
	return is_gimple_call(statement) && !gimple_call_internal_p(statement) &&
	       !gimple_call_builtin_p(statement);
}

struct fx_body graph_look()
{
	struct fx_body body = {0, false, false};
	basic_block block;
	edge_iterator i;
	edge e;

	mark_dfs_back_edges();
	FOR_EACH_BB_FN(block, cfun)
	{
		for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
			body.size += (unsigned)estimate_num_insns(gsi_stmt(at), &eni_size_weights);
			body.has_call |= is_call_of_others(gsi_stmt(at));
		}
		FOR_EACH_EDGE(e, i, block->succs)
		body.has_loop |= (e->flags & EDGE_DFS_BACK) && !(e->flags & EDGE_ABNORMAL);
	}
	return body;
}

/* It chooses an implementation while the module is being linked: nothing can be called yet. */
bool is_resolver(tree function)
{
	struct cgraph_node *node = cgraph_node::get(function);
	struct ipa_ref *ref;

	for (unsigned i = 0; node && node->iterate_direct_aliases(i, ref); i++) {
		struct cgraph_node *alias = dyn_cast<cgraph_node *>(ref->referring);

		if (alias && alias->ifunc_resolver)
			return true;
	}
	return false;
}

uint32_t site_flags(const struct fx_body *body)
{
	return (body->has_loop ? FXTRACE_SITE_LOOP : 0) | (body->has_call ? FXTRACE_SITE_CALL : 0);
}

/* It stands nowhere but in its callers: there is no address to call it by. */
bool is_inline_alone(tree function)
{
	return DECL_EXTERNAL(function) && DECL_DECLARED_INLINE_P(function) &&
	       DECL_DISREGARD_INLINE_LIMITS(function);
}

/* --- Early: around a function's body ---------------------------------------------------------- */

tree value_in_body(tree type)
{
	return create_tmp_var(type, "fxtrace");
}

gimple_seq gate_sequence(tree gate, enum call_kind kind)
{
	tree calls = value_in_body(ptr_type_node);
	tree inside = create_artificial_label(UNKNOWN_LOCATION);
	tree after = create_artificial_label(UNKNOWN_LOCATION);
	gimple_seq seq = NULL;

	gimple_seq_add_stmt(&seq, gimple_build_assign(calls, gate));
	gimple_seq_add_stmt(&seq,
			    gimple_build_cond(NE_EXPR, calls, null_pointer_node, inside, after));
	gimple_seq_add_stmt(&seq, gimple_build_predict(PRED_COLD_LABEL, NOT_TAKEN));
	gimple_seq_add_stmt(&seq, gimple_build_label(inside));
	call_build(&seq, calls, kind, value_in_body);
	gimple_seq_add_stmt(&seq, gimple_build_label(after));
	return seq;
}

/* Statements that hold others (blocks, handlers) are nothing themselves. */
tree body_look_at(gimple_stmt_iterator *at, bool *handled, struct walk_stmt_info *walk)
{
	struct fx_body *body = (struct fx_body *)walk->info;
	gimple *statement = gsi_stmt(*at);

	*handled = false;
	switch (gimple_code(statement)) {
	case GIMPLE_ASSIGN:
	case GIMPLE_CALL:
	case GIMPLE_COND:
	case GIMPLE_SWITCH:
	case GIMPLE_ASM:
		body->size += (unsigned)estimate_num_insns(statement, &eni_size_weights);
		break;
	default:
		break;
	}
	body->has_call |= is_call_of_others(statement);
	return NULL_TREE;
}

struct fx_body body_look(gimple_seq seq)
{
	struct fx_body body = {0, false, false};
	struct walk_stmt_info walk = {};

	walk.info = &body;
	walk_gimple_seq(seq, body_look_at, NULL, &walk);
	return body;
}

/* { enter; try { BODY } finally { leave } } */
void body_enclose(tree function)
{
	tree gate = gate_variable();
	gimple_seq body = gate_sequence(gate, CALL_ENTER), whole = NULL;

	gimple_seq_add_stmt(&body,
			    gimple_build_try(gimple_body(function), gate_sequence(gate, CALL_LEAVE),
					     GIMPLE_TRY_FINALLY));
	gimple_seq_add_stmt(&whole, gimple_build_bind(NULL_TREE, body, NULL_TREE));
	gimple_set_body(function, whole);
}

void early_mark(tree function, unsigned size, uint32_t flags)
{
	tree arguments = tree_cons(NULL_TREE, build_int_cst(unsigned_type_node, size),
				   build_tree_list(NULL_TREE, build_int_cst(unsigned_type_node, flags)));

	DECL_ATTRIBUTES(function) =
	    tree_cons(get_identifier(EARLY), arguments, DECL_ATTRIBUTES(function));
}

unsigned early_size(tree mark)
{
	return (unsigned)TREE_INT_CST_LOW(TREE_VALUE(TREE_VALUE(mark)));
}

uint32_t early_flags(tree mark)
{
	return (uint32_t)TREE_INT_CST_LOW(TREE_VALUE(TREE_CHAIN(TREE_VALUE(mark))));
}

/* --- Passes ----------------------------------------------------------------------------------- */

const pass_data early_data = {
    GIMPLE_PASS, "fxtrace_early", OPTGROUP_NONE, TV_NONE, PROP_gimple_any, 0, 0, 0, 0};

class early_pass : public gimple_opt_pass
{
      public:
	early_pass() : gimple_opt_pass(early_data, g)
	{
	}

	bool gate(function *) final override
	{
		return fx_wanted_at_all(current_function_decl) &&
		       gimple_body(current_function_decl) && !is_resolver(current_function_decl) &&
		       !is_inline_alone(current_function_decl) &&
		       !is_coroutine(current_function_decl);
	}

	unsigned int execute(function *) final override
	{
		tree function = current_function_decl;
		struct fx_body body = body_look(gimple_body(function));

		if (!fx_wanted_body(function, &body))
			return 0;
		body_enclose(function);
		early_mark(function, body.size, site_flags(&body) | FXTRACE_SITE_EARLY);
		return 0;
	}
};

const pass_data late_data = {
    GIMPLE_PASS, "fxtrace", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0};

class late_pass : public gimple_opt_pass
{
      public:
	late_pass(bool is_early) : gimple_opt_pass(late_data, g), is_early(is_early)
	{
	}

	bool gate(function *) final override
	{
		return (is_early && !is_coroutine(current_function_decl)) ||
		       (fx_wanted_at_all(current_function_decl) &&
			!is_resolver(current_function_decl));
	}

	/* What has its code already is written down here, too: it is not inlined any more. The call that it has now may be the code's
	 * own. */
	unsigned int execute(function *) final override
	{
		tree function = current_function_decl;
		tree early = lookup_attribute(EARLY, DECL_ATTRIBUTES(function));
		struct fx_body body = graph_look();

		if (early) {
			fx_site_add(function, early_size(early),
				    early_flags(early) | (site_flags(&body) & FXTRACE_SITE_LOOP));
			return 0;
		}
		if ((is_early && !is_coroutine(function)) || !fx_wanted_body(function, &body))
			return 0;
		tail_calls_unmark();
		leave_insert(gate_variable());
		enter_insert(gate_variable());
		free_dominance_info(CDI_DOMINATORS);
		free_dominance_info(CDI_POST_DOMINATORS);
		mark_virtual_operands_for_renaming(cfun);
		fx_site_add(function, body.size, site_flags(&body));
		return TODO_update_ssa_only_virtuals;
	}

      private:
	bool is_early;
};

} // namespace

void fx_insert_promise()
{
	struct cgraph_node *node;

	FOR_EACH_DEFINED_FUNCTION(node)
	{
		tree mark = lookup_attribute(EARLY, DECL_ATTRIBUTES(node->decl));

		if (mark && !node->alias && !node->thunk)
			fx_site_promise(node->decl, early_size(mark), early_flags(mark));
	}
}

void fx_insert_register(const char *plugin, enum fx_when when)
{
	struct register_pass_info late = {new late_pass(when == FX_WHEN_EARLY), "optimized", 1,
					  PASS_POS_INSERT_BEFORE};
	struct register_pass_info early = {NULL, "*warn_unused_result", 1, PASS_POS_INSERT_BEFORE};

	register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &late);
	if (when == FX_WHEN_EARLY) {
		early.pass = new early_pass();
		register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &early);
	}
}
