/// The limits of a child process (setrlimit(2)), and its deadline.
public struct ChildLimits: Sendable, Equatable {
    /// Address space, in bytes.
    public var memory: Int
    /// Processor time; whole seconds.
    public var processor: Duration
    /// Wall time from its start until it is killed.
    public var wall: Duration
    /// Largest file that it may write, in bytes.
    public var fileBytes: Int
    /// Files that it may have open.
    public var openFiles: Int
    /// Bytes of its standard output, and of its standard error, that are kept; the rest is read and discarded.
    public var capturedBytes = 1 << 20

    /// Creates limits.
    public init(memory: Int, processor: Duration, wall: Duration, fileBytes: Int = 512 << 20, openFiles: Int = 256) {
        self.memory = memory
        self.processor = processor
        self.wall = wall
        self.fileBytes = fileBytes
        self.openFiles = openFiles
    }

    /// The arguments of prlimit(1). The soft limit of processor time is a second below the hard one, so that SIGXCPU
    /// distinguishes it from other kills.
    var arguments: [String] {
        let seconds = max(1, processor.components.seconds)
        return [
            "--as=\(memory)", "--cpu=\(seconds):\(seconds + 1)", "--fsize=\(fileBytes)", "--core=0",
            "--nofile=\(openFiles)",
        ]
    }
}
