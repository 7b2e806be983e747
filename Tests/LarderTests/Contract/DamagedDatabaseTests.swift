import Foundation
import GRDB
import TestKit
import Testing

@testable import Larder

/// Databases with one damaged page each, below the real executable: a trap would end the process of the tests.
@Suite(.timeLimit(.minutes(120))) struct DamagedDatabaseTests {
    /// 1,000 in `script/check-faults`.
    private static let trials: Range<UInt64> = 0..<(FaultSteps.areAll ? 1_000 : 16)

    @Test("TRUST-24 a damaged page ends no process: what reads it is storage-failed, all else works, doctor names it")
    func trials() async throws {
        let stored = try await StoredDatabase.made()
        let whole = try await Trial(.none, of: stored).run()
        #expect(whole.screens.values.count { $0 == "200" } > 50 && !whole.isMet, "\(whole.screens)")
        #expect(!whole.doctor.contains("FAIL"), "\(whole.doctor)")
        var counts: [String: Int] = [:]
        try await withThrowingTaskGroup(of: Trial.Outcome.self) { group in
            for seed in Self.trials {
                if seed >= 2, let outcome = try await group.next() { counts[outcome.summary, default: 0] += 1 }
                group.addTask {
                    let outcome = try await Trial(stored.damage(seed: seed), of: stored).run()
                    outcome.check(against: whole)
                    return outcome
                }
            }
            for try await outcome in group { counts[outcome.summary, default: 0] += 1 }
        }
        print("damaged pages: \(counts.sorted { $0.value > $1.value })")
    }
}

/// A closed data directory with something of every app, and the requests that show it.
private struct StoredDatabase: Sendable {
    let folder: TemporaryFolder
    let reads: [StoredReads.Read]
    /// The whole file of the database.
    let bytes: Data
    /// The tables of its pages; nil for one of none.
    let owners: [(page: Int, table: String?)]

    static let pageSize = 4096

    static func made() async throws -> StoredDatabase {
        let folder = try TemporaryFolder()
        let reads = Watched<[StoredReads.Read]>([])
        try await withLarder(["--data-directory", folder.path]) { larder in
            let all = try await StoredReads(larder).all()
            reads.update { $0 = all }
        }
        let path = folder.path + "/larder.sqlite"
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let owners = try await queue.read { try $0.pageOwners() }
        try queue.close()
        return StoredDatabase(
            folder: folder,
            reads: reads.value,
            bytes: try Data(contentsOf: URL(filePath: path)),
            owners: owners
        )
    }

    private func page(_ number: Int) -> Data { bytes[(number - 1) * Self.pageSize..<number * Self.pageSize] }

    /// Damages a page of any table; most often it becomes a copy of another one, which has another table's cells.
    func damage(seed: UInt64) -> Damage {
        var random = SeededRandom(seed: seed)
        // Each table is as likely as any other, however many pages it has.
        let tables = Dictionary(grouping: owners) { $0.table ?? "" }.sorted { $0.key < $1.key }
        let (table, pages) = tables[Int.random(in: 0..<tables.count, using: &random)]
        let victim = pages[Int.random(in: 0..<pages.count, using: &random)].page
        var new = page(victim)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: new = Data(count: Self.pageSize)
        case 1, 2:
            for _ in 0..<Int.random(in: 1...64, using: &random) {
                let place = new.startIndex + Int.random(in: 0..<Self.pageSize, using: &random)
                new[place] = UInt8.random(in: 0...255, using: &random)
            }
        default:
            // One that has cells of the same kind is read; others, SQLite refuses.
            let alike = owners.map(\.page).filter { page($0).first == new.first && $0 != victim }
            let sources = alike.isEmpty || Int.random(in: 0..<4, using: &random) == 0 ? owners.map(\.page) : alike
            let source = sources[Int.random(in: 0..<sources.count, using: &random)]
            new = page(source)
            let of = owners.first { $0.page == source }?.table ?? "none"
            let name = "\(seed): \(table) \(victim) becomes \(of) \(source)"
            return Damage(page: victim, table: table, bytes: Data(new), name: name)
        }
        return Damage(page: victim, table: table, bytes: Data(new), name: "\(seed): \(table) \(victim)")
    }
}

private struct Damage: Sendable {
    let page: Int
    /// The table whose page it is; empty for a page of none.
    let table: String
    let bytes: Data
    let name: String

    static let none = Damage(page: 0, table: "", bytes: Data(), name: "none")

    /// The app whose screens alone read the table, from the prefix of its name; nil if other screens may read it, too.
    var app: String? {
        for (prefix, app) in [("ship", "ships"), ("shop", "shop"), ("pdf", "pdf"), ("note", "notes"), ("disk", "disk")]
        where table.hasPrefix(prefix) { return app }
        return nil
    }
}

/// One start of a server with a damaged database: every screen, and some writes.
private struct Trial: Sendable {
    struct Outcome: Sendable {
        let damage: Damage
        /// Status by path, with the code of a problem of the server.
        var screens: [String: String] = [:]
        /// The server's output if it refused to start.
        var refusal: String?
        /// The output of `larder doctor` for the database.
        var doctor = ""

