#include "core/circuit/circuit_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Cookie some_cookie() {
  Cookie cookie;
  for (std::size_t i = 0; i < cookie.size(); ++i) cookie[i] = static_cast<std::byte>(200 + i);
  return cookie;
}

// A path over `hops` cables: n0 -c0-> n1 -c1-> n2 ..
CircuitSetup line_setup(std::size_t hops) {
  CircuitSetup setup;
  setup.listener = some_cookie();
  setup.nonce.fill(std::byte{0x5a});
  setup.circuit = {5, 0x01020304};
  setup.offer = 70000;
  setup.rank = 3;
  setup.share = CircuitShare::kAlternate;
  setup.further = true;
  setup.source_port = 40123;
  setup.path_wait_ms = 31234;
  setup.proof.fill(std::byte{0xa5});
  setup.flow = 0x0123456789abcdef;
  setup.chunk_bytes = 1U << 20;
  setup.budget_ms = 9000;
  setup.from_node = "n0";
  for (std::size_t i = 0; i < hops; ++i) {
    const std::string number = std::to_string(i);
    setup.hops.push_back(Hop{"c" + number, "10.0." + number + ".1", "n" + std::to_string(i + 1),
                             "10.0." + number + ".2", static_cast<std::uint16_t>(7470 + i), i % 2 == 1});
  }
  return setup;
}

std::string error_of(const CircuitSetup& setup) {
  const absl::StatusOr<CircuitSetup> decoded = decode_circuit_setup(encode_circuit_setup(setup));
  EXPECT_TRUE(absl::IsInvalidArgument(decoded.status())) << decoded.status();
  return std::string(decoded.status().message());
}

TEST(CircuitSetup, SurvivesARoundTrip) {
  for (const std::size_t hops : {std::size_t{1}, std::size_t{2}, std::size_t{8}, kMaxHops}) {
    CircuitSetup setup = line_setup(hops);
    setup.hop = static_cast<std::uint16_t>(hops - 1);
    const absl::StatusOr<CircuitSetup> decoded = decode_circuit_setup(encode_circuit_setup(setup));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, setup);
    EXPECT_TRUE(decoded->last_hop());
  }
}

TEST(CircuitSetup, FitsIntoItsFrameAtMaximumSize) {
  CircuitSetup setup = line_setup(kMaxHops);
  setup.from_node = std::string(routing::kMaxNodeNameBytes, 'f');
  for (std::size_t i = 0; i < kMaxHops; ++i) {
    const std::string number = std::to_string(i);
    setup.hops[i].to_node = number + std::string(routing::kMaxNodeNameBytes - number.size(), 'n');
    setup.hops[i].cable = std::string(160, 'c');
    setup.hops[i].from_address = std::string(64, '1');
    setup.hops[i].to_address = std::string(64, '2');
  }
  const std::vector<std::byte> bytes = encode_circuit_setup(setup);
  EXPECT_LE(bytes.size(), kMaxSetupBytes);
  const absl::StatusOr<CircuitSetup> decoded = decode_circuit_setup(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, setup);
}

TEST(CircuitSetup, IsRefusedAtEveryTruncation) {
  const std::vector<std::byte> bytes = encode_circuit_setup(line_setup(3));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const absl::StatusOr<CircuitSetup> decoded = decode_circuit_setup(std::span(bytes).first(length));
    EXPECT_TRUE(absl::IsInvalidArgument(decoded.status())) << length << ": " << decoded.status();
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THAT(std::string(decode_circuit_setup(longer).status().message()), HasSubstr("or trailing bytes"));
}

TEST(CircuitSetup, ErrorNamesBothVersions) {
  std::vector<std::byte> bytes = encode_circuit_setup(line_setup(1));
  bytes[0] = std::byte{9};
  const absl::Status status = decode_circuit_setup(bytes).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("version 9"), HasSubstr(absl::StrCat("this node ", kProtocolVersion)),
                    HasSubstr("install the same Cableway")));
}

TEST(CircuitSetup, RefusesAPathThatVisitsANodeTwice) {
  CircuitSetup setup = line_setup(3);
  setup.hops[2].to_node = "n1";
  EXPECT_THAT(error_of(setup), AllOf(HasSubstr("visits a node twice"), HasSubstr("n0 -c0-> n1 -c1-> n2 -c2-> n1")));
  setup.hops[2].to_node = "n0";
  EXPECT_THAT(error_of(setup), HasSubstr("visits a node twice"));
  setup = line_setup(2);
  setup.hops[0].to_node = "n0";
  EXPECT_THAT(error_of(setup), HasSubstr("visits a node twice"));
}

