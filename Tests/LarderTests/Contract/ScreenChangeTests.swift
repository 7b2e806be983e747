import Foundation
import TestKit
import Testing

@testable import Larder
@testable import Screens

/// Whoever shows a screen learns of its changes: by a new revision of it, or by an event that names it.
@Suite("What a changed screen tells")
struct ScreenChangeTests {
    /// A screen as a client has it.
    private struct Seen {
        let name: String
        let revision: JSON
        /// The data, the state and the page. The source and the age of the data are not part of it.
        let content: JSON

        init?(_ body: JSON) {
            guard let meta = body["meta"]?.object, let name = meta["screen"]?.string else { return nil }
            self.name = name
            revision = meta["revision"] ?? .null
            let shown = meta.filter { ["state", "page", "pending", "partial"].contains($0.key) }
            content = .object(["data": body["data"] ?? .null, "meta": .object(shown)])
        }
    }

    /// Clients, an upstream that changes, and a watcher of every screen.
    private final class World {
        let larder: InProcessLarder
        let reads: [StoredReads.Read]
        private var random: SeededRandom
        private var seen: [Int: Seen] = [:]
        private var lastEvent: String
        private(set) var changed: Set<String> = []

        init(_ larder: InProcessLarder, seed: UInt64) async throws {
            self.larder = larder
            random = SeededRandom(seed: seed)
            lastEvent = ""
            // The server's own screens are measurements at the time of the request.
            let measured = ["GET /v1/status", "GET /v1/usage"]
            reads = try await StoredReads(larder).all().filter {
                $0.operation.hasPrefix("GET /v1/") && !measured.contains($0.operation)
            }
            _ = try await look(after: "the start")
        }

        func pick<Item>(_ items: [Item]) -> Item { items[Int(random.next() % UInt64(items.count))] }

        /// The header fields of the watcher of an app's screens.
        func fields(_ app: String) -> [String: String] {
            reads.first { $0.operation.hasPrefix("GET /v1/\(app)") && !$0.headers.isEmpty }?.headers ?? [:]
        }

        /// Reads all screens.
        ///
        /// - Returns: The changes that nothing tells.
        func look(after step: String) async throws -> [String] {
            let larder = larder
            // A read may change another screen, after that has been read: its event is published while the reads run.
            let began = newestEvent
            let bodies = try await withThrowingTaskGroup(of: (Int, JSON?).self) { group in
                for (number, read) in reads.enumerated() {
                    group.addTask {
                        let response = try await larder.send("GET", read.target, read.headers)
                        return (number, response.status == 200 ? (try? response.json) : nil)
                    }
                }
                return try await group.reduce(into: [Int: JSON]()) { $0[$1.0] = $1.1 }
            }
            var untold: [String] = []
            for (number, read) in reads.enumerated() {
                let now = bodies[number].flatMap(Seen.init)
                defer { seen[number] = now }
                guard let now, let before = seen[number], before.content != now.content else { continue }
                changed.insert(now.name)
                guard before.revision == now.revision else { continue }
                if await !isTold(now.name) { untold.append("\(read.target) after \(step)\n\(difference(before, now))") }
            }
            lastEvent = began
            return untold
        }

        private var newestEvent: String {
            let subscription = larder.application.events.subscribe()
            larder.application.events.unsubscribe(subscription.number)
            return subscription.identity
        }

        private func difference(_ before: Seen, _ now: Seen) -> String {
            let old = Dictionary(before.content.members().map { ($0.pointer, $0.value) }) { first, _ in first }
            let new = Dictionary(now.content.members().map { ($0.pointer, $0.value) }) { first, _ in first }
            return Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted().suffix(4).map {
                "  \($0): \(old[$0].map { "\($0)" } ?? "–") → \(new[$0].map { "\($0)" } ?? "–")".prefix(300)
            }.joined(separator: "\n")
        }

