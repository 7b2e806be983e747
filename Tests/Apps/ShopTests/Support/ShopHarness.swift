import AppTestKit
import Database
import Foundation
import HTTPSemantics
import HTTPTypes
import Logging
import Media
import ResponseStore
import Synchronization
import TestKit
import Upstream

@testable import HTTPSemantics
@testable import Sandbox
@testable import Screens
@testable import Shop

/// The real routes of the app over the simulated catalogue, a temporary database and a clock that a test moves.
struct ShopHarness: Sendable {
    let clock: ManualWallClock
    let catalogue: Catalogue
    let transport: ScriptedUpstream
    let events: EventStream
    let database: LarderDatabase
    let upstream: Upstream
    private let app: RoutedApp

    /// Runs a test against the app.
    static func run(
        clock: ManualWallClock = ManualWallClock(),
        directory: DataDirectory? = nil,
        options: ShopApp.Options = .init(),
        tools: MediaTools = MediaTools(paths: [:]),
        _ test: @Sendable (ShopHarness) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try LarderDatabase.withCacheTables(
            in: try directory ?? .temporary(),
            migrations: SessionStore.migrations + ShopApp.migrations,
            logger: logger
        )
        let events = EventStream(run: "test", clock: clock.wallClock)
        let catalogue = try Catalogue(seed: 1)
        let transport = ScriptedUpstream(online(catalogue))
        guard let url = URL(string: "https://api.test/api/v1") else { throw URLError(.badURL) }
        let upstream = Upstream(
            configuration: UpstreamConfiguration(
                name: "catalogue",
                title: "the catalogue",
                baseURL: url,
                followsPublicLinks: true
            ),
            transport: transport,
            database: database,
            clock: clock.wallClock,
            jitter: { 0.5 },
            retries: RetryPolicy(attempts: 1),
            logger: logger
        )
        let shop = ShopApp(
            upstream: upstream,
            freshness: .seconds(30),
            categoryFreshness: .seconds(3600),
            database: database,
            events: events,
            pictures: try MediaEngine(
                tools: tools,
                folder: URL(filePath: database.directory.path).appending(path: "work")
            ).pictures,
            options: options,
            clock: clock.wallClock,
            logger: logger
        )
        upstream.onChange { change in
            if case .cameBack(let at) = change {
                events.publish(.connectivity(upstream: "catalogue", reachable: true, at: at))
            }
        }
        upstream.onRecovery { await shop.upstreamRecovered(ShopApp.catalogue) }
        try await RoutedApp.run(RouteTable(shop.routes), sessions: SessionStore(database)) { app in
            try await test(
                ShopHarness(
                    clock: clock,
                    catalogue: catalogue,
                    transport: transport,
                    events: events,
                    database: database,
                    upstream: upstream,
                    app: app
                )
            )
        }
        upstream.stop()
        try database.close()
    }

    /// Responds as the sandbox does; pictures are at another host than the API.
    static func online(_ catalogue: Catalogue) -> ScriptedUpstream.Script {
        { (request) throws(UpstreamError) in
            guard let url = URL(string: request.url), url.host == "api.test" || url.host == "pictures.test" else {
                throw .unreachable(.nameResolution)
            }
            let target = RequestTarget(String(request.url.dropFirst("\(url.scheme ?? "")://\(url.host ?? "")".count)))
            let response = catalogue.respond(
                to: UpstreamRequest(
                    method: request.method,
                    path: Array(target.segments.dropFirst(url.host == "api.test" ? 2 : 1)),
                    query: target.query,
                    headers: request.headerFields,
                    origin: "https://pictures.test"
                )
            )
            return IncomingResponse(status: response.status, headerFields: response.headers, body: response.body)
        }
    }

    var store: ShopStore { ShopStore(database) }

    /// Makes the upstream respond as the sandbox again; no client is notified.
    func respondAgain() { transport.become(Self.online(catalogue)) }

    /// Makes the upstream respond again, and waits until the probe has found that out. The probe runs after the 5 s of
    /// `probe_interval_ms`.
    func recover() async {
        await clock.somebodySleeps(for: .seconds(5))
        respondAgain()
        clock.advance(by: .seconds(5))
        await events.published("connectivity", containing: #""reachable":true"#)
    }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as profile: String? = nil,
        _ fields: HTTPFields = [:],
        json: String? = nil
    ) async throws
        -> Exchanged
    {
        var fields = fields
        if let profile { fields[.larderProfile] = profile }
        return try await app.ask(method, target, as: nil, fields, body: json.map { Data($0.utf8) })
    }

    func get(_ target: String, as profile: String? = nil, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await ask(.get, target, as: profile, fields)
    }

    /// Puts a product on the list.
    @discardableResult
    func add(_ id: Int, quantity: Int = 1, as profile: String? = nil) async throws -> Exchanged {
        try await ask(
            .post,
            "/v1/shop/list/items",
            as: profile,
            json: #"{"product_id":\#(id),"quantity":\#(quantity)}"#
        )
    }

    /// Changes what the upstream sends.
    func control(_ method: HTTPRequest.Method, _ path: String, _ body: String = "{}") throws {
        let path = path.split(separator: "/").map(String.init)
        let response = try catalogue.control(ControlRequest(method: method, path: path, body: Array(body.utf8)))
        guard response.status.kind == .successful else { throw URLError(.badServerResponse) }
    }

    /// The part of a URL behind the API's base that the upstream was asked for, without pictures, in order.
    var asked: [String] {
        transport.requests.map(\.url).filter { $0.hasPrefix("https://api.test/api/v1") }.map {
            String($0.dropFirst("https://api.test/api/v1".count))
        }
    }
}

extension Exchanged {
    /// The ids of a search's items.
    var ids: [Int] {
        all("id", in: "data.items").compactMap { if case .number(let id) = $0 { Int(id) } else { nil } }
    }

    /// The product ids of a list's items.
    var listed: [Int] {
        all("product_id", in: "data.items").compactMap { if case .number(let id) = $0 { Int(id) } else { nil } }
    }
}

/// A text as a value of a query.
func encoded(_ text: String) -> String { PercentEncoding.encode(text, allowed: .unreserved) }