TEST(CircuitSetup, SaysWhatItIsFor) {
  CircuitSetup setup = line_setup(1);
  setup.purpose = SetupPurpose::kInquiry;
  std::vector<std::byte> bytes = encode_circuit_setup(setup);
  const absl::StatusOr<CircuitSetup> decoded = decode_circuit_setup(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->purpose, SetupPurpose::kInquiry);
  bytes[2] = std::byte{3};
  const absl::Status unknown = decode_circuit_setup(bytes).status();
  EXPECT_TRUE(absl::IsUnimplemented(unknown)) << unknown;
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("unknown purpose 3"));
}

TEST(CircuitSetup, OfAViewNamesIt) {
  CircuitSetup setup = line_setup(2);
  setup.purpose = SetupPurpose::kView;
  setup.budget_ms = 2000;
  for (const char* name : {"status", "a", "abcdefghijklmnop"}) {
    setup.view = name;
    const absl::StatusOr<CircuitSetup> decoded = decode_circuit_setup(encode_circuit_setup(setup));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, setup);
  }
  for (const char* name : {"", "Status", "../etc", "a b"}) {
    setup.view = name;
    EXPECT_THAT(error_of(setup), HasSubstr("the name of its view")) << name;
  }
  setup.view = "abcdefghijklmnopq";
  EXPECT_THAT(error_of(setup), HasSubstr("truncated"));
  setup.view = "status";
  setup.budget_ms = 2001;
  EXPECT_THAT(error_of(setup), HasSubstr("2001 ms for a view, at most 2000"));
}

TEST(CircuitSetup, RefusesCircuitsThatAFlowCannotHave) {
  CircuitSetup setup = line_setup(1);
  setup.circuit = {kMaxFlowCircuits, 1};
  EXPECT_THAT(error_of(setup), HasSubstr("circuit slot 8, generation 1"));
  setup.circuit = {3, 0};
  EXPECT_THAT(error_of(setup), HasSubstr("circuit slot 3, generation 0"));
}

TEST(CircuitSetup, RefusesAFlowThatWaitsForAPathForTooLong) {
  CircuitSetup setup = line_setup(1);
  setup.path_wait_ms = kMaxPathWaitMs + 1;
  EXPECT_THAT(error_of(setup), HasSubstr("waits 86400001 ms for a path, at most 86400000"));
}

TEST(CircuitSetup, AllowsTheOneHopWithinANode) {
  CircuitSetup setup = line_setup(1);
  setup.hops[0].to_node = setup.from_node;
  EXPECT_TRUE(decode_circuit_setup(encode_circuit_setup(setup)).ok());
}

TEST(CircuitSetup, RefusesTooManyHops) {
  EXPECT_THAT(error_of(line_setup(kMaxHops + 1)), AllOf(HasSubstr("129 hops"), HasSubstr("at most 128")));
}

TEST(CircuitSetup, RefusesAHopIndexBeyondThePath) {
  CircuitSetup setup = line_setup(2);
  setup.hop = 2;
  EXPECT_THAT(error_of(setup), HasSubstr("hop 2 of a path of 2 hops"));
  setup = line_setup(0);
  EXPECT_THAT(error_of(setup), HasSubstr("hop 0 of a path of 0 hops"));
}

TEST(CircuitSetup, RefusesAChunkSizeThatSplitsLines) {
  for (const std::uint32_t bytes : {0U, 64U, 129U, kMaxChunkBytes + 128}) {
    CircuitSetup setup = line_setup(1);
    setup.chunk_bytes = bytes;
    EXPECT_THAT(error_of(setup), AllOf(HasSubstr("chunk size " + std::to_string(bytes)), HasSubstr("multiple of 128")));
  }
}

TEST(CircuitSetup, RefusesABudgetOutOfRange) {
  for (const std::uint32_t budget : {0U, kMaxBudgetMs + 1, 0xffffffffU}) {
    CircuitSetup setup = line_setup(1);
    setup.budget_ms = budget;
    EXPECT_THAT(error_of(setup), AllOf(HasSubstr(std::to_string(budget) + " ms"), HasSubstr("expected 1 to 10000")));
  }
}

TEST(CircuitSetup, RefusesInvalidNames) {
  for (const std::string& name : {std::string(), std::string("a b"), std::string("\xff\xfe"), std::string("a\nb")}) {
    CircuitSetup from = line_setup(2);
    from.from_node = name;
    EXPECT_THAT(error_of(from), HasSubstr("the name of a node or cable"));
    CircuitSetup to = line_setup(2);
    to.hops[1].to_node = name;
    EXPECT_THAT(error_of(to), HasSubstr("the name of a node or cable"));
    CircuitSetup cable = line_setup(2);
    cable.hops[0].cable = name;
    EXPECT_THAT(error_of(cable), HasSubstr("the name of a node or cable"));
  }
}

TEST(CircuitSetup, RefusesFieldsBeyondTheirBounds) {
  CircuitSetup setup = line_setup(1);
  setup.from_node = std::string(routing::kMaxNodeNameBytes + 1, 'n');
  EXPECT_THAT(error_of(setup), HasSubstr("truncated"));
  setup = line_setup(1);
  setup.hops[0].to_address = std::string(65, '1');
  EXPECT_THAT(error_of(setup), HasSubstr("truncated"));
  setup = line_setup(1);
  setup.hops[0].to_port = 0;
  EXPECT_THAT(error_of(setup), AllOf(HasSubstr("no port"), HasSubstr("n1")));
}

