# Op groups and the package: one declaration owns a group's sources and its registration, so that
# a group is built and registered together, or not at all.
include_guard(GLOBAL)

# sage_op_group(NAME name OPS op... [CUDA_OPS op...] CPU file... CUDA file... KERNELS file...
#               [NEEDS group...])
#   OPS      ops for CPU and CUDA; CUDA_OPS: those for CUDA alone
#   CPU      sources of sage_ops_cpu: the schema and the CPU registration
#   CUDA     sources of sage_ops_cuda: the CUDA registration
#   KERNELS  CUDA kernels, also linked into the CUDA tests
# SAGE_GROUP_<NAME>=OFF leaves the group out.
function(sage_op_group)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "OPS;CUDA_OPS;CPU;CUDA;KERNELS;NEEDS")
  string(TOUPPER "${arg_NAME}" upper)
  option(SAGE_GROUP_${upper} "Op group ${arg_NAME}" ON)
  set(enabled ${SAGE_GROUP_${upper}})
  foreach(need IN LISTS arg_NEEDS)
    string(TOUPPER "${need}" need_upper)
    if(enabled AND NOT SAGE_GROUP_${need_upper})
      message(FATAL_ERROR "op group ${arg_NAME} needs ${need}: set SAGE_GROUP_${need_upper}=ON, or "
                          "SAGE_GROUP_${upper}=OFF")
    endif()
  endforeach()
  set(ops "")
  set(cuda_ops "")
  foreach(list ops cuda_ops)
    string(TOUPPER "${list}" keyword)
    if(arg_${keyword})
      list(JOIN arg_${keyword} "\", \"" ${list})
      set(${list} "\"${${list}}\"")
    endif()
  endforeach()
  if(enabled)
    set(json_enabled true)
    foreach(kind CPU CUDA KERNELS)
      set_property(GLOBAL APPEND PROPERTY SAGE_OPS_${kind} ${arg_${kind}})
    endforeach()
  else()
    set(json_enabled false)
  endif()
  set_property(GLOBAL APPEND PROPERTY SAGE_OPS_JSON
    "    \"${arg_NAME}\": {\"enabled\": ${json_enabled}, \"ops\": [${ops}], \"cuda_ops\": [${cuda_ops}]}")
endfunction()

# Puts the target's file into the staged package and the wheel: `folder` is sage_attention or below.
function(sage_package_binary target folder)
  sage_closed_library(${target})
  set(dir "${PROJECT_BINARY_DIR}/package/${folder}")
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "$<1:${dir}>" RUNTIME_OUTPUT_DIRECTORY "$<1:${dir}>")
  install(TARGETS ${target} LIBRARY DESTINATION "${folder}" RUNTIME DESTINATION "${folder}")
endfunction()

set(SAGE_PACKAGE_DIR "${PROJECT_BINARY_DIR}/package/sage_attention")

# Builds the op libraries from the groups declared so far, and writes op_groups.json.
function(sage_finish_ops)
  set(cuda_major null)
  if(SAGE_HAVE_CUDA)
    set(cuda_major "${CUDAToolkit_VERSION_MAJOR}")
    get_property(kernels GLOBAL PROPERTY SAGE_OPS_KERNELS)
    add_library(sage_kernels_cuda STATIC ${kernels})
    target_link_libraries(sage_kernels_cuda PUBLIC sage_flags)
  endif()
  if(SAGE_HAVE_OPS)
    get_property(sources GLOBAL PROPERTY SAGE_OPS_CPU)
    add_library(sage_ops_cpu SHARED ${sources})
    target_link_libraries(sage_ops_cpu PRIVATE sage_kernels sage::torch_stable)
    sage_package_binary(sage_ops_cpu sage_attention/lib)
  endif()
  if(SAGE_HAVE_OPS AND SAGE_HAVE_CUDA)
    get_property(sources GLOBAL PROPERTY SAGE_OPS_CUDA)
    add_library(sage_ops_cuda SHARED ${sources})
    set_target_properties(sage_ops_cuda PROPERTIES OUTPUT_NAME sage_ops_cuda${cuda_major})
    target_link_libraries(sage_ops_cuda PRIVATE
      sage_kernels_cuda sage_kernels sage::torch_stable ${CMAKE_DL_LIBS})
    target_include_directories(sage_ops_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    sage_package_binary(sage_ops_cuda sage_attention/lib)
  endif()

  set(built false)
  if(SAGE_HAVE_OPS)
    set(built true)
  endif()
  get_property(groups GLOBAL PROPERTY SAGE_OPS_JSON)
  list(JOIN groups ",\n" groups)
  file(CONFIGURE OUTPUT "${SAGE_PACKAGE_DIR}/op_groups.json"
    CONTENT "{\n  \"built\": @built@,\n  \"cuda\": @cuda_major@,\n  \"groups\": {\n@groups@\n  }\n}\n" @ONLY)
  install(FILES "${SAGE_PACKAGE_DIR}/op_groups.json" DESTINATION sage_attention)
endfunction()

# Target sage_package: all binaries, and the Python files beside them, laid anew in each build.
# PYTHONPATH=<build>/package is then enough to use the package.
function(sage_stage_package)
  add_custom_target(sage_package ALL
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DPACKAGE=${SAGE_PACKAGE_DIR}"
            -P "${PROJECT_SOURCE_DIR}/cmake/SageStage.cmake"
    COMMENT "Laying out the Python package" VERBATIM)
  foreach(target sage_ops_cpu sage_ops_cuda _core)
    if(TARGET ${target})
      add_dependencies(sage_package ${target})
    endif()
  endforeach()
endfunction()
