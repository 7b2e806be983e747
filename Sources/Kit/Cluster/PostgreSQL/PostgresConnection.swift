import CPQ
import Glibc

/// One connection to the server. It is used by one thread at a time, which it blocks until the server has responded or
/// the deadline of the operation is over.
final class PostgresConnection {
    let connection: OpaquePointer
    /// Counted by libpq: the server's notices beside its responses.
    private let remarks: UnsafeMutablePointer<Int>
    private var statements = StatementNames()
    /// When the current operation has to end.
    var deadline: Deadline
    /// Whether it can be used no more.
    private(set) var isBroken = false

    /// Takes a connection that libpq has begun to open.
    init(_ connection: OpaquePointer, deadline: Deadline) {
        self.connection = connection
        self.deadline = deadline
        remarks = .allocate(capacity: 1)
        remarks.initialize(to: 0)
        larder_pq_count_remarks(connection, remarks)
    }

    deinit {
        larder_PQfinish(connection)
        remarks.deallocate()
    }

    /// The socket, which changes while the connection is opened.
    var socket: Int32 { larder_PQsocket(connection) }

    /// Number of remarks of the server so far, such as warnings.
    var remarkCount: Int { remarks.pointee }

    /// libpq's last error message about the connection, on one line.
    var message: String {
        String(cString: larder_PQerrorMessage(connection)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The server's version, such as 150018 for 15.18.
    var serverVersion: Int { Int(larder_PQserverVersion(connection)) }

    /// Returns a parameter that the server reports.
    func parameter(_ name: String) -> String? {
        larder_PQparameterStatus(connection, name).map { String(cString: $0) }
    }

    /// Takes a step of opening; libpq's state after it.
    func openFurther() -> Int32 { larder_PQconnectPoll(connection) }

    /// Completes opening: statements are sent without blocking from here on.
    func opened() throws {
        guard larder_PQsetnonblocking(connection, 1) == 0 else { throw lost() }
    }

    /// Whether the connection has not ended while it was idle. Asks no server.
    func isAlive() -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        // Usually there is nothing to read: then the other side has not closed it. Bytes that have arrived may be the
        // server's last words, with the end after them.
        while !isBroken, poll(&descriptor, 1, 0) != 0 {
            isBroken = larder_PQconsumeInput(connection) == 0
            if larder_PQstatus(connection) != LARDER_PQ_CONNECTION_OK { isBroken = true }
        }
        return !isBroken
    }

    /// Runs a script without parameters, of one or several statements.
    ///
    /// - Returns: the response to its last statement.
    @discardableResult
    func run(_ script: String) throws -> PostgresResult {
        guard larder_PQsendQuery(connection, script) == 1 else { throw lost() }
        return try response()
    }

    /// Runs a statement, which the server prepares at its first use.
    ///
    /// - Throws: ``ConnectionFailure``, ``ClusterError/textNotStorable``.
    func run(_ sql: String, _ parameters: [any SQLParameter]) throws -> PostgresResult {
        let arguments = try PostgresArguments(parameters)
        let name = try prepared(sql, arguments.types)
        let isSent = arguments.withPointers { values, lengths, formats in
            larder_PQsendQueryPrepared(connection, name, Int32(lengths.count), values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        return try response()
    }

    /// Returns the name of a prepared statement.
    private func prepared(_ sql: String, _ types: [UInt32]) throws -> String {
        if let name = statements.name(sql, types) { return name }
        if statements.isFull {
            try run("DEALLOCATE ALL")
            statements = StatementNames()
        }
        let name = statements.nextName
        guard larder_PQsendPrepare(connection, name, sql, Int32(types.count), types) == 1 else { throw lost() }
        _ = try response()
        statements.add(sql, types)
        return name
    }

    /// Sends the queued output, and receives until the server is ready for the next statement.
    private func response() throws -> PostgresResult {
        try flush()
        var last: PostgresResult?
        var failure: ConnectionFailure?
        while true {
            while larder_PQisBusy(connection) == 1 { try receive() }
            guard let next = larder_PQgetResult(connection) else { break }
            let result = PostgresResult(next)
            failure = failure ?? result.failure
            last = result
        }
        if larder_PQstatus(connection) != LARDER_PQ_CONNECTION_OK { isBroken = true }
        if let failure {
            if failure == .lost { isBroken = true }
            throw failure
        }
        guard let last else { throw lost() }
        return last
    }

    /// Returns the number of the server's process, whose session this is.
    func session() throws -> String {
        let result = try run("SELECT pg_backend_pid()")
        return String(decoding: result.bytes(row: 0, column: 0) ?? .init(start: nil, count: 0), as: UTF8.self)
    }

    /// Has the connection closed after the operation that uses it.
    func retire() {
        isBroken = true
    }

    /// Retires the connection, and returns the error for it.
    func lost() -> ConnectionFailure {
        retire()
        return .lost
    }
}

/// The statements that a connection has prepared.
///
/// Their texts are constants of the program, so there are few. The limit holds if one was put together after all.
private struct StatementNames {
    private struct Statement: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private static let most = 500
    private var names: [Statement: String] = [:]

    /// Whether there is no room for another one.
    var isFull: Bool { names.count >= Self.most }

    var nextName: String { "s\(names.count)" }

    /// Returns the name of a statement that was prepared for parameters of these types.
    func name(_ sql: String, _ types: [UInt32]) -> String? { names[Statement(sql: sql, types: types)] }

    /// Adds a statement that was prepared as ``nextName``.
    mutating func add(_ sql: String, _ types: [UInt32]) {
        names[Statement(sql: sql, types: types)] = nextName
    }
}

/// The parameters of a statement, as libpq takes them: all bytes in one block.
private struct PostgresArguments {
    /// The numbers of their types.
    let types: [UInt32]
    private var bytes: [UInt8] = []
    /// Where each begins; nil for NULL.
    private var places: [Int?] = []
    private var lengths: [Int32] = []

    /// Encodes parameters.
    ///
    /// - Throws: ``ClusterError/textNotStorable``.
    init(_ parameters: [any SQLParameter]) throws {
        types = parameters.map { type(of: $0).typeNumber }
        for parameter in parameters {
            let encoded = try parameter.encoded()
            places.append(encoded.map { _ in bytes.count })
            lengths.append(Int32(encoded?.count ?? 0))
            bytes += encoded ?? []
        }
        // An empty block has no address, which would mean NULL.
        bytes.append(0)
    }

    /// Runs `body` with pointers to the values, their lengths, and their formats: 1, binary, for each.
    func withPointers<Value>(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { block in
            let start = block.assumingMemoryBound(to: CChar.self).baseAddress
            let values = places.map { place in place.flatMap { start?.advanced(by: $0) } }
            return body(values, lengths, Array(repeating: 1, count: lengths.count))
        }
    }
}