        /// Whether an event names the screen; some are published behind the response.
        private func isTold(_ screen: String) async -> Bool {
            let (events, since) = (larder.application.events, lastEvent)
            let names = [screen] + (ScreenChangeTests.tellers[screen] ?? [])
            for _ in 0..<200 {
                let subscription = events.subscribe(lastEventID: since)
                events.unsubscribe(subscription.number)
                let isTold = subscription.missed.contains { _, event in
                    names.contains { event.json.contains("\"\($0)\"") || event.kind == $0 }
                }
                if isTold { return true }
                // Behind the response: let others run.
                for _ in 0..<50 { await Task.yield() }
            }
            return false
        }
    }

    /// Events that tell of a change of a screen under another name, because it shows data of theirs.
    static let tellers = [
        // How many of a product are on the list.
        "shop.search": ["shop.list"], "shop.card": ["shop.list"],
        // A text that is made when it is shared.
        "shop.share": ["shop.card"],
        // Rows of the lists of files, and writes that wait for the Disk.
        "disk.search": ["disk.files", "outbox-changed"], "disk.file": ["disk.files", "outbox-changed", "disk.offline"],
        "disk.files": ["outbox-changed", "disk.offline"], "disk.recent": ["outbox-changed", "disk.offline"],
        "disk.published": ["outbox-changed", "disk.offline"], "disk.trash": ["disk.files", "outbox-changed"],
        "disk.outbox": ["outbox-changed"], "disk.operation": ["disk.files", "outbox-changed"],
        "disk.profile": ["disk.files", "outbox-changed"],
        // A note on the map.
        "notes.places": ["notes.list"], "notes.person": ["notes.people"],
    ]

