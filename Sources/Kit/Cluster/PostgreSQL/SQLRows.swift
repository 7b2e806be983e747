/// The response to a statement: its rows, valid within the transaction.
package final class SQLRows {
    private let result: PostgresResult

    init(_ result: PostgresResult) {
        self.result = result
    }

    package var count: Int { result.rowCount }

    /// The first row, if there is one.
    package var first: SQLRow? { count > 0 ? SQLRow(result: result, index: 0) : nil }

    /// Returns the values that `transform` makes of the rows, in order.
    ///
    /// - Throws: errors of `transform`.
    package func map<Value>(_ transform: (SQLRow) throws -> Value) rethrows -> [Value] {
        try (0..<count).map { try transform(SQLRow(result: result, index: $0)) }
    }
}

/// A row of a response.
package struct SQLRow {
    let result: PostgresResult
    let index: Int

    /// Returns the value of a column. The caller chooses its type, which is optional if the value may be NULL.
    ///
    /// - Throws: ``SharedStoreError/noSuchColumn(_:)``, ``SharedStoreError/typeMismatch(column:)``.
    package func value<Value: SQLValue>(_ column: String) throws -> Value {
        guard let number = result.column(column) else { throw SharedStoreError.noSuchColumn(column) }
        let bytes = result.bytes(row: index, column: number)
        guard let value = Value(bytes: bytes, typeNumber: result.type(of: number)) else {
            throw SharedStoreError.typeMismatch(column: column)
        }
        return value
    }
}
