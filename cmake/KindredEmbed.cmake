# kindred_embed(<target> <function> FILES <files>)
#
# Puts files into the program, so that it runs from anywhere: defines
#   std::span<const kindred::EmbeddedFile> kindred::<function>();
# which the room declares itself (kindred/core/embedded.h says what an EmbeddedFile is).
function(kindred_embed target function)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(symbols "")
  set(entries "")
  set(paths "")
  set(index 0)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    set(symbol kindred_${function}_${index})
    string(APPEND symbols
      "asm(\".pushsection .rodata\\n\"\n"
      "    \".balign 16\\n\"\n"
      "    \".global ${symbol}_begin, ${symbol}_end\\n\"\n"
      "    \"${symbol}_begin: .incbin \\\"${path}\\\"\\n\"\n"
      "    \"${symbol}_end: .byte 0\\n\"\n"
      "    \".popsection\\n\");\n"
      "extern \"C\" const char ${symbol}_begin[];\n"
      "extern \"C\" const char ${symbol}_end[];\n")
    string(APPEND entries
      "      kindred::EmbeddedFile{\"${name}\", {${symbol}_begin, ${symbol}_end}},\n")
    list(APPEND paths ${path})
    math(EXPR index "${index} + 1")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(GENERATE OUTPUT ${source} CONTENT
"// Made by cmake/KindredEmbed.cmake.
#include <array>
#include <span>

#include \"kindred/core/embedded.h\"

${symbols}
namespace kindred {

std::span<const EmbeddedFile> ${function}() {
  static const std::array<EmbeddedFile, ${index}> files = {
${entries}  };
  return files;
}

}  // namespace kindred
")
  target_sources(${target} PRIVATE ${source})
  # The assembler reads the files; nothing else tells the build that they matter, and a batch of files
  # would forget it.
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${paths}"
                              SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
