package import GRDB

/// Writes a row in the transaction of a change that a task makes: both are committed, or neither.
package struct WriteCompanion: Sendable {
    /// That of the current task.
    @TaskLocal package static var current: WriteCompanion?

    /// The names that a write has to be alone with for its sake.
    let locks: [String]
    private let type: ObjectIdentifier
    private let before: @Sendable (Database) throws -> Void
    private let after: @Sendable (any Sendable, Database) throws -> Void

    /// Creates a companion of a write of one type; writes of others are none of its business.
    ///
    /// - Parameters:
    ///   - type: the type of the value that the write returns.
    ///   - locks: names that the write has to be alone with.
    ///   - before: runs before the updates.
    ///   - after: runs after updates that have changed rows, with the value that they return.
    package init<Value: Sendable>(
        of type: Value.Type,
        locks: [String],
        before: @escaping @Sendable (Database) throws -> Void,
        after: @escaping @Sendable (Value, Database) throws -> Void
    ) {
        self.type = ObjectIdentifier(type)
        (self.locks, self.before) = (locks, before)
        self.after = { value, db in if let value = value as? Value { try after(value, db) } }
    }

    /// The companion of a write of the current task that returns a value of a type; nil if there is none.
    static func ofWrite<Value>(_ type: Value.Type) -> WriteCompanion? {
        current.flatMap { $0.type == ObjectIdentifier(type) ? $0 : nil }
    }

    /// Returns the updates with the companion's own.
    func accompanying<Value: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) -> @Sendable (Database) throws -> Value {
        { [before, after] db in
            try before(db)
            let changes = db.totalChangesCount
            let value = try updates(db)
            if db.totalChangesCount != changes { try after(value, db) }
            return value
        }
    }
}
