/* SPDX-License-Identifier: MIT */
/*
 * clang -fpass-plugin=.../fxtrace-clang.so: gives functions the code that include/fxtrace/gate.h describes, as GCC's plugin does.
 *
 *	when=late	what is left after inlining; what an exception leaves has no exit of its own
 *	when=early	what the source has; exits by exceptions are seen. What is inlined later brings its code along
 *
 * Sites are written once all is inlined, in both. Options are LLVM's, -mllvm -fxtrace-KEY=VALUE; fxtrace-config says so.
 */
#include "compiler-plugin/clang/llvm.h"

#include "compiler-plugin/choice.h"
#include "compiler-plugin/clang/module.h"
#include "compiler-plugin/listing.h"
#include <fxtrace/gate.h>

using namespace llvm;

namespace
{

/* Of a function that has its code since before inlining: size and flags, with a blank between. */
const char EARLY[] = "fxtrace-early";

/* Of a coroutine; its parts inherit it. */
const char COROUTINE[] = "fxtrace-coroutine";

/* --- Options ---------------------------------------------------------------------------------- */

bool is_early;

/* One of the plugins' arguments; a wrong value ends the compiler with a line. */
struct argument_parser : public cl::parser<std::string> {
	argument_parser(cl::Option &option) : cl::parser<std::string>(option)
	{
	}

	bool parse(cl::Option &option, StringRef name, StringRef text, std::string &value)
	{
		const char *wrong = NULL;

		value = text.str();
		name.consume_front("fxtrace-");
		if (name == "when") {
			if (text != "late" && text != "early")
				wrong = "not late or early";
			is_early = text == "early";
		} else if (name == "list") {
			if (!fx_list_open(value.c_str()))
				wrong = "this file cannot be written";
		} else {
			fx_choice_argument(name.str().c_str(), value.c_str(), &wrong);
		}
		if (!wrong && is_early && fx_choice_needs_loop())
			wrong = "when=early: need=loop is not known before a function is analysed";
		return wrong && option.error("'" + text + "': " + wrong);
	}
};

typedef cl::opt<std::string, false, argument_parser> argument;
argument functions("fxtrace-functions", cl::desc("globs, or @FILE"));
argument no_functions("fxtrace-no-functions", cl::desc("globs, or @FILE"));
argument files("fxtrace-files", cl::desc("globs, or @FILE"));
argument no_files("fxtrace-no-files", cl::desc("globs, or @FILE"));
argument min_size("fxtrace-min-size", cl::desc("instructions"));
argument need("fxtrace-need", cl::desc("loop|call"));
argument when("fxtrace-when", cl::desc("late|early: after inlining, or before"));
argument list("fxtrace-list", cl::desc("adds the functions' names to a file"));

/* --- What is known of a function --------------------------------------------------------------- */

/* What the module says of its functions, gathered once. */
struct marks {
	SmallPtrSet<const Value *, 16> always,
	    never; /* __attribute__((annotate("fxtrace_always"))) and its like */
	SmallPtrSet<const Value *, 4>
	    resolvers; /* these choose implementations while the module is being linked: nothing can be called yet */
};

void annotation_take(struct marks *marks, const ConstantStruct *entry)
{
	const auto *words = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
	const auto *string =
	    words ? dyn_cast<ConstantDataSequential>(words->getInitializer()) : NULL;
	StringRef text = string && string->isCString() ? string->getAsCString() : "";

	if (text == "fxtrace_always")
		marks->always.insert(entry->getOperand(0)->stripPointerCasts());
	else if (text == "fxtrace_never")
		marks->never.insert(entry->getOperand(0)->stripPointerCasts());
}

struct marks marks_of(const Module &module)
{
	const GlobalVariable *all = module.getNamedGlobal("llvm.global.annotations");
	const ConstantArray *array = all ? dyn_cast<ConstantArray>(all->getInitializer()) : NULL;
	struct marks marks;

	for (unsigned i = 0; array && i < array->getNumOperands(); i++)
		annotation_take(&marks, cast<ConstantStruct>(array->getOperand(i)));
	for (const GlobalIFunc &chosen : module.ifuncs())
		marks.resolvers.insert(chosen.getResolver()->stripPointerCasts());
	return marks;
}

/* Without debug information a function's file is taken for the one that is compiled, and its line is not known. */
std::string file_of(const Function &function)
{
	const DISubprogram *debug = function.getSubprogram();

	return debug ? debug->getFilename().str() : function.getParent()->getSourceFileName();
}

unsigned line_of(const Function &function)
{
	const DISubprogram *debug = function.getSubprogram();

	return debug ? debug->getLine() : 0;
}

/* By the name in the source, with and without its scopes, as traces show it, and by the linker's name. */
struct fx_named named_of(const Function &function)
{
	std::string assembler = function.getName().str();
	ItaniumPartialDemangler parts;
	struct fx_named named;

