import Cluster
import Concurrency
package import Foundation
import GRDB
import HTTPTypes
import Logging
import Server
import Storage

/// The responses of changes whose requests have an `Idempotency-Key`, for a day (decision 187).
package struct KeyedResponses: Sendable {
    /// How long a response is stored at least.
    package static let lifetime = Duration.seconds(86_400)
    /// The most keys of one session or profile at a time.
    static let mostKeys = 4096
    /// How long a server may work on a request.
    private static let longestWork = Duration.seconds(600)
    /// A change of the journal has a limit of size, and one that deletes rows contains them.
    private static let purgeBatch = 16

    /// The request was received before, perhaps by another server.
    struct Known: Error {}

    struct Row {
        let head: Data
        let body: Data?
        /// Nil if it is not known.
        let response: Data?
        let arrival: Date
    }

    private let users: UserDatabase
    private let clock: WallClock
    private let running = KeyedMutex()

    package init(_ sessions: SessionStore) { (users, clock) = (sessions.users, sessions.clock) }

    /// Responds to a request with a key: by its handler, or as to the first request with the key.
    ///
    /// - Parameters:
    ///   - audience: who has sent it.
    ///   - isKept: whether the key is stored before the handler runs, which does so itself otherwise, or stores its
    ///     response (``ScreenRequest/keepKey()``, ``ScreenRequest/answering(_:to:)``).
    /// - Throws: 409 `idempotency-key-in-use`, 422 `idempotency-key-reused`, 502 `outcome-unknown`; errors of `handle`.
    func respond(
        to request: ScreenRequest,
        _ key: IdempotencyKey,
        audience: String,
        isKept: Bool,
        _ handle: (ScreenRequest) async throws -> ScreenResponse
    ) async throws -> ScreenResponse {
        let keyed = KeyedRequest(request, key, audience: audience, in: users, at: clock.now())
        let request = request.keyed(by: keyed)
        return try await running.holding([keyed.id.base64EncodedString()]) {
            _ = try await users.catchUp()
            if let row = try stored(keyed) { return try await repeated(row, keyed, request) }
            do {
                if isKept { try await keyed.keep() }
                let response = try await handle(request)
                return keyed.isAnswered ? response : try await complete(keyed, response, request)
            } catch is Known {
                guard let row = try stored(keyed) else { throw Problem.keyInUse }
                return try await repeated(row, keyed, request)
            } catch {
                // Another server may have made the change between the look above and the handler's.
                if let row = try stored(keyed), row.response != nil { return try await repeated(row, keyed, request) }
                if keyed.isKept, Self.hasChangedNothing(error) { await forget(keyed, request) }
                throw error
            }
        }
    }

    private func stored(_ keyed: KeyedRequest) throws -> Row? { try users.read { try Self.row(keyed.id, $0) } }

    /// Returns the first response, if the request is the first one again.
    private func repeated(_ row: Row, _ keyed: KeyedRequest, _ request: ScreenRequest) async throws -> ScreenResponse {
        guard row.head == keyed.head else { throw Problem.keyReused }
        guard let sealed = row.response else {
            let age = clock.now().timeIntervalSince(row.arrival)
            throw users.isShared && age < Self.longestWork.seconds ? Problem.keyInUse : Problem.keyWithoutResponse
        }
        if let code = row.body {
            if keyed.isUnread { for try await _ in request.bodyStream {} }
            if let body = keyed.bodyCode, body != code { throw Problem.keyReused }
        }
        return try keyed.open(sealed)
    }

    /// Stores the response of a change that is committed, or made elsewhere. If that fails, a repetition is refused.
    private func complete(_ keyed: KeyedRequest, _ response: ScreenResponse, _ request: ScreenRequest) async throws
        -> ScreenResponse
    {
        do {
            // Also for a client that has left: it is the one that repeats the request.
            try await Task {
                try await users.write(scope: keyed.scope) { db in
                    let row = try Self.row(keyed.id, db)
                    if row?.response != nil { throw Known() }
                    try Self.insert(keyed, response, db)
                }
            }.value
        } catch let error where !(error is Known) {
            request.logger.error(
                "the response of a change could not be stored for repetitions",
                metadata: ["error": "\(error)"]
            )
        }
        return response
    }

    /// Forgets a key whose request has changed nothing.
    private func forget(_ keyed: KeyedRequest, _ request: ScreenRequest) async {
        do {
            try await Task {
                try await users.write(scope: keyed.scope) { db in
                    // That of another server has another time.
                    let sql = "DELETE FROM keyed_response WHERE id = ? AND response IS NULL AND arrival = ?"
                    try db.cachedStatement(sql: sql).execute(arguments: [keyed.id, keyed.arrival])
                }
            }.value
        } catch {
            request.logger.error("the key of a refused request stays", metadata: ["error": "\(error)"])
        }
    }

    /// Whether an error says that nothing was changed, so that the same request may be made again.
    private static func hasChangedNothing(_ error: any Error) -> Bool {
        switch error {
        case let problem as Problem: ![.outcomeUnknown, .internal].contains(problem.code)
        case let failure as UpstreamFailure: failure.problem.code != .outcomeUnknown
        case let error as ClusterError: error != .outcomeUnknown
        // A body is read before the change, and an upload whose body is cut off leaves no file.
        case is CancellationError, is StorageError, is RequestBodyError: true
        default: false
        }
    }

    /// Removes the responses that are older than a day.
    ///
    /// - Returns: their number.
    /// - Throws: `StorageError`, `ClusterError`, `CancellationError`.
    @Sendable package func purge(at now: Date) async throws -> Int {
        let oldest = now.addingTimeInterval(-Self.lifetime.seconds).millisecondsSince1970
        var (count, removed) = (0, 0)
        _ = try await users.catchUp()
        guard try users.read({ try Self.firstArrival($0) }).map({ $0 < oldest }) ?? false else { return 0 }
        repeat {
            removed = try await users.write(scope: "responses", deleting: .toTrash) { db in
                let statement = try db.cachedStatement(sql: Self.delete)
                try statement.execute(arguments: [oldest, Self.purgeBatch])
                return db.changesCount
            }
            count += removed
        } while removed == Self.purgeBatch
        return count
    }
}

