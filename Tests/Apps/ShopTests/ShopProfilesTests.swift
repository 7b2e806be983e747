import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Screens
@testable import Shop

/// Shopping lists and searches, whether other servers change them or not.
@Suite("Lists and searches of the Shop, of one server and of several")
struct ShopProfilesTests {
    private let epoch = Date(timeIntervalSince1970: 1_000_000)
    private let page = PageRequest(limit: 100)

    private func version(_ number: Int) -> WritePreconditions { WritePreconditions([.ifMatch: "\"\(number)\""]) }

    /// Puts a product that the server has seen on a list.
    @discardableResult
    private func add(_ product: Product, quantity: Int = 1, to profile: String = "anna", _ node: ShopNode) async throws
        -> ShoppingList
    {
        try await node.store.add(product, quantity: quantity, to: profile, if: .none, showing: page)
    }

    @Test(
        "SCALE-04 Of 2 × 1,000 additions at once through two servers each product is listed once; totals are right",
        arguments: StoreKind.allCases
    )
    func additions(kind: StoreKind) async throws {
        let nodes = try await kind.shopNodes(2)
        let products = try (1...1000).map { try Product.test($0, cents: 7 * $0) }
        for node in nodes { try await node.save(products, at: epoch) }
        // 100 callers of each server: each waits for the turns of all others, within the time limit of the store.
        let additions = try await withThrowingTaskGroup(of: [ListItemID?].self) { group in
            for node in nodes {
                let shuffled = products.shuffled()
                for caller in 0..<100 {
                    group.addTask {
                        var additions: [ListItemID?] = []
                        for product in shuffled[10 * caller..<10 * caller + 10] {
                            let list = try await node.store.add(
                                product,
                                quantity: 1 + product.id % 3,
                                to: "anna",
                                if: .none,
                                showing: PageRequest(limit: 1)
                            )
                            additions.append(list.changedLine?.id)
                        }
                        return additions
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let added = additions.compactMap(\.self)
        #expect(added.count == 1000 && Set(added).count == 1000)
        #expect(additions.count { $0 == nil } == 1000)
        for node in nodes {
            let list = try await node.current().list("anna", ShopStore.wholeList)
            #expect(Set(list.items.map(\.id)) == Set(added) && list.items.count == 1000)
            #expect(list.revision == 1000 && list.totals.lines == 1000)
            #expect(list.totals.pieces == products.reduce(0) { $0 + 1 + $1.id % 3 })
            let price = products.reduce(Decimal(0)) { $0 + $1.price.amount * Decimal(1 + $1.id % 3) }
            #expect(list.totals.price == price)
            let refused = await #expect(throws: Problem.self) { try await add(try .test(1001), node) }
            #expect(refused?.errors.map(\.code) == ["list-full"])
        }
    }

    @Test(
        "SCALE-15 Of many changes with one version one is made; those without one are made one after the other",
        arguments: StoreKind.allCases
    )
    func versions(kind: StoreKind) async throws {
        let nodes = try await kind.shopNodes(2)
        let product = try Product.test(5)
        for node in nodes { try await node.save([product], at: epoch) }
        let id = try #require(try await add(product, nodes[0]).changedLine?.id)
        func change(if preconditions: WritePreconditions) async throws -> [Problem] {
            try await withThrowingTaskGroup(of: Problem?.self) { group in
                for number in 1...20 {
                    group.addTask {
                        do {
                            let profiles = nodes[number % 2].store
                            let changed = try await profiles.change(
                                .to(number),
                                of: id,
                                "anna",
                                if: preconditions,
                                showing: page
                            )
                            #expect(changed.isChanged)
                            return nil
                        } catch let problem as Problem {
                            return problem
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
        }
        let refused = try await change(if: version(1))
        #expect(refused.count == 19 && refused.allSatisfy { $0.code == .preconditionFailed })
        #expect(try await nodes[1].current().list("anna", page).revision == 2)
        #expect(try await change(if: .none).isEmpty)
        #expect(try await nodes[0].current().list("anna", page).revision == 22)
    }

    @Test(
        "SHOP-23 Pieces that 16 clients add at once through two servers are all there; no line leaves its bounds",
        arguments: StoreKind.allCases
    )
    func presses(kind: StoreKind) async throws {
        let nodes = try await kind.shopNodes(2)
        let product = try Product.test(5)
        for node in nodes { try await node.save([product], at: epoch) }
        let id = try #require(try await add(product, quantity: 5, nodes[0]).changedLine?.id)
        func press(_ count: Int, by difference: Int) async throws -> Int {
            try await withThrowingTaskGroup(of: ShoppingList?.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let profiles = nodes[number % 2].store
                        do {
                            return try await profiles.change(.by(difference), of: id, "anna", if: .none, showing: page)
                        } catch let problem as Problem where problem.errors.first?.code == "out-of-bounds" {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1?.isChanged == true ? 1 : 0 }
            }
        }
        for (count, difference, made, left) in [(16, 1, 16, 21), (30, -1, 20, 1), (3, 400, 2, 801)] {
            #expect(try await press(count, by: difference) == made)
            #expect(try await nodes[1].current().list("anna", page).items.map(\.quantity) == [left])
        }
        #expect(try await nodes[0].current().list("anna", page).revision == 1 + 16 + 20 + 2)
        let other = ListItemID(productID: 6)
        await #expect(throws: Problem.notListed) {
            try await nodes[0].store.change(.by(1), of: other, "anna", if: version(1), showing: page)
        }
        await #expect(throws: Problem.self, "a precondition that fails comes before the bounds") {
            try await nodes[0].store.change(.by(998), of: id, "anna", if: version(1), showing: page)
        }
    }

    @Test(
        "SHOP-13 Lists are the same on one server and on several, whatever is added, changed, moved, removed and seen",
        arguments: 1...3
    )
    func lists(seed: Int) async throws {
        var logs: [[String]] = []
        for kind in StoreKind.allCases {
            var shopping = RandomShopping(node: try await kind.shopNodes(1)[0], chance: .init(seed: UInt64(seed)))
            for step in 0..<120 { try await shopping.makeStep(step) }
            try await shopping.recordPages()
            logs.append(shopping.log)
        }
        #expect(logs[0].count == logs[1].count)
        // Each of several servers knows by itself which products are gone or replaced; that counts no revision there.
        for index in logs.indices { logs[index] = logs[index].map { $0.replacing(/revision: \d+/, with: "revision") } }
        let differing = zip(logs[0], logs[1]).first { $0 != $1 }
        #expect(differing == nil)
        #expect(logs[0].count { $0.contains("replaced") } > 5 && logs[0].count { $0.contains("gone") } > 5)
    }

    @Test(
        "SHOP-04 History and filters are the same on one server and on several; the newest five searches stay",
        arguments: StoreKind.allCases
    )
    func searches(kind: StoreKind) async throws {
        let node = try await kind.shopNodes(1)[0]
        let profiles = node.store
        #expect(try await node.current().searches(of: "anna") == ProfileSearches(last: nil, history: [], revision: 0))
        let filters = SearchFilters(categoryID: 2, minimum: Price(text: "1.50"))
        for (number, text) in ["a", "b", "Straße", "d", "STRASSE", "e", "B", "f"].enumerated() {
            let query = SearchQuery(text: text, filters: number % 2 == 0 ? filters : SearchFilters())
            #expect(try await !node.current().isLast(query, "anna"))
            let time = epoch.addingTimeInterval(Double(number))
            for _ in 0..<2 { try await profiles.record(query, "anna", at: time) }
            #expect(try await node.current().isLast(query, "anna"))
        }
        var searches = try await node.current().searches(of: "anna")
        #expect(searches.history.map(\.text) == ["f", "B", "e", "STRASSE", "d"] && searches.revision == 8)
        #expect(searches.history[1].filters == filters)
        #expect(searches.history[0].searchedAt == epoch.addingTimeInterval(7))
        #expect(searches.last == SearchQuery(text: "f"))
        searches = try await profiles.setFilters(filters, "anna", if: version(8))
        #expect(searches.last == SearchQuery(text: "f", filters: filters) && searches.revision == 9)
        #expect(try await !node.current().isLast(SearchQuery(text: "f", filters: filters), "anna"))
        #expect(try await profiles.removePastSearch(1, "anna", if: .none).history.count == 4)
        await #expect(throws: Problem.noSearch) { try await profiles.removePastSearch(4, "anna", if: version(1)) }
        await #expect(throws: Problem.self) { try await profiles.clearHistory("anna", if: version(9)) }
        #expect(try await profiles.clearHistory("anna", if: version(10)).history.isEmpty)
        searches = try await profiles.resetSettings("anna", if: .none)
        #expect(searches == ProfileSearches(last: SearchQuery(), history: [], revision: 12))
        #expect(try await node.current().searches(of: "bert").last == nil)
        #expect(try await node.current().list("anna", page).revision == 0, "a list has a version of its own")
    }

    @Test("A server that has never seen a product does not call it gone; once one has seen it, all list it")
    func seenElsewhere() async throws {
        let nodes = try await StoreKind.postgresql.shopNodes(3)
        let old = try Product.test(5, "A", cents: 100, madeAt: "1")
        try await nodes[2].save([try .test(5, "A", cents: 900, madeAt: "1")], at: epoch)
        try await nodes[0].save([old], at: epoch)
        let id = try #require(try await add(old, quantity: 3, nodes[0]).changedLine?.id)
        for node in nodes {
            let list = try await node.current().list("anna", page)
            #expect(list.items.map(\.difference) == [nil] && list.totals.price == 3)
        }
        let new = try Product.test(5, "A", cents: 250, madeAt: "1")
        // The product that was received last counts, whatever the clock of a server says.
        try await nodes[1].save([new], at: epoch.addingTimeInterval(-3600))
        // On a page that does not show it, too.
        #expect(try await nodes[1].current().list("anna", PageRequest(limit: 1, offset: 1)).totals.price == 7.5)
        for node in nodes {
            #expect(try await node.current().line(id, "anna")?.item.product == new)
            #expect(try await node.current().list("anna", page).revision == 2, "the price has changed")
        }
        try await nodes[0].markGone(5, at: .distantPast)
        #expect(try await nodes[0].current().list("anna", page).items.map(\.difference) == [.gone])
        #expect(try await nodes[1].current().list("anna", page).items.map(\.difference) == [nil])
    }
}

/// Random changes of the lists of two profiles and of their products, with a log of what a server shows after each.
private struct RandomShopping {
    private static let profiles = ["anna", "bert"]
    private static let page = PageRequest(limit: 100)
    private static let epoch = Date(timeIntervalSince1970: 1_000_000)

    let node: ShopNode
    var chance: SeededRandom
    private var seen: [Int: Product] = [:]
    private(set) var log: [String] = []

    init(node: ShopNode, chance: SeededRandom) {
        self.node = node
        self.chance = chance
    }

    mutating func makeStep(_ step: Int) async throws {
        let profile = Self.profiles[Int.random(in: 0...1, using: &chance)]
        let number = Int.random(in: 1...8, using: &chance)
        let line = ListItemID(productID: number, ordinal: Int.random(in: 1...5, using: &chance) / 5 + 1)
        let list = try await node.current().list(profile, Self.page)
        let isConditional = Int.random(in: 0..<4, using: &chance) == 0
        let version = WritePreconditions([.ifMatch: "\"\(list.revision)\""])
        let kind = Int.random(in: 0..<9, using: &chance)
        var outcome = ""
        if kind < 6 || kind == 6 && step % 5 == 0 {
            if kind < 3, seen[number] == nil { try await see(try .test(number), at: Self.epoch) }
            do {
                let preconditions = isConditional ? version : .none
                outcome = "\(try await change(kind, step, line, of: list, profile, if: preconditions))"
            } catch let problem as Problem {
                outcome = "\(problem.errors) \(problem.code)"
            }
        } else if kind == 7 {
            if seen[number] != nil { try await node.markGone(number, at: .distantPast) }
        } else {
            // A later version of the product, or another one that has its id now.
            let title = ["A", "B"][Int.random(in: 0...1, using: &chance)]
            let madeAt = ["1", "2"][Int.random(in: 0...1, using: &chance)]
            let product = try Product.test(number, title, cents: 5 * step, madeAt: madeAt)
            try await see(product, at: Self.epoch.addingTimeInterval(Double(step)))
        }
        log.append("\(step) \(outcome)")
        for profile in Self.profiles { try await record(line, profile) }
    }

    private mutating func see(_ product: Product, at time: Date) async throws {
        seen[product.id] = product
        try await node.save([product], at: time)
    }

    private mutating func change(
        _ kind: Int,
        _ step: Int,
        _ line: ListItemID,
        of list: ShoppingList,
        _ profile: String,
        if preconditions: WritePreconditions
    ) async throws -> ShoppingList {
        let (store, page) = (node.store, Self.page)
        switch kind {
        case 0, 1, 2:
            let product = try #require(seen[line.productID])
            return try await store.add(product, quantity: step + 1, to: profile, if: preconditions, showing: page)
        case 3:
            let by = step % 2 == 0 ? LineChange.to(step + 1) : .by(Int.random(in: -100...900, using: &chance))
            return try await store.change(by, of: line, profile, if: preconditions, showing: page)
        case 4:
            return try await store.remove(line, profile, if: preconditions, showing: page)
        case 5:
            let order = ListOrder.items(list.items.map(\.id).reversed().dropLast(step % 7 == 0 ? 1 : 0))
            return try await store.order(order, profile, if: preconditions, showing: page)
        default:
            return try await store.clear(profile, if: preconditions, showing: page)
        }
    }

    /// Records what is shown of a profile's list, and of a product in it.
    private mutating func record(_ line: ListItemID, _ profile: String) async throws {
        log.append("\(try await node.current().list(profile, Self.page))")
        let lines = try await node.current().lines(of: line.productID, profile)
        log.append("\(lines) \(try await node.current().line(line, profile).map { "\($0)" } ?? "-")")
        let products = seen.values.sorted { $0.id < $1.id }
        let cart = try await node.current().cart(of: products, profile)
        let inCart = cart.byProduct.sorted { $0.key < $1.key }.map(\.value)
        log.append("\(cart.total) \(inCart)")
    }

    /// Records the products that are listed, and one list in pages, by offset and by cursor.
    mutating func recordPages() async throws {
        log.append("\(try await node.current().listedProducts().sorted())")
        var next: Int? = 0
        while let offset = next {
            let part = try await node.current().list("anna", PageRequest(limit: 2, offset: offset))
            let rest = PageRequest(limit: 2, after: part.page.key)
            log.append("\(part) \(try await node.current().list("anna", rest))")
            next = part.page.hasMore ? offset + 2 : nil
        }
    }
}
