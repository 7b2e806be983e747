import Foundation
import TestKit
import Testing

@Suite("What reads cost the database")
struct ReadCostTests {
    /// The most that a screen takes that is made from stored data.
    static let usual = (transactions: 1, statements: 4)

    /// Screens that take more statements, and why. No other screen may join them.
    static let others: [String: (transactions: Int, statements: Int, reason: String)] = [
        "GET /v1/disk/operations/{id}": (
            2, 2,
            "account; operation, a row of the journal if there are several servers (decision 186)"
        ),
        "GET /v1/shop/images/{id}/{n}": (2, 3, checksums), "GET /v1/shop/list/items/{item_id}/image": (2, 3, checksums),
        "GET /v1/pdf/documents/{id}/file": (2, 3, checksums),
        "GET /v1/disk/search": (
            1, 6,
            "account; age and end of the list of all files; index; rows; which of their contents are stored"
        ),
        "GET /v1/shop/search": (
            1, 5,
            "last search; response with the order; rows; where the next page begins; lines of the shopping list"
        ),
        "GET /v1/shop/filters": (
            1, 5,
            "last search; the response with the categories and its rows; that with the catalogue and its rows"
        ),
        "GET /v1/shop/suggestions": (
            1, 5, "words that begin with the text; products that have one in the title, or anywhere; their rows"
        ),
        "GET /v1/shop/categories/{id}/image": (2, 3, checksums),
    ]

    private static let checksums = "the row; checksums of its file, which is opened behind the transaction"

    /// The screens that search an index of words, and the most statements that the index runs within theirs. It runs
    /// one for each term and segment, however many rows are found. No other screen has any.
    static let inner: [String: Int] = [
        "GET /v1/disk/search": 40, "GET /v1/notes/places": 40, "GET /v1/shop/suggestions": 90,
    ]

    /// Operations that are not screens made from stored data.
    static let unmeasured: [String: String] = [
        "GET /v1/events": "a stream, which does not end",
        "GET /v1/export": "an archive of everything that a user has",
        "GET /v1/notes/export": "a file of all notes",
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
            let gets = document.operations.filter { $0.method == "GET" && !$0.path.isWebPage }.map(\.key)
            #expect(Set(reads.map(\.operation)).union(Self.unmeasured.keys).isSuperset(of: gets))
            for read in reads {
                let most = Self.others[read.operation].map { ($0.transactions, $0.statements) } ?? Self.usual
                let ran = try await statements(log) {
                    let response = try await larder.send("GET", read.target, read.headers)
                    #expect(response.status == 200, "\(read.target): \(response.status) \(response.text.prefix(200))")
                }
                let cost = StatementLog.Count(of: ran)
                #expect(
                    cost.transactions <= most.0 && cost.statements <= most.1
                        && cost.inner <= Self.inner[read.operation, default: 0],
                    "\(read.operation): \(cost)\n\(ran.joined(separator: "\n"))"
                )
            }
        }
    }

    @Test("Pages of the front end, and the files that they are made of, read nothing from the database")
    func pages() async throws {
        let document = try OpenAPIDocument.load()
        let pages = document.operations.filter { $0.method == "GET" && $0.path.isWebPage }.map(\.path)
        #expect(pages.count > 10)
        let log = StatementLog()
        try await withLarder(["--rendered-budget-mb", "0"], statements: log) { larder in
            for page in pages {
                let ran = try await statements(log) {
                    _ = try await larder.send("GET", page.replacing(#/\{[^}]*\}/#, with: "1"), [:])
                }
                #expect(ran.isEmpty, "\(page):\n\(ran.joined(separator: "\n"))")
            }
        }
    }

    /// Returns the statements of the cheapest of several equal requests: the server's own work adds some to the others.
    private func statements(_ log: StatementLog, of request: () async throws -> Void) async throws -> [String] {
        var least: [String]?
        for _ in 1...5 {
            let ran = try await log.statements(of: request)
            if least.map({ ran.count < $0.count }) ?? true { least = ran }
        }
        return least ?? []
    }
}

extension String {
    /// Whether a path is one of the front end, which is made of files alone.
    fileprivate var isWebPage: Bool { !["/v1", "/health/", "/metrics", "/openapi"].contains(where: hasPrefix) }
}
