import Concurrency
public import Foundation
import HTTPCaching
import HTTPTypes
public import Logging
public import Media
public import Screens
public import Storage
public import Upstream

/// What the Disk app does: the rules of its screens (design/screens.md 2).
public struct DiskService: Sendable {
    /// What the app can be told.
    public struct Options: Sendable {
        /// Time zone of texts where a request names none (setting `disk.time_zone`).
        public var timeZone: TimeZone
        /// How long a write waits for what the upstream does in its own time, before it is answered with 202
        /// (`disk.operation_wait_ms`).
        public var operationWait: Duration
        /// Downloads under way at a time (`disk.downloads`).
        public var downloads: Int
        /// What the cache has room for: a body beyond it is passed on only.
        public var budget: CacheBudget

        /// Creates options.
        public init(
            timeZone: TimeZone = .gmt,
            operationWait: Duration = .seconds(10),
            downloads: Int = 4,
            budget: CacheBudget = .unlimited
        ) {
            self.timeZone = timeZone
            self.operationWait = operationWait
            self.downloads = downloads
            self.budget = budget
        }
    }

    let api: YandexDiskAPI
    let oauth: YandexOAuthAPI?
    let store: DiskStore
    let sessions: SessionStore
    let events: EventStream
    let options: Options
    let accessRecorder: AccessRecorder
    /// Makes pictures and PDFs of files; nil where that is not wanted.
    let media: MediaEngine?
    /// Where files are while programs work on them.
    let scratch: ScratchFolder
    let clock: WallClock
    let logger: Logger
    let refreshes = TokenRefreshes()
    /// Writes of one path happen one after the other.
    let paths = KeyedMutex()
    let queue: DownloadQueue

    /// Puts the app together. `oauth` is nil where no application is configured: then tokens can be brought, but not
    /// made.
    public init(
        api: YandexDiskAPI,
        oauth: YandexOAuthAPI?,
        store: DiskStore,
        sessions: SessionStore,
        events: EventStream,
        options: Options,
        accessRecorder: AccessRecorder = AccessRecorder(),
        media: MediaEngine? = nil,
        scratch: ScratchFolder,
        clock: WallClock,
        logger: Logger
    ) {
        self.api = api
        self.oauth = oauth
        self.store = store
        self.sessions = sessions
        self.events = events
        self.options = options
        self.accessRecorder = accessRecorder
        self.media = media
        self.scratch = scratch
        self.clock = clock
        self.logger = logger
        queue = DownloadQueue(store: store, events: events, limit: options.downloads, logger: logger)
    }

    /// Whoever asks, as an account that is logged in.
    ///
    /// An account whose token the upstream has refused is shown nothing that is stored: first the upstream has to
    /// accept it again.
    func account(of request: ScreenRequest) async throws -> DiskAccount {
        try await account(try request.requiredSession().account)
    }

    func account(_ id: String) async throws -> DiskAccount {
        guard let account = try store.account(id) else { throw Self.sessionExpired }
        guard account.isRejected else { return account }
        do {
            _ = try await read(account, .revalidate) { token, _ in
                api.info(token, account: id) { store.persistRows(of: $0, account: id) }
            }
        } catch let problem as Problem where problem.code == .upstreamForbidden || problem.code == .notFound {
            throw problem  // Newer than the 401.
        } catch {
            throw refused
        }
        guard let account = try store.account(id), !account.isRejected else { throw refused }
        return account
    }

    static let sessionExpired = Problem(.sessionExpired, "This account was logged out.")

    /// 401: the upstream does not take the account's token.
    var refused: Problem {
        UpstreamFailure(.rejected(status: .unauthorized, body: []), of: api.upstream).problem
    }

