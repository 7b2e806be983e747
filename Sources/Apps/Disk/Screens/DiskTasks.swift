import Screens
import Upstream

/// `POST` and `GET /v1/disk/downloads/{id}`.
struct DownloadScreen: Encodable, Sendable {
    let id: String
    let path: String
    let status: String
    let statusText: Text
    let bytesDone: Int
    let bytesTotal: Int
    let progress: Double
    let progressText: Text
    @Nullable var contentUrl: Link?
    /// Why it failed; null if it did not.
    @Nullable var failure: String?
    @Nullable var failureText: Text?
    /// Downloading it again, if it failed and that may help.
    let actions: [Action]
    let task: TaskScreen

    init(_ job: DownloadJob) {
        id = job.id
        path = job.path.text
        status = job.status.rawValue
        statusText = job.status.text
        bytesDone = job.bytesDone
        bytesTotal = job.bytesTotal
        progress = job.progress
        progressText = DiskText.share(job.progress)
        contentUrl = job.status == .done ? job.path.link(to: "/v1/disk/file/content") : nil
        failure = job.failure?.rawValue
        failureText = job.failure?.text
        actions = job.failure?.isRetryable == true ? [.download(job.path)] : []
        task = TaskScreen(job, actions)
    }
}

/// `GET /v1/disk/operations/{id}`, and the response to a write that the API has accepted and continues.
struct OperationScreen: Encodable, Sendable {
    let id: String
    let action: String
    let path: String
    @Nullable var target: String?
    let status: String
    let statusText: Text
    let href: Link
    let task: TaskScreen

    init(_ operation: DiskOperation) {
        id = operation.id
        action = operation.action.rawValue
        path = operation.path.text
        target = operation.target?.text
        status = operation.status.rawValue
        statusText = operation.status.text
        href = "/v1/disk/operations/\(operation.id)"
        task = TaskScreen(operation, href)
    }

    /// Creates the screen of a write that was queued.
    init(_ entry: OutboxEntry<QueuedWrite>) {
        id = entry.id
        action = entry.work.kind.rawValue
        path = entry.work.path.text
        target = entry.work.to?.text
        status = entry.progress.state.rawValue
        statusText = entry.progress.state.text
        href = OutboxScreen.href(of: entry.id)
        task = TaskScreen(entry, share: entry.work.bytes.map { _ in entry.progress.state == .done ? 1 : 0 })
    }
}

// All work of the app in the form of a task.
extension TaskScreen {
    fileprivate init(_ job: DownloadJob, _ actions: [Action]) {
        let state: OutboxState =
            switch job.status {
            case .queued: .queued
            case .running: .running
            case .done: .done
            case .failed: .failed
            }
        self.init(
            job.id,
            kind: ("download", .taskKind("download")),
            state: (state, job.status.text),
            progress: (job.progress, DiskText.share(job.progress)),
            problem: job.failure.map { ($0.rawValue, $0.text) },
            href: "/v1/disk/downloads/\(job.id)",
            actions: actions
        )
    }

    fileprivate init(_ operation: DiskOperation, _ href: Link) {
        let state: OutboxState =
            switch operation.status {
            case .running: .processing
            case .done: .done
            case .failed: .failed
            }
        let kind = operation.action.rawValue
        self.init(
            operation.id,
            kind: (kind, .taskKind(kind)),
            state: (state, operation.status.text),
            href: href
        )
    }

    /// - Parameters:
    ///   - share: The part of an upload that was taken; nil for a write without bytes.
    ///   - refusalToDrop: Why the user cannot drop the write; nil if the user can, as the last one of its paths.
    init(_ entry: OutboxEntry<QueuedWrite>, share: Double? = nil, refusalToDrop: Text? = nil) {
        let (kind, progress, href) = (entry.work.name, entry.progress, OutboxScreen.href(of: entry.id))
        self.init(
            entry.id,
            kind: (kind, .taskKind(kind)),
            state: (progress.state, progress.state.text),
            progress: share.map { ($0, DiskText.share($0)) },
            problem: progress.reason.map { ($0, .outboxReason($0)) },
            href: href,
            actions: .ofOperation(entry, href, refusalToDrop: refusalToDrop)
        )
    }

    /// Creates the task that keeps a file or folder offline.
    init(_ id: String, _ state: OfflineState, progress: Double, _ failure: OfflineFailure?, _ actions: [Action]) {
        let common: OutboxState =
            switch state {
            case .waiting: .queued
            case .fetching: .running
            case .kept: .done
            case .outOfDate: .waiting
            case .failed, .tooLarge: failure?.isRetryable == true ? .waiting : .failed
            }
        self.init(
            id,
            kind: ("keep_offline", .taskKind("keep_offline")),
            state: (common, state.text),
            progress: (progress, DiskText.share(progress)),
            problem: failure.map { ($0.rawValue, $0.text) },
            href: "/v1/disk/offline",
            actions: actions
        )
    }
}
