# Script: lays the Python sources into a package folder, as links where the system has them.
# cmake -DSOURCE=<repository> -DPACKAGE=<.../sage_attention> -P SageStage.cmake

# Puts `from` at `to`: a link that follows later edits, or a copy on Windows.
function(place from to)
  if(CMAKE_HOST_WIN32)
    if(IS_DIRECTORY "${from}")
      file(COPY "${from}/" DESTINATION "${to}" PATTERN __pycache__ EXCLUDE)
    else()
      file(COPY_FILE "${from}" "${to}" ONLY_IF_DIFFERENT)
    endif()
  else()
    file(CREATE_LINK "${from}" "${to}" SYMBOLIC)
  endif()
endfunction()

file(MAKE_DIRECTORY "${PACKAGE}")
file(GLOB placed LIST_DIRECTORIES ON "${PACKAGE}/*")
foreach(entry IN LISTS placed)  # what the source no longer has
  if(IS_SYMLINK "${entry}" AND NOT EXISTS "${entry}")
    file(REMOVE "${entry}")
  endif()
endforeach()
file(GLOB entries LIST_DIRECTORIES ON "${SOURCE}/python/sage_attention/*")
foreach(entry IN LISTS entries)
  cmake_path(GET entry FILENAME name)
  if(NOT name STREQUAL "__pycache__")
    place("${entry}" "${PACKAGE}/${name}")
  endif()
endforeach()
place("${SOURCE}/datasets" "${PACKAGE}/datasets")
