# tdc_embed_text(FILE SYMBOL OUTPUT): writes a C file that defines `const char SYMBOL[]` with the text of FILE, which must
# be plain ASCII, and `const char SYMBOL_sha256[]` with its digest in hexadecimal.
function(tdc_embed_text file symbol output)
    file(READ ${file} bytes HEX)
    file(SHA256 ${file} digest)
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    if(bytes MATCHES "0x[89a-f]")
        message(FATAL_ERROR "${file}: not plain ASCII")
    endif()
    string(REPLACE "0x0a," "0x0a,\n    " bytes "${bytes}")
    file(GENERATE OUTPUT ${output} CONTENT "/* made from ${name} */
extern const char ${symbol}[], ${symbol}_sha256[];
const char ${symbol}[] = {
    ${bytes}0};
const char ${symbol}_sha256[] = \"${digest}\";
")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()
