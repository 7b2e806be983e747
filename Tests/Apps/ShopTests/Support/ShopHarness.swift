import Foundation
import HTTPTypes
import Media
import Storage
import Synchronization
import TestKit
import Upstream

@testable import HTTP
@testable import Sandbox
@testable import Screens
@testable import Shop

/// The simulated catalogue, and the network to it.
struct ScriptedCatalogue: Sendable {
    let catalogue: Catalogue
    let transport: ScriptedTransport

    init() throws {
        let catalogue = try Catalogue(seed: 1)
        self.catalogue = catalogue
        transport = ScriptedTransport(Self.online(catalogue))
    }

    /// Responds as the sandbox does; pictures are at another host than the API.
    static func online(_ catalogue: Catalogue) -> ScriptedTransport.Step {
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
}

/// The Shop app over the simulated catalogue; requests identify a client by its profile.
typealias ShopHarness = AppHarness<ShopApp, ScriptedCatalogue>

extension AppHarness<ShopApp, ScriptedCatalogue> {
    /// Runs a test against the app.
    static func run(
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        settings: SettingValues = .standard,
        tools: MediaTools = MediaTools(paths: [:]),
        shared: ClusterAccess? = nil,
        _ test: @Sendable (ShopHarness) async throws -> Void
    ) async throws {
        let scripted = try ScriptedCatalogue()
        try await run(
            ShopApp.self,
            fixture: scripted,
            upstreams: [AppUpstream(ShopApp.catalogue, at: "https://api.test/api/v1", scripted.transport)],
            AppSurroundings(
                clock: clock,
                directory: directory,
                settings: settings,
                tools: tools,
                identification: .profile,
                shared: shared
            ),
            test
        )
    }

    var catalogue: Catalogue { fixture.catalogue }
    var transport: ScriptedTransport { fixture.transport }
    var store: ShopStore { ShopStore(database) }

    /// Makes the upstream respond as the sandbox again; no client is notified.
    func respondAgain() { transport.always(ScriptedCatalogue.online(catalogue)) }

    /// Makes the upstream respond again, and waits until clients were notified.
    func recover() async { await recover { respondAgain() } }

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

    /// Calls the control API of the simulated catalogue, to change its products and categories.
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
