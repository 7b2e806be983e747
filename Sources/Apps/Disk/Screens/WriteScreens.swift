import Foundation
import Screens
import Upstream

/// `DELETE` of a file or publication: the removed path.
struct RemovalScreen: Encodable, Sendable {
    let path: String
    /// The screen to return to.
    let back: Link
}

/// `POST /v1/disk/trash/restore`: the path of the restored item.
struct RestorationScreen: Encodable, Sendable {
    /// Its path; null if the API did not return it, and its original path is unknown.
    @Nullable var path: String?
    /// The screen to return to.
    let back: Link

    init(path: String?, back: Link) {
        _path = Nullable(wrappedValue: path)
        self.back = back
    }
}

/// `POST /v1/disk/links`.
struct LinkScreen: Encodable, Sendable {
    let path: String
    /// Null if it was published and the address could not be read back: the same request returns it later.
    @Nullable var publicUrl: String?
    /// When it ends; null if it has no end, or Yandex Disk tells none.
    @Nullable var availableUntil: Date?

    init(_ item: DiskItem) {
        path = item.path.text
        _publicUrl = Nullable(wrappedValue: item.publicURL)
        _availableUntil = Nullable(wrappedValue: item.linkEnd.date)
    }
}

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

    init(_ job: DownloadJob) {
        id = job.id
        path = job.path.text
        status = job.status.rawValue
        statusText = job.status.text
        bytesDone = job.bytesDone
        bytesTotal = job.bytesTotal
        progress = job.progress
        progressText = DiskText.share(job.progress)
        _contentUrl = Nullable(wrappedValue: job.status == .done ? job.path.link(to: "/v1/disk/file/content") : nil)
        _failure = Nullable(wrappedValue: job.failure?.rawValue)
        _failureText = Nullable(wrappedValue: job.failure?.text)
        actions = job.failure?.isRetryable == true ? [.download(job.path)] : []
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

    init(_ operation: DiskOperation) {
        id = operation.id
        action = operation.action.rawValue
        path = operation.path.text
        _target = Nullable(wrappedValue: operation.target?.text)
        status = operation.status.rawValue
        statusText = operation.status.text
        href = "/v1/disk/operations/\(operation.id)"
    }

    /// Creates the screen of a write that was left in the outbox.
    init(_ entry: OutboxEntry<QueuedWrite>) {
        id = entry.id
        action = entry.work.kind.rawValue
        path = entry.work.path.text
        _target = Nullable(wrappedValue: entry.work.to?.text)
        status = entry.progress.state.rawValue
        statusText = entry.progress.state.text
        href = OutboxScreen.href(of: entry.id)
    }
}
