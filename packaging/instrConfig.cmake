# find_package(instr) gives the target instr::instr: the folder of <instr/instr.h>. A plain build gets calls that compile to
# nothing; the library that records them is built and linked by instr-cc alone, so there is nothing to link here.
get_filename_component(_instr_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET instr::instr)
  add_library(instr::instr INTERFACE IMPORTED)
  set_target_properties(instr::instr PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_instr_prefix}/include")
endif()
unset(_instr_prefix)
