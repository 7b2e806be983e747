import Foundation
import TestKit
import Testing

@Suite("What reads cost the database")
struct ReadCostTests {
    /// What a screen takes that is made again of what is stored.
    static let usual = (transactions: 1, statements: 4)

    /// What takes more so far: transactions, and statements in all of them. No other screen may join them.
    static let others: [String: (transactions: Int, statements: Int)] = [
        "GET /v1/disk/profile": (3, 3), "GET /v1/disk/profile/chart.svg": (3, 3), "GET /v1/disk/trash": (4, 9),
        "GET /v1/disk/search": (5, 40), "GET /v1/disk/file": (4, 6), "GET /v1/disk/file/content": (6, 7),
        "GET /v1/disk/file/preview": (3, 4), "GET /v1/disk/file/page": (5, 7), "GET /v1/disk/operations/{id}": (2, 2),
        "GET /v1/disk/offline": (2, 5),
        "GET /v1/shop/search": (7, 30), "GET /v1/shop/categories": (3, 4), "GET /v1/shop/products/{id}": (4, 4),
        "GET /v1/shop/products/{id}/share": (3, 3), "GET /v1/shop/images/{id}/{n}": (2, 2),
        "GET /v1/shop/list/items/{item_id}/image": (2, 2), "GET /v1/ships/{id}/image": (2, 2),
        "GET /v1/pdf/documents/{id}/thumbnail": (2, 3),
        "GET /v1/pdf/documents/{id}/pages/{page_id}/thumbnail": (2, 3), "GET /v1/notes/map": (1, 9),
        "GET /v1/notes/places": (2, 13), "GET /v1/notes/people": (2, 3), "GET /v1/notes/people/{id}": (3, 3),
        "GET /v1/notes/people/{id}/avatar": (3, 3),
    ]

    /// What is no screen that is made of what is stored.
    static let unmeasured: [String: String] = [
        "GET /v1/events": "a stream, which does not end",
        "GET /v1/disk/file/pdf": "LibreOffice makes it, and machines may have it or not",
        "GET /metrics": "text for monitoring, of the whole process",
        "GET /openapi.yaml": "a file", "GET /openapi.json": "a file",
    ]

    @Test("A screen of what is stored is one read transaction of few statements; what takes more is listed")
    func screens() async throws {
        let document = try OpenAPIDocument.load()
        let log = StatementLog()
        try await withLarder(["--rendered-budget-mb", "0"], statements: log) { larder in
            let reads = try await StoredReads(larder).all()
            let operations = Set(document.operations.filter { $0.method == "GET" }.map(\.key))
            #expect(Set(reads.map(\.operation)).union(Self.unmeasured.keys).isSuperset(of: operations))
            for read in reads {
                let most = Self.others[read.operation] ?? Self.usual
                let cost = try await cost(of: read, log, larder)
                #expect(
                    cost.transactions <= most.transactions && cost.statements <= most.statements,
                    "\(read.operation): \(cost)"
                )
            }
        }
    }

    /// Returns the least that one of several requests has cost: the server also works for itself.
    private func cost(of read: StoredReads.Read, _ log: StatementLog, _ larder: InProcessLarder) async throws
        -> StatementLog.Count
    {
        var least = StatementLog.Count(transactions: .max, statements: .max)
        for _ in 1...5 {
            let cost = try await log.count {
                let response = try await larder.send("GET", read.target, read.headers)
                #expect(response.status == 200, "\(read.target): \(response.status) \(response.text.prefix(200))")
            }
            if (cost.transactions, cost.statements) < (least.transactions, least.statements) { least = cost }
        }
        return least
    }
}
