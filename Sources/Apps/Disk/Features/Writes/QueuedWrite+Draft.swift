import HTTP
import HTTPTypes
import Screens

extension QueuedWrite {
    /// Returns a write as it can be left; nil for one that cannot.
    init?(_ write: DiskWrite) {
        switch write.kind {
        case .upload(_, _, let overwrite):
            self.init(kind: .upload, path: write.path)
            overwrites = overwrite && !write.conditions.forbidReplacing
        case .makeFolder: self.init(kind: .folder, path: write.path)
        case .delete(let permanently):
            self.init(kind: .delete, path: write.path)
            self.permanently = permanently
        case .move(let target, let overwrite):
            self.init(kind: .move, path: write.path, to: target)
            overwrites = overwrite && !write.conditions.forbidReplacing
        case .publish(let end):
            self.init(kind: .publish, path: write.path)
            until = end.date
            permanently = end == .never
        case .unpublish: self.init(kind: .unpublish, path: write.path)
        case .copy, .restore: return nil
        }
    }
}

extension Action {
    /// Returns the same request, made so that it is queued in the outbox.
    static func leave(_ request: ScreenRequest, _ body: [String: Constant]?) -> Action {
        Action(
            id: "leave",
            title: .leaveInOutbox,
            method: request.method.rawValue,
            href: request.selfLink,
            body: body,
            headers: ["Prefer": HTTPFields.respondAsync]
        )
    }
}

extension Problem {
    /// 507: the outbox of an account has no room.
    static func outboxFull(_ settings: SettingValues) -> Problem {
        let (operations, bytes) = (settings[DiskApp.outboxOperations], settings[DiskApp.outboxBytes])
        return Problem(.outboxFull, .outboxLimit(operations, bytes >> 20), href: OutboxScreen.href)
    }
}
