import Foundation
import Storage
import TestKit
import Testing

@testable import Disk
@testable import Upstream

@Suite("The Disk as it will be, after each change of what waits")
struct PendingViewTests {
    private typealias Account = OutboxAccount<QueuedWrite>

    /// Everything that screens read, as text.
    private static func described(_ view: PendingView) -> [String] {
        let paths = [DiskPath.root] + SimulatedTree.paths
        let places = paths.map { path in
            switch view.tree.item(at: path) {
            case .nothing: "\(path.text): nothing"
            case .made(let item, let node):
                "\(path.text): made \(item.kind) \(item.md5 ?? "") \(node.made ?? -1) \(node.write ?? -1)"
            case .upstream(let source, let node):
                "\(path.text): \(source.text) \(node?.write ?? -1) \(node?.isPublished.map(String.init) ?? "")"
            }
        }
        let folders = paths.map { path in
            let (folder, added) = (view.folder(path), view.lists.added(to: path))
            let renamed = folder.renamed.map { "\($0.key.text) \($0.value.path.text)" }.sorted()
            let rows = added.map { "\($0.path.text) \($0.write) \($0.item?.md5 ?? "")" }.sorted()
            return "\(path.text): \(folder.difference) \(renamed) \(rows)"
        }
        let visible = paths.map { "\($0.text) as \(view.visible($0)?.text ?? "nothing")" }
        let found = ["x", "ew x", "to x"].flatMap { text in
            view.lists.search(PartQuery(text), limit: 100).page.map { "\(text): \($0.path.text) \($0.write)" }
        }
        let lists = ["name", "-size"].flatMap { sort in
            paths.map { path in
                let order = ListOrder(sort)
                let key = "files\n\(path.text)\n\(sort)"
                let rows = view.lists.rows(key, of: path, { _ in true }, by: order.precedes)
                return "\(sort) \(rows.map(\.path.text))"
            }
        }
        return places + folders + visible + found + lists + ["\(view.addedBytes) bytes"]
    }

    /// Returns the numbers of writes that no other one touches that is earlier, or later.
    private static func outer(_ account: Account, isFirst: Bool) -> [Int64] {
        let entries = Array(account.queue.entries)
        return entries.filter { one in
            !entries.contains { other in
                (isFirst ? other.number < one.number : other.number > one.number) && other.work.touches(one.work)
            }
        }.map(\.number)
    }

    /// Leaves a write as the store does: folded into those that wait.
    private static func leave(_ write: QueuedWrite, _ number: Int64, in account: inout Account) {
        let touching = account.touching(write.places)
        let folding = OutboxFolding(write, onto: touching.map { ($0.work, $0.progress.state != .failed) })
        for (position, work) in folding.changes.sorted(by: { $0.key < $1.key }) {
            let earlier = touching[position].number
            if let work { account.put(work, earlier) } else { account.remove(earlier) }
        }
        if let added = folding.added { account.put(added, number) }
    }

