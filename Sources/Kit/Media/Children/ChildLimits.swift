/// What one child process may use (setrlimit(2)), and how long it may take.
public struct ChildLimits: Sendable, Equatable {
    /// Address space, in bytes.
    public var memory: Int
    /// Processor time; whole seconds.
    public var processor: Duration
    /// Time from its start until it is killed.
    public var wall: Duration
    /// Largest file that it may write, in bytes.
    public var fileBytes: Int
    /// Files that it may have open.
    public var openFiles: Int
    /// Bytes of its standard output, and of its standard error, that are kept; the rest is read and dropped.
    public var capturedBytes = 1 << 20

    /// Creates limits.
    public init(memory: Int, processor: Duration, wall: Duration, fileBytes: Int = 512 << 20, openFiles: Int = 256) {
        self.memory = memory
        self.processor = processor
        self.wall = wall
        self.fileBytes = fileBytes
        self.openFiles = openFiles
    }

    /// As arguments of prlimit(1). The soft limit of processor time comes a second before the hard one, so that SIGXCPU
    /// tells it from other kills.
    var arguments: [String] {
        let seconds = max(1, processor.components.seconds)
        return [
            "--as=\(memory)", "--cpu=\(seconds):\(seconds + 1)", "--fsize=\(fileBytes)", "--core=0",
            "--nofile=\(openFiles)",
        ]
    }
}
