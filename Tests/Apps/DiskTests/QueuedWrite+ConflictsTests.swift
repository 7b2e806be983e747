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
