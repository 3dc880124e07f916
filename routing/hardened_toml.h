// toml++ set up to read files that nobody vouches for. Include it in place of toml++'s own header, from .cc files only.
//
//  - Headers only, so that no library has to travel with what links this; without exceptions; without formatters.
//  - Nested values recurse, and every line can nest dotted keys in each of them: few levels keep the destruction of a
//    document of bounded lines within some thousand stack frames.
//  - toml++ 3.3 and 3.4 tell the optimiser facts about the next character that malformed text breaks ("[[=", "[}"), and
//    assert them in debug builds. The code that follows copes with those characters, so here the facts are not stated.
//  - It is undefined on many characters beyond ASCII outside strings and comments; no setting helps. Do not let it see
//  them.
#ifndef CABLEWAY_ROUTING_HARDENED_TOML_H_
#define CABLEWAY_ROUTING_HARDENED_TOML_H_

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16

#if __has_include(<toml++/impl/preprocessor.hpp>)
#include <toml++/impl/preprocessor.hpp>  // from 3.4 on
#else
#include <toml++/impl/preprocessor.h>
#endif

#undef TOML_ASSUME
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSUME(...) static_cast<void>(0)
#define TOML_ASSERT(...) static_cast<void>(0)
#define TOML_ASSERT_ASSUME(...) static_cast<void>(0)

#include <toml++/toml.h>

#endif  // CABLEWAY_ROUTING_HARDENED_TOML_H_