    /// Reads a resource with the account's token.
    ///
    /// - Parameter path: what the resource is about; it is removed here where the upstream says that it is gone.
    func read(
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        of path: DiskPath? = nil,
        _ resource: (_ token: String, _ epoch: Int64) throws -> Resource
    ) async throws -> ReadResult {
        do {
            return try await authorized(account.id) { token in
                var resource = try resource(token, account.epoch)
                // A read never joins a request that was sent before a write that it has to show.
                resource.generation = account.epoch
                resource.needsRevalidation = { [store] db in
                    try store.isOvertaken(account.epoch, account: account.id, db)
                }
                return try await api.upstream.read(resource, cachePolicy)
            }
        } catch {
            if let path, DiskRefusal(error)?.isGone == true {
                try await store.forget(path, account: account.id, asOf: account.epoch)
            }
            throw translated(error)
        }
    }

    /// Why there is nothing to show, where a stored response to the same question has stood in for the upstream and none
    /// of its rows are there: another page was made of it, or they are gone. Nil where asking again may help.
    func absence(_ reading: ReadResult) -> UpstreamFailure? {
        let provenance = reading.provenance
        if provenance.offline { return UpstreamFailure(.unreachable(.network), of: api.upstream) }
        guard provenance.stale,
            let status = provenance.cacheStatus?.forwardStatus.map({ HTTPResponse.Status(code: $0) })
        else { return nil }
        if status.kind == .serverError || status == .requestTimeout || status == .tooManyRequests {
            return UpstreamFailure(
                .failing(status: status, retryAfter: api.upstream.reachability.secondsPaused(at: clock.now())),
                of: api.upstream
            )
        }
        return UpstreamFailure(
            .badResponse(status: status, reason: "not what \(api.upstream.configuration.title) promises"),
            of: api.upstream
        )
    }

    /// An upstream's error as a problem in the words of this app.
    func translated(_ error: any Error) -> any Error {
        if let refusal = DiskRefusal(error) { return refusal.problem(api.upstream) }
        return (error as? UpstreamError).map { UpstreamFailure($0, of: api.upstream) } ?? error
    }

    /// The time zone that texts are written in.
    func timeZone(_ request: ScreenRequest) throws -> TimeZone {
        try request.query.timeZone() ?? options.timeZone
    }

    /// Tells listeners of the account that lists have changed.
    func announce(_ revision: Int, to account: String) {
        for screen in ["disk.files", "disk.recent", "disk.published"] { announce(screen, revision, to: account) }
    }

    func announce(_ screen: String, _ revision: Int, to account: String) {
        events.publish(
            .screenChanged(
                app: "disk",
                screen: screen,
                revision: revision,
                audience: .account(app: "disk", account: account)
            )
        )
    }
}

extension DiskRefusal {
    /// The upstream's refusal as a problem. Status first, then the API's own word, since Yandex publishes no list of
    /// words.
    func problem(_ upstream: Upstream) -> Problem {
        let title = upstream.configuration.title
        let kind: (ProblemCode, String) =
            switch (status, code) {
            case (400, _): (.invalidParameter, "\(title) does not take this request (\(code)).")
            case (401, _):
                (.upstreamSessionExpired, "\(title) does not accept the account's token any more. Log in again.")
            case (403, _): (.upstreamForbidden, "\(title) does not allow this.")
            case (404, _), (410, _): (.notFound, "\(title) has nothing at this path.")
            case (409, "DiskPathDoesntExistsError"): (.notFound, "The folder that it would be in does not exist.")
            case (409, "MD5DifferError"), (412, _): (.preconditionFailed, "It has changed on \(title) in the meantime.")
            case (409, _) where code.contains("Exist"):
                (.targetExists, "There is something of this name already; nothing was overwritten.")
            case (413, _): (.tooLarge, "The file is larger than \(title) takes.")
            case (409, _), (423, _): (.upstreamForbidden, "\(title) does not allow this now (\(code)).")
            default: (.upstreamBadResponse, "\(title) answered \(status).")
            }
        return Problem(kind.0, kind.1, upstream: .init(name: upstream.configuration.name, status: status))
    }
}
