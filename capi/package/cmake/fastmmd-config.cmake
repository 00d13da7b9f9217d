# find_package(fastmmd CONFIG) gives the target fastmmd::fastmmd.
#
# FASTMMD_TARGET names a folder in lib, and is guessed from the compiler's flags if it is not set.
if(TARGET fastmmd::fastmmd)
  return()
endif()

get_filename_component(FASTMMD_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT DEFINED FASTMMD_TARGET)
  set(_fastmmd_flags "${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}")
  if(_fastmmd_flags MATCHES "cortex-m(0|1|23)")
    set(FASTMMD_TARGET thumbv6m-none-eabi)
  elseif(_fastmmd_flags MATCHES "cortex-m(33|35|52|55|85)" AND _fastmmd_flags MATCHES "-mfloat-abi=hard")
    set(FASTMMD_TARGET thumbv8m.main-none-eabihf)
  elseif(_fastmmd_flags MATCHES "cortex-m(4|7)" AND _fastmmd_flags MATCHES "-mfloat-abi=hard")
    set(FASTMMD_TARGET thumbv7em-none-eabihf)
  elseif(_fastmmd_flags MATCHES "cortex-m")
    # Passes numbers in integer registers.
    set(FASTMMD_TARGET thumbv7m-none-eabi)
  elseif(_fastmmd_flags MATCHES "rv32ima?c")
    set(FASTMMD_TARGET riscv32imc-unknown-none-elf)
  elseif(CMAKE_CROSSCOMPILING)
    # Not to be linked with what is for this computer.
    set(FASTMMD_TARGET unknown)
  else()
    set(FASTMMD_TARGET @HOST@)
  endif()
endif()

set(_fastmmd_library "${FASTMMD_ROOT}/lib/${FASTMMD_TARGET}/libfastmmd.a")
if(NOT EXISTS "${_fastmmd_library}")
  set(fastmmd_FOUND FALSE)
  set(fastmmd_NOT_FOUND_MESSAGE "no library for ${FASTMMD_TARGET}: set FASTMMD_TARGET to a folder in ${FASTMMD_ROOT}/lib")
  return()
endif()

add_library(fastmmd::fastmmd STATIC IMPORTED)
set_target_properties(fastmmd::fastmmd PROPERTIES
  IMPORTED_LOCATION "${_fastmmd_library}"
  INTERFACE_INCLUDE_DIRECTORIES "${FASTMMD_ROOT}/include")
if(FASTMMD_TARGET MATCHES "linux")
  set_target_properties(fastmmd::fastmmd PROPERTIES INTERFACE_LINK_LIBRARIES "pthread;dl;m")
endif()
