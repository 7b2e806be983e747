import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Disk

@Suite("Search for names on a Disk")
struct DiskStoreSearchTests {
    private static func item(_ path: String, modified: Int?, kind: DiskItem.Kind = .file) throws -> DiskItem {
        var item = DiskItem(path: try #require(DiskPath(path) ?? DiskPath(path, scheme: .trash)), kind: kind)
        item.modified = modified.map { Date(timeIntervalSince1970: Double($0)) }
        return item
    }

    private static func keep(_ items: [DiskItem], of account: String = "1130", in app: DiskHarness) async throws {
        let now = app.clock.now
        _ = try await app.database.write { db in
            try app.store.keep(items, about: nil, account: account, at: now, in: db)
        }
    }

    private static func names(_ text: String, of account: String = "1130", in app: DiskHarness) throws -> [String] {
        try app.store.search(PartQuery(text), account: account, lastPart: nil, page: .init(limit: 100))
            .rows.map(\.item.name)
    }

    @Test("DISK-34 The last modified come first; ß, width and accents do not count, spaces and punctuation do")
    func order() async throws {
        try await DiskHarness.run { app in
            try await Self.keep(
                [
                    Self.item("disk:/Straße 1.txt", modified: 100), Self.item("disk:/a/STRASSE 2.txt", modified: 300),
                    Self.item("disk:/strasse", modified: 200, kind: .dir), Self.item("disk:/ｒésumé.pdf", modified: nil),
                    Self.item("disk:/東京都庁の写真.jpg", modified: 5), Self.item("trash:/strasse 3.txt", modified: 900),
                ],
                in: app
            )
            #expect(try Self.names("strasse", in: app) == ["STRASSE 2.txt", "strasse", "Straße 1.txt"])
            #expect(try Self.names("ße 1.T", in: app) == ["Straße 1.txt"])
            #expect(try Self.names("e 1", in: app) == ["Straße 1.txt"])
            #expect(try Self.names("Resume.", in: app) == ["ｒésumé.pdf"])
            #expect(try Self.names("京都", in: app) == ["東京都庁の写真.jpg"])
            #expect(try Self.names("東京都庁の写真.jpg", in: app) == ["東京都庁の写真.jpg"])
            #expect(try Self.names("京庁", in: app) == [])
            #expect(try Self.names("\u{301}", in: app) == [])
            #expect(try Self.names("strasse", of: "1131", in: app) == [])
            try await NameIndex.expectExact(in: app.database)
        }
    }

    @Test("DISK-34 The index follows changes, renames, moves, deletions and logouts, and keeps what others have")
    func follows() async throws {
        try await DiskHarness.run { app in
            _ = try await app.logIn()
            try await Self.keep([Self.item("disk:/plan other.txt", modified: 1)], of: "1131", in: app)
            let items = [
                try Self.item("disk:/plan a.txt", modified: 10), try Self.item("disk:/plan b.txt", modified: 10),
                try Self.item("disk:/folder", modified: 5, kind: .dir),
                try Self.item("disk:/folder/plan c.txt", modified: 7),
            ]
            try await Self.keep(items, in: app)
            // Stored again, also twice in one response, changed and not.
            try await Self.keep(items + [try Self.item("disk:/plan a.txt", modified: 20), items[1], items[0]], in: app)
            try await Self.keep([try Self.item("disk:/plan b.txt", modified: 30)], in: app)
            #expect(try Self.names("plan", in: app).first == "plan b.txt")
            try await NameIndex.expectExact(in: app.database)
            let (from, to) = (DiskPath.root.child("plan b.txt"), DiskPath.root.child("Entwurf.txt"))
            try await app.store.apply(.moved(from: from, to: to), account: "1130", at: app.clock.now)
            let folder = DiskPath.root.child("folder")
            let moved = DiskPath.root.child("Ordner")
            try await app.store.apply(.moved(from: folder, to: moved), account: "1130", at: app.clock.now)
            #expect(try Self.names("plan", in: app) == ["plan a.txt", "plan c.txt"])
            #expect(try Self.names("ENTW", in: app) == ["Entwurf.txt"])
            try await NameIndex.expectExact(in: app.database)
            try await app.store.apply(.deleted(moved), account: "1130", at: app.clock.now)
            #expect(try Self.names("plan", in: app) == ["plan a.txt"])
            #expect(try Self.names("ordn", in: app) == [])
            try await NameIndex.expectExact(in: app.database)
            try await app.store.logOut("1130", sessions: app.sessions)
            #expect(try Self.names("plan", in: app) == [])
            #expect(try Self.names("plan", of: "1131", in: app) == ["plan other.txt"])
            try await NameIndex.expectExact(in: app.database)
            try await app.store.logOut("1131", sessions: app.sessions)
            try await NameIndex.expectExact(in: app.database)
        }
    }

    @Test("DISK-34 As many rows are read among 1,100 hits as among 4,400; files that are gone count for little")
    func bounded() async throws {
        for count in [1_100, 4_400] {
            try await DiskHarness.run { app in
                let items = try (0..<count).map { try Self.item("disk:/report \($0).txt", modified: $0) }
                try await Self.keep(items, in: app)
                let page = PageRequest(limit: 20)
                let (rows, hits) = try app.store.search(PartQuery("port"), account: "1130", lastPart: nil, page: page)
                #expect(rows.first?.item.name == "report \(count - 1).txt" && rows.count == 20)
                #expect(hits.total == nil && hits.totalAtLeast == SearchHits.counted + 1)
                #expect(hits.examined == SearchHits.counted + 1)
                // No stored list has these files: after the first 5000 misses the page would be cut.
                let gone = try app.store.search(PartQuery("port"), account: "1130", lastPart: 0, page: page)
                #expect(gone.rows.isEmpty && gone.hits.examined <= SearchHits.mostMisses)
            }
        }
    }

    @Test("DISK-34 Folders that no list has shown are found by the paths of their files, and are as the API says then")
    func folders() async throws {
        let disk = FakeYandexDisk()
        for folder in ["disk:/Zimbabwe", "disk:/Zimbabwe/Inner", "disk:/Zimbabwe/empty"] { disk.makeFolder(folder) }
        disk.put("disk:/Zimbabwe/Inner/letter.txt")
        try await DiskHarness.run(disk) { app, token in
            func found(_ text: String) async throws -> [String] {
                let answer = try await app.get("/v1/disk/search?q=\(text)&refresh=1", as: token)
                #expect(answer.status == 200 && answer["meta.partial"] == false, "\(answer.text)")
                return DiskHarness.names(answer)
            }
            #expect(try await found("zimb") == ["Zimbabwe"])
            #expect(try await found("inner") == ["Inner"])
            #expect(try await found("letter") == ["letter.txt"])
            #expect(try await found("empty") == [])
            let folder = try await app.get("/v1/disk/file?path=/Zimbabwe", as: token)
            #expect(folder.status == 200 && folder["data.type"] == "dir" && folder["meta.stale"] == false)
            #expect(try folder.string("data.created_at").hasPrefix("2024-04-21"), "\(folder.text)")
            // The known properties of a folder are kept.
            #expect(try await found("zimb") == ["Zimbabwe"])
            disk.goAway()
            let away = try await app.get("/v1/disk/file?path=/Zimbabwe&refresh=1", as: token)
            #expect(try away.string("data.created_at").hasPrefix("2024-04-21"), "\(away.text)")
            try await NameIndex.expectExact(in: app.database)
        }
    }

    @Test("DISK-34 The names are read in the order of their index, and no row of the table beside it")
    func plan() async throws {
        try await DiskHarness.run { app in
            let plan = try QueryPlan(DiskStore.selectHits, in: app.database)
            let first = try #require(plan.steps.first)
            #expect(first.hasPrefix("SCAN disk_term VIRTUAL TABLE INDEX") && first.contains("<"), "\(plan)")
            let lookUp = "SEARCH item USING COVERING INDEX disk_item_by_search (rank=?) LEFT-JOIN"
            #expect(plan.steps.contains(lookUp), "\(plan)")
            #expect(plan.steps.count { $0.hasPrefix("SCAN") } == 1 && !plan.sorts, "\(plan)")
        }
    }

    @Test("DISK-34 Names that an earlier version has stored are found after the update")
    func earlier() async throws {
        let old = DiskStore.migrations.filter { $0.name < "disk/003" }
        let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + old)
        try await database.write { db in
            for (account, path, name, modified) in [
                ("1", "disk:/Straße.txt", "Straße.txt", 10), ("1", "disk:/b/Straße.txt", "Straße.txt", 10),
                ("1", "trash:/Straße.txt", "Straße.txt", 10), ("2", "disk:/strasse", "strasse", 5),
            ] {
                try db.execute(
                    sql: """
                        INSERT INTO disk_item (account, path, name, folded, kind, modified, published, seen_at)
                        VALUES (?, ?, ?, lower(?), 'file', ?, 0, 1)
                        """,
                    arguments: [account, path, name, name, modified * 1000]
                )
            }
        }
        try await database.write { try DiskStore.indexNames($0) }
        try await NameIndex.expectExact(in: database)
        let ranks = try database.read { try Int64.fetchAll($0, sql: "SELECT rank FROM disk_item WHERE rank NOTNULL") }
        #expect(Set(ranks).count == 3)
    }
}

