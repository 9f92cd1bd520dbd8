/* SPDX-License-Identifier: MIT */
#include "compiler-plugin/clang/llvm.h"

#include "compiler-plugin/clang/module.h"

#include <stddef.h>

#include <fxtrace/gate.h>

using namespace llvm;

namespace
{

const char GATE[] = "__fxtrace_gate";
const char CALLS[] = "__fxtrace_calls";

Type *byte_type(LLVMContext &context)
{
	return Type::getInt8Ty(context);
}

PointerType *pointer_type(LLVMContext &context)
{
	return PointerType::getUnqual(byte_type(context));
}

/* --- In functions ----------------------------------------------------------------------------- */

/*
 * One a module: all its files bring one, and the linker keeps the first. That no code of the file writes it makes it no
 * constant.
 */
GlobalVariable *gate_of(Module &module)
{
	PointerType *type = pointer_type(module.getContext());
	GlobalVariable *gate = module.getNamedGlobal(GATE);
	Constant *calls;

	if (gate)
		return gate;
	calls = module.getOrInsertGlobal(CALLS, byte_type(module.getContext()));
	cast<GlobalVariable>(calls)->setLinkage(GlobalValue::ExternalWeakLinkage);
	gate = new GlobalVariable(module, type, false, GlobalValue::WeakAnyLinkage, calls, GATE);
	gate->setComdat(module.getOrInsertComdat(GATE));
	gate->setVisibility(GlobalValue::HiddenVisibility);
	gate->setDSOLocal(true);
	gate->setExternallyInitialized(true);
	gate->setSection(".data.__fxtrace_gate");
	return gate;
}

/*
 * At the builder's place:
 *
 *	calls = __fxtrace_gate;
 *	if (calls)			(never, as far as the compiler knows)
 *		calls->KIND(function, __builtin_return_address(0));
 */
void call_insert(Function &function, Instruction *at, size_t kind)
{
	Module &module = *function.getParent();
	LLVMContext &context = module.getContext();
	PointerType *pointer = pointer_type(context);
	FunctionType *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
	const DISubprogram *debug = function.getSubprogram();
	DebugLoc line = at->getDebugLoc();
	IRBuilder<> builder(at);
	Value *calls, *call, *site;

	if (!line && debug)
		line = DILocation::get(context, debug->getScopeLine(), 0,
				       const_cast<DISubprogram *>(debug));
	builder.SetCurrentDebugLocation(line);
	calls = builder.CreateLoad(pointer, gate_of(module));
	builder.SetInsertPoint(
	    SplitBlockAndInsertIfThen(builder.CreateIsNotNull(calls), at, false,
				      MDBuilder(context).createBranchWeights(1, 1 << 20)));
	builder.SetCurrentDebugLocation(line);
	call = builder.CreateConstGEP1_64(byte_type(context), calls, kind);
	call = builder.CreateLoad(
	    type->getPointerTo(),
	    builder.CreateBitCast(call, PointerType::getUnqual(type->getPointerTo())));
	site = builder.CreateIntrinsic(Intrinsic::returnaddress, {}, {builder.getInt32(0)});
	builder.CreateCall(type, call, {builder.CreatePointerCast(&function, pointer), site})
	    ->setDoesNotThrow();
}

/* What is allocated for the whole of the call stays in the first block. */
Instruction *first_after_places(Function &function)
{
	BasicBlock::iterator at = function.getEntryBlock().begin();

	while (isa<AllocaInst>(*at) || isa<DbgInfoIntrinsic>(*at))
		++at;
	return &*at;
}

/* --- Beside them ------------------------------------------------------------------------------ */

/* What the linker is told to look at the text of, private and put together with its equals. */
GlobalVariable *text_add(Module &module, const std::string &text)
{
	Constant *value = ConstantDataArray::getString(module.getContext(), text);
	GlobalVariable *variable = new GlobalVariable(
	    module, value->getType(), true, GlobalValue::PrivateLinkage, value, "fxtrace_text");

	variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
	variable->setAlignment(Align(1));
	return variable;
}

/* How far `to` is from the field `number` of `holder`. */
Constant *distance(Constant *to, GlobalVariable *holder, unsigned number)
{
	LLVMContext &context = holder->getContext();
	Type *word = holder->getParent()->getDataLayout().getIntPtrType(context);
	Constant *indices[] = {ConstantInt::get(Type::getInt32Ty(context), 0),
			       ConstantInt::get(Type::getInt32Ty(context), number)};
	Constant *from =
	    ConstantExpr::getGetElementPtr(holder->getValueType(), (Constant *)holder, indices);

	return ConstantExpr::getTrunc(ConstantExpr::getSub(ConstantExpr::getPtrToInt(to, word),
							   ConstantExpr::getPtrToInt(from, word)),
				      Type::getInt32Ty(context));
}

/* In a section that a tool finds by its name, whatever else of the file is left out. */
GlobalVariable *holder_add(Module &module, StructType *type, const char *section)
{
	GlobalVariable *holder = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage,
						    NULL, "fxtrace_holder");

