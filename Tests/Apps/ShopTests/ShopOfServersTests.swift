import Cluster
import Foundation
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Shop

/// The app on servers whose files follow one journal.
@Suite("Lists and searches of several servers", .timeLimit(.minutes(10)))
struct ShopOfServersTests {
    private static let items = "/v1/shop/list/items"

    /// Runs a test on two servers.
    private static func onTwo(
        _ access: ClusterAccess,
        _ test: @Sendable (_ one: ShopHarness, _ two: ShopHarness) async throws -> Void
    ) async throws {
        try await ShopHarness.run(shared: access) { (one) async throws in
            try await ShopHarness.run(shared: access.otherServer()) { (two) async throws in try await test(one, two) }
        }
    }

    @Test("SHOP-13 SHOP-15 Changes of the list on either server are seen on the other: in list, card, results and text")
    func lists() async throws {
        try await Self.onTwo(try await .temporary()) { one, two in
            for (here, there, id) in [(one, two, 2), (two, one, 4)] {
                #expect(try await here.get("/v1/shop/products/\(id)")["data.cart.in_list"] == false)
                #expect(try await here.get("/v1/shop/search?limit=10")["meta.banner"] == .null)
                #expect(try await there.add(id, quantity: 3).status == 201)
                #expect(try await here.add(id)["data.already_in_list"] == true)
                let shown = try await here.get("/v1/shop/list")
                let index = shown.listed.firstIndex(of: id).map { "data.items.\($0)" } ?? "-"
                #expect(shown["\(index).quantity"] == 3 && shown["\(index).available"] == true)
                #expect(shown["meta.stale"] == false && shown["meta.banner"] == .null)
                #expect(try await here.get("/v1/shop/products/\(id)")["data.cart.quantity"] == 3)
                let results = try await here.get("/v1/shop/search?limit=10")
                #expect(results["data.items.\(id - 1).id"] == .number(Double(id)))
                #expect(results["data.items.\(id - 1).cart.quantity"] == 3)
                _ = try await here.ask(.patch, "\(Self.items)/\(id)", json: #"{"by":4}"#)
                #expect(try await there.get("\(Self.items)/\(id)/share").text.contains("Количество: 7"))
            }
            _ = try await one.ask(.put, "/v1/shop/list/order", json: #"{"product_ids":[4,2]}"#)
            #expect(try await two.get("/v1/shop/list").listed == [4, 2])
            #expect(try await two.get("/v1/shop/list")["meta.revision"] == 5)
            let late = try await one.ask(.delete, "\(Self.items)/2", as: nil, [.ifMatch: "\"4\""])
            late.expectProblem("precondition-failed", 412)
            #expect(try await one.ask(.delete, "\(Self.items)/2").status == 200)
            #expect(try await two.ask(.delete, "/v1/shop/list").listed == [])
            try await one.get("/v1/shop/list/share").expectProblem("list-empty", 409)
            #expect(try await one.get("/v1/shop/list", as: "bert")["meta.revision"] == 0)
        }
    }

    @Test("C8 Lists, cards and searches run the statements of a server by itself")
    func costs() async throws {
        let screens = ["list", "search?limit=10", "products/2", "favourites", "filters", "history?q=m"]
        func ran(_ access: ClusterAccess?) async throws -> [[String]] {
            let ran = Watched<[[String]]>([])
            try await ShopHarness.run(shared: access) { (app) async throws in
                for id in [2, 4] { #expect(try await app.add(id).status == 201) }
                for screen in screens {
                    // The cheapest of several equal requests: lines are renewed behind some of them.
                    var least: [String]?
                    for _ in 1...5 {
                        let statements = try await app.statements.statements {
                            _ = try await app.get("/v1/shop/\(screen)")
                        }
                        let found = StatementLog.ofScreen(statements)
                        if least.map({ found.count < $0.count }) ?? true { least = found }
                    }
                    ran.update { [least] in $0.append(least ?? []) }
                }
            }
            return ran.value
        }
        let (alone, shared) = (try await ran(nil), try await ran(.temporary()))
        for (screen, (one, other)) in zip(screens, zip(alone, shared)) {
            #expect(!one.isEmpty, "\(screen)")
            #expect(one == other, "\(screen)")
        }
    }

    @Test("SHOP-02 SHOP-09 Searches and filters are those of the profile on either server; they can be cleared on both")
    func searches() async throws {
        try await Self.onTwo(try await .temporary()) { one, two in
            for (number, text) in ["a", "b", "c", "d", "e", "f", "B"].enumerated() {
                _ = try await [one, two][number % 2].get("/v1/shop/search?q=\(text)")
            }
            for app in [two, one] {
                let texts = try await app.get("/v1/shop/history").all("q", in: "data.items")
                #expect(texts == ["B", "f", "e", "d", "c"])
            }
            #expect(try await two.get("/v1/shop/search?saved=1")["data.query.q"] == "B")
            _ = try await two.ask(.put, "/v1/shop/filters", json: #"{"price_max":9}"#)
            #expect(try await one.get("/v1/shop/filters")["data.price_max"] == 9)
            #expect(try await one.ask(.delete, "/v1/shop/history/1").status == 200)
            #expect(try await two.get("/v1/shop/history?q=F").all("q", in: "data.items") == [])
            let stale = try await one.ask(.delete, "/v1/shop/history", as: nil, [.ifMatch: "\"7\""])
            stale.expectProblem("precondition-failed", 412)
            #expect(try await two.ask(.delete, "/v1/shop/history").status == 200)
            #expect(try await two.ask(.delete, "/v1/shop/filters").status == 200)
            #expect(try await one.get("/v1/shop/history")["meta.state"] == "empty")
            #expect(try await one.get("/v1/shop/filters")["data.price_max"] == .null)
            #expect(try await one.get("/v1/shop/history", as: "bert")["meta.revision"] == 0)
        }
    }

    @Test("SHOP-23 Sixteen presses of + at once on two servers: 1 becomes 17")
    func presses() async throws {
        try await Self.onTwo(try await .temporary()) { one, two in
            try await one.add(5)
            let statuses = try await (0..<16).concurrentMap { number in
                try await [one, two][number % 2].ask(.patch, "\(Self.items)/5", json: #"{"by":1}"#).status
            }
            #expect(statuses == Array(repeating: 200, count: 16))
            for app in [one, two] {
                let shown = try await app.get("/v1/shop/list")
                #expect(shown["data.items.0.quantity"] == 17 && shown["meta.revision"] == 17)
            }
        }
    }

    @Test("SCALE-07 A server that was away has its rows and those of others again, also in a new directory")
    func away() async throws {
        let access = try await ClusterAccess.temporary()
        let directory = try DataDirectory.temporary()
        try await ShopHarness.run(directory: directory, shared: access) { (one) async throws in
            try await one.add(5, quantity: 2)
            _ = try await one.get("/v1/shop/search?q=mug")
        }
        try await ShopHarness.run(shared: access.otherServer()) { (two) async throws in
            #expect(try await two.get("/v1/shop/list").listed == [5])
            try await two.add(7)
        }
        for directory in [directory, try .temporary()] {
            try await ShopHarness.run(directory: directory, shared: access.otherServer()) { (app) async throws in
                app.transport.goAway()
                let list = try await app.get("/v1/shop/list")
                #expect(list.listed == [5, 7] && list["data.items.0.quantity"] == 2)
                // A server that has never seen them does not call them gone.
                #expect(list.all("available", in: "data.items") == [true, true])
                #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["mug"])
            }
        }
    }

    @Test("SHOP-21 Another price that one server has seen is on the list for all; what is gone, each finds out itself")
    func seenElsewhere() async throws {
        try await Self.onTwo(try await .temporary()) { one, two in
            try await one.add(20, quantity: 2)
            #expect(try await two.get("/v1/shop/products/20").status == 200)
            try one.control(.put, "products/20", #"{"price":28.5}"#)
            _ = try await one.get("/v1/shop/products/20?refresh=1")
            await one.events.published("screen-changed", containing: #""shop.list","revision":2"#)
            for app in [two, one] {
                let list = try await app.get("/v1/shop/list")
                #expect(list["data.totals.price"] == 57 && list["meta.revision"] == 2)
            }
            // The copy that the other server has of before is no news.
            #expect(try await two.get("/v1/shop/products/20")["data.price"] != 28.5)
            #expect(try await two.get("/v1/shop/list")["data.totals.price"] == 57)
            try one.control(.delete, "products/20")
            try await one.get("/v1/shop/products/20?refresh=1").expectProblem("not-found", 404)
            #expect(try await one.get("/v1/shop/list")["data.items.0.difference"] == "gone")
            #expect(try await two.get("/v1/shop/list")["data.items.0.difference"] == .null)
        }
    }

    /// Expects that a server shows what it has, without PostgreSQL.
    private static func expectShown(_ app: ShopHarness) async throws {
        let reads = [
            "list", "history", "filters", "search?q=hoodie", "search?saved=1", "search?q=cap", "products/2",
            "list/share", "list/items/2/share",
        ]
        for target in reads {
            let shown = try await app.get("/v1/shop/\(target)")
            #expect(shown.status == 200 && shown["meta.stale"] == true, "\(target): \(shown.text)")
            #expect(shown["meta.banner.code"] == "store-unavailable" && shown["meta.offline"] == false, "\(target)")
            #expect(try shown.string("meta.banner.text").contains("с назад"), "\(target)")
        }
        #expect(try await app.get("/v1/shop/list").listed == [2, 4])
        #expect(try await app.get("/v1/shop/search?q=hoodie")["data.items.0.cart.quantity"] == 3)
        #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["hoodie"])
        #expect(try await app.get("\(items)/2/image").status == 200)
        let categories = try await app.get("/v1/shop/categories")
        #expect(categories.status == 200 && categories["meta.stale"] == false && categories["meta.banner"] == .null)
    }

    /// Expects that a server refuses each change, without PostgreSQL.
    private static func expectRefused(_ app: ShopHarness) async throws {
        let writes: [(HTTPRequest.Method, String, String)] = [
            (.post, "list/items", #"{"product_id":2}"#), (.post, "list/items", #"{"product_id":7}"#),
            (.patch, "list/items/2", #"{"by":1}"#), (.delete, "list/items/2", ""), (.delete, "list", ""),
            (.put, "list/order", #"{"product_ids":[4,2]}"#), (.put, "filters", #"{"price_max":9}"#),
            (.delete, "filters", ""), (.delete, "history", ""), (.delete, "history/0", ""),
        ]
        for (method, target, body) in writes {
            let refused = try await app.ask(method, "/v1/shop/\(target)", json: body)
            refused.expectProblem("store-unavailable", 503)
            #expect(refused.headerFields[.retryAfter] != nil, "\(method) \(target)")
        }
    }

    @Test("SCALE-23 While PostgreSQL is away all is shown, stale with a text, and nothing is changed; then it goes on")
    func storeAway() async throws {
        let postgres = try await RunningPostgres.start()
        try await Self.onTwo(try await .temporary(on: postgres)) { one, two in
            try await one.add(2, quantity: 3)
            _ = try await one.get("/v1/shop/search?q=hoodie")
            #expect(try await two.get("/v1/shop/list").listed == [2])
            #expect(try await two.get("/v1/shop/products/4").status == 200)
            try await one.add(4)
            try postgres.stop("immediate")
            try await Self.expectShown(one)
            // A product that the catalogue shows at another price: the list has to wait for it.
            try one.control(.put, "products/2", #"{"price":28.5}"#)
            #expect(try await one.get("/v1/shop/products/2?refresh=1")["data.price"] == 28.5)
            try await Self.expectRefused(one)
            // The other server shows changes that it had not read yet once the store is reachable.
            #expect(try await two.get("/v1/shop/list")["meta.stale"] == true)
            try postgres.restart()
            for app in [two, one] {
                try await BoundedWait.poll(for: "the store") {
                    try await app.get("/v1/shop/list")["meta.stale"] == false
                }
            }
            let list = try await two.get("/v1/shop/list")
            #expect(list.listed == [2, 4] && list["data.items.0.quantity"] == 3 && list["meta.banner"] == .null)
            _ = try await one.get("/v1/shop/products/2?refresh=1")
            await one.events.published("screen-changed", containing: #""shop.list","revision":3"#)
            #expect(try await two.get("/v1/shop/list")["data.items.0.price"] == 28.5)
            #expect(try await two.ask(.delete, "/v1/shop/history").status == 200)
            #expect(try await one.get("/v1/shop/history")["meta.state"] == "empty")
        }
    }

    @Test("A file that followed no journal keeps its rows, and is refused: they would be lost")
    func ownRows() async throws {
        let directory = try DataDirectory.temporary()
        try await ShopHarness.run(directory: directory) { (app) async throws in try await app.add(5) }
        let access = try await ClusterAccess.temporary()
        try await ShopHarness.run(directory: directory, shared: access) { (app) async throws in
            await #expect(throws: (any Error).self) { try await app.app.shop.store.users.catchUp() }
            #expect(try await app.get("/v1/shop/list").status >= 500)
        }
        try await ShopHarness.run(directory: directory) { (app) async throws in
            #expect(try await app.get("/v1/shop/list").listed == [5])
        }
    }
}
