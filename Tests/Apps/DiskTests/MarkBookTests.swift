import Database
import Foundation
import Screens
import TestKit
import Testing

@testable import Disk

@Suite("Marks in SQLite and in PostgreSQL", .timeLimit(.minutes(3)))
struct MarkBookTests {
    @Test("A path is marked once, up to the limit, and unmarked once", arguments: StoreKind.allCases)
    func marks(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        #expect(try await node.mark("/a") == nil, "no account")
        try await node.logIn()
        #expect(try await node.mark("/a", maximum: 2) == true)
        #expect(try await node.mark("/a", maximum: 2) == false)
        #expect(try await node.mark("/b", maximum: 2) == true)
        await #expect(throws: Problem.self) { try await node.mark("/c", maximum: 2) }
        #expect(try node.marked() == ["disk:/a", "disk:/b"])
        #expect(try await node.marks.unmark(.at("/a"), account: "1130"))
        #expect(try await !node.marks.unmark(.at("/a"), account: "1130"))
        #expect(try node.marked() == ["disk:/b"])
        _ = try await node.logins.logOut("1130", sessions: node.sessions)
        try await node.logIn()
        #expect(try node.marked() == [])
    }

    @Test("Marks follow their files, and what is deleted has none", arguments: StoreKind.allCases)
    func changes(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        try await node.logIn()
        for path in ["/a", "/a/x", "/b/y", "/ab"] { try await node.mark(path, .dir) }
        try await node.marks.apply(.moved(from: .at("/a"), to: .at("/b")), account: "1130", at: DiskNode.noon)
        try await node.follow()
        #expect(try node.marked() == ["disk:/ab", "disk:/b", "disk:/b/x"])
        try await node.marks.apply(.deleted(.at("/b")), account: "1130", at: DiskNode.noon)
        try await node.follow()
        #expect(try node.marked() == ["disk:/ab"])
        #expect(try await node.marks.apply(.doubtful, account: "7", at: DiskNode.noon) == nil)
    }

    @Test("A mark of one server is another's, with its number; a moved one stays the same there")
    func shared() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        try await one.mark("/docs", .dir)
        try await one.mark("/a")
        try await other.follow()
        #expect(try other.marked() == ["disk:/a", "disk:/docs"])
        let before = try #require(try other.cache.mark(.at("/docs"), account: "1130"))
        #expect(try one.cache.mark(.at("/docs"), account: "1130")?.number == before.number)
        let change = DiskChange.moved(from: .at("/docs"), to: .at("/papers"))
        let applied = try #require(try await one.marks.apply(change, account: "1130", at: DiskNode.noon))
        try await other.follow()
        #expect(try other.marked() == ["disk:/a", "disk:/papers"])
        #expect(try other.cache.mark(.at("/papers"), account: "1130")?.number == before.number)
        let epoch = try other.cache.database.read { try DiskStore.epoch(of: "1130", $0) }
        #expect(epoch == applied.epoch)
        #expect(try await other.marks.unmark(.at("/a"), account: "1130"))
        try await one.follow()
        #expect(try one.marked() == ["disk:/papers"])
    }

    @Test("A server that finds a marked file gone removes the mark on all, unless files have been changed since")
    func gone() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        try await one.mark("/a")
        try await one.mark("/b")
        try await other.follow()
        try await other.cache.database.write { [other] in
            try other.cache.remove(.at("/a"), account: "1130", $0)
        }
        await BoundedWait.poll(for: "the removal of the mark") {
            try? await one.follow()
            return (try? one.marked()) == ["disk:/b"]
        }
        try await one.marks.apply(.doubtful, account: "1130", at: DiskNode.noon)
        try await other.cache.database.write { [other] in
            try other.cache.remove(.at("/b"), account: "1130", $0)
        }
        await BoundedWait.poll(for: "the mark to be there again") { (try? other.marked()) == ["disk:/b"] }
        try await one.follow()
        #expect(try one.marked() == ["disk:/b"])
    }
}
