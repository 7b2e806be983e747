import TestKit
import Testing

@testable import Cluster

@Suite struct PostgresConnectionOpeningTests {
    private func failure(_ url: String) -> SharedStoreError? {
        var options = SharedDatabaseOptions(url: url)
        options.timeout = .seconds(60)
        return #expect(throws: SharedStoreError.self) { _ = try PostgresConnection.open(options) }
    }

    @Test("A place where no server is, or no database, is named; the password never is")
    func notReached() async throws {
        let elsewhere = failure("postgresql://larder:secret@/larder?host=/nowhere/at/all")
        #expect("\(try #require(elsewhere))".contains("/nowhere/at/all"))
        #expect(!"\(try #require(elsewhere))".contains("secret"))
        let missing = failure(try await RunningPostgres.shared.value.address("none"))
        #expect("\(try #require(missing))".contains("does not exist"))
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
            ("postgresql:///larder", false, false),
        ]
    )
    func encryption(url: String, isSeveral: Bool, isRequired: Bool) {
        let options = SharedDatabaseOptions(url: url)
        #expect(options.hasSeveralHosts == isSeveral)
        #expect(options.requiresTLS == isRequired)
    }

    @Test("SCALE-28 Without a pooler each connection has a session of its own")
    func sessions() async throws { try await Store().database.checkSessions() }

    @Test("A database whose texts are not UTF-8 is refused")
    func encoding() async throws {
        let server = try await RunningPostgres.shared.value
        var options = SharedDatabaseOptions(url: server.address())
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
        var options = SharedDatabaseOptions(url: url)
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
