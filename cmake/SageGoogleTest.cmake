# GoogleTest: the system's, else fetched; and one function that declares a test binary.
include_guard(GLOBAL)

find_package(GTest QUIET)
if(GTest_FOUND)
  message(STATUS "sage: GoogleTest from ${GTest_DIR}")
else()
  message(STATUS "sage: GoogleTest is not installed, fetching it")
  include(FetchContent)
  FetchContent_Declare(googletest
    GIT_REPOSITORY https://github.com/google/googletest.git
    GIT_TAG v1.15.2
    GIT_SHALLOW ON)
  set(gtest_force_shared_crt ON CACHE INTERNAL "")
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  FetchContent_MakeAvailable(googletest)
endif()
include(GoogleTest)

# sage_test(name SOURCES file... [LIBRARIES target...]): a binary in <build>/tests, whose tests
# ctest lists one by one.
function(sage_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} sage_kernels GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT 600)
endfunction()
