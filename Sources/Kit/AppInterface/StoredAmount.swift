/// An amount of data that an app stores beside the cache, for operators.
package struct StoredAmount: Sendable, Equatable {
    /// What it is, for people.
    package let title: String
    /// A query of one number: bytes, or NULL for none.
    package let sql: String

    /// Describes an amount.
    package init(_ title: String, sql: String) {
        self.title = title
        self.sql = sql
    }
}
