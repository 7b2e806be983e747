import Foundation
import Storage
import Testing

@testable import Disk

@Suite("Responses brought up to date by changes")
struct DiskReplayTests {
    private func path(_ text: String) throws -> DiskPath { try #require(DiskPath(text)) }

    private func item(_ text: String, md5: String = "old") throws -> DiskItem {
        var item = DiskItem(path: try path(text), kind: .file)
        item.md5 = md5
        return item
    }

    private func after(_ changes: [DiskChange], _ items: [DiskItem]) -> [String] {
        DiskReplay.rows(items, after: changes[...]).map { "\($0.path.text) \($0.md5 ?? "")" }
    }

    @Test("What was deleted is removed with all that is below it, and nothing else is")
    func deleted() throws {
        let items = try ["/a", "/a/x", "/ab", "/b"].map { try item($0) }
        #expect(after([.deleted(try path("/a"))], items) == ["disk:/ab old", "disk:/b old"])
        #expect(after([.doubtful], items).count == 4)
    }

    @Test("What was moved is at its new path, whether the response was made before the move or after it")
    func moved() throws {
        let change = DiskChange.moved(from: try path("/a"), to: try path("/new/b"))
        #expect(
            after([change], [try item("/a"), try item("/a/x/y"), try item("/c")]) == [
                "disk:/new/b old", "disk:/new/b/x/y old", "disk:/c old",
            ]
        )
        #expect(after([change], [try item("/new/b"), try item("/c")]) == ["disk:/new/b old", "disk:/c old"])
        // A response from before the move: the overwritten item is dropped.
        #expect(after([change], [try item("/new/b", md5: "overwritten"), try item("/a")]) == ["disk:/new/b old"])
    }

    @Test("What was made looks as it was made; what was deleted and made again is there")
    func appeared() throws {
        let change = DiskChange.appeared(try path("/a"), try item("/a", md5: "new"))
        #expect(after([change], [try item("/a"), try item("/b")]) == ["disk:/a new", "disk:/b old"])
        #expect(after([.deleted(try path("/a")), change], [try item("/a")]) == ["disk:/a new"])
        #expect(after([change, .deleted(try path("/a"))], [try item("/a")]) == [])
        #expect(
            after(
                [.deleted(try path("/a")), .moved(from: try path("/b"), to: try path("/a"))],
                [try item("/a", md5: "b")]
            ) == ["disk:/a b"]
        )
    }

    @Test("TRUST-04 a new item at the path of one that was moved away is not taken for the moved one")
    func replacedByNew() throws {
        let moved = DiskChange.moved(from: try path("/a"), to: try path("/b"))
        let made = DiskChange.appeared(try path("/a"), try item("/a", md5: "new"))
        // A response of after both, and one of before.
        #expect(after([moved, made], [try item("/a", md5: "new"), try item("/b")]) == ["disk:/a new", "disk:/b old"])
        #expect(after([moved, made], [try item("/a")]) == ["disk:/b old"])
    }

    @Test("What was unpublished is not public any more")
    func unpublished() throws {
        var item = try item("/a")
        item.isPublished = true
        item.publicURL = "https://yadi.sk/d/a"
        let after = DiskReplay.item(item, after: [.unpublished(item.path)])
        #expect(after?.isPublished == false && after?.publicURL == nil)
    }

    @Test("A folder is another one after it, or a folder above it, was deleted or moved")
    func folders() throws {
        let folder = try path("/a/b")
        for change in [
            DiskChange.deleted(try path("/a")), .moved(from: folder, to: try path("/c")),
            .moved(from: try path("/c"), to: folder),
        ] {
            #expect(!DiskReplay.isSame(folder, after: [change]))
        }
        for change in [
            DiskChange.deleted(try path("/a/b/c")), .deleted(try path("/a/bc")), .appeared(folder, nil), .doubtful,
        ] {
            #expect(DiskReplay.isSame(folder, after: [change]))
        }
    }

    @Test("A list that was requested later stays; after a logout nothing is remembered")
    func lists() {
        let logs = DiskChangeLogs()
        let list = PageKey(account: "disk/1", screen: "files", offset: 0, limit: 20)
        #expect(!logs.isStoredLater(list, than: 4, present: 6))
        logs.stored(list, epoch: 5)
        #expect(logs.isStoredLater(list, than: 4, present: 6) && !logs.isStoredLater(list, than: 5, present: 6))
        #expect(!logs.isStoredLater(list, than: 2, present: 3), "of another login")
        logs.forget("1", owner: "disk/1")
        #expect(!logs.isStoredLater(list, than: 4, present: 6))
    }

    @Test("The log gives the changes between two epochs, or none if they are not all known")
    func log() throws {
        var log = DiskChangeLog()
        for epoch in Int64(11)...13 { log.append(.appeared(try path("/\(epoch)"), nil), epoch: epoch) }
        #expect(log.changes(from: 13, to: 13) == [])
        #expect(
            log.changes(from: 11, to: 13).map(Array.init) == [
                .appeared(try path("/12"), nil), .appeared(try path("/13"), nil),
            ]
        )
        #expect(log.changes(from: 10, to: 13)?.count == 3)
        #expect(
            log.changes(from: 9, to: 13) == nil && log.changes(from: 12, to: 14) == nil
                && log.changes(from: 14, to: 13) == nil
        )
        // Logged in again.
        log.append(.doubtful, epoch: 500)
        #expect(log.changes(from: 13, to: 500) == nil && log.changes(from: 499, to: 500).map(Array.init) == [.doubtful])
        for epoch in Int64(501)...2000 { log.append(.doubtful, epoch: epoch) }
        #expect(log.changes(from: 2000 - Int64(DiskChangeLog.longest), to: 2000)?.count == DiskChangeLog.longest)
        #expect(log.changes(from: 1999 - Int64(DiskChangeLog.longest), to: 2000) == nil)
    }
}
