import HTTPTypes
import Screens

extension ProblemCode {
    /// 423: another operation of the API holds the item; the same request may succeed later.
    static let locked = ProblemCode(
        "locked",
        HTTPResponse.Status(code: 423, reasonPhrase: "Locked"),
        .lockedByOther,
        isRetryable: true
    )
    /// This is not a folder.
    static let notAFolder = ProblemCode("not-a-folder", .conflict, .notAFolder)
    /// 507: more writes, or more of their bytes, would wait than may.
    static let outboxFull = ProblemCode("outbox-full", .init(code: 507), .outboxFull)
    /// 409: the state of a write that waits does not allow it.
    static let outboxState = ProblemCode("outbox-state", .conflict, .outboxState)
}
