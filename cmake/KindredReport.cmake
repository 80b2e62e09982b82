# Builds the page of `kindred report` from report-ui/, where Node and npm are there:
# KINDRED_HAS_REPORT, and KINDRED_REPORT_PAGE, one HTML file.
set(KINDRED_REPORT AUTO CACHE STRING "The report page: ON, OFF, or AUTO (where npm is found)")
set_property(CACHE KINDRED_REPORT PROPERTY STRINGS AUTO ON OFF)

set(KINDRED_HAS_REPORT OFF)
if(NOT KINDRED_REPORT)
  return()
endif()

find_program(NPM npm)
find_program(NODE NAMES node nodejs)
mark_as_advanced(NPM NODE)
set(problem "")
if(NOT NPM OR NOT NODE)
  set(problem "Node and npm were not found (Debian: nodejs npm)")
else()
  execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH "[0-9]+" major "${version}")
  if(major LESS 18)
    set(problem "Node ${version} is too old; 18 or later is needed")
  endif()
endif()

if(problem AND KINDRED_REPORT STREQUAL AUTO)
  message(STATUS "Report page: none. ${problem}")
  return()
elseif(problem)
  message(FATAL_ERROR "KINDRED_REPORT is ${KINDRED_REPORT}, but ${problem}.")
endif()
message(STATUS "Report page: with Node ${version}")
set(KINDRED_HAS_REPORT ON)

set(ui ${PROJECT_SOURCE_DIR}/report-ui)
set(KINDRED_REPORT_PAGE ${PROJECT_BINARY_DIR}/report-ui/index.html)
file(GLOB_RECURSE ui_sources CONFIGURE_DEPENDS ${ui}/src/*)
# Vite looks for packages beside the sources, so they are installed there.
set(installed ${ui}/node_modules/.package-lock.json)
add_custom_command(OUTPUT ${installed}
  COMMAND ${NPM} ci --silent
  COMMAND ${CMAKE_COMMAND} -E touch ${installed}
  DEPENDS ${ui}/package.json ${ui}/package-lock.json
  WORKING_DIRECTORY ${ui} COMMENT "Installing what the report page is built with" VERBATIM)
add_custom_command(OUTPUT ${KINDRED_REPORT_PAGE}
  COMMAND ${NPM} run --silent build -- --outDir ${PROJECT_BINARY_DIR}/report-ui --logLevel warn
  DEPENDS ${installed} ${ui_sources} ${ui}/index.html ${ui}/vite.config.mjs ${ui}/tsconfig.json
  WORKING_DIRECTORY ${ui} COMMENT "Building the report page" VERBATIM)
# The page is embedded by a target of another folder, which cannot see the commands above by itself.
add_custom_target(kindred_report_page DEPENDS ${KINDRED_REPORT_PAGE})
