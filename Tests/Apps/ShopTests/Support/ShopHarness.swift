import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Media
import Storage
import Synchronization
import TestKit
import Testing
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

/// The tables of the Shop app as a server has them: the products that it has seen, and the rows of profiles.
struct ShopNode {
    let store: ShopStore

    /// Stores products as a response does, and renews lists.
    func save(_ products: [Product], at time: Date) async throws {
        let save = store.save(fetchedAt: { time })
        try await store.database.write { try save(products, $0) }
        try await store.renewLists(of: products.map(\.id))
    }

    /// Marks a product as removed, and waits until the lists are renewed after that.
    func markGone(_ id: Int, at time: Date) async throws {
        try await store.markGone(id, at: time)
        await BoundedWait.poll(for: "the renewal of lists") { store.renewals.count == 0 }
    }

    /// Returns the store for reads, as a request does.
    func current() async throws -> ShopStore {
        _ = try await store.users.catchUp()
        return store
    }
}

extension ClusterAccess {
    /// Returns one more server's tables, in a new file.
    func shopNode() throws -> ShopNode {
        let database = try LarderDatabase.temporary(migrations: ShopStore.migrations + Journal.fileMigrations)
        return ShopNode(store: ShopStore(database, otherServer().users(in: database, ShopStore.replicated)))
    }
}

extension StoreKind {
    /// Returns servers of the Shop app: one by itself, or several that share the rows of profiles.
    func shopNodes(_ count: Int) async throws -> [ShopNode] {
        switch self {
        case .sqlite:
            let store = ShopStore(try LarderDatabase.temporary(migrations: ShopStore.migrations))
            return Array(repeating: ShopNode(store: store), count: count)
        case .postgresql:
            let access = try await ClusterAccess.temporary()
            return try (0..<count).map { _ in try access.shopNode() }
        }
    }
}

extension Product {
    /// A product as the tests need it.
    ///
    /// - Parameter cents: The price.
    static func test(_ id: Int, _ title: String? = nil, cents: Int = 100, madeAt: String? = nil) throws -> Product {
        let price = try #require(Price(Decimal(cents) / 100))
        return Product(
            id: id,
            title: title ?? "Product \(id)",
            description: "for \(price.text)",
            price: price,
            category: Category(id: 1 + id % 2, name: "Some"),
            images: ["https://pictures.test/\(id)/\(cents).png"],
            madeAt: madeAt
        )
    }
}
