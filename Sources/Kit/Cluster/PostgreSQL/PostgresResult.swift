import CPQ

/// The server's response to one statement.
final class PostgresResult {
    private let result: OpaquePointer

    /// Takes a result of libpq, and frees it with the value.
    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit { larder_PQclear(result) }

    /// Why the server refused the statement; nil if it did not.
    var failure: ConnectionFailure? {
        switch larder_PQresultStatus(result) {
        case Int32(LARDER_PQ_COMMAND_OK), Int32(LARDER_PQ_TUPLES_OK): return nil
        default:
            // Without a code it is libpq's own: the connection ended.
            guard let code = field(LARDER_PQ_FIELD_SQLSTATE) else { return .lost }
            return .server(
                ServerError(
                    code: code,
                    constraint: field(LARDER_PQ_FIELD_CONSTRAINT),
                    message: field(LARDER_PQ_FIELD_MESSAGE)
                )
            )
        }
    }

    /// The command that was completed, such as `COMMIT` or `INSERT 0 1`.
    var command: String { String(cString: larder_PQcmdStatus(result)) }

    /// Number of rows that were changed.
    var changedRows: Int { Int(String(cString: larder_PQcmdTuples(result))) ?? 0 }

    var rows: [SQLRow] { (0..<Int(larder_PQntuples(result))).map { SQLRow(result: self, index: $0) } }

    /// Returns the number of a column, or nil if there is no such column.
    func column(_ name: String) -> Int32? {
        // libpq folds names that are not quoted to lower case.
        let number = larder_PQfnumber(result, "\"\(name)\"")
        return number < 0 ? nil : number
    }

    /// Returns the number of a column's type.
    func type(of column: Int32) -> UInt32 { larder_PQftype(result, column) }

    /// Returns the bytes of a value, valid as long as the result, or nil for NULL.
    func bytes(row: Int, column: Int32) -> UnsafeRawBufferPointer? {
        guard larder_PQgetisnull(result, Int32(row), column) == 0 else { return nil }
        let count = Int(larder_PQgetlength(result, Int32(row), column))
        return UnsafeRawBufferPointer(start: larder_PQgetvalue(result, Int32(row), column), count: count)
    }

    private func field(_ field: some BinaryInteger) -> String? {
        larder_PQresultErrorField(result, Int32(field)).map { String(cString: $0) }
    }
}

/// A row of a response.
package struct SQLRow {
    let result: PostgresResult
    let index: Int

    /// Returns the value of a column. The caller chooses its type, which is optional if the value may be NULL.
    ///
    /// - Throws: ``ClusterError/noSuchColumn(_:)``, ``ClusterError/typeMismatch(column:)``.
    package func value<Value: SQLValue>(_ column: String) throws -> Value {
        guard let number = result.column(column) else { throw ClusterError.noSuchColumn(column) }
        let bytes = result.bytes(row: index, column: number)
        guard let value = Value(bytes: bytes, typeNumber: result.type(of: number)) else {
            throw ClusterError.typeMismatch(column: column)
        }
        return value
    }
}