        /// Whether something was read that is damaged.
        var isMet: Bool { refusal != nil || screens.values.contains("500 storage-failed") }

        var summary: String { refusal != nil ? "refused" : isMet ? "storage-failed" : "not read" }

        func check(against whole: Outcome) {
            // A table of a virtual one is named by that.
            let parts = #/_(data|idx|docsize|content|config|node|parent|rowid)$/#
            let isNamed = doctor.contains(damage.table.replacing(parts, with: ""))
            if isMet {
                let failed = screens.filter { $0.value == "500 storage-failed" }.keys.sorted()
                let isFound = doctor.contains("FAIL") && (isNamed || damage.app == nil)
                #expect(isFound, "\(damage.name): \(refusal ?? "\(failed)"): \(doctor)")
            }
            if let refusal {
                #expect(refusal.contains("larder: ") && !refusal.contains("SQLite error"), "\(damage.name): \(refusal)")
                return
            }
            for (path, status) in screens {
                #expect(
                    !["0", "500 internal", "502 upstream-bad-response"].contains(status),
                    "\(damage.name): \(path): \(status)"
                )
                guard let app = damage.app, !path.contains("/v1/\(app)"), path.hasPrefix("GET /v1/") else { continue }
                guard !["/v1/usage", "/v1/status"].contains(where: path.contains) else { continue }
                #expect(status == whole.screens[path], "\(damage.name): \(path): \(status)")
            }
        }
    }

    private let damage: Damage
    private let stored: StoredDatabase

    init(_ damage: Damage, of stored: StoredDatabase) { (self.damage, self.stored) = (damage, stored) }

    func run() async throws -> Outcome {
        let data = TemporaryFolder.unmade()
        try FileManager.default.copyItem(at: stored.folder.url, to: data.url)
        if damage.page > 0 {
            let file = try FileHandle(forWritingTo: data.url.appending(path: "larder.sqlite"))
            try file.seek(toOffset: UInt64((damage.page - 1) * StoredDatabase.pageSize))
            try file.write(contentsOf: damage.bytes)
            try file.close()
        }
        var outcome = Outcome(damage: damage)
        let apps = try contractConfiguration(["--data-directory", data.path], [:]).apps
        outcome.doctor = Check.table(
            DataCheck.findings(at: data.url, apps: apps, readsFiles: false, progress: { _ in })
                .filter { $0.subject == "database" }
        )
        do {
            let larder = try await RunningLarder.start(data: data, ["--sandbox"] + contractSettings)
            try await goOffline(larder)
            outcome.screens = await answers(of: larder)
            _ = await larder.stop()
            if outcome.screens.values.contains("0") { outcome.screens["the process"] = "0" }
            if outcome.screens.values.contains(where: ["0", "500 internal"].contains) {
                print("\(damage.name): \(larder.process.log.suffix(4_000))")
            }
        } catch let error as RunningProcess.EndedEarly {
            outcome.refusal = error.status == 1 ? error.errors : "ended with \(error.status): \(error.errors)"
            #expect(error.status == 1, "\(damage.name): \(error)")
        }
        return outcome
    }

    /// Makes all upstreams unreachable, so that a damaged copy cannot be replaced by a new fetch.
    private func goOffline(_ larder: RunningLarder) async throws {
        let control = Client(base: try await larder.process.line(after: "sandbox on "))
        for upstream in ["spacex", "catalogue", "people", "geocoder", "yandex_disk"] {
            let response = try await control.put("/upstreams/\(upstream)/fault", #"{"fault":"offline"}"#)
            try #require(response.status < 300, "\(upstream): \(response.text)")
        }
    }

    private func answers(of larder: RunningLarder) async -> [String: String] {
        var answers: [String: String] = [:]
        for read in stored.reads {
            answers["GET \(read.target)"] = await answer("GET", read.target, read.headers, nil, larder)
        }
        let headers = { (prefix: String) in stored.reads.last { $0.target.hasPrefix(prefix) }?.headers ?? [:] }
        for (method, path, body, like) in [
            ("POST", "/v1/notes", #"{"body":"Dog"}"#, "/v1/notes"), ("POST", "/v1/ships/restore", "{}", "/v1/ships"),
            ("POST", "/v1/shop/list/items", #"{"product_id":2}"#, "/v1/shop/list"),
            ("POST", "/v1/disk/folders", #"{"path":"/contract/new"}"#, "/v1/disk/files"),
            ("POST", "/v1/notes/session", #"{"mode":"register","username":"new","password":"correct horse"}"#, ""),
        ] {
            answers["\(method) \(path)"] = await answer(method, path, headers(like), body, larder)
        }
        for path in ["/health/live", "/v1/status"] {
            answers["GET \(path)"] = await answer("GET", path, [:], nil, larder)
        }
        return answers
    }

    private func answer(
        _ method: String,
        _ path: String,
        _ headers: [String: String],
        _ body: String?,
        _ larder: RunningLarder
    ) async -> String {
        guard let response = try? await larder.client.send(method, path, headers, body: body) else { return "0" }
        guard response.status >= 500, let code = try? response.json.code.string else { return "\(response.status)" }
        return "\(response.status) \(code)"
    }
}
