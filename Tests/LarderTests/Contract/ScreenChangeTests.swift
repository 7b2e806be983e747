import Foundation
import TestKit
import Testing

@testable import Larder
@testable import Screens

/// Whoever shows a screen learns of its changes: by a new revision of it, or by an event that names it.
@Suite("What a changed screen tells")
struct ScreenChangeTests {
    /// A screen as a client has it.
    fileprivate struct Seen {
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
    fileprivate final class World {
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
        let name = "step \(number)"
        let changes =
            world.changesOfTheShop(number, name) + world.changesOfShips(name) + world.changesOfNotes(name)
            + world.changesOfDocuments + world.changesOfTheDisk(number, name)
        let change = world.pick(changes)
        try await change.make()
        return "\(number): \(change.text)"
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

/// A change, and its name in the report of the test.
private struct ScreenChange {
    let text: String
    let make: () async throws -> Void

    init(_ text: String, _ make: @escaping () async throws -> Void) { (self.text, self.make) = (text, make) }
}

extension ScreenChangeTests.World {
    /// Sends a request as the watcher of the screens of an app, which the path begins with.
    @discardableResult
    private func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> JSON {
        var fields = fields(String(path.prefix { $0.isLetter }))
        if body != nil { fields["Content-Type"] = "application/json" }
        let response = try await larder.send(method, "/v1/\(path)", fields, body: body)
        #expect(response.status < 500, "\(method) \(path): \(response.status) \(response.text.prefix(300))")
        return (try? response.json) ?? .null
    }

    /// Does something with the first item of a list, if it has one.
    private func first(of list: String, _ work: (String) async throws -> Void) async throws {
        let id = try await send("GET", list).at(pointer: "/data/items/0/id")?.string
        if let id { try await work(id) }
    }

    fileprivate func changesOfTheShop(_ number: Int, _ name: String) -> [ScreenChange] {
        let larder = larder
        let product = Int(pick([1, 2, 3, 4, 5, 7]))
        let catalogue = "/catalogue/products/\(product)"
        return [
            ScreenChange("a new price, seen by a search") {
                try await larder.control("PUT", catalogue, #"{"price":\#(number + 1)}"#)
                _ = try await larder.send("GET", "/v1/shop/search?q=a&limit=50&refresh=1")
                _ = try await larder.send("GET", "/v1/shop/search?limit=50&refresh=1")
            },
            ScreenChange("a new title, seen by a card") {
                try await larder.control("PUT", catalogue, #"{"title":"\#(name)"}"#)
                _ = try await larder.send("GET", "/v1/shop/products/\(product)?refresh=1")
            },
            ScreenChange("a product that is gone") {
                _ = try await larder.sandbox.control.send("DELETE", catalogue)
                _ = try await larder.send("GET", "/v1/shop/products/\(product)?refresh=1")
            },
            ScreenChange("a new category") {
                try await larder.control("PUT", "/catalogue/categories/1", #"{"name":"\#(name)"}"#)
                _ = try await larder.send("GET", "/v1/shop/categories?refresh=1")
            },
            ScreenChange("a quantity on the list") {
                try await self.send("PATCH", "shop/list/items/\(product)", #"{"quantity":\#(1 + number % 9)}"#)
            },
            ScreenChange("an addition to the list") {
                try await self.send("POST", "shop/list/items", #"{"product_id":\#(product)}"#)
            },
            ScreenChange("a search") { try await self.send("GET", "shop/search?q=\(name.prefix(6))") },
            ScreenChange("other filters") { try await self.send("PUT", "shop/filters", #"{"price_max":\#(number)}"#) },
        ]
    }

    fileprivate func changesOfShips(_ name: String) -> [ScreenChange] {
        [
            ScreenChange("a ship that is renamed") {
                let ship = "/spacex/ships/\(ContractScenario.ship)"
                try await self.larder.control("PUT", ship, #"{"name":"\#(name)"}"#)
                try await self.send("GET", "ships?refresh=1")
            },
            ScreenChange("a ship that is deleted here") {
                try await self.send("DELETE", "ships/5ea6ed2d080df4000697c901")
            },
            ScreenChange("ships that are restored") { try await self.send("POST", "ships/restore") },
        ]
    }

    fileprivate func changesOfNotes(_ name: String) -> [ScreenChange] {
        [
            ScreenChange("a note") { try await self.send("POST", "notes", #"{"body":"\#(name)"}"#) },
            ScreenChange("a note with another text") {
                try await self.first(of: "notes") {
                    try await self.send("PATCH", "notes/\($0)", #"{"body":"\#(name)"}"#)
                }
            },
            ScreenChange("a note that is deleted") {
                try await self.first(of: "notes") { try await self.send("DELETE", "notes/\($0)") }
            },
            ScreenChange("other people") { try await self.send("GET", "notes/people?refresh=1&replace=1") },
        ]
    }

    fileprivate var changesOfDocuments: [ScreenChange] {
        [
            ScreenChange("a document that is deleted") {
                try await self.first(of: "pdf/documents") { try await self.send("DELETE", "pdf/documents/\($0)") }
            }
        ]
    }

    fileprivate func changesOfTheDisk(_ number: Int, _ name: String) -> [ScreenChange] {
        let (larder, file) = (larder, "file?path=/contract/1.txt")
        return [
            ScreenChange("a file of another client") {
                let made = #"{"path":"disk:/contract/\#(number).txt","text":"\#(name)"}"#
                try await larder.control("PUT", "/yandex_disk/files", made)
                for list in ["recent?", "files?", "\(file)&", "profile?"] {
                    try await self.send("GET", "disk/\(list)refresh=1")
                }
            },
            ScreenChange("a file that is written anew by another client") {
                let made = #"{"path":"disk:/contract/1.txt","text":"\#(name)"}"#
                try await larder.control("PUT", "/yandex_disk/files", made)
                try await self.send("GET", "disk/\(file)&refresh=1")
            },
            ScreenChange("a new folder") { try await self.send("POST", "disk/folders", #"{"path":"/\#(name)"}"#) },
            ScreenChange("a link") { try await self.send("POST", "disk/links", #"{"path":"/contract/1.txt"}"#) },
            ScreenChange("no link") { try await self.send("DELETE", "disk/published?path=/contract/1.txt") },
            ScreenChange("a file to keep") { try await self.send("PUT", "disk/offline?path=/contract/4.txt") },
            ScreenChange("a file not to keep") { try await self.send("DELETE", "disk/offline?path=/contract/4.txt") },
            ScreenChange("a deletion") { try await self.send("DELETE", "disk/file?path=/contract/5.txt") },
        ]
    }
}
