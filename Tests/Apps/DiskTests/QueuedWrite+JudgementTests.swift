import Foundation
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Writes that wait are compared with what is found, and never sent twice")
struct QueuedWriteJudgementTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    /// Drains a queue against a Disk whose answers get lost and whose process is killed, at random. A write that is
    /// carried out twice is refused by the Disk, which fails the test.
    private static func drain(
        _ writes: [QueuedWrite],
        _ tree: inout SimulatedTree,
        _ random: inout SeededRandom
    ) throws {
        var queue = writes.map { (work: $0, progress: OutboxProgress()) }
        var now = noon
        for _ in 0..<(40 * writes.count + 40) {
            now = now.addingTimeInterval(7200)
            guard let position = OutboxOrder.next(queue, isDue: { $0.nextAttempt.map { $0 <= now } ?? true }) else {
                break
            }
            let wasSent = queue[position].progress.isDoubtful
            _ = queue[position].progress.apply(.began, at: now)
            let work = queue[position].work
            let found = WritePreparation.Before(subject: tree.item(work.path), place: tree.item(work.target))
            var event = OutboxProgress.Event.succeeded
            switch work.judgement(of: found, wasSent: wasSent) {
            case .done: break
            case .conflict: event = .conflicted("changed")
            case .clear:
                switch Int.random(in: 0..<6, using: &random) {
                case 0: event = .interrupted  // killed before it was sent
                case 1: event = .lost("cut")  // the request was lost
                case 2: event = .delayed("locked", for: nil)
                case 3:  // the answer was lost, or the process was killed before it arrived
                    try tree.apply(work, id: "new\(position)")
                    event = Bool.random(using: &random) ? .lost("cut") : .interrupted
                default:
                    try tree.apply(work, id: "new\(position)")
                }
            }
            _ = queue[position].progress.apply(event, at: now)
            if queue[position].progress.state == .done { queue.remove(at: position) }
            if event == .conflicted("changed") { Issue.record("\(work) is a conflict with itself") }
            if queue.isEmpty { break }
        }
        #expect(queue.isEmpty, "not drained: \(queue)")
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
        #expect(upload.judgement(of: .init(), wasSent: false) == .clear)
        #expect(upload.judgement(of: .init(place: theirs), wasSent: false) == .conflict(theirs: theirs, path))
        var same = theirs
        same.md5 = upload.bytes?.md5
        #expect(upload.judgement(of: .init(place: same), wasSent: false) == .done)
        let deletion = { () -> QueuedWrite in
            var deletion = QueuedWrite(kind: .delete, path: path)
            deletion.subject = SeenItem(theirs)
            return deletion
        }()
        #expect(deletion.judgement(of: .init(subject: same), wasSent: false) == .conflict(theirs: same, path))
        #expect(deletion.judgement(of: .init(subject: theirs), wasSent: false) == .clear)
        #expect(deletion.judgement(of: .init(), wasSent: false) == .done)
        upload.theirs = SeenItem(theirs)
        upload.disputed = path
        #expect(upload.overwriting().judgement(of: .init(place: theirs), wasSent: false) == .clear)
        #expect(path.numbered(2, isFile: true).text == "disk:/n (2).txt")
    }
}