// The table. Rows are never replaced while they are stored, and removed by age alone: so changes of two servers to one
// row do not conflict.
extension KeyedResponses {
    static let table = "keyed_response"

    static let migration = SchemaMigration(
        "sessions/005 keyed responses",
        sql: """
            -- The first response to a change, by the Idempotency-Key of its request.
            CREATE TABLE keyed_response (
                id BLOB NOT NULL PRIMARY KEY,   -- digest of the key and of who has sent it
                audience BLOB NOT NULL,         -- digest of who has sent it
                head BLOB NOT NULL,             -- code of method and target, by the key
                body BLOB,                      -- code of the body, by the key; NULL if it was not read whole, or is a form
                response BLOB,                  -- sealed by the key; NULL if it is not known
                arrival INTEGER NOT NULL        -- milliseconds since 1970 UTC
            ) STRICT;
            CREATE INDEX keyed_response_arrival ON keyed_response (arrival);
            CREATE INDEX keyed_response_audience ON keyed_response (audience);
            """
    )

    static func row(_ id: Data, _ db: Database) throws -> Row? {
        let sql = "SELECT head, body, response, arrival FROM keyed_response WHERE id = ?"
        return try GRDB.Row.fetchOne(db.cachedStatement(sql: sql), arguments: [id]).map { row in
            try Row(head: row.value(0), body: row.value(1), response: row.value(2), arrival: row.date(3))
        }
    }

    /// Stores a key, with the response if that is known already.
    ///
    /// - Throws: ``Known`` if it is stored already, and no response is given; 400 `invalid-parameter` if there are too
    ///   many keys of the audience.
    static func insert(_ keyed: KeyedRequest, _ response: ScreenResponse?, _ db: Database) throws {
        let sealed = try response.flatMap { try keyed.seal($0) }
        if try row(keyed.id, db) != nil {
            guard response != nil else { throw Known() }
            try db.cachedStatement(sql: "UPDATE keyed_response SET body = ?, response = ? WHERE id = ?")
                .execute(arguments: [keyed.bodyCode, sealed, keyed.id])
            return
        }
        let last = try db.cachedStatement(sql: selectLast)
        guard try Int.fetchOne(last, arguments: [keyed.audience, mostKeys - 1]) == nil else { throw Problem.manyKeys }
        try db.cachedStatement(sql: "INSERT INTO keyed_response VALUES (?, ?, ?, ?, ?, ?)")
            .execute(arguments: [keyed.id, keyed.audience, keyed.head, keyed.bodyCode, sealed, keyed.arrival])
    }

    private static func firstArrival(_ db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT min(arrival) FROM keyed_response")
    }

    private static let selectLast = "SELECT 1 FROM keyed_response WHERE audience = ? LIMIT 1 OFFSET ?"
    private static let delete = """
        DELETE FROM keyed_response WHERE id IN (
            SELECT id FROM keyed_response WHERE arrival < ? ORDER BY arrival LIMIT ?
        )
        """
}

extension Problem {
    fileprivate static let keyReused = Problem(.idempotencyKeyReused, .keyReused)
    fileprivate static let keyInUse = Problem(.idempotencyKeyInUse, .keyInUse, headerFields: [.retryAfter: "1"])
    fileprivate static let keyWithoutResponse = Problem(.outcomeUnknown, .keyWithoutResponse)
    fileprivate static let manyKeys = invalidParameter(
        "Idempotency-Key",
        accepted: "is not accepted: there were \(KeyedResponses.mostKeys) within a day; leave it out"
    )
}
