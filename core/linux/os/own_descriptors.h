// Registry of Cableway's descriptors in this process, so that a forked child can close its copies. An open copy of a
// socket keeps a connection up after its owner has closed it or died, and shutting the copy down would end the
// owner's connection. An open copy of an RDMA device's descriptor keeps its owner's queue pairs and registrations,
// and the memory that these pin, after its owner has died.
#ifndef CABLEWAY_CORE_LINUX_OS_OWN_DESCRIPTORS_H_
#define CABLEWAY_CORE_LINUX_OS_OWN_DESCRIPTORS_H_

namespace cableway::host {

// Call for every socket as soon as it exists. No call is needed when it is closed. Callable from any thread.
void note_own_socket(int socket);

// Registers another descriptor, from its creation until just before it is closed. Callable from any thread.
class OwnDescriptor {
 public:
  // kYes: parts of the file are mapped, and a child's mappings would keep it open, too.
  enum class Mapped { kNo, kYes };

  explicit OwnDescriptor(int fd, Mapped mapped = Mapped::kNo);
  ~OwnDescriptor();
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

 private:
  const int fd_;
};

// Closes the registered sockets whose descriptors still refer to the same socket, and the other descriptors. Unmaps the
// mapped parts of those descriptors' files, even if other code of this process mapped them: files are not distinguished
// by their owner. Then clears the registry: descriptors reusing the numbers are the child's own. For a child right
// after fork(): calls only async-signal-safe functions.
void close_own_descriptors();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_OWN_DESCRIPTORS_H_