extension DiskStoreSearchTests {
    @Test("ONE-08 a search that finds no name looks for other words, and the screen says by which")
    func variants() async throws {
        let disk = FakeYandexDisk()
        for name in ["Отчёт за март.pdf", "summer photos.zip", "IMG_2024.jpg"] { disk.put("disk:/\(name)") }
        try await DiskHarness.run(disk) { app, token in
            func expect(_ text: String, _ names: [String], _ used: String?) async throws {
                let response = try await app.get("/v1/disk/search?q=\(FakeYandexDisk.encoded(text))", as: token)
                #expect(DiskHarness.names(response) == names, "\(text)")
                #expect(response["meta.search.used"] == used.map { .array([.string($0)]) }, "\(text): \(response.text)")
            }
            for isAway in [false, true] {
                if isAway { disk.goAway() }
                try await expect("photos summer", ["summer photos.zip"], nil)
                try await expect("отчеты", ["Отчёт за март.pdf"], "stem")
                try await expect("sumer photo", ["summer photos.zip"], "typo")
                try await expect("otchet", ["Отчёт за март.pdf"], "transliteration")
                try await expect("ыгььук", ["summer photos.zip"], "layout")
                try await expect("winter", [], nil)
            }
            let words = try app.database.read {
                try String.fetchAll($0, sql: "SELECT word FROM disk_word ORDER BY word")
            }
            #expect(words == ["img", "jpg", "pdf", "photos", "summer", "zip", "за", "март", "отчет"])
            try await app.store.logOut("1130", sessions: app.sessions)
            #expect(try app.database.integer("SELECT count(*) FROM disk_word") == 0)
        }
    }

