// Which descriptors of this process are Cableway's, so that a forked child can let go of its copies. A copy of a socket
// that stays open keeps a connection up after its owner has closed it or died, and shutting one down would end the
// owner's connection. A copy of an RDMA device's keeps its owner's queue pairs and registrations, and the memory that
// those pin, after its owner has died.
#ifndef CABLEWAY_CORE_LINUX_OS_OWN_DESCRIPTORS_H_
#define CABLEWAY_CORE_LINUX_OS_OWN_DESCRIPTORS_H_

namespace cableway::host {

// To be called for every socket as soon as it exists. It need not be called when one is closed. Any thread.
void note_own_socket(int socket);

// Another descriptor, from as soon as it exists until just before it is closed. Any thread.
class OwnDescriptor {
 public:
  // Where parts of the file are mapped into memory a child's mappings keep it open, too.
  enum class Mapped { kNo, kYes };

  explicit OwnDescriptor(int fd, Mapped mapped = Mapped::kNo);
  ~OwnDescriptor();
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

 private:
  const int fd_;
};

// Closes the sockets that are still what they were when they were noted, and the other descriptors, and unmaps what is
// mapped of the files of those: whoever in this process has mapped it, as files are not told apart by who opened them.
// Then it forgets them: what gets their numbers is the child's own. For a child right after fork(): calls nothing but
// what is async-signal-safe.
void close_own_descriptors();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_OWN_DESCRIPTORS_H_