	holder->setSection(section);
	holder->setAlignment(Align(4));
	return holder;
}

} // namespace

void fx_module_insert(Function &function, bool with_exceptions)
{
	EscapeEnumerator escapes(function, "fxtrace_cleanup", with_exceptions);
	std::vector<Instruction *> exits;

	while (IRBuilder<> *at = escapes.Next())
		exits.push_back(&*at->GetInsertPoint());
	for (Instruction *at : exits)
		call_insert(function, at, offsetof(struct fxtrace_calls, leave));
	call_insert(function, first_after_places(function), offsetof(struct fxtrace_calls, enter));
}

GlobalValue *fx_module_add_site(Function &function, const std::string &file, unsigned line,
				unsigned size, uint32_t flags)
{
	Module &module = *function.getParent();
	LLVMContext &context = module.getContext();
	Type *word = Type::getInt32Ty(context);
	StructType *type = StructType::get(context, {word, word, word, word, word, word});
	GlobalVariable *site = holder_add(module, type, FXTRACE_SITES_SECTION);
	/* This file's own name for it: so the distance is known to the linker, also where another module's function of that name
	 * might stand in its place. */
	GlobalAlias *own = GlobalAlias::create(function.getValueType(), function.getAddressSpace(),
					       GlobalValue::PrivateLinkage, "fxtrace_function",
					       &function, &module);

	site->setInitializer(ConstantStruct::get(
	    type,
	    {distance(own, site, 0), distance(text_add(module, function.getName().str()), site, 1),
	     distance(text_add(module, file), site, 2), ConstantInt::get(word, line),
	     ConstantInt::get(word, size), ConstantInt::get(word, flags)}));
	site->setMetadata(LLVMContext::MD_associated,
			  MDNode::get(context, ValueAsMetadata::get(&function)));
	site->setComdat(function.getComdat());
	return site;
}

bool fx_module_write(Module &module, std::vector<GlobalValue *> sites)
{
	LLVMContext &context = module.getContext();
	Type *word = Type::getInt32Ty(context);
	Constant *owner = ConstantDataArray::getString(context, FXTRACE_NOTE_OWNER);
	StructType *type = StructType::get(context, {word, word, word, owner->getType(), word});
	GlobalVariable *gate = module.getNamedGlobal(GATE), *note;

	if (!gate)
		return false;
	note = holder_add(module, type, ".note.fxtrace");
	note->setInitializer(ConstantStruct::get(
	    type, {ConstantInt::get(word, sizeof(FXTRACE_NOTE_OWNER)), ConstantInt::get(word, 4),
		   ConstantInt::get(word, FXTRACE_NOTE_GATE), owner, distance(gate, note, 4)}));
	note->setComdat(gate->getComdat());
	sites.push_back(note);
	appendToCompilerUsed(module, sites);
	return true;
}
