// Documents over TCP: the operating system takes one as a whole, whether or not the neighbour reads.
#include "core/circuit/document_answers.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/flow/frame.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/tcp/data_socket.h"
#include "sim/virtual_clock.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using std::chrono::milliseconds;

class DocumentAnswersTest : public testing::Test {
 protected:
  // Sends a document of 64 KiB to the other end of the returned socket.
  UniqueFd answer() {
    auto [near, far] = test::connected_pair();
    EXPECT_TRUE(prepare_data_socket(near.get()).ok());
    boost::asio::ip::tcp::socket socket(io_, boost::asio::ip::tcp::v4(), near.release());
    socket.non_blocking(true);
    answers_.send(ArrivedSetup(make_setup_connection(std::move(socket)), test::sample_setup(1), std::nullopt),
                  std::string(kBytes, ' '), held_.take({"eth0", "n1"}), clock_.now() + milliseconds(2000));
    return std::move(far);
  }
  void serve(milliseconds time) {
    io_.restart();
    io_.run_for(time);
  }

  static constexpr std::size_t kBytes = 64U << 10;

  boost::asio::io_context io_;
  sim::VirtualClock clock_;
  HeldPlaces held_;
  DocumentAnswers answers_{clock_};
};

TEST_F(DocumentAnswersTest, OneThatIsNotReadKeepsItsPlaceAndLeavesNothing) {
  const UniqueFd peer = answer();
  serve(milliseconds(100));
  EXPECT_EQ(held_.all(), 1U) << "the operating system has all of it";
  clock_.run_for(milliseconds(2100));
  EXPECT_EQ(held_.all(), 0U);
  char bytes[4096];
  ssize_t read = 1;
  while (read > 0) read = ::recv(peer.get(), bytes, sizeof bytes, 0);
  EXPECT_EQ(read, -1) << "a reset, so that the operating system keeps none of it";
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(DocumentAnswersTest, OneThatIsReadGivesItsPlaceBack) {
  UniqueFd peer = answer();
  const std::size_t bytes = kFrameHeaderBytes + kBytes;
  serve(milliseconds(20));
  EXPECT_EQ(test::read_bytes(peer.get(), bytes).size(), bytes);
  peer = UniqueFd();
  EXPECT_TRUE(test::run_until([&] { return held_.all() == 0; }, [&] { serve(milliseconds(5)); }));
}

}  // namespace
}  // namespace cableway::host