	named.names.push_back(assembler);
	if (!parts.partialDemangle(assembler.c_str())) {
		size_t size = 0;
		char *text = parts.getFunctionBaseName(NULL, &size);

		if (text)
			named.names.push_back(text);
		free(text);
		text = parts.getFunctionName(NULL, &size);
		if (text)
			named.names.push_back(text);
		free(text);
		named.names.push_back(fx_choice_demangled(assembler.c_str()));
	}
	named.file = file_of(function);
	return named;
}

/* Made by the compiler for itself: what runs constructors and has no line of its own. */
bool is_artificial(const Function &function)
{
	StringRef name = function.getName();

	return name.startswith("_GLOBAL__") || name.startswith("__cxx_global_") ||
	       name.startswith("__clang_") || name.startswith("__tls_init");
}

bool is_wanted_at_all(const struct marks &marks, const Function &function)
{
	struct fx_named named;

	if (function.isDeclaration() || function.hasFnAttribute(Attribute::Naked) ||
	    marks.resolvers.count(&function) || marks.never.count(&function))
		return false;
	/* Its code is another file's; or nobody's, and then it has no address. */
	if (function.hasAvailableExternallyLinkage() &&
	    (!is_early || function.hasFnAttribute(Attribute::AlwaysInline)))
		return false;
	if (marks.always.count(&function))
		return true;
	if (is_artificial(function))
		return false;
	if (!fx_choice_has_lists())
		return true;
	named = named_of(function);
	return fx_choice_named(&named);
}

struct fx_body body_of(Function &function)
{
	struct fx_body body = {0, false, false};
	SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> back;

	for (const Instruction &instruction : instructions(function)) {
		const auto *call = dyn_cast<CallBase>(&instruction);

		if (isa<DbgInfoIntrinsic>(instruction))
			continue;
		body.size++;
		body.has_call |= call && !isa<IntrinsicInst>(call) && !call->isInlineAsm();
	}
	FindFunctionBackedges(function, back);
	body.has_loop = !back.empty();
	return body;
}

uint32_t flags_of(const struct fx_body &body)
{
	return (body.has_loop ? FXTRACE_SITE_LOOP : 0) | (body.has_call ? FXTRACE_SITE_CALL : 0);
}

/* --- Passes ----------------------------------------------------------------------------------- */

bool is_body_wanted(const struct marks &marks, const Function &function, const struct fx_body *body)
{
	return marks.always.count(&function) || fx_choice_body(body);
}

/* A coroutine is cut into parts later. Each gets its code then, in both ways. */
bool is_whole_coroutine(const Function &function)
{
	return function.hasFnAttribute("coroutine.presplit") ||
	       function.hasFnAttribute("presplitcoroutine");
}

/* What would go wrong, and why. NULL: nothing. */
const char *obstacle(const Module &module)
{
	for (const Function &function : module) {
		if (function.hasFnAttribute("split-stack"))
			return "-fsplit-stack: calls are told apart by their place on one stack";
		if ((function.isDeclaration() &&
		     function.getName() == "__cyg_profile_func_enter") ||
		    function.hasFnAttribute("instrument-function-entry") ||
		    function.hasFnAttribute("instrument-function-entry-inlined"))
			return "-finstrument-functions: each call would be recorded twice";
	}
	return NULL;
}

struct early_pass : PassInfoMixin<early_pass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		const struct marks marks = marks_of(module);
		const char *why = obstacle(module);
		bool changed = false;

		if (why) {
			module.getContext().emitError(
			    Twine("the plugin fxtrace does not go together with ") + why);
			return PreservedAnalyses::all();
		}
		for (Function &function : module) {
			struct fx_body body;

			if (is_whole_coroutine(function)) {
				function.addFnAttr(COROUTINE);
				continue;
			}
			if (!is_early || !is_wanted_at_all(marks, function))
				continue;
			body = body_of(function);
			if (!is_body_wanted(marks, function, &body))
				continue;
			fx_module_insert(function, true);
			function.addFnAttr(EARLY,
					   std::to_string(body.size) + " " +
					       std::to_string(flags_of(body) | FXTRACE_SITE_EARLY));
			changed = true;
		}
		return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
	}

	static bool isRequired()
	{
		return true;
	}
};

/* Of -O0 too. */
struct late_pass : PassInfoMixin<late_pass> {
	std::vector<GlobalValue *> sites;

	void site_add(Function &function, unsigned size, uint32_t flags)
	{
		std::string file = file_of(function);
		unsigned line = line_of(function);

		sites.push_back(fx_module_add_site(function, file, line, size, flags));
		fx_list_add(function.getName().str(), file, line);
	}

	/* Early code is written down now that it is not inlined any more. */
	void function_take(const struct marks &marks, Function &function)
	{
		struct fx_body body;
		unsigned size;
		uint32_t flags;

		if (function.hasFnAttribute(EARLY)) {
			sscanf(function.getFnAttribute(EARLY).getValueAsString().str().c_str(),
			       "%u %u", &size, &flags);
			site_add(function, size, flags);
			return;
		}
		if ((is_early && !function.hasFnAttribute(COROUTINE)) ||
		    !is_wanted_at_all(marks, function))
			return;
		body = body_of(function);
		if (!is_body_wanted(marks, function, &body))
			return;
		fx_module_insert(function, false);
		site_add(function, body.size, flags_of(body));
	}

	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		const struct marks marks = marks_of(module);

		for (Function &function : module) {
			if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage())
				function_take(marks, function);
		}
		/* What was inlined has its code, too, without a site. */
		return fx_module_write(module, sites) ? PreservedAnalyses::none()
						      : PreservedAnalyses::all();
	}

	static bool isRequired()
	{
		return true;
	}
};

void passes_register(PassBuilder &builder)
{
	builder.registerPipelineStartEPCallback(
	    [](ModulePassManager &passes, auto) { passes.addPass(early_pass()); });
	builder.registerOptimizerLastEPCallback(
	    [](ModulePassManager &passes, auto...) { passes.addPass(late_pass()); });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "fxtrace", FX_VERSION, passes_register};
}
