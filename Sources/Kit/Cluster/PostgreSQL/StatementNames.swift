/// The statements that a connection has prepared.
///
/// Their texts are constants of the program, so there are few. The limit holds if one was put together after all.
struct StatementNames {
    private struct Statement: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private static let most = 500
    private var names: [Statement: String] = [:]

    /// Whether there is no room for another one.
    var isFull: Bool { names.count >= Self.most }

    /// The name of the next one.
    var nextName: String { "s\(names.count)" }

    /// Returns the name of a statement that was prepared for parameters of these types.
    func name(_ sql: String, _ types: [UInt32]) -> String? { names[Statement(sql: sql, types: types)] }

    /// Adds a statement that was prepared as ``nextName``.
    mutating func add(_ sql: String, _ types: [UInt32]) {
        names[Statement(sql: sql, types: types)] = nextName
    }
}
