import Concurrency
import Foundation
import HTTP
import Storage
import Upstream

extension Search {
    /// The rows that a search looks through.
    struct KnownFiles {
        var provenance: Provenance
        /// Offset of the last part of the list of all files; nil if not all of it is stored.
        var lastPart: Int?

        /// Whether all files are searched, as far as is known now.
        var isWhole: Bool { lastPart != nil && !provenance.offline }

        /// Makes the value for an incomplete list of files.
        init(provenance: Provenance) { self.provenance = provenance }

        /// Adds a part to earlier ones: the whole is as good as the worst of its parts.
        init(_ earlier: KnownFiles?, with part: Provenance, at lastPart: Int?) {
            provenance = earlier.map(\.provenance).flatMap { $0.stale && !part.offline ? $0 : nil } ?? part
            self.lastPart = lastPart
        }

        /// Returns the same, received with the newest row of any list: a search looks through all of them.
        func received(_ changedAt: Date?) -> KnownFiles {
            var known = self
            known.provenance.contentFetchedAt = changedAt
            return known
        }
    }

    /// Returns the known files if all parts of their list are served without a request.
    ///
    /// - Parameter witness: Taken before the transaction within which this is called.
    func storedFiles(of account: DiskAccount, _ cachePolicy: CachePolicy, since witness: ReadWitness) throws
        -> KnownFiles?
    {
        var known: KnownFiles?
        for batch in 0..<Self.maximumBatches {
            let offset = batch * Self.batchSize
            let key = key(at: offset, for: account)
            let resource = client.allFiles(limit: Self.batchSize, offset: offset, account: account.id) { _ in .none }
            guard let result = try accounts.reader.stored(resource, for: account, cachePolicy, since: witness),
                let part = try store.ending(key)
            else { return nil }
            pages.accessRecorder.note(key, at: clock.now())
            var provenance = result.provenance
            if part.lacksRows { provenance.stale = true }
            known = KnownFiles(known, with: provenance, at: part.hasMore ? nil : offset)
            if !part.hasMore { break }
        }
        return known
    }

    func key(at offset: Int, for account: DiskAccount) -> PageKey {
        PageKey(account: DiskStore.owner(account.id), screen: Self.list, offset: offset, limit: Self.batchSize)
    }
}
