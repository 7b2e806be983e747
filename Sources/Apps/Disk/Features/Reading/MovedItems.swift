import Cluster
import Concurrency
import Foundation
import Logging
import Screens
import Storage
import Upstream

// Files and folders that other clients have renamed or moved. The API gives them by their path only, so they are looked
// for by their identifier (`resource_id`).
extension Disk {
    /// Rows of the folder that are looked through.
    private static let siblings = PageRequest(limit: 1000, offset: 0)

    /// Returns the present item with an identifier that is not at its path any more: where a list has shown it, or in
    /// the same folder under another name.
    ///
    /// - Returns: Nil if it is at neither place.
    /// - Throws: `UpstreamError`, `UpstreamFailure`, `StorageError`.
    func moved(_ resourceID: String?, from path: DiskPath, _ account: DiskAccount) async throws -> DiskItem? {
        guard let resourceID, let folder = path.parent else { return nil }
        for shown in try store.paths(of: resourceID, account: account.id) where shown != path {
            if let item = try await present(shown, account), item.resourceID == resourceID { return item }
        }
        do {
            let record = try await tokens.authorized(account) {
                try await client.content(of: folder, Self.siblings, $0)
            }
            return record.embedded?.rows.items.first { $0.resourceID == resourceID && $0.path != path }
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        }
    }

    /// Removes an item that the API says is not there. If it is kept offline and others have moved it, it is kept at
    /// its new path.
    ///
    /// - Throws: `StorageError`; `SharedStoreError` if the mark cannot follow.
    func forget(_ path: DiskPath, for account: DiskAccount) async throws {
        // A young path may not be shown yet: it is not missing.
        if try store.mark(path, account: account.id) != nil, try !store.isYoung(path, account: account.id) {
            let known = try store.item(path, account: account.id)?.item.resourceID
            do {
                if let item = try await moved(known, from: path, account) {
                    let change = DiskChange.moved(from: path, to: item.path)
                    // Another reader may have been here first.
                    try await store.apply(change, account: account.id, at: clock.now(), ifMarked: path)
                    return
                }
            } catch let error where !(error is StorageError || error is SharedStoreError) {
                // Whether it was moved is not known: the mark stays, and the next read asks again.
                logger.info("a missing file could not be looked for", metadata: ["error": "\(error)"])
                return
            }
        }
        try await store.forget(path, account: account.id, asOf: account.epoch)
    }
}
