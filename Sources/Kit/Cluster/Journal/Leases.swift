import Foundation

/// The right of one server to work on something, such as to send the writes of an account, for some time.
package struct Lease: Sendable, Equatable {
    package let name: String
    /// Names the taking: no other server has the same, nor this one at another time.
    let holder: String
    /// Until when no other server takes it, by the clock of this one; nil if there is no other.
    var end: ContinuousClock.Instant?

    /// Whether no other server can have it.
    package func holds(at time: ContinuousClock.Instant = .now) -> Bool { end.map { time < $0 } ?? true }
}

/// Another server has taken a lease since its time was over.
package struct LeaseLost: Error {
    package init() {}
}

/// Grants leases to servers, by the clock of PostgreSQL. On a server by itself each is granted at once.
///
/// A server that stops or is cut off holds its leases until their time is over. One that was cut off for longer must
/// not record its results: ``UserDatabase/write(scope:locks:holding:deleting:contents:_:)`` checks the lease in the
/// transaction that inserts the row of the journal.
package struct Leases: Sendable {
    /// The tables that the leases are in.
    static let migration = PostgresMigration(
        "journal/004 leases",
        sql: """
            -- What one server works on at a time.
            CREATE TABLE journal_lease (
                name text COLLATE "C" PRIMARY KEY,
                holder text COLLATE "C" NOT NULL,
                until timestamptz NOT NULL
            );
            """
    )

    /// A lease ends that much earlier for its holder: clocks do not run alike.
    private static let margin = Duration.seconds(2)

    /// Nil for a server by itself.
    private let store: PostgresDatabase?
    /// Throws while the store is not checked.
    private let checkPrepared: @Sendable () throws -> Void

    init(_ store: PostgresDatabase?, checkPrepared: @escaping @Sendable () throws -> Void = {}) {
        (self.store, self.checkPrepared) = (store, checkPrepared)
    }

    /// Takes a lease.
    ///
    /// - Returns: nil if another holder has it.
    package func take(_ name: String, lasting time: Duration) async throws -> Lease? {
        try await take([name], atMost: 1, lasting: time, lock: "journal/lease/\(name)").first
    }

    /// Takes leases that no other holder has.
    ///
    /// - Parameters:
    ///   - names: in the order of preference.
    ///   - most: the most that are taken, so that other servers take some, too.
    package func take(_ names: [String], atMost most: Int, lasting time: Duration) async throws -> [Lease] {
        guard !names.isEmpty else { return [] }
        return try await take(names, atMost: most, lasting: time, lock: "journal/leases")
    }

    private func take(_ names: [String], atMost most: Int, lasting time: Duration, lock: String) async throws -> [Lease]
    {
        let holder = UUID().uuidString
        guard let store else { return names.prefix(most).map { Lease(name: $0, holder: holder) } }
        try checkPrepared()
        let begun = ContinuousClock.now
        let parameters: [any SQLParameter] = [names, holder, Self.milliseconds(time), most]
        let taken = try await store.write(locks: [lock]) { transaction in
            try transaction.rows(Self.taking, parameters).map { try $0.value("name") as String }
        }
        return taken.map { Lease(name: $0, holder: holder, end: begun + time - Self.margin) }
    }

    /// Prolongs leases, also if their time is over and no other holder has taken them.
    ///
    /// - Returns: those that were not lost.
    package func renew(_ leases: [Lease], lasting time: Duration) async throws -> [Lease] {
        guard let store, !leases.isEmpty else { return leases }
        let begun = ContinuousClock.now
        let parameters: [any SQLParameter] = [leases.map(\.name), leases.map(\.holder), Self.milliseconds(time)]
        let renewed = try await store.write(locks: ["journal/lease/\(leases[0].holder)"]) { transaction in
            Set(try transaction.rows(Self.renewing, parameters).map { try $0.value("name") as String })
        }
        return leases.filter { renewed.contains($0.name) }.map { lease in
            var lease = lease
            lease.end = begun + time - Self.margin
            return lease
        }
    }

    /// Ends leases; those that another holder has taken stay.
    package func release(_ leases: [Lease]) async throws {
        guard let store, !leases.isEmpty else { return }
        let parameters: [any SQLParameter] = [leases.map(\.name), leases.map(\.holder)]
        try await store.write(locks: ["journal/lease/\(leases[0].holder)"]) { transaction in
            try transaction.execute(Self.releasing, parameters)
        }
    }

    /// Checks that no other holder has taken a lease, and that none does before the end of the transaction.
    ///
    /// - Throws: ``LeaseLost``, `ClusterError`.
    static func check(_ lease: Lease, in transaction: SQLTransaction) throws {
        guard try transaction.rows(checking, [lease.name, lease.holder]).first != nil else { throw LeaseLost() }
    }

    private static func milliseconds(_ time: Duration) -> Int64 { Int64(time / .milliseconds(1)) }

    // Rows are locked in the order of their names.
    private static let taking = """
        INSERT INTO journal_lease AS lease (name, holder, until)
        SELECT name, $2, clock_timestamp() + $3 * interval '1 millisecond' FROM (
            SELECT name FROM unnest($1) WITH ORDINALITY AS wanted (name, place)
            WHERE NOT EXISTS (
                SELECT 1 FROM journal_lease AS other WHERE other.name = wanted.name AND until >= clock_timestamp()
            )
            ORDER BY place LIMIT $4
        ) AS free ORDER BY name
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE lease.until < clock_timestamp()
        RETURNING name
        """
    private static let renewing = """
        UPDATE journal_lease AS lease SET until = clock_timestamp() + $3 * interval '1 millisecond'
        FROM (
            SELECT name FROM journal_lease WHERE (name, holder) IN (SELECT * FROM unnest($1, $2))
            ORDER BY name FOR UPDATE
        ) AS held
        WHERE lease.name = held.name RETURNING lease.name AS name
        """
    /// Also deletes leases of servers that have stopped, if no server has taken them over.
    private static let releasing = """
        DELETE FROM journal_lease
        WHERE (name, holder) IN (SELECT * FROM unnest($1, $2)) OR until < clock_timestamp() - interval '1 day'
        """
    private static let checking = "SELECT 1 AS held FROM journal_lease WHERE name = $1 AND holder = $2 FOR UPDATE"
}
