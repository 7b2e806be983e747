import Foundation
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Folding of writes that wait")
struct QueuedWriteFoldingTests {
    private static func path(_ text: String) -> DiskPath { .at(text) }

    private static func write(_ kind: QueuedWrite.Kind, _ path: String, to: String? = nil) -> QueuedWrite {
        var write = QueuedWrite(kind: kind, path: Self.path(path), to: to.map(Self.path))
        if kind == .upload { write.bytes = .init(length: 1, md5: "m", sha256: "", at: .distantPast) }
        if !write.isCreation { write.subject = SeenItem(DiskItem(path: write.path, kind: .file)) }
        return write
    }

    /// Returns the writes that are sent.
    static func folded(_ writes: [QueuedWrite]) -> [QueuedWrite] {
        var queue: [QueuedWrite] = []
        for write in writes {
            let touching = queue.indices.filter { queue[$0].touches(write) }
            let folding = OutboxFolding(write, onto: touching.map { (queue[$0], true) })
            var changed: [QueuedWrite?] = queue
            for (position, work) in folding.changes { changed[touching[position]] = work }
            queue = changed.compactMap { $0 } + [folding.added].compactMap { $0 }
        }
        return queue
    }

    @Test("OUT-10 what was only to be made is made under its last name, or not at all; two moves are one")
    func examples() {
        let examples: [([QueuedWrite], [String])] = [
            ([Self.write(.folder, "/n"), Self.write(.move, "/n", to: "/m")], ["folder disk:/m"]),
            ([Self.write(.upload, "/n"), Self.write(.delete, "/n")], []),
            ([Self.write(.upload, "/n"), Self.write(.upload, "/n")], ["upload disk:/n"]),
            ([Self.write(.move, "/a", to: "/b"), Self.write(.move, "/b", to: "/c")], ["move disk:/a disk:/c"]),
            ([Self.write(.move, "/a", to: "/b"), Self.write(.move, "/b", to: "/a")], []),
            ([Self.write(.move, "/a", to: "/b"), Self.write(.delete, "/b")], ["delete disk:/a"]),
            ([Self.write(.publish, "/a"), Self.write(.unpublish, "/a")], []),
            (
                [Self.write(.folder, "/n"), Self.write(.upload, "/n/f"), Self.write(.move, "/n", to: "/m")],
                ["folder disk:/m", "upload disk:/m/f"]
            ),
            ([Self.write(.folder, "/n"), Self.write(.upload, "/n/f"), Self.write(.delete, "/n")], []),
            ([Self.write(.upload, "/a/new"), Self.write(.delete, "/a")], ["delete disk:/a"]),
        ]
        for (writes, sent) in examples {
            let described = Self.folded(writes).map { write in
                ([write.kind.rawValue, write.path.text] + [write.to?.text].compactMap { $0 }).joined(separator: " ")
            }
            #expect(described == sent)
        }
    }

    @Test("DISK-42 the end of a link that was asked for is neither folded away nor taken as done")
    func linkEnds() {
        var ending = Self.write(.publish, "/a")
        ending.until = Date(timeIntervalSince1970: 1_767_700_000)
        #expect(Self.folded([ending, Self.write(.publish, "/a")]) == [ending])
        #expect(Self.folded([Self.write(.publish, "/a"), ending]) == [ending])
        var shared = DiskItem(path: ending.path, kind: .file)
        shared.publicURL = "https://yadi.sk/d/a"
        shared.isPublished = true
        ending.subject = SeenItem(shared)
        #expect(Self.folded([ending]) == [ending])
        let found = CurrentState(subject: shared)
        #expect(ending.compare(with: found, wasSent: false) == .clear)
        #expect(ending.compare(with: found, wasSent: true) == .clear)
    }

    @Test("OUT-10 what was sent, or may have been, is not folded")
    func sent() {
        let folding = OutboxFolding(Self.write(.delete, "/n"), onto: [(Self.write(.upload, "/n"), false)])
        #expect(folding.added == Self.write(.delete, "/n") && folding.changes.isEmpty)
    }

    @Test("OUT-10 any folded sequence leads to the same Disk, by no more writes", arguments: 0..<400)
    func sameEnd(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var tree = SimulatedTree.beginning
        var writes: [QueuedWrite] = []
        for number in 0..<40 {
            guard let write = tree.randomWrite(number, &random) else { continue }
            try tree.apply(write)
            writes.append(write)
        }
        let sent = Self.folded(writes)
        var end = SimulatedTree.beginning
        for write in sent { try end.apply(write) }
        #expect(end == tree, "\(writes) became \(sent)")
        #expect(sent.count <= writes.count)
    }
}
