// The one place of the op libraries that asks the operating system: a symbol of a library that the
// process has already loaded.
#pragma once

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace sage::ops {

// Address of `symbol` in torch_cuda, or null where that library is not loaded or has no such name.
// Never loads anything.
inline void* torch_cuda_symbol(const char* symbol) {
#ifdef _WIN32
  const HMODULE library = GetModuleHandleW(L"torch_cuda.dll");
  return library == nullptr ? nullptr : reinterpret_cast<void*>(GetProcAddress(library, symbol));
#else
  void* const library = dlopen("libtorch_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
  return library == nullptr ? nullptr : dlsym(library, symbol);
#endif
}

}  // namespace sage::ops
