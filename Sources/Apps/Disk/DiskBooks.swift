import AppInterface
import Freshness
import Logging
import ServiceLifecycle

/// Where waiting writes are: in the server's own database, or in one that several servers share.
struct DiskBooks: Sendable {
    let outbox: any OutboxBook
    /// That of the shared database; nil without one.
    private let shared: SharedOutbox?

    init(_ store: DiskStore) {
        guard let shared = store.shared else {
            (outbox, self.shared) = (store, nil)
            return
        }
        let outbox = SharedOutbox(shared: shared, cache: store)
        (self.outbox, self.shared) = (outbox, outbox)
    }

    /// Follows what other servers change as soon as they send it.
    func listen(_ logger: Logger) {
        shared?.listen { error in
            // It is up to date before it is used.
            logger.warning("writes of other servers could not be followed", metadata: ["error": "\(error)"])
        }
    }

    /// What runs beside the server.
    func services(_ retention: RetentionClock, _ logger: Logger) -> [any Service] {
        shared.map { [$0.expiry(by: retention, logger: logger)] } ?? []
    }
}
