import Concurrency
import Foundation
import GRDB
import HTTP
package import HTTPTypes
import Logging
package import Storage
package import Upstream

/// One upstream with a scripted network, a clock that the test moves and a database of its own.
package final class Scenario: Sendable {
    /// Something that the test needs is not there.
    private struct Missing: Error {}

    package let clock = ManualClock()
    package let transport = ScriptedTransport()
    package let database: LarderDatabase
    package let upstream: Upstream
    package let accessRecorder = AccessRecorder()
    /// The changes that listeners were notified of, in order.
    package let changes = Watched<[Upstream.Change]>([])

    /// Creates an upstream and its surroundings.
    ///
    /// - Parameter directory: Of the database; nil for one of its own.
    package init(
        attempts: Int = 2,
        budget: CacheBudget = .unlimited,
        directory: DataDirectory? = nil,
        _ adjust: (inout UpstreamConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = UpstreamConfiguration(name: "ships", title: "Ships", baseURL: URL(filePath: "/"))
        guard let url = URL(string: "https://api.test") else { throw Missing() }
        configuration.baseURL = url
        configuration.allowedHosts = ["pictures.test"]
        adjust(&configuration)
        let seen = SchemaMigration("test/001 seen", sql: "CREATE TABLE seen (body TEXT NOT NULL) STRICT")
        database = try .withCacheTables(in: directory ?? .temporary(), migrations: [seen], logger: .quiet)
        upstream = Upstream(
            configuration: configuration,
            transport: transport,
            database: database,
            accessRecorder: accessRecorder,
            budget: budget,
            clock: clock.wallClock,
            jitter: { 0.5 },  // Pauses are then exactly as configured.
            retries: RetryPolicy(attempts: attempts),
            logger: .quiet
        )
        upstream.onChange { [changes] change in changes.update { $0.append(change) } }
    }

    deinit { upstream.stop() }

    /// The list that most tests read; fresh for five seconds.
    package func list(_ path: String = "/list", freshness: Duration? = .seconds(5)) -> Resource {
        var resource = Resource(
            url: "https://api.test\(path)",
            headerFields: [.accept: "application/json"],
            freshness: freshness
        )
        resource.errors = ErrorForm { !$0.body.starts(with: "<html>".utf8) }
        return resource
    }

    /// Returns the stored body of a resource, nil if nothing is stored.
    package func storedBody(_ resource: Resource) throws -> String? {
        guard let stored = try upstream.storedResponse(of: resource) else { return nil }
        return try body(of: stored)
    }

    package func body(of response: CachedResponse?) throws -> String {
        switch response?.body {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .blob(let blob): String(decoding: try database.blobs.reader(blob).readAll(), as: UTF8.self)
        case nil: throw Missing()
        }
    }

    /// Makes a stale copy of a resource.
    package func age(_ resource: Resource, _ body: String = "old", fields: HTTPFields = [:]) async throws {
        transport.then(response(.ok, body, fields: fields))
        _ = try await upstream.read(resource)
        clock.advance(by: .seconds(60))
    }

    /// Makes the database refuse to store responses from now on.
    package func refuseToStore() async throws {
        try await database.write {
            try $0.execute(
                sql: "CREATE TRIGGER refused BEFORE INSERT ON stored_response BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        }
    }

    /// Makes the upstream known to be out of reach.
    package func goDown() async {
        transport.then(failure(.unreachable(.refused)))
        _ = try? await upstream.read(list("/anything-never-stored"), .revalidate)
    }
}

extension ReadResult {
    /// `Cache-Status` as it will be written.
    package var cacheStatus: String? { provenance.cacheStatus?.member(of: "larder") }
}
