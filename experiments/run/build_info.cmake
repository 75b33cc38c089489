# Writes build_info.h with the commit that is being built; run at every build, rewritten only when it changes.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE FAILED)
if(FAILED OR HASH STREQUAL "")
  set(HASH "unknown")
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE CHANGES ERROR_QUIET)
  if(NOT CHANGES STREQUAL "")
    set(HASH "${HASH}-changed")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
#pragma once
#define FORERUN_GIT_HASH "@HASH@"
#define FORERUN_VERSION "@VERSION@"
#define FORERUN_BUILD_TYPE "@BUILD_TYPE@"
#define FORERUN_COMPILER "@COMPILER@"
]=])
