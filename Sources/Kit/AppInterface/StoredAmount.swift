/// An amount of data that an app stores beside the cache, for operators.
public struct StoredAmount: Sendable, Equatable {
    /// What it is, for people.
    public let title: String
    /// A query of one number: bytes, or NULL for none.
    public let sql: String

    /// Describes an amount.
    public init(_ title: String, sql: String) {
        self.title = title
        self.sql = sql
    }
}
