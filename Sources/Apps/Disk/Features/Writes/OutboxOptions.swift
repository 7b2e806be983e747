/// What the operator says about writes that wait.
package struct OutboxOptions: Sendable, Equatable {
    /// Most bytes of each account (`disk.outbox_mb`).
    package var bytes: Int
    /// Most writes of each account (`disk.outbox_operations`).
    package var operations: Int

    /// Creates options.
    package init(bytes: Int = 1024 << 20, operations: Int = 1000) {
        self.bytes = bytes
        self.operations = operations
    }
}
