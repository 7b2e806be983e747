import Foundation

/// The limits of a child process (setrlimit(2)), and its deadline.
package struct ChildLimits: Sendable, Equatable {
    /// Address space, in bytes.
    package var memory: Int
    /// Processor time; whole seconds.
    package var processor: Duration
    /// Wall time from its start until it is killed.
    package var wall: Duration
    /// Largest file that it may write, in bytes.
    package var fileBytes: Int
    /// Files that it may have open.
    package var openFiles: Int
    /// Bytes of its standard output, and of its standard error, that are kept; the rest is read and discarded.
    package var capturedBytes = 1 << 20

    /// Creates limits.
    package init(memory: Int, processor: Duration, wall: Duration, fileBytes: Int = 512 << 20, openFiles: Int = 256) {
        self.memory = memory
        self.processor = processor
        self.wall = wall
        self.fileBytes = fileBytes
        self.openFiles = openFiles
    }

    /// The arguments of prlimit(1). The soft limit of processor time is a second below the hard one, so that SIGXCPU
    /// distinguishes it from other kills.
    ///
    /// A limit of this process that is lower stays: it cannot be raised without a privilege.
    var arguments: [String] {
        let seconds = Self.capped(max(1, Int(processor.components.seconds)), RLIMIT_CPU)
        return [
            "--as=\(Self.capped(memory, RLIMIT_AS))",
            "--cpu=\(seconds):\(Self.capped(seconds + 1, RLIMIT_CPU))",
            "--fsize=\(Self.capped(fileBytes, RLIMIT_FSIZE))",
            "--core=0",
            "--nofile=\(Self.capped(openFiles, RLIMIT_NOFILE))",
        ]
    }

    /// Whether this process may use less memory than a child should.
    var isMemoryReduced: Bool { Self.capped(memory, RLIMIT_AS) < memory || Self.capped(memory, RLIMIT_DATA) < memory }

    private static func capped(_ value: Int, _ resource: __rlimit_resource) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return value }
        return Int(min(UInt64(value), UInt64(limit.rlim_max)))
    }
}
