# Compiler and linker flags of every own target: the interface library sage_flags.
# Nothing here trades NaN and infinity for speed (no -ffast-math, no /fp:fast).
include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_CUDA_SEPARABLE_COMPILATION OFF)
set(CMAKE_SKIP_RPATH ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The C runtime of PyTorch's Windows wheels: memory is allocated on one side and freed on the other.
set(CMAKE_MSVC_RUNTIME_LIBRARY "MultiThreaded$<$<CONFIG:Debug>:Debug>DLL")

find_program(SAGE_CCACHE ccache)
if(SAGE_CCACHE)
  foreach(lang CXX CUDA)
    if(NOT DEFINED CMAKE_${lang}_COMPILER_LAUNCHER)
      set(CMAKE_${lang}_COMPILER_LAUNCHER "${SAGE_CCACHE}")
    endif()
  endforeach()
endif()

set(THREADS_PREFER_PTHREAD_FLAG OFF)  # nvcc does not know -pthread
find_package(Threads REQUIRED)

string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" sage_processor)
if(sage_processor MATCHES "^(x86_64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(SAGE_X86_64 ON)
else()
  set(SAGE_X86_64 OFF)
endif()

add_library(sage_flags INTERFACE)
target_include_directories(sage_flags INTERFACE "${PROJECT_SOURCE_DIR}")
if(WIN32)
  target_compile_definitions(sage_flags INTERFACE
    NOMINMAX WIN32_LEAN_AND_MEAN _USE_MATH_DEFINES _CRT_SECURE_NO_WARNINGS
    _DISABLE_CONSTEXPR_MUTEX_CONSTRUCTOR)
endif()
if(MSVC)
  target_compile_options(sage_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:/W4;/permissive-;/Zc:__cplusplus;/Zc:preprocessor;/Zc:inline;/bigobj;/utf-8;/EHsc>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=/Zc:preprocessor;-Xcompiler=/Zc:__cplusplus;-Xcompiler=/bigobj;-Xcompiler=/utf-8;-Xcompiler=/permissive-;-Xcompiler=/EHsc>")
else()
  target_compile_options(sage_flags INTERFACE
    # Designated initialisers leave members to their defaults on purpose.
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-missing-field-initializers>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O3>")
  if(SAGE_X86_64)
    target_compile_options(sage_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>")
  endif()
  if(NOT APPLE)
    target_link_options(sage_flags INTERFACE LINKER:--as-needed)
  endif()
endif()
target_compile_options(sage_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Wno-deprecated-gpu-targets;-lineinfo>")

if(SAGE_SANITIZE)
  target_compile_options(sage_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SAGE_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  target_link_options(sage_flags INTERFACE -fsanitize=${SAGE_SANITIZE})
endif()

# A shared library or module of the package: every symbol resolved at link time, as Windows asks,
# and none exported but Python's entry point.
function(sage_closed_library target)
  if(UNIX AND NOT APPLE)
    set(map "${PROJECT_SOURCE_DIR}/cmake/exports.map")
    get_target_property(type ${target} TYPE)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    if(type STREQUAL SHARED_LIBRARY AND NOT SAGE_SANITIZE)
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
  endif()
endfunction()
