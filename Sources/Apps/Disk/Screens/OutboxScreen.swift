import Foundation
import Screens
import Upstream

/// A write that waits for Yandex Disk.
struct OutboxOperationScreen: Encodable, Sendable {
    let id: String
    let kind: String
    let kindText: Text
    let path: String
    /// The new path of a rename or move.
    @Nullable var to: String?
    /// Bytes of an upload; null for others.
    @Nullable var size: Int?
    @Nullable var sizeText: Text?
    let queuedAt: Date
    let queuedText: Text
    let state: String
    let stateText: Text
    let attempts: Int
    @Nullable var nextAttemptAt: Date?
    @Nullable var nextAttemptText: Text?
    /// From 0 to 1; null for an operation without bytes.
    @Nullable var progress: Double?
    @Nullable var progressText: Text?
    /// Why it is not done, for programs; null if there is no reason.
    @Nullable var problem: String?
    @Nullable var problemText: Text?
    /// Both sides of a conflict; null if it is none.
    @Nullable var conflict: OutboxConflictScreen?
    let href: Link
    let actions: [Action]

    /// - Parameters:
    ///   - sent: Bytes that were taken of an upload that is being sent.
    ///   - pauseEnd: Before when nothing is sent because the API has asked for that.
    init(_ entry: OutboxEntry<QueuedWrite>, sent: Int?, pauseEnd: Date?, timeZone: TimeZone) {
        let (work, progress) = (entry.work, entry.progress)
        let href = OutboxScreen.href(of: entry.id)
        id = entry.id
        kind = work.name
        kindText = .outboxKind(work.name)
        path = work.path.text
        _to = Nullable(wrappedValue: work.to?.text)
        _size = Nullable(wrappedValue: work.bytes?.length)
        _sizeText = Nullable(wrappedValue: work.bytes.map { DiskText.size($0.length) })
        queuedAt = entry.queuedAt
        queuedText = DiskText.date(entry.queuedAt, in: timeZone)
        state = progress.state.rawValue
        stateText = progress.state.text
        attempts = progress.attempts
        let isWaiting = progress.state == .queued || progress.state == .waiting
        let nextAttempt = [progress.nextAttempt, isWaiting ? pauseEnd : nil].compactMap { $0 }.max()
        _nextAttemptAt = Nullable(wrappedValue: nextAttempt)
        _nextAttemptText = Nullable(wrappedValue: nextAttempt.map { DiskText.date($0, in: timeZone) })
        let share = work.bytes.map { Self.share(sent, of: $0.length, progress.state) }
        _progress = Nullable(wrappedValue: share)
        _progressText = Nullable(wrappedValue: share.map(DiskText.share))
        _problem = Nullable(wrappedValue: progress.reason)
        _problemText = Nullable(wrappedValue: progress.reason.map { .outboxReason($0) })
        let isConflict = progress.state == .conflict
        _conflict = Nullable(wrappedValue: isConflict ? OutboxConflictScreen(work, timeZone) : nil)
        self.href = href
        actions = .ofOperation(entry, href)
    }

    /// It is 1 only after the end, which comes later than the last byte.
    private static func share(_ sent: Int?, of length: Int, _ state: OutboxState) -> Double {
        if state == .done { return 1 }
        if state == .processing { return 0.999 }
        guard let sent, length > 0 else { return 0 }
        return min(Double(sent) / Double(length), 0.999)
    }
}

/// Both sides of a conflict.
struct OutboxConflictScreen: Encodable, Sendable {
    /// One side.
    struct Side: Encodable, Sendable {
        let type: String
        @Nullable var size: Int?
        @Nullable var sizeText: Text?
        @Nullable var md5: String?
        @Nullable var modifiedAt: Date?
        @Nullable var modifiedText: Text?

        init(_ item: SeenItem, _ timeZone: TimeZone) {
            type = item.kind.rawValue
            _size = Nullable(wrappedValue: item.size)
            _sizeText = Nullable(wrappedValue: item.size.map(DiskText.size))
            _md5 = Nullable(wrappedValue: item.md5)
            _modifiedAt = Nullable(wrappedValue: item.modified)
            _modifiedText = Nullable(wrappedValue: item.modified.map { DiskText.date($0, in: timeZone) })
        }
    }

    /// The path that is disputed.
    let path: String
    /// The item there when the write was queued; null if there was none.
    @Nullable var base: Side?
    /// The item there now; null if there is none.
    @Nullable var theirs: Side?
    /// The item that the write would put there; null if it would put none.
    @Nullable var ours: Side?

    init(_ work: QueuedWrite, _ timeZone: TimeZone) {
        let disputed = work.disputed ?? work.target
        let isSubject = !work.isCreation && disputed == work.path
        path = disputed.text
        _base = Nullable(wrappedValue: (isSubject ? work.subject : work.place).map { Side($0, timeZone) })
        _theirs = Nullable(wrappedValue: work.theirs.map { Side($0, timeZone) })
        _ours = Nullable(wrappedValue: work.ours.map { Side($0, timeZone) })
    }
}

/// `GET /v1/disk/outbox`.
struct OutboxScreen: Encodable, Sendable {
    static let href: Link = "/v1/disk/outbox"

    /// Returns the address of one operation.
    static func href(of id: String) -> Link { "/v1/disk/outbox/\(id)" }

    let items: [OutboxOperationScreen]
    /// Bytes of the uploads that wait.
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
    fileprivate static func ofOperation(_ entry: OutboxEntry<QueuedWrite>, _ href: Link) -> [Action] {
        let progress = entry.progress
        var actions: [Action] = []
        if progress.canBeTakenBack {
            let confirm = entry.work.kind == .upload ? Action.Confirmation.forgets(entry.work, progress) : nil
            actions.append(Action(id: "take_back", title: .takeBack, method: "DELETE", href: href, confirm: confirm))
        }
        if progress.canBeRetried {
            actions.append(Action(id: "retry", title: .tryAgain, method: "POST", href: "\(href)/retry"))
        }
        guard progress.state == .conflict else { return actions }
        return actions
            + ConflictChoice.allCases.map { choice in
                Action(
                    id: choice.rawValue,
                    title: choice.title(for: entry.work),
                    method: "POST",
                    href: "\(href)/resolve",
                    body: ["how": .text(choice.rawValue)],
                    disabled: choice.isPossible(for: entry.work) ? nil : .notPossible,
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
            message: progress.isDoubtful ? .forgetsDoubtfulUpload(name) : .forgetsUpload(name),
            buttons: [.delete, .cancel]
        )
    }
}

extension ConflictChoice {
    /// Returns the question before something is lost; nil if nothing is.
    fileprivate func confirm(for work: QueuedWrite) -> Action.Confirmation? {
        let name = (work.disputed ?? work.target).name
        switch self {
        case .keepBoth: return nil
        case .overwrite where work.theirs == nil: return nil
        case .overwrite:
            switch work.kind {
            case .publish, .unpublish: return nil
            case .delete: return .init(message: .deletesTheirs(name), buttons: [.delete, .cancel])
            case .folder, .upload, .move:
                // An item that was moved by others is moved on, with their changes.
                guard work.isDisputedAtTarget else { return nil }
                return .init(message: .replacesTheirs(name), buttons: [.overwriteTheirs, .cancel])
            }
        case .discard:
            return work.kind == .upload
                ? .forgets(work) : .init(message: .dropsOurs(work.path.name), buttons: [.discardOurs, .cancel])
        }
    }
}
