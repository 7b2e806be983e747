import Foundation
import Screens
import Upstream

/// A write that waits for Yandex Disk.
struct OutboxOperationScreen: Encodable, Sendable {
    @Flattened private var common: TaskScreen
    let path: String
    /// The new path of a rename or move.
    @Nullable var to: String?
    /// Bytes of an upload; null for others.
    @Nullable var size: Int?
    @Nullable var sizeText: Text?
    let queuedAt: Date
    let queuedText: Text
    let attempts: Int
    @Nullable var nextAttemptAt: Date?
    @Nullable var nextAttemptText: Text?
    /// Both sides of a conflict; null if it is none.
    @Nullable var conflict: OutboxConflictScreen?
    let task: TaskScreen

    /// - Parameters:
    ///   - sent: Bytes that were taken of an upload that is being sent.
    ///   - pauseEnd: The time before which nothing is sent, because the API has requested a pause.
    ///   - refusalToDrop: Why the user cannot drop it; nil if the user can.
    init(_ entry: OutboxEntry<QueuedWrite>, sent: Int?, pauseEnd: Date?, refusalToDrop: Text?, timeZone: TimeZone) {
        let (work, progress) = (entry.work, entry.progress)
        path = work.path.text
        to = work.to?.text
        size = work.bytes?.length
        sizeText = work.bytes.map { DiskText.size($0.length) }
        queuedAt = entry.queuedAt
        queuedText = DiskText.date(entry.queuedAt, in: timeZone)
        attempts = progress.attempts
        let isWaiting = progress.state == .queued || progress.state == .waiting
        let nextAttempt = [progress.nextAttempt, isWaiting ? pauseEnd : nil].compactMap { $0 }.max()
        nextAttemptAt = nextAttempt
        nextAttemptText = nextAttempt.map { DiskText.date($0, in: timeZone) }
        conflict = progress.state == .conflict ? OutboxConflictScreen(work, timeZone) : nil
        let share = work.bytes.map { Self.share(sent, of: $0.length, progress.state) }
        task = TaskScreen(entry, share: share, refusalToDrop: refusalToDrop)
        common = task
    }

    /// Returns the part of an upload that was sent. It is 1 only after the end, which is later than the last byte.
    private static func share(_ sent: Int?, of length: Int, _ state: OutboxState) -> Double {
        if state == .done { return 1 }
        if state == .processing { return 0.999 }
        guard let sent, length > 0 else { return 0 }
        return min(Double(sent) / Double(length), 0.999)
    }
}

struct OutboxConflictScreen: Encodable, Sendable {
    struct Side: Encodable, Sendable {
        let type: String
        @Nullable var size: Int?
        @Nullable var sizeText: Text?
        @Nullable var md5: String?
        @Nullable var modifiedAt: Date?
        @Nullable var modifiedText: Text?

        init(_ item: SeenItem, _ timeZone: TimeZone) {
            type = item.kind.rawValue
            size = item.size
            sizeText = item.size.map(DiskText.size)
            md5 = item.md5
            modifiedAt = item.modified
            modifiedText = item.modified.map { DiskText.date($0, in: timeZone) }
        }
    }

    let path: String
    /// The item there when the write was queued; null if there was none.
    @Nullable var base: Side?
    /// The item there now; null if there is none.
    @Nullable var theirs: Side?
    /// The item that the write would put there; null if it would put none.
    @Nullable var ours: Side?

    init(_ work: QueuedWrite, _ timeZone: TimeZone) {
        path = (work.conflictingPath ?? work.target).text
        base = (work.conflictsAtTarget ? work.place : work.subject).map { Side($0, timeZone) }
        theirs = work.remote.map { Side($0, timeZone) }
        ours = work.local.map { Side($0, timeZone) }
    }
}

/// `GET /v1/disk/outbox`.
struct OutboxScreen: Encodable, Sendable {
    static let href: Link = "/v1/disk/outbox"

    static func href(of id: String) -> Link { "/v1/disk/outbox/\(id)" }

    let items: [OutboxOperationScreen]
    let bytes: Int
    let bytesText: Text
    /// Bytes and operations that may wait.
    let bytesLimit: Int
    let operationsLimit: Int
    let empty: EmptyState?
    let actions: [Action]

    init(_ items: [OutboxOperationScreen], bytes: Int, isEmpty: Bool, limits: (bytes: Int, operations: Int)) {
        self.items = items
        self.bytes = bytes
        bytesText = DiskText.size(bytes)
        (bytesLimit, operationsLimit) = limits
        empty = isEmpty ? .outbox : nil
        actions = [.refresh(Self.href)]
    }
}

extension [Action] {
    /// Returns the actions that the user can take on a pending write.
    static func ofOperation(_ entry: OutboxEntry<QueuedWrite>, _ href: Link, refusalToDrop: Text?) -> [Action] {
        let progress = entry.progress
        var actions: [Action] = []
        if progress.canBeTakenBack {
            let confirm = entry.work.kind == .upload ? Action.Confirmation.forgets(entry.work, progress) : nil
            actions.append(
                .call("take_back", .takeBack, "DELETE", href, refusalToDrop, confirm: confirm)
            )
        }
        if progress.canBeRetried {
            actions.append(.call("retry", .tryAgain, "POST", "\(href)/retry"))
        }
        guard progress.state == .conflict else { return actions }
        return actions
            + ConflictChoice.allCases.map { choice in
                let refusal = choice == .discard ? refusalToDrop : nil
                return .call(
                    choice.rawValue,
                    choice.title(for: entry.work),
                    "POST",
                    "\(href)/resolve",
                    choice.isPossible(for: entry.work) ? refusal : .notPossible,
                    body: ["how": .text(choice.rawValue)],
                    confirm: choice.confirm(for: entry.work)
                )
            }
    }
}

extension Action.Confirmation {
    /// Asks before bytes that may be here only are removed.
    fileprivate static func forgets(_ work: QueuedWrite, _ progress: OutboxProgress = OutboxProgress()) -> Self {
        let name = work.path.name
        return Self(
            message: progress.isOutcomeUnknown ? .forgetsDoubtfulUpload(name) : .forgetsUpload(name),
            buttons: [.delete, .cancel]
        )
    }
}

extension ConflictChoice {
    /// Returns the question before something is lost; nil if nothing is.
    fileprivate func confirm(for work: QueuedWrite) -> Action.Confirmation? {
        let name = (work.conflictingPath ?? work.target).name
        switch self {
        case .keepBoth: return nil
        case .overwrite where work.remote == nil: return nil
        case .overwrite:
            switch work.kind {
            case .publish, .unpublish: return nil
            case .delete: return .init(message: .deletesRemote(name), buttons: [.delete, .cancel])
            case .folder, .upload, .move:
                // An item that others have moved is moved from its new place, with their changes.
                guard work.conflictsAtTarget else { return nil }
                return .init(message: .replacesRemote(name), buttons: [.overwriteRemote, .cancel])
            }
        case .discard:
            return work.kind == .upload
                ? .forgets(work) : .init(message: .dropsLocal(work.path.name), buttons: [.discardLocal, .cancel])
        }
    }
}

/// `DELETE` of a file or publication: the removed path.
struct RemovalScreen: Encodable, Sendable {
    let path: String
    let back: Link
}

/// `POST /v1/disk/trash/restore`: the path of the restored item.
struct RestorationScreen: Encodable, Sendable {
    /// Its path; null if the API did not return it, and its original path is unknown.
    @Nullable var path: String?
    let back: Link
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
        publicUrl = item.publicURL
        availableUntil = item.linkEnd.date
    }
}