    @Test("DISK-47 of more than 1,000 hits the newest are chosen from, and meta.partial says so")
    func many() async throws {
        let disk = FakeYandexDisk()
        for number in 0...1000 { disk.put("disk:/report \(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            let none = try await app.get("/v1/disk/search?q=report&type=dir", as: token)
            #expect(none["meta.partial"] == true && none["meta.state"] == "empty", "\(none.text)")
            let one = try await app.get("/v1/disk/search?q=report&type=file&limit=1", as: token)
            #expect(one["meta.partial"] == true && DiskHarness.names(one).count == 1)
            #expect(try await app.get("/v1/disk/search?q=report&limit=1", as: token)["meta.partial"] == false)
        }
    }

    @Test("DISK-47 hits name their folder; they are chosen by kind and sorted, page by page, also those that wait")
    func choice() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/report folder")
        disk.put("disk:/report folder/report b.jpg", "four", mediaType: "image")
        disk.put("disk:/Report C.jpg", "1", mediaType: "image")
        disk.put("disk:/report a.pdf", "twenty-two characters!")
        try await DiskHarness.run(disk) { app, token in
            func found(_ query: String) async throws -> Exchanged {
                let response = try await app.get("/v1/disk/search?q=report\(query)", as: token)
                response.expectScreen("disk.search")
                return response
            }
            let all = try await found("&sort=name")
            #expect(DiskHarness.names(all) == ["report a.pdf", "report b.jpg", "Report C.jpg", "report folder"])
            #expect(all["data.items.1.folder.name"] == "report folder" && all["data.items.0.folder.name"] == "Disk")
            #expect(all["data.items.1.folder.path"] == "disk:/report folder" && all["meta.page.total"] == 4)
            #expect(DiskHarness.names(try await found("&type=dir")) == ["report folder"])
            #expect(
                DiskHarness.names(try await found("&sort=-size&type=file&limit=2")) == ["report a.pdf", "report b.jpg"]
            )
            let images = try await found("&media_type=image&sort=-name&limit=1")
            #expect(DiskHarness.names(images) == ["Report C.jpg"] && images["meta.page.total"] == 2)
            let next = try await app.get(try images.string("links.next"), as: token)
            #expect(DiskHarness.names(next) == ["report b.jpg"] && next["links.next"] == .null)
            #expect(try await found("&media_type=video")["meta.state"] == "empty")
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let rename = #"{"name":"report z.pdf"}"#
            _ = try await app.leave(.patch, "/v1/disk/file?path=/report%20a.pdf", as: token, json: rename)
            let pending = try await found("&sort=name&type=file")
            #expect(DiskHarness.names(pending) == ["report b.jpg", "Report C.jpg", "report z.pdf"])
            for query in ["&sort=colour", "&type=link", "&media_type=smell"] {
                try await app.get("/v1/disk/search?q=report\(query)", as: token).expectProblem("invalid-parameter", 400)
            }
        }
    }
}

