// The manual pages of programs and commands, from their descriptions.
#ifndef CABLEWAY_TOOLS_REFERENCE_COMMAND_PAGE_H_
#define CABLEWAY_TOOLS_REFERENCE_COMMAND_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/cableway/command/command.h"
#include "tools/reference/roff_page.h"

namespace cableway::reference {

// "cableway-plan-ranks", the page of "plan ranks".
std::string page_name(const cli::Command& command);

// How `words` are called with the arguments: "cableway path [--flow N] A B".
void add_synopsis(RoffPage& page, std::string_view words, const std::vector<cli::Argument>& arguments);

// Each argument with its meaning, its default and what it cannot be combined with; without a heading.
void add_arguments(RoffPage& page, const std::vector<cli::Argument>& arguments);

// With a capital letter at its beginning.
std::string capitalized(std::string text);

// Paragraphs that are separated by empty lines, with `code`.
void add_paragraphs(RoffPage& page, std::string_view text);

// With their headings; nothing where there are none.
void add_exit_statuses(RoffPage& page, const std::vector<cli::ExitMeaning>& statuses);
void add_examples(RoffPage& page, const std::vector<std::string>& examples);
// "cableway(1)", ..
void add_see_also(RoffPage& page, const std::vector<std::string>& pages);

// The exit statuses of a command: its own, and those of the program that it does not define.
std::vector<cli::ExitMeaning> exit_statuses_of(const cli::Command& command, const cli::Program& program);

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_COMMAND_PAGE_H_
