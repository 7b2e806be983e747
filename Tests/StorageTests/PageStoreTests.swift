import Foundation
import TestKit
import Testing

@testable import Storage

@Suite struct PageStoreTests {
    let database: LarderDatabase
    let pages = PageStore()

    init() throws {
        database = try LarderDatabase.temporary()
    }

    private func page(
        _ rowKeys: [String],
        account: String = "disk/1",
        screen: String = "files",
        offset: Int = 0,
        total: Int? = nil
    ) -> PageList {
        PageList(
            key: PageKey(account: account, screen: screen, query: "/", offset: offset, limit: 20),
            rowKeys: rowKeys,
            total: total,
            hasMore: true,
            fetchedAt: noon
        )
    }

    private func save(_ lists: PageList...) throws {
        try database.write { db in for list in lists { try pages.save(list, in: db) } }
    }

    private func stored(_ list: PageList) throws -> PageList? {
        try database.read { try pages.page(list.key, in: $0) }
    }

    @Test("A row is removed from the lists and totals of one screen and stays on those of another")
    func rowOfScreen() throws {
        let (files, recent) = (page(["a", "b"], total: 2), page(["b"], screen: "recent", total: 9))
        try save(files, recent)
        try database.write { try pages.remove(rowKey: "b", account: "disk/1", screen: "files", at: noon, in: $0) }
        #expect(try stored(files)?.rowKeys == ["a"])
        #expect(try stored(files)?.total == 1)
        #expect(try stored(recent) == recent)
    }

    @Test("A page comes back in its order; a newer one of its key replaces it; a later page evicts no earlier one")
    func pagesAreIndependent() throws {
        let first = page(["c", "a", "b", "a"], total: 40)
        let second = page(["d"], offset: 20, total: 40)
        try save(first, second)
        #expect(try stored(first) == first && stored(second) == second)
        let newer = page(["z"], total: nil)
        try save(newer)
        #expect(try stored(first) == newer && stored(second) == second)
        #expect(try stored(page([], offset: 40)) == nil)
    }

    @Test("A row that is removed leaves all lists of its account, and all pages of those lists count one less")
    func removeRow() throws {
        let first = page(["a", "b"], total: 3)
        let second = page(["c"], offset: 20, total: 3)
        let recent = page(["b"], screen: "recent")
        let unrelated = page(["x"], screen: "trash", total: 1)
        let foreign = page(["b"], account: "disk/2", total: 1)
        try save(first, second, recent, unrelated, foreign)
        try database.write { try pages.remove(rowKey: "b", account: "disk/1", at: noon + 5, in: $0) }
        var (left, counted) = (page(["a"], total: 2), page(["c"], offset: 20, total: 2))
        (left.changedAt, counted.changedAt) = (noon + 5, noon + 5)
        #expect(try stored(first) == left && stored(second) == counted)
        #expect(try stored(recent)?.rowKeys == [] && stored(recent)?.changedAt == noon + 5)
        #expect(try stored(unrelated) == unrelated && stored(foreign) == foreign)
    }

    @Test("A renamed folder renames what is below it, and nothing whose name only begins alike")
    func renameFolder() throws {
        try save(page(["/a/", "/a/x", "/a/é/y", "/ab", "/b/a/x"]), page(["/a/x"], account: "disk/2"))
        try database.write { try pages.replace(rowKeyPrefix: "/a/", by: "/neu/", account: "disk/1", in: $0) }
        #expect(try stored(page([]))?.rowKeys == ["/neu/", "/neu/x", "/neu/é/y", "/ab", "/b/a/x"])
        #expect(try stored(page([], account: "disk/2"))?.rowKeys == ["/a/x"])
    }

    @Test("A prefix beyond the basic plane is cut at characters, not at bytes")
    func renamePrefixOfEmoji() throws {
        try save(page(["/📁é/x"]))
        try database.write { try pages.replace(rowKeyPrefix: "/📁é/", by: "/", account: "disk/1", in: $0) }
        #expect(try stored(page([]))?.rowKeys == ["/x"])
    }

    @Test("A renamed row, a deleted folder and a dropped account change what they should")
    func otherChanges() throws {
        try save(page(["/a", "/a/x", "/b"]), page(["/a"], screen: "recent"), page(["/a"], account: "disk/2"))
        try database.write { db in
            try pages.replace(rowKey: "/b", by: "/c", account: "disk/1", in: db)
            try pages.remove(rowKeysWithPrefix: "/a/", account: "disk/1", at: noon, in: db)
        }
        #expect(try stored(page([]))?.rowKeys == ["/a", "/c"])
        try database.write { try pages.remove(account: "disk/1", in: $0) }
        #expect(try stored(page([])) == nil && stored(page([], account: "disk/2")) != nil)
    }
}

@Suite struct KeyPrefixTests {
    @Test("The range of a prefix ends before the first text that does not begin with it")
    func end() {
        #expect(KeyPrefix("/a/").end == "/a0")
        #expect(KeyPrefix("a\u{D7FF}").end == "a\u{E000}")
        #expect(KeyPrefix("a\u{10FFFF}").end == "b")
        #expect(KeyPrefix("\u{10FFFF}").end == nil)
        #expect(KeyPrefix("").end == nil)
    }
}
