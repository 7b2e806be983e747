import AppInterface
import Freshness
import GRDB
import Logging
import Screens
import ServiceLifecycle
import Settings

/// Where what users have made in the app is: in the server's own database, or in one that several servers share.
struct DiskBooks: Sendable {
    let logins: any LoginBook
    let jobs: any JobBook
    let marks: any MarkBook
    let outbox: any OutboxBook
    private let cache: DiskStore
    /// Those of the shared database; nil without one.
    private let shared: (logins: SharedLogins, marks: SharedMarks, outbox: SharedOutbox)?

    /// - Parameter shared: The database that servers share; nil if everything is in the server's own.
    init(_ cache: DiskStore, _ shared: SharedDisk?) {
        self.cache = cache
        guard let shared else {
            (logins, jobs, marks, outbox) = (cache, cache, cache, cache)
            self.shared = nil
            return
        }
        let logins = SharedLogins(shared: shared, cache: cache)
        let marks = SharedMarks(database: shared.database, changes: shared.changes, cache: cache)
        let outbox = SharedOutbox(shared: shared, cache: cache, marks: marks)
        (self.logins, self.marks, self.outbox) = (logins, marks, outbox)
        jobs = SharedJobs(database: shared.database, changes: shared.changes)
        self.shared = (logins, marks, outbox)
    }

    /// Removes what the server has of accounts that were logged out while it was down, before it accepts connections.
    ///
    /// - Throws: `SettingError` if its own database has logins that the shared one would hide; errors of the stores.
    func prepare() async throws {
        guard let shared else { return }
        guard try !cache.hasTokens() else {
            throw SettingError.unacceptable(
                key: "store.url",
                value: "…",
                source: "settings",
                accepted: "a data directory without logins of the Disk: copy them by larder store copy, and name a "
                    + "new data.directory"
            )
        }
        _ = try await shared.logins.forgetLoggedOut()
    }

    /// Ends the sessions that are not used any more, with what belongs to them.
    ///
    /// - Parameter ended: Is called with an account whose data is gone: what is under way for it ends.
    func letExpire(in sessions: SessionStore, ended: @escaping @Sendable (_ account: String) -> Void) {
        sessions.letExpire(
            sessionsOf: DiskApp.name,
            { [cache] expired, db in
                try cache.remove(expired, db)
                guard expired.isLast else { return }
                db.afterNextTransaction { _ in ended(expired.account) }
            },
            shared: { [shared] expired, transaction in try shared?.logins.remove(expired, transaction) }
        )
        cache.forgotten.listen(ended)
    }

    /// Follows what other servers change as soon as they send it.
    func listen(_ logger: Logger) {
        guard let shared else { return }
        let failed = { @Sendable (subject: String) in
            { @Sendable (error: any Error) in
                // It is up to date before it is used, and a service looks again.
                logger.warning("\(subject) of other servers could not be followed", metadata: ["error": "\(error)"])
            }
        }
        shared.logins.listen(failed: failed("logouts"))
        shared.marks.listen(failed: failed("marks"))
        shared.outbox.listen(failed: failed("writes"))
    }

    /// What runs beside the server.
    func services(_ retention: RetentionClock, _ logger: Logger) -> [any Service] {
        guard let shared else { return [] }
        return [
            ExpiryService(of: "accounts that were logged out elsewhere", by: retention, logger: logger) { _ in
                try await shared.logins.forgetLoggedOut()
            },
            shared.outbox.expiry(by: retention, logger: logger),
        ]
    }
}
