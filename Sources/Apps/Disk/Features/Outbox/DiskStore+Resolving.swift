import Foundation
import Upstream

// How conflicts end.
extension DiskStore {
    /// Returns the changes that end a conflict other than by dropping the write. If the write gets another name, later
    /// writes to the old name are changed to the new one.
    func resolved(
        _ entry: OutboxEntry<QueuedWrite>,
        _ choice: ConflictChoice,
        _ queue: OutboxQueue<QueuedWrite>,
        at now: Date
    ) -> [OutboxChange<QueuedWrite>] {
        var resolved = entry
        _ = resolved.progress.apply(.retried, at: now)
        guard choice == .keepBoth else {
            resolved.work = entry.work.overwriting()
            return [.put(resolved)]
        }
        let (old, new) = (entry.work.target, freeName(entry, queue))
        resolved.work = entry.work.renamed(to: new)
        let touching = outbox.touching([old], of: entry.account)
        let later = touching.filter { $0.number > entry.number }.compactMap { later in
            later.work.relocated(from: old, to: new).map { work in
                var moved = later
                moved.work = work
                return OutboxChange.put(moved)
            }
        }
        return [.put(resolved)] + later
    }

    /// Returns the first name that nothing known has; the API is asked when the write is sent.
    private func freeName(_ entry: OutboxEntry<QueuedWrite>, _ queue: OutboxQueue<QueuedWrite>) -> DiskPath {
        let projection = queue.view.projection
        let isFile = entry.work.ours?.kind == .file
        var number = 2
        while number < 1000 {
            let path = entry.work.target.numbered(number, isFile: isFile)
            switch projection.place(path) {
            case .nothing: return path
            case .upstream(let source, _):
                // A failing read cannot happen within the transaction that has read already.
                if (try? item(source, account: entry.account)) ?? nil == nil { return path }
            case .made: break
            }
            number += 1
        }
        return entry.work.target.numbered(number, isFile: isFile)
    }
}
