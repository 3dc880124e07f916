// What a process of collperf that another one started does for it: says that it has started, and ends when its starter
// has ended. The starter holds the other end of the standard input; over ssh, that end closes with the connection.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_STARTER_WATCH_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_STARTER_WATCH_H_

namespace cableway::collperf {

// A line on standard error, which the starter does not show.
inline constexpr char kStartedLine[] = "collperf: started";

// Called once, on the main thread. From now on the process ends with exit status 3 when its standard input has ended.
void follow_starter();

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_STARTER_WATCH_H_
