import HTTPTypes
import Screens

extension ProblemCode {
    private static let statusLocked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
    /// 423: another operation of the API holds the item; the same request may succeed later.
    static let locked = ProblemCode("locked", statusLocked, .lockedByOther, isRetryable: true)
    /// 423: the account has uploaded as much as it may.
    static let uploadLimit = ProblemCode("upload-limit", statusLocked, .uploadLimit)
    /// 423: the API is under maintenance, and can be read only.
    static let upstreamReadOnly = ProblemCode("upstream-read-only", statusLocked, .upstreamReadOnly, isRetryable: true)
    /// This is not a folder.
    static let notAFolder = ProblemCode("not-a-folder", .conflict, .notAFolder)
    /// 507: more writes, or more of their bytes, would wait than may.
    static let outboxFull = ProblemCode("outbox-full", .init(code: 507), .outboxFull)
    /// 409: the state of a write that waits does not allow it.
    static let outboxState = ProblemCode("outbox-state", .conflict, .outboxState)
}
