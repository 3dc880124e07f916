#include "tools/collperf/rank_run.h"

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/workload/schedule.h"
#include "tools/collperf/plugin_log.h"

namespace cableway::collperf {
namespace {

namespace abi = nccl::abi;

constexpr int kExitOk = 0;
constexpr int kExitWrong = 1;

// Of rank 0, which alone writes.
int cannot_write(const std::string& where) {
  std::fprintf(stderr, "collperf[0]: cannot write to %s\n", where.c_str());
  return kExitFailed;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

abi::NetAttr net_attr_of(const Workload& workload) {
  constexpr abi::CommAttr kUndefined = {abi::kNetAttrUndefined, abi::kNetAttrUndefined, abi::kNetAttrUndefined,
                                        abi::kNetAttrUndefined};
  abi::NetAttr attr{kUndefined, kUndefined, abi::kFunctionSendRecv, abi::kAlgorithmRing, abi::kProtocolSimple};
  switch (workload.operation) {
    case Operation::kAllReduceTree:
      attr.op = abi::kFunctionAllReduce;
      attr.algo = abi::kAlgorithmTree;
      break;
    case Operation::kAllReduceRing:
      attr.op = abi::kFunctionAllReduce;
      break;
    case Operation::kAllGather:
      attr.op = abi::kFunctionAllGather;
      break;
    case Operation::kReduceScatter:
      attr.op = abi::kFunctionReduceScatter;
      break;
    case Operation::kBroadcast:
      attr.op = abi::kFunctionBroadcast;
      break;
    case Operation::kReduce:
      attr.op = abi::kFunctionReduce;
      break;
    case Operation::kAllToAll:
      attr.op = abi::kFunctionAllToAll;
      break;
    default:
      break;
  }
  return attr;
}

RankPlace place_of_this_process() {
  char host[HOST_NAME_MAX + 1] = {};
  return {.host = gethostname(host, HOST_NAME_MAX) == 0 ? host : "?", .process = getpid()};
}

}  // namespace

ScheduleParameters RankRun::parameters_of(const Workload& workload, std::uint64_t size) const {
  return {.workload = workload,
          .rank = options_.place.rank,
          .ranks = options_.place.ranks,
          .size = size,
          .channels = options_.channels,
          .step_bytes = step_bytes_of(options_, workload),
          .in_flight = options_.in_flight};
}

absl::Status RankRun::open_plugin() {
  absl::StatusOr<PluginLibrary> library = PluginLibrary::open(options_.plugin, options_.abi);
  if (!library.ok()) return library.status();
  library_.emplace(*std::move(library));
  description_.path = library_->path();
  description_.name = library_->net().name();
  description_.abi = library_->net().abi_version();
  description_.device = options_.device;
  return absl::OkStatus();
}

absl::Status RankRun::init_plugin() {
  // Not std::random_device, which needs glibc 2.36 where libstdc++ is linked in.
  std::uint64_t own_id = 0;
  if (::getrandom(&own_id, sizeof own_id, 0) != sizeof own_id) return absl::ErrnoToStatus(errno, "getrandom");
  const absl::StatusOr<std::vector<std::string>> ids = rendezvous_->all_gather(std::to_string(own_id));
  if (!ids.ok()) return ids.status();
  std::uint64_t comm_id = 0;
  if (!absl::SimpleAtoi(ids->front(), &comm_id)) return absl::InternalError("rank 0 sent no communicator id");

  NetPlugin& net = library_->net();
  initialized_ = true;  // NCCL finalizes after a failed init as well
  if (abi::Result result = net.init(comm_id, plugin_logger()); result != abi::kSuccess) {
    return result_error(result, "init");
  }
  int devices = 0;
  if (abi::Result result = net.devices(&devices); result != abi::kSuccess) return result_error(result, "devices");
  if (options_.device >= devices) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plugin has ", devices, " devices, there is no device ", options_.device));
  }
  DeviceProperties properties;
  if (abi::Result result = net.get_properties(options_.device, &properties); result != abi::kSuccess) {
    return result_error(result, "getProperties");
  }
  if ((properties.ptr_support & abi::kPtrHost) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("device ", properties.name, " does not support host memory"));
  }
  description_.device_name = properties.name;
  description_.speed_mbps = properties.speed_mbps;
  return absl::OkStatus();
}

