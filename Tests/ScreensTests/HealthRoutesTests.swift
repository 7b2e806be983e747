import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Server
import Storage
import TestKit
import Testing
import Upstream

@testable import Screens

struct HealthRoutesTests {
    private struct Broken: Error {}
    private let clock = WallClock(now: { ten }, sleep: { _ in throw CancellationError() })

    @Test("SRV-12 Liveness, readiness and metrics")
    func health() async throws {
        let routes = HealthRoutes(
            checks: [.init("database") {}],
            exposition: { $0 == .prometheus ? "a 1\n" : "# EOF\n" }
        ).routes
        let harness = try ScreenHarness(routes)
        #expect(try await harness.serve(.get, "/health/live").text == #"{"status":"live","checks":[]}"#)
        let ready = try await harness.serve(.get, "/health/ready")
        #expect(ready.status == .ok && ready.text == #"{"status":"ready","checks":[{"name":"database","ok":true}]}"#)
        #expect(ready.fields[.cacheControl] == "no-store")
        let metrics = try await harness.serve(.get, "/metrics")
        #expect(metrics.text == "a 1\n" && metrics.fields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
    }

    @Test("TRUST-17 OpenMetrics for those who prefer it")
    func openMetrics() async throws {
        let routes = HealthRoutes(checks: [], exposition: { $0 == .prometheus ? "a 1\n" : "# EOF\n" }).routes
        let harness = try ScreenHarness(routes)
        let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        let served = try await harness.serve(.get, "/metrics", [.accept: prometheus])
        #expect(served.text == "# EOF\n")
        #expect(served.fields[.contentType] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(served.fields[.vary]?.contains("Accept") == true)
        for accept in ["*/*", "text/plain, application/openmetrics-text;q=0.5"] {
            #expect(try await harness.serve(.get, "/metrics", [.accept: accept]).text == "a 1\n")
        }
    }

    @Test("SRV-03 Load balancers probe by HTTP/1.0 without Host; nothing else is served without it")
    func withoutHost() async throws {
        let routes = HealthRoutes(checks: [], exposition: { _ in "" }).routes
        let harness = try ScreenHarness(routes)
        for path in ["/health/live", "/health/ready"] {
            #expect(try await harness.serve(.get, path, authority: nil).status == .ok)
        }
        #expect(try await harness.serve(.get, "/metrics", authority: nil).status == .forbidden)
    }

    @Test("SRV-12 Not ready is 503 and says which check fails, not why")
    func notReady() async throws {
        let routes = HealthRoutes(checks: [.init("a") {}, .init("b") { throw Broken() }], exposition: { _ in "" })
            .routes
        let served = try await ScreenHarness(routes).serve(.get, "/health/ready")
        #expect(served.status == .serviceUnavailable)
        #expect(served.text == #"{"status":"not-ready","checks":[{"name":"a","ok":true},{"name":"b","ok":false}]}"#)
    }

    @Test("SCALE-23 Not to reach the store is 503 for proxies that ask for it, and nothing to others")
    func store() async throws {
        let isAway = Watched(false)
        let checks = HealthRoutes.Check("a") {}
        let routes = HealthRoutes(
            checks: [checks],
            store: { if isAway.value { throw ClusterError.unavailable(.timedOut) } },
            exposition: { _ in "" }
        ).routes
        let harness = try ScreenHarness(routes)
        let well = try await harness.serve(.get, "/health/ready?store=1", authority: nil)
        #expect(well.status == .ok && well.text == #"{"status":"ready","checks":[{"name":"a","ok":true}]}"#)
        isAway.update { $0 = true }
        for path in ["/health/ready", "/health/ready?store=0", "/health/live"] {
            #expect(try await harness.serve(.get, path).status == .ok)
        }
        let away = try await harness.serve(.get, "/health/ready?store=1", authority: nil)
        #expect(try away.status == .serviceUnavailable && away.code() == "store-unavailable")
        #expect(away.fields[.retryAfter] != nil && away.fields[.cacheControl] == "no-store")
        #expect(try await harness.serve(.get, "/health/ready?store=maybe").status == .badRequest)
    }

