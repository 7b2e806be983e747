import Concurrency
import Foundation
import Screens
import Synchronization

/// Publishes events of the app to the sessions of an account.
struct DiskEvents: Sendable {
    let stream: EventStream

    /// The screens that may show others after a change of files.
    static let lists = ["disk.files", "disk.recent", "disk.published"]

    static let withoutRevision: Set = ["disk.profile", "disk.search"]

    func screenChanged(_ screen: String, _ revision: Int, account: String) {
        stream.publish(
            .screenChanged(app: DiskApp.name, screen: screen, revision: revision, audience: Self.audience(account))
        )
    }

    /// Publishes that the writes that wait have changed.
    ///
    /// - Parameter pending: Number of them.
    func outboxChanged(_ pending: Int, account: String) {
        stream.publish(
            ServerEvent(
                kind: "outbox-changed",
                data: [("app", .text(DiskApp.name)), ("pending", .number(pending))],
                audience: Self.audience(account)
            )
        )
    }

    func downloadChanged(_ job: DownloadJob) {
        stream.publish(
            .job(
                app: DiskApp.name,
                id: job.id,
                kind: "download",
                state: job.status.rawValue,
                progress: job.progress,
                audience: Self.audience(job.account)
            )
        )
    }

    private static func audience(_ account: String) -> ServerEvent.Audience {
        .account(app: DiskApp.name, account: account)
    }
}

/// Announces that something of an account has changed, of each account at most once in a second.
final class ChangeAnnouncer: Sendable {
    private static let interval = 1.0

    private let throttles = Mutex<[String: EventThrottle]>([:])
    private let disk: Disk
    private let publish: @Sendable (_ account: String) -> Void

    init(_ disk: Disk, publish: @escaping @Sendable (_ account: String) -> Void) {
        (self.disk, self.publish) = (disk, publish)
    }

    /// Announces a change, now or at the end of the interval.
    func changed(_ account: String) {
        let now = disk.clock.now()
        switch throttles.withLock({
            $0[account, default: EventThrottle(interval: Self.interval)].changed(at: now)
        }) {
        case .publish: publish(account)
        case .wait(let seconds):
            disk.background.start { [self] in
                // A task that is cancelled ends with the server: its event is not needed.
                guard (try? await disk.clock.sleep(.seconds(seconds))) != nil else { return }
                throttles.withLock { $0[account]?.waited(at: disk.clock.now()) }
                publish(account)
            }
        case .nothing: break
        }
    }

    /// Forgets an account that was logged out.
    func forget(_ account: String) { throttles.withLock { $0[account] = nil } }
}

/// Decides when events of frequent changes are published: the first at once, further ones at most once in an interval,
/// and the last change always.
struct EventThrottle: Sendable, Equatable {
    enum Decision: Sendable, Equatable {
        case publish
        /// Publish after this many seconds, with ``EventThrottle/waited(at:)``.
        case wait(Double)
        /// An event is already waited for.
        case nothing
    }

    let interval: Double
    private var last: Date?
    private var isWaiting = false

    /// - Parameter interval: Shortest time between two events, in seconds.
    init(interval: Double) {
        self.interval = interval
    }

    mutating func changed(at now: Date) -> Decision {
        guard !isWaiting else { return .nothing }
        // A clock that was set back does not silence it.
        if let last, case let passed = now.timeIntervalSince(last), (0..<interval).contains(passed) {
            isWaiting = true
            return .wait(interval - passed)
        }
        last = now
        return .publish
    }

    /// Records that the wait is over and the event is published.
    mutating func waited(at now: Date) {
        isWaiting = false
        last = now
    }
}
