import Foundation
import GRDB
import HTTPCaching
import HTTPTypes
import Logging
import Storage
import Testing

@testable import Upstream

/// One upstream with a scripted network, a clock that the test moves and a database of its own.
final class Scenario: Sendable {
    let clock = ManualClock()
    let transport = ScriptedTransport()
    let database: LarderDatabase
    let upstream: Upstream
    let accessRecorder = AccessRecorder()
    /// What listeners were told, in order.
    let changes = Watched<[Upstream.Change]>([])

    init(
        attempts: Int = 2,
        budget: CacheBudget = .unlimited,
        _ adjust: (inout UpstreamConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = UpstreamConfiguration(
            name: "ships",
            title: "Ships",
            baseURL: try #require(URL(string: "https://api.test"))
        )
        configuration.allowedHosts = ["pictures.test"]
        adjust(&configuration)
        database = try LarderDatabase.temporary(migrations: [
            SchemaMigration("test/001 seen", sql: "CREATE TABLE seen (body TEXT NOT NULL) STRICT")
        ])
        upstream = Upstream(
            configuration: configuration,
            transport: transport,
            database: database,
            accessRecorder: accessRecorder,
            budget: budget,
            clock: clock.wallClock,
            jitter: { 0.5 },  // Pauses are then exactly as configured.
            retries: RetryPolicy(attempts: attempts),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        upstream.onChange { [changes] change in changes.update { $0.append(change) } }
    }

    deinit { upstream.stop() }

    /// The list that most tests read; fresh for five seconds.
    func list(_ path: String = "/list", freshness: Duration? = .seconds(5)) -> Resource {
        var resource = Resource(
            url: "https://api.test\(path)",
            headerFields: [.accept: "application/json"],
            freshness: freshness
        )
        resource.errors = ErrorForm { !$0.body.starts(with: "<html>".utf8) }
        return resource
    }

    /// What is stored of a resource, nil for nothing.
    func storedBody(_ resource: Resource) throws -> String? {
        guard let stored = try upstream.storedResponse(of: resource) else { return nil }
        return try body(of: stored)
    }

    func body(of response: CachedResponse?) throws -> String {
        switch try #require(response).body {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let blob): String(decoding: try database.blobs.reader(blob).readAll(), as: UTF8.self)
        }
    }

    /// Makes a stale copy of a resource.
    func age(_ resource: Resource, _ body: String = "old", fields: HTTPFields = [:]) async throws {
        transport.then(response(.ok, body, fields: fields))
        _ = try await upstream.read(resource)
        clock.advance(by: .seconds(60))
    }

    /// From now on the database takes no stored response.
    func refuseToStore() async throws {
        try await database.write {
            try $0.execute(
                sql: "CREATE TRIGGER refused BEFORE INSERT ON stored_response BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        }
    }

    /// Makes the upstream known to be out of reach.
    func goDown() async {
        transport.then(failure(.unreachable(.refused)))
        _ = try? await upstream.read(list("/anything-never-stored"), .revalidate)
    }
}

extension ReadResult {
    /// `Cache-Status` as it will be written.
    var cacheStatus: String? { provenance.cacheStatus?.member(of: "larder") }
}