    /// A change between two looks: an upstream changes and another client fetches it, or a user changes their own data.
    private static func step(_ world: World, _ number: Int) async throws -> String {
        let larder = world.larder
        func send(_ method: String, _ path: String, _ app: String, _ body: String? = nil) async throws -> JSON {
            var fields = world.fields(app)
            if body != nil { fields["Content-Type"] = "application/json" }
            let response = try await larder.send(method, "/v1/\(path)", fields, body: body)
            #expect(response.status < 500, "\(method) \(path): \(response.status) \(response.text.prefix(300))")
            return (try? response.json) ?? .null
        }
        let product = Int(world.pick([1, 2, 3, 4, 5, 7]))
        let name = "step \(number)"
        let steps: [(String, () async throws -> Void)] = [
            (
                "a new price, seen by a search",
                {
                    let price = #"{"price":\#(number + 1)}"#
                    try await larder.control("PUT", "/catalogue/products/\(product)", price)
                    _ = try await larder.send("GET", "/v1/shop/search?q=a&limit=50&refresh=1")
                    _ = try await larder.send("GET", "/v1/shop/search?limit=50&refresh=1")
                }
            ),
            (
                "a new title, seen by a card",
                {
                    let title = #"{"title":"\#(name)"}"#
                    try await larder.control("PUT", "/catalogue/products/\(product)", title)
                    _ = try await larder.send("GET", "/v1/shop/products/\(product)?refresh=1")
                }
            ),
            (
                "a product that is gone",
                {
                    _ = try await larder.sandbox.control.send("DELETE", "/catalogue/products/\(product)")
                    _ = try await larder.send("GET", "/v1/shop/products/\(product)?refresh=1")
                }
            ),
            (
                "a new category",
                {
                    try await larder.control("PUT", "/catalogue/categories/1", #"{"name":"\#(name)"}"#)
                    _ = try await larder.send("GET", "/v1/shop/categories?refresh=1")
                }
            ),
            (
                "a quantity on the list",
                {
                    let quantity = #"{"quantity":\#(1 + number % 9)}"#
                    _ = try await send("PATCH", "shop/list/items/\(product)", "shop", quantity)
                }
            ),
            (
                "an addition to the list",
                { _ = try await send("POST", "shop/list/items", "shop", #"{"product_id":\#(product)}"#) }
            ),
            ("a search", { _ = try await send("GET", "shop/search?q=\(name.prefix(6))", "shop") }),
            ("other filters", { _ = try await send("PUT", "shop/filters", "shop", #"{"price_max":\#(number)}"#) }),
            (
                "a ship that is renamed",
                {
                    try await larder.control("PUT", "/spacex/ships/\(ContractScenario.ship)", #"{"name":"\#(name)"}"#)
                    _ = try await send("GET", "ships?refresh=1", "ships")
                }
            ),
            (
                "a ship that is deleted here",
                { _ = try await send("DELETE", "ships/5ea6ed2d080df4000697c901", "ships") }
            ),
            ("ships that are restored", { _ = try await send("POST", "ships/restore", "ships") }),
            ("a note", { _ = try await send("POST", "notes", "notes", #"{"body":"\#(name)"}"#) }),
            (
                "a note with another text",
                {
                    let notes = try await send("GET", "notes", "notes")
                    guard let id = notes.at(pointer: "/data/items/0/id")?.string else { return }
                    _ = try await send("PATCH", "notes/\(id)", "notes", #"{"body":"\#(name)"}"#)
                }
            ),
            (
                "a note that is deleted",
                {
                    let notes = try await send("GET", "notes", "notes")
                    guard let id = notes.at(pointer: "/data/items/0/id")?.string else { return }
                    _ = try await send("DELETE", "notes/\(id)", "notes")
                }
            ),
            (
                "other people",
                { _ = try await send("GET", "notes/people?refresh=1&replace=1", "notes") }
            ),
            (
                "a document that is deleted",
                {
                    let documents = try await send("GET", "pdf/documents", "pdf")
                    guard let id = documents.at(pointer: "/data/items/0/id")?.string else { return }
                    _ = try await send("DELETE", "pdf/documents/\(id)", "pdf")
                }
            ),
            (
                "a file of another client",
                {
                    let file = #"{"path":"disk:/contract/\#(number).txt","text":"\#(name)"}"#
                    try await larder.control("PUT", "/yandex_disk/files", file)
                    for list in ["recent", "files", "file?path=/contract/1.txt", "profile"] {
                        let query = list.contains("?") ? "&refresh=1" : "?refresh=1"
                        _ = try await send("GET", "disk/\(list)\(query)", "disk")
                    }
                }
            ),
            (
                "a file that is written anew by another client",
                {
                    let file = #"{"path":"disk:/contract/1.txt","text":"\#(name)"}"#
                    try await larder.control("PUT", "/yandex_disk/files", file)
                    _ = try await send("GET", "disk/file?path=/contract/1.txt&refresh=1", "disk")
                }
            ),
            (
                "a new folder",
                { _ = try await send("POST", "disk/folders", "disk", #"{"path":"/\#(name)"}"#) }
            ),
            (
                "a link",
                { _ = try await send("POST", "disk/links", "disk", #"{"path":"/contract/1.txt"}"#) }
            ),
            ("no link", { _ = try await send("DELETE", "disk/published?path=/contract/1.txt", "disk") }),
            ("a file to keep", { _ = try await send("PUT", "disk/offline?path=/contract/4.txt", "disk") }),
            ("a file not to keep", { _ = try await send("DELETE", "disk/offline?path=/contract/4.txt", "disk") }),
            ("a deletion", { _ = try await send("DELETE", "disk/file?path=/contract/5.txt", "disk") }),
        ]
        let (text, act) = world.pick(steps)
        try await act()
        return "\(number): \(text)"
    }

    @Test(
        "ONE-01 whatever changes the body of a screen counts its revision or tells its audience, in every app",
        arguments: [1, 2]
    )
    func told(seed: UInt64) async throws {
        try await withLarder(["--freshness-shop-s", "3600", "--freshness-categories-s", "3600"]) { larder in
            let world = try await World(larder, seed: seed)
            for number in 1...40 {
                let step = try await Self.step(world, number)
                let untold = try await world.look(after: step)
                #expect(untold.isEmpty, "\(untold.joined(separator: "\n"))")
            }
            #expect(Set(world.changed.map { $0.prefix { $0 != "." } }).count == 5, "\(world.changed)")
        }
    }
}
