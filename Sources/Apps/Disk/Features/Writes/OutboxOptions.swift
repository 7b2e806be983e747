/// What the operator says about writes that wait.
public struct OutboxOptions: Sendable, Equatable {
    /// Most bytes of each account (`disk.outbox_mb`).
    public var bytes: Int
    /// Most writes of each account (`disk.outbox_operations`).
    public var operations: Int

    /// Creates options.
    public init(bytes: Int = 1024 << 20, operations: Int = 1000) {
        self.bytes = bytes
        self.operations = operations
    }
}
