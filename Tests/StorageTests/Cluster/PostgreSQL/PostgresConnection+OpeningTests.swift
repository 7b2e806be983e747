import Synchronization
import TestKit
import Testing

@testable import Cluster

@Suite struct PostgresConnectionOpeningTests {
    private func failure(_ url: String) -> ClusterError? {
        var options = PostgresOptions(url: url)
        options.timeout = .seconds(60)
        return #expect(throws: ClusterError.self) { _ = try PostgresConnection.open(options) }
    }

    @Test("A place where no server is, or no database, is named; the password never is")
    func notReached() async throws {
        let elsewhere = failure("postgresql://larder:secret@/larder?host=/nowhere/at/all")
        #expect("\(try #require(elsewhere))".contains("/nowhere/at/all"))
        #expect(!"\(try #require(elsewhere))".contains("secret"))
        let missing = failure(try await RunningPostgres.shared.value.address("none"))
        guard case .unavailable(.notAdmitted(let reason)) = missing else {
            Issue.record("\(missing as Any)")
            return
        }
        #expect(reason.hasSuffix("FATAL: database \"none\" does not exist"))
    }

    @Test("An address that libpq cannot read is an error", arguments: ["postgresql://[", "host=/x nonsense=1"])
    func malformed(url: String) throws {
        guard case .unavailable(.notReached(let reason)) = failure(url) else {
            Issue.record("it was accepted")
            return
        }
        #expect(!reason.isEmpty && !reason.contains("\n"))
    }

    @Test(
        "SCALE-28 Connections to other machines are encrypted, unless the address says otherwise",
        arguments: [
            ("postgresql://larder@db.example:5432/larder", false, true),
            ("postgresql://larder:a%40b@192.0.2.1/larder", false, true),
            ("postgresql://larder@/larder?host=db.example", false, true),
            ("postgresql://db.example/larder?hostaddr=10.0.0.5", false, true),
            ("postgresql://db.example/larder?sslmode=disable", false, false),
            ("postgresql://larder@127.0.0.1:5432/larder", false, false),
            ("postgresql://larder@[::1]:5432/larder", false, false),
            ("postgresql://larder@localhost/larder?host=/run/postgresql&options=-c", false, false),
            ("postgresql://one,two:1/larder", true, true), ("postgresql:///larder?host=one%2Ctwo", true, true),
            ("postgresql:///larder", false, false), ("postgresql://%2Frun%2Fpostgresql/larder", false, false),
        ]
    )
    func encryption(url: String, isSeveral: Bool, isRequired: Bool) {
        let options = PostgresOptions(url: url)
        #expect(options.hasSeveralHosts == isSeveral)
        #expect(options.requiresTLS == isRequired)
    }