/// Searches and the files that a person expects of them, among those of an ordinary disk.
@Suite("The graded list of the Disk's search") struct GradedDiskSearchTests {
    private static let files = [
        "Отчёт за март 2026.pdf", "Отчёт за апрель 2026.pdf", "Договор аренды квартиры.docx", "Паспорт.jpg",
        "Свадьба/Фото с тётей Олей.jpg", "Свадьба/Приглашение.pdf", "summer photos.zip", "Résumé Anna.pdf",
        "Straßenkarte Köln.png", "IMG_20240512_101010.jpg", "Invoice №4711.pdf", "invoices 2025.xlsx",
        "budget-2026-final.xlsx", "lecture notes on databases.txt", "Рецепт борща.txt", "Рецепты тёти.docx",
        "keyboard layout.svg", "Ёлка и дети.mp4", "holiday video.mov", "backup_старый_ноутбук.tar.gz",
    ]
    private static let searches = GradedSearches([
        ("март", ["Отчёт за март 2026.pdf"], []),
        ("отчет", ["Отчёт за март 2026.pdf", "Отчёт за апрель 2026.pdf"], []),
        ("2026", ["Отчёт за март 2026.pdf", "Отчёт за апрель 2026.pdf", "budget-2026-final.xlsx"], []),
        ("апрель отчет", ["Отчёт за апрель 2026.pdf"], []), ("resume", ["Résumé Anna.pdf"], []),
        ("strassen", ["Straßenkarte Köln.png"], []), ("koln", ["Straßenkarte Köln.png"], []),
        ("img_2024", ["IMG_20240512_101010.jpg"], []), ("4711", ["Invoice №4711.pdf"], []),
        ("invoice", ["Invoice №4711.pdf", "invoices 2025.xlsx"], []), ("елка", ["Ёлка и дети.mp4"], []),
        ("final budget", ["budget-2026-final.xlsx"], []), (".mov", ["holiday video.mov"], []),
        ("фото тетей", ["Фото с тётей Олей.jpg"], []),
        // Other forms.
        ("отчеты", ["Отчёт за март 2026.pdf", "Отчёт за апрель 2026.pdf"], ["stem"]),
        ("договоры", ["Договор аренды квартиры.docx"], ["stem"]), ("рецептами", ["Рецепт борща.txt"], ["stem"]),
        ("lectures", ["lecture notes on databases.txt"], ["stem"]), ("keyboards", ["keyboard layout.svg"], ["stem"]),
        ("паспорта", ["Паспорт.jpg"], ["stem"]), ("holidays videos", ["holiday video.mov"], ["stem"]),
        // One error.
        ("пасорт", ["Паспорт.jpg"], ["typo"]), ("keybord", ["keyboard layout.svg"], ["typo"]),
        ("договро", ["Договор аренды квартиры.docx"], ["typo"]), ("приглошение", ["Приглашение.pdf"], ["typo"]),
        ("sumer photo", ["summer photos.zip"], ["typo"]), ("budgte", ["budget-2026-final.xlsx"], ["typo"]),
        // The other alphabet and layout.
        ("otchet", ["Отчёт за март 2026.pdf"], ["transliteration"]), ("pasport", ["Паспорт.jpg"], ["transliteration"]),
        ("svadba", [], []), ("бюджет", [], []), ("gfcgjhn", ["Паспорт.jpg"], ["layout"]),
        ("ыгььук", ["summer photos.zip"], ["layout"]),
    ])