TEST(ProbeOpening, SurvivesARoundTrip) {
  const TransportOffer longest{TransportKind::kRdma, std::vector<std::byte>(kMaxOfferBytes, std::byte{7})};
  for (const std::optional<TransportOffer>& offered : {std::optional<TransportOffer>(), std::optional(longest)}) {
    const std::vector<std::byte> bytes = encode_probe({Frame{FrameKind::kProbe, 0, 0, 1, 500}, offered});
    const auto header = std::span(bytes).first<kFrameHeaderBytes>();
    const absl::StatusOr<Frame> frame = decode_frame(header);
    ASSERT_TRUE(frame.ok()) << frame.status();
    EXPECT_EQ(frame->payload, bytes.size() - kFrameHeaderBytes);
    const absl::StatusOr<ProbeOpening> decoded = decode_probe(*frame, std::span(bytes).subspan(kFrameHeaderBytes));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, (ProbeOpening{*frame, offered}));
  }
}

TEST(ProbeOpening, RefusesAnOfferThatIsCutOrFollowedByMore) {
  std::vector<std::byte> bytes =
      encode_probe({Frame{FrameKind::kProbe, 0, 0, 1, 500}, TransportOffer{TransportKind::kRdma, {std::byte{1}}}});
  bytes.erase(bytes.begin(), bytes.begin() + kFrameHeaderBytes);
  bytes.push_back(std::byte{0});
  for (const std::size_t length : {1U, 2U, 4U}) {
    const Frame header{FrameKind::kProbe, static_cast<std::uint32_t>(length), 0, 1, 500};
    EXPECT_THAT(std::string(decode_probe(header, std::span(bytes).first(length)).status().message()),
                HasSubstr("probe: truncated, or followed by trailing bytes"))
        << length;
  }
}

TEST(ListenHandle, SurvivesARoundTrip) {
  for (const std::string& node : {std::string("n"), std::string(routing::kMaxNodeNameBytes, 'x')}) {
    const ListenHandle handle{some_cookie(), 65535, node, kMaxPathWaitMs, TunerMark{255, 65535}};
    const absl::StatusOr<ListenHandle> decoded = decode_listen_handle(encode_listen_handle(handle));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, handle);
  }
}

TEST(ListenHandle, HasScratchSpaceForTheConnectingSide) {
  std::array<std::byte, kListenHandleBytes> bytes = encode_listen_handle(ListenHandle{some_cookie(), 1, "n0"});
  EXPECT_TRUE(std::all_of(bytes.begin() + kListenHandleScratch, bytes.end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  std::fill(bytes.begin() + kListenHandleScratch, bytes.end(), std::byte{0xaa});
  EXPECT_TRUE(decode_listen_handle(bytes).ok());
}

TEST(ListenHandle, DetectsEveryDamagedByte) {
  constexpr std::size_t kChecked = 100;  // body and checksum
  const std::array<std::byte, kListenHandleBytes> whole =
      encode_listen_handle(ListenHandle{some_cookie(), 4711, "n17"});
  for (std::size_t at = 0; at < kChecked; ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::array<std::byte, kListenHandleBytes> bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      EXPECT_FALSE(decode_listen_handle(bytes).ok()) << "byte " << at << " flipped by " << flip;
    }
  }
}

TEST(ListenHandle, ErrorsDescribeTheFault) {
  std::array<std::byte, kListenHandleBytes> bytes{};
  EXPECT_THAT(std::string(decode_listen_handle(bytes).status().message()), HasSubstr("do all ranks load this plugin"));
  bytes = encode_listen_handle(ListenHandle{some_cookie(), 4711, "n17"});
  bytes[4] = std::byte{1};
  EXPECT_THAT(std::string(decode_listen_handle(bytes).status().message()),
              AllOf(HasSubstr("version 1"), HasSubstr(absl::StrCat("expected ", kProtocolVersion))));
  bytes = encode_listen_handle(ListenHandle{some_cookie(), 0, "n17"});
  EXPECT_THAT(std::string(decode_listen_handle(bytes).status().message()), HasSubstr("damaged"));
  bytes = encode_listen_handle(ListenHandle{some_cookie(), 1, "n0", kMaxPathWaitMs + 1});
  EXPECT_THAT(std::string(decode_listen_handle(bytes).status().message()), HasSubstr("damaged"));
  bytes = encode_listen_handle(ListenHandle{some_cookie(), 1, ""});
  EXPECT_THAT(std::string(decode_listen_handle(bytes).status().message()), HasSubstr("damaged"));
}

}  // namespace
}  // namespace cableway