    @Test(
        "SCALE-28 The name of a server is looked up, not an address or the folder of a socket",
        arguments: [
            ("postgresql://larder@db.example:5432/larder", "db.example"),
            ("postgresql://localhost/larder", "localhost"),
            ("postgresql://larder@/larder?host=db.example", "db.example"), ("postgresql://192.0.2.1/larder", nil),
            ("postgresql://a.example/larder?host=b.example", "b.example"), ("postgresql://[::1]:5432/larder", nil),
            ("postgresql://db.example/larder?hostaddr=10.0.0.5", nil), ("postgresql:///larder", nil),
            ("postgresql:///larder?host=/run/postgresql", nil), ("postgresql://%2Frun%2Fpostgresql/larder", nil),
        ]
    )
    func name(url: String, name: String?) { #expect(PostgresOptions(url: url).hostName == name) }

    @Test("SCALE-25 SCALE-28 A name that no name server knows in time costs an operation its time, and one thread")
    func slowLookup() async throws {
        let (gate, lookups) = (ThreadGate(), Watched(0))
        var options = PostgresOptions(url: "postgresql://db.example:1/larder?sslmode=disable")
        options.timeout = .milliseconds(20)
        options.lookup = HostLookup { _ in
            lookups.update { $0 += 1 }
            gate.hold()
            return .success(["127.0.0.1", "::1"])
        }
        for _ in 0..<3 {
            #expect(throws: ClusterError.unavailable(.timedOut)) { _ = try PostgresConnection.open(options) }
        }
        await gate.arrived()
        #expect(lookups.value == 1)
        gate.open()
        options.timeout = .seconds(60)
        // The port of no server (RFC 1078): libpq has tried both addresses.
        let error = #expect(throws: ClusterError.self) { _ = try PostgresConnection.open(options) }
        for text in ["\"127.0.0.1\", port 1 failed", "\"::1\", port 1 failed"] {
            #expect("\(try #require(error))".contains(text), "\(error as Any)")
        }
        options.lookup = HostLookup { _ in .failure(HostLookup.Failure(reason: "Name or service not known")) }
        let unknown = #expect(throws: ClusterError.self) { _ = try PostgresConnection.open(options) }
        #expect("\(try #require(unknown))".contains("\"db.example\" to address: Name or service not known"))
        #expect(try HostLookup.system("localhost").get().contains { ["127.0.0.1", "::1"].contains($0) })
    }

    @Test("SCALE-28 Without a pooler each connection has a session of its own")
    func sessions() async throws { try await Store().database.checkSessions() }

    @Test("A database whose texts are not UTF-8 is refused")
    func encoding() async throws {
        let server = try await RunningPostgres.shared.value
        var options = PostgresOptions(url: server.address())
        options.timeout = .seconds(60)
        let connection = try PostgresConnection.open(options)
        connection.deadline = Deadline(after: options.timeout)
        try connection.run("SET default_transaction_read_only = off")
        try connection.run("CREATE DATABASE bytes ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0")
        #expect(failure(server.address("bytes")) == .serverUnusable("the database must have the encoding UTF8"))
    }

    @Test("Times and the protection of reads hold on each connection; the address can name a schema")
    func settings() async throws {
        let url = try await RunningPostgres.shared.value.address() + "&options=-csearch_path%3Dlarder_a"
        var options = PostgresOptions(url: url)
        options.timeout = .milliseconds(61_500)
        options.name = "larder n1"
        let connection = try PostgresConnection.open(options)
        let row = try SQLTransaction(connection).rows(
            """
            SELECT current_setting('statement_timeout') AS statement, current_setting('search_path') AS path,
                   current_setting('default_transaction_read_only') AS protected,
                   current_setting('idle_in_transaction_session_timeout') AS idle,
                   current_setting('application_name') AS name
            """
        ).first
        let values: [String?] = try ["statement", "path", "protected", "idle", "name"].map { try row?.value($0) }
        #expect(values == ["61500ms", "larder_a", "on", "61500ms", "larder n1"])
    }
}

/// Errors of a commit whose outcome the client cannot know.
@Suite struct CommitTests {
    /// Runs code of the server at the commit of a change, after all its statements.
    private func outcome(of code: String) async throws -> (error: ClusterError?, attempts: Int, kept: Int?) {
        let store = try await Store().withCounters()
        try await store.database.write { transaction in
            try transaction.execute(
                """
                CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN \(code); RETURN NULL; END $$
                """
            )
            try transaction.execute(
                """
                CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON counter DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION at_commit()
                """
            )
        }
        let attempts = Atomic(0)
        let error = await #expect(throws: ClusterError.self) {
            try await store.database.write { transaction in
                attempts.add(1, ordering: .relaxed)
                try transaction.increment("a")
            }
        }
        return (error, attempts.load(ordering: .relaxed), try await store.counters()["a"])
    }

    @Test("If the connection ends during a commit, the outcome is unknown, and the change is not repeated")
    func lost() async throws {
        let outcome = try await outcome(of: "PERFORM pg_terminate_backend(pg_backend_pid())")
        #expect(outcome.error == .outcomeUnknown && outcome.attempts == 1 && outcome.kept == nil)
    }

    @Test("A commit that no standby has confirmed is not acknowledged, although this server has kept it")
    func unconfirmed() async throws {
        let outcome = try await outcome(of: "RAISE WARNING 'canceling wait for synchronous replication'")
        #expect(outcome.error == .outcomeUnknown && outcome.attempts == 1 && outcome.kept == 1)
    }

    @Test("An error of the checks before a commit says that nothing was kept")
    func checked() async throws {
        let outcome = try await outcome(of: "RAISE SQLSTATE '23505' USING CONSTRAINT = 'late'")
        #expect(outcome.error == .notUnique(constraint: "late") && outcome.attempts == 1 && outcome.kept == nil)
    }

    @Test("A conflict that is found at the commit repeats the change")
    func conflict() async throws {
        let outcome = try await outcome(of: "RAISE SQLSTATE '40001'")
        #expect(outcome.error == .unavailable(.contended) && outcome.attempts == TransactionPlan.mostAttempts)
        #expect(outcome.kept == nil)
    }
}