    @Test("ONE-08 at least 90 % of the expected files are found, online and offline, and the screen says by what")
    func graded() async throws {
        let disk = FakeYandexDisk()
        for file in Self.files { disk.put("disk:/\(file)") }
        try await DiskHarness.run(disk) { app, token in
            for state in ["online", "offline"] {
                try await Self.searches.run("disk, \(state)") {
                    try await app.get("/v1/disk/search?q=\($0)", as: token)
                }
                disk.goAway()
            }
        }
    }
}

/// The index of names, compared with the rows.
enum NameIndex {
    /// Checks that the index has the terms and words of all rows but those of the trash, and no others.
    static func expectExact(in database: LarderDatabase) async throws {
        let (entries, expected, unranked, words) = try await database.write { db in
            let entries = try db.searchEntries(of: "disk_term")
            var (expected, unranked): (Set<String>, [String]) = ([], [])
            var words: [String: Int] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT account, path, name, folded, rank FROM disk_item") {
                let (account, path, name): (String, String, String) = (row["account"], row["path"], row["name"])
                let folded: String = row["folded"]
                let owner = String(DiskStore.owner(ofTerms: account), radix: 36)
                if let rank = row["rank"] as Int64?, folded == name.searchFolded {
                    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
                    for word in StoredWords.words(of: folded) where !word.utf8.allSatisfy(digits.contains) {
                        words["\(DiskStore.owner(ofTerms: account)) \(word)", default: 0] += 1
                    }
                    expected.formUnion(SearchTerms.parts(of: folded).map { "\(rank) \(owner)\u{B7}\($0)" })
                } else if !path.hasPrefix("trash:") {
                    unranked.append(path)
                }
            }
            // An earlier version has none.
            let stored = try db.storedWords(in: "disk_word") ?? words
            return (entries, expected, unranked, stored == words)
        }
        #expect(entries.count == expected.count && Set(entries) == expected && unranked == [] && words)
    }
}