    @Test("SRV-12 Optional abilities are reported, and do not affect readiness")
    func abilities() async throws {
        let abilities = [
            HealthRoutes.Ability(name: "vips", ok: true, install: nil),
            .init(name: "soffice", ok: false, install: "libreoffice"),
        ]
        let routes = HealthRoutes(checks: [.init("a") {}], abilities: { abilities }, exposition: { _ in "" }).routes
        let served = try await ScreenHarness(routes).serve(.get, "/health/ready")
        #expect(served.status == .ok)
        #expect(
            try served.text.sortedJSON
                == #"{"abilities":[{"install":null,"name":"vips","ok":true},"#
                + #"{"install":"libreoffice","name":"soffice","ok":false}],"#
                + #""checks":[{"name":"a","ok":true}],"status":"ready"}"#
        )
    }

    @Test("SRV-05 The status has a row for each upstream, changing with it")
    func status() async throws {
        let database = try LarderDatabase.temporary()
        let upstream = Upstream(
            configuration: .init(
                name: "spacex",
                title: "the SpaceX API",
                baseURL: try #require(URL(string: "https://api.test"))
            ),
            transport: NoTransport(),
            database: database,
            clock: clock,
            logger: .quiet
        )
        let server = StatusRoutes.Server(
            version: "0.1.0",
            startedAt: ten,
            hasSandbox: false,
            hasHarness: false,
            node: StatusRoutes.Node(name: "n1", apps: ["ships"]),
            budget: CacheBudget(bytes: 7)
        )
        let status = StatusRoutes(of: server, upstreams: [upstream], store: ResponseStore(database), clock: clock)
        let harness = try ScreenHarness(status.routes)
        let before = try await harness.serve(.get, "/v1/status")
        #expect(
            try before.text.sortedJSON.contains(
                #"{"cache":{"budget_bytes":7,"by_upstream":[],"used_bytes":0},"harness":null,"#
                    + #""node":{"apps":["ships"],"name":"n1"},"sandbox":null,"#
                    + #""started_at":"2026-01-05T10:00:00Z","test_time":null,"#
                    + #""upstreams":[{"failing":false,"last_error":null,"last_ok_at":null,"name":"spacex","#
                    + #""paused_until":null,"reachable":true,"since":null,"title":"SpaceX API"}],"version":"0.1.0"}"#
            )
        )
        _ = try? await upstream.read(Resource(url: "https://api.test/x", freshness: nil))
        let after = try await harness.serve(.get, "/v1/status")
        #expect(
            try after.text.sortedJSON.contains(
                #""failing":true,"last_error":{"at":"2026-01-05T10:00:00Z","reason":"network"}"#
            )
        )
        #expect(try after.text.sortedJSON.contains(#""reachable":false,"since":"2026-01-05T10:00:00Z""#))
        #expect(after.fields[.eTag] != before.fields[.eTag])
        upstream.stop()
    }

    @Test("The index lists apps with their screens, and what belongs to none")
    func index() async throws {
        let table = RouteTable([
            Route(.get, "/v1/ships", "ships.list", session: "ships") { _, _ in plain("") }.query("limit", "refresh"),
            Route(.get, "/v1/status", "status") { _ in plain("") },
        ])
        let served = try await ScreenHarness(
            IndexRoutes(version: "1", apps: [("ships", "Ships")], table: table).routes
        ).serve(.get, "/v1")
        let expected = [
            #""data":{"apps":[{"app":"ships","screens":[{"#,
            #""href":"/v1/ships","method":"GET","screen":"ships.list","session":true,"#,
            #""template":"/v1/ships{?limit,refresh}"}],"title":"Ships"}],"#,
            #""contract_url":"/openapi.yaml","name":"Larder","screens":[{"#,
            #""href":"/v1/status","method":"GET","screen":"status","session":false,"template":"/v1/status","#,
            #""title":"Status"}],"#,
            #""version":"1","web":{"attribution":null,"disk_oauth":false,"max_zoom":19,"tiles":null}}"#,
        ]
        #expect(try served.text.sortedJSON.contains(expected.joined()))
    }
}