absl::Status RankRun::allocate_memory() {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t staging = 0;
  for (const SizedWorkload& work : options_.work) {
    const std::uint64_t size = rounded_size(work.workload, options_.place.ranks, work.size);
    const Schedule schedule = build_schedule(parameters_of(work.workload, size));
    input = std::max(input, schedule.input_bytes);
    output = std::max(output, schedule.output_bytes);
    staging = std::max(staging, schedule.staging_bytes);
  }
  absl::StatusOr<HostMemory> memory = HostMemory::allocate(input, output, staging);
  if (!memory.ok()) return memory.status();
  memory_.emplace(*std::move(memory));
  NetPlugin& net = library_->net();
  connections_.emplace(net, *memory_, options_.device, options_.place.rank, service_control_);
  const EngineSettings settings{.in_flight = options_.in_flight,
                                .recv_hint = options_.recv_hint,
                                .idle = options_.idle,
                                .timeout = options_.timeout};
  engine_.emplace(net, *memory_, settings, progress_control_);
  return absl::OkStatus();
}

absl::Status RankRun::connect(const Schedule& schedule) {
  std::string own_handles;
  absl::Status status = supervisor_->run(service_, service_control_, [&] {
    absl::StatusOr<std::string> listening = connections_->listen(schedule);
    if (!listening.ok()) return listening.status();
    own_handles = *std::move(listening);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> handles = rendezvous_->all_gather(own_handles);
  if (!handles.ok()) return handles.status();
  return supervisor_->run(service_, service_control_,
                          [&] { return connections_->establish(*handles, options_.timeout); });
}

absl::Status RankRun::announce_operation(const Workload& workload) {
  return supervisor_->run(service_, service_control_, [&] {
    abi::NetAttr attr = net_attr_of(workload);
    const abi::Result result = library_->net().set_net_attr(&attr);
    return result == abi::kSuccess ? absl::OkStatus() : result_error(result, "setNetAttr");
  });
}

absl::Status RankRun::run_operations(std::uint64_t operations) {
  return supervisor_->run(progress_, progress_control_, [this, operations] { return engine_->run(operations); });
}

// Fills the input with new data, and the outputs with poison.
void RankRun::refresh(Measurement& m) {
  ++m.tag.iteration;
  fill_input(m.tag, options_.place.rank, memory_->area(area_of(Region::kInput, 0)).data,
             input_size(m.workload, options_.place.ranks, m.size));
  const std::uint64_t output_bytes = output_size(m.workload, options_.place.ranks, m.size);
  for (std::uint64_t operation = 0; operation < workload::kOperationsOpen; ++operation) {
    const int index = area_of(Region::kOutput, operation);
    fill_poison(memory_->area(index).data, output_bytes + kGuardBytes);
  }
}

void RankRun::report_wrong(const Measurement& m, const CheckResult& check, const char* where) const {
  if (check.wrong_bytes == 0) return;
  std::fprintf(stderr,
               "collperf[%d]: %s %s of %llu bytes, data set %u: %llu bytes wrong%s, the first at %llu: 0x%02x, "
               "expected 0x%02x\n",
               options_.place.rank, operation_name(m.workload).c_str(), variant_name(m.workload).c_str(),
               static_cast<unsigned long long>(m.size), m.tag.iteration,
               static_cast<unsigned long long>(check.wrong_bytes), where,
               static_cast<unsigned long long>(check.first_wrong_offset), check.found, check.expected);
}

void RankRun::check(Measurement& m) {
  const std::uint8_t* const output = memory_->area(engine_->last_output_area()).data;
  const CheckResult data = check_output(m.tag, options_.place.ranks, m.expected, output);
  report_wrong(m, data, "");
  const CheckResult guard = check_poison(output + output_size(m.workload, options_.place.ranks, m.size), kGuardBytes);
  report_wrong(m, guard, " beyond the end of the output");
  m.result.wrong += data.wrong_bytes + guard.wrong_bytes;
  m.result.bytes_verified += data.checked_bytes;
}

absl::Status RankRun::run_batch(Measurement& m, std::uint64_t operations) {
  const double cpu_before = cpu_seconds();
  if (absl::Status status = run_operations(operations); !status.ok()) return status;
  m.result.cpu_seconds += cpu_seconds() - cpu_before;
  m.result.seconds += std::chrono::duration<double>(engine_->elapsed()).count();
  m.result.iterations += operations;
  return absl::OkStatus();
}

double RankRun::time_so_far(const Measurement& m) const {
  if (options_.wall_seconds == 0) return m.result.seconds;
  return std::chrono::duration<double>(Clock::now() - m.began).count();
}

// The number of operations of the next batch: --iters at first, then as many as --seconds or --wall-seconds still
// needs. Also a barrier.
absl::StatusOr<std::uint64_t> RankRun::agree_on_batch(const Measurement& m) {
  const absl::StatusOr<std::vector<std::string>> all = rendezvous_->all_gather(std::to_string(time_so_far(m)));
  if (!all.ok()) return all.status();
  const std::uint64_t wanted = static_cast<std::uint64_t>(options_.iterations);
  const std::uint64_t done = m.result.iterations;
  if (done < wanted) return options_.check_all ? 1 : wanted - done;
  double seconds = 0;
  for (const std::string& text : *all) {
    double of_rank = 0;
    if (!absl::SimpleAtod(text, &of_rank)) return absl::InternalError("a rank sent no time");
    seconds = std::max(seconds, of_rank);
  }
  const double wanted_seconds = std::max(options_.seconds, options_.wall_seconds);
  if (done == 0 || seconds >= wanted_seconds) return 0;
  if (options_.check_all) return 1;
  const double per_operation = std::max(seconds / static_cast<double>(done), 1e-9);
  // Slightly more than needed, to avoid many small batches; bounded, in case the estimate is wrong.
  const double more = std::ceil((wanted_seconds - seconds) * 1.02 / per_operation);
  return static_cast<std::uint64_t>(std::clamp(more, 1.0, static_cast<double>(done) * 16));
}

absl::Status RankRun::run_timed(Measurement& m) {
  refresh(m);
  if (options_.warmup > 0) {
    if (absl::Status status = run_operations(static_cast<std::uint64_t>(options_.warmup)); !status.ok()) return status;
  }
  engine_->reset_statistics();
  m.began = Clock::now();
  for (;;) {
    const absl::StatusOr<std::uint64_t> batch = agree_on_batch(m);
    if (!batch.ok()) return batch.status();
    if (*batch == 0) break;
    if (options_.check_all) refresh(m);
    if (absl::Status status = run_batch(m, *batch); !status.ok()) return status;
    if (options_.check_all) check(m);
  }
  if (options_.check_iterations > 0 && !options_.check_all && m.result.iterations > 0) check(m);
  m.result.p50_us = percentile_us(engine_->durations(), 50);
  m.result.p99_us = percentile_us(engine_->durations(), 99);
  m.result.bytes_sent = engine_->bytes_sent();
  m.result.messages_sent = engine_->messages_sent();
  return absl::OkStatus();
}

absl::Status RankRun::run_checked(Measurement& m) {
  for (int i = 0; i < options_.check_iterations; ++i) {
    refresh(m);
    if (absl::Status status = run_operations(1); !status.ok()) return status;
    check(m);
  }
  return absl::OkStatus();
}

absl::Status RankRun::gather_places() {
  absl::StatusOr<std::vector<std::string>> all = rendezvous_->all_gather(encode(place_of_this_process()));
  if (!all.ok()) return all.status();
  for (const std::string& text : *all) {
    absl::StatusOr<RankPlace> place = decode_rank_place(text);
    if (!place.ok()) return place.status();
    places_.push_back(*std::move(place));
  }
  return absl::OkStatus();
}

absl::Status RankRun::gather(const Measurement& m) {
  const absl::StatusOr<std::vector<std::string>> all = rendezvous_->all_gather(encode(m.result));
  if (!all.ok()) return all.status();
  Result result{.workload = m.workload,
                .size = m.size,
                .step_bytes = step_bytes_of(options_, m.workload),
                .ranks = options_.place.ranks,
                .by_rank = {}};
  for (const std::string& text : *all) {
    const absl::StatusOr<RankResult> of_rank = decode_rank_result(text);
    if (!of_rank.ok()) return of_rank.status();
    result.by_rank.push_back(*of_rank);
  }
  if (prints_table()) std::cout << table_row(result, checks(options_)) << std::flush;
  results_.push_back(std::move(result));
  return absl::OkStatus();
}

absl::Status RankRun::measure(const Workload& workload, std::uint64_t size, std::uint32_t number) {
  Measurement m{.workload = workload,
                .size = rounded_size(workload, options_.place.ranks, size),
                .tag = {number, 0},
                .expected = {},
                .result = {}};
  m.expected = expected_output(workload, options_.place.rank, options_.place.ranks, m.size);
  current_ = absl::StrCat(operation_name(workload), " ", variant_name(workload), " ", m.size, " B");
  Schedule schedule = build_schedule(parameters_of(workload, m.size));
  if (absl::Status status = connect(schedule); !status.ok()) return status;
  if (absl::Status status = announce_operation(workload); !status.ok()) return status;
  engine_->prepare(std::move(schedule), *connections_);
  if (absl::Status status = run_timed(m); !status.ok()) return status;
  if (absl::Status status = run_checked(m); !status.ok()) return status;
  return gather(m);
}

absl::Status RankRun::run_all() {
  if (absl::Status status = init_plugin(); !status.ok()) return status;
  if (absl::Status status = allocate_memory(); !status.ok()) return status;
  if (absl::Status status = gather_places(); !status.ok()) return status;
  if (prints_table()) std::cout << table_header(options_, description_, places_) << std::flush;
  for (std::size_t i = 0; i < options_.work.size(); ++i) {
    const SizedWorkload& work = options_.work[i];
    const bool is_first = i == 0 || !(options_.work[i - 1].workload == work.workload);
    if (prints_table() && is_first) std::cout << table_columns(work.workload) << std::flush;
    if (absl::Status status = measure(work.workload, work.size, static_cast<std::uint32_t>(i)); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat(current_, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

void RankRun::tick() {
  if (!options_.progress || options_.place.rank != 0 || Clock::now() < next_progress_) return;
  next_progress_ = Clock::now() + std::chrono::seconds(1);
  const std::uint64_t finished = engine_.has_value() ? engine_->finished() : 0;
  std::fprintf(stderr, "collperf: %s, operation %llu\n", current_.c_str(), static_cast<unsigned long long>(finished));
}

absl::Status RankRun::close_all() {
  return supervisor_->run_alone(service_, service_control_, [this] {
    absl::Status status = connections_.has_value() ? connections_->close() : absl::OkStatus();
    if (initialized_) {
      const abi::Result result = library_->net().finalize();
      if (status.ok() && result != abi::kSuccess) status = result_error(result, "finalize");
    }
    return status;
  });
}

void RankRun::report(const absl::Status& status) {
  if (status.ok() || std::exchange(reported_, true)) return;
  std::fprintf(stderr, "collperf[%d]: %s\n", options_.place.rank, std::string(status.message()).c_str());
}

int RankRun::finish(const absl::Status& status) {
  report(status);
  std::uint64_t wrong = 0;
  for (const Result& result : results_) wrong += result.wrong();
  int exit_status = wrong > 0 ? kExitWrong : kExitOk;
  if (!status.ok()) exit_status = kExitFailed;
  if (options_.place.rank != 0) return exit_status;

  if (prints_table()) std::cout << table_footer(results_, status, checks(options_)) << std::flush;
  if (options_.json == "-") {
    std::cout << json_report(options_, description_, results_, status).dump(2) << std::endl;
  } else if (!options_.json.empty()) {
    std::ofstream file(options_.json);
    file << json_report(options_, description_, results_, status).dump(2) << std::endl;
    if (!file) return cannot_write(options_.json);
  }
  return std::cout ? exit_status : cannot_write("standard output");
}

int RankRun::execute() {
  configure_plugin_log(options_.place.rank, options_.verbose, options_.trace);
  // Checked first, since a run may take minutes.
  if (options_.place.rank == 0 && !options_.json.empty() && options_.json != "-" &&
      !std::ofstream(options_.json, std::ios::app)) {
    return cannot_write(options_.json);
  }
  if (absl::Status status = open_plugin(); !status.ok()) return finish(status);
  absl::StatusOr<std::unique_ptr<Rendezvous>> rendezvous = Rendezvous::join({.rank = options_.place.rank,
                                                                             .ranks = options_.place.ranks,
                                                                             .host = options_.place.host,
                                                                             .port = options_.place.port,
                                                                             .timeout = options_.timeout,
                                                                             .agreement = agreement_of(options_)});
  if (!rendezvous.ok()) return finish(rendezvous.status());
  rendezvous_ = *std::move(rendezvous);
  supervisor_.emplace(*rendezvous_, Supervisor::Limits{options_.timeout, options_.peer_grace}, [this] { tick(); });

  absl::Status status = run_all();
  report(status);  // the plugin may take seconds to close what has failed
  if (!status.ok()) rendezvous_->abort(std::string(status.message()));
  const absl::Status closed = close_all();
  return finish(status.ok() ? closed : status);
}

}  // namespace cableway::collperf
