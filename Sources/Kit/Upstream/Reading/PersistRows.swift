public import GRDB

extension Resource {
    /// Writes the rows that an app makes of a response, in the transaction that stores the response: both change
    /// together or not at all.
    ///
    /// SQLite has one writer. Rows for which other writers would wait too long are written in parts.
    public struct PersistRows: Sendable {
        private let next: @Sendable (Database) throws -> Bool

        /// Makes no rows.
        public static let none = PersistRows { _ in }

        /// Writes all rows in the transaction that stores the response.
        public init(_ write: @escaping @Sendable (Database) throws -> Void) {
            self.init(next: { db in
                try write(db)
                return true
            })
        }

        private init(next: @escaping @Sendable (Database) throws -> Bool) {
            self.next = next
        }

        /// Writes rows in parts: the last one in the transaction that stores the response, each other one before, in a
        /// transaction of its own. If a part fails, those before it stay. The response is not stored then, so that the
        /// next read requests it again.
        ///
        /// - Parameter next: Writes the next part. Returns whether it was the last one.
        public static func inParts(_ next: @escaping @Sendable (Database) throws -> Bool) -> PersistRows {
            PersistRows(next: next)
        }

        /// Writes the next part.
        ///
        /// - Returns: Whether it was the last one.
        /// - Throws: What the app throws; errors of the database.
        public func writeNext(in db: Database) throws -> Bool { try next(db) }
    }
}
