# sage_isa_sources: CPU kernels compiled once for each instruction set, chosen at run time.
include_guard(GLOBAL)

# sage_isa_sources(TARGET file...) compiles each file for the baseline (x86-64-v2), AVX2 with FMA
# (x86-64-v3) and AVX-512 (x86-64-v4), and adds the objects to TARGET. A file sees
#   SAGE_ISA         baseline, avx2 or avx512: the namespace that all of its code lives in
#   SAGE_ISA_LEVEL   0, 1 or 2
# and everything in TARGET sees SAGE_ISA_LEVELS, how many variants there are (1 or 3).
# What such a file leaves outside of its namespace must not be a weak symbol of our own: the linker
# keeps one copy of those, and that may be the AVX-512 one. A test looks into the objects.
function(sage_isa_sources target)
  set(names baseline)
  if(SAGE_X86_64)
    list(APPEND names avx2 avx512)
  endif()
  if(MSVC)
    set(flags_common /openmp:experimental)
    set(flags_avx2 /arch:AVX2)
    set(flags_avx512 /arch:AVX512)
  else()
    set(flags_common -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp-simd)
    set(flags_avx2 -march=x86-64-v3)
    set(flags_avx512 -march=x86-64-v4)
  endif()
  list(LENGTH names levels)
  target_compile_definitions(${target} PRIVATE SAGE_ISA_LEVELS=${levels})
  set(level 0)
  foreach(name IN LISTS names)
    set(objects ${target}_${name})
    add_library(${objects} OBJECT ${ARGN})
    target_link_libraries(${objects} PRIVATE sage_flags)
    target_compile_definitions(${objects} PRIVATE
      SAGE_ISA=${name} SAGE_ISA_LEVEL=${level} SAGE_ISA_LEVELS=${levels})
    target_compile_options(${objects} PRIVATE ${flags_common} ${flags_${name}})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    math(EXPR level "${level} + 1")
  endforeach()
endfunction()
