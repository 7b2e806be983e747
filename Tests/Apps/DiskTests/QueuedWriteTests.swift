import Foundation
import TestKit
import Testing

@testable import Disk
@testable import Upstream

@Suite("Writes that wait are compared with what is found, and never sent twice")
struct QueuedWriteConflictsTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    /// Drains a queue against a Disk whose answers get lost and whose process is killed, at random. A write that is
    /// carried out twice is refused by the Disk, which fails the test.
    private static func drain(
        _ writes: [QueuedWrite],
        _ tree: inout SimulatedTree,
        _ random: inout SeededRandom
    ) throws {
        var (account, begun, now) = (OutboxAccount(writes), OutboxEntry<QueuedWrite>?.none, noon)
        for _ in 0..<(40 * writes.count + 40) {
            now = now.addingTimeInterval(7200)
            if begun == nil, case .run(let next) = account.next(at: now, after: nil) { begun = next }
            guard var entry = begun else { break }
            _ = entry.progress.apply(.began, at: now)
            account.apply(.put(entry))
            let event = try event(of: entry, &tree, &random)
            if event == .conflicted("changed") { Issue.record("\(entry.work) is a conflict with itself") }
            // The next one begins when this one is done, and may be killed before it is looked at.
            begun = nil
            if event == .succeeded, case .run(var next) = account.next(at: now, after: entry.id) {
                _ = next.progress.apply(.began, at: now)
                let isKilled = Int.random(in: 0..<4, using: &random) == 0
                if isKilled { _ = next.progress.apply(.interrupted, at: now) } else { begun = next }
                account.apply(.put(next))
            }
            _ = entry.progress.apply(event, at: now)
            account.apply(.put(entry))
        }
        #expect(account.queue.entries.isEmpty, "not drained: \(Array(account.queue.entries))")
    }

    /// Carries out one write, and returns the resulting event.
    private static func event(
        of entry: OutboxEntry<QueuedWrite>,
        _ tree: inout SimulatedTree,
        _ random: inout SeededRandom
    ) throws -> OutboxProgress.Event {
        let work = entry.work
        let found = CurrentState(subject: tree.item(work.path), place: tree.item(work.target))
        switch work.compare(with: found, wasSent: entry.progress.isOutcomeUnknown) {
        case .done: return .succeeded
        case .conflict: return .conflicted("changed")
        case .clear: break
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .interrupted  // killed before it was sent
        case 1: return .lost("cut")  // the request was lost
        case 2: return .delayed("locked", for: nil)
        case 3:  // the answer was lost, or the process was killed before it arrived
            try tree.apply(work, id: "new\(entry.number)")
            return Bool.random(using: &random) ? .lost("cut") : .interrupted
        default:
            try tree.apply(work, id: "new\(entry.number)")
            return .succeeded
        }
    }

    @Test("OUT-07 lost answers and kills at random: the Disk ends as if each write had run once", arguments: 0..<200)
    func randomly(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var model = SimulatedTree.beginning
        var writes: [QueuedWrite] = []
        for number in 0..<15 {
            guard let write = model.randomWrite(number, &random) else { continue }
            try model.apply(write)
            writes.append(write)
        }
        var tree = SimulatedTree.beginning
        try Self.drain(QueuedWriteFoldingTests.folded(writes), &tree, &random)
        #expect(tree == model)
    }

    @Test("OUT-06 what came or changed meanwhile is a conflict; what is as the write leads to is done")
    func conflicts() {
        let path = DiskPath.at("/n.txt")
        var theirs = DiskItem(path: path, kind: .file)
        theirs.md5 = String(repeating: "a", count: 32)
        theirs.size = 1
        var upload = QueuedWrite(kind: .upload, path: path)
        upload.bytes = .init(length: 1, md5: String(repeating: "b", count: 32), sha256: "", at: Self.noon)
        #expect(upload.compare(with: .init(), wasSent: false) == .clear)
        #expect(upload.compare(with: .init(place: theirs), wasSent: false) == .conflict(remote: theirs, path))
        var same = theirs
        same.md5 = upload.bytes?.md5
        #expect(upload.compare(with: .init(place: same), wasSent: false) == .done)
        let deletion = { () -> QueuedWrite in
            var deletion = QueuedWrite(kind: .delete, path: path)
            deletion.subject = SeenItem(theirs)
            return deletion
        }()
        #expect(deletion.compare(with: .init(subject: same), wasSent: false) == .conflict(remote: same, path))
        #expect(deletion.compare(with: .init(subject: theirs), wasSent: false) == .clear)
        #expect(deletion.compare(with: .init(), wasSent: false) == .done)
        upload.remote = SeenItem(theirs)
        upload.conflictingPath = path
        #expect(upload.overwriting().compare(with: .init(place: theirs), wasSent: false) == .clear)
        #expect(path.numbered(2, isFile: true).text == "disk:/n (2).txt")
    }
}

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
