import Foundation

/// The descriptors that this process can still open.
///
/// swift-subprocess ends the process if it can open one pipe of a child and not the next, so a child is only started if
/// there are descriptors for all of its pipes.
enum FreeDescriptors {
    /// What starting a child takes for a moment (two pipes, the null device, a pipe for a failed start, one for the
    /// process itself), twice: another child may be started, or a connection accepted, at the same time.
    static let forChild = 16

    /// Whether this number of descriptors can be opened now.
    static func include(_ count: Int) -> Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            opened.append(descriptor)
        }
        return true
    }
}