    @Test(
        "OUT-11 DISK-41 what follows each change is what would be made anew without what was refused, in any sequence",
        arguments: 0..<200
    )
    func incremental(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var (tree, account, last) = (SimulatedTree.beginning, Account(), PendingView())
        for number in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                // It is done, or taken back: the Disk that it was left for is not needed any more.
                let numbers = Self.outer(account, isFirst: Bool.random(using: &random))
                guard let number = numbers.randomElement(using: &random) else { continue }
                account.remove(number)
            case 8, 9:
                // It is refused, or tried again.
                guard let entry = account.queue.entries.randomElement(using: &random) else { continue }
                account.put(entry.work, entry.number, isRefused: entry.progress.state != .failed)
            case 1:
                // A conflict that ends by overwriting.
                guard let entry = account.queue.entries.randomElement(using: &random) else { continue }
                var work = entry.work
                work.overwrites = true
                account.put(work, entry.number, isRefused: entry.progress.state == .failed)
            default:
                guard let write = tree.randomWrite(number, &random) else { continue }
                try tree.apply(write)
                if Bool.random(using: &random) {
                    Self.leave(write, Int64(number), in: &account)
                } else {
                    account.put(write, Int64(number))
                }
            }
            // Neither refused writes nor writes that depend on them have an effect.
            var (anew, ineffective) = (Account(), [QueuedWrite]())
            for entry in account.queue.entries {
                if entry.progress.state == .failed || ineffective.contains(where: entry.work.touches) {
                    ineffective.append(entry.work)
                } else {
                    anew.put(entry.work, entry.number)
                }
            }
            let (one, other) = (Self.described(account.queue.view), Self.described(anew.queue.view))
            #expect(one == other, "\(account.queue.entries.map(\.work))")
            if one != other { return }
            last = account.queue.view
        }
        #expect(last.steps > 0 || account.queue.entries.allSatisfy { $0.progress.state == .failed })
    }

    @Test("A copy stays as it was, whatever follows")
    func copies() {
        var account = Account((0..<300).map { QueuedWrite(kind: .folder, path: .at("/new \($0)")) })
        let copy = account.queue
        for number in 0..<200 { account.remove(Int64(number)) }
        account.put(QueuedWrite(kind: .folder, path: .at("/other")), 300)
        #expect(copy.entries.count == 300 && copy.entries[number: 0] != nil && account.queue.entries.count == 101)
        for number in 0..<300 {
            guard case .made = copy.view.tree.item(at: .at("/new \(number)")) else {
                Issue.record("\(number) is gone")
                return
            }
        }
        guard case .upstream = account.queue.view.tree.item(at: .at("/new 7")) else {
            Issue.record("what is done is still made here")
            return
        }
    }

    @Test("OUT-11 a write that is left, done or taken back is as much work among 10,000 as among 100")
    func work() {
        func steps(_ count: Int) -> [Int] {
            let kinds: [QueuedWrite.Kind] = [.folder, .upload, .delete, .move, .publish]
            var account = Account()
            account.put(QueuedWrite(kind: .folder, path: .at("/made")), 0)
            for number in 1...count {
                let folder = number.isMultiple(of: 2) ? "/made" : "/there"
                var write = QueuedWrite(kind: kinds[number % 5], path: .at("\(folder)/\(number)"))
                if write.kind == .move { write.to = .at("\(folder)/to \(number)") }
                account.put(write, Int64(number))
            }
            let before = account.queue.view.steps
            // Done, in the order of sending, and one of each kind in the middle.
            for number in 11...30 { account.remove(Int64(number)) }
            account.put(QueuedWrite(kind: .upload, path: .at("/made/last")), Int64(count + 1))
            account.remove(Int64(count + 1))
            return [account.queue.view.steps - before]
        }
        #expect(steps(100) == steps(10_000))
    }

    @Test("A search finds parts of names, the last write first, with as many as are asked for")
    func search() {
        let names = ["report.pdf", "Отчёт.pdf", "an export", "ep"]
        let account = Account(names.map { QueuedWrite(kind: .folder, path: .at("/\($0)")) })
        func found(_ text: String, _ limit: Int = 10) -> [String] {
            account.queue.view.lists.search(PartQuery(text), limit: limit).page.map(\.path.name)
        }
        #expect(found("PDF") == ["Отчёт.pdf", "report.pdf"] && found("port") == ["an export", "report.pdf"])
        #expect(
            found("ep") == ["ep", "report.pdf"] && found("отч") == ["Отчёт.pdf"] && found("port", 1) == ["an export"]
        )
        #expect(found("nothing").isEmpty && found("").isEmpty)
    }

    @Test("OUT-11 a search looks at as many names among 10,000 as among 100, whatever the length of its text")
    func searchSteps() {
        let counts = [100, 2000, 10_000]
        let accounts = counts.map { count in
            Account((0..<count).map { QueuedWrite(kind: .folder, path: .at("/queued \($0)")) })
        }
        func steps(_ text: String, first: Int = 0) -> [Int] {
            accounts.map { $0.queue.view.lists.search(PartQuery(text), first: first, limit: 20).steps }
        }
        for text in ["d", "d ", "ed ", "q", "u"] {
            #expect(steps(text) == [20, 20, 20] && steps(text, first: 70) == [20, 20, 20], "\(text)")
        }
        // As many steps as a page has names, or as are counted at all.
        #expect(steps("queued") == [100, 1000, 1000] && steps("queued", first: 1500)[1...] == [1521, 1521])
        #expect(steps("ued 77") == [1, 11, 111] && steps("nothing") == [0, 0, 0])
        let all = accounts.map { $0.queue.view.lists.search(PartQuery("d "), first: 40, limit: 20) }
        #expect(all.map(\.count) == counts && all[0].page.map(\.path.name) == (40..<60).map { "queued \(99 - $0)" })
        #expect(
            accounts[2].queue.view.lists.search(PartQuery("queued"), first: 40, limit: 20).page.map(\.path.name)
                == (40..<60).map { "queued \(9999 - $0)" }
        )
    }
}
